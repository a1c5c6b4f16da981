package arithmetic_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/num"
)

// numbers returns one number in each of the arithmetics.
type numbers struct{ exact, float, interval arithmetic.Number }

func of(r *big.Rat) numbers {
	return numbers{
		arithmetic.One(num.Exact, 0).Rational(r),
		arithmetic.One(num.Float, 0).Rational(r),
		arithmetic.One(num.Enclose, 40).Rational(r),
	}
}

// For any computation, even far beyond the range of float64, the fraction lies in the interval, and
// the float64 differs from it by at most its bound.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []numbers{of(new(big.Rat)), of(big.NewRat(1, 1))}
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			pick := func(label string) numbers { return list[rapid.IntRange(0, len(list)-1).Draw(t, label)] }
			a, b := pick("a"), pick("b")
			var z numbers
			switch op := rapid.IntRange(0, 4).Draw(t, "operation"); {
			case op == 0:
				r := big.NewRat(
					rapid.Int64Range(0, 1<<40).Draw(t, "number"), rapid.Int64Range(1, 1<<40).Draw(t, "over"),
				)
				if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
					r.Mul(r, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2000)))
				}
				z = of(r)
			case op == 1:
				z = numbers{a.exact.Add(b.exact), a.float.Add(b.float), a.interval.Add(b.interval)}
			case op == 2:
				z = numbers{a.exact.Mul(b.exact), a.float.Mul(b.float), a.interval.Mul(b.interval)}
			case op == 3 && b.exact.Exact.Sign() > 0:
				z = numbers{a.exact.Quo(b.exact), a.float.Quo(b.float), a.interval.Quo(b.interval)}
			case op == 4 && a.exact.Exact.Cmp(big.NewRat(1, 1)) < 0:
				z = numbers{a.exact.OneMinus(), a.float.OneMinus(), a.interval.OneMinus()}
			default:
				continue
			}
			if z.exact.Exact.Num().BitLen() > 20000 {
				continue
			}
			check(t, z)
			if z.float.Bound < 1e-3 {
				list = append(list, z)
			}
		}
	})
}

func check(t *rapid.T, z numbers) {
	t.Helper()
	x := z.exact.Exact
	low, _ := z.interval.Interval.Low.Rat(nil)
	high, _ := z.interval.Interval.High.Rat(nil)
	if low.Cmp(x) > 0 || high.Cmp(x) < 0 {
		t.Fatalf("%v is not in [%v, %v]", x, z.interval.Interval.Low, z.interval.Interval.High)
	}
	if !(z.float.Bound < 1e-3) {
		return
	}
	f := new(big.Float).SetMantExp(big.NewFloat(z.float.F), 512*z.float.Exp)
	off, _ := f.Rat(nil)
	off.Sub(off, x).Abs(off)
	if bound := new(big.Rat).SetFloat64(z.float.Bound); off.Cmp(bound.Mul(bound, x)) > 0 {
		t.Fatalf("%v is off %v by more than %g of it", f, x, z.float.Bound)
	}
}

// A sum adds all its numbers once.
func TestSum(t *testing.T) {
	for n := 1; n < 20; n++ {
		sum, err := arithmetic.Sum(t.Context(), 3, 2+n, func(k int) arithmetic.Number {
			return arithmetic.One(num.Exact, 0).Rational(big.NewRat(int64(k), 1))
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := big.NewRat(int64(n*(n+5)), 2); sum.Exact.Cmp(want) != 0 {
			t.Errorf("3 + ... + %d = %v, want %v", 2+n, sum.Exact, want)
		}
	}
}

// Fractions and integers of any length are rounded as in math/big, and exact ones are recognized.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		integer := func(label string) *big.Int {
			v := big.NewInt(rapid.Int64Range(1, 1<<rapid.IntRange(1, 62).Draw(t, label+" bits")).Draw(t, label))
			return v.Lsh(v, uint(rapid.SampledFrom([]int{0, 0, 0, 1, 10, 70}).Draw(t, label+" shift")))
		}
		r := new(big.Rat).SetFrac(integer("numerator"), integer("denominator"))
		got := arithmetic.One(num.Float, 0).Rational(r)
		want, exact := r.Float64()
		if got.Double() != want || (got.Bound == 0) != exact {
			t.Fatalf("%v: %v within %v, want %v, exact %v", r, got.Double(), got.Bound, want, exact)
		}
		v := integer("integer")
		if got, want := arithmetic.Scaled(v, 0), 2*arithmetic.Scaled(v, 1); got != want {
			t.Fatalf("%v: %v, want %v", v, got, want)
		}
	})
}

// Around encloses a fraction by the neighbours of the nearest float64; a float64 is its own bounds.
// This also holds far below and above the range of float64.
func TestAround(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, x *big.Rat) {
		below, above := arithmetic.Around(x)
		low, high := new(big.Float).SetFloat64(below), new(big.Float).SetFloat64(above)
		wide := new(big.Float).SetPrec(1 << 13).SetRat(x) // exact for the fractions below, or much closer than float64
		if !(below >= 0) || low.Cmp(wide) > 0 || high.Cmp(wide) < 0 {
			t.Fatalf("%v is not in [%v, %v]", wide, below, above)
		}
		nearest, _ := wide.Float64()
		exact := wide.Cmp(new(big.Float).SetFloat64(nearest)) == 0
		if exact && (below != nearest || above != nearest) {
			t.Fatalf("%v has bounds %v and %v", wide, below, above)
		}
		if math.Nextafter(below, math.Inf(1)) < nearest || math.Nextafter(above, 0) > nearest {
			t.Fatalf("%v and %v are not next to %v", below, above, nearest)
		}
	}
	power := func(k int) *big.Rat {
		r := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k))))
		if k < 0 {
			r.Inv(r)
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		odd := big.NewRat(rapid.Int64Range(0, 1<<62).Draw(t, "numerator")>>rapid.IntRange(0, 62).Draw(t, "less"), 1)
		check(t, odd.Mul(
			odd, power(rapid.OneOf(rapid.IntRange(-1200, -1000), rapid.IntRange(-3000, 1100)).Draw(t, "exponent")),
		))
	})
	for _, k := range []int{-5000, -2000, -1076, -1075, -1074, -1022, -1, 0, 1023, 1024, 2000} {
		check(t, power(k))
		check(t, new(big.Rat).Mul(power(k), big.NewRat(1025, 1024)))
	}
	if below, above := arithmetic.Around(big.NewRat(1, 3)); !(below < above) {
		t.Errorf("1/3 is a double: %v, %v", below, above)
	}
}

func TestIntegers(t *testing.T) {
	for _, n := range []int{0, 1, 3, min(1<<53+1, math.MaxInt)} {
		for _, one := range []arithmetic.Number{
			arithmetic.One(num.Float, 0), arithmetic.One(num.Enclose, 64), arithmetic.One(num.Exact, 0),
		} {
			x := one.Integer(n)
			v, ok := x.Value()
			if !ok || v.Float != float64(n) || x.IsZero() != (n == 0) {
				t.Errorf("%d is %v", n, v)
			}
		}
	}
}
