package cube

import "productform/internal/arithmetic"

// ErrorBounds bounds the relative errors of a sweep over the subsets of n elements. Let u be the
// unit roundoff and delta the error of the denominators. A value on level k is a sum of k values
// (n-k values and the seed on the way down) with k-1 successive additions, times a reciprocal,
// which is also rounded. A product of weights takes 2n+2 roundings. One more u covers products of
// errors:
//
//	H: e_k = e_{k-1} + (k+2)u + delta, e_0 = 0,   X = H Π: e_k + (2n+3)u,
//	V: g_k = g_{k+1} + (n-k+3)u + delta, g_{n+1} = (2n+2)u.
//
// Within a block a value passes at most 9 additions on its way to a sum: 4 in fold, 5 in tally.
// Sums of blocks are compensated, which adds 4u (see num.Sum).
type ErrorBounds struct {
	Value      float64 // bound for X
	Up         float64 // bound for sums of X
	Product    float64 // bound for WX
	ProductSum float64 // bound for sums of WX
}

// NewErrorBounds returns the bounds for n elements, given the bound for the denominators.
func NewErrorBounds(n int, delta float64) ErrorBounds {
	const sums = (9 + 4) * arithmetic.Roundoff
	e := make([]float64, n+1)
	for k := 1; k <= n; k++ {
		e[k] = e[k-1] + float64(float64(k+2)*arithmetic.Roundoff) + delta
	}
	product := float64(float64(2*n+3) * arithmetic.Roundoff)
	var s ErrorBounds
	g := product
	for k := n; k >= 1; k-- {
		g += float64(float64(n-k+3)*arithmetic.Roundoff) + delta
		s.Product = max(s.Product, e[k]+g+arithmetic.Roundoff)
	}
	s.Value = arithmetic.Inflate(e[n] + product)
	s.Up = arithmetic.Inflate(e[n] + product + sums)
	s.ProductSum = arithmetic.Inflate(s.Product + sums)
	s.Product = arithmetic.Inflate(s.Product)
	return s
}
