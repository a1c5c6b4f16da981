package plan

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/ranktable"
	"productform/num"
)

// Reasons why a plan fails, in place of the row of a target.
const (
	failsStability = -1 - iota
	failsNoWorse
	failsDelay // it is not better than a known plan
)

// A judgement is the verdict on a plan.
type judgement struct {
	verdict Verdict
	fails   int     // row of a target, or one of the above
	class   int     // class whose mean delay is worse
	delay   float64 // a lower bound on the mean delay to be minimized
	alone   bool    // the failure does not extend to plans with fewer steps
}

// isCorner reports whether a plan fails, and all plans with fewer steps with it.
func (r judgement) isCorner() bool { return r.verdict == Failed && !r.alone }

// A judge decides which plans meet the targets.
type judge struct {
	in      *instance
	s       Settings
	targets []target
	noWorse bool
	solves  int
	// mean delays are compared with each other, so they must be accurate to half of Settings.RelTol
	delays bool

	base map[num.Engine]*Solution // the cluster without purchases, for NoWorse
}

// tieTol is the relative width of the enclosures that decide what float64 cannot, before fractions
// do.
const tieTol = 1e-30

// exactBytes bounds the tables of fractions that decide ties.
const exactBytes = 64 << 20

// judge decides whether a plan is stable, meets the targets, is no worse for any class if the
// problem requires that, and has a mean delay below a bound (nil for no bound). The measures of
// [bf.Solve] in float64, with their proved bounds, decide first. If one straddles its limit,
// enclosures decide, and then fractions. Percentiles come last because they take longest. Each
// engine that solves the model counts as a solve.
func (j *judge) judge(ctx context.Context, edges bits, steps []int, below *float64) (judgement, error) {
	m := j.in.model(edges, steps)
	if j.in.Service() != serviceGang && slices.ContainsFunc(j.targets, func(t target) bool {
		return t.measure == LoadFactor || t.measure == Margin
	}) {
		if fails, err := j.scales(ctx, m); err != nil || fails.verdict == Failed {
			return fails, err
		}
	}
	r, err := j.byMeans(ctx, m, edges, below)
	if err != nil || r.verdict == Failed {
		return r, err
	}
	return j.byTimes(ctx, m, r)
}

// byMeans decides everything that follows from the measures of the solution.
func (j *judge) byMeans(ctx context.Context, m system, edges bits, below *float64) (open judgement, err error) {
	for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
		r, err := j.solve(ctx, m, engine)
		switch {
		case errors.Is(err, num.ErrUnstable):
			return judgement{verdict: Failed, fails: failsStability}, nil
		case needsOtherEngine(err):
			continue
		case err != nil:
			return judgement{}, err
		}
		result, err := j.means(ctx, m, edges, r, below)
		isWide := j.delays && engine == num.Float && r.RelativeErrorBound > j.s.RelTol/2
		if err != nil || result.verdict == Failed || result.verdict == Met && !isWide {
			return result, err
		}
		open = result
	}
	return open, nil
}

// roughTol is the relative error of the tails that decide percentiles first; it takes three
// quarters of the steps.
const roughTol = 1e-3

// byTimes decides the targets on distributions of times of a plan that fails no other target. Each
// effort computes only those that the previous one leaves undecided.
func (j *judge) byTimes(ctx context.Context, m system, result judgement) (judgement, error) {
	if j.in.solvesTimes() {
		return result, nil
	}
	var rows []int
	for row, t := range j.targets {
		if t.measure.isTime() {
			rows = append(rows, row)
		}
	}
	for _, with := range j.in.kind.efforts {
		if len(rows) == 0 {
			return result, nil
		}
		j.solves++
		with.maxBytes = j.s.MaxBytes
		targets := make([]target, len(rows))
		for k, row := range rows {
			targets[k] = j.targets[row]
		}
		tails, err := j.in.kind.tails(ctx, m.cluster, targets, with)
		if needsOtherEngine(err) {
			continue
		}
		if err != nil {
			return result, err
		}
		var open []int
		for k, row := range rows {
			switch targets[k].verdict(tails[k], 0) {
			case Failed:
				fails := judgement{verdict: Failed, fails: row, delay: result.delay}
				fails.alone, err = j.isAlone(ctx, m, targets[k], nil)
				return fails, err
			case Undecided:
				open = append(open, row)
			}
		}
		rows = open
	}
	if len(rows) > 0 {
		result.verdict = Undecided
	}
	return result, nil
}

