package workload_test

import (
	"errors"

	"productform/internal/input"
)

// A badEntry is an entry that an error must name: its path, its value, empty for none, and the
// valid values.
type badEntry struct{ path, value, want string }

// is reports whether the error names this entry and has no cause.
func (b badEntry) is(err error) bool {
	var bad *input.Error
	return errors.As(err, &bad) && *bad == input.Error{Path: b.path, Value: b.value, Want: b.want}
}

// The valid values of entries, as errors state them.
const (
	wantPositive     = "a number in [1e-50, 1e50]"
	wantNonnegative  = "a number in [0, 1e50]"
	wantCount        = "an integer >= 1"
	wantNumber       = "an integer >= 0"
	wantSeconds      = "a number of seconds in [0, 1e50]"
	wantTasks        = "an integer in [1, 1000000000]"
	wantDistribution = "a distribution"
	wantParallelism  = "an integer >= 1, or 0 without deadlines"
	wantHighest      = "a number in [1, 1e50], at least the lowest priority"
	wantHigh         = "a number in [2, 1e50], at least the low end"
	wantFactor       = "a number in [1e-50, 1e50], or 0 for no deadlines"
	wantProcessors   = "an integer in [0, 1000000000], or -1 for unknown"
)
