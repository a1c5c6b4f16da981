package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
	"productform/stability"
)

// ErrUnproved is wrapped by the errors of [Verify].
var ErrUnproved = errors.New("plan: the answer is not proved")

func unproved(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnproved, fmt.Sprintf(format, args...))
}

// verifyTol is the relative width of the enclosures that check an answer, before fractions do.
const verifyTol = MinRelTol

// Verify checks an answer to a problem, whatever its source, without a search:
//
//   - the plan has the reported cost and meets the targets, and Proof.Delay, if there is one, is
//     at most the mean delay of the plan;
//   - each corner of the proof fails for its stated reason, according to enclosures and, if they
//     leave it undecided, fractions; the search, in contrast, uses float64 first (for percentiles
//     of more than six classes, float64 also comes first here);
//   - each plan that the proof is about is within a corner: boxes of plans are divided along the
//     corners, in whole numbers;
//   - if the answer is complete, the proof is about all plans that cost less than the one found, or
//     about that plan and others, and its mean delay is within three times Settings.RelTol of that
//     of the plan; without a plan, it is about all plans, or all within the budget;
//   - if the answer is not complete, and no delay is minimized, the proof is not about all these
//     plans;
//   - the plan includes Proof.From, and Proof.AtMost is the budget of the problem or nil; a proof
//     that nothing is cheaper is about all plans.
//
// Verify reads only Choice and Cost of a.Plan. The error wraps [ErrUnproved], or is that of
// [Evaluate].
func Verify(ctx context.Context, p *Problem, a *Answer, s Settings) error {
	in, s, err := begin(p, s)
	if err != nil {
		return err
	}
	v := &verifier{in: in, s: s}
	if a.Proof.AtMost != nil && (p.Budget == nil || a.Proof.AtMost.Cmp(p.Budget) != 0) {
		return unproved(
			"the proof is limited to plans that cost at most %s, which is not the budget", a.Proof.AtMost.RatString(),
		)
	}
	switch err := a.reaches(); {
	case a.Complete && err != nil:
		return err
	case !a.Complete && err == nil && a.Proof.Delay == nil:
		return unproved("the answer is complete: its proof covers all plans that cost less than the one found")
	}
	if a.Plan != nil {
		if err := v.plan(ctx, a.Plan, a.Proof, a.Complete); err != nil {
			return err
		}
	}
	if a.Cheaper != nil {
		if a.Cheaper.Delay != nil || a.Cheaper.AtMost != nil || !isSame(a.Cheaper.Below, a.Plan) ||
			!a.Cheaper.From.IsNothing() {
			return unproved("the first proof does not extend to all plans that cost less than the one found")
		}
		if err := v.proof(ctx, *a.Cheaper); err != nil {
			return err
		}
	}
	return v.proof(ctx, a.Proof)
}

// reaches checks that the proof of a complete answer is about enough plans.
func (a *Answer) reaches() error {
	least := a.Proof.Delay
	switch {
	case least == nil && (!isSame(a.Proof.Below, a.Plan) || a.Plan != nil && a.Proof.AtMost != nil):
		return unproved("the proof does not extend to all plans that cost less than the one found")
	case least == nil:
		return nil
	case a.Plan == nil:
		return unproved("there is no plan, and the proof extends only to plans with a mean delay below %v", *least)
	case !(*least > 0):
		return unproved("the proof does not extend to mean delays above %v", *least)
	case a.Plan.Cost == nil || a.Proof.Below != nil && a.Plan.Cost.Cmp(a.Proof.Below) >= 0:
		return unproved("the proof does not extend to all plans that cost as much as the one found")
	}
	return nil
}

