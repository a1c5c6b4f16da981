package arithmetic

import (
	"math"
	"math/big"

	"productform/num"
)

// A Difference is Plus - Minus of two numbers >= 0.
type Difference struct{ Plus, Minus Number }

// Times returns the difference times a factor > 0, and the width of its bound: relative to the
// difference, or to tol times its two terms where they cancel further than that.
func (d Difference) Times(factor *big.Rat, tol float64) (num.Value, float64) {
	f := d.Plus.Rational(factor)
	a, b := d.Plus.Mul(f), d.Minus.Mul(f)
	switch {
	case a.Exact != nil:
		x := new(big.Rat).Sub(a.Exact, b.Exact)
		v, _ := x.Float64()
		return num.Value{Float: v, Exact: x}, 0
	case a.Interval.Low != nil:
		in := a.Interval.Sub(b.Interval)
		v, _ := in.Middle().Float64()
		width, _ := num.Up(in.Prec()).Sub(in.High, in.Low).Float64()
		r := num.Value{Float: v, Low: in.Low, High: in.High}
		if width == 0 {
			return r, 0
		}
		size, _ := a.Interval.Add(b.Interval).High.Float64()
		return r, width / max(math.Abs(v), tol*size)
	}
	x, y := a.Double(), b.Double()
	if a.F != 0 && !(x >= Least) || b.F != 0 && !(y >= Least) || !(x+y <= math.MaxFloat64) {
		return num.Value{}, math.Inf(1)
	}
	v := x - y
	off := func(x, e float64) float64 { return x * (e / (1 - e)) } // the largest error of x: see [Number]
	e := (off(x, a.Bound) + off(y, b.Bound) + Roundoff*math.Abs(v)) * (1 + 8*Roundoff)
	if !(e <= math.MaxFloat64) {
		return num.Value{}, math.Inf(1)
	}
	in := num.FromFloat64(v, 64)
	r := num.Value{Float: v, Low: in.Low.Sub(in.Low, big.NewFloat(e)), High: in.High.Add(in.High, big.NewFloat(e))}
	if x+y == 0 {
		return r, 0
	}
	return r, e / max(math.Abs(v), tol*(x+y))
}
