package tags

import (
	"errors"
	"fmt"
	"math"

	"productform/internal/input"
)

// ErrUnfair is wrapped by the error for a model for which no cutoffs with equal slowdowns were found.
var ErrUnfair = errors.New("tags: no cutoffs with equal slowdowns found")

// Fair returns cutoffs for which all hosts have the same expected slowdown ([HB02], TAGS-opt-fairness):
//
//	E[S_i] = (V_1 + ... + V_i) E[1/X | s_{i-1} < X <= s_i] = S for all i.
//
// Objective is the largest E[S_i], and Gap what is left of unfairness, 1 - min_i E[S_i]/max_i E[S_i], here some 1e-16.
// The slacks are those that make the slowdowns equal: where cutoffs of 53 bits cannot tell a load from 1, the slack
// holds digits that [Analyze] does not find.
//
// With two hosts of one speed such cutoffs exist whenever any keep both loads below 1. Else they need not: a host that
// ends next to no jobs makes those that pass wait, and that alone may be too much. So it is with sizes in a narrow
// range, with many hosts at light load, with unsuitable speeds. Then the error wraps [ErrUnfair]; it says that none
// were found, by shooting, by continuation from cutoffs that balance the loads and by a scan, and is no proof. Laws
// that are not [dist.Unimodal] can have several solutions: of those that a scan of S finds, the one with the smallest S
// is returned.
//
// If the sizes are [dist.Atomic], equality is out of reach: then the largest E[S_i] is minimised, over cutoffs at
// atoms, proved for up to some 2000 atoms; and of the cutoffs that attain it, a local search looks for those with a
// large least E[S_i]. A cutoff at the top atom leaves the hosts after it idle; these do not count.
//
// For bounded Pareto laws 2 hosts take less than a millisecond, 8 some milliseconds. The other errors are those of
// [Optimize].
func Fair(m Model) (Optimum, error) {
	if err := m.Validate(); err != nil {
		return Optimum{}, err
	}
	l, err := newLaw(m)
	if err != nil {
		return Optimum{}, err
	}
	if l.noInverse {
		return Optimum{}, input.Errorf("Sizes", m.Sizes, "sizes with a finite E[1/X]")
	}
	f := &fairFarm{killFarm: newKillFarm(m, l, Objective{Slowdown: 1}), m: m}
	if !f.setRanges() {
		return Optimum{}, m.infeasible(l)
	}
	var r Result
	switch {
	case m.Hosts == 1:
		r = m.visits(l, nil)
	case f.atoms != nil:
		cutoffs := newFairAtoms(f).solve()
		if cutoffs == nil {
			return Optimum{}, fmt.Errorf("%w: none at sizes of %v keep every host below load 1", ErrUnfair, m.Sizes)
		}
		r = m.visits(l, cutoffs)
	default:
		x, err := f.solve()
		if err != nil {
			return Optimum{}, errors.Join(err, l.err)
		}
		l.err = nil // a search may try cutoffs beyond float64
		r = f.result(x)
	}
	m.waits(l, &r)
	if l.err != nil {
		return Optimum{}, l.err
	}
	least, largest := r.slowdowns()
	if err := r.finite(); err != nil {
		return Optimum{}, err
	}
	return Optimum{Result: r, Objective: largest, Gap: 1 - least/largest}, nil
}

// slowdowns returns the least and the largest E[S_i] of the hosts at which jobs end.
func (r *Result) slowdowns() (least, largest float64) {
	least = math.Inf(1)
	for _, h := range r.Hosts {
		if h.Final > 0 {
			least, largest = min(least, h.Slowdown), max(largest, h.Slowdown)
		}
	}
	return least, largest
}

// A fairFarm looks for equal slowdowns. Its unknowns x are ln s_1, ..., ln s_{h-1}, ln S. With the harmonic means
// H_i = 1/E[1/X | s_{i-1} < X <= s_i], equal slowdowns are V_i = S (H_i - H_{i-1}), H_0 = 0.
type fairFarm struct {
	*killFarm
	m         Model
	low, high []float64 // bounds of the cutoffs
}

// setRanges sets bounds of the cutoffs, in (0, ∞), or returns false if there are none.
func (f *fairFarm) setRanges() (ok bool) {
	f.low, f.high, ok = f.ranges()
	for j := range f.low {
		if f.low[j] == 0 {
			for f.low[j] = f.l.mean; f.low[j] > 1e-150 && f.l.partial(0, 0, f.low[j]) > 1e-30; f.low[j] /= 2 {
			}
		}
		f.low[j], f.high[j] = min(f.low[j], f.top()), min(f.high[j], f.top())
	}
	return ok
}

// harmonic returns 1/E[1/X | a < X <= b], and the limit for b near a if no size is between.
func (f *fairFarm) harmonic(a, b float64) float64 {
	inverse, number := f.l.partial(-1, a, b), f.l.partial(0, a, b)
	if !(inverse > 0 && number > 0) {
		return max(a, f.l.low)
	}
	return number / inverse
}

// need returns λ M_2/(2 v²), the product of waiting and slack, of host i between cutoffs a and b.
func (f *fairFarm) need(i int, a, b float64) float64 {
	v := f.speed[i]
	return f.rate * f.l.capped(2, a, b) / (2 * v * v)
}

// surplus is above 0 if host i between cutoffs a and b has a slowdown below the one given, after a waiting time of
// W_{i-1}, and below 0 if it has one above or is overloaded. It is smooth, also where the host becomes overloaded.
func (f *fairFarm) surplus(i int, waited, a, b, slowdown float64) float64 {
	wait := slowdown*f.harmonic(a, b) - waited // the V_i that makes the slowdown so
	slack := f.spare[i] + f.rate/f.speed[i]*(f.l.partial(1, 0, a)+f.l.above(b))
	need := f.need(i, a, b)
	if wait < 0 {
		return (-math.Abs(wait*slack) - need) / (need - wait)
	}
	return (wait*slack - need) / (wait + need)
}

// shoot gives one host after the other the largest cutoff with which its slowdown is the one given, and returns the
// surplus of the last; or -1, with the host, if a host has no such cutoff since its slowdown is larger with all, and 1
// if it is smaller even if the host takes all the rest.
func (f *fairFarm) shoot(slowdown float64, cutoffs []float64) (surplus float64, host int) {
	waited, a := 0.0, 0.0
	for i := range cutoffs {
		lack := func(b float64) float64 { return -f.surplus(i, waited, a, b, slowdown) }
		from, to := max(a, f.low[i]), f.high[i]
		if from > to {
			return -1, i
		}
		if lack(to) < 0 {
			return 1, i
		}
		if from = lowest(from, to, lack); !(lack(from) < 0) {
			return -1, i
		}
		b, _ := crossing(from, to, lack)
		waited, a, cutoffs[i] = slowdown*f.harmonic(a, b), b, b
	}
	return f.surplus(len(cutoffs), waited, a, math.Inf(1), slowdown), len(cutoffs)
}
