// This file computes the derivatives of the mean numbers of jobs of a component: second derivatives
// of its normalization.
//
// Z is the last value of the recursion over a graph. One sweep up the graph and one down
// (reverse-mode automatic differentiation) give its derivatives with respect to all rates and
// capacities. With dual numbers, which carry the derivative in a direction of the rates, the same
// sweeps also differentiate these derivatives in that direction. This gives the derivatives of E[X]
// = Σ_i E[X_i], the derivative of log Z(zλ) at z = 1, or of h_i = ∂ log Z/∂λ_i. All operations are
// products, sums and quotients of numbers >= 0, except one difference at the end.

package recursion

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
)

// A dual is a number and its derivative in a direction of the rates: see direction.
type dual struct{ x, d arithmetic.Number }

func (z *dual) mul(a, b *dual) {
	var left, right arithmetic.Number
	left.SetProduct(&a.x, &b.d)
	right.SetProduct(&a.d, &b.x)
	z.x.SetProduct(&a.x, &b.x)
	z.d.SetSum(&left, &right)
}

func (z *dual) add(a *dual) {
	z.x.SetSum(&z.x, &a.x)
	z.d.SetSum(&z.d, &a.d)
}

// A direction holds the growth of the rates: of weights on the class lattice, and of λ(k) of each
// state.
type direction struct {
	weight func(class int) arithmetic.Number
	slope  func(k int) arithmetic.Number
}

// A SlopeSweep evaluates a graph with dual numbers. It computes the values of the states, and the
// derivatives of Z with respect to the numbers of the problem.
type SlopeSweep struct {
	*Sweep[dual, *kernel]
	problem           *Problem
	rates, capacities []signed
}

// NewSlopeSweep returns a sweep of the graph of a problem, in the arithmetic of like.
func NewSlopeSweep(ctx context.Context, p *Problem, g *Graph, like arithmetic.Number) *SlopeSweep {
	k := &kernel{Numbers: NewNumbers(g, 0, like), zero: like.Zero()}
	k.one = dual{k.Like, k.zero}
	return &SlopeSweep{Sweep: NewSweep(ctx, g, g.States(), k, dual{}, BigSteps), problem: p}
}

// A kernel computes with dual numbers. In sums dual{} is 0.
type kernel struct {
	Numbers
	zero    arithmetic.Number
	one     dual
	along   direction
	weights []dual
	buf     big.Int
}

func (r *kernel) One(z *dual, _ int)   { *z = r.one }
func (r *kernel) Begin(z *dual, _ int) { *z = dual{} }

func (r *kernel) Weigh(z, x *dual, _ int, t int32) bool {
	w := &r.one // the weights of the root of the class lattice
	if at := r.Graph.Weight[t]; at >= 0 {
		w = &r.weights[at]
	}
	if x == nil {
		*z = *w
	} else {
		z.mul(w, x)
	}
	return true
}

func (r *kernel) Mul(z, x *dual) { z.mul(z, x) }
func (r *kernel) Set(z, x *dual) { *z = *x }
func (r *kernel) Add(z, x *dual, _ int, _ int32, _ int) {
	if z.x == (arithmetic.Number{}) && z.d == z.x {
		*z = *x
	} else {
		z.add(x)
	}
}

// Divide divides by d(k) = M(k) - λ(k), which falls as λ(k) grows.
func (r *kernel) Divide(z, x *dual, k int) {
	d := r.Integer(r.Graph.Den.At(k, &r.buf))
	z.x = x.x.Quo(d)
	z.d = x.d.Add(z.x.Mul(r.along.slope(k))).Quo(d)
}

type Difference = arithmetic.Difference

// Slopes are the mean E = Z'/Z, Z' being the derivative of Z in a direction, and its derivatives
// with respect to the integers of the problem.
type Slopes struct {
	Mean       arithmetic.Number
	Rates      []Difference // for each class
	Capacities []Difference // for each group, all its servers together
}

// OfAll returns the slopes in the direction of all rates, of E = Σ_i E[X_i]. It takes two sweeps
// over the graph.
func (r *SlopeSweep) OfAll() (Slopes, error) { return r.slopes(r.allClasses(), true) }

// OfClass returns the slopes of E = ∂ log Z/∂λ_i for one class.
func (r *SlopeSweep) OfClass(class int) (Slopes, error) {
	along, err := r.oneClass(class)
	if err != nil {
		return Slopes{}, err
	}
	return r.slopes(along, false)
}

