package arithmetic

import (
	"context"
	"math"
	"math/big"

	"productform/num"
)

// A Number is a number >= 0 as represented by one of the engines: x with f 2^(512 exp) = x(1+ε),
// |ε| <= e, or in an interval, or x exactly. The operations below propagate the bound.
type Number struct {
	Wide
	Bound    float64
	Interval num.Interval // Low is nil unless it is set
	Exact    *big.Rat
}

const Roundoff = 0x1p-53 // u: relative error of one float64 operation

// Least is the smallest result of a sweep that is trusted to full precision. Smaller results, and
// those that are not finite, lose their bounds.
const Least = 0x1p-1000

// FromFloat returns a number computed in float64.
func FromFloat(f, e float64) Number {
	if !(f >= Least || f == 0) || f > math.MaxFloat64 {
		e = math.Inf(1)
	}
	return FromWide(NewWide(f, 0), e)
}

// FromWide returns w as a number with error bound e, or without a bound unless 0 <= e < 1e-3.
func FromWide(w Wide, e float64) Number {
	if !(e >= 0 && e < 1e-3) || !(w.F <= math.MaxFloat64) {
		e = math.Inf(1)
	}
	return Number{Wide: w, Bound: e}
}

// Roundings returns (1+u)^n - 1, rounded up: the relative error of n operations.
func Roundings(n float64) float64 { return n * Roundoff * (1 + 2*n*Roundoff) }

// Rational returns r >= 0 in the arithmetic of a.
func (a Number) Rational(r *big.Rat) Number {
	switch {
	case a.Exact != nil:
		return Number{Exact: r}
	case a.Interval.Low != nil:
		return Number{Interval: num.FromRat(r, a.Interval.Prec())}
	}
	f, exact := nearest(r)
	switch {
	case exact && (f != 0 || r.Sign() == 0): // Rat.Float64 takes 0 for an exact 2^-2000
		return FromFloat(f, 0)
	case !(f >= Least && f <= math.MaxFloat64): // two roundings
		return FromWide(WideOf(new(big.Float).SetPrec(64).SetRat(r)), 2*Roundoff)
	}
	return FromFloat(f, Roundoff)
}

// nearest returns r.Float64(), in words where numerator and denominator fit into 53 bits: then the
// quotient is rounded once, and exact if the denominator is a power of two.
func nearest(r *big.Rat) (f float64, exact bool) {
	const most = 1 << 53
	if r.IsInt() {
		if r.Num().IsInt64() && r.Num().Int64() < most {
			return float64(r.Num().Int64()), true
		}
		return r.Float64()
	}
	if n, d := r.Num(), r.Denom(); n.IsUint64() && d.IsUint64() && n.Uint64() < most && d.Uint64() < most {
		return float64(n.Uint64()) / float64(d.Uint64()), d.Uint64()&(d.Uint64()-1) == 0
	}
	return r.Float64()
}

// Around returns float64s with below <= x <= above for x >= 0: x twice if it is a float64,
// otherwise the neighbours of the nearest; above is +Inf beyond the largest.
func Around(x *big.Rat) (below, above float64) {
	f, exact := x.Float64()
	if exact && f < 0x1p-1022 { // Rat.Float64 takes 0 for an exact 2^-2000
		exact = new(big.Rat).SetFloat64(f).Cmp(x) == 0
	}
	if exact {
		return f, f
	}
	return max(0, math.Nextafter(f, math.Inf(-1))), math.Nextafter(f, math.Inf(1))
}

// Zero returns 0 in the arithmetic of a.
func (a Number) Zero() Number { return a.Rational(new(big.Rat)) }

// One returns 1 in the arithmetic of a.
func (a Number) One() Number { return a.Rational(big.NewRat(1, 1)) }

// Integer returns n >= 0 in the arithmetic of a.
func (a Number) Integer(n int) Number {
	switch {
	case a.Interval.Low != nil:
		return Number{Interval: num.FromInt(int64(n), a.Interval.Prec())}
	case a.Exact == nil && int64(n) < 1<<53:
		return FromFloat(float64(n), 0)
	}
	return a.Rational(new(big.Rat).SetInt64(int64(n)))
}

// IsZero reports whether a is certainly 0.
func (a Number) IsZero() bool {
	switch {
	case a.Exact != nil:
		return a.Exact.Sign() == 0
	case a.Interval.Low != nil:
		return a.Interval.High.Sign() == 0
	}
	return a.F == 0
}

