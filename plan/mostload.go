package plan

import (
	"context"
	"math"
	"math/big"
	"slices"
)

// A MostLoad is the plan within the budget that meets the targets at the greatest load, with the
// proof that no plan does at a slightly greater load.
type MostLoad struct {
	// at the factor At; nil if no plan meets the targets at any load tried
	Plan     *Outcome `json:"-"`
	Complete bool     `json:"complete"`                // whether At and Below are within the tolerance
	At       *big.Rat `json:"holds_at" exact:"always"` // factor of the arrival rates of the problem; nil if Plan is nil
	Below    *big.Rat `json:"fails_at" exact:"always"` // a factor at which no plan within the budget meets the targets
	Solves   int      `json:"solves"`                  // models solved
	Proof    Proof    `json:"proof"`                   // proof for the factor Below, with the budget as AtMost
}

// GreatestLoadOfAll returns the plan that costs at most Problem.Budget, if there is one, and meets
// the targets at the greatest factor of all arrival rates, to within Settings.RelTol. The measures
// of each plan only get worse with the load. So a plan that meets the targets at one factor meets
// them at all smaller ones, and if no plan meets them at one factor, none does at a larger one. A
// plan at one factor and the corners of a search at another therefore prove the answer. Factors
// below 2^-30 of the critical scale with everything bought are not tried.
//
// For each plan found, its own greatest load is computed. Then the search looks for a plan that
// sustains more. While the smallest factor known to fail is far away, it tries the midpoint; then
// it alternates between a slightly greater factor and the midpoint. So many nearly equal plans need
// few searches.
//
// After SearchSettings.Limit solves, or if no engine decides a plan, the answer is incomplete:
// Below is the smallest factor known so far.
//
// The error for a problem with NoWorse is a *[num.InputError], since delays at different loads are
// not compared; other errors are those of [Evaluate].
func GreatestLoadOfAll(ctx context.Context, p *Problem, s SearchSettings) (*MostLoad, error) {
	in, s, err := beginSearch(ctx, p, s)
	if err == nil {
		err = in.refuseLoads()
	}
	if err != nil {
		return nil, err
	}
	l, err := in.beginMostLoad(ctx, s)
	if err != nil {
		return nil, err
	}
	for !l.isDone() {
		open, err := l.try(ctx, l.next())
		if err != nil {
			return nil, err
		}
		if open {
			break
		}
	}
	a := &MostLoad{At: l.low, Below: l.high, Proof: l.proof, Complete: l.isDone(), Solves: l.solves}
	if l.low != nil {
		a.Plan, err = in.scaled(l.low).outcome(ctx, l.edges, in.useful(l.steps), s.Settings)
	}
	return a, err
}

// A mostLoad is the search for the plan that sustains the greatest load.
type mostLoad struct {
	in     *instance
	s      SearchSettings
	below  int64    // plans cost less than this
	least  *big.Rat // the smallest factor to try
	low    *big.Rat // the greatest load of the best plan; nil for none
	high   *big.Rat // factor at which no plan within the budget meets the targets
	edges  bits     // edges of the best plan
	steps  []int
	proof  Proof // proof for high
	little bool  // the last factor was slightly above low
	solves int
}

// beginMostLoad starts at the critical scale with everything bought, at which no plan is stable.
func (in *instance) beginMostLoad(ctx context.Context, s SearchSettings) (*mostLoad, error) {
	everything := in.Everything()
	_, r, err := in.kind.stable(ctx, in.model(bitsOf(everything.Edges), everything.Steps))
	if err != nil {
		return nil, err
	}
	l := &mostLoad{in: in, s: s, below: in.belowBudget(), high: r.CriticalScale}
	l.least = new(big.Rat).SetFloat64(leastPart)
	l.least.Mul(l.least, l.high)
	unstable := Corner{Choice: everything, Fewer: true, Fails: FailsStability}
	l.proof = Proof{AtMost: in.Budget, RestsOn: in.reasons(false), Corners: []Corner{unstable}}
	return l, nil
}

// isDone reports whether the ends are close enough.
func (l *mostLoad) isDone() bool {
	if l.low == nil {
		return l.high.Cmp(l.least) <= 0
	}
	return isWithin(l.low, l.high, l.s.RelTol)
}

// next returns the next factor to try.
func (l *mostLoad) next() *big.Rat {
	if l.low == nil {
		return new(big.Rat).Mul(l.high, big.NewRat(1, 2))
	}
	const far = 1.01
	ratio, _ := new(big.Rat).Quo(l.high, l.low).Float64()
	by := 1 + 0.75*l.s.RelTol // beyond the load at which the best plan is known to fail
	if l.little = ratio <= far && !l.little; !l.little {
		by = max(by, (1+min(ratio, 2))/2)
	}
	more := new(big.Rat).SetFloat64(by)
	return more.Mul(more, l.low)
}

// try looks for a plan at a factor, and finds its greatest load. It leaves the factor undecided if
// a limit or the engines do.
func (l *mostLoad) try(ctx context.Context, factor *big.Rat) (open bool, err error) {
	left := l.s
	if left.Limit -= l.solves; left.Limit <= 0 {
		return true, nil
	}
	at := l.in.scaled(factor)
	j, err := at.newJudge(ctx, left.Settings)
	if err != nil {
		return true, err
	}
	search := newSearch(at, j, left, Choice{}, l.below, false)
	search.any = true
	err = search.run(ctx)
	l.solves += j.solves
	if err != nil {
		return true, err
	}
	if search.best == nil {
		if least, _ := search.leastCost(); least < l.below {
			return true, nil
		}
		corners, err := search.proof(ctx, math.Inf(1))
		l.high, l.proof.Corners = factor, corners
		return false, err
	}
	l.edges, l.steps = search.best.edges, l.in.filled(search.best, l.below)
	b, solves, err := l.in.greatest(ctx, l.edges, l.steps, l.s.Settings)
	if err != nil {
		return true, err
	}
	l.solves += solves
	if l.low = b.factor(b.low); l.low.Cmp(factor) < 0 {
		l.low = factor // the bracket ends a little below
	}
	return false, nil
}

// useful returns steps without the upgrades of servers that no jobs can use, except that a margin
// also counts the servers of classes without arrivals.
func (in *instance) useful(steps []int) []int {
	steps = slices.Clone(steps)
	if in.base.cluster == nil || slices.ContainsFunc(in.targets, func(t target) bool { return t.measure == Margin }) {
		return steps
	}
	for k := range in.Upgrades {
		if len(in.Users(in.options[k].server)) == 0 {
			steps[k] = 0
		}
	}
	return steps
}

// filled returns the steps of a plan, plus as many more as cost less than below in total.
func (in *instance) filled(b *box, below int64) []int {
	steps := slices.Clone(b.lower)
	left := below - 1 - b.cost
	for k, o := range in.options {
		more := int64(o.most - steps[k])
		if o.cost > 0 {
			more = min(more, left/o.cost)
		}
		steps[k] += int(more)
		left -= more * o.cost
	}
	return steps
}
