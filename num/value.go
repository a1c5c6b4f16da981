package num

import (
	"math"
	"math/big"
)

// A Value is one number of a result, with everything that its engine knows about it.
type Value struct {
	Float     float64    // always set, finite: the value rounded to nearest (exact, enclose) or computed (float)
	Exact     *big.Rat   // set by exact engines
	Low, High *big.Float // set if bounds are known: Low <= the exact value <= High
}

// ExactValue returns a fraction as a value. Float is the nearest double, beyond the range of
// float64 the largest one.
func ExactValue(x *big.Rat) Value {
	f, _ := x.Float64()
	return Value{Float: finite(f), Exact: x}
}

// boundBits is the precision of the bounds of [Between].
const boundBits = 256

// Between returns a number that lies between two fractions: low itself if they are equal, otherwise
// bounds of 256 bits, rounded outward, and the double nearest to their middle.
func Between(low, high *big.Rat) Value {
	if low.Cmp(high) == 0 {
		return ExactValue(low)
	}
	e := Interval{Down(boundBits).SetRat(low), Up(boundBits).SetRat(high)}
	return Value{Float: finite(e.Approx()), Low: e.Low, High: e.High}
}

// BetweenFloats returns a number that lies between two doubles, which are its bounds, and the double
// at their middle.
func BetweenFloats(low, high float64) Value {
	return Value{Float: low + (high-low)/2, Low: big.NewFloat(low), High: big.NewFloat(high)}
}

// Value returns a number with the bounds e and the double of [Interval.Float64], which is 0 if none
// is near.
func (e Interval) Value() Value {
	f, _ := e.Float64()
	return Value{Float: f, Low: e.Low, High: e.High}
}

func finite(f float64) float64 { return max(-math.MaxFloat64, min(f, math.MaxFloat64)) }

// Interval returns Low and High as an interval, and false if they are not set.
func (v Value) Interval() (Interval, bool) { return Interval{v.Low, v.High}, v.Low != nil }

// Bounds returns Low and High rounded outward to doubles, or Float twice if they are not set.
func (v Value) Bounds() (low, high float64) {
	if v.Low == nil {
		return v.Float, v.Float
	}
	low, below := v.Low.Float64()
	if below == big.Above {
		low = math.Nextafter(low, math.Inf(-1))
	}
	high, above := v.High.Float64()
	if above == big.Below {
		high = math.Nextafter(high, math.Inf(1))
	}
	return low, high
}

// Times returns m v for m > 0, with the same kinds of information as v.
func (v Value) Times(m *big.Rat) Value {
	if v.Exact != nil {
		return ExactValue(new(big.Rat).Mul(v.Exact, m))
	}
	if e, ok := v.Interval(); ok {
		return e.Mul(FromRat(m, max(e.Prec(), 64))).Value()
	}
	f, _ := m.Float64()
	return Value{Float: v.Float * f}
}

// Quo returns v/w for w > 0, with the kinds of information that both have.
func (v Value) Quo(w Value) Value {
	if v.Exact != nil && w.Exact != nil {
		return ExactValue(new(big.Rat).Quo(v.Exact, w.Exact))
	}
	x, xOK := v.enclosed()
	y, yOK := w.enclosed()
	if xOK && yOK {
		prec := max(x.Prec(), y.Prec(), 64)
		return Interval{Down(prec).Set(x.Low), Up(prec).Set(x.High)}.Quo(y).Value()
	}
	return Value{Float: v.Float / w.Float}
}

// enclosed returns bounds on v, and false if none are known.
func (v Value) enclosed() (Interval, bool) {
	if v.Exact != nil {
		return FromRat(v.Exact, 64), true
	}
	return v.Interval()
}
