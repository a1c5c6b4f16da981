package num

import (
	"errors"
	"strings"
)

// ErrUnstable is wrapped by the errors of all theories for a model that has no stationary
// distribution. They name what is overloaded: cluster.UnstableError, tags.UnstableError and
// traffic.UnstableError.
var ErrUnstable = errors.New("unstable: work arrives at least as fast as it can be done")

// ErrDigits is the error of the engine Float, requested by name, where float64 has too few digits
// for a proved bound.
var ErrDigits = errors.New("float64 has too few digits for a proved bound: use auto, enclose or exact")

// ErrFloatRange is the error of the engine Float, requested by name, where numbers leave the range
// of float64.
var ErrFloatRange = errors.New("numbers leave the range of float64: use auto, enclose or exact")

// A Remedy is a way to an answer about a model that is too large.
type Remedy string

// The remedies.
const (
	Bounds     Remedy = "bounds"
	Simulation Remedy = "simulation"
)

// A TooLargeError rejects a model, or an engine for it, for the memory that it would take. It wraps
// an *[InputError], whose words its message has.
type TooLargeError struct {
	Input   *InputError
	States  float64  // states of the tables, 0 if they were not counted
	Bytes   float64  // that it would take, 0 if only that the limit was passed is known
	Limit   int64    // bytes allowed
	Instead []Remedy // what has no such limit
}

func (e *TooLargeError) Error() string {
	text := e.Input.Error()
	if more := e.Remedies(func(r Remedy) string { return string(r) }); more != "" {
		text += "; " + more
	}
	return text
}

// Remedies returns a sentence about what has no such limit, with the names that name gives, "" for
// none of it. It is "" if nothing is known.
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
