package tags

import (
	"fmt"
	"math"

	"productform/internal/input"
	"productform/sizes"
)

// An Objective is what cutoffs are to minimise: Slowdown E[S] + Waiting E[W], with weights >= 0 that are not both 0.
type Objective struct {
	Slowdown float64 // 1 for TAGS-opt-slowdown
	Waiting  float64 // 1 for TAGS-opt-waitingtime
}

func (o Objective) validate() error {
	if !(o.Slowdown >= 0 && o.Slowdown <= 1e150) {
		return input.Errorf("Objective.Slowdown", o.Slowdown, "a weight in [0, 1e150]")
	}
	if !(o.Waiting >= 0 && o.Waiting <= 1e150) {
		return input.Errorf("Objective.Waiting", o.Waiting, "a weight in [0, 1e150]")
	}
	if max(o.Slowdown, o.Waiting) < 1e-150 {
		return input.Errorf("Objective", o, "a weight of at least 1e-150")
	}
	return nil
}

func (o Objective) value(slowdown, waiting float64) float64 {
	return o.Slowdown*slowdown + o.Waiting*waiting
}

// An Optimum is the result for the best cutoffs.
type Optimum struct {
	Result
	Objective float64 // the smallest value
	Gap       float64 // no cutoffs have a value below (1 - Gap) Objective
}

// Optimize returns the cutoffs that minimise the objective. It proves them: Gap bounds how much better any other cutoffs
// could be, but for rounding, which is some 1e-13. For up to some ten hosts the gap is 5e-11 where the law of the sizes
// is [sizes.Unimodal] or [sizes.Atomic]. For many hosts, where they gain little, memory (some 50 MB) is the limit, and the
// gap may stay at some per cent, or most of 1 for 64 hosts; so it may, at 1e-6 for two hosts and 1e-4 and more for
// others, for laws that are neither. The cutoffs themselves are mostly better than that: a local search ends only where
// it finds nothing better nearby, to 1e-10 for unimodal laws and the square root of rounding, 1e-7, for others.
//
// A cutoff at an end of the sizes ([math.MaxFloat64] if they have none), or equal to the one before, means that a host
// is better left idle; [Analyze] does not take such cutoffs.
//
// The error is that of [Analyze], or an *[InfeasibleError], or names a weight that is out of range. Where a host is
// slower than one before it, it may wrap [ErrInfeasible] without being one: then no cutoffs were found.
func Optimize(m Model, o Objective) (Optimum, error) {
	l, err := m.lawFor(o)
	if err != nil {
		return Optimum{}, err
	}
	f := newKillFarm(m, l, o)
	low, high, ok := f.ranges()
	if !ok {
		return Optimum{}, m.infeasible(l)
	}
	if l.err != nil {
		return Optimum{}, l.err
	}
	best := optimum{cutoffs: []float64{}}
	if m.Hosts > 1 {
		best = killSearch(f, low, high).run()
	}
	if l.err != nil {
		return Optimum{}, l.err
	}
	if best.cutoffs == nil {
		if f.slows() {
			return Optimum{}, fmt.Errorf("%w: none was found for these speeds", ErrInfeasible)
		}
		return Optimum{}, fmt.Errorf("tags: the objective: %w", sizes.ErrOverflow)
	}
	r := f.visits(best.cutoffs)
	m.waits(l, &r)
	for j, s := range r.Cutoffs {
		r.Cutoffs[j] = min(s, math.MaxFloat64)
	}
	if l.err != nil {
		return Optimum{}, l.err
	}
	p := Optimum{r, o.value(r.MeanSlowdown, r.MeanWaiting), best.gap()}
	if !(p.Objective <= math.MaxFloat64) {
		return Optimum{}, fmt.Errorf("tags: the objective: %w", sizes.ErrOverflow)
	}
	if err := r.finite(); err != nil {
		return Optimum{}, err
	}
	return p, nil
}

// lawFor checks m and the objective, and returns the law of the sizes.
func (m Model) lawFor(o Objective) (*law, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	l, err := newLaw(m)
	if err == nil && o.Slowdown > 0 && l.noInverse {
		err = input.Errorf("Objective.Slowdown", o.Slowdown, "0, since E[1/X] of %v is infinite", m.Sizes)
	}
	return l, err
}

// infeasible returns the error for a model without cutoffs that keep every host below load 1.
func (m Model) infeasible(l *law) error {
	most := m.maxLoad(l)
	if l.err != nil {
		return l.err
	}
	return &InfeasibleError{m.Load, most}
}

func killSearch(f *killFarm, low, high []float64) *search {
	return &search{
		farm: f, at: f.at, low: low, high: high, start: f.at(0), end: f.at(math.Inf(1)),
		atoms: f.atoms, smooth: f.density != nil, shared: f.slows(), skips: f.skips(),
	}
}
