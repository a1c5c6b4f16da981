package tags

import (
	"math/big"

	"productform/num"
)

// solveTridiagonalBig solves A x = g for a symmetric tridiagonal A, and reports false if it is not positive definite.
func solveTridiagonalBig(diagonal, beside, g []num.Interval) ([]num.Interval, bool) {
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

// solveBig solves A X = B by Gauss's method with the largest pivot of each column; A and B are overwritten, B with X.
// It reports false if a pivot is 0.
func solveBig(a, b [][]*big.Float) bool {
	n := len(a)
	for c := range n {
		best := c
		for r := c + 1; r < n; r++ {
			if new(big.Float).Abs(a[r][c]).Cmp(new(big.Float).Abs(a[best][c])) > 0 {
				best = r
			}
		}
		a[c], a[best], b[c], b[best] = a[best], a[c], b[best], b[c]
		if a[c][c].Sign() == 0 {
			return false
		}
		for r := c + 1; r < n; r++ {
			if a[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Float).Quo(a[r][c], a[c][c])
			subtractBig(a[r][c:], f, a[c][c:])
			subtractBig(b[r], f, b[c])
		}
	}
	for c := n - 1; c >= 0; c-- {
		for j := range b[c] {
			b[c][j].Quo(b[c][j], a[c][c])
		}
		for r := range c {
			if a[r][c].Sign() != 0 {
				subtractBig(b[r], a[r][c], b[c])
			}
		}
	}
	return true
}

// subtractBig takes f times y from x.
func subtractBig(x []*big.Float, f *big.Float, y []*big.Float) {
	t := new(big.Float)
	for i := range x {
		x[i].Sub(x[i], t.Mul(f, y[i]))
	}
}

// inverseBig returns an inverse of the middles of a, near enough for any use but not proved.
func inverseBig(a [][]num.Interval, prec uint) ([][]num.Interval, bool) {
	n := len(a)
	middle, unit := make([][]*big.Float, n), make([][]*big.Float, n)
	for i := range n {
		for j := range n {
			middle[i] = append(middle[i], a[i][j].Middle())
			unit[i] = append(unit[i], new(big.Float).SetPrec(prec))
		}
		unit[i][i].SetInt64(1)
	}
	if !solveBig(middle, unit) {
		return nil, false
	}
	inverse := make([][]num.Interval, n)
	for i := range n {
		for _, x := range unit[i] {
			inverse[i] = append(inverse[i], num.FromBig(x, prec))
		}
	}
	return inverse, true
}

// positiveDefinite reports whether all symmetric tridiagonal matrices in a are proved to be positive definite: the
// pivots of Gauss's method on intervals hold theirs.
func positiveDefinite(a [][]num.Interval) bool {
	pivot := a[0][0]
	for i := 1; i < len(a) && pivot.Sign() > 0; i++ {
		pivot = a[i][i].Sub(a[i-1][i].Square().Quo(pivot))
	}
	return pivot.Sign() > 0
}
