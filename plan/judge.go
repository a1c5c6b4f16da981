package plan

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/num"
	"productform/stability"
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
}

// A judge decides which plans meet the targets.
type judge struct {
	in      *instance
	s       Settings
	targets []target
	noWorse bool
	solves  int
	// mean delays are compared with each other, so they must be accurate to half of Settings.RelTol
	delays bool

	base map[num.Engine]*bf.Result // the cluster without purchases, for NoWorse
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
	if slices.ContainsFunc(j.targets, func(t target) bool { return t.measure == LoadFactor || t.measure == Margin }) {
		if fails, err := j.scales(ctx, m); err != nil || fails.verdict == Failed {
			return fails, err
		}
	}
	r, err := j.byMeans(ctx, m, edges, below)
	if err != nil || r.verdict == Failed {
		return r, err
	}
	return j.percentiles(ctx, m, r)
}

// byMeans decides everything that follows from the measures of [bf.Solve].
func (j *judge) byMeans(ctx context.Context, m *cluster.Model, edges bits, below *float64) (open judgement, err error) {
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

// percentiles decides the targets on percentiles of a plan that fails no other target: T_i <= t at
// the level p holds if P(T_i > t) <= 1 - p. Each engine computes only those that the previous one
// leaves undecided.
func (j *judge) percentiles(ctx context.Context, m *cluster.Model, result judgement) (judgement, error) {
	var rows []int
	for row, t := range j.targets {
		if t.measure == Percentile {
			rows = append(rows, row)
		}
	}
	for _, s := range []bf.Settings{
		{Engine: num.Float, RelTol: roughTol}, {Engine: num.Float}, {Engine: num.Enclose, RelTol: tieTol},
	} {
		if len(rows) == 0 {
			return result, nil
		}
		var q []bf.TailQuestion
		for _, row := range rows {
			q = append(q, bf.TailQuestion{Class: j.targets[row].row, Time: j.targets[row].delay})
		}
		j.solves++
		s.MaxBytes = j.s.MaxBytes
		tails, err := bf.Tails(ctx, m, q, s)
		if needsOtherEngine(err) {
			continue
		}
		if err != nil {
			return result, err
		}
		var open []int
		for k, row := range rows {
			switch compare(tails[k], 0, j.targets[row].limit, 0, 0) {
			case Failed:
				return judgement{verdict: Failed, fails: row, delay: result.delay}, nil
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

// needsOtherEngine reports whether an engine fails on a model that others may solve.
func needsOtherEngine(err error) bool {
	var large *num.TooLargeError
	return errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange) || errors.As(err, &large)
}

// solve solves a model with an engine.
func (j *judge) solve(ctx context.Context, m *cluster.Model, engine num.Engine) (*bf.Result, error) {
	j.solves++
	s := bf.Settings{Engine: engine, MaxBytes: j.s.MaxBytes}
	switch engine {
	case num.Enclose:
		s.RelTol = tieTol
	case num.Exact:
		s.MaxBytes = exactBytes
	}
	return bf.Solve(ctx, m, s)
}

// scales decides the targets on load factor and margin, which are fractions. It also looks for
// delays that are too long because capacity is lacking: since the jobs of a set A of classes leave
// at a rate of at most μ(A),
//
//	E[Σ_A X] >= λ(A) / (μ(A) - λ(A)),
//
// with λ(A) and μ(A) in jobs per unit of time. It checks single classes and the set of all classes.
// A plan that fails this test also fails with fewer edges, because μ only falls.
func (j *judge) scales(ctx context.Context, m *cluster.Model) (judgement, error) {
	r, err := stability.Cluster(ctx, m)
	switch {
	case err != nil:
		return judgement{}, err
	case !r.Stable:
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
			short = leastDelay(m, t.row).Cmp(t.limit) > 0
		}
		if short {
			return judgement{verdict: Failed, fails: row}, nil
		}
	}
	return judgement{}, nil
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
	ctx context.Context, m *cluster.Model, edges bits, r *bf.Result, below *float64,
) (judgement, error) {
	open := false
	for row, t := range j.targets {
		v := measured(r, t)
		if v == nil {
			continue
		}
		switch compare(*v, r.RelativeErrorBound, t.limit, t.low, t.high) {
		case Failed:
			return judgement{verdict: Failed, fails: row}, nil
		case Undecided:
			open = true
		}
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

// measured returns the measure of a target from a solution, or nil if the solution lacks it.
func measured(r *bf.Result, t target) *num.Value {
	switch {
	case t.measure == MeanDelay:
		return aimed(r, t.row)
	case t.measure == Utilization:
		return &r.Servers[t.row].Utilization
	}
	return nil
}

// aimed returns the mean delay of a class, or of all jobs for -1. It is nil if none arrive.
func aimed(r *bf.Result, class int) *num.Value {
	if class < 0 {
		return r.MeanDelay
	}
	return r.Classes[class].MeanDelay
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
func (j *judge) hasSlowerClass(ctx context.Context, m *cluster.Model, edges bits, r *bf.Result) (
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
	for _, i := range j.in.affectedClasses(m, edges) {
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
	root := make([]int, len(m.Servers)+len(m.Classes))
	for x := range root {
		root[x] = x
	}
	find := func(x int) int {
		for root[x] != x {
			root[x] = root[root[x]]
			x = root[x]
		}
		return x
	}
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 {
			for _, k := range c.Servers {
				root[find(len(m.Servers)+i)] = find(k.Server)
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
			parts = append(parts, find(server))
		}
	}
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 && slices.Contains(parts, find(len(m.Servers)+i)) {
			rows = append(rows, i)
		}
	}
	return rows
}
