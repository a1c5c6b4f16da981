package oiqueue

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"productform/cluster"
)

// The reasons for which a queue has no answer; match them with errors.Is.
var (
	ErrUnstable       = cluster.ErrUnstable                                         // wrapped by *UnstableError
	ErrNotPositive    = errors.New("the rate of a non-empty queue is not positive") // this and the next three are wrapped by *RateError
	ErrNotMonotone    = errors.New("the rate falls when a job arrives")
	ErrOrderDependent = errors.New("the rate depends on the order of the jobs")
	ErrNotSaturated   = errors.New("the rate still changes beyond the numbers of jobs in Saturation")
	ErrUnbounded      = errors.New("no saturation bounds the state space")
	ErrTooLarge       = errors.New("too many states")
	ErrFloatRange     = errors.New("the rates are spread too widely for float64")
)

// An UnstableError names a set A of classes, in increasing order, whose jobs arrive at least as fast
// as the queue can ever serve them, so that no stationary distribution exists: Capacity is the
// largest rate with only classes of A present.
type UnstableError = cluster.UnstableError

// A RateError names a state, or two, at which TotalRate or OrderedRate is not the rate of an
// order-independent queue. For a Rank table the error is an *[cluster.InputError].
type RateError struct {
	State     []int    // classes of the jobs, oldest first
	Rate      *big.Rat // μ(State); nil if the rate function returned nil
	Other     []int    // the state it disagrees with; nil if State alone is at fault
	OtherRate *big.Rat // μ(Other)
	Err       error    // ErrNotPositive, ErrNotMonotone, ErrOrderDependent or ErrNotSaturated
}

func (e *RateError) Unwrap() error { return e.Err }
func (e *RateError) Error() string {
	s := fmt.Sprintf("oiqueue: %v: %s", e.Err, rateString(e.State, e.Rate))
	if e.Other != nil {
		s += " but " + rateString(e.Other, e.OtherRate)
	}
	return s
}

func rateString(c []int, mu *big.Rat) string {
	value := "nil"
	if mu != nil {
		value = mu.RatString()
	}
	return fmt.Sprintf("μ(%s) = %s", strings.Trim(fmt.Sprint(c), "[]"), value)
}

// A ClosedError names classes among which jobs circulate for ever, so that the traffic
// equations have no finite solution.
type ClosedError struct {
	Classes []int // in increasing order
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("oiqueue: jobs of classes %v never leave: want from each class a chain of positive probabilities to one whose row sums to less than 1", e.Classes)
}

func tooManyClasses(n int) error {
	return fmt.Errorf("oiqueue: %w: %d classes have 2^%d sets, want at most 2^%d; merge classes with equal servers, or let package bf work on sets of servers", ErrTooLarge, n, n, maxClasses)
}
