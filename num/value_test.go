package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Products and quotients of values keep the information of their operands: bounds contain the
// results for all numbers between them, fractions are exact, and plain doubles remain doubles.
func TestValueArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *big.Rat {
			return big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, name), rapid.Int64Range(1, 1e6).Draw(t, "over"))
		}
		x, y, m := draw("x"), draw("y"), draw("m")
		value := func(x *big.Rat, kind int) Value {
			f, _ := x.Float64()
			switch kind {
			case 0:
				return Value{Float: f, Exact: x}
			case 1:
				e := FromRat(x, 30)
				return Value{Float: f, Low: e.Low, High: e.High}
			}
			return Value{Float: f}
		}
		check := func(got Value, want *big.Rat, kind int) {
			t.Helper()
			f, _ := want.Float64()
			if !(got.Float > f*(1-1e-8) && got.Float < f*(1+1e-8)) || (got.Exact != nil) != (kind == 0) ||
				(got.Low != nil) != (kind == 1) {
				t.Fatalf("%+v, want %v", got, f)
			}
			if kind == 0 && got.Exact.Cmp(want) != 0 {
				t.Fatalf("%v, want %v", got.Exact, want)
			}
			if kind == 1 {
				low, _ := got.Low.Rat(nil)
				high, _ := got.High.Rat(nil)
				if low.Cmp(want) > 0 || high.Cmp(want) < 0 {
					t.Fatalf("%v to %v without %v", low, high, want)
				}
			}
		}
		for kind := range 3 {
			check(value(x, kind).Times(m), new(big.Rat).Mul(x, m), kind)
			check(value(x, kind).Quo(value(y, kind)), new(big.Rat).Quo(x, y), kind)
		}
		check(value(x, 0).Quo(value(y, 1)), new(big.Rat).Quo(x, y), 1)
		check(value(x, 0).Quo(value(y, 2)), new(big.Rat).Quo(x, y), 2)
	})
}

// A value between two fractions has bounds that contain both, nearly as close as these, and the
// double nearest to their middle; if they are equal, it is the fraction.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *big.Rat {
			x := big.NewRat(rapid.Int64Range(-9, 1e6).Draw(t, name), rapid.Int64Range(1, 1e6).Draw(t, "over"))
			return x.Mul(x, new(big.Rat).SetFloat64(math.Ldexp(1, rapid.IntRange(-900, 900).Draw(t, "exponent"))))
		}
		low := draw("low")
		high := new(big.Rat).Add(low, draw("width"))
		if low.Cmp(high) > 0 {
			low, high = high, low
		}
		v := Between(low, high)
		if low.Cmp(high) == 0 {
			if want, _ := low.Float64(); v.Exact.Cmp(low) != 0 || v.Low != nil || v.Float != want {
				t.Fatalf("%+v, want %v", v, low)
			}
			return
		}
		half := new(big.Rat).Add(low, high)
		want, _ := half.Mul(half, big.NewRat(1, 2)).Float64()
		if a, b := FromRat(low, 256), FromRat(high, 256); v.Exact != nil || v.Low.Cmp(a.Low) != 0 ||
			v.High.Cmp(b.High) != 0 || v.Float != want {
			t.Fatalf("%+v, want %v to %v around %v", v, a.Low, b.High, want)
		}
	})
}

// Fractions beyond the range of float64 have the largest double.
func TestValuesAreFinite(t *testing.T) {
	huge, one := Rat("1e400"), big.NewRat(1, 1)
	for _, v := range []Value{ExactValue(huge), Between(one, huge), Between(huge, new(big.Rat).Add(huge, one))} {
		if v.Float != math.MaxFloat64 {
			t.Errorf("%v", v.Float)
		}
	}
	if v := ExactValue(new(big.Rat).Neg(huge)); v.Float != -math.MaxFloat64 {
		t.Errorf("%v", v.Float)
	}
}

// A number between two doubles, or in an interval, has its ends as bounds and its middle as double.
func TestValuesOfIntervals(t *testing.T) {
	for _, v := range []Value{BetweenFloats(1, 2), Interval{big.NewFloat(1), big.NewFloat(2)}.Value()} {
		if low, high := v.Bounds(); low != 1 || high != 2 || v.Float != 1.5 || v.Exact != nil {
			t.Errorf("%+v, want 1.5 in [1, 2]", v)
		}
	}
}