// VerifyLoad checks the greatest load of a plan, whatever its source, by enclosures and fractions:
// the plan meets the targets at the factor At of the arrival rates, and misses one at the larger
// factor Below. If the load is complete, the difference is at most 2 Settings.RelTol of Below. If
// At is nil, Below is at most 2^-30 of the critical scale instead, below which [GreatestLoad] does
// not search.
//
// VerifyLoad reads only At, Below and Complete of l. The error wraps [ErrUnproved], or is one of
// [Evaluate].
func VerifyLoad(ctx context.Context, p *Problem, c Choice, l *Load, s Settings) error {
	holds, fails := l.At, l.Below
	in, s, err := begin(p, s)
	if err != nil {
		return err
	}
	if err := in.refuseLoads(); err != nil {
		return err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return err
	}
	if p.NoWorse || fails == nil || fails.Sign() <= 0 || holds != nil && (holds.Sign() <= 0 || holds.Cmp(fails) >= 0) {
		return unproved("Below is missing, or not above a load at which the targets hold")
	}
	// The search ends when the difference is 2 tol times the larger load ([bracket.isNarrow]).
	// Roundings of the ratio of the loads add up to 1e-4 of that at [MinRelTol].
	const rounding = 1.001
	if !l.Complete && isWithin(holds, fails, ofSmaller(2*s.RelTol/rounding)) {
		return unproved("the answer is complete: its loads are within %g of each other", 2*s.RelTol)
	}
	if l.Complete {
		tol := ofSmaller(2 * s.RelTol * rounding)
		if err := in.isNarrow(ctx, in.model(edges, steps), holds, fails, tol); err != nil {
			return err
		}
	}
	if holds != nil {
		at := in.scaled(holds)
		if err := (&verifier{in: at, s: s}).meets(ctx, at.model(edges, steps), edges); err != nil {
			return err
		}
	}
	v := &verifier{in: in.scaled(fails), s: s}
	for row := range in.targets {
		if failed, err := v.fails(ctx, Corner{Choice: c, Fails: FailsTarget(row)}, nil); err != nil || failed {
			return err
		}
	}
	if failed, err := v.fails(ctx, Corner{Choice: c, Fails: FailsStability}, nil); err != nil || failed {
		return err
	}
	return unproved("no target is shown to fail with the arrival rates multiplied by %s", fails.RatString())
}

// ofSmaller converts a difference relative to the larger of two numbers into one relative to the
// smaller.
func ofSmaller(difference float64) float64 {
	if difference >= 1 {
		return math.Inf(1)
	}
	return difference / (1 - difference)
}

// isWithin reports whether two factors of the arrival rates are within a tolerance of each other.
func isWithin(holds, fails *big.Rat, tol float64) bool {
	if holds == nil {
		return false
	}
	ratio, _ := new(big.Rat).Quo(fails, holds).Float64()
	return ratio <= 1+tol
}

// isNarrow checks that two factors of the arrival rates are within a tolerance of each other or, if
// the first is nil, that the other is so small that the search tries none below it.
func (in *instance) isNarrow(ctx context.Context, m system, holds, fails *big.Rat, tol float64) error {
	if holds != nil {
		if !isWithin(holds, fails, tol) {
			return unproved("the loads are not within %g of each other", tol)
		}
		return nil
	}
	_, r, err := (&verifier{in: in}).stability(ctx, m)
	if err != nil {
		return err
	}
	least := new(big.Rat).SetFloat64(leastPart)
	if least.Mul(least, r.CriticalScale); fails.Cmp(least) > 0 {
		return unproved("At is missing, and no load below %s is reported to fail", fails.RatString())
	}
	return nil
}

// isSame reports whether a bound on costs equals the cost of a plan, or both are missing.
func isSame(below *big.Rat, o *Outcome) bool {
	if below == nil || o == nil {
		return below == nil && o == nil
	}
	return o.Cost != nil && below.Cmp(o.Cost) == 0
}

type verifier struct {
	in         *instance
	s          Settings
	base, last solved
}

// A solved holds the solutions of one model.
type solved struct {
	model system
	by    map[num.Engine]*Solution
}

// plan checks the plan of the answer.
func (v *verifier) plan(ctx context.Context, o *Outcome, proof Proof, complete bool) error {
	edges, steps, err := v.in.resolve(o.Choice)
	if err != nil {
		return unproved("the plan: %v", err)
	}
	first, from, err := v.in.resolve(proof.From)
	if err != nil {
		return unproved("%v", err)
	}
	cost := v.cost(o.Choice)
	switch {
	case first&^edges != 0 || !isAtMost(from, steps):
		return unproved("the plan lacks earlier purchases")
	case o.Cost == nil || cost.Cmp(o.Cost) != 0:
		return unproved("the plan costs %s", cost.RatString())
	case proof.Below != nil && cost.Cmp(proof.Below) < 0 && proof.Delay == nil:
		return unproved("the plan costs less than %s, which the proof excludes", proof.Below.RatString())
	case proof.AtMost != nil && cost.Cmp(proof.AtMost) > 0:
		return unproved("the plan costs more than %s", proof.AtMost.RatString())
	}
	if err := v.meets(ctx, v.in.model(edges, steps), edges); err != nil || proof.Delay == nil {
		return err
	}
	fails, err := v.fails(ctx, Corner{Choice: o.Choice, Fails: FailsDelay}, proof.Delay)
	switch {
	case err != nil:
		return err
	case !fails:
		return unproved("the plan has a mean delay below %v, which the proof excludes", *proof.Delay)
	case !complete:
		return nil
	}
	far := *proof.Delay * (1 + 3*v.s.RelTol)
	if fails, err = v.fails(ctx, Corner{Choice: o.Choice, Fails: FailsDelay}, &far); err == nil && fails {
		err = unproved(
			"the mean delay of the plan is more than %g above %v, the lower bound for all plans",
			v.s.RelTol, *proof.Delay,
		)
	}
	return err
}

