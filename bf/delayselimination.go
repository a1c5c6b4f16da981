package bf

import (
	"context"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/elimination"
	"productform/internal/input"
	"productform/num"
)

// eliminationDelayPlan is newDelayPlan for elimination. The error is a [*num.InputError] if a component has no such plan.
func eliminationDelayPlan(ctx context.Context, c *cluster.Component, q delayQuestion, s Settings) (*plan, error) {
	s.Lattice, s.MaxJobs = EliminationLattice, 0
	if q.Moments > 0 {
		return nil, input.Errorf("Moments", q.Moments, "0 for the elimination lattice, which has percentiles and tails")
	}
	l, err := newPlan(ctx, c, num.Float, 0, s)
	if err != nil {
		return nil, err
	}
	return l, checkStable(ctx, &c.Model)
}

// eliminateDelays answers a question for the classes of a component: T_i is distributed as min_{S_i} T (see [elimination.Law]).
func (l *plan) eliminateDelays(ctx context.Context, q delays.Question, s Settings) ([]delays.Answer, error) {
	if l.problem.Bits > exactBits {
		return nil, ErrDigits
	}
	ask := elimination.Settings{Tolerance: max(1e-13, s.RelTol/8), Rarest: 1e-3, MaxBytes: s.MaxBytes, MaxWork: s.MaxWork}
	for _, p := range q.Tails {
		below, above := arithmetic.Around(p)
		ask.Rarest = min(ask.Rarest, below)
		ask.Tolerance = max(1e-13, min(ask.Tolerance, s.RelTol/8*(1-above))) // a quantile near 0 errs by as much more as its tail is near 1
	}
	if l.order.Width > 1 {
		ask.Tolerance = max(ask.Tolerance, s.RelTol/8)
	}
	for {
		r, err := l.solveElimination(ctx, l.problem, ask, true)
		if err != nil {
			return nil, err
		}
		answers, rarest := make([]delays.Answer, len(l.problem.Classes)), ask.Rarest
		for i, law := range r.Laws {
			if law == nil { // a class without arrivals
				continue
			}
			d := &delayLaw{law, new(big.Rat).SetInt(l.problem.Scale), r.Jobs[i].Double() / arithmetic.Scaled(l.problem.Classes[i].Rate, 0), rarest}
			if answers[i], err = d.answer(q.Tails, q.Times[i]); err != nil {
				return nil, err
			}
			ask.Rarest = min(ask.Rarest, d.rarest)
		}
		switch {
		case ask.Rarest == rarest:
			return answers, nil
		case rarest <= leastRare:
			return nil, ErrRange
		}
		ask.Rarest = max(leastRare, min(ask.Rarest/16, rarest/256))
	}
}

const leastRare = 0x1p-1000 // the least probability that is computed

// A delayLaw is the law of the delay of a class, in the unit of time of its problem.
type delayLaw struct {
	elimination.Law
	unit *big.Rat // in units of time of the model
	mean float64

	rarest float64 // what is known so far, or what should be
}

func (d *delayLaw) answer(tails, times []*big.Rat) (a delays.Answer, err error) {
	const prec = 64
	for _, p := range tails {
		low, high, ok := d.quantile(arithmetic.Around(p))
		if !ok {
			return a, ErrDigits
		}
		first, last := new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high)
		a.Quantiles = append(a.Quantiles, num.Interval{
			Low: num.Down(prec).SetRat(first.Mul(first, d.unit)), High: num.Up(prec).SetRat(last.Mul(last, d.unit))})
	}
	for _, t := range times {
		earlier, later := arithmetic.Around(new(big.Rat).Quo(t, d.unit))
		if p := d.guess(later); p < d.rarest {
			d.rarest = p
			a.Tails = append(a.Tails, num.Interval{})
			continue
		}
		high, low := interval(d.Tail(earlier)), interval(d.Tail(later))
		if high.Low == nil || low.Low == nil {
			return a, ErrDigits
		}
		if high.High.Cmp(big.NewFloat(1)) > 0 {
			high.High = num.Up(prec).SetInt64(1)
		}
		a.Tails = append(a.Tails, num.Interval{Low: low.Low, High: high.High})
	}
	return a, nil
}

// guess returns about P(T > t), as it falls further where more is not known.
func (d *delayLaw) guess(t float64) float64 {
	if end := d.Until(); t > end {
		return math.Pow(d.Tail(end).Double(), t/end)
	}
	return d.Tail(t).Double()
}

// interval returns bounds of a number, none if it has none.
func interval(x arithmetic.Number) num.Interval {
	if !(x.Bound < 0.5) {
		return num.Interval{}
	}
	off := arithmetic.Inflate(x.Bound) * (1 + 0x1p-40)
	f := num.FromFloat64(x.F, 64).Scale2(512 * x.Exp)
	return f.Mul(num.Interval{Low: num.Down(64).SetFloat64(1 - off), High: num.Up(64).SetFloat64(1 + off)})
}

// quantile returns low and high with P(T > low) >= above and P(T > high) <= below, if they are known.
func (d *delayLaw) quantile(below, above float64) (low, high float64, ok bool) {
	at := func(t float64) float64 { return d.Tail(t).Double() }
	end := d.Until()
	for high = d.mean; high < end && at(high) > below; high *= 2 {
	}
	if high = min(high, end); at(high) > below {
		return 0, 0, false
	}
	for high-low > 1e-15*high {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if at(middle) > below {
			low = middle
		} else {
			high = middle
		}
	}
	t := low
	for delta := 0x1p-52; ; delta *= 2 {
		if low = t * (1 - delta); delta >= 1 {
			low = 0
			break
		}
		if x := interval(d.Tail(low)); x.Low != nil && x.Low.Cmp(big.NewFloat(above)) >= 0 {
			break
		}
	}
	for delta := 0x1p-52; ; delta *= 2 {
		high = t * (1 + delta)
		if x := interval(d.Tail(high)); x.Low == nil || delta > 1 {
			return 0, 0, false
		} else if x.High.Cmp(big.NewFloat(below)) <= 0 {
			return low, high, true
		}
	}
}
