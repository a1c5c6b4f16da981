package num

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawInterval(t *rapid.T, minExp, maxExp int) Interval {
	a := drawSigned(t, "a", minExp, maxExp)
	var b *big.Float
	if rapid.Bool().Draw(t, "narrow") {
		b = new(big.Float).SetPrec(500).Mul(a, drawNearOne(t))
	} else {
		b = drawSigned(t, "b", minExp, maxExp)
	}
	if a.Cmp(b) > 0 {
		a, b = b, a
	}
	return Interval{a, b}
}

// The decimals lie outside, have the requested length, and no decimal of that length lies between
// them and the ends. All of this is checked in rationals.
func TestTextRoundsOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawInterval(t, -500, 500)
		digits := rapid.IntRange(1, 60).Draw(t, "digits")
		lowText, highText := e.Text(digits)
		check := func(text string, x *big.Float, direction int) {
			exact, _ := x.Rat(nil)
			got := Rat(text)
			if d := got.Cmp(exact); d != 0 && d != direction {
				t.Fatalf("%s is on the wrong side of %g", text, x)
			}
			mantissa, _, _ := strings.Cut(
				strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(text, "-"), ".", ""), "0"), "e",
			)
			if len(mantissa) != digits && !(len(mantissa) > digits && strings.Trim(mantissa[digits:], "0") == "") {
				t.Fatalf("%s has %d digits, not %d", text, len(mantissa), digits)
			}
			// The distance is less than one unit of the last digit: |text| / mantissa as an
			// integer.
			n, _ := new(big.Int).SetString(mantissa[:digits], 10)
			unit := new(big.Rat).Quo(got, new(big.Rat).SetInt(n))
			if d := got.Sub(got, exact); d.Abs(d).Cmp(unit.Abs(unit)) >= 0 {
				t.Fatalf("%s is a unit or more from %g", text, x)
			}
		}
		check(lowText, e.Low, -1)
		check(highText, e.High, 1)
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		value     string
		digits    int
		low, high string
	}{
		{"0", 3, "0", "0"},
		{"1", 1, "1", "1"},
		{"0.5", 3, "0.500", "0.500"},
		{"9.999", 2, "9.9", "10"},
		{"-9.999", 2, "-10", "-9.9"},
		{"999.9", 3, "999", "1000"},
		{"1/3", 5, "0.33333", "0.33334"},
		{"-1/3", 5, "-0.33334", "-0.33333"},
		{"123456", 3, "123000", "124000"},
		{"2/3", 0, "0.66666666666666666", "0.66666666666666667"},
		{"1/300000", 2, "3.3e-06", "3.4e-06"},
		{"1/30000", 2, "0.000033", "0.000034"},
		{"1e25", 4, "1.000e+25", "1.000e+25"},
		{"1/7e40", 1, "1e-41", "2e-41"},
	} {
		e := FromRat(Rat(c.value), 200)
		if low, high := e.Text(c.digits); low != c.low || high != c.high {
			t.Errorf("%s to %d digits: %s, %s; want %s, %s", c.value, c.digits, low, high, c.low, c.high)
		}
	}
}