// meets checks that a plan meets the targets and, if the problem requires it, is no worse for any
// class.
func (v *verifier) meets(ctx context.Context, m system, edges bits) error {
	stable, r, err := v.stability(ctx, m)
	if err != nil {
		return err
	}
	if !stable {
		return unproved("the plan leaves the cluster unstable")
	}
	for row, t := range v.in.targets {
		misses, err := v.misses(ctx, m, r, t)
		if err != nil {
			return err
		}
		if misses != Failed {
			return unproved("the plan is not shown to meet targets[%d]", row)
		}
	}
	if !v.in.NoWorse {
		return nil
	}
	for _, i := range v.in.affectedClasses(m.cluster, edges) {
		worse, err := v.isWorse(ctx, m, i)
		if err != nil {
			return err
		}
		if worse != Failed {
			return unproved("the plan is not shown to be no worse for %s", m.cluster.Classes[i].Name)
		}
	}
	return nil
}

// cost computes the cost of a plan from the problem.
func (v *verifier) cost(c Choice) *big.Rat {
	sum := new(big.Rat)
	for k, n := range c.Steps {
		price := new(big.Rat)
		if u := len(v.in.Upgrades); k < u {
			price.Set(v.in.Upgrades[k].Cost)
		} else {
			price.Set(v.in.NewServers[k-u].Cost)
		}
		sum.Add(sum, price.Mul(price, new(big.Rat).SetInt64(int64(n))))
	}
	for _, k := range c.Edges {
		sum.Add(sum, v.in.Edges[k].Cost)
	}
	return sum
}

// proof checks the corners, and that they cover the required plans.
func (v *verifier) proof(ctx context.Context, proof Proof) error {
	if proof.Delay != nil && !(*proof.Delay > 0) {
		return nil // nothing is claimed
	}
	if proof.Delay != nil && v.in.requireShorter() != nil {
		return unproved("purchases may lengthen the mean delay that is minimized")
	}
	if reasons := v.in.reasons(proof.Delay != nil); !slices.Equal(proof.RestsOn, reasons) {
		return unproved("the proof rests on %q", reasons)
	}
	for i, c := range proof.Corners {
		if _, _, err := v.in.resolve(c.Choice); err != nil {
			return unproved("corner %d: %v", i, err)
		}
		fails, err := v.fails(ctx, c, proof.Delay)
		if err != nil {
			return err
		}
		if !fails || !v.isFailure(c) {
			return unproved("corner %d does not fail at %s", i, c.Fails)
		}
	}
	first, from, err := v.in.resolve(proof.From)
	if err != nil {
		return unproved("%v", err)
	}
	for edges := range bits(1) << len(v.in.edges) {
		if edges&first != first {
			continue
		}
		cover := &cover{in: v.in, edges: edges, proof: proof}
		for _, c := range proof.Corners {
			if c.Alone && bitsOf(c.Choice.Edges) == edges {
				steps := make([]int, len(v.in.options))
				copy(steps, c.Choice.Steps)
				cover.alone = append(cover.alone, steps)
			}
			if c.Alone {
				continue
			}
			if with := bitsOf(c.Choice.Edges); with == edges || c.Fewer && edges&^with == 0 {
				steps := make([]int, len(v.in.options))
				copy(steps, c.Choice.Steps)
				cover.corners = append(cover.corners, steps)
			}
		}
		open, err := cover.open(ctx, slices.Clone(from), v.in.maxSteps(), cover.corners)
		if err != nil {
			return err
		}
		if open != nil {
			return unproved("no corner covers the plan with steps %v and edges %v", open, edges.list())
		}
	}
	return nil
}