// solvesTimes reports whether solutions include the distributions of times.
func (in *instance) solvesTimes() bool {
	return in.kind.tails == nil || in.Service() == serviceOne && isImpatient(in.base.cluster)
}

// isInSolution reports whether a solution has the number that a target limits.
func (in *instance) isInSolution(t target) bool {
	return t.level == nil && (in.solvesTimes() || !t.measure.isTime())
}

// isAlone reports whether the failure of a target does not extend to plans with fewer steps: there
// is no proof that it does, and a bound on these plans meets the target. The solution may be nil
// for a target on a time.
func (j *judge) isAlone(ctx context.Context, m system, t target, r *Solution) (bool, error) {
	if j.in.extends(t) {
		return false, nil
	}
	fails, err := j.in.failsByBound(ctx, m, t, r, j.in.kind.efforts, j.s)
	return !fails, err
}

// failsByBound reports whether a bound on all plans with at most the steps of a plan fails a target
// on delays.
func (in *instance) failsByBound(
	ctx context.Context, m system, t target, r *Solution, efforts []effort, s Settings,
) (bool, error) {
	switch {
	case m.cluster == nil:
		return false, nil
	case t.measure == MeanDelay && r != nil:
		return delayBound(m.cluster, t.row, *r.of(t.row).MeanWaiting).Cmp(t.limit) > 0, nil
	case !t.measure.isDelay() || !t.measure.isTime():
		return false, nil
	}
	t.measure = WaitingWithin // P(T <= t) is at most P(W <= t)
	for _, with := range efforts {
		with.maxBytes = s.MaxBytes
		tails, err := in.kind.tails(ctx, m.cluster, []target{t}, with)
		switch {
		case needsOtherEngine(err):
		case err != nil:
			return false, err
		default:
			if v := t.verdict(tails[0], 0); v != Undecided {
				return v == Failed, nil
			}
		}
	}
	return false, nil
}

// needsOtherEngine reports whether an engine fails on a model that others may solve.
func needsOtherEngine(err error) bool {
	var large *num.TooLargeError
	return errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange) || errors.As(err, &large)
}

// solve solves a model with an engine.
func (j *judge) solve(ctx context.Context, m system, engine num.Engine) (*Solution, error) {
	j.solves++
	return j.in.kind.solve(ctx, m, j.in.ask(j.targets, effort{engine: engine, maxBytes: j.s.MaxBytes}, tieTol))
}

// ask returns the question that decides targets with an engine, given the tolerance of enclosures.
func (in *instance) ask(targets []target, with effort, tol float64) ask {
	switch with.engine {
	case num.Enclose:
		with.relTol = tol
	case num.Exact:
		with.maxBytes = exactBytes
	}
	a := ask{effort: with, waits: in.needsWaits()}
	if in.solvesTimes() {
		a.times = timesOf(targets)
	}
	return a
}

// scales decides the targets on load factor and margin, which are fractions. It also looks for
// delays that are too long because capacity is lacking: since the jobs of a set A of classes leave
// at a rate of at most μ(A),
//
//	E[Σ_A X] >= λ(A) / (μ(A) - λ(A)),
//
// with λ(A) and μ(A) in jobs per unit of time. It checks single classes and the set of all classes.
// A plan that fails this test also fails with fewer edges, because μ only falls.
func (j *judge) scales(ctx context.Context, m system) (judgement, error) {
	stable, r, err := j.in.kind.stable(ctx, m)
	switch {
	case err != nil:
		return judgement{}, err
	case !stable:
		return judgement{verdict: Failed, fails: failsStability}, nil
	}
	for row, t := range j.targets {
		short := false
		switch t.measure {
		case LoadFactor:
			short = r.CriticalScale != nil && r.CriticalScale.Cmp(t.limit) < 0
		case Margin:
			short = r.Margin.Cmp(t.limit) < 0
		case MeanDelay:
			short = leastDelay(m.cluster, t.row).Cmp(t.limit) > 0
		}
		if short {
			return judgement{verdict: Failed, fails: row}, nil
		}
	}
	return judgement{}, nil
}

