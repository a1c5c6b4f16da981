package num

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The solution of Gaussian elimination, multiplied out in fractions, gives the right-hand side up
// to rounding.
func TestSolveLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const prec = 200
		n := rapid.IntRange(1, 6).Draw(t, "n")
		entry := rapid.Int64Range(-9, 9)
		a, b := make([][]*big.Float, n), make([][]*big.Float, n)
		exact, right := make([][]*big.Rat, n), make([]*big.Rat, n)
		for i := range n {
			for j := range n {
				v := entry.Draw(t, "a")
				if i == j {
					v += 100 // far from singular
				}
				exact[i] = append(exact[i], big.NewRat(v, 1))
				a[i] = append(a[i], new(big.Float).SetPrec(prec).SetInt64(v))
			}
			v := entry.Draw(t, "b")
			right[i], b[i] = big.NewRat(v, 1), []*big.Float{new(big.Float).SetPrec(prec).SetInt64(v)}
		}
		if !SolveLinear(a, b) {
			t.Fatal("singular")
		}
		for i := range n {
			sum := new(big.Rat).Neg(right[i])
			for j := range n {
				x, _ := b[j][0].Rat(nil)
				sum.Add(sum, x.Mul(x, exact[i][j]))
			}
			if off, _ := sum.Float64(); off > 0x1p-180 || off < -0x1p-180 { // few of the 200 bits are lost
				t.Errorf("row %d is off by %g", i, off)
			}
		}
	})
}

// A zero on the diagonal needs an exchange of rows; a singular matrix has no solution.
func TestSolveLinearPivots(t *testing.T) {
	of := func(rows ...[]float64) (m [][]*big.Float) {
		for _, row := range rows {
			var list []*big.Float
			for _, v := range row {
				list = append(list, big.NewFloat(v))
			}
			m = append(m, list)
		}
		return m
	}
	b := of([]float64{3}, []float64{5})
	if !SolveLinear(of([]float64{0, 1}, []float64{1, 1}), b) {
		t.Fatal("no solution")
	}
	if x, y := b[0][0], b[1][0]; x.Cmp(big.NewFloat(2)) != 0 || y.Cmp(big.NewFloat(3)) != 0 {
		t.Errorf("x = %v, y = %v, want 2 and 3", x, y)
	}
	if SolveLinear(of([]float64{1, 2}, []float64{2, 4}), of([]float64{1}, []float64{1})) {
		t.Error("a singular system has a solution")
	}
}

// H = A A' + D in integers is positive definite, or singular for D = 0 and fewer columns than rows.
// The solution, multiplied out in fractions, gives the right-hand side up to rounding whenever that
// is in the range of H.
func TestSolveSemidefinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const prec = 200
		n, columns := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "columns")
		entry := rapid.Int64Range(-9, 9)
		diagonal := rapid.Int64Range(0, 1).Draw(t, "diagonal")
		a, solution := make([][]int64, n), make([]int64, n)
		for i := range n {
			solution[i] = entry.Draw(t, "x")
			for range columns {
				a[i] = append(a[i], entry.Draw(t, "a"))
			}
		}
		h, lower := make([][]int64, n), make([][]*big.Float, n)
		right, r := make([]int64, n), make([]*big.Float, n)
		for i := range n {
			h[i] = make([]int64, n)
			for j := range n {
				for k := range columns {
					h[i][j] += a[i][k] * a[j][k]
				}
				if i == j {
					h[i][j] += diagonal
				}
				if j <= i {
					lower[i] = append(lower[i], new(big.Float).SetPrec(prec).SetInt64(h[i][j]))
				}
				right[i] += h[i][j] * solution[j]
			}
			r[i] = new(big.Float).SetPrec(prec).SetInt64(right[i])
		}
		x := SolveSemidefinite(lower, r, prec)
		for i := range n {
			sum := big.NewRat(-right[i], 1)
			for j := range n {
				v, _ := x[j].Rat(nil)
				sum.Add(sum, v.Mul(v, big.NewRat(h[i][j], 1)))
			}
			if off, _ := sum.Float64(); off > 0x1p-150 || off < -0x1p-150 {
				t.Errorf("row %d is off by %g", i, off)
			}
			if lower[i][i].Cmp(new(big.Float).SetInt64(h[i][i])) != 0 ||
				r[i].Cmp(new(big.Float).SetInt64(right[i])) != 0 {
				t.Errorf("row %d of the system is overwritten", i)
			}
		}
	})
}

// A row of zeros leaves its unknown 0.
func TestSolveSemidefiniteOfZeros(t *testing.T) {
	zero, one := big.NewFloat(0), big.NewFloat(1)
	x := SolveSemidefinite([][]*big.Float{{big.NewFloat(4)}, {zero, zero}}, []*big.Float{one, zero}, 53)
	if v, _ := x[0].Float64(); v != 0.25 || x[1].Sign() != 0 {
		t.Errorf("x = %v", x)
	}
}
