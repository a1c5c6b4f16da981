package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/internal/render"
	"productform/num"
)

// Limits beyond which the page would freeze for seconds.
const (
	mostBytes            = 192 << 20 // maximum size of tables
	mostPercentileStates = 1 << 14   // maximum number of states of a model with percentiles
)

func settings() bf.Settings { return bf.Settings{MaxBytes: mostBytes} }

// head returns the first field of the results for a model at a load; the only field if the model is
// unstable.
func head(stable bool) render.Record { return render.Record{{Key: "stable", Value: stable}} }

// solve returns the measures of m, which may be unstable.
func solve(ctx context.Context, m *cluster.Model, percentiles []string) (render.Record, error) {
	r, err := bf.Solve(ctx, m, settings())
	if errors.Is(err, num.ErrUnstable) {
		return head(false), nil
	}
	if err != nil {
		return nil, err
	}
	return solution(ctx, m, r, percentiles)
}

// solution returns the numbers of a result under the names that they have in the JSON of pfq solve,
// with percentiles of the delays if the question requests any, otherwise the reason no_percentiles.
func solution(ctx context.Context, m *cluster.Model, r *bf.Result, percentiles []string) (render.Record, error) {
	s := slices.Concat(head(true), render.Fields(r))
	levels, err := levelsOf(percentiles)
	if err != nil || len(levels) == 0 {
		return s, err
	}
	without := func(why string) render.Record { return s.Set("no_percentiles", why, "") }
	if _, err := m.OneMeanSize(); err != nil {
		return without("classes differ in mean size, and first come, first served has formulas for " +
			"exponential sizes with a common mean only"), nil
	}
	if r.States > mostPercentileStates {
		return without(fmt.Sprintf("this model has %d states; the page computes percentiles up to %d states; "+
			"use pfq beyond that", r.States, mostPercentileStates)), nil
	}
	d, err := bf.Answer(ctx, m, bf.Question{Levels: levels}, settings())
	if err != nil {
		return without(reason(err)), ctx.Err()
	}
	classes := s.Get("classes").([]render.Record)
	for i, c := range d.Classes {
		value := func(k int) any {
			if c.Quantiles == nil { // no jobs arrive
				return nil
			}
			return render.Style{}.Computed(&c.Quantiles[k])
		}
		classes[i] = classes[i].Set("delay", delay(percentiles, value), "")
	}
	return s, nil
}

// delay returns percentiles under the names that pfq gives them.
func delay(percentiles []string, value func(k int) any) (r render.Record) {
	for k, p := range percentiles {
		r = r.Set("p"+p, value(k), "")
	}
	return r
}

// A Curve holds solutions at several loads.
type Curve struct {
	Points []render.Record `json:"points"` // in the order of the question
}

// curve solves m at each load. All stable loads are solved together, which is faster.
func curve(ctx context.Context, m *cluster.Model, q Question) (*Curve, error) {
	loads, err := numbers("loads", q.Loads)
	if err != nil {
		return nil, err
	}
	c := &Curve{make([]render.Record, len(loads))}
	p, err := bf.Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	results, err := p.Sweep(ctx, loads, bf.Question{}, settings())
	isStable := err == nil
	if !isStable && !errors.Is(err, num.ErrUnstable) {
		return nil, err
	}
	for i, load := range loads {
		if at := m.Scale(load); isStable {
			c.Points[i], err = solution(ctx, at, results[i], q.Percentiles)
		} else {
			c.Points[i], err = solve(ctx, at, q.Percentiles)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}