// Bytes estimates the memory of a number in the arithmetic of a. Those of fractions vary.
func (a Number) Bytes() float64 {
	const number, header = 56, 40
	switch {
	case a.Exact != nil:
		return number + 1000
	case a.Interval.Low != nil:
		return number + 2*(header+float64(a.Interval.Prec())/8+16)
	}
	return number
}

// Sum adds the numbers first..last, at least one, by halves, so each takes part in as few additions
// as possible. If ctx is cancelled, Sum returns ctx.Err() promptly.
func Sum(ctx context.Context, first, last int, number func(k int) Number) (Number, error) {
	if err := ctx.Err(); err != nil {
		return Number{}, err
	}
	if first == last {
		return number(first), nil
	}
	middle := (first + last) / 2
	a, err := Sum(ctx, first, middle, number)
	if err != nil {
		return Number{}, err
	}
	b, err := Sum(ctx, middle+1, last, number)
	if err != nil {
		return Number{}, err
	}
	return a.Add(b), nil
}

func (a Number) Mul(b Number) Number {
	switch {
	case a.Exact != nil:
		return Number{Exact: new(big.Rat).Mul(a.Exact, b.Exact)}
	case a.Interval.Low != nil:
		return Number{Interval: a.Interval.Mul(b.Interval)}
	}
	return a.timesFloat(&b)
}

// timesFloat is Mul in float64.
func (a *Number) timesFloat(b *Number) Number {
	return FromWide(a.Times(b.Wide), Compound(a.Bound, b.Bound, Roundoff))
}

// plusFloat is Add in float64.
func (a *Number) plusFloat(b *Number) Number {
	if a.F == 0 || b.F == 0 {
		return FromWide(a.Plus(b.Wide), max(a.Bound, b.Bound))
	}
	return FromWide(a.Plus(b.Wide), Compound(max(a.Bound, b.Bound), 0x1p-100, Roundoff))
}

func (a *Number) isFloat() bool { return a.Exact == nil && a.Interval.Low == nil }

// SetProduct sets z, which is Number{} or in the arithmetic of a, to a b. It is faster in float64
// than an assignment of the product, which also copies the fields of the other engines.
func (z *Number) SetProduct(a, b *Number) {
	if a.isFloat() {
		x := a.timesFloat(b)
		z.Wide, z.Bound = x.Wide, x.Bound
	} else {
		*z = a.Mul(*b)
	}
}

// SetSum sets z to a + b, as SetProduct does.
func (z *Number) SetSum(a, b *Number) {
	if a.isFloat() {
		x := a.plusFloat(b)
		z.Wide, z.Bound = x.Wide, x.Bound
	} else {
		*z = a.Add(*b)
	}
}

func (a Number) Quo(b Number) Number {
	switch {
	case a.Exact != nil:
		return Number{Exact: new(big.Rat).Quo(a.Exact, b.Exact)}
	case a.Interval.Low != nil:
		return Number{Interval: a.Interval.Quo(b.Interval)}
	}
	return FromWide(a.Over(b.Wide), Compound(a.Bound, b.Bound/(1-b.Bound), Roundoff))
}

func (a Number) Add(b Number) Number {
	switch {
	case a.Exact != nil:
		return Number{Exact: new(big.Rat).Add(a.Exact, b.Exact)}
	case a.Interval.Low != nil:
		return Number{Interval: a.Interval.Add(b.Interval)}
	}
	return a.plusFloat(&b)
}

// OneMinus returns 1 - a for a < 1: the one place where digits can be lost.
func (a Number) OneMinus() Number {
	switch {
	case a.Exact != nil:
		return Number{Exact: new(big.Rat).Sub(big.NewRat(1, 1), a.Exact)}
	case a.Interval.Low != nil:
		return Number{Interval: num.FromInt(1, a.Interval.Prec()).Sub(a.Interval)}
	}
	x := a.Double()
	f := 1 - x
	r := a.Bound / (1 - a.Bound) * x / f * (1 + 8*Roundoff) // |(1 - a) - f| <= r f
	if !(r < 1e-3) {
		return FromFloat(f, math.Inf(1))
	}
	return FromFloat(f, Compound(r/(1-r), 0, Roundoff))
}

// Compound returns (1+a)(1+b)(1+c) - 1, rounded up.
func Compound(a, b, c float64) float64 {
	s := a + b + c
	if s == 0 {
		return 0
	}
	const underflow = 8 * math.SmallestNonzeroFloat64 // products of subnormal numbers round by at most this
	return (s+(a*b+a*c+b*c)+a*b*c)*(1+8*Roundoff) + underflow
}

