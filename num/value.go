package num

import "math/big"

// A Value is one number of a result, with what its engine knows of it.
type Value struct {
	Float     float64    // always set, finite: the value rounded to nearest (exact, enclose) or computed (float)
	Exact     *big.Rat   // set by exact engines
	Low, High *big.Float // set by enclosing engines: Low <= the exact value <= High
}

// Interval returns that of Low and High, and false if they are not set.
func (v Value) Interval() (Interval, bool) { return Interval{v.Low, v.High}, v.Low != nil }

// Times returns m v for m > 0, as well known as v is.
func (v Value) Times(m *big.Rat) Value {
	f, _ := m.Float64()
	product := Value{Float: v.Float * f}
	if v.Exact != nil {
		product.Exact = new(big.Rat).Mul(v.Exact, m)
		product.Float, _ = product.Exact.Float64()
	}
	if e, ok := v.Interval(); ok {
		e = e.Mul(FromRat(m, max(e.Prec(), 64)))
		product.Low, product.High = e.Low, e.High
	}
	return product
}

// Quo returns v/w for w > 0, as well known as both are.
func (v Value) Quo(w Value) Value {
	x, xOK := v.Interval()
	y, yOK := w.Interval()
	switch {
	case v.Exact != nil && w.Exact != nil:
		q := new(big.Rat).Quo(v.Exact, w.Exact)
		f, _ := q.Float64()
		return Value{Float: f, Exact: q}
	case xOK && yOK:
		prec := max(x.Prec(), y.Prec(), 64)
		q := FromBig(x.Low, prec)
		q.High = Up(prec).Set(x.High)
		q = q.Quo(y)
		f, _ := q.Float64()
		return Value{Float: f, Low: q.Low, High: q.High}
	}
	return Value{Float: v.Float / w.Float}
}
