package oiqueue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// The reasons for which a queue has no answer; match them with errors.Is.
var (
	// this and the next three are wrapped by *RateError
	ErrNotPositive    = errors.New("the rate of a non-empty queue is not positive")
	ErrNotMonotone    = errors.New("the rate falls when a job arrives")
	ErrOrderDependent = errors.New("the rate depends on the order of the jobs")
	ErrNotSaturated   = errors.New("the rate still changes beyond the numbers of jobs in Saturation")
	ErrUnbounded      = errors.New("the rate has no saturation, so there are infinitely many states")
)

// A rangeError is the error of float64 for rates that are spread too widely. It wraps
// [num.ErrFloatRange].
type rangeError struct{ text string }

func rangeErrorf(format string, args ...any) error { return &rangeError{fmt.Sprintf(format, args...)} }

func (e *rangeError) Unwrap() error { return num.ErrFloatRange }
func (e *rangeError) Error() string {
	return "oiqueue: the rates are spread too widely for float64: " + e.text
}

// A RateError names a state, or two, at which TotalRate or OrderedRate is not the rate of an
// order-independent queue. For a Rank table the error is a *[num.InputError].
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

// A ClosedError names classes among which jobs circulate forever, in which case the traffic
// equations have no finite solution.
type ClosedError struct {
	Classes []int // in increasing order
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("oiqueue: jobs of classes %v never leave: want from each class a chain of positive "+
		"probabilities to one whose row sums to less than 1", e.Classes)
}

// sizeError returns the error for a number of states that is too large, 0 if they were not counted.
func sizeError(path string, value any, states *big.Int, format string, args ...any) error {
	n, _ := new(big.Float).SetInt(states).Float64()
	return &num.TooLargeError{States: min(n, math.MaxFloat64), Input: input.Errorf(path, value, format, args...)}
}

func classLimitError(n int) error {
	return sizeError("ArrivalRates", fmt.Sprintf("%d classes", n), new(big.Int).Lsh(big.NewInt(1), uint(n)),
		"at most %d classes, whose sets are tabulated; merge classes with equal servers, or let package bf work on "+
			"sets of servers",
		maxClasses)
}
