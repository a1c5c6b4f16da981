package workload_test

import (
	"errors"

	"productform/internal/input"
)

// A badEntry is an entry that an error is to name: its path, its value, empty for none, and what is wanted of it.
type badEntry struct{ path, value, want string }

// is says whether the error names this entry, and no cause.
func (b badEntry) is(err error) bool {
	var bad *input.Error
	return errors.As(err, &bad) && *bad == input.Error{Path: b.path, Value: b.value, Want: b.want}
}

// What is wanted of entries, each sentence once.
const (
	wantPositive     = "a number in [1e-50, 1e50]"
	wantNonnegative  = "a number in [0, 1e50]"
	wantCount        = "an integer >= 1"
	wantNumber       = "an integer >= 0"
	wantSeconds      = "a number of seconds in [0, 1e50]"
	wantTasks        = "an integer in [1, 1000000000]"
	wantDistribution = "a distribution"
	wantParallelism  = "an integer >= 1, or 0 without deadlines"
	wantHighest      = "a number in [1, 1e50], from the lowest priority on"
	wantHigh         = "a number in [2, 1e50], from the low end on"
	wantFactor       = "a number in [1e-50, 1e50], or 0 for no deadlines"
	wantProcessors   = "an integer in [0, 1000000000], or -1 for unknown"
)
