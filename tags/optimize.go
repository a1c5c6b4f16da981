package tags

import (
	"fmt"
	"math"

	"productform/internal/input"
)

// An Objective is what cutoffs are to minimise: Slowdown E[S] + Waiting E[W], with weights >= 0 that are not both 0.
type Objective struct {
	Slowdown float64 // 1 for TAGS-opt-slowdown
	Waiting  float64 // 1 for TAGS-opt-waitingtime
}

func (o Objective) validate() error {
	if !(o.Slowdown >= 0 && o.Slowdown <= 1e100) {
		return input.Errorf("Objective.Slowdown", o.Slowdown, "a weight in [0, 1e100]")
	}
	if !(o.Waiting >= 0 && o.Waiting <= 1e100) {
		return input.Errorf("Objective.Waiting", o.Waiting, "a weight in [0, 1e100]")
	}
	if o.Slowdown == 0 && o.Waiting == 0 {
		return input.Errorf("Objective", o, "a weight above 0")
	}
	return nil
}

// An Optimum is the result for the best cutoffs.
type Optimum struct {
	Result
	Objective float64 // the smallest value
	Gap       float64 // no cutoffs have a value below (1 - Gap) Objective
}

// Optimize returns the cutoffs that minimise the objective. It proves them: Gap bounds how much better any other cutoffs
// could be, but for rounding, which is some 1e-13. The gap is 5e-11 where the law of the sizes is [dist.Unimodal], and
// next to 0 where it is [dist.Atomic]; for others the bound is cruder than the cutoffs, some 1e-4. Cutoffs as such are
// known to the square root of rounding, 1e-7, unless the law is unimodal: then to 1e-10.
//
// A cutoff at the high end of the sizes means that the hosts after it are better left idle.
//
// The error is that of [Analyze], or an *[InfeasibleError], or names a weight that is out of range.
func Optimize(m Model, o Objective) (Optimum, error) {
	if err := m.Validate(); err != nil {
		return Optimum{}, err
	}
	if err := o.validate(); err != nil {
		return Optimum{}, err
	}
	l, err := newLaw(m)
	if err != nil {
		return Optimum{}, err
	}
	if o.Slowdown > 0 && l.noInverse {
		return Optimum{}, input.Errorf("Objective.Slowdown", o.Slowdown, "0, since E[1/X] of %v is infinite", m.Sizes)
	}
	f := newKillFarm(m, l, o)
	low, high, ok := f.ranges()
	if l.err != nil {
		return Optimum{}, l.err
	}
	if !ok {
		most, err := MaxLoad(m)
		if err != nil {
			return Optimum{}, err
		}
		return Optimum{}, &InfeasibleError{m.Load, most}
	}
	best := optimum{cutoffs: []float64{}}
	if m.Hosts > 1 {
		best = killSearch(f, low, high).run()
	}
	if l.err != nil {
		return Optimum{}, l.err
	}
	if best.cutoffs == nil { // a host slower than one before it stands in the way
		return Optimum{}, fmt.Errorf("%w (none was found for these speeds)", ErrInfeasible)
	}
	r := m.visits(l, best.cutoffs)
	m.waits(l, &r)
	if l.err != nil {
		return Optimum{}, l.err
	}
	p := Optimum{Result: r, Objective: o.Slowdown*r.MeanSlowdown + o.Waiting*r.MeanWaiting}
	if m.Hosts > 1 {
		p.Gap = max(0, 1-best.least/best.cost)
	}
	return p, r.finite()
}

func killSearch(f *killFarm, low, high []float64) *search {
	return &search{
		farm: f, at: f.at, low: low, high: high, start: f.at(0), end: f.at(math.Inf(1)),
		atoms: f.atoms, smooth: f.density != nil,
	}
}
