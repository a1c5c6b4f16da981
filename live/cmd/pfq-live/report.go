package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/live/book"
	"productform/live/client"
	"productform/live/keys"
	"productform/live/manager"
	"productform/live/wire"
)

// ask sends a request to a service of the leading manager.
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
	if m.Header.Get("Nats-Service-Error") != "" {
		return client.ServiceError(m)
	}
	return json.Unmarshal(m.Data, answer)
}

// measuresOf returns the measures of a run under the names of pfq dispatch, with null for missing
// ones.
func measuresOf(r *dispatch.Result) render.Record {
	m := render.Fields(r)
	if r.Decisions == 0 { // no decisions to average over
		for _, key := range []string{
			"average_priority_violation_rate", "decision_violation_rate", "running_violation_rate", "decisions",
		} {
			m.Set(key, nil, "")
		}
	}
	return withCounts(m, r.Tasks, r.Delay.Count, r.Slowdown.Count)
}

// withCounts returns measures after the numbers of jobs with delays and of tasks. Waiting times,
// delays and slowdowns are null if there are none.
func withCounts(m render.Record, tasks, delays, slowdowns int) render.Record {
	if delays == 0 {
		m.Set("waiting", nil, "").Set("delay", nil, "")
	}
	if slowdowns == 0 {
		m.Set("slowdown", nil, "")
	}
	return slices.Concat(render.Record{
		{Key: "job_count", Value: delays, Title: "jobs completed"},
		{Key: "task_count", Value: tasks, Title: "tasks finished"},
	}, m)
}

// writeMeasures writes one line per measure.
func writeMeasures(t *render.Text, measures render.Record) {
	lines := [][]string{{"measure", "value"}}
	for _, f := range measures.Flat() {
		lines = append(lines, []string{cmp.Or(f.Title, strings.ReplaceAll(f.Key, "_", " ")), t.Cell(f.Value)})
	}
	t.Columns(lines)
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
			a := measuresOf(&r)
			text := func(t *render.Text) { writeMeasures(t, a) }
			return f.write(cmd, render.Answer{JSON: a, Lines: []render.Lines{{Of: a}}, Text: text})
		},
	})
	addURL(cmd, &url)
	f.add(cmd)
	return cmd
}

// An auditAnswer is the result of an audit.
type auditAnswer struct {
	Alike  bool    `json:"alike"`
	From   *uint64 `json:"from"`
	To     *uint64 `json:"to"`
	Tasks  *int    `json:"tasks_finished"`
	Jobs   *int    `json:"jobs_completed"`
	Plan   *uint64 `json:"plan"` // the plan that differs
	Reason *string `json:"reason"`

	Damage []string `json:"damage"` // losses of the store, including repaired ones
	Whole  bool     `json:"whole"`  // whether nothing was lost or all losses were repaired
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
			if refusal := nc.LastError(); err != nil && errors.Is(refusal, nats.ErrPermissionViolation) {
				return fmt.Errorf("the server rejects the key: %w", refusal)
			}
			if err != nil {
				return err
			}
			if err := f.write(cmd, a.render()); err != nil {
				return err
			}
			if !a.Alike || !a.Whole {
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
		return &auditAnswer{Plan: &differs.Plan, Reason: &reason, Damage: []string{}}, nil
	}
	var damage *manager.DamageError
	if errors.As(err, &damage) {
		reason := damage.Error() + seeRepair
		return &auditAnswer{Reason: &reason, Damage: []string{damage.What}}, nil
	}
	if err != nil {
		return nil, err
	}
	n := &a.Cluster.Counts
	answer := &auditAnswer{Alike: true, From: &a.From, To: &a.To, Tasks: &n.Finished, Jobs: &n.Completed,
		Damage: []string{}}
	for _, job := range slices.Sorted(maps.Keys(a.Missing)) {
		answer.Damage = append(answer.Damage,
			fmt.Sprintf("job %s: %d results are missing: pfq-live results %s names the tasks",
				job, a.Missing[job], job))
	}
	answer.Damage = append(answer.Damage, a.Contents...)
	repaired, lost := describeLosses(n)
	answer.Damage = append(answer.Damage, lost...)
	answer.Whole = len(answer.Damage) == 0
	answer.Damage = append(answer.Damage, repaired...)
	return answer, nil
}

