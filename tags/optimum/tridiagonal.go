package optimum

import "productform/num"

// solveTridiagonal solves A x = g for a symmetric tridiagonal A, and reports false if it is not
// positive definite.
func solveTridiagonal(diagonal, beside, g []num.Interval) ([]num.Interval, bool) {
	n := len(g)
	pivot, x := make([]num.Interval, n), make([]num.Interval, n)
	for i := range n {
		pivot[i], x[i] = diagonal[i], g[i]
		if i > 0 {
			f := beside[i-1].Quo(pivot[i-1])
			pivot[i] = pivot[i].Sub(f.Mul(beside[i-1])).Point()
			x[i] = x[i].Sub(f.Mul(x[i-1])).Point()
		}
		if pivot[i].Sign() <= 0 {
			return nil, false
		}
	}
	for i := n - 1; i >= 0; i-- {
		if i+1 < n {
			x[i] = x[i].Sub(beside[i].Mul(x[i+1]))
		}
		x[i] = x[i].Quo(pivot[i]).Point()
	}
	return x, true
}

// positiveDefinite reports whether all symmetric tridiagonal matrices in a are proved to be
// positive definite: the pivots of Gaussian elimination on intervals contain theirs.
func positiveDefinite(a [][]num.Interval) bool {
	pivot := a[0][0]
	for i := 1; i < len(a) && pivot.Sign() > 0; i++ {
		pivot = a[i][i].Sub(a[i-1][i].Square().Quo(pivot))
	}
	return pivot.Sign() > 0
}
