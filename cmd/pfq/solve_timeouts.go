// This file implements pfq solve for clusters in which jobs time out.

package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
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
	first := func(list []*big.Rat) string {
		if len(list) == 0 {
			return ""
		}
		return list[0].RatString()
	}
	percentiles := ""
	if len(f.percentiles) > 0 {
		percentiles = strings.TrimPrefix(f.percentiles[0].Name, "p")
	}
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"--engine", string(f.settings.Engine), f.settings.Engine == num.Exact},
		{"--lattice", string(f.settings.Lattice), f.settings.Lattice != "" && f.settings.Lattice != "auto"},
		{"--percentiles", percentiles, f.percentiles != nil},
		{"--within", first(f.within), f.within != nil},
		{"--distribution", fmt.Sprint(f.asked.MaxJobs), f.asked.MaxJobs > 0},
		{"--gradients", "true", f.asked.Gradients},
		{"--scale", first(f.scaling.Factors), f.scaling.Factors != nil},
	} {
		if flag.given {
			return cli.FlagError{Err: input.Errorf(flag.name, flag.value,
				"a model without mean_timeout: the means of jobs that time out are solved by auto, float or enclose")}
		}
	}
	return nil
}

// answerTimeouts solves a model in which jobs time out.
func (f *solveQuestion) answerTimeouts(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	s := oiqueue.TimeoutSettings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	r, err := command.WithProgress(q, func(ctx context.Context) (*oiqueue.TimeoutResult, error) {
		return oiqueue.SolveTimeouts(ctx, m, s)
	})
	var bad *input.Error
	switch {
	case errors.Is(err, num.ErrUnstable): // by jobs that never time out
		untimed := m.WithoutTimed()
		verdict, err := command.Decide(q, untimed)
		if err != nil {
			return a, false, err
		}
		return command.UnstableAnswer(untimed, verdict, f.settings.Engine), false, nil
	case errors.As(err, &bad) && strings.HasSuffix(bad.Path, ".mean_size"):
		return a, false, input.Errorf(bad.Path, bad.Value, "the mean size of the other classes, as jobs that time out "+
			"have formulas only for exponential sizes with one mean")
	case err != nil:
		return a, false, f.binding.Translate(err, "")
	}
	if r.Engine == num.Float {
		f.warnMissed(r.RelativeErrorBound, q.Stderr)
	}
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	body := append(command.ServiceHead(m, true), style.Record(r)...)
	return render.Points([]render.Point{{Body: body, Sections: timeoutSections}}, false, timeoutColumns,
		func(t *render.Text) {
			command.WriteService(t, m)
			t.Digits = style.Digits
			trust, shown := command.Trust(r.Engine, r.RelativeErrorBound)
			t.Line("stable; %s engine, computed %s, shown %s", r.Engine, trust, shown)
			t.Line("jobs leave when they time out, in service or not; first come, first served, exponential sizes")
			t.Line("%d states: numbers of jobs by mean timeout and of busy servers", r.States)
		}), true, nil
}
