package audit

import "math/big"

// shortFraction returns the fraction with the smallest denominator in [x (1 - below), x (1 +
// above)], x >= 0.
func shortFraction(x *big.Rat, below, above float64) *big.Rat {
	low, high := new(big.Rat).SetFloat64(1-below), new(big.Rat).SetFloat64(1+above)
	return simplestBetween(low.Mul(low, x), high.Mul(high, x))
}

// simplestBetween returns the fraction with the smallest denominator in [low, high], 0 <= low <=
// high, by continued fractions.
func simplestBetween(low, high *big.Rat) *big.Rat {
	floor := new(big.Rat).SetInt(new(big.Int).Quo(low.Num(), low.Denom()))
	if floor.Cmp(low) == 0 {
		return floor
	}
	if next := new(big.Rat).Add(floor, big.NewRat(1, 1)); next.Cmp(high) <= 0 {
		return next
	}
	rest := simplestBetween(
		new(big.Rat).Inv(new(big.Rat).Sub(high, floor)), new(big.Rat).Inv(new(big.Rat).Sub(low, floor)),
	)
	return floor.Add(floor, rest.Inv(rest))
}
