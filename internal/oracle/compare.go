package oracle

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// Near reports whether two numbers differ by at most tol times the larger one.
func Near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b))
}

// Equal reports whether two lists hold the same numbers.
func Equal(a, b []*big.Rat) bool {
	return slices.EqualFunc(a, b, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
}

// Rats returns the numbers of a text such as "1 1/2 0.3".
func Rats(text string) []*big.Rat {
	var list []*big.Rat
	for f := range strings.FieldsSeq(text) {
		x, ok := new(big.Rat).SetString(f)
		if !ok {
			panic(f + " is not a number")
		}
		list = append(list, x)
	}
	return list
}

// Must returns v, and panics on an error, which must not occur.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