// fails reports whether a corner fails for its stated reason.
func (v *verifier) fails(ctx context.Context, c Corner, delay *float64) (bool, error) {
	edges, steps, _ := v.in.resolve(c.Choice)
	m := v.in.model(edges, steps)
	stable, r, err := v.stability(ctx, m)
	if err != nil || !stable {
		return err == nil, err // an unstable cluster fails at everything
	}
	verdict := Undecided
	class := v.in.ClassRow(c.Class)
	switch row := v.targetRow(c.Fails); {
	case row >= 0 && c.Fewer:
		verdict, err = v.missesFewer(ctx, m, r, edges, steps, v.in.targets[row])
	case row >= 0 && !c.Alone && !v.in.extends(v.in.targets[row]):
		verdict, err = v.missesByBound(ctx, m, v.in.targets[row])
	case row >= 0:
		verdict, err = v.misses(ctx, m, r, v.in.targets[row])
	case c.Fewer: // nothing else is known about fewer edges
	case c.Fails == FailsNoWorse && v.in.NoWorse && class >= 0 && m.cluster.Classes[class].ArrivalRate.Sign() > 0:
		verdict, err = v.isWorse(ctx, m, class)
	case c.Fails == FailsDelay && delay != nil && *delay <= math.MaxFloat64:
		bound := new(big.Rat)
		bound.SetFloat64(*delay)
		verdict, err = v.byEngines(ctx, m, func(r *Solution) (Verdict, error) {
			if d := aimed(r, v.in.aim); d != nil && lowOf(*d).Cmp(bound) >= 0 {
				return Met, nil
			}
			return Undecided, nil
		})
	}
	return verdict == Met, err
}

// targetRow returns the row of the target that a corner misses, or -1 if it fails for another
// reason.
func (v *verifier) targetRow(f Failure) int {
	for row := range v.in.targets {
		if f == FailsTarget(row) {
			return row
		}
	}
	return -1
}

// isFailure reports whether a corner states a reason for its failure, and a class only if the
// reason needs one.
func (v *verifier) isFailure(c Corner) bool {
	if c.Fails == FailsNoWorse {
		return v.in.ClassRow(c.Class) >= 0
	}
	return c.Class == "" && (c.Fails == FailsStability || c.Fails == FailsDelay || v.targetRow(c.Fails) >= 0)
}

// stability decides whether a cluster is stable, and checks the proof if there is one.
func (v *verifier) stability(ctx context.Context, m system) (bool, *stability.Result, error) {
	stable, r, err := v.in.kind.stable(ctx, m)
	if err != nil || r == nil {
		return stable, r, err
	}
	return stable, r, stability.Verify(ctx, m.cluster.WithoutImpatient(), r)
}

// misses decides whether a stable cluster misses a target: Met if it does.
func (v *verifier) misses(ctx context.Context, m system, r *stability.Result, t target) (Verdict, error) {
	if verdict := missesByCapacity(m.cluster, r, t); verdict != Undecided {
		return verdict, nil
	}
	if t.measure.isTime() && !v.in.solvesTimes() {
		return v.isLate(ctx, m, t)
	}
	times := timesOf(v.in.targets)
	if !v.in.solvesTimes() {
		times = nil
	}
	return v.byEngines(ctx, m, func(r *Solution) (Verdict, error) {
		if x := r.measured(t, times); x != nil {
			return t.missed(*x), nil
		}
		return Undecided, nil
	})
}

// missed decides whether a measure misses its target: Met if so, Failed if not.
func (t target) missed(v num.Value) Verdict {
	if t.isLeast {
		return isAbove(num.ExactValue(t.limit), v)
	}
	return isAbove(v, num.ExactValue(t.limit))
}

// missesByCapacity decides what follows from capacities. Bounds get worse with fewer edges.
func missesByCapacity(m *cluster.Model, r *stability.Result, t target) Verdict {
	switch {
	case r == nil:
		return Undecided
	case t.measure == LoadFactor && r.CriticalScale == nil:
		return Failed
	case t.measure == LoadFactor || t.measure == Margin:
		return t.missed(num.ExactValue(scaleOf(r, t.measure)))
	case t.measure == MeanDelay && leastDelay(m, t.row).Cmp(t.limit) > 0:
		return Met
	}
	return Undecided
}

