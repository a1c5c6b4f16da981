// This file implements pfq solve for clusters whose jobs hold several servers.

package main

import (
	"context"
	"errors"
	"fmt"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/gang"
	"productform/internal/render"
	"productform/num"
)

// gangColumns are the first columns of CSV.
var gangColumns = []string{"kind", "name", "count", "arrival_rate", "wait_probability", "mean_waiting", "mean_delay",
	"mean_queue", "mean_jobs", "mean_busy", "utilization", "mean_busy_servers", "heavy_traffic_delay", "service",
	"sizes",
	"states", "relative_error_bound"}

// gangSections are the lines of CSV and the tables of text.
var gangSections = []render.Section{
	{Kind: "cluster", Columns: "mean_queue mean_jobs mean_waiting? mean_delay?"},
	{Kind: "class", Of: "classes",
		Columns: "name arrival_rate wait_probability mean_waiting mean_delay mean_queue"},
	{Kind: "server", Of: "servers", Columns: "name count mean_busy utilization"},
}

// solveGang solves a model in which jobs hold several servers.
func (f *solveQuestion) solveGang(q command.Query, m *cluster.Model) (*solved, error) {
	r, err := command.WithProgress(q, func(ctx context.Context) (*gang.Result, error) {
		return gang.Solve(ctx, m, gang.Settings{RelTol: f.settings.RelTol})
	})
	var unstable *gang.UnstableError
	switch {
	case errors.As(err, &unstable):
		point := gangLimits(unstable.Stability)
		return &solved{body: point.Body, sections: point.Sections, lines: f.gangLines(unstable.Stability)}, nil
	case err != nil:
		return nil, f.binding.Translate(err, "")
	}
	if bound := r.RelativeErrorBound; bound > f.settings.RelTol {
		fmt.Fprintf(q.Stderr, "pfq: warning: the error bound %s of the waits is above --tol %g: arrival rates are too "+
			"close to the limit\n", render.OneDigitUp(bound), f.settings.RelTol)
	}
	style := f.style(num.Float)
	body := command.ServiceHead(m, true).Set("sizes", gangSizes, "")
	return &solved{
		stable: true, body: append(body, style.Record(r)...), sections: gangSections,
		lines: func(t *render.Text) {
			f.gangLines(r.Stability)(t)
			trust, shown := command.Trust(num.Float, r.RelativeErrorBound)
			t.Line("waits   computed %s, shown %s; sets of jobs in service: %d", trust, shown, r.States)
		},
	}, nil
}

// gangLines writes the verdict and, unless there are several factors, the limit.
func (f *solveQuestion) gangLines(s *gang.Stability) func(*render.Text) {
	return func(t *render.Text) {
		writeGangVerdict(t, s)
		if f.scaling.Factors == nil {
			writeGangLimit(t, s)
		}
	}
}
