package bf

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// A Gradient holds the derivatives of the mean number of jobs E[X] = Σ_i E[X_i]: as fractions with
// the engine Exact, and otherwise between proved bounds Low and High.
//
// With Auto and Enclose each derivative meets Settings.RelTol; if its terms cancel further than
// that, the error is RelTol times these terms. The sweeps carry error bounds through every
// operation, over an explicit graph of the lattice: 12 classes take 0.03 seconds in float64. Auto
// eliminates the servers of a tree if this takes less than half of the work and meets the same
// tolerance. If a graph is too large, elimination gives bounds of RelTol times the sum of the
// terms.
type Gradient struct {
	Engine num.Engine // engine that computed the numbers: Float, Enclose or Exact

	// ArrivalRates is ∂E[X]/∂λ_i for each row of classes, in units of time. It is the right
	// derivative if λ_i = 0.
	ArrivalRates []num.Value

	// Capacities is ∂E[X]/∂C_s for each row of servers. All servers of a group change together. It
	// is the right derivative if C_s = 0.
	Capacities []num.Value
}

// gradient returns the derivatives of the mean number of all jobs. E[X] is the derivative of log
// Z(zλ) at z = 1, so two sweeps compute all of them, one up the lattice and one down, each carrying
// the derivative with respect to z.
func (p *Prepared) gradient(ctx context.Context, s request) (*Gradient, error) {
	plans, err := p.gradientPlans(ctx, s, false, false)
	if err != nil {
		return nil, err
	}
	return solveToWidth(s, plans, func(at rung) (*Gradient, float64, error) { return p.gradientWith(ctx, plans, at) })
}

// gradientPlans returns a plan for each component: its graph, or its elimination. Elimination needs
// float64. It is used on request, for components too large for a graph, and for those whose
// derivatives of each class would take too long.
func (p *Prepared) gradientPlans(ctx context.Context, s request, byClass, skipElimination bool) ([]*plan, error) {
	components, err := reduceAll(ctx, p.equal)
	if err != nil {
		return nil, err
	}
	s.MaxJobs, s.ByClass = 0, false
	plans := make([]*plan, len(components))
	for k := range components {
		if plans[k], err = gradientPlan(ctx, p.equal, &components[k], s, byClass, skipElimination); err != nil {
			return nil, errorInRows(err, p.model, &components[k])
		}
	}
	return plans, nil
}

// gradientPlan returns the graph of a component, or its elimination.
func gradientPlan(ctx context.Context, m *cluster.Model, c *cluster.Component, s request,
	byClass, skipElimination bool) (*plan, error) {
	eliminate := func() (*plan, error) {
		s.Lattice = EliminationLattice
		q, err := newQuery(m, c, rung{s: s, engine: num.Float})
		if err != nil {
			return nil, err
		}
		return newPlan(ctx, q)
	}
	if s.Lattice == EliminationLattice {
		return eliminate()
	}
	q, err := newQuery(m, c, rung{s: s, engine: num.Exact, prec: arithmetic.FirstPrecision})
	if err != nil {
		return nil, err
	}
	isAuto := s.Lattice == "" && s.Engine != num.Enclose && s.Engine != num.Exact
	if !byClass && isAuto && s.Engine != num.Float {
		if l, err := q.fastestSlopes(ctx); l != nil || err != nil {
			return l, err
		}
	}
	most := 0.0
	if byClass && isAuto && !skipElimination {
		most = q.slowTerms()
	}
	limited := *q
	limited.maxTerms = most
	l, err := newPlan(ctx, &limited)
	var large *num.TooLargeError
	isLong := err == nil && most > 0 && l.graphTerms() > most
	if isAuto && !skipElimination && q.problem.Whole && (isLong || errors.As(err, &large)) {
		if other, failure := eliminate(); failure == nil {
			return other, nil
		}
		if most > 0 {
			l, err = newPlan(ctx, q)
		}
	}
	if err != nil {
		return nil, err
	}
	l.maxTerms, l.prec = 0, 0 // shares are for float64 first
	return l, l.build(ctx)
}

