package bf

import (
	"math"
	"math/big"
)

// A wide is the number f 2^(512 exp) >= 0: f is 0, with exp 0, or in [2^-400, 2^400), so that no product and no quotient
// of two leaves the range of float64. An f that is no number, or infinite, stays so.
type wide struct {
	f   float64
	exp int
}

const (
	step    = 0x1p512
	perStep = 0x1p-512
	far     = 0x1p400 // numbers below 1/far or from far on move by a step
)

func newWide(f float64, exp int) wide {
	for f >= far && f <= math.MaxFloat64 {
		f, exp = f*perStep, exp+1
	}
	for f < 1/far && f > 0 {
		f, exp = f*step, exp-1
	}
	if f == 0 {
		exp = 0
	}
	return wide{f, exp}
}

// wideFloat returns x >= 0 rounded to 53 bits.
func wideFloat(x *big.Float) wide {
	mantissa := new(big.Float)
	e := x.MantExp(mantissa)
	f, _ := mantissa.Float64()
	exp := e / 512
	return newWide(math.Ldexp(f, e-512*exp), exp)
}

// times rounds once, as do over and plus; plus leaves out less than another 2^-200 of the sum.
func (a wide) times(b wide) wide { return newWide(a.f*b.f, a.exp+b.exp) }

func (a wide) over(b wide) wide { return newWide(a.f/b.f, a.exp-b.exp) }

func (a wide) plus(b wide) wide {
	if a.exp > b.exp {
		a, b = b, a
	}
	switch {
	case a.f == 0:
		return b
	case b.f == 0:
		return a
	case a.exp == b.exp:
		return newWide(a.f+b.f, b.exp)
	case a.exp == b.exp-1:
		return newWide(a.f*perStep+b.f, b.exp)
	}
	return b // a < 2^400 2^-1024, b >= 2^-400
}

// double returns the nearest float64: +Inf beyond all, 0 below half of the least.
func (a wide) double() float64 { return math.Ldexp(a.f, 512*a.exp) }