// lacks reports whether a plan fails, and all plans with fewer edges and steps with it.
func (j *judge) lacks(ctx context.Context, edges bits, steps []int) (judgement, error) {
	r, err := j.scales(ctx, j.in.model(edges, steps))
	if err != nil || r.verdict == Failed || j.in.Service() != serviceOne || edges == 0 {
		return r, err
	}
	for row, t := range j.targets {
		if !j.in.hasEdgeBound(t) {
			continue
		}
		one := &judge{in: j.in, s: j.s, targets: []target{t}}
		m := system{cluster: j.in.relaxed(edges, steps, t.row)}
		fails, err := one.byMeans(ctx, m, 0, nil)
		if err == nil && fails.verdict != Failed {
			fails, err = one.byTimes(ctx, m, fails)
		}
		j.solves += one.solves
		if err != nil {
			return fails, err
		}
		if fails.verdict == Failed {
			return judgement{verdict: Failed, fails: row}, nil
		}
	}
	return r, nil
}

// leastDelay returns a lower bound on the mean delay of a class, or of all jobs for -1, in a stable
// cluster: if work arrives at rate w for servers of capacity c, the mean number of jobs is at least
// w/(c - w).
func leastDelay(m *cluster.Model, class int) *big.Rat {
	used := make([]bool, len(m.Servers))
	work, capacity, rate := new(big.Rat), new(big.Rat), new(big.Rat)
	for i, c := range m.Classes {
		if i != class && class >= 0 || c.ArrivalRate.Sign() == 0 {
			continue
		}
		work.Add(work, m.Work(i))
		rate.Add(rate, c.ArrivalRate)
		for _, k := range c.Servers {
			if s := m.Servers[k.Server]; !used[k.Server] {
				used[k.Server] = true
				capacity.Add(capacity, new(big.Rat).Mul(s.Capacity, new(big.Rat).SetInt64(int64(s.Size()))))
			}
		}
	}
	jobs := new(big.Rat).Quo(work, capacity.Sub(capacity, work))
	return jobs.Quo(jobs, rate)
}

// means decides everything that follows from the measures of one engine.
func (j *judge) means(
	ctx context.Context, m system, edges bits, r *Solution, below *float64,
) (judgement, error) {
	open := false
	var alone *judgement
	times := timesAsked(nil)
	if j.in.solvesTimes() {
		times = timesOf(j.targets)
	}
	for row, t := range j.targets {
		v := r.measured(t, times)
		if v == nil {
			open = open || j.in.isInSolution(t) && t.measure != LoadFactor && t.measure != Margin
			continue
		}
		switch t.verdict(*v, r.RelativeErrorBound) {
		case Failed:
			isAlone, err := j.isAlone(ctx, m, t, r)
			if err != nil || !isAlone {
				return judgement{verdict: Failed, fails: row}, err
			}
			alone = &judgement{verdict: Failed, fails: row, alone: true}
		case Undecided:
			open = true
		}
	}
	if alone != nil {
		return *alone, nil
	}
	result := judgement{verdict: Met}
	if v := aimed(r, j.in.aim); v != nil {
		result.delay, _ = bounds(*v, r.RelativeErrorBound)
		if below != nil && result.delay >= *below {
			return judgement{verdict: Failed, fails: failsDelay, delay: result.delay}, nil
		}
	}
	if j.noWorse && edges != 0 {
		class, v, err := j.hasSlowerClass(ctx, m, edges, r)
		if err != nil || v == Failed {
			return judgement{verdict: Failed, fails: failsNoWorse, class: class}, err
		}
		open = open || v == Undecided
	}
	if open {
		result.verdict = Undecided
	}
	return result, nil
}

// aimed returns the mean delay that is minimized, that of a class or of all jobs for -1. It is nil
// if none arrive.
func aimed(r *Solution, class int) *num.Value { return r.of(class).MeanDelay }

