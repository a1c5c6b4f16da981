package lattice

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/num"
)

// Balance returns the balance function of a total rate μ(x) > 0,
//
//	Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ(x),
//
// at the index of every state, or the sum over the classes that may be last if last returns them as
// bits, in the arithmetic of the rates and of one: N additions per state. It returns the errors of
// rate and of the context.
func Balance(
	ctx context.Context, y Lattice, one arithmetic.Number, last func(w *Walker) uint,
	rate func(w *Walker) (arithmetic.Number, error),
) ([]arithmetic.Number, error) {
	phi := make([]arithmetic.Number, y.States)
	phi[0] = one
	zero := one.Zero()
	for w := Walk(y); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu, err := rate(w)
		if err != nil {
			return nil, err
		}
		sum, may := zero, uint(0)
		if last != nil {
			may = last(w)
		}
		for i, n := range w.X {
			if n > 0 && (last == nil || may>>i&1 == 1) {
				sum = sum.Add(phi[w.At-w.Drop[i]])
			}
		}
		phi[w.At] = sum.Quo(mu)
	}
	return phi, nil
}

// Fractions returns [Balance] in fractions.
func Fractions(ctx context.Context, y Lattice, rate func(w *Walker) (*big.Rat, error)) ([]*big.Rat, error) {
	phi, err := Balance(ctx, y, arithmetic.One(num.Exact, 0), nil, func(w *Walker) (arithmetic.Number, error) {
		mu, err := rate(w)
		return arithmetic.Number{Exact: mu}, err
	})
	list := make([]*big.Rat, len(phi))
	for at, x := range phi {
		list[at] = x.Exact
	}
	return list, err
}

// A Violation is a state and a pair i < j of classes where rates lack the balance property.
type Violation struct {
	State       []int    // x
	I, J        int      // the classes i and j
	Left, Right *big.Rat // φ_i(x) φ_j(x-e_i) and φ_i(x-e_j) φ_j(x)
	Relative    *big.Rat // |Left - Right| / max(Left, Right), in [0, 1)
}

// Integrate returns the balance function Φ(x) = Φ(x-e_i)/φ_i(x), i the first class present, of
// rates φ_i(x) > 0 at the index of x. It also returns the first of the worst violations of the
// balance property, with Relative 0 if there are none. The walker is at state 0. It takes O(N²)
// products per state. The error is the context's.
func Integrate(ctx context.Context, w *Walker, rates [][]*big.Rat) ([]*big.Rat, Violation, error) {
	worst := Violation{Relative: new(big.Rat)}
	phi := make([]*big.Rat, w.States)
	phi[0] = big.NewRat(1, 1)
	for w.Next() {
		if err := ctx.Err(); err != nil {
			return nil, worst, err
		}
		at, first := rates[w.At], -1
		for j, n := range w.X {
			if n == 0 {
				continue
			}
			if first < 0 {
				first = j
			}
			for i := range j {
				if w.X[i] == 0 {
					continue
				}
				left := new(big.Rat).Mul(at[i], rates[w.At-w.Drop[i]][j])
				right := new(big.Rat).Mul(rates[w.At-w.Drop[j]][i], at[j])
				if gap := relativeGap(left, right); gap.Cmp(worst.Relative) > 0 {
					worst = Violation{slices.Clone(w.X), i, j, left, right, gap}
				}
			}
		}
		phi[w.At] = new(big.Rat).Quo(phi[w.At-w.Drop[first]], at[first])
	}
	return phi, worst, nil
}

// relativeGap returns |a-b| / max(a, b) for positive a and b.
func relativeGap(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		a, b = b, a
	}
	gap := new(big.Rat).Sub(a, b)
	return gap.Quo(gap, a)
}
