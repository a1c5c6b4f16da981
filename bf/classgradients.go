package bf

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/bf/internal/derivatives"
	"productform/bf/internal/parts"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Gradients holds the derivatives of the means of every class, as fractions with the engine Exact and between proved bounds
// Low and High with the others. The derivatives of E[X_i] add up, over the classes, to those of [Gradient]. Classes that
// differ in mean size count with their work λ_i σ_i, under balanced fairness (see [Solve]).
//
// Auto and Enclose ask for Settings.RelTol of each derivative (where its terms cancel further than that, of RelTol
// times these). The time is about that of [Gradient] for each class: 12 classes take 0.2 seconds of one core in float64. What is too large for graphs, or takes
// minutes, is eliminated, class by class, with bounds of RelTol times the sum of the terms: 63 servers in a tree with 125 classes take 2 seconds. The
// derivatives count towards Settings.MaxBytes.
type Gradients struct {
	Engine  num.Engine      // the engine that gave the numbers: Float, Enclose or Exact
	Classes []ClassGradient // one a row of the model's classes
}

// A ClassGradient holds the derivatives of the means of one class. Those of the mean number of jobs E[X_i] are in units of time for
// a rate, and jobs over work per unit of time for a capacity; those of the mean delay E[X_i]/λ_i are as much over a rate.
type ClassGradient struct {
	MeanJobs  Partials
	MeanDelay *Partials // nil if λ_i = 0
}

// Partials holds the derivatives of one number with respect to all rates and capacities.
type Partials struct {
	ArrivalRates []num.Value // ∂/∂λ_j of each row of classes; to the right where λ_j = 0
	Capacities   []num.Value // ∂/∂C_s of each row of servers, all servers of a group together; to the right where C_s = 0
}

// gradients returns the derivatives of the means of each class. With h_i = ∂ log Z/∂λ_i, E[X_i] = λ_i h_i, they are λ_i ∂h_i/∂C_s, λ_i ∂h_i/∂λ_j and h_i besides where i = j,
// and ∂h_i/∂C_s, ∂h_i/∂λ_j; so that E[X_i] and the delays grow in every rate, and fall in every capacity. Two sweeps for each class
// give them, one up the lattice and one down, each carrying the derivative in λ_i along.
func (p *Prepared) gradients(ctx context.Context, s request) (g *Gradients, err error) {
	m := p.model
	plans, err := p.gradientPlans(ctx, s, true, false)
	if err != nil {
		return nil, err
	}
	const perPair = 2*200 + 4*50 // bytes of two numbers with their bounds, and of the differences that elimination makes
	if pairs := float64(len(m.Classes)) * float64(len(m.Classes)+len(m.Servers)); pairs*perPair > float64(s.MaxBytes) {
		return nil, &num.TooLargeError{States: pairs, Bytes: pairs * perPair, Limit: s.MaxBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d classes and %d rows of servers", len(m.Classes), len(m.Servers)), "fewer of them: %.3g pairs have derivatives, in %.0f MiB; at most %d MiB",
			pairs, pairs*perPair/(1<<20), s.MaxBytes>>20)}
	}
	with := func(plans []*plan) error {
		return solveToWidth(s, plans, func(engine num.Engine, prec uint) (width float64, err error) {
			g, width, err = p.gradientsWith(ctx, plans, engine, prec, s)
			return width, err
		})
	}
	if err = with(plans); isInput(err) && s.Lattice == "" && slices.ContainsFunc(plans, eliminates) {
		// where graphs only take long
		if plans, none := p.gradientPlans(ctx, s, true, true); none == nil {
			err = with(plans)
		}
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// gradientsWith returns the gradients as one engine gives them, and the largest relative width of a derivative.
func (p *Prepared) gradientsWith(ctx context.Context, plans []*plan, engine num.Engine, prec uint, s request) (*Gradients, float64, error) {
	m, equal := p.model, p.equal
	all, err := parts.Of(ctx, equal)
	if err != nil {
		return nil, 0, err
	}
	g := &classGradients{model: m, equal: equal, parts: all,
		result: &Gradients{Engine: engine, Classes: make([]ClassGradient, len(m.Classes))}}
	zeros := func() Partials {
		p := Partials{make([]num.Value, len(m.Classes)), make([]num.Value, len(m.Servers))}
		setZero(p.ArrivalRates, engine) // of what is in other components, or in none
		setZero(p.Capacities, engine)
		return p
	}
	for i, k := range m.Classes {
		c := &g.result.Classes[i]
		c.MeanJobs = zeros()
		if k.ArrivalRate.Sign() > 0 {
			p := zeros()
			c.MeanDelay = &p
		}
	}
	for _, l := range plans {
		if g.tol = s.RelTol; l.lattice == EliminationLattice {
			g.tol = 1 // widths are relative to the terms at least
		}
		err := l.eachClass(ctx, engine, prec, func(i int, d derivatives.Slopes) { g.add(l, d, i) })
		if err != nil {
			return nil, 0, errorInRows(err, m, l.component)
		}
	}
	if g.beyond {
		return nil, 0, errSteep()
	}
	return g.result, g.width, nil
}

// classGradients are gradients under way.
type classGradients struct {
	model, equal *cluster.Model
	parts        parts.Parts
	result       *Gradients
	tol, width   float64
	beyond       bool // some derivative is beyond the range of float64
}

// eachClass calls do with the derivatives of h_i of each class i of a component.
func (l *plan) eachClass(ctx context.Context, engine num.Engine, prec uint, do func(i int, d derivatives.Slopes)) error {
	if l.lattice == EliminationLattice {
		all, err := l.eliminateEachClass(ctx)
		for i, d := range all {
			do(i, d)
		}
		return err
	}
	sweep := derivatives.New(ctx, l.problem, l.graph, arithmetic.One(engine, prec))
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
func (g *classGradients) add(l *plan, d derivatives.Slopes, i int) {
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

// factors returns what turns a second derivative of log Z, with respect to the rate of class i of a problem and a number that grows
// as fast as per for each unit of another, into that of E[X] of a row of the class, and of its delay.
func (g *classGradients) factors(l *plan, i, row int, per *big.Rat) (jobs, delay *big.Rat) {
	delay = new(big.Rat).Mul(per, perRate(l, i, row, g.model, g.equal))
	return new(big.Rat).Mul(delay, g.model.Classes[row].ArrivalRate), delay
}

// set sets a derivative to d times factor plus own >= 0. By elimination its bounds may be on both sides of 0, and only one is possible: covariances of increasing functions of
// the lives are >= 0, so that h_i grows with every rate and falls with every capacity.
func (g *classGradients) set(l *plan, to *num.Value, d derivatives.Difference, factor *big.Rat, own arithmetic.Number, falls bool) {
	f := own.Rational(factor)
	var width float64
	*to, width = derivatives.Difference{Plus: d.Plus.Mul(f).Add(own), Minus: d.Minus.Mul(f)}.Times(big.NewRat(1, 1), g.tol)
	g.width = max(g.width, width)
	g.beyond = g.beyond || math.IsInf(to.Float, 0)
	switch {
	case l.lattice != EliminationLattice || to.Low == nil:
	case falls && to.High.Sign() > 0:
		to.High, to.Float = new(big.Float), min(0, to.Float)
	case !falls && to.Low.Sign() < 0:
		to.Low, to.Float = new(big.Float), max(0, to.Float)
	}
}
