package num

import "math/big"

// JoinDenominator multiplies unit > 0 by the smallest integer that makes it a multiple of the
// denominator of x. If it starts at 1, it becomes the least common denominator of the numbers
// passed so far. x is not modified.
func JoinDenominator(unit *big.Int, x *big.Rat) {
	d := x.Denom()
	if d.IsInt64() && unit.IsInt64() && unit.Int64()%d.Int64() == 0 {
		return // this allocates nothing
	}
	common := new(big.Int).GCD(nil, nil, unit, d)
	unit.Mul(unit, common.Quo(d, common))
}
