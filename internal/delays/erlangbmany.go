package delays

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// InverseBOfMany returns 1/B(n) for a load a < n, as a float64 or an enclosure, in about 10 √a +
// n - a steps. The recursion x_j = 1 + j/a x_{j-1} forgets where it starts: a relative error of
// x_{j-1} is multiplied by 1 - 1/x_j, which is at most j/a because x_j = Σ_k Π_{i<k} (j-i)/a <=
// 1/(1 - j/a) for j < a. So it starts at some j below a with the bounds 1 and 1/(1 - j/a) on x_j.
// It has no fractions.
func InverseBOfMany(
	ctx context.Context, n int, load *big.Rat, one arithmetic.Number,
) (arithmetic.Number, error) {
	if one.Interval.Low != nil {
		j := startOfB(n, load, float64(one.Interval.Prec()))
		return lastInverses(ctx, j, n, load, one)
	}
	return lastInversesFloat(ctx, startOfB(n, load, 64), n, load) // 11 bits more than float64
}

// startOfB returns a number of servers j such that the product of i/a over j < i < a is about
// 2^-bits or less, and below the error of the start; 0 if there is none. With a - j = k the product
// is about e^(-k²/2a).
func startOfB(n int, load *big.Rat, bits float64) int {
	a, _ := load.Float64()
	k := math.Sqrt(2 * a * (bits*math.Ln2 + math.Log(a+1)))
	return int(max(0, math.Floor(min(a, float64(n))-1-k)))
}

// lastInverses encloses x_n, starting at j.
func lastInverses(
	ctx context.Context, j, n int, load *big.Rat, one arithmetic.Number,
) (arithmetic.Number, error) {
	x := one
	if j > 0 {
		high := new(big.Rat).Quo(load, new(big.Rat).Sub(load, integer(j))) // 1/(1 - j/a)
		x.Interval.High = num.FromRat(high, one.Interval.Prec()).High
	}
	return inverseFrom(ctx, j, x, n, one, factorOfB(load, one))
}

// lastInversesFloat returns x_n, starting at j with the upper bound. start bounds the remaining
// relative error of x_j. Roundings count as in inverseFloat, with 2u for the error of j/a.
func lastInversesFloat(ctx context.Context, j, n int, load *big.Rat) (arithmetic.Number, error) {
	const u, most = arithmetic.Roundoff, 0x1p400
	a, _ := load.Float64()
	first := float64(j)
	x, unit, start, e := 1.0, 1.0, 0.0, 0.0 // x in units of 1/unit, until 1 is negligible
	if j > 0 {
		x = a / (a - first) * (1 + 8*u*a/(a-first))
		start = x
	}
	exp := 0
	for j++; j <= n; j++ {
		if j%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return arithmetic.Number{}, err
			}
		}
		f := float64(j) / a
		product := float64(f * x)
		x = unit + product
		start *= min(f, 1)
		e = min(product/x*(1+16*e+32*u), 1)*(e+3*u)*(1+4*e+8*u) + u
		if x >= most {
			x, unit, exp = x*0x1p-512, unit*0x1p-512, exp+1
		}
	}
	const unitLost = 0x1p-190 // units that underflow are below 2^-1000 of x, in fewer than 2^64 steps
	return arithmetic.FromWide(arithmetic.NewWide(x, exp), arithmetic.Compound(e, 2*start+unitLost, 0)), nil
}