// verdict compares a measure, within a relative error bound unless it has bounds, with the limit.
func (t target) verdict(v num.Value, bound float64) Verdict {
	if !t.isLeast {
		return compare(v, bound, t.limit, t.low, t.high)
	}
	if v.Exact != nil {
		return compare(num.ExactValue(t.limit), 0, v.Exact, 0, 0)
	}
	if e, ok := v.Interval(); ok {
		return compareIntervals(num.FromRat(t.limit, e.Prec()+64), e)
	}
	least, most := bounds(v, bound)
	switch {
	case least >= t.high:
		return Met
	case most < t.low:
		return Failed
	}
	return Undecided
}

// compare decides whether v <= limit, where v is within a relative error bound, and low and high
// are doubles around the limit.
func compare(v num.Value, bound float64, limit *big.Rat, low, high float64) Verdict {
	if v.Exact != nil {
		if v.Exact.Cmp(limit) <= 0 {
			return Met
		}
		return Failed
	}
	if e, ok := v.Interval(); ok {
		return compareIntervals(e, num.FromRat(limit, e.Prec()+64))
	}
	least, most := bounds(v, bound)
	switch {
	case most <= low:
		return Met
	case least > high:
		return Failed
	}
	return Undecided
}

// compareIntervals decides whether x <= y for numbers in two intervals.
func compareIntervals(x, y num.Interval) Verdict {
	switch {
	case x.High.Cmp(y.Low) <= 0:
		return Met
	case x.Low.Cmp(y.High) > 0:
		return Failed
	}
	return Undecided
}

// bounds returns doubles around the exact value x >= 0 of v, |v - x| <= b x: v/(1+b) <= x <=
// v/(1-b). The sums and quotients are off by less than two spacings of doubles, for which the last
// steps compensate.
func bounds(v num.Value, b float64) (low, high float64) {
	if v.Low != nil || v.Exact != nil {
		if v.Exact != nil {
			return arithmetic.Around(v.Exact)
		}
		return v.Bounds()
	}
	down := func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	low = max(0, down(down(v.Float/up(1+b))))
	if b >= 0.5 {
		return low, math.Inf(1)
	}
	return low, up(up(v.Float / down(1-b)))
}

// hasSlowerClass decides whether some class has a larger mean delay than in the original cluster.
// By the theorem of the package, this is possible only for classes that share servers, directly or
// through others, with a class that has a new edge.
func (j *judge) hasSlowerClass(ctx context.Context, m system, edges bits, r *Solution) (
	class int, v Verdict, err error,
) {
	base, ok := j.base[r.Engine]
	if !ok {
		if base, err = j.solve(ctx, j.in.base, r.Engine); err != nil {
			if needsOtherEngine(err) {
				return 0, Undecided, nil
			}
			return 0, Undecided, err
		}
		j.base[r.Engine] = base
	}
	v = Met
	for _, i := range j.in.affectedClasses(m.cluster, edges) {
		old, now := base.Classes[i].MeanDelay, r.Classes[i].MeanDelay
		if now == nil {
			continue
		}
		var c Verdict
		x, enclosed := now.Interval()
		y, _ := old.Interval()
		switch {
		case now.Exact != nil:
			c = compare(*now, 0, old.Exact, 0, 0)
		case enclosed:
			c = compareIntervals(x, y)
		default:
			low, high := bounds(*old, base.RelativeErrorBound)
			c = compare(*now, r.RelativeErrorBound, nil, low, high)
		}
		if c == Failed {
			return i, Failed, nil
		}
		if c == Undecided {
			v = Undecided
		}
	}
	return 0, v, nil
}

// affectedClasses returns the classes with arrivals that share servers, directly or through other
// classes, with a class that has a new edge.
func (in *instance) affectedClasses(m *cluster.Model, edges bits) (rows []int) {
	sets := ranktable.Singles(len(m.Servers) + len(m.Classes))
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 {
			for _, k := range c.Servers {
				sets.Join(len(m.Servers)+i, k.Server)
			}
		}
	}
	var parts []int
	for _, k := range edges.list() {
		e, server := in.edges[k], in.edges[k].choice.Server
		if e.option >= 0 {
			server = slices.IndexFunc(m.Servers, func(s cluster.Server) bool {
				return s.Name == in.options[e.option].name
			})
		}
		if server >= 0 { // otherwise none is bought
			parts = append(parts, sets.Root(server))
		}
	}
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 && slices.Contains(parts, sets.Root(len(m.Servers)+i)) {
			rows = append(rows, i)
		}
	}
	return rows
}