// At the ends of the exponent range, the test uses 2^n = 10^(n log10 2), with the logarithm from
// [LogInterval].
func TestTextOfExtremes(t *testing.T) {
	ln := func(x *big.Float) *big.Float {
		e, err := LogInterval(x, 200)
		if err != nil {
			t.Fatal(err)
		}
		return e.Low
	}
	for _, n := range []int{big.MinExp + 1, -100_000_000, -30_000, 30_000, 100_000_000, big.MaxExp - 1} {
		x := new(big.Float).SetMantExp(big.NewFloat(1), n)
		low, high := Interval{x, x}.Text(9)
		log10 := new(big.Float).Quo(ln(big.NewFloat(2)), ln(big.NewFloat(10)))
		log10.Mul(log10, new(big.Float).SetInt64(int64(n)))
		for text, up := range map[string]bool{low: false, high: true} {
			mantissa, exponentText, _ := strings.Cut(text, "e")
			exponent, _, err := big.ParseFloat(exponentText, 10, 200, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := big.ParseFloat(mantissa, 10, 200, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			logM := new(big.Float).Quo(ln(m), ln(big.NewFloat(10)))
			d, _ := logM.Add(logM, exponent).Sub(logM, log10).Float64()
			if !up {
				d = -d
			}
			if d < 0 || d > 1e-8 { // one unit of nine digits, in log10, is at most 0.44e-8
				t.Errorf("2^%d = %s (up: %v): log10 is off by %v", n, text, up, d)
			}
		}
	}
}

func TestRelWidthBoundsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawInterval(t, -600, 600)
		got := e.RelWidth()
		low, _ := e.Low.Rat(nil)
		high, _ := e.High.Rat(nil)
		if low.Cmp(high) == 0 {
			if got != 0 {
				t.Fatalf("a point has relative width %v", got)
			}
			return
		}
		if low.Sign() != high.Sign() {
			if got != math.MaxFloat64 {
				t.Fatalf("[%g, %g] has relative width %v", e.Low, e.High, got)
			}
			return
		}
		exact := new(big.Rat).Sub(high, low)
		exact.Quo(exact, minRat(low.Abs(low), high.Abs(high)))
		bound := new(big.Rat).SetFloat64(got)
		if got == math.MaxFloat64 {
			if exact.Cmp(bound) < 0 {
				t.Fatalf("[%g, %g] is not that wide", e.Low, e.High)
			}
			return
		}
		if bound.Cmp(exact) < 0 {
			t.Fatalf("%v is below the relative width of [%g, %g]", got, e.Low, e.High)
		}
		// one rounding up, and the roundings to 64 bits
		if got > 0x1p-1000 && bound.Cmp(exact.Mul(exact, big.NewRat(1<<52+3, 1<<52))) > 0 {
			t.Fatalf("%v is far above the relative width of [%g, %g]", got, e.Low, e.High)
		}
	})
}

func minRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func TestRelWidthOfZero(t *testing.T) {
	zero, one := new(big.Float), big.NewFloat(1)
	tiny := new(big.Float).SetMantExp(one, big.MinExp)
	for _, c := range []struct {
		e    Interval
		want float64
	}{
		{Interval{zero, zero}, 0},
		{Interval{zero, tiny}, math.MaxFloat64},
		{Interval{tiny, one}, math.MaxFloat64},
		{Interval{one, big.NewFloat(1.5)}, 0.5},
		{Interval{big.NewFloat(-1.5), big.NewFloat(-1)}, 0.5},
	} {
		if got := c.e.RelWidth(); got != c.want {
			t.Errorf("[%g, %g].RelWidth() = %v, want %v", c.e.Low, c.e.High, got, c.want)
		}
	}
}

// The interval of FromRat contains the number, has no double between its ends, and its midpoint
// rounds like the number.
func TestFromRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := drawPrec(t)
		x := big.NewRat(rapid.Int64().Draw(t, "numerator"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "denominator"))
		e := FromRat(x, prec)
		low, _ := e.Low.Rat(nil)
		high, _ := e.High.Rat(nil)
		if low.Cmp(x) > 0 || high.Cmp(x) < 0 {
			t.Fatalf("%v is not in [%g, %g]", x, e.Low, e.High)
		}
		tight(t, e, prec)
		if prec >= 200 { // a quotient of 63-bit integers is at least 2^-128 from any point where rounding changes
			want, _ := x.Float64()
			if got, ok := e.Float64(); got != want || !ok {
				t.Fatalf("%v: midpoint is %v, want %v", x, got, want)
			}
		}
	})
}

func TestIntervalFloat64Limits(t *testing.T) {
	one := big.NewFloat(1)
	at := func(n int) *big.Float { return new(big.Float).SetMantExp(one, n) }
	for _, c := range []struct {
		e    Interval
		want float64
		ok   bool
	}{
		{Interval{one, big.NewFloat(3)}, 2, true},
		{Interval{big.NewFloat(-1), one}, 0, true},
		{Interval{at(2000), at(2000)}, 0, false},
		{Interval{at(big.MaxExp - 1), at(big.MaxExp - 1)}, 0, false},
		{Interval{at(big.MinExp), big.NewFloat(3)}, 1.5, true},
		{Interval{big.NewFloat(-3), at(big.MinExp)}, -1.5, true},
		{Interval{at(-1074), at(-1074)}, 0x1p-1074, true},
		{Interval{at(-2000), at(-2000)}, 0, false},
	} {
		if got, ok := c.e.Float64(); got != c.want || ok != c.ok {
			t.Errorf("[%g, %g].Float64() = %v, %v", c.e.Low, c.e.High, got, ok)
		}
	}
}
