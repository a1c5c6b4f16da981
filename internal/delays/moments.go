package delays

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// Moments returns E[T_i^k], k = 1..most, of every class, in the arithmetic of like. With V_0 = y and V_{j+1} = (-Q)^-1 V_j,
// a sweep down each, and c_i the values at time 0, ∫ t^(k-1) P(T_i > t) dt gives
//
//	E[T_i^k] = k! c_i (V_k + λ_i V_{k+1}) / Z   on the class lattice,
//	E[T_i^k] = k! c_i V_{k+1} / Z               on the lattices of servers.
func Moments(ctx context.Context, c *Chain, like arithmetic.Number, most int) ([][]arithmetic.Number, error) {
	r := &moments{c: c, like: like.One(), stop: recursion.Cancellation{Ctx: ctx}}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	sums := make([][]arithmetic.Number, len(c.marks)) // c_i V_j
	v := make([]arithmetic.Number, c.top+1)
	for k := range v {
		v[k] = r.like.Rational(big.NewRat(c.source(k), 1))
	}
	for range most + 1 {
		if err := r.down(v); err != nil {
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
	z := r.normalization()
	list := make([][]arithmetic.Number, len(c.marks))
	for i, s := range sums {
		rate := r.integer(c.problem.Classes[i].Rate)
		factor := r.like.Quo(z) // k! scale^k / Z
		for k := 1; k <= most; k++ {
			factor = factor.Mul(r.integer(new(big.Int).Mul(c.problem.Scale, big.NewInt(int64(k)))))
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
	c      *Chain
	like   arithmetic.Number // 1
	stop   recursion.Cancellation
	weight []arithmetic.Number
	den    []arithmetic.Number // of states 1..top
	v      []arithmetic.Number // values of the states 0..top
	reader *recursion.ShareReader
}

func (r *moments) integer(n *big.Int) arithmetic.Number {
	return r.like.Rational(new(big.Rat).SetInt(n))
}

// steps is how many additions of float64 one of these numbers counts for.
const steps = recursion.BigSteps

// prepare finds the values of all states.
func (r *moments) prepare() error {
	c := r.c
	if c.Shares != nil {
		r.reader = c.Shares.Reader()
	}
	for _, w := range c.Weights {
		r.weight = append(r.weight, r.integer(w))
	}
	r.den = make([]arithmetic.Number, c.top+1)
	r.v = make([]arithmetic.Number, c.top+1)
	r.v[0] = r.like
	for k := 1; k <= c.top; k++ {
		first, last := c.Terms(k)
		if err := r.stop.After(steps * int(last-first)); err != nil {
			return err
		}
		r.den[k] = c.Denominator(k, r.like)
		var sum arithmetic.Number
		for t := first; t < last; t++ {
			x := r.weight[c.Weight[t]].Mul(r.v[c.Child[t]])
			if t > first {
				x = sum.Add(x)
			}
			sum = x
		}
		r.v[k] = sum.Quo(r.den[k])
	}
	return nil
}

func (r *moments) normalization() arithmetic.Number {
	c := r.c
	if !c.ByClass {
		return r.v[c.top]
	}
	z := r.v[0]
	for _, x := range r.v[1:] {
		z = z.Add(x)
	}
	return z
}

// down takes v to (-Q)^-1 v.
func (r *moments) down(v []arithmetic.Number) error {
	c := r.c
	for k := c.top; k > 0; k-- {
		first, last := c.Terms(k)
		if err := r.stop.After(steps * int(last-first)); err != nil {
			return err
		}
		v[k] = v[k].Quo(r.den[k])
		for t := first; t < last; t++ {
			child := c.Child[t]
			v[child] = v[child].Add(r.weight[c.Weight[t]].Mul(v[k]))
		}
	}
	return nil
}

// sum returns Σ_k c_i(k) v(k).
func (r *moments) sum(i int, v []arithmetic.Number) (arithmetic.Number, error) {
	c := r.c
	sum := r.like.Zero()
	for k := 1; k <= c.top; k++ {
		if err := r.stop.After(len(c.marks[i])); err != nil {
			return sum, err
		}
		if !c.holds(i, k) {
			continue
		}
		if err := r.stop.After(steps); err != nil {
			return sum, err
		}
		sum = sum.Add(r.initial(i, k).Mul(v[k]))
	}
	return sum, nil
}

// initial returns c_i(k).
func (r *moments) initial(i, k int) arithmetic.Number {
	c := r.c
	x, share := r.like.Zero(), r.like
	for _, m := range c.marks[i] {
		x = x.Add(r.integer(m.weight).Mul(r.v[k-m.stride]))
		if m.share != nil {
			share = share.Mul(r.like.Rational(m.share[k/m.stride%m.size-m.choose]))
		}
	}
	if r.reader != nil {
		share = r.reader.Number(k, int32(i), r.like).Quo(r.integer(c.problem.Classes[i].Rate)) // of λ_i q_i
	}
	return x.Mul(share)
}
