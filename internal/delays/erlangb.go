package delays

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// InverseB returns 1/B(n) for a load a > 0, by Erlang's recursion with factors j/a in n steps.
func InverseB(ctx context.Context, n int, load *big.Rat, one arithmetic.Number) (arithmetic.Number, error) {
	return Inverse(ctx, n, one, factorOfB(load, one))
}

// factorOfB returns the function j/a.
func factorOfB(load *big.Rat, one arithmetic.Number) func(j int) arithmetic.Number {
	a := one.Rational(load)
	return func(j int) arithmetic.Number { return one.Integer(j).Quo(a) }
}

// Inverse returns x_n, x_0 = 1, x_j = 1 + factor(j) x_{j-1}. The error is the context's.
func Inverse(
	ctx context.Context, n int, one arithmetic.Number, factor func(j int) arithmetic.Number,
) (arithmetic.Number, error) {
	if one.Exact == nil && one.Interval.Low == nil {
		return inverseFloat(ctx, n, factor)
	}
	return inverseFrom(ctx, 0, one, n, one, factor)
}

// inverseFrom returns x_n, given x_j.
func inverseFrom(
	ctx context.Context, j int, x arithmetic.Number, n int, one arithmetic.Number, factor func(j int) arithmetic.Number,
) (arithmetic.Number, error) {
	for j++; j <= n; j++ {
		if err := ctx.Err(); err != nil {
			return x, err
		}
		x = one.Add(factor(j).Mul(x))
	}
	return x, nil
}

// inverseFloat is [Inverse] in float64 with exponents. Up to terms of second order, the bound is
// e_j = (1 - 1/x_j) (e_{j-1} + f + u) + u, with f the bound of factor(j): the 1 has no error, and
// dampens the error of the sum. So the bound stays near u times the number of rarely idle servers,
// even for large n.
func inverseFloat(ctx context.Context, n int, factor func(j int) arithmetic.Number) (arithmetic.Number, error) {
	const u = arithmetic.Roundoff
	one := arithmetic.Wide{F: 1}
	x, e := one, 0.0
	for j := 1; j <= n; j++ {
		if j%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return arithmetic.Number{}, err
			}
		}
		f := factor(j)
		product, worst := f.Wide.Times(x), arithmetic.Compound(e, f.Bound, u)
		x = one.Plus(product)
		part := product.Over(x).Double() * (1 + 4*worst + 8*u)
		e = arithmetic.Compound(min(part, 1)*worst, u, 0x1p-100)
	}
	return arithmetic.FromWide(x, e), nil
}

// QuotientBounds returns bounds on a float64 result: f/(1+e) and f/(1-e), rounded outward.
func QuotientBounds(x arithmetic.Number) (low, high *big.Float) {
	f := new(big.Float).SetMantExp(big.NewFloat(x.F), 512*x.Exp)
	e := big.NewFloat(x.Bound)
	one := big.NewFloat(1)
	low = num.Down(64).Quo(f, num.Up(64).Add(one, e))
	high = num.Up(64).Quo(f, num.Down(64).Sub(one, e))
	return low, high
}
