package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/internal/input"
	"productform/internal/render"
	"productform/live/book"
	"productform/live/keys"
	"productform/live/manager"
	"productform/live/wire"
)

// ask asks a service of the manager that leads.
func ask(ctx context.Context, url, service, question string, answer any) error {
	if err := keys.Check(url, "", keys.Client, keys.Monitor); err != nil {
		return err
	}
	nc, err := keys.Connect(ctx, url, "client")
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, service, []byte(question))
	if err != nil {
		return fmt.Errorf("no manager leads: %w", err)
	}
	if why := m.Header.Get("Nats-Service-Error"); why != "" {
		return errors.New(why)
	}
	return json.Unmarshal(m.Data, answer)
}

// measures are those of a run, by the names that pfq dispatch gives them; nil is what does not exist.
type measures struct {
	Jobs              int      `json:"job_count" title:"jobs completed"`
	Tasks             int      `json:"task_count" title:"tasks finished"`
	PriorityViolation *float64 `json:"average_priority_violation_rate"`
	DecisionViolation *float64 `json:"decision_violation_rate"`
	RunningViolation  *float64 `json:"running_violation_rate"`
	Penalty           float64  `json:"deadline_miss_penalty"`
	Missed            int      `json:"missed"`
	Makespan          float64  `json:"makespan" unit:"s"`
	Delay             *spread  `json:"delay"`
	Slowdown          *spread  `json:"slowdown"`
	Utilization       float64  `json:"utilization"`
	Wasted            float64  `json:"wasted"`
	Lost              int      `json:"lost"`
	Decisions         *int     `json:"decisions"`
}

type spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func newSpread(s dispatch.Spread) *spread {
	if s.Count == 0 {
		return nil
	}
	return &spread{s.Mean, s.P50, s.P95, s.P99, s.Max}
}

func newMeasures(r *dispatch.Result) measures {
	m := measures{
		Jobs: r.Delay.Count, Tasks: r.Tasks, Penalty: r.DeadlineMissPenalty, Missed: r.Missed, Makespan: r.Makespan, Delay: newSpread(r.Delay),
		Slowdown: newSpread(r.Slowdown), Utilization: r.Utilization, Wasted: r.Wasted, Lost: r.Lost,
	}
	if r.Decisions > 0 { // else there is nothing to average over, as under the baselines
		m.PriorityViolation, m.DecisionViolation, m.RunningViolation = &r.PriorityViolationRate, &r.DecisionViolationRate, &r.RunningViolationRate
		m.Decisions = &r.Decisions
	}
	return m
}

// write writes a line for each measure, and for each of more.
func (m measures) write(t *render.Text, more ...any) {
	lines := [][]string{{"measure", "value"}}
	for _, of := range append([]any{m}, more...) {
		for _, f := range render.Fields(of).Flat() {
			lines = append(lines, []string{cmp.Or(f.Title, strings.ReplaceAll(f.Key, "_", " ")), t.Cell(f.Value)})
		}
	}
	t.Columns(lines)
}

// checks are what came of results that other workers were to check.
type checks struct {
	Checked   int `json:"results_checked"`
	Differing int `json:"results_differing"`
	Unchecked int `json:"results_unchecked"`
}

// A reportAnswer is what became of the jobs of a live cluster.
type reportAnswer struct {
	measures
	checks
}

func newReport() *cobra.Command {
	var url string
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "report", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r dispatch.Result
			if err := ask(cmd.Context(), url, wire.ReportService, "", &r); err != nil {
				return err
			}
			var s wire.Status
			if err := ask(cmd.Context(), url, wire.StatusService, "", &s); err != nil {
				return err
			}
			n := &s.Cluster.Counts
			a := reportAnswer{newMeasures(&r), checks{n.Checked, n.Differing, n.Unchecked}}
			return f.write(cmd, render.Answer{JSON: a, Lines: []render.Lines{{Of: a}}, Text: func(t *render.Text) { a.measures.write(t, a.checks) }})
		},
	})
	addURL(cmd, &url)
	f.add(cmd)
	return cmd
}

// An auditAnswer is what audit found.
type auditAnswer struct {
	Alike  bool    `json:"alike"`
	From   *uint64 `json:"from"`
	To     *uint64 `json:"to"`
	Tasks  *int    `json:"tasks_finished"`
	Jobs   *int    `json:"jobs_completed"`
	Plan   *uint64 `json:"plan"` // that differs
	Reason *string `json:"reason"`
}

