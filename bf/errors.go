package bf

import (
	"productform/cluster"
	"productform/num"
)

// ErrUnstable says that a model has no stationary distribution.
var ErrUnstable = cluster.ErrUnstable

// An UnstableError names a set of classes whose jobs arrive at least as fast as all the
// servers they can use can work. It wraps [ErrUnstable].
type UnstableError = cluster.UnstableError

// A TooLargeError refuses a model, or an engine for it, for the memory that it would take.
type TooLargeError = num.TooLargeError
