package num

import "math/big"

// A RatInterval holds a number that is known to lie between two fractions, equal ones if it is
// known exactly.
type RatInterval struct{ Low, High *big.Rat }

// Exact reports whether the bounds are equal.
func (v RatInterval) Exact() bool { return v.Low.Cmp(v.High) == 0 }

// Contains reports whether Low <= x <= High.
func (v RatInterval) Contains(x *big.Rat) bool { return v.Low.Cmp(x) <= 0 && x.Cmp(v.High) <= 0 }
