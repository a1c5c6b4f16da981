// This file implements pfq solve for clusters in which jobs time out.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
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

// checkTimeouts rejects flags about more than the means of jobs that time out.
func (f *solveQuestion) checkTimeouts(m *cluster.Model) error {
	if !timesOut(m) {
		return nil
	}
	return f.rejectFlags("a model without mean_timeout: only the means of jobs that time out are solved, by auto, "+
		"float or enclose; pfq simulate estimates percentiles", num.Exact)
}

// rejectFlags rejects some engines and all flags about more than means, with a text that names what
// they need.
func (f *solveQuestion) rejectFlags(want string, engines ...num.Engine) error {
	percentiles, within := "", ""
	if len(f.percentiles) > 0 {
		percentiles = strings.TrimPrefix(f.percentiles[0].Name, "p")
	}
	if len(f.within) > 0 {
		within = f.within[0].RatString()
	}
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"--engine", string(f.settings.Engine), slices.Contains(engines, f.settings.Engine)},
		{"--lattice", string(f.settings.Lattice), f.settings.Lattice != "" && f.settings.Lattice != "auto"},
		{"--percentiles", percentiles, f.percentiles != nil},
		{"--within", within, f.within != nil},
		{"--distribution", fmt.Sprint(f.asked.MaxJobs), f.asked.MaxJobs > 0},
		{"--by-class", "true", f.asked.ByClass},
		{"--gradients", "true", f.asked.Gradients},
	} {
		if flag.given {
			return cli.FlagError{Err: input.Errorf(flag.name, flag.value, "%s", want)}
		}
	}
	return nil
}

// answerTimeouts solves a model in which jobs time out.
func (f *solveQuestion) answerTimeouts(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	points, all := newPoints[oiqueue.TimeoutResult](f), []render.Point(nil)
	stable = true
	for i := range points {
		p := &points[i]
		if err := f.solveTimeouts(q.Part(i, len(points)), m, row, p); err != nil {
			return a, false, err
		}
		if p.result == nil {
			stable = false
			all = append(all, p.unstablePoint(m, f.settings.Engine))
			continue
		}
		if p.result.Engine == num.Float {
			f.warnMissed(p.result.RelativeErrorBound, q.Stderr)
		}
		style := render.Style{Engine: p.result.Engine, Digits: command.Digits(f.settings.RelTol)}
		body := append(command.ServiceHead(m, true), style.Record(p.result)...)
		all = append(all, render.Point{Head: headOf(p.at), Body: body, Sections: timeoutSections})
	}
	return f.answerPoints(all, timeoutColumns, func(t *render.Text) { f.timeoutText(t, m, points) }), stable, nil
}

// solveTimeouts solves the model at one factor.
func (f *solveQuestion) solveTimeouts(
	q command.Query, m *cluster.Model, row int, p *scaledPoint[oiqueue.TimeoutResult],
) (err error) {
	if p.factor != nil {
		m = command.ScaleRow(m, row, p.factor)
	}
	s := oiqueue.TimeoutSettings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	p.result, err = command.WithProgress(q, func(ctx context.Context) (*oiqueue.TimeoutResult, error) {
		return oiqueue.SolveTimeouts(ctx, m, s)
	})
	var bad *input.Error
	switch {
	case errors.Is(err, num.ErrUnstable): // by jobs that never time out
		p.unstable, err = command.Decide(q, m.WithoutTimed())
		return err
	case errors.As(err, &bad) && strings.HasSuffix(bad.Path, ".mean_size"):
		return input.Errorf(
			bad.Path, bad.Value, "the mean size of the other classes, as jobs that time out have formulas "+
				"only for exponential sizes with one mean",
		)
	}
	return f.binding.Translate(err, "or pfq simulate, which estimates the means")
}

// timeoutText writes the lines above the tables.
func (f *solveQuestion) timeoutText(t *render.Text, m *cluster.Model, points []scaledPoint[oiqueue.TimeoutResult]) {
	command.WriteService(t, m)
	for _, p := range points {
		if !p.text(t, m, f.settings.Engine) {
			continue
		}
		t.Digits = command.Digits(f.settings.RelTol)
		trust, shown := command.Trust(p.result.Engine, p.result.RelativeErrorBound)
		t.Line("stable; %s engine, computed %s, shown %s", p.result.Engine, trust, shown)
		t.Line("%d states: numbers of jobs by mean timeout and of busy servers", p.result.States)
	}
	t.Line("jobs leave when they time out, in service or not; first come, first served, exponential sizes")
}