// slopes returns the slopes in a direction; multiplied states whether the direction multiplies the
// rates by a number.
func (r *SlopeSweep) slopes(along direction, multiplied bool) (s Slopes, err error) {
	if err := r.sweep(along); err != nil {
		return s, err
	}
	z := r.Value[r.States()-1]
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
func (r *SlopeSweep) allClasses() direction {
	var buf big.Int
	return direction{
		func(class int) arithmetic.Number { return r.Kernel.Integer(r.problem.Classes[class].Rate) },
		func(k int) arithmetic.Number { return r.Kernel.Integer(r.Rate.At(k, &buf)) },
	}
}

// sweep goes up and down in a direction. It finds the derivatives of Z with respect to the integers
// of the problem, and their derivatives in a direction.
func (r *SlopeSweep) sweep(along direction) error {
	k := r.Kernel
	k.along, k.weights = along, make([]dual, len(k.Weights))
	for i, w := range k.Weights {
		k.weights[i] = dual{w, k.zero}
		if r.ByClass { // a rate
			k.weights[i].d = along.weight(i)
		}
	}
	blank := signed{[2]dual{{k.zero, k.zero}, {k.zero, k.zero}}}
	r.rates, r.capacities = slices.Repeat([]signed{blank}, len(r.problem.Classes)),
		slices.Repeat([]signed{blank}, len(r.problem.Groups))
	if err := r.Up(); err != nil {
		return err
	}
	return r.down()
}

// down visits the states from the root, with the adjoint w of their numerators. The derivative of Z
// with respect to a weight is w times the values of the children; that with respect to d(k) is
// -w(k) v(k), and sums of these over the states that have a class are carried down along the rests.
func (r *SlopeSweep) down() error {
	var buf big.Int
	k, n := r.Kernel, r.States()
	group, copies := r.problem.WeightGroups()
	counts := make([]dual, len(copies))
	for i, c := range copies {
		counts[i] = dual{k.Like.Rational(c), k.zero}
	}
	masks := r.problem.ClassMasks()
	adjoints, carried := r.Numbers(n), r.Numbers(n)
	adjoints[n-1] = k.one
	own := func(o, i int32, x *dual) {
		y := *x
		if r.Coef != nil {
			y.mul(x, &dual{k.Integer(r.Coef.At(int(o), &buf)), k.zero})
		}
		r.rates[i].add(0, &y)
	}
	return r.Down(adjoints, func(state int, w *dual) {
		var loss, less dual
		loss.mul(w, &r.Value[state])
		first, last := r.Terms(state)
		for t := first; t < last && r.Weight[t] >= 0; t++ {
			term := *w
			for _, c := range r.Children(t) {
				term.mul(&term, &r.Value[c])
			}
			if r.ByClass {
				r.rates[r.Weight[t]].add(0, &term)
				continue
			}
			s, count := group[r.Weight[t]], &counts[r.Weight[t]]
			term.mul(&term, count)
			less.mul(&loss, count)
			r.capacities[s].add(0, &term)
			r.capacities[s].add(1, &less)
		}
		if r.ByClass {
			if state == n-1 {
				return // it sums the other states, so its denominator is 1
			}
			for s, mask := range masks {
				if mask&state != 0 {
					r.capacities[s].add(1, &loss)
				}
			}
		}
		r.Carry(carried, state, &loss, own)
	})
}

// A signed sums the derivative of Z with respect to one number, and its derivative in the
// direction: side 0 holds positive terms, side 1 negative ones.
type signed struct{ side [2]dual }

func (s *signed) add(side int, t *dual) { s.side[side].add(t) }

// derivative returns the derivative of E = Z'/Z with respect to a number, Z' being the derivative
// in the direction: with y = ∂Z and y' its derivative in the direction, it is y'/Z - E y/Z. If z
// multiplies the number in the direction, y' + y stands for y'.
func (r *SlopeSweep) derivative(s *signed, multiplied bool) Difference {
	z := r.Value[r.States()-1]
	mean := z.d.Quo(z.x)
	var side [2]arithmetic.Number
	for i, y := range s.side {
		side[i] = y.d
		if multiplied {
			side[i] = side[i].Add(y.x)
		}
	}
	return Difference{
		Plus:  side[0].Add(mean.Mul(s.side[1].x)).Quo(z.x),
		Minus: side[1].Add(mean.Mul(s.side[0].x)).Quo(z.x),
	}
}

// oneClass is the direction in which the rate of one class grows by 1.
func (r *SlopeSweep) oneClass(class int) (direction, error) {
	ways, err := r.Ways(&r.Stop, class)
	if err != nil {
		return direction{}, err
	}
	return direction{
		func(i int) arithmetic.Number {
			if i == class {
				return r.Kernel.Like
			}
			return r.Kernel.zero
		},
		func(k int) arithmetic.Number { return r.Kernel.Integer(ways[k]) },
	}, nil
}
