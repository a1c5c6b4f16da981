package whatif

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/gang"
	"productform/internal/render"
	"productform/num"
	"productform/oneserver"
)

// Limits beyond which the page would freeze for seconds.
const (
	mostBytes            = 192 << 20 // maximum size of tables
	mostPercentileStates = 1 << 14   // maximum number of states of a model with percentiles

	// maximum number of states times steps in time of a model whose jobs give up: at about a
	// microsecond each, two seconds of pfq, and eight if the steps are halved twice
	mostWork = 2e6
)

func settings() bf.Settings { return bf.Settings{MaxBytes: mostBytes} }

// head returns the first field of the results for a model at a load; the only field if the model is
// unstable.
func head(stable bool) render.Record { return render.Record{{Key: "stable", Value: stable}} }

// times are the requested distributions of times.
type times struct {
	percentiles []string
	levels      []*big.Rat // levels of the percentiles
	within      []*big.Rat // times of service levels
}

// timesOf reads the times of a question.
func timesOf(q Question) (t times, err error) {
	t.percentiles = q.Percentiles
	if t.levels, err = levelsOf(q.Percentiles); err != nil {
		return t, err
	}
	t.within, err = numbers("within", q.Within)
	return t, err
}

// solve returns the measures of m, which may be unstable, under the names that they have in the
// JSON of pfq solve.
func solve(ctx context.Context, m *cluster.Model, t times) (s render.Record, err error) {
	switch m.Theory() {
	case cluster.SeveralServers:
		s, err = solveGang(ctx, m)
	case cluster.Impatience:
		s, err = solvePatience(ctx, m, t)
	case cluster.SingleServers:
		s, err = solveOne(ctx, m, t)
	default:
		var r *bf.Result
		if r, err = bf.Solve(ctx, m, settings()); err == nil {
			s, err = solution(ctx, m, r, t)
		}
	}
	if errors.Is(err, num.ErrUnstable) {
		return head(false), nil
	}
	return s, err
}

// solution returns the numbers of a result of balanced fairness, with percentiles of the delays if
// the question requests any, or the reason no_percentiles. Reasons that are known without the
// percentiles always come with the numbers: otherwise the page would have a large model solved
// again to learn them.
func solution(ctx context.Context, m *cluster.Model, r *bf.Result, t times) (render.Record, error) {
	s := slices.Concat(head(true), render.Fields(r))
	without := func(why string) render.Record { return s.Set("no_percentiles", why, "") }
	if _, err := m.OneMeanSize(); err != nil {
		return without("classes differ in mean size, and first come, first served has formulas for " +
			"exponential sizes with a common mean only"), nil
	}
	if r.States > mostPercentileStates {
		return without(fmt.Sprintf("this model has %d states; the page computes percentiles up to %d states; "+
			"use pfq beyond that", r.States, mostPercentileStates)), nil
	}
	if len(t.levels) == 0 {
		return s, nil
	}
	d, err := bf.Answer(ctx, m, bf.Question{Levels: t.levels}, settings())
	if err != nil {
		return without(reason(err)), ctx.Err()
	}
	classes := s.Get("classes").([]render.Record)
	for i, c := range d.Classes {
		classes[i] = classes[i].Set("delay", t.quantiles(c.Quantiles), "")
	}
	return s, nil
}

// solveOne solves a model in which each job runs on one server.
func solveOne(ctx context.Context, m *cluster.Model, t times) (render.Record, error) {
	r, err := oneserver.Answer(ctx, m, oneserver.Question{Levels: t.levels, Times: t.within},
		oneserver.Settings{MaxBytes: mostBytes})
	if err != nil {
		return nil, err
	}
	s := slices.Concat(head(true), render.Fields(r))
	classes := s.Get("classes").([]render.Record)
	for i, c := range r.Classes {
		if len(t.levels) > 0 {
			classes[i] = classes[i].Set("waiting", t.quantiles(c.Waiting), "").Set("delay", t.quantiles(c.Delay), "")
		}
		if len(t.within) > 0 {
			classes[i] = classes[i].Set("within", render.Rows(c.Within), "")
		}
	}
	return s, nil
}

// solvePatience solves a model in which waiting jobs give up.
func solvePatience(ctx context.Context, m *cluster.Model, t times) (render.Record, error) {
	r, err := oneserver.SolvePatience(ctx, m, oneserver.PatienceSettings{
		MaxBytes: mostBytes, MaxWork: mostWork, Times: t.within, Levels: t.levels,
	})
	if err != nil {
		return nil, err
	}
	s := slices.Concat(head(true), render.Fields(r))
	classes := s.Get("classes").([]render.Record)
	for i, c := range r.Classes {
		if len(t.levels) > 0 {
			classes[i] = classes[i].Set("waiting", t.quantiles(c.Waiting), "")
		}
	}
	return s, nil
}

// solveGang solves a model in which jobs hold several servers at once. There are no distributions
// of times.
func solveGang(ctx context.Context, m *cluster.Model) (render.Record, error) {
	r, err := gang.Solve(ctx, m, gang.Settings{})
	if err != nil {
		return nil, err
	}
	return slices.Concat(head(true), render.Fields(r)), nil
}

// quantiles returns percentiles under the names that pfq gives them. They are null without values,
// of a class without arrivals.
func (t times) quantiles(values []num.Value) render.Record {
	return named(t.percentiles, func(k int) any {
		if values == nil {
			return nil
		}
		return render.Style{}.Computed(&values[k])
	})
}

// named returns percentiles under the names that pfq gives them.
func named(percentiles []string, value func(k int) any) (r render.Record) {
	for k, p := range percentiles {
		r = r.Set("p"+p, value(k), "")
	}
	return r
}

// A Curve holds solutions at several loads.
type Curve struct {
	Points []render.Record `json:"points"` // in the order of the question
}

// curve solves m at each load. With balanced fairness, all stable loads are solved together, which
// is faster.
func curve(ctx context.Context, m *cluster.Model, q Question) (*Curve, error) {
	loads, err := numbers("loads", q.Loads)
	if err != nil {
		return nil, err
	}
	t, err := timesOf(q)
	if err != nil {
		return nil, err
	}
	c := &Curve{make([]render.Record, len(loads))}
	var results []*bf.Result
	if m.Theory() == cluster.BalancedFairness {
		p, err := bf.Prepare(ctx, m)
		if err != nil {
			return nil, err
		}
		results, err = p.Sweep(ctx, loads, bf.Question{}, settings())
		if err != nil && !errors.Is(err, num.ErrUnstable) {
			return nil, err
		}
	}
	for i, load := range loads {
		if at := m.Scale(load); results != nil {
			c.Points[i], err = solution(ctx, at, results[i], t)
		} else {
			c.Points[i], err = solve(ctx, at, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}
