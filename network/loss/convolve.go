package loss

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

func ratOf(n int) *big.Rat { return big.NewRat(int64(n), 1) }

// convolve returns Σ_i a_i b_{j-i} for j up to most, or until there are no more terms.
func convolve(ctx context.Context, a, b []arithmetic.Number, most int) ([]arithmetic.Number, error) {
	if len(a) == 1 && isOne(a[0]) {
		return b[:min(len(b), most+1)], nil
	}
	if len(b) == 1 && isOne(b[0]) {
		return a[:min(len(a), most+1)], nil
	}
	return addProducts(ctx, a, b, min(len(a)+len(b)-2, most), +1)
}

// correlate returns Σ_i a_i b_{i+j} for j up to most.
func correlate(ctx context.Context, a, b []arithmetic.Number, most int) ([]arithmetic.Number, error) {
	return addProducts(ctx, a, b, most, -1)
}

// addProducts adds a_i b_j to the entry j+i, or j-i if sign is -1.
func addProducts(ctx context.Context, a, b []arithmetic.Number, most, sign int) ([]arithmetic.Number, error) {
	stop := recursion.Cancellation{Ctx: ctx}
	zero := a[0].Zero()
	out := recursion.Fill(&stop, zero, most+1)
	float := zero.Exact == nil && zero.Interval.Low == nil
	terms, worstA, worstB := 0.0, 0.0, 0.0
	var wide []arithmetic.Wide
	if float {
		wide = make([]arithmetic.Wide, most+1)
		for _, y := range b {
			if err := stop.After(4); err != nil {
				return nil, err
			}
			worstB = max(worstB, y.Bound)
		}
	}
	for i, x := range a {
		if x.IsZero() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		low, high := max(0, -sign*i), min(len(b)-1, most-sign*i) // 0 <= j + sign i <= most
		if !float {
			for j := low; j <= high; j++ {
				if err := stop.After(recursion.BigSteps); err != nil {
					return nil, err
				}
				out[j+sign*i] = out[j+sign*i].Add(x.Mul(b[j]))
			}
			continue
		}
		terms, worstA = terms+1, max(worstA, x.Bound)
		for j := low; j <= high; j++ {
			wide[j+sign*i] = wide[j+sign*i].Plus(x.Wide.Times(b[j].Wide))
		}
	}
	// a product is rounded once, and each term takes part in fewer additions than the number of
	// terms, each with a further 2^-200
	if float {
		bound := arithmetic.Compound(worstA, worstB, arithmetic.Roundings(terms+1))
		for j := range out {
			if err := stop.After(8); err != nil {
				return nil, err
			}
			out[j] = arithmetic.FromWide(wide[j], bound)
		}
	}
	return out, nil
}

func isOne(x arithmetic.Number) bool {
	switch {
	case x.Exact != nil:
		return x.Exact.Cmp(ratOf(1)) == 0
	case x.Interval.Low != nil:
		one := big.NewFloat(1)
		return x.Interval.Low.Cmp(one) == 0 && x.Interval.High.Cmp(one) == 0
	}
	return x.F == 1 && x.Exp == 0 && x.Bound == 0
}
