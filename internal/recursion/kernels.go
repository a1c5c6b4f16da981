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

// A Rounded is a [DownKernel] that rounds every number in one direction, and divisors in the other. So it
// has lower bounds of all numbers, or upper bounds.
type Rounded struct {
	Graph   *Graph
	Prec    uint
	Mode    big.RoundingMode
	Weights []*big.Float
	divisor *big.Float
	edge    *big.Float // for denominators of shares
	buf     big.Int
}

// NewRounded returns the kernel of numbers of prec bits for a graph.
func NewRounded(g *Graph, prec uint, mode big.RoundingMode) Rounded {
	r := Rounded{Graph: g, Prec: prec, Mode: mode}
	r.divisor = r.Other()
	if g.Shares != nil {
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
	if r.edge != nil {
		return r.divisor.Mul(&r.Graph.Big[k], r.edge)
	}
	return r.divisor.SetInt(r.Graph.Den.At(k, &r.buf))
}

var bigOne = big.NewFloat(1) // never changed

func (r *Rounded) One(z *big.Float, _ int)   { z.Set(bigOne) }
func (r *Rounded) Begin(z *big.Float, _ int) { z.SetInt64(0) }

func (r *Rounded) Weigh(z, x *big.Float, _ int, t int32) bool {
	w := bigOne
	if at := r.Graph.Weight[t]; at >= 0 {
		w = r.Weights[at]
	}
	switch {
	case x == nil:
		z.Set(w)
	case w == bigOne:
		z.Set(x)
	default:
		z.Mul(w, x)
	}
	return true
}

func (r *Rounded) Mul(z, x *big.Float)                         { z.Mul(z, x) }
func (r *Rounded) Set(z, x *big.Float)                         { z.Set(x) }
func (r *Rounded) Add(z, x *big.Float)                         { arithmetic.AddFar(z, x) }
func (r *Rounded) Gather(z, x *big.Float, _ int, _ int32)      { arithmetic.AddFar(z, x) }
func (r *Rounded) Push(z, x *big.Float, _ int, _ int32, _ int) { arithmetic.AddFar(z, x) }
func (r *Rounded) Divide(z, x *big.Float, k int)               { z.Quo(x, r.Denominator(k)) }
