package tags

import (
	"errors"
	"fmt"

	"productform/num"
)

// An UnstableError names the first host whose load is not below 1.
type UnstableError struct {
	Host      int     // 0-based
	Load      float64 // load of that host, >= 1 unless Undecided
	Undecided bool    // the load may be below 1: rounding hides it
}

func (e *UnstableError) Error() string {
	if e.Undecided {
		return fmt.Sprintf(
			"tags: host %d has load %v up to rounding, so it may or may not be below 1: want a load below 1",
			e.Host+1, e.Load,
		)
	}
	return fmt.Sprintf("tags: host %d has load %v: want a load below 1", e.Host+1, e.Load)
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

// ErrInfeasible is wrapped by the error for a model for which no cutoffs keep every host below
// load 1.
var ErrInfeasible = errors.New("tags: no cutoffs keep every host below load 1")

// An InfeasibleError reports the load below which cutoffs exist.
type InfeasibleError struct {
	Load    float64 // load of the model
	MaxLoad float64 // cutoffs exist for loads below this
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("tags: no cutoffs keep every host below load 1 at system load %v: want a load below %.12g",
		e.Load, e.MaxLoad)
}

func (e *InfeasibleError) Unwrap() error { return ErrInfeasible }
