package num

import (
	"errors"

	"productform/internal/input"
)

// An InputError points at one entry of a model, a setting or a file that cannot be used: where it stands, what it is, and
// what would have been accepted. All packages of this module return it.
type InputError = input.Error

// ErrUnstable is wrapped by the errors of all theories for a model that has no stationary distribution. They name what
// is overloaded: cluster.UnstableError, tags.UnstableError and fluid.UnstableError.
var ErrUnstable = errors.New("unstable: work arrives at least as fast as it can be done")
