package num

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The unit makes all numbers integers, and no proper divisor of it does: the integers have no
// common divisor with it.
func TestJoinDenominator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := big.NewInt(1)
		var list []*big.Rat
		for range rapid.IntRange(0, 12).Draw(t, "numbers") {
			x := big.NewRat(
				rapid.Int64Range(-100, 100).Draw(t, "numerator"), rapid.Int64Range(1, 1<<40).Draw(t, "denominator"),
			)
			if rapid.Bool().Draw(t, "small") {
				x.SetFrac64(x.Num().Int64(), rapid.Int64Range(1, 12).Draw(t, "denominator"))
			}
			list = append(list, x)
			JoinDenominator(unit, x)
		}
		common := new(big.Int).Set(unit)
		for _, x := range list {
			whole := new(big.Rat).Mul(x, new(big.Rat).SetInt(unit))
			if !whole.IsInt() {
				t.Fatalf("%v times %v is not an integer", x, unit)
			}
			common.GCD(nil, nil, common, new(big.Int).Abs(whole.Num()))
		}
		if common.Cmp(big.NewInt(1)) != 0 {
			t.Fatalf("%v is %v times too large for %v", unit, common, list)
		}
	})
}

// Sums and integers over a common denominator match those of plain fractions.
func TestSumRatsOverCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *big.Rat {
			return big.NewRat(
				rapid.Int64Range(-99, 99).Draw(t, "numerator"), rapid.Int64Range(1, 60).Draw(t, "denominator"),
			)
		}), 1, 9).Draw(t, "x")
		want, common := new(big.Rat), big.NewInt(1)
		for _, v := range x {
			want.Add(want, v)
			JoinDenominator(common, v)
		}
		if got := SumRats(x); got.Cmp(want) != 0 {
			t.Fatalf("sum %v, want %v", got, want)
		}
		number, unit := OverCommon(x)
		for i, n := range number {
			if !n.IsInt() || new(big.Rat).Mul(n, unit).Cmp(x[i]) != 0 {
				t.Fatalf("%v times %v is not %v", n, unit, x[i])
			}
		}
		if unit.Num().Cmp(big.NewInt(1)) != 0 || unit.Denom().Cmp(common) != 0 {
			t.Fatalf("unit %v, common denominator %v", unit, common)
		}
		if bits := CommonBits(len(x), func(i int) *big.Rat { return x[i] }); bits != float64(common.BitLen()) {
			t.Fatalf("%v bits, want %d", bits, common.BitLen())
		}
	})
}