// missesFewer decides whether a plan misses a target, and all plans with fewer edges and steps.
func (v *verifier) missesFewer(
	ctx context.Context, m system, r *stability.Result, edges bits, steps []int, t target,
) (Verdict, error) {
	if verdict := missesByCapacity(m.cluster, r, t); verdict != Undecided || v.in.Service() != serviceOne ||
		!v.in.hasEdgeBound(t) {
		return verdict, nil
	}
	m = system{cluster: v.in.relaxed(edges, steps, t.row)}
	stable, r, err := v.stability(ctx, m)
	if err != nil || !stable {
		return Met, err
	}
	return v.misses(ctx, m, r, t)
}

// missesByBound decides whether a bound on all plans with at most the steps of a plan misses a
// target on delays.
func (v *verifier) missesByBound(ctx context.Context, m system, t target) (Verdict, error) {
	if m.cluster == nil {
		return Undecided, nil
	}
	if t.measure != MeanDelay {
		fails, err := v.in.failsByBound(ctx, m, t, nil, v.in.kind.checks, v.s)
		if fails {
			return Met, err
		}
		return Undecided, err
	}
	return v.byEngines(ctx, m, func(r *Solution) (Verdict, error) {
		if delayBound(m.cluster, t.row, *r.of(t.row).MeanWaiting).Cmp(t.limit) > 0 {
			return Met, nil
		}
		return Undecided, nil
	})
}

// isLate decides whether a class misses a target on a time: Met if it does.
func (v *verifier) isLate(ctx context.Context, m system, t target) (Verdict, error) {
	for _, with := range v.in.kind.checksOf(m.cluster) {
		with.maxBytes = v.s.MaxBytes
		tails, err := v.in.kind.tails(ctx, m.cluster, []target{t}, with)
		switch {
		case needsOtherEngine(err):
			continue
		case err != nil:
			return Undecided, err
		}
		if verdict := t.missed(tails[0]); verdict != Undecided {
			return verdict, nil
		}
	}
	return Undecided, nil
}

// checksOf returns the efforts of a verification. With the service all and many classes, enclosures
// take hundreds of times as long as double precision, whose bounds are also proved, so they come
// second then.
func (k kind) checksOf(m *cluster.Model) []effort {
	const few = 6
	switch {
	case k.checks != nil:
		return k.checks
	case len(m.Classes) > few:
		return []effort{{engine: num.Float, relTol: verifyTol}, {engine: num.Enclose, relTol: verifyTol}}
	}
	return []effort{{engine: num.Enclose, relTol: verifyTol}}
}

// isWorse decides whether a class has a larger mean delay than without purchases: Met if so.
func (v *verifier) isWorse(ctx context.Context, m system, class int) (Verdict, error) {
	return v.byEngines(ctx, m, func(r *Solution) (Verdict, error) {
		base, err := v.solve(ctx, v.in.base, r.Engine)
		switch {
		case errors.Is(err, num.ErrUnstable):
			return Failed, nil // without purchases there is no delay to compare with
		case err != nil:
			return Undecided, err
		}
		return isAbove(*r.Classes[class].MeanDelay, *base.Classes[class].MeanDelay), nil
	})
}

// byEngines decides something by enclosures or, if they leave it undecided, by fractions.
func (v *verifier) byEngines(
	ctx context.Context, m system, decide func(*Solution) (Verdict, error),
) (Verdict, error) {
	for _, engine := range v.in.kind.engines {
		r, err := v.solve(ctx, m, engine)
		if err != nil && !needsOtherEngine(err) {
			return Undecided, err
		}
		if err != nil {
			continue
		}
		if verdict, err := decide(r); err != nil || verdict != Undecided {
			return verdict, err
		}
	}
	return Undecided, nil
}

func (v *verifier) solve(ctx context.Context, m system, engine num.Engine) (*Solution, error) {
	keep := &v.last
	if m == v.in.base {
		keep = &v.base
	}
	if keep.model != m {
		*keep = solved{m, map[num.Engine]*Solution{}}
	}
	if r := keep.by[engine]; r != nil {
		return r, nil
	}
	with := effort{engine: engine, maxBytes: v.s.MaxBytes}
	r, err := v.in.kind.solve(ctx, m, v.in.ask(v.in.targets, with, verifyTol))
	if err == nil {
		keep.by[engine] = r
	}
	return r, err
}

// isAbove decides whether x > y, by their fractions or bounds: Met if so, Failed if not.
func isAbove(x, y num.Value) Verdict {
	switch {
	case lowOf(x).Cmp(highOf(y)) > 0:
		return Met
	case highOf(x).Cmp(lowOf(y)) <= 0:
		return Failed
	}
	return Undecided
}