// fastestSlopes returns the graph of a component, or, if a graph takes slopeGain times the work, a
// plan with derivatives by elimination, each of which meets the tolerance. It counts connected sets
// only as far as it takes to compare. It returns nil if elimination has no such derivatives; the
// error comes from the context.
func (q *query) fastestSlopes(ctx context.Context) (*plan, error) {
	if !q.canDerive() {
		return nil, nil
	}
	e, err := q.findOrder()
	if err != nil || e.Width > 1 {
		return nil, nil
	}
	limited := *q
	limited.maxTerms = max(minCompared, slopeGain*eliminationSweep*e.operations) / meanDerivative
	if l, err := newPlan(ctx, &limited); err == nil && l.graphTerms() <= limited.maxTerms {
		l.maxTerms, l.prec = 0, 0
		return l, l.build(ctx)
	}
	l := &plan{query: *q, lattice: EliminationLattice, states: float64(len(q.problem.Groups)), method: e}
	d, err := l.eliminateDerivatives(ctx)
	if err != nil {
		return nil, ctx.Err() // the graph reports the error of the model
	}
	for _, x := range slices.Concat(d.Rates, d.Capacities) {
		if _, width := x.Times(big.NewRat(1, 1), q.s.RelTol); !(width <= q.s.RelTol) {
			return nil, nil
		}
	}
	l.slopes = &d
	return l, nil
}

// slowTerms returns the number of terms of a graph above which the derivatives of each class take
// long on it but not by elimination. It returns 0 if elimination has no such derivatives.
func (q *query) slowTerms() float64 {
	if !q.canDerive() {
		return 0
	}
	tight := *q
	tight.s.RelTol = 1e-9 // any tolerance: derivatives of classes are accurate or useless
	e, err := tight.findOrder()
	if err != nil {
		return 0
	}
	perTerm := float64(longDerivative)
	if q.s.Engine == num.Float {
		perTerm = floatDerivative
	}
	classes := float64(len(q.problem.Classes))
	return max(slowGradientOps, 4*e.operations*(1+eliminationSweep*classes)) / (classes * perTerm)
}

// eliminates reports whether elimination must still find the derivatives.
func eliminates(l *plan) bool { return l.lattice == EliminationLattice && l.slopes == nil }

// widthTol returns the tolerance of derivatives. The widths of those by elimination are relative to
// the terms.
func (l *plan) widthTol() float64 {
	if eliminates(l) {
		return 1
	}
	return l.s.RelTol
}

// solveToWidth tries the engine of the settings, or engines and precisions until one reaches the
// requested width. Elimination works in float64 only.
func solveToWidth[T any](s request, plans []*plan, try func(rung) (r T, width float64, err error)) (T, error) {
	never := func(error) bool { return false }
	return climb(s, never, func(g rung) (r T, width float64, err error) {
		r, width, err = try(g)
		switch {
		case g.engine != num.Float || err != nil:
		case s.Engine == num.Float && math.IsInf(width, 1):
			err = num.ErrFloatRange
		case s.Engine != num.Float && slices.ContainsFunc(plans, eliminates) && !(width <= s.RelTol):
			err = errMissed(s, width)
		}
		return r, width, err
	})
}

// gradientWith returns the gradient computed by one engine, and the largest relative width of a
// derivative.
func (p *Prepared) gradientWith(ctx context.Context, plans []*plan, at rung) (*Gradient, float64, error) {
	m, equal := p.model, p.equal
	g := &Gradient{Engine: at.engine, ArrivalRates: make([]num.Value, len(m.Classes)),
		Capacities: make([]num.Value, len(m.Servers))}
	setZero(g.ArrivalRates, at.engine) // rows in no component keep a derivative of 0
	setZero(g.Capacities, at.engine)
	width, outOfRange := 0.0, false
	set := func(l *plan, d *num.Value, x recursion.Difference, times *big.Rat) {
		var w float64
		*d, w = x.Times(times, l.widthTol())
		width, outOfRange = max(width, w), outOfRange || math.IsInf(d.Float, 0)
	}
	for _, l := range plans {
		slopes, err := l.derivatives(ctx, at)
		if err != nil {
			return nil, 0, errorInRows(err, m, l.component)
		}
		for i, list := range l.component.Classes {
			for _, row := range list {
				set(l, &g.ArrivalRates[row], slopes.Rates[i], perRate(l, i, row, m, equal))
			}
		}
		for i, list := range l.component.Servers {
			for _, row := range list {
				set(l, &g.Capacities[row], slopes.Capacities[i], perCapacity(l, i, row, equal))
			}
		}
	}
	if outOfRange {
		return nil, 0, errSteep()
	}
	return g, width, nil
}

