package oracle

import (
	"math"
	"math/big"
	"slices"
)

// Near reports whether two numbers differ by at most tol times the larger one.
func Near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b))
}

// Equal reports whether two lists hold the same numbers.
func Equal(a, b []*big.Rat) bool {
	return slices.EqualFunc(a, b, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
}

// Must returns v, and panics with an error that cannot be.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
