package num

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"
)

// drawPositive draws numbers of all sizes, half of them near 1.
func drawPositive(t *rapid.T) *big.Float {
	if rapid.Bool().Draw(t, "near one") {
		return drawNearOne(t)
	}
	return drawFloat(t, "x", -400, 400)
}

func TestLogAgainstAPD(t *testing.T) {
	againstAPD(t, func(t *rapid.T, prec uint, digits int, context *apd.Context) {
		x := drawPositive(t)
		e, err := LogInterval(x, prec)
		if err != nil {
			t.Fatal(err)
		}
		if x.Cmp(big.NewFloat(1)) == 0 {
			return // TestLogSeams
		}
		tight(t, e, prec)
		want := new(apd.Decimal)
		// apd loses digits to cancellation near 1
		z := new(big.Float).SetPrec(1000).Sub(x, big.NewFloat(1))
		context.Precision += uint32(max(0, -z.MantExp(nil)) / 3)
		if _, err := context.Ln(want, toDecimal(x)); err != nil {
			t.Fatal(err)
		}
		checkAgainst(t, e, want, digits)
	})
}

// log(1+z) lies between partial sums of its alternating series in rationals, for 0 < z < 1.
func TestLogNearOneSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := rapid.UintRange(1, 200).Draw(t, "prec")
		z := drawFloat(t, "z", -2000, -16)
		x := new(big.Float).SetPrec(3000).Add(big.NewFloat(1), z)
		e, err := LogInterval(x, prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, e, prec)
		r, _ := z.Rat(nil)
		// The series alternates: an even number of terms gives a lower bound, an odd one an upper
		// bound.
		low, high, power := new(big.Rat), new(big.Rat), big.NewRat(1, 1)
		for n := int64(1); n <= 14; n++ { // z^14 < 2^-208 z
			power.Mul(power, r)
			term := new(big.Rat).Quo(power, big.NewRat(n, 1))
			if n%2 == 1 {
				high.Add(low, term)
			} else {
				low.Sub(high, term)
			}
		}
		if a, _ := e.Low.Rat(nil); a.Cmp(high) > 0 {
			t.Fatalf("Low = %g is above log(1 + %g)", e.Low, z)
		}
		if b, _ := e.High.Rat(nil); b.Cmp(low) < 0 {
			t.Fatalf("High = %g is below log(1 + %g)", e.High, z)
		}
	})
}

// The interval exp(log x) contains x, even for x near the limits of big.Float.
func TestExpOfLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := drawPrec(t)
		x := drawPositive(t)
		if rapid.Bool().Draw(t, "extreme") {
			x = drawFloat(t, "x", big.MinExp+2, big.MaxExp-2)
		}
		l, err := LogInterval(x, prec+40)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, l, prec+40)
		low, err := ExpInterval(l.Low, prec)
		if err != nil {
			t.Fatal(err)
		}
		high, err := ExpInterval(l.High, prec)
		if err != nil {
			t.Fatal(err)
		}
		if e := (Interval{low.Low, high.High}); !e.Contains(x) {
			t.Fatalf("exp(log %g) = [%g, %g] at %d bits", x, e.Low, e.High, prec)
		}
	})
}

// log(ab) overlaps log a + log b, with a and b chosen such that the product may be near 1.
func TestLogProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := drawPrec(t)
		a := drawFloat(t, "a", -50, 50)
		b := new(big.Float).SetPrec(100).Quo(big.NewFloat(1), a)
		b.Mul(b, drawNearOne(t))
		product := new(big.Float).SetPrec(400).Mul(a, b) // exact: the factors have 200 and 100 bits
		if product.Cmp(big.NewFloat(1)) == 0 {
			return
		}
		var e [3]Interval
		for i, x := range []*big.Float{a, b, product} {
			var err error
			if e[i], err = LogInterval(x, prec); err != nil {
				t.Fatal(err)
			}
		}
		low := new(big.Float).SetPrec(2*prec).SetMode(big.ToNegativeInf).Add(e[0].Low, e[1].Low)
		high := new(big.Float).SetPrec(2*prec).SetMode(big.ToPositiveInf).Add(e[0].High, e[1].High)
		if e[2].High.Cmp(low) < 0 || e[2].Low.Cmp(high) > 0 {
			t.Fatalf("log %g + log %g does not meet log %g", a, b, product)
		}
	})
}

// Around the boundaries of the reduction (0.7, 1.4, 1 ± 2^-16), both sides agree with exp.
func TestLogSeams(t *testing.T) {
	for _, centre := range []float64{0.7, 1.4, 0.5, 2, 1 - 0x1p-16, 1 + 0x1p-16, 1 - 0x1p-17, 1 + 0x1p-15} {
		for _, step := range []float64{-0x1p-53, 0, 0x1p-52} {
			x := big.NewFloat(centre + step)
			for _, prec := range []uint{1, 10, 53, 200, 1000} {
				l, err := LogInterval(x, prec)
				if err != nil {
					t.Fatal(err)
				}
				if w := l.RelWidth(); w > math.Ldexp(1, 1-int(prec)) {
					t.Errorf("log(%g) at %d bits: relative width %v", x, prec, w)
				}
				low, err := ExpInterval(l.Low, prec+30)
				if err != nil {
					t.Fatal(err)
				}
				high, err := ExpInterval(l.High, prec+30)
				if err != nil {
					t.Fatal(err)
				}
				if e := (Interval{low.Low, high.High}); !e.Contains(x) {
					t.Errorf("exp(log %g) = [%g, %g] at %d bits", x, e.Low, e.High, prec)
				}
			}
		}
	}
	if e, err := LogInterval(big.NewFloat(1), 100); err != nil || e.Low.Sign() != 0 || e.High.Sign() != 0 {
		t.Errorf("log(1) = %v, %v", e, err)
	}
}

func BenchmarkLog(b *testing.B) {
	for _, s := range []string{"17.3", "1.0000001"} {
		x, _, _ := big.ParseFloat(s, 10, 256, big.ToNearestEven)
		for _, prec := range []uint{64, 256, 1024, 4096} {
			b.Run(fmt.Sprintf("bits=%d/x=%s", prec, s), func(b *testing.B) {
				for b.Loop() {
					if _, err := LogInterval(x, prec); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
