package main

import (
	"errors"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/internal/cli"
	"productform/internal/render"
)

// A replayAnswer is the outcome of a replay.
type replayAnswer struct {
	Policy   string  `json:"policy"`
	Pace     float64 `json:"pace"`
	Moments  int     `json:"moments"`
	Same     *bool   `json:"same_as_simulated"` // nil without --check
	Differs  *string `json:"difference"`
	measures render.Record
}

func newReplay() *cobra.Command {
	f := newScenarioFlags()
	var check bool
	pace := 1000.0
	var out answerFlags
	cmd := help(&cobra.Command{
		Use: "replay TRACE", Args: arguments("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			s, outlived, err := f.scenario(ctx, args[0], cmd.InOrStdin())
			cli.WriteReport(cmd.ErrOrStderr(), "pfq-live", args[0], f.Report)
			if err != nil {
				return err
			}
			want, err := Simulate(ctx, s) // rejects scenarios that never end
			if err != nil {
				return err
			}
			bar := cli.NewProgress(cmd.ErrOrStderr(), "pfq-live")
			settings := ScenarioSettings{Pace: pace, Done: func(n int) { bar.Show(n, len(s.Jobs), "jobs") }}
			got, err := RunScenario(ctx, s, settings)
			bar.Clear()
			if err != nil {
				return err
			}
			a := newReplayAnswer(&s, got, pace, outlived)
			if check {
				a.compare(got, want)
			}
			if err := out.write(cmd, a.render()); err != nil {
				return err
			}
			if a.Same != nil && !*a.Same {
				return errNoAnswer
			}
			return nil
		},
	})
	f.add(cmd)
	addNumber(cmd, &pace, "pace", "1000", "seconds of the logical clock per second of real time")
	cli.AddSwitch(cmd, &check, "check", "compare with the simulation: exit status 1 if a digit differs")
	out.add(cmd)
	return cmd
}

func newReplayAnswer(s *Scenario, l *Log, pace float64, outlived int) *replayAnswer {
	a := &replayAnswer{Policy: s.PolicyName(), Pace: pace, Moments: len(l.Moments)}
	if r := l.Rigid; r != nil {
		tasks := 0
		for _, j := range s.Jobs {
			tasks += j.Tasks
		}
		m := render.Fields(dispatch.Result{}).Merge(render.Fields(r)).Set("outlived", outlived, "")
		a.measures = withCounts(m, tasks, r.Delay.Count, r.Slowdown.Count)
		return a
	}
	a.measures = measuresOf(l.Result)
	return a
}

// compare records whether the replay matches the simulation.
func (a *replayAnswer) compare(got, want *Log) {
	same := true
	var d *Difference
	if err := Compare(got, want); errors.As(err, &d) {
		same = false
		text := d.Error()
		a.Differs = &text
	}
	a.Same = &same
}

func (a *replayAnswer) render() render.Answer {
	all := append(render.Fields(a), a.measures...)
	return render.Answer{JSON: all, Lines: []render.Lines{{Of: all}}, Text: func(t *render.Text) {
		t.Line("policy %s, %d moments", a.Policy, a.Moments)
		switch {
		case a.Same == nil:
		case *a.Same:
			t.Line("same as simulated, to the last digit")
		default:
			t.Line("not as simulated: %s", *a.Differs)
		}
		t.Line("")
		writeMeasures(t, a.measures)
	}}
}
