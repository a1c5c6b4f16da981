package num

import "math/big"

// SolveLinear solves A X = B by Gauss's method with the largest pivot of each column, in the precision of the entries.
// A is square and B has as many rows as A; both are overwritten, B with X. It reports false if a pivot is 0. It takes
// O(n³) operations; X is rounded, not proved.
func SolveLinear(a, b [][]*big.Float) bool {
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
			subtractTimes(a[r][c:], f, a[c][c:])
			subtractTimes(b[r], f, b[c])
		}
	}
	for c := n - 1; c >= 0; c-- {
		for j := range b[c] {
			b[c][j].Quo(b[c][j], a[c][c])
		}
		for r := range c {
			if a[r][c].Sign() != 0 {
				subtractTimes(b[r], a[r][c], b[c])
			}
		}
	}
	return true
}

// subtractTimes takes f times y from x.
func subtractTimes(x []*big.Float, f *big.Float, y []*big.Float) {
	t := new(big.Float)
	for i := range x {
		x[i].Sub(x[i], t.Mul(f, y[i]))
	}
}

// InverseNear returns an inverse of the middles of a square matrix, each entry a point of prec bits: near enough for
// any use, but not proved. It reports false if a pivot is 0.
func InverseNear(a [][]Interval, prec uint) ([][]Interval, bool) {
	n := len(a)
	middle, unit := make([][]*big.Float, n), make([][]*big.Float, n)
	for i := range n {
		for j := range n {
			middle[i] = append(middle[i], a[i][j].Middle())
			unit[i] = append(unit[i], new(big.Float).SetPrec(prec))
		}
		unit[i][i].SetInt64(1)
	}
	if !SolveLinear(middle, unit) {
		return nil, false
	}
	inverse := make([][]Interval, n)
	for i := range n {
		for _, x := range unit[i] {
			inverse[i] = append(inverse[i], FromBig(x, prec))
		}
	}
	return inverse, true
}
