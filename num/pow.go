package num

import (
	"cmp"
	"math/big"

	"productform/internal/input"
)

// PowInterval encloses x^y = exp(y log x) for x > 0 with a relative width of at most 2^(1-prec);
// prec 0 means 64. It is exact for y = 0 and x = 1. Time is that of a logarithm and two
// exponentials.
//
// The error is [ErrRange] if x^y is beyond 2^±(2^31-1), an *[InputError] if x is not positive, x or
// y infinite, or prec more than 2^30. x and y are not modified.
func PowInterval(x, y *big.Float, prec uint) (Interval, error) {
	prec = cmp.Or(prec, defaultPrec)
	if err := checkPrec(prec); err != nil {
		return Interval{}, err
	}
	if y.IsInf() {
		return Interval{}, input.Errorf("y", y, "a finite number")
	}
	// The bits of |y log x| < 2^31 before the point are lost from those after it.
	const lost = 40
	l, err := LogInterval(x, prec+lost)
	if err != nil {
		return Interval{}, err
	}
	if y.Sign() == 0 || l.Low.Sign() == 0 { // l.Low = 0 only if log x = 0
		return point(1), nil
	}
	switch exponent := int64(y.MantExp(nil)) + int64(l.Low.MantExp(nil)); {
	case exponent > 34: // |y log x| > 2^31: even a narrow l can straddle a power of two
		return Interval{}, ErrRange
	case exponent < -int64(prec)-8: // |x^y - 1| < 2^(-6-prec)
		return enclose(new(big.Int).Lsh(big.NewInt(1), prec+6), 1, 0, prec+6, prec)
	}
	// l is relatively 2^(1-prec-40) wide, and two roundings of the product add as much each:
	// [a, b] is 2^(3-prec-40) 2^31 = 2^(-6-prec) wide, so exp(b)/exp(a) <= 1 + 2^(-5-prec). Each
	// exponential is enclosed within 2^(1-(prec+4)); all three make less than 2^(1-prec).
	a := new(big.Float).SetPrec(prec + lost).SetMode(big.ToNegativeInf)
	b := new(big.Float).SetPrec(prec + lost).SetMode(big.ToPositiveInf)
	if y.Sign() > 0 {
		a.Mul(y, l.Low)
		b.Mul(y, l.High)
	} else {
		a.Mul(y, l.High)
		b.Mul(y, l.Low)
	}
	low, err := ExpInterval(a, prec+4)
	if err != nil {
		return Interval{}, err
	}
	high, err := ExpInterval(b, prec+4)
	if err != nil {
		return Interval{}, err
	}
	return Interval{low.Low, high.High}, nil
}

// Pow returns x^y for x > 0 rounded to prec bits (64 if prec is 0), with an error below one unit in
// the last place. Its errors are those of [PowInterval].
func Pow(x, y *big.Float, prec uint) (*big.Float, error) {
	prec = cmp.Or(prec, defaultPrec)
	if err := checkPrec(prec); err != nil {
		return nil, err
	}
	e, err := PowInterval(x, y, prec+3)
	return nearest(e, prec), err
}
