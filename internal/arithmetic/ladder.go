package arithmetic

import (
	"cmp"
	"errors"
	"math"

	"productform/internal/input"
	"productform/num"
)

// FirstPrecision is the number of bits of the first enclosure of a [Ladder].
const FirstPrecision = 128

// CheckEngine rejects an unknown engine and a tolerance outside [0, 1). It returns the tolerance,
// with [num.DefaultRelTol] in place of 0.
func CheckEngine(engine num.Engine, relTol float64) (float64, error) {
	switch engine {
	case "", num.Auto, num.Float, num.Enclose, num.Exact:
	default:
		return 0, input.Errorf("Engine", engine, "auto, float, enclose or exact")
	}
	if !(relTol >= 0 && relTol < 1) {
		return 0, input.Errorf("RelTol", relTol, "a number in (0, 1), or 0 for 1e-9")
	}
	return cmp.Or(relTol, num.DefaultRelTol), nil
}

// FloatOrExact returns the engine of a solver that has only these two, Float for Auto, and rejects
// others.
func FloatOrExact(engine num.Engine) (num.Engine, error) {
	switch engine {
	case "", num.Auto, num.Float:
		return num.Float, nil
	case num.Exact:
		return num.Exact, nil
	}
	return "", input.Errorf("Engine", engine, "auto, float or exact")
}

// CheckMaxBytes rejects a negative limit on memory. It returns the limit, with
// [num.DefaultMaxBytes] in place of 0, and at most 2 GiB if an int has 32 bits, because no slice is
// longer.
func CheckMaxBytes(maxBytes int64) (int64, error) {
	if maxBytes < 0 {
		return 0, input.Errorf("MaxBytes", maxBytes, "a number of bytes, or 0 for %d GiB", num.DefaultMaxBytes>>30)
	}
	return min(cmp.Or(maxBytes, num.DefaultMaxBytes), math.MaxInt), nil
}

// A Ladder lists the engines and precisions that may answer a question, fastest first.
type Ladder struct {
	Engine  num.Engine       // Auto, or "", climbs from Float to enclosures
	RelTol  float64          // relative tolerance of Auto and Enclose
	MaxPrec uint             // largest number of bits of enclosures
	Next    func(error) bool // whether Auto continues after this error of Float; nil for only [num.ErrDigits]
}

// Climb answers with the first sufficient rung of a ladder. Auto uses float64 if its bound is
// within the tolerance, and otherwise enclosures with as many bits as needed. solve uses one engine
// and, for Enclose, the given bits; it also returns a bound on the relative error. The error is
// that of solve, or an [*input.Error] for a tolerance that no enclosure reached.
func Climb[T any](l Ladder, solve func(engine num.Engine, prec uint) (T, float64, error)) (r T, err error) {
	var bound float64
	switch l.Engine {
	case num.Exact:
		r, _, err = solve(num.Exact, 0)
		return r, err
	case num.Float, num.Auto, "":
		r, bound, err = solve(num.Float, 0)
		goesOn := err == nil && !(bound <= l.RelTol) || err != nil && l.next(err)
		if l.Engine == num.Float || !goesOn {
			return r, err
		}
	}
	for prec := uint(FirstPrecision); prec <= l.MaxPrec; prec *= 2 {
		if r, bound, err = solve(num.Enclose, prec); err != nil || bound <= l.RelTol {
			return r, err
		}
	}
	var none T
	return none, input.Errorf("RelTol", l.RelTol, "a tolerance within reach of %d bits", l.MaxPrec)
}

func (l *Ladder) next(err error) bool {
	if l.Next != nil {
		return l.Next(err)
	}
	return errors.Is(err, num.ErrDigits)
}
