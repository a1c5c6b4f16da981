package delays

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// Moments returns E[T_i^k], k = 1..most, of every class, in the arithmetic of like. With V_0 = y
// and V_{j+1} = (-Q)^-1 V_j, a sweep down each, and c_i the values at time 0, ∫ t^(k-1) P(T_i > t)
// dt gives
//
//	E[T_i^k] = k! c_i (V_k + λ_i V_{k+1}) / Z   on the class lattice,
//	E[T_i^k] = k! c_i V_{k+1} / Z               on the lattices of servers.
func Moments(ctx context.Context, c *Chain, like arithmetic.Number, most int) ([][]arithmetic.Number, error) {
	kernel := recursion.NewNumbers(c.Graph, c.top+1, like)
	r := &moments{
		c:     c,
		Sweep: recursion.NewSweep(ctx, c.Graph, c.top+1, &kernel, arithmetic.Number{}, recursion.BigSteps),
	}
	if c.Shares != nil {
		r.reader = c.Shares.Reader()
	}
	if err := r.Up(); err != nil {
		return nil, err
	}
	sums := make([][]arithmetic.Number, len(c.marks)) // c_i V_j
	v := make([]arithmetic.Number, c.top+1)
	for k := range v {
		if err := r.Stop.After(recursion.BigSteps); err != nil {
			return nil, err
		}
		v[k] = r.Kernel.Like.Rational(big.NewRat(c.source(k), 1))
	}
	for range most + 1 {
		if err := r.Down(v, nil); err != nil {
			return nil, err
		}
		for i := range sums {
			s, err := r.sum(i, v)
			if err != nil {
				return nil, err
			}
			sums[i] = append(sums[i], s)
		}
	}
	z, err := r.normalization()
	if err != nil {
		return nil, err
	}
	list := make([][]arithmetic.Number, len(c.marks))
	for i, s := range sums {
		rate := r.Kernel.Integer(c.problem.Classes[i].Rate)
		factor := r.Kernel.Like.Quo(z) // k! scale^k / Z
		for k := 1; k <= most; k++ {
			factor = factor.Mul(r.Kernel.Integer(new(big.Int).Mul(c.problem.Scale, big.NewInt(int64(k)))))
			x := s[k]
			if c.ByClass {
				x = s[k-1].Add(rate.Mul(s[k]))
			}
			list[i] = append(list[i], factor.Mul(x))
		}
	}
	return list, nil
}

// moments holds the values of a chain in one arithmetic.
type moments struct {
	*recursion.Sweep[arithmetic.Number, *recursion.Numbers]
	c      *Chain
	reader *recursion.ShareReader
}

func (r *moments) normalization() (arithmetic.Number, error) {
	c := r.c
	if !c.ByClass {
		return r.Value[c.top], nil
	}
	z := r.Value[0]
	for _, x := range r.Value[1:] {
		if err := r.Stop.After(recursion.BigSteps); err != nil {
			return z, err
		}
		z = z.Add(x)
	}
	return z, nil
}

// sum returns Σ_k c_i(k) v(k).
func (r *moments) sum(i int, v []arithmetic.Number) (arithmetic.Number, error) {
	c := r.c
	sum := r.Kernel.Like.Zero()
	for k := 1; k <= c.top; k++ {
		if err := r.Stop.After(len(c.marks[i])); err != nil {
			return sum, err
		}
		if !c.holds(i, k) {
			continue
		}
		if err := r.Stop.After(recursion.BigSteps); err != nil {
			return sum, err
		}
		sum = sum.Add(r.initial(i, k).Mul(v[k]))
	}
	return sum, nil
}

// initial returns c_i(k).
func (r *moments) initial(i, k int) arithmetic.Number {
	c := r.c
	x, share := r.Kernel.Like.Zero(), r.Kernel.Like
	for _, m := range c.marks[i] {
		x = x.Add(r.Kernel.Integer(m.weight).Mul(r.Value[k-m.stride]))
		if m.share != nil {
			share = share.Mul(r.Kernel.Like.Rational(m.share[k/m.stride%m.size-m.choose]))
		}
	}
	if r.reader != nil {
		// share of λ_i q_i
		share = r.reader.Number(k, int32(i), r.Kernel.Like).Quo(r.Kernel.Integer(c.problem.Classes[i].Rate))
	}
	return x.Mul(share)
}
