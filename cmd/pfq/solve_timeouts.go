// This file implements pfq solve for clusters in which jobs time out.

package main

import (
	"context"
	"errors"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/oiqueue"
)

// timeoutColumns are the first columns of CSV if jobs time out.
var timeoutColumns = []string{"kind", "name", "arrival_rate", "mean_timeout", "timeout_probability", "mean_jobs",
	"mean_delay", "service", "engine", "states", "relative_error_bound"}

// timeoutSections are the lines of CSV and the tables of text.
var timeoutSections = []render.Section{
	{Kind: "cluster", Columns: "mean_jobs mean_delay? timeout_probability?"},
	{Kind: "class", Of: "classes", Columns: "name arrival_rate mean_timeout? timeout_probability mean_jobs mean_delay"},
}

// solveTimeouts solves a model in which jobs time out.
func (f *solveQuestion) solveTimeouts(q command.Query, m *cluster.Model) (*solved, error) {
	s := oiqueue.TimeoutSettings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	r, err := command.WithProgress(q, func(ctx context.Context) (*oiqueue.TimeoutResult, error) {
		return oiqueue.SolveTimeouts(ctx, m, s)
	})
	var bad *input.Error
	switch {
	case errors.Is(err, num.ErrUnstable): // by jobs that never time out
		return f.overloaded(q, m.WithoutTimed())
	case errors.As(err, &bad) && strings.HasSuffix(bad.Path, ".mean_size"):
		return nil, input.Errorf(
			bad.Path, bad.Value, "the mean size of the other classes, as jobs that time out have formulas "+
				"only for exponential sizes with one mean",
		)
	case err != nil:
		return nil, f.binding.Translate(err, "or pfq simulate, which estimates the means")
	}
	a := &solved{
		stable: true, body: append(command.ServiceHead(m, true), f.style(r.Engine).Record(r)...),
		sections: timeoutSections,
		lines: func(t *render.Text) {
			t.Line("%s", accuracy(r.Engine, r.RelativeErrorBound))
			t.Line("%d states: numbers of jobs by mean timeout and of busy servers", r.States)
		},
	}
	if r.Engine == num.Float {
		a.bound = r.RelativeErrorBound
	}
	return a, nil
}
