package num

import "math/big"

// SolveLinear solves A X = B by Gaussian elimination with the largest pivot of each column, in the
// precision of the entries. A is square and B has as many rows as A; both are overwritten, B with
// X. It reports false if a pivot is 0. It takes O(n³) operations. X is approximate, without a
// bound.
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

// subtractTimes subtracts f times y from x.
func subtractTimes(x []*big.Float, f *big.Float, y []*big.Float) {
	t := new(big.Float)
	for i := range x {
		x[i].Sub(x[i], t.Mul(f, y[i]))
	}
}

// SolveSemidefinite returns x with H x = r for a symmetric and positive semidefinite H, by the
// factors L D L' in numbers of prec bits. h holds the rows of H up to the diagonal. H may be
// singular: a pivot below 2^(8-prec) of the numbers that it was computed from is rounding noise and
// is replaced by that bound, or by 1 if the row is 0. It takes O(n³) operations. x is approximate,
// without a bound.
func SolveSemidefinite(h [][]*big.Float, r []*big.Float, prec uint) []*big.Float {
	n := len(h)
	x, pivot, noise := zeros(prec, n), zeros(prec, n), zeros(prec, n)
	l := make([][]*big.Float, n)
	part, scaled := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec)
	for a := range n {
		l[a] = zeros(prec, a)
		x[a].Set(r[a])
		pivot[a].Set(h[a][a])
		noise[a].SetMantExp(pivot[a], 8-int(prec))
		for b := range a {
			v := l[a][b].Set(h[a][b])
			for f := range b {
				v.Sub(v, part.Mul(part.Mul(l[a][f], l[b][f]), pivot[f]))
			}
			v.Quo(v, pivot[b])
			scaled.Mul(v, v)
			pivot[a].Sub(pivot[a], part.Mul(scaled, pivot[b]))
			noise[a].Add(noise[a], part.Mul(scaled, noise[b]))
			x[a].Sub(x[a], part.Mul(v, x[b]))
		}
		if pivot[a].Cmp(noise[a]) < 0 {
			pivot[a].Set(noise[a])
		}
		if pivot[a].Sign() == 0 {
			pivot[a].SetInt64(1)
		}
	}
	for a := n - 1; a >= 0; a-- {
		x[a].Quo(x[a], pivot[a])
		for b := a + 1; b < n; b++ {
			x[a].Sub(x[a], part.Mul(l[b][a], x[b]))
		}
	}
	return x
}

// zeros returns n numbers of prec bits.
func zeros(prec uint, n int) []*big.Float {
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = new(big.Float).SetPrec(prec)
	}
	return x
}

// InverseNear returns an approximate inverse of the middles of a square matrix, each entry a point
// of prec bits, without a bound. It reports false if a pivot is 0.
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
