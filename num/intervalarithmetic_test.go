package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The operations enclose the exact results for any rationals inside the intervals.
func TestArithmeticEncloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (Interval, *big.Rat) {
			a := rapid.Float64Range(-4, 4).Draw(t, name)
			b := a + rapid.SampledFrom([]float64{0, 1e-9, 1, 5}).Draw(t, name+" width")
			x := min(b, a+(b-a)*rapid.Float64Range(0, 1).Draw(t, name+" place"))
			bits := func(end string) uint {
				return rapid.SampledFrom([]uint{1, 7, 20, 53, 80}).Draw(t, name+" bits "+end)
			}
			return Interval{Down(bits("low")).SetFloat64(a), Up(bits("high")).SetFloat64(b)}, new(big.Rat).SetFloat64(x)
		}
		a, x := draw("a")
		b, y := draw("b")
		check := func(name string, e Interval, want *big.Rat) {
			t.Helper()
			low, _ := e.Low.Rat(nil)
			high, _ := e.High.Rat(nil)
			if low.Cmp(want) > 0 || want.Cmp(high) > 0 {
				t.Errorf("%s: %g to %g without %v", name, e.Low, e.High, want)
			}
		}
		z := func() *big.Rat { return new(big.Rat) }
		check("add", a.Add(b), z().Add(x, y))
		check("sub", a.Sub(b), z().Sub(x, y))
		check("mul", a.Mul(b), z().Mul(x, y))
		check("neg", a.Neg(), z().Neg(x))
		check("square", a.Square(), z().Mul(x, x))
		check("root of a square", a.Square().Sqrt(), z().Abs(x))
		check("scale by a power of 2", a.Scale2(-3), z().Mul(x, big.NewRat(1, 8)))
		if x.Cmp(y) >= 0 {
			check("max", a.Max(b), x)
		} else {
			check("max", a.Max(b), y)
		}
		if x.Cmp(y) == 0 {
			check("both", a.Both(b), x)
		}
		check("both", a.Both(a.Add(Interval{Down(20).SetFloat64(-1), Up(20).SetFloat64(1)})), x)
		if b.Sign() != 0 {
			check("quo", a.Quo(b), z().Quo(x, y))
		}
		overlaps := func(name string, e Interval, err error, f float64) {
			low, _ := e.Low.Float64()
			high, _ := e.High.Float64()
			if err != nil || low > f+1e-12*math.Abs(f) || high < f-1e-12*math.Abs(f) {
				t.Errorf("%s: %v to %v without %v, %v", name, low, high, f, err)
			}
		}
		f, _ := x.Float64()
		if a.Sign() > 0 {
			e, err := a.Log()
			log := math.Log(f)
			if f < 0x1p-1022 { // on amd64 math.Log is wrong there
				log = math.Log(f*0x1p100) - 100*math.Ln2
			}
			overlaps("log", e, err, log)
		}
		e, err := a.Exp()
		overlaps("exp", e, err, math.Exp(f))
		if a.Prec() < 53 || a.High.Prec() < 53 {
			return
		}
		if want, _ := a.Middle().Float64(); a.Point().Low.Cmp(a.Point().High) != 0 || want != a.Approx() {
			t.Errorf("middle %v, point %v, double %v", want, a.Point(), a.Approx())
		}
	})
}

// Intervals of one number remain points: roots of squares are as narrow as the bits allow.
func TestSqrtIsNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := uint(rapid.IntRange(20, 200).Draw(t, "bits"))
		x := FromFloat64(rapid.Float64Range(1e-300, 1e300).Draw(t, "x"), prec)
		if w := x.Sqrt().RelWidth(); !(w <= math.Ldexp(1, 5-int(prec))) {
			t.Errorf("root of %g is %g wide", x.Low, w)
		}
	})
	if zero := FromInt(0, 64).Sqrt(); zero.Low.Sign() != 0 || zero.High.Sign() != 0 {
		t.Errorf("root of 0: %v", zero)
	}
}

// Sums of numbers match those of big.Float, however far apart the numbers are.
func TestAddFarApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *big.Float {
			x := new(big.Float).SetPrec(rapid.SampledFrom([]uint{1, 10, 53, 64, 200}).Draw(t, name+" precision"))
			x.SetMode(big.ToZero).SetInt64(rapid.Int64().Draw(t, name))
			return x.SetMantExp(
				x, rapid.OneOf(rapid.IntRange(-80, 80), rapid.IntRange(-3000, 3000)).Draw(t, name+" exponent"),
			)
		}
		x, y, prec := draw("x"), draw("y"), rapid.SampledFrom([]uint{2, 53, 64, 128}).Draw(t, "precision")
		for _, mode := range []big.RoundingMode{big.ToNegativeInf, big.ToPositiveInf} {
			z := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
			if got, want := add(z(), x, y), z().Add(x, y); got.Cmp(want) != 0 {
				t.Errorf("%v + %v is %v, want %v", x, y, got, want)
			}
		}
	})
	tiny := new(big.Float).SetMantExp(big.NewFloat(1), -1<<30)
	if n := testing.AllocsPerRun(10, func() { add(Up(64), big.NewFloat(1), tiny) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
