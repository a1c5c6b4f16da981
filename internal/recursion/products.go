package recursion

import (
	"context"
	"errors"

	"productform/internal/arithmetic"
)

// errFar reports that coefficients are too far apart for float64 and need wide numbers.
var errFar = errors.New("coefficients outside the range of float64")

// Nonzero coefficients of [floatProducts] must be in [least, most], and weights at least smallest,
// so products of two coefficients and a weight stay in range.
const least, most, smallest = 0x1p-450, 0x1p450, 0x1p-60

func inRange(z []float64) bool {
	for _, x := range z {
		if x != 0 && !(x >= least && x <= most) {
			return false
		}
	}
	return true
}

// floatProducts computes the series of all states of a graph of connected sets in float64.
// Coefficient i is multiplied by the i-th power of M/λ of the root, which keeps coefficients of
// similar size.
//
// Errors are relative. e[k] bounds the roundings of coefficient 0 of state k, and e[k] + 10 i the
// roundings of coefficient i. A term adds the roundings of its children, whose orders add up to i,
// one per addition in the sums of [AddProduct], and one for its weight. The state adds one for each
// addition of its terms, one quotient and one for M. Its own coefficient i-1 has at most three
// more, with λ, M/λ and M. The powers of M/λ are removed by i divisions.
func floatProducts(ctx context.Context, g *Graph, n int) ([]arithmetic.Number, error) {
	root, terms := g.States()-1, n+1
	tilt := g.Total.Float(root) / g.Rate.Float(root)
	if !(tilt <= most) {
		return nil, errFar
	}
	weights := make([]float64, len(g.Weights))
	for i, w := range g.Weights {
		weights[i] = arithmetic.Scaled(w, 0)
	}
	series, e := make([]float64, g.States()*terms), make([]float64, g.States())
	of := func(k int32) []float64 { return series[int(k)*terms:][:terms] }
	product, spare := make([]float64, terms), make([]float64, terms)
	stop := Cancellation{Ctx: ctx}
	for k := range g.States() {
		z := of(int32(k))
		first, last := g.Terms(k)
		if first == last {
			z[0] = 1
			continue
		}
		capacity, rate := g.Total.Float(k), g.Rate.Float(k)*tilt
		worst := 0.0
		for t := first; t < last; t++ {
			w := weights[g.Weight[t]] / capacity
			if w < smallest {
				return nil, errFar
			}
			children := g.Children(t)
			if err := stop.After(terms * (1 + max(0, len(children)-1)*terms/4)); err != nil {
				return nil, err
			}
			roundings := 0.0
			for j, c := range children {
				roundings += e[c]
				if j == 0 {
					copy(product, of(c))
					continue
				}
				clear(spare)
				AddProduct(spare, product, of(c))
				product, spare = spare, product
				roundings += ProductAdditions(1, terms) + 1
				if !inRange(product) {
					return nil, errFar
				}
			}
			worst = max(worst, roundings)
			if len(children) == 0 {
				z[0] += w
				continue
			}
			for i, x := range product {
				z[i] += float64(w * x)
			}
		}
		e[k] = worst + float64(last-first) + 8
		previous := 0.0
		for i, x := range z {
			x += float64(rate/capacity) * previous
			z[i], previous = x, x
		}
		if !inRange(z) {
			return nil, errFar
		}
	}
	result, power := make([]arithmetic.Number, terms), arithmetic.NewWide(1, 0)
	for i, x := range of(int32(root)) {
		result[i] = arithmetic.FromWide(
			arithmetic.NewWide(x, 0).Over(power), arithmetic.Roundings(e[root]+12*float64(i+1)),
		)
		power = power.Times(arithmetic.NewWide(tilt, 0))
	}
	return result, nil
}

// AddProduct adds the product of two series to sum, truncated to its length; a and b have the same
// length. A coefficient is involved in [ProductAdditions] additions.
func AddProduct(sum, a, b []float64) {
	n := len(sum)
	a, b = a[:n], b[:n]
	p := 0
	for ; p+4 <= n; p += 4 {
		a0, a1, a2, a3 := a[p], a[p+1], a[p+2], a[p+3]
		sum[p] += float64(a0 * b[0])
		sum[p+1] += float64(a0*b[1]) + float64(a1*b[0])
		sum[p+2] += (float64(a0*b[2]) + float64(a1*b[1])) + float64(a2*b[0])
		s := sum[p+3:]
		b3, b2, b1, b0 := b[3:][:len(s)], b[2:][:len(s)], b[1:][:len(s)], b[:len(s)]
		for k := range s {
			s[k] += (float64(a0*b3[k]) + float64(a1*b2[k])) + (float64(a2*b1[k]) + float64(a3*b0[k]))
		}
	}
	for ; p < n; p++ {
		s, x := sum[p:], a[p]
		for k, y := range b[:len(s)] {
			s[k] += float64(x * y)
		}
	}
}

// ProductAdditions bounds the number of additions that involve a coefficient of a product, in sums
// of the given number of products of n coefficients each.
func ProductAdditions(products, n int) float64 { return float64(products*(n/4+4)) + 2 }
