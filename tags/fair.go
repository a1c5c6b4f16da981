package tags

import (
	"context"
	"errors"
	"fmt"
	"math"

	"productform/tags/internal/path"
)

// ErrUnfair is wrapped by the error for a model without known cutoffs of equal slowdowns.
var ErrUnfair = errors.New("tags: no cutoffs with equal slowdowns found")

// An UnfairError is the error of [Optimize] if it finds no fair cutoffs. The search halves boxes of
// cutoffs, in which it bounds the slowdowns.
type UnfairError struct {
	Looked int  // number of boxes examined
	Proved bool // no cutoffs are fair if jobs end at every host that can take any
	List   bool // sizes are a list, and it is not proved which cutoffs minimise the largest slowdown
}

func (e *UnfairError) Error() string {
	switch {
	case e.List:
		return fmt.Sprintf("tags: %d boxes of cutoffs do not prove which have the smallest largest slowdown: "+
			"want fewer hosts or fewer different sizes in the list", e.Looked)
	case e.Proved:
		return fmt.Sprintf("tags: no cutoffs have equal slowdowns, if jobs must end at every host: "+
			"proved by bounds in %d boxes of cutoffs", e.Looked)
	}
	return fmt.Sprintf("tags: no cutoffs with equal slowdowns found in %d boxes of cutoffs", e.Looked)
}

func (e *UnfairError) Unwrap() error { return ErrUnfair }

// fair implements [Optimize] for equal slowdowns.
func (m Model) fair(l *moments) (Result, error) {
	l.keep()
	f := &fairCost{tagsCost: newTAGSCost(m, l, Objective{Slowdown: 1})}
	ok := f.setRanges()
	if l.err != nil {
		return Result{}, l.err
	}
	if !ok {
		return Result{}, m.infeasible(l)
	}
	if m.Hosts > 1 && f.atoms == nil && f.high[0] == 0 {
		return m.fairWithoutFirst(l.ctx)
	}
	if m.Hosts == 1 {
		return f.fairResult(nil, f.visits(nil))
	}
	s := newFairSearch(f)
	s.run()
	cutoffs, visits, err := s.answer()
	if err != nil {
		return Result{}, err
	}
	return f.fairResult(cutoffs, visits)
}

// fairResult returns the result for fair cutoffs.
func (f *fairCost) fairResult(cutoffs []float64, visits []visit[double]) (Result, error) {
	r, err := f.waits(f.loads(PolicyTAGS, cutoffs, visits), visits)
	if err != nil {
		return Result{}, err
	}
	least, largest := r.slowdowns()
	r.Objective, r.Gap = value(largest), 1-least/largest
	return r, nil
}

// fairWithoutFirst returns the optimum of the other hosts, for a model in which the smallest sizes
// alone overload host 1.
func (m Model) fairWithoutFirst(ctx context.Context) (Result, error) {
	rest := m
	rest.Hosts, rest.Speeds, rest.Fractions = m.Hosts-1, m.Speeds[1:], nil
	rest.Load = m.Load * m.capacity() / rest.capacity()
	o, err := Optimize(ctx, rest, PolicyTAGS, Objective{Fair: true})
	if err != nil {
		return Result{}, err
	}
	o.Kind = PolicyTAGS.kind(m.Hosts)
	o.Cutoffs = append([]float64{0}, o.Cutoffs...)
	o.Hosts = append([]Host{{Slack: value(1)}}, o.Hosts...)
	return o, nil
}

// slowdowns returns the smallest and the largest E[S_i] of the hosts at which jobs complete.
func (r *Result) slowdowns() (least, largest float64) {
	least = math.Inf(1)
	for _, h := range r.Hosts {
		if h.Final.Float > 0 {
			least, largest = min(least, h.Slowdown.Float), max(largest, h.Slowdown.Float)
		}
	}
	return least, largest
}

// A fairCost looks for equal slowdowns. Its unknowns x are ln s_1, ..., ln s_{h-1}, ln S. With the
// harmonic means H_i = 1/E[1/X | s_{i-1} < X <= s_i], equal slowdowns are V_i = S (H_i - H_{i-1}),
// H_0 = 0.
type fairCost struct {
	*tagsCost
	low, high  []float64  // bounds on the cutoffs
	at0, atEnd path.Point // points of s_0 = 0 and s_h = ∞
}

// setRanges sets bounds on the cutoffs, in (0, ∞) unless the sizes are a list, or returns false if
// there are none.
func (f *fairCost) setRanges() (ok bool) {
	f.low, f.high, ok = f.ranges()
	f.at0, f.atEnd = f.at(0), f.at(math.Inf(1))
	if f.atoms != nil {
		return ok
	}
	for j := range f.low {
		if f.low[j] == 0 {
			for f.low[j] = f.l.mean; f.low[j] > 1e-150 && f.l.partial(0, 0, f.low[j]) > 1e-30; f.low[j] /= 2 {
			}
		}
		f.low[j], f.high[j] = min(max(f.low[j], f.l.low), f.top()), min(f.high[j], f.top())
	}
	return ok
}

// harmonic returns 1/E[1/X | a < X <= b], or the limit for b near a if no size lies between.
func (f *fairCost) harmonic(a, b float64) float64 {
	inverse, number := f.l.partial(-1, a, b), f.l.partial(0, a, b)
	if !(inverse > 0 && number > 0) {
		return max(a, f.l.low)
	}
	return number / inverse
}

// need returns λ M_2/(2 v²), the product of waiting time and slack, for host i between cutoffs a
// and b.
func (f *fairCost) need(i int, a, b float64) float64 {
	v := f.speed[i]
	_, second := f.l.work(f.m.Resume, a, b)
	return f.rate * second / (2 * v * v)
}

// spared returns the work that a host after cutoff a does not get, per job: E[min(X, a)] less the
// work redone and the overhead, or E[X; X <= a] if jobs restart from scratch.
func (f *fairCost) spared(a float64) float64 {
	below := f.l.partial(1, 0, a)
	if o := f.m.Resume.offset(a); o != 0 {
		below += o * f.l.tail(a)
	}
	return below
}

// surplus is positive if host i between cutoffs a and b has a smaller slowdown than the given one,
// after a waiting time of W_{i-1}, and negative if it has a larger one or is overloaded. It is
// smooth even where the host becomes overloaded.
func (f *fairCost) surplus(i int, waited, a, b, slowdown float64) float64 {
	wait := slowdown*f.harmonic(a, b) - waited // the V_i that gives this slowdown
	slack := f.spareSlack(i, f.spared(a), f.l.partialExcess(b))
	need := f.need(i, a, b)
	if wait < 0 {
		return (-math.Abs(wait*slack) - need) / (need - wait)
	}
	return (wait*slack - need) / (wait + need)
}
