package dispatch_test

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
	wantRule           = "one of priority, proportion, workload, deadline, edf"
	wantSpare          = "one of priority, deadline, kept"
	wantFraction       = "a number in [0, 1]"
	wantHorizon        = "a number of seconds in [1e-50, 1e50], or 0 for 1 second"
	wantOne            = "at least one"
	wantPositive       = "a number in [1e-50, 1e50]"
	wantTime           = "a time in [0, 1e50]"
	wantNonnegative    = "a number in [0, 1e50]"
	wantDeadline       = "a time in (0, 1e50], or 0 for none"
	wantMost           = "an integer >= 1, or 0 for no limit"
	wantCount          = "an integer >= 1"
	wantNumber         = "an integer >= 0"
	wantSeconds        = "a number of seconds in [0, 1e50]"
	wantSpeeds         = "3 speeds, one per worker"
	wantDeadlineAfter5 = "a time in (5, 1e50], after the submission, or 0 for none"
	wantTasks          = "an integer in [1, 1000000000]"
	wantWork           = "a number of seconds in [1e-50, 1e50], or 0"
	wantEstimate       = "a number of seconds in [1e-50, 1e50], or 0 for the truth"
	wantWorks          = "2 numbers, one per task"
	wantDefault        = "a number of seconds in [1e-50, 1e50], or 0 for none"
	wantEmergency      = "a priority in (0, 1e50], or 0 for none"
	wantWorker         = "a worker, 0 to 1"
	wantEndAfter4      = "a time in (4, 1e50], after the start of the outage, or +Inf"
)
