package arithmetic

import (
	"math"
	"math/big"
)

// A Wide is the number f 2^(512 exp) >= 0: f is 0, with exp 0, or in [2^-400, 2^400), so no product
// or quotient of two leaves the range of float64. An f that is NaN or infinite stays so.
type Wide struct {
	F   float64
	Exp int
}

const (
	step    = 0x1p512
	perStep = 0x1p-512
	far     = 0x1p400 // numbers below 1/far or from far on move by a step
)

func NewWide(f float64, exp int) Wide {
	for f >= far && f <= math.MaxFloat64 {
		f, exp = f*perStep, exp+1
	}
	for f < 1/far && f > 0 {
		f, exp = f*step, exp-1
	}
	if f == 0 {
		exp = 0
	}
	return Wide{f, exp}
}

// WideOf returns x >= 0 rounded to 53 bits.
func WideOf(x *big.Float) Wide {
	mantissa := new(big.Float)
	e := x.MantExp(mantissa)
	f, _ := mantissa.Float64()
	exp := e / 512
	return NewWide(math.Ldexp(f, e-512*exp), exp)
}

// Times rounds once, as do Over and Plus; Plus omits less than an additional 2^-200 of the sum.
func (a Wide) Times(b Wide) Wide {
	return NewWide(a.F*b.F, a.Exp+b.Exp)
}

func (a Wide) Over(b Wide) Wide {
	return NewWide(a.F/b.F, a.Exp-b.Exp)
}

func (a Wide) Plus(b Wide) Wide {
	if a.Exp > b.Exp {
		a, b = b, a
	}
	switch {
	case a.F == 0:
		return b
	case b.F == 0:
		return a
	case a.Exp == b.Exp:
		return NewWide(a.F+b.F, b.Exp)
	case a.Exp == b.Exp-1:
		return NewWide(a.F*perStep+b.F, b.Exp)
	}
	return b // a < 2^400 2^-1024, b >= 2^-400
}

// Double returns the nearest float64: +Inf beyond the largest, 0 below half the smallest.
func (a Wide) Double() float64 { return math.Ldexp(a.F, 512*a.Exp) }
