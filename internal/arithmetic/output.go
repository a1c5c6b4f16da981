package arithmetic

import (
	"math"

	"productform/internal/input"
	"productform/num"
)

// An Output converts numbers to the values of a result, and keeps the largest of their errors.
type Output struct {
	// on the relative errors of the doubles, except values below 2^-1022; +Inf if one is beyond
	// float64; 0 if all are fractions
	Bound float64
	// largest width of an enclosure, or bound of float64, over all values; Climb compares it with
	// the tolerance
	Width float64
}

// Value returns x as a value of a result.
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

// Check returns [num.ErrDigits] if there is no bound.
func (o *Output) Check() error {
	if !(o.Bound < 1) {
		return num.ErrDigits
	}
	return nil
}

// BeyondFloat returns the error for a model with a result that exceeds the range of float64.
func BeyondFloat() error {
	return input.Errorf("model", "an answer beyond 1e±308",
		"answers within the range of float64: count time, or work, in other units")
}
