package lattice

import (
	"context"
	"math/big"
	"math/bits"
)

// Rates stay within 2^±200, and nonzero values of G and V within 2^±400. So over at most 2^20
// states no intermediate number of [Floats] underflows or overflows: a term V G is at most 2^801,
// λ_i times the sum of the terms at most 2^1021 and at least 2^-600, and Z lies in [1, 2^420].
const (
	leastRate, mostRate   = 0x1p-200, 0x1p200
	leastValue, mostValue = 0x1p-400, 0x1p400
)

// Floats returns the same G, E[X_i] and Z as [Recursion.Measures], to the same digits, in plain
// float64. Each λ_i >= 0 and d(y) > 0 is rounded once. ok is false if numbers leave the range in
// which this is valid, or if there are more than 2^20 states; then use the numbers of package
// arithmetic. ok is also false once the context is done. It takes about 3 N additions per state.
//
// bound applies to the relative error of G(y), G(y)/Z, E[X_i], Z and 1/Z, however close d(y) is to
// 0. With K = Σ_i m_i, G(y) takes N+3 roundings per level Σ_i y_i (λ_i, the product, N-1 additions,
// d(y), the quotient), V(y) takes 2 at the top and N+4 per level below, and a sum by halves at most
// b = ⌈log_2 states⌉. A term V(y) (G(y-e_i) + G(y)) has the roundings of K levels and 4 more. With
// λ_i, the two products and the divisor Z, E[X_i] has
//
//	n = K(N+4) + 4 + b + 2 + K(N+3) + b + 1,
//
// the maximum. Since only positive numbers are added, multiplied and divided, n roundings of
// relative size u = 2^-53 make at most n u/(1 - n u) (Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, Lemma 3.1).
func Floats(
	ctx context.Context, y Lattice, lambda, drain []*big.Rat,
) (g, jobs []float64, z, bound float64, ok bool) {
	r := floatRecursion{ctx, y, make([]float64, y.Classes), make([]float64, y.States)}
	if y.States > 1<<20 || !r.roundAll(r.lambda, lambda) || !r.roundAll(r.drain[1:], drain[1:]) {
		return nil, nil, 0, 0, false
	}
	x := make([]int, y.Classes)
	if g = r.up(x); ctx.Err() != nil {
		return nil, nil, 0, 0, false
	}
	v := r.down(x)
	if ctx.Err() != nil {
		return nil, nil, 0, 0, false
	}
	for at := range g {
		if !(g[at] == 0 || g[at] >= leastValue && g[at] <= mostValue) ||
			at > 0 && !(v[at] >= leastValue && v[at] <= mostValue) {
			return nil, nil, 0, 0, false
		}
	}
	z = sumByHalves(g)
	jobs = make([]float64, y.Classes)
	terms := r.drain // no longer needed
	for i := range jobs {
		if ctx.Err() != nil {
			return nil, nil, 0, 0, false
		}
		r.terms(i, g, v, terms)
		jobs[i] = r.lambda[i] * sumByHalves(terms) / z
	}
	n := float64(y.Total*(2*y.Classes+7)+2*bits.Len(uint(y.States))+7) * 0x1p-53
	return g, jobs, z, n / (1 - n) * (1 + 0x1p-50), true
}

// statesPerLook is the number of states between two checks of the context.
const statesPerLook = 1 << 12

// roundAll rounds rates and reports whether they are in range. Like up and down, it stops once the
// context is done.
func (r *floatRecursion) roundAll(to []float64, from []*big.Rat) bool {
	for k, x := range from {
		if k%statesPerLook == 0 && r.ctx.Err() != nil {
			return false
		}
		f, _ := x.Float64()
		if !(f >= leastRate && f <= mostRate || x.Sign() == 0) {
			return false
		}
		to[k] = f
	}
	return true
}

// A floatRecursion is a [Recursion] in float64.
type floatRecursion struct {
	ctx context.Context
	Lattice
	lambda, drain []float64
}

// up returns G at the index of every state and moves x from 0 to the last state.
func (r *floatRecursion) up(x []int) []float64 {
	g := make([]float64, r.States)
	g[0] = 1
	for at := 1; at < r.States; at++ {
		if at%statesPerLook == 0 && r.ctx.Err() != nil {
			break
		}
		r.Next(x)
		flow := 0.0
		for i, n := range x {
			if n > 0 {
				flow += r.lambda[i] * g[at-r.Stride[i]]
			}
		}
		g[at] = flow / r.drain[at]
	}
	return g
}

// down returns V at the index of every state except 0 and moves x from the last state to 0.
func (r *floatRecursion) down(x []int) []float64 {
	v := make([]float64, r.States)
	for at := r.States - 1; at > 0; at-- {
		if at%statesPerLook == 0 && r.ctx.Err() != nil {
			break
		}
		flow := 1.0
		for i, n := range x {
			if n < r.Limits[i] {
				flow += r.lambda[i] * v[at+r.Stride[i]]
			}
		}
		v[at] = flow / r.drain[at]
		r.Back(x)
	}
	return v
}

// terms sets list[y] = V(y) (G(y-e_i) + G(y) [y_i=m_i]), 0 if y_i = 0.
func (r *floatRecursion) terms(i int, g, v, list []float64) {
	stride := r.Stride[i]
	for at := 0; at < r.States; {
		clear(list[at : at+stride])
		at += stride
		for n := 1; n < r.Limits[i]; n++ {
			for end := at + stride; at < end; at++ {
				list[at] = v[at] * g[at-stride]
			}
		}
		if r.Limits[i] > 0 {
			for end := at + stride; at < end; at++ {
				list[at] = v[at] * (g[at-stride] + g[at])
			}
		}
	}
}

// sumByHalves adds as [arithmetic.Sum] does.
func sumByHalves(list []float64) float64 {
	switch len(list) {
	case 1:
		return list[0]
	case 2:
		return list[0] + list[1]
	case 4:
		return (list[0] + list[1]) + (list[2] + list[3])
	}
	half := (len(list) + 1) / 2
	return sumByHalves(list[:half]) + sumByHalves(list[half:])
}
