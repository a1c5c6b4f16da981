package num

import (
	"errors"
	"math/big"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"
)

func TestPowAgainstAPD(t *testing.T) {
	againstAPD(t, func(t *rapid.T, prec uint, digits int, context *apd.Context) {
		x, y := drawFloat(t, "x", -40, 40), drawSigned(t, "y", -20, 8)
		e, err := PowInterval(x, y, prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, e, prec)
		want := new(apd.Decimal)
		// y log x is up to 10^4: as many digits more.
		if _, err := context.WithPrecision(context.Precision+10).Pow(want, toDecimal(x), toDecimal(y)); err != nil {
			t.Fatal(err)
		}
		near(t, e, want, digits)
	})
}

// For an integer n, x^n is a product of rationals; its n-th root is x.
func TestPowOfIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := rapid.UintRange(1, 400).Draw(t, "prec")
		x := drawPositive(t)
		n := rapid.Int64Range(-20, 20).Draw(t, "n")
		r, _ := x.Rat(nil)
		want := big.NewRat(1, 1)
		for range max(n, -n) {
			want.Mul(want, r)
		}
		if n < 0 {
			want.Inv(want)
		}
		e, err := PowInterval(x, new(big.Float).SetInt64(n), prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, e, prec)
		low, _ := e.Low.Rat(nil)
		high, _ := e.High.Rat(nil)
		if want.Cmp(low) < 0 || want.Cmp(high) > 0 {
			t.Fatalf("%g^%d is not in [%g, %g]", x, n, e.Low, e.High)
		}
	})
}

func TestPowLimits(t *testing.T) {
	ldexp := func(m float64, e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(m), e) }
	tiny, huge := ldexp(1, big.MinExp), ldexp(1, big.MaxExp-2)
	nearOne := new(big.Float).SetPrec(1100).Add(big.NewFloat(1), ldexp(1, -1000))
	for _, c := range []struct {
		name string
		x, y *big.Float
		want float64 // the nearest double; 0 asks for ErrRange
	}{
		{"4^(1/2)", big.NewFloat(4), big.NewFloat(0.5), 2},
		{"huge^0", huge, new(big.Float), 1},
		{"1^huge", big.NewFloat(1), huge, 1},
		{"huge^tiny", huge, tiny, 1},
		{"nearOne^tiny", nearOne, tiny, 1}, // y log x underflows
		{"(1+2^-1000)^(2^1000)", nearOne, ldexp(1, 1000), 2.718281828459045},
		{"(1+2^-1000)^-(2^1000)", nearOne, ldexp(-1, 1000), 0.36787944117144233},
		{"2^huge", big.NewFloat(2), huge, 0},
		{"2^-huge", big.NewFloat(2), new(big.Float).Neg(huge), 0},
		{"huge^2", huge, big.NewFloat(2), 0},
		{"nearOne^huge", nearOne, huge, 0},
	} {
		e, err := PowInterval(c.x, c.y, 100)
		if c.want == 0 {
			if !errors.Is(err, ErrRange) {
				t.Errorf("%s: [%g, %g], %v; want ErrRange", c.name, e.Low, e.High, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, ok := e.Float64(); !ok || got != c.want || e.RelWidth() > 0x1p-99 {
			t.Errorf("%s = %v, relative width %v; want %v", c.name, got, e.RelWidth(), c.want)
		}
	}
}
