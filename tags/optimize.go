package tags

import (
	"context"
	"fmt"
	"math"

	"productform/internal/input"
	"productform/sizes"
	"productform/tags/internal/path"
)

// An Objective is the quantity that cutoffs minimise: Slowdown E[S] + Waiting E[W], with weights >=
// 0 that are not both 0; or, with Fair instead of weights, how far the expected slowdowns of the
// hosts differ.
type Objective struct {
	Slowdown float64 // 1 for TAGS-opt-slowdown
	Waiting  float64 // 1 for TAGS-opt-waitingtime
	Fair     bool    // for TAGS-opt-fairness, without weights
}

// Validate checks the weights. The error names what is out of range.
func (o Objective) Validate() error {
	if o.Fair {
		if o.Slowdown != 0 || o.Waiting != 0 {
			return input.Errorf("Objective", fmt.Sprintf("{%v %v}", o.Slowdown, o.Waiting), "no weights with Fair")
		}
		return nil
	}
	if !(o.Slowdown >= 0 && o.Slowdown <= 1e150) {
		return input.Errorf("Objective.Slowdown", o.Slowdown, "a weight in [0, 1e150]")
	}
	if !(o.Waiting >= 0 && o.Waiting <= 1e150) {
		return input.Errorf("Objective.Waiting", o.Waiting, "a weight in [0, 1e150]")
	}
	if max(o.Slowdown, o.Waiting) < 1e-150 {
		return input.Errorf("Objective", fmt.Sprintf("{%v %v}", o.Slowdown, o.Waiting), "a weight of at least 1e-150")
	}
	return nil
}

func (o Objective) value(slowdown, waiting float64) float64 {
	return o.Slowdown*slowdown + o.Waiting*waiting
}

// Optimize returns the result for the best cutoffs for the objective, under [PolicyTAGS] or
// [PolicySITA]. It proves them: up to rounding of about 1e-13, no other cutoffs are better by more
// than Gap. For up to about ten hosts the gap is 5e-11 if the distribution of the sizes is
// [sizes.Unimodal] or [sizes.Atomic]. For many hosts, which gain little, memory (about 50 MB) is
// the limit, and the gap may stay at a few per cent, or most of 1 for 64 hosts. For distributions
// that are neither, it may also stay at 1e-6 for two hosts and at 1e-4 or more for others. The
// cutoffs themselves are usually better than the gap suggests: a local search ends only when it
// finds nothing better nearby, to 1e-10 for unimodal distributions and the square root of rounding,
// 1e-7, for others.
//
// Under TAGS a cutoff at an end of the sizes ([math.MaxFloat64] if they have none), or equal to the
// one before, means that a host is better left idle; [Evaluate] does not take such cutoffs. Under
// SITA equal cutoffs, a first cutoff of 0, or a last one at the high end of the sizes mean that;
// the smallest jobs go to host 1 and the largest to host h, also if the speeds differ: another
// order of the hosts is another model. If the sizes are [sizes.Atomic], the cutoffs are sizes,
// or 0. The gap of SITA is larger if the proof takes too many cells: 1e-3 where several hosts are
// loaded to within 1e-6 of 1, and some per cent for 64 hosts. Some cutoffs overload no host at
// every load below 1, as those of SITA-E, unless sizes have atoms.
//
// With Fair, for TAGS only, the cutoffs give all hosts the same expected slowdown ([HB02],
// TAGS-opt-fairness):
//
//	E[S_i] = (V_1 + ... + V_i) E[1/X | s_{i-1} < X <= s_i] = S for all i.
//
// Objective is the largest E[S_i], and Gap what is left of unfairness, 1 - min_i E[S_i]/max_i
// E[S_i], here 1e-16 or so. The slacks are those that make the slowdowns equal: where cutoffs of 53
// bits cannot tell a load from 1, the slack holds digits that [Evaluate] does not find. With two
// hosts of one speed such cutoffs exist whenever any keep both loads below 1. In general they need
// not: a host that ends next to no jobs makes those that pass wait, and that alone may be too much.
// So it is with sizes in a narrow range, with many hosts at light load, with unsuitable speeds. The
// error is an *[UnfairError] then: bounds prove that there are none, or none were found. With
// speeds that differ, and distributions that are not [sizes.Unimodal], there can be several
// solutions: the one with the smallest S of those found is returned. If the sizes are
// [sizes.Atomic], equality is out of reach: then the cutoffs, at atoms and 0, provably minimise the
// largest E[S_i] of the hosts at which jobs end, and a local search prefers a large smallest
// E[S_i]. The proof takes lists of 2000 atoms for five hosts, and shorter ones for more. If it
// fails, the error is an *[UnfairError] too. At a host with the cutoff of the host before, no job
// ends. A cutoff of 0 leaves its host idle, as one at the top atom does those after it. For bounded
// Pareto distributions 2 hosts take less than a millisecond, 8 some milliseconds.
//
// The error is that of [Evaluate], or an *[InfeasibleError], or names the field of the objective
// that is out of range. If a TAGS host is slower than one before it, it may wrap [ErrInfeasible]
// without being one: then no cutoffs were found. It is ctx.Err() promptly after ctx is done.
func Optimize(ctx context.Context, m Model, p Policy, o Objective) (Result, error) {
	if p != PolicyTAGS && p != PolicySITA {
		return Result{}, input.Errorf("Policy", string(p), "%q or %q, which have cutoffs to choose",
			PolicyTAGS, PolicySITA)
	}
	if o.Fair && p != PolicyTAGS {
		return Result{}, input.Errorf("Objective.Fair", o.Fair, "false, but under the policy %s", PolicyTAGS)
	}
	l, err := m.momentsFor(ctx, o)
	if err != nil {
		return Result{}, err
	}
	switch {
	case o.Fair:
		return m.fair(l)
	case p == PolicySITA:
		return m.optimizeSITA(l, o)
	}
	return m.optimizeTAGS(l, o)
}

