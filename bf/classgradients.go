package bf

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// Gradients holds the derivatives of the means of every class: as fractions with the engine Exact,
// and otherwise between proved bounds Low and High. Summed over the classes, the derivatives of
// E[X_i] are those in [Gradient]. Classes with different mean sizes count by their work λ_i σ_i,
// under balanced fairness (see [Solve]).
//
// With Auto and Enclose each derivative meets Settings.RelTol; if its terms cancel further than
// that, the error is RelTol times these terms. Each class takes about as long as [Gradient]: 12
// classes take 0.2 seconds on one core in float64. Models too large or too slow for a graph are
// solved by elimination, one class at a time. Its bounds are RelTol times the sum of the terms: 63
// servers in a tree with 125 classes take 2 seconds. The derivatives count towards
// Settings.MaxBytes.
type Gradients struct {
	Engine  num.Engine      // engine that computed the numbers: Float, Enclose or Exact
	Classes []ClassGradient // one per row of the model's classes
}

// A ClassGradient holds the derivatives of the means of one class. Derivatives of the mean number
// of jobs E[X_i] are in units of time with respect to a rate, and in jobs over work per unit of
// time with respect to a capacity. Those of the mean delay E[X_i]/λ_i have these units divided by
// that of a rate.
type ClassGradient struct {
	Name      string // as in the model
	MeanJobs  Partials
	MeanDelay *Partials // nil if λ_i = 0
}

// Partials holds the derivatives of one number with respect to all rates and capacities.
type Partials struct {
	// ArrivalRates is ∂/∂λ_j for each row of classes, or the right derivative if λ_j = 0.
	ArrivalRates []num.Value

	// Capacities is ∂/∂C_s for each row of servers, or the right derivative if C_s = 0. All servers
	// of a group change together.
	Capacities []num.Value
}

// gradients returns the derivatives of the means of each class. With h_i = ∂ log Z/∂λ_i, E[X_i] =
// λ_i h_i, so the derivatives of E[X_i] are λ_i ∂h_i/∂C_s and λ_i ∂h_i/∂λ_j, plus h_i if i = j.
// Those of the delay are ∂h_i/∂C_s and ∂h_i/∂λ_j. E[X_i] and the delays thus grow with every rate
// and fall with every capacity. Two sweeps per class compute them, one up the lattice and one down,
// each carrying the derivative with respect to λ_i.
func (p *Prepared) gradients(ctx context.Context, s request) (*Gradients, error) {
	m := p.model
	plans, err := p.gradientPlans(ctx, s, true, false)
	if err != nil {
		return nil, err
	}
	// bytes of two numbers with their bounds, and of the differences that elimination makes
	const perPair = 2*200 + 4*50
	if pairs := float64(len(m.Classes)) * float64(len(m.Classes)+len(m.Servers)); pairs*perPair > float64(s.MaxBytes) {
		return nil, &num.TooLargeError{States: pairs, Bytes: pairs * perPair, Limit: s.MaxBytes,
			Input: input.Errorf("model",
				fmt.Sprintf("%d classes and %d rows of servers", len(m.Classes), len(m.Servers)),
				"fewer of them: derivatives of %.3g pairs take %.0f MiB; at most %d MiB",
				pairs, pairs*perPair/(1<<20), s.MaxBytes>>20)}
	}
	with := func(plans []*plan) (*Gradients, error) {
		return solveToWidth(s, plans, func(at rung) (*Gradients, float64, error) {
			return p.gradientsWith(ctx, plans, at)
		})
	}
	g, err := with(plans)
	if isInput(err) && s.Lattice == "" && slices.ContainsFunc(plans, eliminates) {
		// graphs are slow, but fit into memory
		if plans, failure := p.gradientPlans(ctx, s, true, true); failure == nil {
			return with(plans)
		}
	}
	return g, err
}

// gradientsWith returns the gradients computed by one engine, and the largest relative width of a
// derivative.
func (p *Prepared) gradientsWith(ctx context.Context, plans []*plan, at rung) (*Gradients, float64, error) {
	m, equal := p.model, p.equal
	all, err := newPartIndex(ctx, equal)
	if err != nil {
		return nil, 0, err
	}
	g := &classGradients{model: m, equal: equal, parts: all,
		result: &Gradients{Engine: at.engine, Classes: make([]ClassGradient, len(m.Classes))}}
	zeros := func() Partials {
		p := Partials{make([]num.Value, len(m.Classes)), make([]num.Value, len(m.Servers))}
		setZero(p.ArrivalRates, at.engine) // rows of other components, or of none
		setZero(p.Capacities, at.engine)
		return p
	}
	for i, k := range m.Classes {
		c := &g.result.Classes[i]
		c.Name, c.MeanJobs = k.Name, zeros()
		if k.ArrivalRate.Sign() > 0 {
			p := zeros()
			c.MeanDelay = &p
		}
	}
	for _, l := range plans {
		err := l.eachClass(ctx, at, func(i int, d recursion.Slopes) { g.add(l, d, i) })
		if err != nil {
			return nil, 0, errorInRows(err, m, l.component)
		}
	}
	if g.outOfRange {
		return nil, 0, errSteep()
	}
	return g.result, g.width, nil
}

