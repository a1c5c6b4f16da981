package recursion

import (
	"math/big"

	"productform/internal/arithmetic"
)

// Measures are the stationary measures of a component.
type Measures struct {
	Normalization arithmetic.Number
	Jobs          []arithmetic.Number // E[X_i] of each class
	Busy          []arithmetic.Number // utilization of the servers of each group
}

// A Rounded is a [Kernel] that rounds every number in one direction and divisors in the other. It
// gives lower bounds on all numbers, or upper bounds.
type Rounded struct {
	Graph        *Graph
	Prec         uint
	Mode         big.RoundingMode
	Weights      []*big.Float
	Denominators *Integers // nil with shares
	divisor      *big.Float
	edge         *big.Float // factor for the denominators of shares
	buf          big.Int
}

// NewRounded returns the kernel of numbers of prec bits for a graph.
func NewRounded(g *Graph, prec uint, mode big.RoundingMode) Rounded {
	r := Rounded{Graph: g, Prec: prec, Mode: mode}
	r.divisor = r.Other()
	if g.Shares == nil {
		r.Denominators = &g.Den
	} else {
		r.edge = g.Shares.Edge(r.divisor.Mode())
	}
	for _, w := range g.Weights {
		r.Weights = append(r.Weights, r.Number().SetInt(w))
	}
	return r
}

// Number returns 0.
func (r *Rounded) Number() *big.Float { return new(big.Float).SetPrec(r.Prec).SetMode(r.Mode) }

// Other returns 0 as a number that is rounded in the other direction.
func (r *Rounded) Other() *big.Float {
	return r.Number().SetMode(big.ToNegativeInf + big.ToPositiveInf - r.Mode)
}

// Denominator returns d(k), rounded in the other direction. It is valid until the next call.
func (r *Rounded) Denominator(k int) *big.Float {
	if r.Denominators == nil {
		return r.divisor.Mul(&r.Graph.Big[k], r.edge)
	}
	return r.divisor.SetInt(r.Denominators.At(k, &r.buf))
}

var (
	bigOne = big.NewFloat(1) // never changed
	intOne = big.NewInt(1)
)

func (r *Rounded) One(z *big.Float, _ int)   { z.Set(bigOne) }
func (r *Rounded) Begin(z *big.Float, _ int) { z.SetInt64(0) }

func (r *Rounded) Weigh(z, x *big.Float, _ int, t int32) bool {
	if x == nil {
		x = bigOne
	}
	if w := r.Graph.Weight[t]; w >= 0 {
		z.Mul(r.Weights[w], x)
	} else {
		z.Set(x)
	}
	return true
}

func (r *Rounded) Mul(z, x *big.Float)                        { z.Mul(z, x) }
func (r *Rounded) Set(z, x *big.Float)                        { z.Set(x) }
func (r *Rounded) Add(z, x *big.Float, _ int, _ int32, _ int) { arithmetic.AddFar(z, x) }
func (r *Rounded) Divide(z, x *big.Float, k int)              { z.Quo(x, r.Denominator(k)) }

// Numbers is a [Kernel] in the arithmetic of any engine, with Number{} as 0. Divide also sets x to
// the quotient.
type Numbers struct {
	Graph        *Graph
	Like         arithmetic.Number // 1
	Weights      []arithmetic.Number
	Denominators []arithmetic.Number // d(k), if known
}

// NewNumbers returns the kernel for the first states of a graph.
func NewNumbers(g *Graph, states int, like arithmetic.Number) Numbers {
	n := Numbers{Graph: g, Like: like.One(), Denominators: make([]arithmetic.Number, states)}
	for _, w := range g.Weights {
		n.Weights = append(n.Weights, n.Integer(w))
	}
	return n
}

// Integer returns v >= 0.
func (n *Numbers) Integer(v *big.Int) arithmetic.Number {
	return n.Like.Rational(new(big.Rat).SetInt(v))
}

func (n *Numbers) One(z *arithmetic.Number, _ int)   { *z = n.Like }
func (n *Numbers) Begin(z *arithmetic.Number, _ int) { *z = arithmetic.Number{} }

func (n *Numbers) Weigh(z, x *arithmetic.Number, _ int, t int32) bool {
	if w := &n.Weights[n.Graph.Weight[t]]; x == nil {
		*z = *w
	} else {
		z.SetProduct(w, x)
	}
	return true
}

func (n *Numbers) Mul(z, x *arithmetic.Number) { z.SetProduct(z, x) }
func (n *Numbers) Set(z, x *arithmetic.Number) { *z = *x }

func (n *Numbers) Add(z, x *arithmetic.Number, _ int, _ int32, _ int) {
	if *z == (arithmetic.Number{}) {
		*z = *x
	} else {
		z.SetSum(z, x)
	}
}

func (n *Numbers) Divide(z, x *arithmetic.Number, k int) {
	d := &n.Denominators[k]
	if *d == (arithmetic.Number{}) {
		*d = n.Graph.Denominator(k, n.Like)
	}
	*x = x.Quo(*d)
	*z = *x
}

// Whole is part of a kernel of integers.
type Whole struct{ Graph *Graph }

func (w Whole) Begin(z *big.Int, _ int) { z.SetInt64(0) }

func (w Whole) Weigh(z, x *big.Int, _ int, t int32) bool {
	if x == nil {
		x = intOne
	}
	if at := w.Graph.Weight[t]; at >= 0 {
		z.Mul(w.Graph.Weights[at], x)
	} else {
		z.Set(x)
	}
	return true
}

func (w Whole) Mul(z, x *big.Int)                        { z.Mul(z, x) }
func (w Whole) Set(z, x *big.Int)                        { z.Set(x) }
func (w Whole) Add(z, x *big.Int, _ int, _ int32, _ int) { z.Add(z, x) }

// LCM returns the least common multiple, a itself if b divides it.
func LCM(a, b *big.Int) *big.Int {
	if new(big.Int).Rem(a, b).Sign() == 0 {
		return a
	}
	g := new(big.Int).GCD(nil, nil, a, b)
	return g.Mul(a, g.Quo(b, g))
}
