package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/render"
	"productform/live/client"
	"productform/live/wire"
)

// A workerRow is a worker in an answer.
type workerRow struct {
	Name     string   `json:"name" title:"worker"`
	State    string   `json:"state"`
	Job      *string  `json:"job"`
	Task     *int     `json:"task"`
	Attempt  *int     `json:"attempt"`
	For      float64  `json:"for" title:"for s"`
	Speed    float64  `json:"speed"`
	Silent   *float64 `json:"silent" title:"silent s"`
	Finished int      `json:"finished"`
	Lost     int      `json:"lost"`
	Program  string   `json:"program"`
	Facts    *string  `json:"facts"` // by name, such as gpus=2 rack=r1
}

// A statusAnswer is the state of the cluster.
type statusAnswer struct {
	Manager string      `json:"manager"`
	Policy  string      `json:"policy"`
	Plan    uint64      `json:"plan"`
	Time    float64     `json:"time"`
	Leading float64     `json:"leading"`
	Counts  wire.Counts `json:"counts"`
	Resent  int         `json:"resent"`
	Jobs    []jobRow    `json:"jobs"`
	Workers []workerRow `json:"workers"`
	Missing int         `json:"missing"` // results that the server has lost
	Damage  []string    `json:"damage"`  // losses of the store, including repaired ones
	Whole   bool        `json:"whole"`   // whether nothing was lost or all losses were repaired
}

func newStatusAnswer(s *wire.Status) statusAnswer {
	a := statusAnswer{
		Manager: s.Cluster.Leader, Policy: s.Cluster.Policy, Plan: s.Cluster.Plan, Time: s.Cluster.At,
		Leading: s.Leading,
		Counts:  s.Cluster.Counts, Resent: s.Resent, Jobs: jobRows(s.Jobs), Workers: []workerRow{},
	}
	a.Damage = []string{}
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Missing > 0 {
			a.Missing += j.Missing
			a.Damage = append(a.Damage,
				fmt.Sprintf("the server has lost %d results of job %s: pfq-live results %s names the tasks",
					j.Missing, j.Name, j.Name))
		}
	}
	repaired, lost := describeLosses(&s.Cluster.Counts)
	a.Damage = append(a.Damage, lost...)
	a.Whole = len(a.Damage) == 0
	a.Damage = append(a.Damage, repaired...)
	for i := range a.Jobs {
		if r := &a.Jobs[i]; r.Ended == nil {
			r.slackAt(a.Time)
		}
	}
	for i := range s.Workers {
		w := &s.Workers[i]
		r := workerRow{
			Name: w.Name, State: string(w.State), For: max(0, s.Cluster.At-w.Since), Speed: w.Speed,
			Finished: w.Finished, Lost: w.Lost, Program: w.Program,
		}
		if w.Attempt > 0 {
			r.Job, r.Task, r.Attempt = &w.Job, &w.Task, &w.Attempt
		}
		if len(w.Facts) > 0 {
			facts := factsOf(w.Facts)
			r.Facts = &facts
		}
		if w.Heard != nil {
			silent := max(0, s.Cluster.At-*w.Heard)
			r.Silent = &silent
		}
		a.Workers = append(a.Workers, r)
	}
	return a
}

// factsOf formats the facts that a worker reports about its machine.
func factsOf(facts map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, facts[name]))
	}
	return strings.Join(parts, " ")
}

func (a statusAnswer) render() render.Answer {
	return render.Answer{
		JSON:  a,
		Lines: []render.Lines{{Kind: "job", Of: a.Jobs}, {Kind: "worker", Of: a.Workers}},
		Text: func(t *render.Text) {
			t.Line(
				"%s leads since %s s; policy %s; plan %d; time %s s", a.Manager, render.Six(a.Leading),
				a.Policy, a.Plan, render.Six(a.Time),
			)
			c := &a.Counts
			t.Line("%d of %d jobs completed, %d of %d tasks finished; lost %d, preempted %d, failures %d, late %d, "+
				"refused %d, orders sent again %d",
				c.Completed, c.Jobs, c.Finished, c.Tasks, c.Lost, c.Preempted, c.Failures, c.Late, c.Refused, a.Resent)
			for _, line := range a.Damage {
				t.Line("%s", line)
			}
			t.Line("")
			t.Table(a.Jobs, append(slices.Clone(jobColumns), "slack")...)
			columns := []string{"name", "state", "job", "task", "attempt", "for", "speed", "silent", "finished", "lost"}
			if slices.ContainsFunc(a.Workers, func(w workerRow) bool { return w.Facts != nil }) {
				columns = append(columns, "facts")
			}
			t.Table(a.Workers, columns...)
		},
	}
}

func newStatus() *cobra.Command {
	var url string
	var watch bool
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "status", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch && (f.format != render.Formats[0] || f.file != "") {
				return errors.New("--watch needs text on the standard output: it excludes --format and --output")
			}
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				if watch {
					return watchStatus(ctx, cmd, c)
				}
				s, err := c.Status(ctx)
				if err != nil {
					return err
				}
				a := newStatusAnswer(s)
				if err := f.write(cmd, a.render()); err != nil {
					return err
				}
				if !a.Whole {
					return errNoAnswer
				}
				return nil
			})
		},
	})
	addURL(cmd, &url)
	cli.AddSwitch(cmd, &watch, "watch", "show it again every second, until interrupted")
	f.add(cmd)
	return cmd
}

// watchStatus shows the status until the context is done.
func watchStatus(ctx context.Context, cmd *cobra.Command, c *client.Client) error {
	for {
		text := []byte("no manager leads\n")
		var damage *client.DamageError
		if s, err := c.Status(ctx); err == nil {
			if text, err = newStatusAnswer(s).render().Format(render.Formats[0]); err != nil {
				return err
			}
		} else if errors.As(err, &damage) {
			text = []byte(damage.Why + seeRepair + "\n")
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "\x1b[H\x1b[2J%s", text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}