// describeLosses returns one line per kind of loss, for repaired and permanent losses.
func describeLosses(n *wire.Counts) (repaired, lost []string) {
	if n.LostPlans > 0 {
		repaired = append(repaired,
			fmt.Sprintf("up to %d plans were lost, and repaired; %d results of their attempts adopted",
				n.LostPlans, n.Adopted))
	}
	if n.Aside > 0 {
		lost = append(lost,
			fmt.Sprintf("%d reports could not be verified or placed, and were put aside: pfq-live repair --to DIR "+
				"writes them", n.Aside))
	}
	if n.Gone > 0 {
		lost = append(lost, fmt.Sprintf("%d messages vanished before any manager read them", n.Gone))
	}
	return repaired, lost
}

func (a *auditAnswer) render() render.Answer {
	return render.Answer{JSON: a, Lines: []render.Lines{{Of: a}}, Text: func(t *render.Text) {
		if !a.Alike {
			t.Line("%s", *a.Reason)
			return
		}
		t.Line(
			"plans %d to %d, decided again, are the same; %d tasks finished, %d jobs completed",
			*a.From, *a.To, *a.Tasks, *a.Jobs,
		)
		for _, line := range a.Damage {
			t.Line("%s", line)
		}
	}}
}

func newRepair() *cobra.Command {
	var url, folder string
	var apply bool
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "repair", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := keys.Check(url, "", keys.Manager); err != nil {
				return err
			}
			if folder != "" && apply {
				return errors.New("--to and --apply cannot be combined")
			}
			nc, err := keys.Connect(cmd.Context(), url, "repair")
			if err != nil {
				return err
			}
			defer nc.Close()
			if folder != "" {
				return writeAside(cmd, nc, folder)
			}
			r, err := manager.Repair(cmd.Context(), nc, apply)
			if err != nil {
				return err
			}
			if err := f.write(cmd, repairAnswerOf(r).render()); err != nil {
				return err
			}
			if r.Damage != "" && !r.Applied {
				return errNoAnswer
			}
			return nil
		},
	})
	addURL(cmd, &url)
	cli.AddSwitch(cmd, &apply, "apply", "apply the repair instead of only reporting it")
	cli.AddText(cmd, &folder, "to", "", "the name of a folder",
		"instead, write the reports that were put aside to files in `DIR`")
	f.add(cmd)
	return cmd
}

// writeAside writes the messages that were put aside to files.
func writeAside(cmd *cobra.Command, nc *nats.Conn, folder string) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	list, err := manager.Aside(cmd.Context(), js)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, r := range list {
		file := filepath.Join(folder, r.Name+".json")
		if err := cli.Write(r.Data, file, nil); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", file, r.Subject); err != nil {
			return err
		}
	}
	return nil
}

// A repairAnswer is the result of a repair.
type repairAnswer struct {
	Damage    *string `json:"damage"` // nil if there is none
	Kept      uint64  `json:"kept"`
	Lost      uint64  `json:"lost"`
	Adoptable int     `json:"adoptable"`
	Aside     int     `json:"aside"`
	Applied   bool    `json:"applied"`
}

func repairAnswerOf(r *manager.Repaired) *repairAnswer {
	a := &repairAnswer{Kept: r.Kept, Lost: r.Lost, Adoptable: r.Adoptable, Aside: r.Aside, Applied: r.Applied}
	if r.Damage != "" {
		a.Damage = &r.Damage
	}
	return a
}

func (a *repairAnswer) render() render.Answer {
	return render.Answer{JSON: a, Lines: []render.Lines{{Of: a}}, Text: func(t *render.Text) {
		if a.Damage == nil {
			t.Line("the log of plans is complete: nothing to repair")
			return
		}
		t.Line("%s", *a.Damage)
		kept := fmt.Sprintf("plans 1 to %d are kept", a.Kept)
		if a.Kept == 0 {
			kept = "no plan can be kept"
		}
		t.Line("%s; those up to %d count as lost, and the next plan is %d", kept, a.Lost, a.Lost+1)
		t.Line("%d results of tasks that the lost plans started are adopted; %d reports that cannot be placed or "+
			"verified are put aside", a.Adoptable, a.Aside)
		t.Line("tasks without a result run again; nothing is removed")
		if a.Applied {
			t.Line("done: managers continue from here")
		} else {
			t.Line("nothing was changed: back up the store, then run it with --apply")
		}
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
				return &input.Error{
					File:  "standard input",
					Value: "an empty text",
					Want:  "an object in JSON with policy, now, speeds and jobs",
				}
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

// drawTimeline draws the jobs of each worker over columns of equal time, with one letter per job.
func drawTimeline(t *render.Text, h *wire.History) {
	const columns, most = 100, 26
	if len(h.Spans) == 0 {
		t.Line("nothing has run since this manager began to lead")
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