// classGradients collects the gradients of all classes.
type classGradients struct {
	model, equal *cluster.Model
	parts        partIndex
	result       *Gradients
	width        float64
	outOfRange   bool // a derivative exceeds the range of float64
}

// eachClass calls do for each class i of a component, with the derivatives of h_i.
func (l *plan) eachClass(ctx context.Context, g rung, do func(i int, d recursion.Slopes)) error {
	if l.lattice == EliminationLattice {
		all, err := l.eliminateEachClass(ctx)
		for i, d := range all {
			do(i, d)
		}
		return err
	}
	sweep := recursion.NewSlopeSweep(ctx, l.problem, l.graph, arithmetic.One(g.engine, g.prec))
	for i := range l.component.Classes {
		d, err := sweep.OfClass(i)
		if err != nil {
			return err
		}
		do(i, d)
	}
	return nil
}

// add sets the derivatives of the rows of class i of a component.
func (g *classGradients) add(l *plan, d recursion.Slopes, i int) {
	zero := d.Mean.Zero()
	for j, list := range l.component.Classes {
		for _, col := range list {
			per, near := perRate(l, j, col, g.model, g.equal), g.parts.OfRate(g.equal, col)
			for _, row := range l.component.Classes[i] {
				if g.parts.Apart(row, near) {
					continue
				}
				jobs, delay := g.factors(l, i, row, per)
				p := &g.result.Classes[row]
				own := zero
				if row == col {
					own = d.Mean.Mul(zero.Rational(perRate(l, i, row, g.model, g.equal)))
				}
				g.set(l, &p.MeanJobs.ArrivalRates[col], d.Rates[j], jobs, own, false)
				if p.MeanDelay != nil {
					g.set(l, &p.MeanDelay.ArrivalRates[col], d.Rates[j], delay, zero, false)
				}
			}
		}
	}
	for s, list := range l.component.Servers {
		for _, col := range list {
			per, near := perCapacity(l, s, col, g.equal), g.parts.OfCapacity(g.equal, col)
			for _, row := range l.component.Classes[i] {
				if g.parts.Apart(row, near) {
					continue
				}
				jobs, delay := g.factors(l, i, row, per)
				p := &g.result.Classes[row]
				g.set(l, &p.MeanJobs.Capacities[col], d.Capacities[s], jobs, zero, true)
				if p.MeanDelay != nil {
					g.set(l, &p.MeanDelay.Capacities[col], d.Capacities[s], delay, zero, true)
				}
			}
		}
	}
}

// factors returns the factors that turn a second derivative of log Z into the derivatives of E[X]
// and of the delay of one row of a class. The second derivative is with respect to the rate of
// class i of a problem and a number that grows per units for each unit of the row's number.
func (g *classGradients) factors(l *plan, i, row int, per *big.Rat) (jobs, delay *big.Rat) {
	delay = new(big.Rat).Mul(per, perRate(l, i, row, g.model, g.equal))
	return new(big.Rat).Mul(delay, g.model.Classes[row].ArrivalRate), delay
}

// set sets a derivative to d times factor plus own >= 0. The bounds of elimination may have
// different signs, but only one sign is possible: covariances of increasing functions of the
// lifetimes are >= 0, so h_i grows with every rate and falls with every capacity.
func (g *classGradients) set(l *plan, to *num.Value, d recursion.Difference, factor *big.Rat, own arithmetic.Number,
	falls bool) {
	f := own.Rational(factor)
	var width float64
	sum := recursion.Difference{Plus: d.Plus.Mul(f).Add(own), Minus: d.Minus.Mul(f)}
	*to, width = sum.Times(big.NewRat(1, 1), l.widthTol())
	g.width = max(g.width, width)
	g.outOfRange = g.outOfRange || math.IsInf(to.Float, 0)
	switch {
	case l.lattice != EliminationLattice || to.Low == nil:
	case falls && to.High.Sign() > 0:
		to.High, to.Float = new(big.Float), min(0, to.Float)
	case !falls && to.Low.Sign() < 0:
		to.Low, to.Float = new(big.Float), max(0, to.Float)
	}
}
