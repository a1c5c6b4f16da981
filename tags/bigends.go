package tags

import (
	"errors"
	"math"
	"math/big"

	"productform/num"
)

// errUndecided says that more bits are needed. It never leaves the package.
var errUndecided = errors.New("tags: more bits are needed")

// ends are those of an interval that holds a real number: lo <= number <= hi. Every operation rounds lo down and hi up
// to the precision of its first operand, so that its result holds the result of the same operation on any numbers of
// its operands: what is computed from ends alone is proved.
type ends struct{ lo, hi *big.Float }

func roundDown(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
func roundUp(prec uint) *big.Float   { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

func endsOfRat(x *big.Rat, prec uint) ends {
	return ends{roundDown(prec).SetRat(x), roundUp(prec).SetRat(x)}
}

func endsOfInt(n int64, prec uint) ends {
	return ends{roundDown(prec).SetInt64(n), roundUp(prec).SetInt64(n)}
}

func endsOfFloat(x float64, prec uint) ends {
	return ends{roundDown(prec).SetFloat64(x), roundUp(prec).SetFloat64(x)}
}

// endsOfBig holds x.
func endsOfBig(x *big.Float, prec uint) ends {
	return ends{roundDown(prec).Set(x), roundUp(prec).Set(x)}
}

func (a ends) prec() uint { return a.lo.Prec() }

func (a ends) enclosure() num.Interval { return num.Interval{Low: a.lo, High: a.hi} }

// sign is that of the number, 0 if the interval holds 0.
func (a ends) sign() int {
	switch {
	case a.lo.Sign() > 0:
		return 1
	case a.hi.Sign() < 0:
		return -1
	}
	return 0
}

// middle returns a number of a near its middle.
func (a ends) middle() *big.Float {
	m := new(big.Float).SetPrec(a.prec()).Add(a.lo, a.hi)
	return m.SetMantExp(m, -1)
}

// point returns the interval of one number, that of middle.
func (a ends) point() ends { return endsOfBig(a.middle(), a.prec()) }

// float returns middle as a double, which may be 0 or infinite.
func (a ends) float() float64 { f, _ := a.middle().Float64(); return f }

// size returns the largest absolute value in a.
func (a ends) size() *big.Float {
	low, high := roundUp(a.prec()).Abs(a.lo), roundUp(a.prec()).Abs(a.hi)
	if low.Cmp(high) > 0 {
		return low
	}
	return high
}

func (a ends) neg() ends {
	return ends{roundDown(a.prec()).Neg(a.hi), roundUp(a.prec()).Neg(a.lo)}
}

func (a ends) add(b ends) ends {
	return ends{roundDown(a.prec()).Add(a.lo, b.lo), roundUp(a.prec()).Add(a.hi, b.hi)}
}

func (a ends) sub(b ends) ends {
	return ends{roundDown(a.prec()).Sub(a.lo, b.hi), roundUp(a.prec()).Sub(a.hi, b.lo)}
}

func (a ends) mul(b ends) ends {
	prec := a.prec()
	switch {
	case a.lo.Sign() >= 0:
		low, high := a.lo, a.hi
		if b.lo.Sign() < 0 {
			low = a.hi
		}
		if b.hi.Sign() < 0 {
			high = a.lo
		}
		return ends{roundDown(prec).Mul(low, b.lo), roundUp(prec).Mul(high, b.hi)}
	case a.hi.Sign() <= 0:
		return a.neg().mul(b).neg()
	case b.lo.Sign() >= 0:
		return ends{roundDown(prec).Mul(a.lo, b.hi), roundUp(prec).Mul(a.hi, b.hi)}
	case b.hi.Sign() <= 0:
		return a.mul(b.neg()).neg()
	}
	// Both hold 0 inside.
	low, low2 := roundDown(prec).Mul(a.lo, b.hi), roundDown(prec).Mul(a.hi, b.lo)
	if low2.Cmp(low) < 0 {
		low = low2
	}
	high, high2 := roundUp(prec).Mul(a.lo, b.lo), roundUp(prec).Mul(a.hi, b.hi)
	if high2.Cmp(high) > 0 {
		high = high2
	}
	return ends{low, high}
}

func (a ends) square() ends {
	if a.sign() == 0 { // a times a, as if they were two numbers, would go below 0
		s := a.size()
		return ends{roundDown(a.prec()), s.Mul(s, s)}
	}
	return a.mul(a)
}

// quo divides by an interval without 0.
func (a ends) quo(b ends) ends {
	switch b.sign() {
	case 0:
		panic("tags: division by an interval that holds 0")
	case -1:
		return a.neg().quo(b.neg())
	}
	low, high := b.hi, b.lo // divisors that put the quotient of a positive number down and up
	if a.lo.Sign() < 0 {
		low = b.lo
	}
	if a.hi.Sign() < 0 {
		high = b.hi
	}
	return ends{roundDown(a.prec()).Quo(a.lo, low), roundUp(a.prec()).Quo(a.hi, high)}
}

// times2 multiplies by 2^n.
func (a ends) times2(n int) ends {
	return ends{roundDown(a.prec()).SetMantExp(a.lo, n), roundUp(a.prec()).SetMantExp(a.hi, n)}
}

// inside reports whether a lies in b without touching its ends.
func (a ends) inside(b ends) bool { return a.lo.Cmp(b.lo) > 0 && a.hi.Cmp(b.hi) < 0 }

// greatestLog bounds |ln x| and |α ln x| for all numbers x and exponents α of the package. The exponents of big.Float
// go to 2^31 ln 2 = 1.5e9, so that products and quotients of seven such powers stay within.
const greatestLog = 2e8

// log returns ln a for a > 0 from one logarithm, as ln hi <= ln lo + (hi - lo)/lo.
func (a ends) log() (ends, error) {
	prec := a.prec()
	e, err := num.LogInterval(a.lo, prec)
	if err != nil {
		return ends{}, err
	}
	if math.Abs(float64(a.lo.MantExp(nil))) > greatestLog {
		return ends{}, num.ErrRange
	}
	gap := roundUp(prec).Sub(a.hi, a.lo)
	gap.Quo(gap, a.lo)
	return ends{roundDown(prec).Set(e.Low), roundUp(prec).Add(e.High, gap)}, nil
}

// exp returns e^a from one exponential, as e^d <= 1 + 2d for 0 <= d <= 1.
func (a ends) exp() (ends, error) {
	prec := a.prec()
	if limit := big.NewFloat(greatestLog); a.size().Cmp(limit) > 0 {
		return ends{}, num.ErrRange
	}
	gap := roundUp(prec).Sub(a.hi, a.lo)
	if gap.Cmp(big.NewFloat(1)) > 0 {
		return ends{}, errUndecided
	}
	e, err := num.ExpInterval(a.lo, prec)
	if err != nil {
		return ends{}, err
	}
	gap.SetMantExp(gap, 1)
	gap.Add(gap, big.NewFloat(1))
	return ends{roundDown(prec).Set(e.Low), gap.Mul(gap, e.High)}, nil
}

func bigMax(x, y *big.Float) *big.Float {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}