// Width returns an upper bound on the relative distance between the value and its best
// approximation in the engine's own arithmetic.
func (a Number) Width() float64 {
	switch {
	case a.Exact != nil:
		return 0
	case a.Interval.Low == nil:
		return a.Bound
	case a.Interval.Low.Sign() <= 0:
		if a.Interval.High.Sign() == 0 {
			return 0
		}
		return math.Inf(1)
	}
	width := num.Up(64).Sub(a.Interval.High, a.Interval.Low)
	width.Quo(width, num.Down(64).Set(a.Interval.Low))
	w, _ := width.Float64()
	return math.Nextafter(w, 1)
}

// RelativeError bounds the relative error of the float64 that export gives: for enclosures that of
// the midpoint, rounded; it is 0 for an exact value.
func (a Number) RelativeError() float64 {
	if a.Interval.Low != nil && a.Interval.High.Sign() > 0 {
		return a.Width() + Roundoff
	}
	return a.Width()
}

// Value returns the number as a value of a result. ok is false if float64 cannot represent it to
// full precision; it is then still the nearest double, if a finite one exists.
func (a Number) Value() (v num.Value, ok bool) {
	switch {
	case a.Exact != nil:
		v.Exact = a.Exact
		v.Float, _ = a.Exact.Float64()
	case a.Interval.Low != nil:
		v.Low, v.High = a.Interval.Low, a.Interval.High
		mid := new(big.Float).SetPrec(a.Interval.Prec()+1).Add(a.Interval.Low, a.Interval.High)
		v.Float, _ = mid.Quo(mid, big.NewFloat(2)).Float64()
	default:
		v.Float = a.Double()
	}
	zero := a.Exact != nil && a.Exact.Sign() == 0 || a.Interval.High != nil && a.Interval.High.Sign() == 0 ||
		a.Exact == nil && a.Interval.High == nil && a.F == 0
	return v, v.Float <= math.MaxFloat64 && (v.Float >= 0x1p-1022 || zero)
}

// Inflate turns a bound e on the sum of relative errors into one on that of their product.
func Inflate(e float64) float64 { return e / (1 - min(e, 0.5)) }

// Scaled returns v/2^shift rounded to nearest.
func Scaled(v *big.Int, shift uint) float64 {
	if shift == 0 && v.IsInt64() {
		return float64(v.Int64())
	}
	f := new(big.Float).SetInt(v)
	x, _ := f.SetMantExp(f, -int(shift)).Float64()
	return x
}

// AddFar adds x to z or, if their exponents are far apart, an equivalent of x within the rounding
// of z: a sum of big floats would fill the gap with bits. Rounded down or up, the sum is on the
// correct side; rounded to nearest, it is within one rounding. x has at most the bits of z.
func AddFar(z, x *big.Float) {
	gap := Exponent(z) - Exponent(x)
	most := int(z.Prec()) + 64
	switch {
	case x.Sign() == 0 || z.Sign() == 0 || -most <= gap && gap <= most:
		z.Add(z, x)
	case gap > 0: // x is less than half a unit of z: any other such number of its sign does
		tail := new(big.Float).SetMantExp(big.NewFloat(0.5), Exponent(z)-most)
		if x.Sign() < 0 {
			tail.Neg(tail)
		}
		z.Add(z, tail)
	default:
		tail := new(big.Float).SetMantExp(big.NewFloat(0.5), Exponent(x)-most)
		if z.Sign() < 0 {
			tail.Neg(tail)
		}
		z.Add(x, tail)
	}
}

// Exponent returns e such that |x| is in [2^(e-1), 2^e), 0 if x is 0.
func Exponent(x *big.Float) int { return x.MantExp(nil) }

// One returns 1 in the arithmetic of an engine, with the given bits for Enclose.
func One(engine num.Engine, prec uint) Number {
	switch engine {
	case num.Exact:
		return Number{Exact: big.NewRat(1, 1)}
	case num.Enclose:
		one := new(big.Float).SetPrec(prec).SetInt64(1)
		return Number{Interval: num.Interval{Low: one, High: one}}
	}
	return Number{Wide: Wide{F: 1}}
}

// Log2 returns the logarithm of the number to base 2, correct to about 15 digits; -Inf for 0.
func (a Number) Log2() float64 {
	switch {
	case a.Exact != nil && a.Exact.Sign() > 0:
		return log2(new(big.Float).SetPrec(64).SetRat(a.Exact))
	case a.Interval.Low != nil && a.Interval.Low.Sign() > 0:
		return log2(a.Interval.Low)
	}
	return math.Log2(a.F) + 512*float64(a.Exp)
}

func log2(x *big.Float) float64 {
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return float64(e) + math.Log2(f)
}
