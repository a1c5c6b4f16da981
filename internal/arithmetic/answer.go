package arithmetic

import (
	"errors"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// ErrDigits is the error of the engine Float where it has no proved digits, or its numbers leave the range of float64; Enclose and Exact
// have digits then.
var ErrDigits = errors.New("float64 has no proved digits of the measures; engines enclose and exact have them")

// Enclosures start with firstPrecision bits and give up beyond maxPrecision.
const firstPrecision, maxPrecision = 128, 1 << 14

// CheckEngine refuses an engine that is none and a tolerance that is not in [0, 1).
func CheckEngine(engine num.Engine, relTol float64) error {
	switch engine {
	case "", num.Auto, num.Float, num.Enclose, num.Exact:
	default:
		return input.Errorf("Engine", engine, "auto, float, enclose or exact")
	}
	if !(relTol >= 0 && relTol < 1) {
		return input.Errorf("RelTol", relTol, "a number in (0, 1), or 0 for 1e-9")
	}
	return nil
}

// ByEngine answers with an engine of [CheckEngine]: as Auto by float64 if its bound is within the tolerance, which is 1e-9 for 0, and else by enclosures of as
// many bits as that takes. solve works in the arithmetic of one, and also returns a bound of the relative error. The error is that of solve, or
// an [*input.Error] for a tolerance that no enclosure reached.
func ByEngine[T any](engine num.Engine, relTol float64, solve func(engine num.Engine, one Number) (T, float64, error)) (r T, err error) {
	if relTol == 0 {
		relTol = 1e-9
	}
	var bound float64
	switch engine {
	case num.Exact:
		r, _, err = solve(engine, One(engine, 0))
		return r, err
	case num.Float, num.Auto, "":
		r, bound, err = solve(num.Float, One(num.Float, 0))
		if engine == num.Float || err == nil && bound <= relTol || err != nil && !errors.Is(err, ErrDigits) {
			return r, err
		}
	}
	for prec := uint(firstPrecision); prec <= maxPrecision; prec *= 2 {
		if r, bound, err = solve(num.Enclose, One(num.Enclose, prec)); err != nil || bound <= relTol {
			return r, err
		}
	}
	var none T
	return none, input.Errorf("RelTol", relTol, "a tolerance within reach of %d bits", maxPrecision)
}

// An Output turns numbers into the values of a result, and keeps the largest of their errors.
type Output struct {
	Bound float64 // of the relative errors of the doubles, those of values below 2^-1022 left out; +Inf if one is beyond float64; 0 if all are fractions
	Width float64 // of the widest enclosure, or bound of float64, of all values: what ByEngine compares with the tolerance
}

// Value returns x as results show it.
func (o *Output) Value(x Number) num.Value {
	v, fits := x.Value()
	switch {
	case math.IsInf(v.Float, 0) || math.IsInf(x.Width(), 1):
		o.Bound = math.Inf(1)
	case fits && x.Exact == nil:
		o.Bound = max(o.Bound, x.RelativeError())
	}
	o.Width = max(o.Width, x.Width())
	return v
}

// Pointer returns a pointer to the value of x.
func (o *Output) Pointer(x Number) *num.Value {
	v := o.Value(x)
	return &v
}

// Check returns [ErrDigits] if there is no bound.
func (o *Output) Check() error {
	if !(o.Bound < 1) {
		return ErrDigits
	}
	return nil
}

// IsZero reports whether a is 0 for certain.
func (a Number) IsZero() bool {
	switch {
	case a.Exact != nil:
		return a.Exact.Sign() == 0
	case a.Interval.Low != nil:
		return a.Interval.High.Sign() == 0
	}
	return a.F == 0
}

// Integer returns n >= 0 in the arithmetic of a.
func (a Number) Integer(n int) Number {
	if a.Exact == nil && a.Interval.Low == nil && int64(n) < 1<<53 {
		return FromFloat(float64(n), 0)
	}
	return a.Rational(new(big.Rat).SetInt64(int64(n)))
}
