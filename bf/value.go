package bf

import (
	"math"
	"math/big"

	"productform/num"
)

// A value is a number >= 0 as one of the engines knows it: x with f 2^(512 exp) = x(1+ε), |ε| <= e, or
// in an interval, or x exactly. The operations below carry the bound along.
type value struct {
	wide
	e  float64
	in num.Interval // Low is nil unless it is set
	x  *big.Rat
}

const roundoff = 0x1p-53 // u: relative error of one float64 operation

// least is the smallest float64 trusted to full precision among those that a sweep gives; whatever comes out smaller or
// not finite loses its bound.
const least = 0x1p-1000

// floatValue returns a number that float64 arithmetic gave.
func floatValue(f, e float64) value {
	if !(f >= least || f == 0) || f > math.MaxFloat64 {
		e = math.Inf(1)
	}
	return wideValue(newWide(f, 0), e)
}

// wideValue returns w as a value, without a bound if that is none.
func wideValue(w wide, e float64) value {
	if !(e >= 0 && e < 1e-3) || !(w.f <= math.MaxFloat64) {
		e = math.Inf(1)
	}
	return value{wide: w, e: e}
}

// roundings returns (1+u)^n - 1, rounded up: the relative error of n operations.
func roundings(n float64) float64 { return n * roundoff * (1 + 2*n*roundoff) }

// rational returns r as a value of the same engine as like.
func (like value) rational(r *big.Rat) value {
	switch {
	case like.x != nil:
		return value{x: r}
	case like.in.Low != nil:
		return value{in: num.FromRat(r, like.in.Prec())}
	}
	f, exact := r.Float64()
	switch {
	case exact:
		return floatValue(f, 0)
	case !(f >= least && f <= math.MaxFloat64): // two roundings
		return wideValue(wideFloat(new(big.Float).SetPrec(64).SetRat(r)), 2*roundoff)
	}
	return floatValue(f, roundoff)
}

func (a value) mul(b value) value {
	switch {
	case a.x != nil:
		return value{x: new(big.Rat).Mul(a.x, b.x)}
	case a.in.Low != nil:
		return value{in: a.in.Mul(b.in)}
	}
	return wideValue(a.times(b.wide), compound(a.e, b.e, roundoff))
}

func (a value) quo(b value) value {
	switch {
	case a.x != nil:
		return value{x: new(big.Rat).Quo(a.x, b.x)}
	case a.in.Low != nil:
		return value{in: a.in.Quo(b.in)}
	}
	return wideValue(a.over(b.wide), compound(a.e, b.e/(1-b.e), roundoff))
}

func (a value) add(b value) value {
	switch {
	case a.x != nil:
		return value{x: new(big.Rat).Add(a.x, b.x)}
	case a.in.Low != nil:
		return value{in: a.in.Add(b.in)}
	}
	if a.f == 0 || b.f == 0 {
		return wideValue(a.plus(b.wide), max(a.e, b.e))
	}
	return wideValue(a.plus(b.wide), compound(max(a.e, b.e), 0x1p-100, roundoff))
}

// oneMinus returns 1 - a for a < 1: the one place where digits can be lost.
func (a value) oneMinus() value {
	switch {
	case a.x != nil:
		return value{x: new(big.Rat).Sub(big.NewRat(1, 1), a.x)}
	case a.in.Low != nil:
		return value{in: num.FromInt(1, a.in.Prec()).Sub(a.in)}
	}
	x := a.double()
	f := 1 - x
	r := a.e / (1 - a.e) * x / f * (1 + 8*roundoff) // |(1 - a) - f| <= r f
	if !(r < 1e-3) {
		return floatValue(f, math.Inf(1))
	}
	return floatValue(f, compound(r/(1-r), 0, roundoff))
}

// compound returns (1+a)(1+b)(1+c) - 1, rounded up.
func compound(a, b, c float64) float64 {
	s := a + b + c
	return (s + (a*b + a*c + b*c) + a*b*c) * (1 + 8*roundoff)
}

// width returns an upper bound of the relative distance between the value and its best approximation
// in the engine's own arithmetic.
func (a value) width() float64 {
	switch {
	case a.x != nil:
		return 0
	case a.in.Low == nil:
		return a.e
	case a.in.Low.Sign() <= 0:
		if a.in.High.Sign() == 0 {
			return 0
		}
		return math.Inf(1)
	}
	width := num.Up(64).Sub(a.in.High, a.in.Low)
	width.Quo(width, num.Down(64).Set(a.in.Low))
	w, _ := width.Float64()
	return math.Nextafter(w, 1)
}

// relativeError bounds the relative error of the float64 that export gives: for enclosures
// that of the midpoint, rounded; none is counted beside an exact value.
func (a value) relativeError() float64 {
	if a.in.Low != nil && a.in.High.Sign() > 0 {
		return a.width() + roundoff
	}
	return a.width()
}

// export returns the number as results show it. ok is false if float64 cannot hold it to full precision: it is then
// the nearest double all the same, if there is a finite one.
func (a value) export() (v num.Value, ok bool) {
	switch {
	case a.x != nil:
		v.Exact = a.x
		v.Float, _ = a.x.Float64()
	case a.in.Low != nil:
		v.Low, v.High = a.in.Low, a.in.High
		mid := new(big.Float).SetPrec(a.in.Prec()+1).Add(a.in.Low, a.in.High)
		v.Float, _ = mid.Quo(mid, big.NewFloat(2)).Float64()
	default:
		v.Float = a.double()
	}
	zero := a.x != nil && a.x.Sign() == 0 || a.in.High != nil && a.in.High.Sign() == 0 || a.x == nil && a.in.High == nil && a.f == 0
	return v, v.Float <= math.MaxFloat64 && (v.Float >= 0x1p-1022 || zero)
}
