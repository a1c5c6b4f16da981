package derivatives

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// A dual is a number and its derivative in a direction of the rates: see direction.
type dual struct{ x, d arithmetic.Number }

func (a dual) mul(b dual) dual { return dual{a.x.Mul(b.x), a.x.Mul(b.d).Add(a.d.Mul(b.x))} }
func (a dual) add(b dual) dual { return dual{a.x.Add(b.x), a.d.Add(b.d)} }

// over returns a/(M - λ), where den = M - λ and slope is the derivative of λ.
func (a dual) over(den, slope arithmetic.Number) dual {
	x := a.x.Quo(den)
	return dual{x, a.d.Add(x.Mul(slope)).Quo(den)}
}

// A direction says how fast rates grow: those of weights on the class lattice, and λ(k) of a state.
type direction struct {
	weight func(class int) arithmetic.Number
	slope  func(k int) arithmetic.Number
}

// A Sweep goes through a graph with dual numbers: the values v of the states, and the derivatives of Z with respect to the numbers of the problem.
type Sweep struct {
	graph             *recursion.Graph
	problem           *recursion.Problem
	zero, one         arithmetic.Number
	along             direction
	weights           []dual
	v                 []dual
	stop              recursion.Cancellation
	rates, capacities []signed
}

// New returns a sweep of the graph of a problem, in the arithmetic of like.
func New(ctx context.Context, p *recursion.Problem, g *recursion.Graph, like arithmetic.Number) *Sweep {
	return &Sweep{graph: g, problem: p, stop: recursion.Cancellation{Ctx: ctx}, one: like.One(), zero: like.Rational(new(big.Rat))}
}

// Slopes are the mean E = Z'/Z, Z' being the derivative of Z in a direction, and its derivatives with respect to the integers of the problem.
type Slopes struct {
	Mean       arithmetic.Number
	Rates      []Difference // of each class
	Capacities []Difference // of each group, all its servers together
}

// OfAll returns the slopes in the direction of all rates, of E = Σ_i E[X_i]. It takes two sweeps over the graph.
func (r *Sweep) OfAll() (Slopes, error) { return r.slopes(r.allClasses(), true) }

// OfClass returns those of E = ∂ log Z/∂λ_i of one class.
func (r *Sweep) OfClass(class int) (Slopes, error) {
	along, err := r.oneClass(class)
	if err != nil {
		return Slopes{}, err
	}
	return r.slopes(along, false)
}

// slopes returns what comes of a direction, which multiplies the rates by a number or does not.
func (r *Sweep) slopes(along direction, multiplied bool) (s Slopes, err error) {
	if err := r.sweep(along); err != nil {
		return s, err
	}
	z := r.v[r.graph.States()-1]
	s.Mean = z.d.Quo(z.x)
	for i := range r.rates {
		s.Rates = append(s.Rates, r.derivative(&r.rates[i], multiplied))
	}
	for g := range r.capacities {
		s.Capacities = append(s.Capacities, r.derivative(&r.capacities[g], false))
	}
	return s, nil
}

// allClasses is the direction of the rates themselves: derivatives in z at z = 1, rates being z λ.
func (r *Sweep) allClasses() direction {
	var buf big.Int
	return direction{
		func(class int) arithmetic.Number { return r.integer(r.problem.Classes[class].Rate) },
		func(k int) arithmetic.Number { return r.integer(r.graph.Rate.At(k, &buf)) },
	}
}

// sweep goes up and down in a direction. It finds the derivatives of Z with respect to the integers of the problem, and their derivatives in a direction.
func (r *Sweep) sweep(along direction) error {
	r.along, r.weights = along, make([]dual, len(r.graph.Weights))
	for i, w := range r.graph.Weights {
		r.weights[i] = dual{r.integer(w), r.zero}
		if r.graph.ByClass { // a rate
			r.weights[i].d = along.weight(i)
		}
	}
	blank := signed{[2]dual{{r.zero, r.zero}, {r.zero, r.zero}}}
	r.rates, r.capacities = slices.Repeat([]signed{blank}, len(r.problem.Classes)), slices.Repeat([]signed{blank}, len(r.problem.Groups))
	if err := r.up(); err != nil {
		return err
	}
	return r.down()
}

func (r *Sweep) integer(v *big.Int) arithmetic.Number {
	return r.one.Rational(new(big.Rat).SetInt(v))
}

// termWeight returns the weight of a term; those of the root of the class lattice are 1.
func (r *Sweep) termWeight(t int32) dual {
	if w := r.graph.Weight[t]; w >= 0 {
		return r.weights[w]
	}
	return dual{r.one, r.zero}
}

