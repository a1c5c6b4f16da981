package num

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// ErrRange is the error of a result outside the exponent range of big.Float, about 2^±(2^31).
var ErrRange = errors.New("result is outside the exponent range of big.Float")

// An Interval contains an exact value: Low <= value <= High, both finite.
type Interval struct{ Low, High *big.Float }

// defaultPrec replaces a precision of 0.
const defaultPrec = 64

// FromRat encloses x between two adjacent numbers of prec mantissa bits (64 if prec is 0), or
// returns the interval of x itself if x needs no more bits. Its relative width is at most
// 2^(1-prec).
func FromRat(x *big.Rat, prec uint) Interval {
	prec = cmp.Or(prec, defaultPrec)
	return Interval{
		new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).SetRat(x),
		new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).SetRat(x),
	}
}

// Contains reports whether Low <= x <= High.
func (e Interval) Contains(x *big.Float) bool {
	return e.Low.Cmp(x) <= 0 && x.Cmp(e.High) <= 0
}

// Float64 returns the double nearest to the midpoint of e, computed with 64 more bits than its
// longer end. As for the function [Float64], ok is false and f is 0 if no double is near.
func (e Interval) Float64() (f float64, ok bool) {
	prec := max(e.Low.Prec(), e.High.Prec()) + 64
	mid := new(big.Float).SetPrec(prec)
	switch gap := exponentGap(e.Low, e.High); { // adding across a wide gap would fill it with bits
	case gap > int64(prec):
		mid.Set(e.High)
	case gap < -int64(prec):
		mid.Set(e.Low)
	default:
		mid.Add(e.Low, e.High)
	}
	f, acc := mid.SetMantExp(mid, -1).Float64()
	return normal(f, acc == big.Exact)
}

// exponentGap returns the binary exponent of y minus that of x, or 0 if either is 0.
func exponentGap(x, y *big.Float) int64 {
	if x.Sign() == 0 || y.Sign() == 0 {
		return 0
	}
	return int64(y.MantExp(nil)) - int64(x.MantExp(nil))
}

// RelWidth returns an upper bound on (High-Low)/min(|Low|, |High|), rounded up. It bounds the
// relative error if any number of e replaces any other. It is 0 for a point, and math.MaxFloat64 if
// e is wider than a point and contains 0, or if the quotient is larger than that.
func (e Interval) RelWidth() float64 {
	if e.Low.Cmp(e.High) == 0 {
		return 0
	}
	if e.Low.Sign() != e.High.Sign() || e.Low.Sign() == 0 {
		return math.MaxFloat64
	}
	if gap := exponentGap(e.Low, e.High); gap > 1100 || gap < -1100 { // the quotient is above 2^1098
		return math.MaxFloat64
	}
	smaller := e.Low
	if e.Low.Sign() < 0 {
		smaller = e.High
	}
	q := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).Sub(e.High, e.Low)
	divisor := new(big.Float).SetPrec(64).SetMode(big.ToZero).Abs(smaller)
	f, acc := q.Quo(q, divisor).Float64() // nearest double
	if acc == big.Below || f == 0 {       // f = 0: the difference or the quotient underflowed
		f = math.Nextafter(f, math.Inf(1))
	}
	return min(f, math.MaxFloat64)
}

// Float64 returns the double nearest to x. If none is near, because |x| rounds to more than
// math.MaxFloat64 or because x is not 0, is below 2^-1022 and would be rounded to a subnormal
// number or to 0 with a relative error beyond 2^-53, it returns 0 and false.
func Float64(x *big.Rat) (f float64, ok bool) {
	f, exact := x.Float64()
	return normal(f, exact && (f != 0 || x.Sign() == 0)) // Rat.Float64 takes 0 for an exact 2^-2000
}

// normal accepts a number f that was rounded to nearest if its relative error is at most 2^-53.
func normal(f float64, exact bool) (float64, bool) {
	const smallest = 0x1p-1022
	if math.IsInf(f, 0) || !exact && math.Abs(f) < smallest {
		return 0, false
	}
	return f, true
}

