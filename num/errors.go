package num

import (
	"errors"

	"productform/internal/input"
)

// An InputError points at one entry of a model, a setting or a file that cannot be used: where it stands, what it is,
// and what would have been accepted. All packages of this module return it.
type InputError = input.Error

// ErrUnstable is wrapped by the errors of all theories for a model that has no stationary distribution. They name what
// is overloaded: cluster.UnstableError, tags.UnstableError and traffic.UnstableError.
var ErrUnstable = errors.New("unstable: work arrives at least as fast as it can be done")

// A TooLargeError refuses a model, or an engine for it, for the memory that it would take. It wraps an *[InputError],
// whose words its message has.
type TooLargeError struct {
	Input  *InputError
	States float64 // of the tables, 0 if they were not counted
	Bytes  float64 // that it would take, 0 if only that the limit was passed is known
	Limit  int64   // bytes allowed
}

func (e *TooLargeError) Error() string { return e.Input.Error() }

func (e *TooLargeError) Unwrap() error { return e.Input }