func (r *Sweep) up() error {
	var buf big.Int
	r.v = make([]dual, r.graph.States())
	for k := range r.v {
		first, last := r.graph.Terms(k)
		if first == last {
			r.v[k] = dual{r.one, r.zero}
			continue
		}
		if err := r.stop.After(recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		sum := r.product(r.termWeight(first), first, -1)
		for t := first + 1; t < last; t++ {
			sum = sum.add(r.product(r.termWeight(t), t, -1))
		}
		r.v[k] = sum.over(r.integer(r.graph.Den.At(k, &buf)), r.along.slope(k))
	}
	return nil
}

// product multiplies x by the values of the children of term t but for number skip.
func (r *Sweep) product(x dual, t int32, skip int) dual {
	for j, c := range r.graph.Children(t) {
		if j != skip {
			x = x.mul(r.v[c])
		}
	}
	return x
}

// down goes through the states from the root with the adjoint w of their numerators. The
// derivative of Z with respect to a weight is w times the values of the children; that with
// respect to d(k) is -w(k) v(k), and sums of these over the states that have a class are carried
// down along the rests.
func (r *Sweep) down() error {
	var buf big.Int
	n := r.graph.States()
	group, copies := r.problem.WeightGroups()
	masks := r.problem.ClassMasks()
	w, carry := slices.Repeat([]dual{{r.zero, r.zero}}, n), slices.Repeat([]dual{{r.zero, r.zero}}, n)
	w[n-1] = dual{r.one, r.zero}
	for k := n - 1; k >= 0; k-- {
		first, last := r.graph.Terms(k)
		if first == last {
			continue
		}
		if err := r.stop.After(2 * recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		w[k] = w[k].over(r.integer(r.graph.Den.At(k, &buf)), r.along.slope(k))
		loss := w[k].mul(r.v[k])
		for t := first; t < last; t++ {
			pushed := r.termWeight(t).mul(w[k])
			for i, c := range r.graph.Children(t) {
				w[c] = w[c].add(r.product(pushed, t, i))
			}
			if r.graph.Weight[t] < 0 {
				continue
			}
			term := r.product(w[k], t, -1)
			if r.graph.ByClass {
				r.rates[r.graph.Weight[t]].add(0, term)
				continue
			}
			s, count := group[r.graph.Weight[t]], dual{r.one.Rational(copies[r.graph.Weight[t]]), r.zero}
			r.capacities[s].add(0, term.mul(count))
			r.capacities[s].add(1, loss.mul(count))
		}
		if r.graph.ByClass {
			if k == n-1 {
				continue // adds up the others: its denominator is 1
			}
			for s, mask := range masks {
				if mask&k != 0 {
					r.capacities[s].add(1, loss)
				}
			}
		}
		carry[k] = carry[k].add(loss)
		for o := r.graph.OwnFirst[k]; o < r.graph.OwnFirst[k+1]; o++ {
			x := carry[k]
			if r.graph.Coef != nil {
				x = x.mul(dual{r.integer(r.graph.Coef.At(int(o), &buf)), r.zero})
			}
			r.rates[r.graph.Own[o]].add(0, x)
		}
		if t := r.graph.Rest[k]; t >= 0 {
			for _, c := range r.graph.Children(t) {
				carry[c] = carry[c].add(carry[k])
			}
		}
	}
	return nil
}

// A signed adds up the derivative of Z with respect to one number, and its derivative in the direction: what adds to Z
// at 0, what takes away at 1.
type signed struct{ side [2]dual }

func (s *signed) add(side int, t dual) { s.side[side] = s.side[side].add(t) }

// derivative returns the derivative of E = Z'/Z with respect to a number, Z' being the derivative in the direction: with y = ∂Z
// and y' its derivative in the direction, it is y'/Z - E y/Z. If z multiplies the number in the direction, y' + y stands for y'.
func (r *Sweep) derivative(s *signed, multiplied bool) Difference {
	z := r.v[r.graph.States()-1]
	mean := z.d.Quo(z.x)
	var side [2]arithmetic.Number
	for i, y := range s.side {
		side[i] = y.d
		if multiplied {
			side[i] = side[i].Add(y.x)
		}
	}
	return Difference{
		side[0].Add(mean.Mul(s.side[1].x)).Quo(z.x),
		side[1].Add(mean.Mul(s.side[0].x)).Quo(z.x),
	}
}

// oneClass is the direction in which the rate of one class grows by 1.
func (r *Sweep) oneClass(class int) (direction, error) {
	zero, one := new(big.Int), big.NewInt(1)
	inside := make([]*big.Int, r.graph.States()) // the number of ways of the class in λ(k)
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
		for o := r.graph.OwnFirst[k]; o < r.graph.OwnFirst[k+1]; o++ {
			switch {
			case int(r.graph.Own[o]) != class:
			case r.graph.Coef != nil:
				add(r.graph.Coef.At(int(o), new(big.Int)))
			default:
				add(one)
			}
		}
		if t := r.graph.Rest[k]; t >= 0 {
			for _, c := range r.graph.Children(t) {
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
