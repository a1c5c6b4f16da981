package cluster

import (
	"fmt"
	"math/big"

	"productform/num"
)

// An UnstableError names a set of classes whose jobs arrive at least as fast as all the
// servers they can use can work. It wraps [num.ErrUnstable].
type UnstableError struct {
	Classes     []int    // rows of the model's classes; for classes with "choose", some of their server sets
	ArrivalRate *big.Rat // of the jobs of these classes (of those server sets), jobs per unit of time; of [Model.EqualSizes]
	Capacity    *big.Rat // of all servers they can use, jobs per unit of time; at most ArrivalRate
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

func (e *UnstableError) Error() string {
	return fmt.Sprintf("unstable: jobs arrive at least as fast as their servers can work: "+
		"classes %v bring %s jobs per unit of time to servers that can do %s", e.Classes, e.ArrivalRate.RatString(), e.Capacity.RatString())
}
