package delays

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// A Question requests measures of the delay T of each class: the times at which P(T > t) passes
// Tails, each in (0, 1), and P(T > t) at the Times of the class.
type Question struct {
	Tails []*big.Rat
	Times [][]*big.Rat // times for each class
	Rough bool         // whether a relative error of 1e-3 suffices in float64, which needs fewer steps
}

// asks reports whether the question concerns class i.
func (q Question) asks(i int) bool { return len(q.Tails) > 0 || len(q.Times[i]) > 0 }

// An Answer holds bounds on the requested measures, in the same order, with times in units of the
// model.
type Answer struct{ Quantiles, Tails []num.Interval }

// A StepsError reports a question that needs too many steps.
type StepsError struct {
	Steps  float64 // lower bound on the required steps
	Each   float64 // operations per step
	States int
}

func (e *StepsError) Error() string {
	return fmt.Sprintf("%.3g steps over %d states", e.Steps, e.States)
}

// check rejects n steps of each products if they are too many, or if the numbers of each class and
// step need too much memory: the flows, the a_n computed from them, and as much again for garbage
// of append and of the a_n of fewer steps.
func (c *Chain) check(n float64, each int, bytesPerNumber float64) error {
	if n*float64(each) > c.maxWork || 4*n*float64(len(c.marks))*bytesPerNumber > float64(c.maxBytes) {
		return &StepsError{n, float64(each), c.top}
	}
	return nil
}

// Float answers in float64, given the values v of the states except the root of the class lattice,
// and a bound on their relative errors. The error is [num.ErrFloatRange], a *[StepsError], or that
// of the context.
func Float(ctx context.Context, c *Chain, v []float64, bound float64, q Question) ([]Answer, error) {
	f, err := newFloats(ctx, c, v, bound, q)
	if err != nil {
		return nil, err
	}
	list, err := f.survivals(q)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(list))
	for i := range list {
		if !q.asks(i) {
			continue
		}
		if answers[i], err = list[i].Answer(ctx, q.Tails, q.Times[i], f.unit()); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

const firstSteps = 64

// survivals takes as many steps as the question needs.
func (f *Floats) survivals(q Question) ([]Survival, error) {
	least, latest := q.Extremes(f.unit())
	for steps := firstSteps; ; {
		if err := f.c.check(float64(steps), f.stepsPerRun, 8); err != nil {
			return nil, err
		}
		if err := f.extendTo(steps); err != nil {
			return nil, err
		}
		list, err := f.survivalsNow()
		if err != nil {
			return nil, err
		}
		want := 0.0
		for i := range list {
			if q.asks(i) {
				want = max(want, list[i].Wanted(least, latest))
			}
		}
		if want <= float64(steps) {
			return list, nil
		}
		if err := f.c.check(want, f.stepsPerRun, 8); err != nil {
			return nil, err
		}
		steps = NextSteps(steps, want)
	}
}

// Extremes returns the smallest requested tail, rounded down (1 for none), and the latest time, in
// a unit and rounded up.
func (q Question) Extremes(unit *big.Rat) (least, latest float64) {
	least = 1
	for _, p := range q.Tails {
		below, _ := arithmetic.Around(p)
		least = min(least, below)
	}
	for _, times := range q.Times {
		for _, t := range times {
			_, m := arithmetic.Around(new(big.Rat).Quo(t, unit))
			latest = max(latest, min(m, math.MaxFloat64))
		}
	}
	return least, latest
}

// NextSteps returns the number of steps to run next for an estimated number: more than now, but at
// most twice as many.
func NextSteps(now int, want float64) int {
	return int(min(max(want, 1.125*float64(now)), 2*float64(now)))
}

// Wanted estimates the number of steps that determine the time at which P(T > t) passes p, and P(T
// > t) at t = m/q; it is at most the known number if that suffices. p = 1 requests no such time.
func (s *Survival) Wanted(p, m float64) (steps float64) {
	known := float64(len(s.A) - 1)
	most := s.reach()
	if _, _, ok := s.Tail(m); !ok {
		steps = max(known+1, m+s.deviations*math.Sqrt(m)+4*s.deviations+1)
	}
	if p == 1 {
		return steps
	}
	_, tail, ok := s.Bounds(most)
	if ok && tail < p {
		return steps
	}
	// Beyond the known steps, assume that it decreases as recently.
	last, before := s.A[len(s.A)-1], s.A[len(s.A)*3/4]
	fall := math.Log(before/last) / (known / 4)
	more := known
	if fall > 0 {
		more = math.Log(max(tail, p)/p) / fall
	}
	return max(steps, known+1+1.1*more)
}

// Answer returns bounds on the requested measures, in a unit of time, 1/q.
func (s *Survival) Answer(ctx context.Context, tails, times []*big.Rat, unit *big.Rat) (a Answer, err error) {
	const prec = 64
	for _, x := range tails {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		low, high := s.Quantile(arithmetic.Around(x))
		a.Quantiles = append(a.Quantiles, intervalOf(low, high, unit))
	}
	for _, t := range times {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		earlier, later := arithmetic.Around(new(big.Rat).Quo(t, unit))
		_, high, ok := s.Bounds(earlier)
		if !ok {
			high = 1
		}
		low, _, ok := s.Bounds(min(later, math.MaxFloat64)) // 0, or not ok, if it is that late
		if !ok {
			low = 0
		}
		a.Tails = append(a.Tails, num.Interval{
			Low:  num.Down(prec).SetFloat64(low),
			High: num.Up(prec).SetFloat64(high),
		})
	}
	return a, nil
}