func newAudit() *cobra.Command {
	var url string
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "audit", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := keys.Check(url, "", keys.Manager); err != nil {
				return err
			}
			nc, err := keys.Connect(cmd.Context(), url, "audit")
			if err != nil {
				return err
			}
			defer nc.Close()
			js, err := jetstream.New(nc)
			if err != nil {
				return err
			}
			a, err := auditOf(cmd.Context(), js)
			if err != nil {
				return err
			}
			if err := f.write(cmd, a.render()); err != nil {
				return err
			}
			if !a.Alike {
				return errNoAnswer
			}
			return nil
		},
	})
	addURL(cmd, &url)
	f.add(cmd)
	return cmd
}

func auditOf(ctx context.Context, js jetstream.JetStream) (*auditAnswer, error) {
	a, err := manager.Audit(ctx, js)
	var differs *book.Difference
	if errors.As(err, &differs) {
		reason := differs.Error()
		return &auditAnswer{Plan: &differs.Plan, Reason: &reason}, nil
	}
	if err != nil {
		return nil, err
	}
	return &auditAnswer{Alike: true, From: &a.From, To: &a.To, Tasks: &a.Cluster.Counts.Finished, Jobs: &a.Cluster.Counts.Completed}, nil
}

func (a *auditAnswer) render() render.Answer {
	return render.Answer{JSON: a, Lines: []render.Lines{{Of: a}}, Text: func(t *render.Text) {
		if !a.Alike {
			t.Line("%s", *a.Reason)
			return
		}
		t.Line("plans %d to %d, decided again, are the same; %d tasks finished, %d jobs completed", *a.From, *a.To, *a.Tasks, *a.Jobs)
	}}
}

func newPlan() *cobra.Command {
	return help(&cobra.Command{
		Use: "plan", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<28))
			if err != nil {
				return err
			}
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			var q wire.Assignment
			if err := d.Decode(&q); errors.Is(err, io.EOF) {
				return &input.Error{File: "standard input", Value: "an empty text", Want: "an object in JSON with policy, now, speeds and jobs"}
			} else if err != nil {
				return input.InFile("standard input", err)
			}
			if err := manager.Assign(&q); err != nil {
				return input.InFile("standard input", err)
			}
			answer, err := json.MarshalIndent(q.Workers, "", "  ")
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(append(answer, '\n'))
			return err
		},
	})
}

func newTimeline() *cobra.Command {
	var url string
	cmd := help(&cobra.Command{
		Use: "timeline", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var h wire.History
			if err := ask(cmd.Context(), url, wire.HistoryService, "", &h); err != nil {
				return err
			}
			var t render.Text
			drawTimeline(&t, &h)
			_, err := cmd.OutOrStdout().Write(t.Bytes())
			return err
		},
	})
	addURL(cmd, &url)
	return cmd
}

// drawTimeline draws which job each worker had in hand over columns of equal time, one letter a job.
func drawTimeline(t *render.Text, h *wire.History) {
	const columns, most = 100, 26
	if len(h.Spans) == 0 {
		t.Line("nothing has run since this manager leads")
		return
	}
	first, length := h.Spans[0].From, max(h.Now-h.Spans[0].From, 1e-9)
	column := func(at float64) int { return min(columns-1, int((at-first)/length*columns)) }
	lanes := map[string][]rune{}
	letters := map[string]rune{}
	var workers, jobs []string
	for _, s := range h.Spans {
		if lanes[s.Worker] == nil {
			lanes[s.Worker] = []rune(strings.Repeat(".", columns))
			workers = append(workers, s.Worker)
		}
		if _, known := letters[s.Job]; !known {
			letters[s.Job] = '*'
			if len(jobs) < most {
				letters[s.Job] = rune('a' + len(jobs))
			}
			jobs = append(jobs, s.Job)
		}
		to := h.Now
		if s.To != nil {
			to = *s.To
		}
		for k := column(s.From); k <= column(to); k++ {
			lanes[s.Worker][k] = letters[s.Job]
		}
	}
	slices.Sort(workers)
	lines := [][]string{{"worker", fmt.Sprintf("%s s to %s s", render.Six(first), render.Six(h.Now))}}
	for _, w := range workers {
		lines = append(lines, []string{w, string(lanes[w])})
	}
	t.Columns(lines)
	t.Line("")
	for _, j := range jobs[:min(most, len(jobs))] {
		t.Line("%c  %s", letters[j], j)
	}
	if len(jobs) > most {
		t.Line("*  others")
	}
}