// Text returns decimal strings of the given number of significant digits (17 if digits < 1) with
// low <= Low and High <= high, each as close as decimals of that length allow. If the scaling power
// of ten is beyond about 10^±1700, it may be one unit of the last digit farther out. Numbers with
// exponents from -5 to 20 are written without an exponent, others as in "1.25e-31".
func (e Interval) Text(digits int) (low, high string) {
	if digits < 1 {
		digits = 17
	}
	return roundDecimal(e.Low, digits, false), roundDecimal(e.High, digits, true)
}

// roundDecimal rounds x up or down to a decimal.
func roundDecimal(x *big.Float, digits int, up bool) string {
	if x.Sign() == 0 {
		return "0"
	}
	sign := ""
	if x.Signbit() {
		sign, up = "-", !up // from here on |x| is rounded
	}
	mode := big.ToNegativeInf
	if up {
		mode = big.ToPositiveInf
	}
	// exponent is floor(log10 |x|) or, next to a power of ten, wrong by one. One more digit than
	// requested is computed, so enough digits remain, and truncating in the same direction loses
	// nothing: floor(floor(10c)/10) = floor(c), and likewise for the ceiling.
	exponent := int(math.Floor(float64(x.MantExp(nil)-1) * math.Log10(2)))
	scaled := timesPowerOfTen(new(big.Float).Abs(x), digits-exponent, digits, mode)
	n, acc := scaled.Int(nil)
	if up && acc == big.Below {
		n.Add(n, big.NewInt(1))
	}
	exponent -= digits // |x| is about n · 10^exponent
	ten, rest := big.NewInt(10), new(big.Int)
	for limit := powerOfTen(digits); n.Cmp(limit) >= 0; exponent++ {
		if n.QuoRem(n, ten, rest); up && rest.Sign() > 0 {
			n.Add(n, big.NewInt(1))
		}
	}
	return sign + decimalText(n.String(), exponent+digits-1)
}

// timesPowerOfTen returns x · 10^power for x > 0, rounded in the direction of mode with enough
// bits that an integer of digits+3 digits is represented. 10^n is exact while 5^n fits.
func timesPowerOfTen(x *big.Float, power, digits int, mode big.RoundingMode) *big.Float {
	prec := 4096 + 4*uint(digits) + x.MinPrec()
	if power >= 0 {
		z := bigPower(5, power, prec, mode)
		z.Mul(z, x)
		return z.SetMantExp(z, power)
	}
	opposite := big.ToPositiveInf // the divisor rounds the other way
	if mode == big.ToPositiveInf {
		opposite = big.ToNegativeInf
	}
	z := new(big.Float).SetPrec(prec).SetMode(mode).Quo(x, bigPower(5, -power, prec, opposite))
	return z.SetMantExp(z, power)
}

// bigPower returns base^n, each product rounded in the direction of mode.
func bigPower(base int64, n int, prec uint, mode big.RoundingMode) *big.Float {
	z := new(big.Float).SetPrec(prec).SetMode(mode).SetInt64(1)
	square := new(big.Float).SetPrec(prec).SetMode(mode).SetInt64(base)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			z.Mul(z, square)
		}
		if n > 1 {
			square.Mul(square, square)
		}
	}
	return z
}

// decimalText writes d.ddd · 10^exponent, given its digits without the point.
func decimalText(digits string, exponent int) string {
	switch n := len(digits); {
	case exponent < -5 || exponent > 20:
		if n > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		return fmt.Sprintf("%se%+03d", digits, exponent)
	case exponent < 0:
		return "0." + strings.Repeat("0", -exponent-1) + digits
	case exponent >= n-1:
		return digits + strings.Repeat("0", exponent-n+1)
	default:
		return digits[:exponent+1] + "." + digits[exponent+1:]
	}
}
