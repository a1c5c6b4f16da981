package bf

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/bf/internal/parts"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Gradients holds the derivatives of the means of every class, as fractions with the engine Exact and between proved bounds
// Low and High with the others.
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

// ClassGradients returns the derivatives of the mean number of jobs and of the mean delay of each class with respect to every
// arrival rate and capacity. With h_i = ∂ log Z/∂λ_i, E[X_i] = λ_i h_i, they are λ_i ∂h_i/∂C_s, λ_i ∂h_i/∂λ_j and h_i besides where i = j,
// and ∂h_i/∂C_s, ∂h_i/∂λ_j; so that E[X_i] and the delays grow in every rate, and fall in every capacity. Two sweeps for each class
// give them, one up the lattice and one down, each carrying the derivative in λ_i along. The derivatives of E[X_i] add up, over the
// classes, to those of [MeanJobsGradient].
//
// Classes that differ in mean size count with their work λ_i σ_i, under balanced fairness (see [Solve]).
//
// Auto and Enclose ask for Settings.RelTol of each derivative (where its terms cancel further than that, of RelTol
// times these). The time is about that of [MeanJobsGradient] for each class: 12 classes take 0.2 seconds of one core in float64. Errors are
// those of [Solve]; the derivatives count towards Settings.MaxBytes.
func ClassGradients(ctx context.Context, m *cluster.Model, s Settings) (g *Gradients, err error) {
	plans, s, err := gradientPlans(ctx, m, s, false)
	if err != nil {
		return nil, err
	}
	const perPair = 2 * 200 // bytes of two numbers with their bounds
	if pairs := float64(len(m.Classes)) * float64(len(m.Classes)+len(m.Servers)); pairs*perPair > float64(s.MaxBytes) {
		return nil, &num.TooLargeError{States: pairs, Bytes: pairs * perPair, Limit: s.MaxBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d classes and %d rows of servers", len(m.Classes), len(m.Servers)), "fewer of them: %.3g pairs have derivatives, in %.0f MiB; at most %d MiB",
			pairs, pairs*perPair/(1<<20), s.MaxBytes>>20)}
	}
	err = precisely(s, func(engine num.Engine, prec uint) (width float64, err error) {
		g, width, err = classGradientsWith(ctx, m, plans, engine, prec, s.RelTol)
		return width, err
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// classGradientsWith returns the gradients as one engine gives them, and the largest relative width of a derivative.
func classGradientsWith(ctx context.Context, m *cluster.Model, plans []*plan, engine num.Engine, prec uint, tol float64) (*Gradients, float64, error) {
	equal := m.EqualSizes()
	all, err := parts.Of(ctx, equal)
	if err != nil {
		return nil, 0, err
	}
	g := &classGradients{model: m, equal: equal, parts: all, tol: tol,
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
		r := newDualRun(ctx, l, arithmetic.One(engine, prec))
		for i := range l.component.Classes {
			along, err := r.oneClass(i)
			if err == nil {
				err = r.sweep(along)
			}
			if err != nil {
				return nil, 0, err
			}
			g.add(l, r, i)
		}
	}
	if g.beyond {
		return nil, 0, errSteep()
	}
	return g.result, g.width, nil
}

// oneClass is the direction in which the rate of one class grows by 1.
func (r *dualRun) oneClass(class int) (direction, error) {
	zero, one := new(big.Int), big.NewInt(1)
	inside := make([]*big.Int, r.States()) // the number of ways of the class in λ(k)
	for k := range inside {
		if err := r.stop.After(4); err != nil {
			return direction{}, err
		}
		inside[k] = zero
		add := func(ways *big.Int) {
			if ways.Sign() != 0 {
				inside[k] = new(big.Int).Add(inside[k], ways)
			}
		}
		for o := r.OwnFirst[k]; o < r.OwnFirst[k+1]; o++ {
			switch {
			case int(r.Own[o]) != class:
			case r.Coef != nil:
				add(r.Coef.At(int(o), new(big.Int)))
			default:
				add(one)
			}
		}
		if t := r.Rest[k]; t >= 0 {
			for _, c := range r.Children(t) {
				add(inside[c])
			}
		}
	}
	return direction{
		func(i int) arithmetic.Number {
			if i == class {
				return r.integer(one)
			}
			return r.integer(zero)
		},
		func(k int) arithmetic.Number { return r.integer(inside[k]) },
	}, nil
}

// classGradients are gradients under way.
type classGradients struct {
	model, equal *cluster.Model
	parts        parts.Parts
	result       *Gradients
	tol, width   float64
	beyond       bool // some derivative is beyond the range of float64
}

// add sets the derivatives of the rows of class i of a component, after the sweep in its direction.
func (g *classGradients) add(l *plan, r *dualRun, i int) {
	z := r.v[r.States()-1]
	h := z.d.Quo(z.x) // ∂ log Z over the rate of the problem
	for j, list := range l.component.Classes {
		d := r.derivative(&r.rates[j], false)
		for _, col := range list {
			per, near := perRate(l, j, col, g.model, g.equal), g.parts.OfRate(g.equal, col)
			for _, row := range l.component.Classes[i] {
				if g.parts.Apart(row, near) {
					continue
				}
				jobs, delay := g.factors(l, i, row, per)
				p := &g.result.Classes[row]
				own := h.Zero()
				if row == col {
					own = h.Mul(h.Rational(perRate(l, i, row, g.model, g.equal)))
				}
				g.set(&p.MeanJobs.ArrivalRates[col], d, jobs, own)
				if p.MeanDelay != nil {
					g.set(&p.MeanDelay.ArrivalRates[col], d, delay, h.Zero())
				}
			}
		}
	}
	for s, list := range l.component.Servers {
		d := r.derivative(&r.capacities[s], false)
		for _, col := range list {
			per, near := perCapacity(l, s, col, g.equal), g.parts.OfCapacity(g.equal, col)
			for _, row := range l.component.Classes[i] {
				if g.parts.Apart(row, near) {
					continue
				}
				jobs, delay := g.factors(l, i, row, per)
				p := &g.result.Classes[row]
				g.set(&p.MeanJobs.Capacities[col], d, jobs, h.Zero())
				if p.MeanDelay != nil {
					g.set(&p.MeanDelay.Capacities[col], d, delay, h.Zero())
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

// set sets a derivative to d times factor plus own >= 0.
func (g *classGradients) set(to *num.Value, d difference, factor *big.Rat, own arithmetic.Number) {
	f := own.Rational(factor)
	var width float64
	*to, width = difference{d.plus.Mul(f).Add(own), d.minus.Mul(f)}.times(big.NewRat(1, 1), g.tol)
	g.width = max(g.width, width)
	g.beyond = g.beyond || math.IsInf(to.Float, 0)
}
