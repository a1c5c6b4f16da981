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
// 0 that are not both 0. With Fair, which excludes weights, it is the difference between the
// expected slowdowns of the hosts.
type Objective struct {
	Slowdown float64 // 1 for TAGS-opt-slowdown
	Waiting  float64 // 1 for TAGS-opt-waitingtime
	Fair     bool    // for TAGS-opt-fairness, without weights
}

// Validate checks the weights. The error names the field that is out of range.
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
// [PolicySITA]. It proves that, up to rounding of about 1e-13, no other cutoffs are better by more
// than Gap. For up to about ten hosts the gap is 5e-11 if the distribution of the sizes is
// [sizes.Unimodal] or [sizes.Atomic]. For many hosts, each of which gains little, the limit is
// memory (about 50 MB): the gap may stay at a few per cent, or close to 1 for 64 hosts. For
// distributions that are neither, it may also stay at 1e-6 for two hosts and at 1e-4 or more for
// more hosts. The cutoffs themselves are usually better than the gap suggests: a local search ends
// only when it finds nothing better nearby, to within 1e-10 for unimodal distributions and 1e-7,
// the square root of rounding, for others.
//
// Under TAGS a cutoff at an end of the sizes ([math.MaxFloat64] if they are unbounded), or equal to
// the previous one, means that a host is better left idle; [Evaluate] rejects such cutoffs. Under
// SITA the same is true of equal cutoffs, a first cutoff of 0, or a last cutoff at the high end of
// the sizes. The smallest jobs go to host 1 and the largest to host h, even if the speeds differ:
// another order of the hosts is another model. If the sizes are [sizes.Atomic], each cutoff is a
// size, or 0. The gap of SITA is larger if the proof takes too many cells: 1e-3 if the loads of
// several hosts are within 1e-6 of 1, and a few per cent for 64 hosts. Unless sizes have atoms,
// some cutoffs, such as those of SITA-E, overload no host at any load below 1.
//
// With Fair, for TAGS only, the cutoffs give all hosts the same expected slowdown ([HB02],
// TAGS-opt-fairness):
//
//	E[S_i] = (V_1 + ... + V_i) E[1/X | s_{i-1} < X <= s_i] = S for all i.
//
// Objective is the largest E[S_i], and Gap the remaining unfairness, 1 - min_i E[S_i]/max_i E[S_i],
// about 1e-16 here. The slacks are those that make the slowdowns equal: if cutoffs of 53 bits
// cannot distinguish a load from 1, the slack still has digits that [Evaluate] cannot compute. With
// two hosts of one speed, such cutoffs exist whenever some cutoffs keep both loads below 1. In
// general they may not exist: a host at which almost no jobs end still delays the jobs that pass
// it, and that delay alone may be too long. This happens with sizes in a narrow range, with many
// hosts at light load, and with unsuitable speeds. The error is then an *[UnfairError]: bounds
// prove that there are no such cutoffs, or none were found. With different speeds, and with
// distributions that are not [sizes.Unimodal], there may be several solutions. Optimize returns the
// one with the smallest S among those found. If the sizes are [sizes.Atomic], equality is out of
// reach. Then the cutoffs, at atoms and 0, provably minimise the largest E[S_i] of the hosts at
// which jobs end, and a local search prefers a large smallest E[S_i]. The proof works for lists of
// 2000 atoms with five hosts, and for shorter lists with more hosts. If it fails, the error is also
// an *[UnfairError]. No job ends at a host whose cutoff equals that of the previous host. A cutoff
// of 0 leaves its host idle, and a cutoff at the top atom leaves the hosts after it idle. For
// bounded Pareto distributions, 2 hosts take less than a millisecond and 8 hosts a few
// milliseconds.
//
// The error is that of [Evaluate], or an *[InfeasibleError], or names the field of the objective
// that is out of range. If a TAGS host is slower than one before it, the error may wrap
// [ErrInfeasible] without being an *[InfeasibleError]: then no cutoffs were found. Once ctx is
// done, Optimize promptly returns ctx.Err().
func Optimize(ctx context.Context, m Model, p Policy, o Objective) (Result, error) {
	if p != PolicyTAGS && p != PolicySITA {
		return Result{}, input.Errorf("Policy", string(p), "%q or %q, which have cutoffs to choose",
			PolicyTAGS, PolicySITA)
	}
	if o.Fair && p != PolicyTAGS {
		return Result{}, input.Errorf("Objective.Fair", o.Fair, "false, but under the policy %s", PolicyTAGS)
	}
	if err := m.Validate(); err != nil {
		return Result{}, err
	}
	if p != PolicyTAGS {
		m.Resume = Resume{}
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

// optimizeTAGS implements [Optimize] for weights under TAGS.
func (m Model) optimizeTAGS(l *moments, o Objective) (Result, error) {
	f := newTAGSCost(m, l, o)
	best, ok := f.best()
	if l.err != nil {
		return Result{}, l.err
	}
	if !ok {
		return Result{}, m.infeasible(l)
	}
	if best.Cutoffs == nil {
		if f.hasSlowerLater() || !m.Resume.restarts() {
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

// best returns the best path, with cutoffs nil if the search finds none, or false if there is none.
func (f *tagsCost) best() (best path.Path, ok bool) {
	if !f.startsLate() {
		return f.bestOfAll()
	}
	best.Cost, best.Least = math.Inf(1), math.Inf(1)
	for idle := range f.m.Hosts {
		g, possible := f.dropHosts(idle)
		if !possible {
			continue
		}
		p, found := g.bestOfAll()
		if !found {
			continue
		}
		ok = true
		if best.Least = min(best.Least, p.Least); p.Cutoffs != nil && p.Cost < best.Cost {
			best.Cost, best.Cutoffs = p.Cost, append(make([]float64, idle), p.Cutoffs...)
		}
	}
	return best, ok
}

// bestOfAll is the version of best in which the search decides whether the first hosts are idle.
func (f *tagsCost) bestOfAll() (best path.Path, ok bool) {
	low, high, ok := f.ranges()
	if !ok || f.l.err != nil {
		return best, false
	}
	s := newSearch(f, low, high)
	if f.m.Hosts > 1 {
		return s.Run(), true
	}
	cost := s.Total(nil)
	return path.Path{Cutoffs: []float64{}, Cost: cost, Least: cost}, true
}

// optimizeSITA implements [Optimize] for SITA.
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
		return Result{}, &InfeasibleError{m.Load, m.greatestLoad(func(m Model) float64 {
			_, _, slack := newTAGSCost(m, l, Objective{Waiting: 1}).sita().reach()
			return slack
		})}
	}
	r, err := m.evaluate(l, PolicySITA, best.Cutoffs)
	return withGap(r, o, best, err)
}

// withGap adds the value of the objective and its gap.
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
	case err == nil && o.Fair && l.list != nil && !m.Resume.restarts():
		return nil, input.Errorf("Objective.Fair", o.Fair,
			"false for a list of sizes, unless jobs restart from scratch")
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
	s := &path.Search{
		HostCost: f, Stopped: f.l.stopped, At: f.at, Low: low, High: high, Start: f.at(0), End: f.at(math.Inf(1)),
		Atoms: f.atoms, Smooth: f.density != nil || f.kinks != nil, Shared: f.hasSlowerLater(),
		IdleFirst: f.mayIdleFirst() && f.m.Resume.restarts(),
	}
	if !f.m.Resume.restarts() {
		s.Split, s.Drop = f.split, f.drop
	}
	return s
}
