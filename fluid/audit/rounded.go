package audit

import (
	"math/big"
	"slices"

	"productform/fluid"
	"productform/num"
)

// secondsAllowed is the estimated time of fractions above which rounded fractions are used instead.
const secondsAllowed = 1.

// rounded returns profiles with every number rounded down to roundedBits significant bits.
func rounded(e *fluid.Profiles) *fluid.Profiles {
	r := &fluid.Profiles{Dominant: roundDown(e.Dominant), Weight: roundDown(e.Weight), Count: e.Count, Top: e.Top}
	for _, need := range e.Need {
		r.Need = append(r.Need, roundDown(need))
	}
	if e.Limit != nil {
		r.Limit = roundDown(e.Limit)
	}
	return r
}

// roundedBits is the precision of rounded fractions. The quantities that [Audit] compares and
// [Indices] returns are sums of products of at most eight of these numbers or their inverses, and
// quotients of two such sums. Rounding changes them by factors within 1 ± roundedError.
const (
	roundedBits  = 128
	roundedError = 0x1p-100
)

func roundDown(x []*big.Rat) []*big.Rat {
	rounded := slices.Clone(x)
	for i, v := range x {
		if v != nil && max(v.Num().BitLen(), v.Denom().BitLen()) > roundedBits {
			rounded[i], _ = num.Down(roundedBits).SetRat(v).Rat(nil)
		}
	}
	return rounded
}
