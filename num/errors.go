package num

import (
	"errors"
	"strings"
)

// ErrUnstable is wrapped by the errors of all theories for a model that has no stationary
// distribution. The errors name the overloaded part: cluster.UnstableError, tags.UnstableError and
// traffic.UnstableError.
var ErrUnstable = errors.New("unstable: work arrives at least as fast as it can be done")

// ErrDigits is the error of the engine Float, if requested by name, when float64 has too few digits
// for a proved bound.
var ErrDigits = errors.New("float64 has too few digits for a proved bound: use auto, enclose or exact")

// ErrFloatRange is the error of the engine Float, if requested by name, when numbers leave the
// range of float64.
var ErrFloatRange = errors.New("numbers leave the range of float64: use auto, enclose or exact")

// A Remedy is a way to get an answer for a model that is too large.
type Remedy string

// The remedies.
const (
	Bounds     Remedy = "bounds"
	Simulation Remedy = "simulation"
)

// A TooLargeError rejects a model, or an engine for it, because of the memory that it would need.
// It wraps an *[InputError], whose text its message includes.
type TooLargeError struct {
	Input   *InputError
	States  float64  // states of the tables; 0 if they were not counted
	Bytes   float64  // required memory; 0 if it is only known to exceed the limit
	Limit   int64    // bytes allowed
	Instead []Remedy // alternatives without this limit
}

func (e *TooLargeError) Error() string {
	text := e.Input.Error()
	if more := e.Remedies(func(r Remedy) string { return string(r) }); more != "" {
		text += "; " + more
	}
	return text
}

// Remedies returns a sentence about the alternatives without this limit, named by name, which
// returns "" for an alternative to omit. It returns "" if there are none.
func (e *TooLargeError) Remedies(name func(Remedy) string) string {
	var names []string
	for _, r := range e.Instead {
		if n := name(r); n != "" {
			names = append(names, n)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " has no such limit"
	}
	return strings.Join(names, " and ") + " have no such limit"
}

func (e *TooLargeError) Unwrap() error { return e.Input }