// derivatives returns the derivatives of the mean number of jobs with respect to the rates and
// capacities of the problem of the plan.
func (l *plan) derivatives(ctx context.Context, g rung) (recursion.Slopes, error) {
	switch {
	case l.slopes != nil:
		return *l.slopes, nil
	case l.lattice == EliminationLattice:
		return l.eliminateDerivatives(ctx)
	}
	return recursion.NewSlopeSweep(ctx, l.problem, l.graph, arithmetic.One(g.engine, g.prec)).OfAll()
}

// setZero sets all values to 0 in the form of an engine. They share memory.
func setZero(list []num.Value, engine num.Engine) {
	zero := num.Value{Low: new(big.Float), High: new(big.Float)}
	if engine == num.Exact {
		zero = num.Value{Exact: new(big.Rat)}
	}
	for i := range list {
		list[i] = zero
	}
}

// perRate returns the growth of the rate of class i of a problem per unit of λ of a row of m. A
// rate of the problem covers one way to choose servers, in jobs of one mean size; the rate of the
// row changes all ways.
func perRate(l *plan, i, row int, m, equal *cluster.Model) *big.Rat {
	ways := countWays(l.component.Model.Servers, l.component.Model.Classes[i].Servers)
	return new(big.Rat).Mul(sizeRatio(m, equal, row), new(big.Rat).SetFrac(l.problem.Scale, ways))
}

// sizeRatio returns σ_i/σ, the mean size of a row of classes divided by the mean size of equal.
func sizeRatio(m, equal *cluster.Model, row int) *big.Rat {
	if m.Classes[row].MeanSize == nil && m.MeanSize == equal.MeanSize {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Quo(m.MeanSizeOf(row), num.OrOne(equal.MeanSize))
}

// perCapacity returns the growth of the capacity of server i of a problem per unit of capacity of a
// row of the model. A row of n servers that is one server of the component moves it n times as
// fast.
func perCapacity(l *plan, i, row int, equal *cluster.Model) *big.Rat {
	times := big.NewRat(int64(equal.Servers[row].Size()/l.component.Model.Servers[i].Size()), 1)
	times.Mul(times, new(big.Rat).SetInt(l.problem.Scale))
	return times.Quo(times, num.OrOne(equal.MeanSize))
}

// reduceAll reduces a model of one mean size. It keeps classes of rate 0 and servers of capacity 0
// because they also have derivatives.
func reduceAll(ctx context.Context, m *cluster.Model) ([]cluster.Component, error) {
	positive := func(x *big.Rat) *big.Rat {
		if x.Sign() == 0 {
			return big.NewRat(1, 1)
		}
		return x
	}
	full := &cluster.Model{MeanSize: m.MeanSize, Servers: append([]cluster.Server(nil), m.Servers...),
		Classes: append([]cluster.Class(nil), m.Classes...)}
	for i := range full.Servers {
		full.Servers[i].Capacity = positive(full.Servers[i].Capacity)
	}
	for i := range full.Classes {
		full.Classes[i].ArrivalRate = positive(full.Classes[i].ArrivalRate)
	}
	components, err := full.Reduce(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		for i, list := range c.Classes {
			rateOf := func(k int) *big.Rat { return m.Classes[list[k]].ArrivalRate }
			c.Model.Classes[i].ArrivalRate, err = num.BoundedSumRats(ctx, len(list), rateOf)
			if err != nil {
				return nil, err // not for its length: it has fewer terms than in Reduce
			}
		}
		for i, list := range c.Servers {
			sum, err := num.BoundedSumRats(ctx, len(list), func(k int) *big.Rat {
				times := big.NewRat(int64(m.Servers[list[k]].Size()/c.Model.Servers[i].Size()), 1)
				return times.Mul(times, m.Servers[list[k]].Capacity)
			})
			if err != nil {
				return nil, err
			}
			c.Model.Servers[i].Capacity = sum.Quo(sum, num.OrOne(m.MeanSize))
		}
	}
	return components, nil
}