// optimizeTAGS is [Optimize] for weights.
func (m Model) optimizeTAGS(l *moments, o Objective) (Result, error) {
	f := newTAGSCost(m, l, o)
	low, high, ok := f.ranges()
	if l.err != nil {
		return Result{}, l.err
	}
	if !ok {
		return Result{}, m.infeasible(l)
	}
	best := path.Path{Cutoffs: []float64{}}
	if m.Hosts > 1 {
		best = newSearch(f, low, high).Run()
	}
	if l.err != nil {
		return Result{}, l.err
	}
	if best.Cutoffs == nil {
		if f.hasSlowerLater() {
			return Result{}, fmt.Errorf("%w: none was found for these speeds", ErrInfeasible)
		}
		return Result{}, fmt.Errorf("tags: the objective: %w", sizes.ErrOverflow)
	}
	visits := f.visits(best.Cutoffs)
	r, err := f.waits(f.loads(PolicyTAGS, best.Cutoffs, visits), visits)
	for j, s := range r.Cutoffs {
		r.Cutoffs[j] = min(s, math.MaxFloat64)
	}
	return withGap(r, o, best, err)
}

// optimizeSITA is [Optimize] for SITA.
func (m Model) optimizeSITA(l *moments, o Objective) (Result, error) {
	f := newTAGSCost(m, l, o).sita()
	low, high, ok := f.ranges()
	best := path.Path{Cutoffs: []float64{}}
	if ok && m.Hosts > 1 {
		best = f.search(low, high).Run()
	}
	if l.err != nil {
		return Result{}, l.err
	}
	if !ok || best.Cutoffs == nil {
		return Result{}, &InfeasibleError{m.Load, m.greatestLoad(func(m Model) bool {
			_, _, ok := newTAGSCost(m, l, Objective{Waiting: 1}).sita().ranges()
			return ok
		})}
	}
	r, err := m.evaluate(l, PolicySITA, best.Cutoffs)
	return withGap(r, o, best, err)
}

// withGap adds the value and its gap.
func withGap(r Result, o Objective, b path.Path, err error) (Result, error) {
	r.Objective, r.Gap = value(o.value(r.MeanSlowdown.Float, r.MeanWaiting.Float)), b.Gap()
	if err == nil && !(r.Objective.Float <= math.MaxFloat64) {
		err = fmt.Errorf("tags: the objective: %w", sizes.ErrOverflow)
	}
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// momentsFor checks m and the objective, and returns the moments of the sizes.
func (m Model) momentsFor(ctx context.Context, o Objective) (*moments, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l, err := newMoments(ctx, m)
	switch {
	case err != nil || !l.noInverse:
	case o.Fair:
		return nil, input.Errorf("Sizes", m.Sizes, "sizes with a finite E[1/X]")
	case o.Slowdown > 0:
		return nil, input.Errorf("Objective.Slowdown", o.Slowdown, "0, since E[1/X] of %v is infinite", m.Sizes)
	}
	return l, err
}

// infeasible returns the error for a model without cutoffs that keep every host below load 1.
func (m Model) infeasible(l *moments) error {
	most := m.maxLoad(l)
	if l.err != nil {
		return l.err
	}
	return &InfeasibleError{m.Load, most}
}

func newSearch(f *tagsCost, low, high []float64) *path.Search {
	return &path.Search{
		HostCost: f, Stopped: f.l.stopped, At: f.at, Low: low, High: high, Start: f.at(0), End: f.at(math.Inf(1)),
		Atoms: f.atoms, Smooth: f.density != nil, Shared: f.hasSlowerLater(), IdleFirst: f.mayIdleFirst(),
	}
}
