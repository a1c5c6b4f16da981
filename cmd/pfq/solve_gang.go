// This file implements pfq solve for clusters whose jobs hold several servers.

package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/gang"
	"productform/internal/render"
	"productform/num"
)

// gangColumns are the first columns of CSV.
var gangColumns = []string{"kind", "name", "count", "arrival_rate", "wait_probability", "mean_waiting", "mean_delay",
	"mean_queue", "mean_jobs", "mean_busy", "utilization", "mean_busy_servers", "heavy_traffic_delay", "service", "sizes",
	"states", "relative_error_bound"}

// gangSections are the lines of CSV and the tables of text.
var gangSections = []render.Section{
	{Kind: "cluster", Columns: "mean_queue mean_jobs mean_waiting? mean_delay?"},
	{Kind: "class", Of: "classes",
		Columns: "name arrival_rate wait_probability mean_waiting mean_delay mean_queue"},
	{Kind: "server", Of: "servers", Columns: "name count mean_busy utilization"},
}

// checkGang rejects flags about more than the mean waits of jobs that hold several servers.
func (f *solveQuestion) checkGang(m *cluster.Model) error {
	if m.Service != cluster.Gang {
		return nil
	}
	return f.rejectFlags("a model with another service: waits of jobs that hold several servers are means, in "+
		"float64; pfq simulate estimates percentiles", num.Exact, num.Enclose)
}

// A gangPoint is the answer for one factor of the arrival rates: limits, and waits if the model is
// stable.
type gangPoint struct {
	limits *gang.Stability
	waits  *gang.Result
}

// answerGang solves a model in which jobs hold several servers.
func (f *solveQuestion) answerGang(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	points, all := newPoints[gangPoint](f), []render.Point(nil)
	stable = true
	for i := range points {
		p := &points[i]
		if p.result, err = f.solveGang(q.Part(i, len(points)), m, row, p.factor); err != nil {
			return a, false, err
		}
		stable = stable && p.result.waits != nil
		all = append(all, p.result.answer(f, p.at))
	}
	return f.answerPoints(all, gangColumns, func(t *render.Text) { f.gangText(t, m, points) }), stable, nil
}

// solveGang solves the model with its arrival rates multiplied by a factor, nil for 1.
func (f *solveQuestion) solveGang(q command.Query, m *cluster.Model, row int, factor *big.Rat) (*gangPoint, error) {
	if factor != nil {
		m = command.ScaleRow(m, row, factor)
	}
	waits, err := command.WithProgress(q, func(ctx context.Context) (*gang.Result, error) {
		return gang.Solve(ctx, m, gang.Settings{RelTol: f.settings.RelTol})
	})
	var unstable *gang.UnstableError
	switch {
	case errors.As(err, &unstable):
		return &gangPoint{limits: unstable.Stability}, nil
	case err != nil:
		return nil, f.binding.Translate(err, "")
	}
	if bound := waits.RelativeErrorBound; bound > f.settings.RelTol {
		fmt.Fprintf(q.Stderr, "pfq: warning: the error bound %s of the waits is above --tol %g: arrival rates are too "+
			"close to the limit\n", render.OneDigitUp(bound), f.settings.RelTol)
	}
	return &gangPoint{waits.Stability, waits}, nil
}

// answer returns the fields of the answer at a point.
func (p *gangPoint) answer(f *solveQuestion, at *command.Scaled) render.Point {
	if p.waits == nil {
		point := gangLimits(p.limits)
		point.Head = headOf(at)
		return point
	}
	style := render.Style{Engine: num.Float, Digits: command.Digits(f.settings.RelTol)}
	body := render.Record{}.Set("stable", true, "").Set("service", cluster.Gang, "").Set("sizes", gangSizes, "")
	return render.Point{Head: headOf(at), Body: append(body, style.Record(p.waits)...), Sections: gangSections}
}

// gangText writes the lines above the tables.
func (f *solveQuestion) gangText(t *render.Text, m *cluster.Model, points []scaledPoint[gangPoint]) {
	command.WriteService(t, m)
	t.Digits = command.Digits(f.settings.RelTol)
	for _, p := range points {
		p.text(t, m, f.settings.Engine)
		writeGangVerdict(t, p.result.limits)
		if p.factor == nil {
			writeGangLimit(t, p.result.limits)
		}
		if r := p.result.waits; r != nil {
			trust, shown := command.Trust(num.Float, r.RelativeErrorBound)
			t.Line("waits   computed %s, shown %s; sets of jobs in service: %d", trust, shown, r.States)
		}
	}
	t.Line("limit and waits hold for exponential sizes; for others use pfq simulate --sizes")
}