func lowOf(v num.Value) *big.Rat {
	if v.Exact != nil {
		return v.Exact
	}
	x, _ := v.Low.Rat(nil)
	return x
}

func highOf(v num.Value) *big.Rat {
	if v.Exact != nil {
		return v.Exact
	}
	x, _ := v.High.Rat(nil)
	return x
}

// A cover checks whether the corners of a set of edges cover all plans that a proof is about.
type cover struct {
	in      *instance
	edges   bits
	proof   Proof
	corners [][]int
	alone   [][]int // those that cover one plan only
}

// isMeant reports whether the proof is about plans of this cost.
func (c *cover) isMeant(units int64) bool {
	cost := c.in.rat(units)
	return (c.proof.Below == nil || cost.Cmp(c.proof.Below) < 0) &&
		(c.proof.AtMost == nil || cost.Cmp(c.proof.AtMost) <= 0)
}

// open returns a plan between two corners of the proof that no corner covers, or nil if there is
// none. It takes the corner that covers most of the box starting at lower, and continues with the
// rest: for each option k, the plans with more steps of k than the corner, and at most as many
// steps of the options before k.
func (c *cover) open(ctx context.Context, lower, upper []int, corners [][]int) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !c.isMeant(c.in.cost(c.edges, lower)) {
		return nil, nil
	}
	var here [][]int
	var best []int
	most := 0.
	for _, corner := range corners {
		if !isAtMost(lower, corner) {
			continue
		}
		here = append(here, corner)
		part := 0. // a logarithm, since a product of many fractions is too small for float64
		for k := range lower {
			part += math.Log(float64(min(corner[k], upper[k])-lower[k]+1) / float64(upper[k]-lower[k]+1))
		}
		if best == nil || part > most {
			best, most = corner, part
		}
	}
	if best == nil && slices.ContainsFunc(c.alone, func(x []int) bool { return slices.Equal(x, lower) }) {
		best = lower
	}
	if best == nil {
		return lower, nil
	}
	upper = slices.Clone(upper)
	for k := range lower {
		if best[k] >= upper[k] {
			continue
		}
		next := slices.Clone(lower)
		next[k] = best[k] + 1
		if open, err := c.open(ctx, next, slices.Clone(upper), here); err != nil || open != nil {
			return open, err
		}
		upper[k] = best[k]
	}
	return nil, nil
}

// VerifyMostLoad checks the plan for the greatest load, whatever its source. At the factor At of
// the arrival rates, the plan meets the targets within the budget. At the factor Below, the corners
// of the proof fail and cover all plans within the budget. If the answer is complete, the factors
// are within Settings.RelTol of each other or, without a plan, Below is at most 2^-30 of the
// critical scale with everything bought.
//
// VerifyMostLoad reads only Choice and Cost of a.Plan. The error wraps [ErrUnproved], or is one of
// [Evaluate].
func VerifyMostLoad(ctx context.Context, p *Problem, a *MostLoad, s Settings) error {
	in, s, err := begin(p, s)
	if err != nil {
		return err
	}
	if err := in.refuseLoads(); err != nil {
		return err
	}
	proof := a.Proof
	switch {
	case p.NoWorse || a.Below == nil || a.Below.Sign() <= 0 || (a.At == nil) != (a.Plan == nil) ||
		a.At != nil && (a.At.Sign() <= 0 || a.At.Cmp(a.Below) >= 0):
		return unproved("Below is missing, or not above a load at which the plan meets the targets")
	case proof.Delay != nil || proof.Below != nil || !proof.From.IsNothing() ||
		(proof.AtMost == nil) != (p.Budget == nil) || proof.AtMost != nil && proof.AtMost.Cmp(p.Budget) != 0:
		return unproved("the proof does not extend to all plans within the budget")
	}
	if a.Plan != nil {
		if err := (&verifier{in: in.scaled(a.At), s: s}).plan(ctx, a.Plan, Proof{AtMost: p.Budget}, false); err != nil {
			return err
		}
	}
	if !a.Complete && isWithin(a.At, a.Below, s.RelTol) {
		return unproved("the answer is complete: its loads are within %g of each other", s.RelTol)
	}
	if a.Complete {
		everything := p.Everything()
		if err := in.isNarrow(
			ctx, in.model(bitsOf(everything.Edges), everything.Steps), a.At, a.Below, s.RelTol,
		); err != nil {
			return err
		}
	}
	return (&verifier{in: in.scaled(a.Below), s: s}).proof(ctx, proof)
}
