package oneserver

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
)

// numbers are the numbers of the states of a part that the recursions need, in one arithmetic.
type numbers struct {
	*states
	one  arithmetic.Number
	work []arithmetic.Number // μ(k)
	held []arithmetic.Number // λ(k), the rate of the jobs whose servers are all busy
	gain []arithmetic.Number // d(k) = μ(k) - λ(k) > 0, except at k = 0
	idle []arithmetic.Number // λ - λ(k) > 0, except at k = n
}

// newNumbers tabulates the numbers.
func newNumbers(ctx context.Context, s *states, one arithmetic.Number) (*numbers, error) {
	n := &numbers{states: s, one: one}
	if s.held64 != nil {
		return n, n.fromIntegers(ctx)
	}
	total := new(big.Rat)
	for _, c := range s.classes {
		total.Add(total, c.rate)
	}
	err := s.exact(ctx, func(_ int, _ []int, inside, work *big.Rat) {
		n.work = append(n.work, one.Rational(new(big.Rat).Set(work)))
		n.held = append(n.held, one.Rational(inside))
		n.gain = append(n.gain, one.Rational(new(big.Rat).Sub(work, inside)))
		n.idle = append(n.idle, one.Rational(new(big.Rat).Sub(total, inside)))
	})
	return n, err
}

// fromIntegers tabulates the numbers if they are integers in a unit.
func (n *numbers) fromIntegers(ctx context.Context) error {
	unit, _ := new(big.Float).SetInt(n.unit).Float64()
	number := func(x int64) arithmetic.Number {
		if n.one.Exact == nil && n.one.Interval.Low == nil { // three roundings
			return arithmetic.FromFloat(float64(x)/unit, arithmetic.Roundings(3))
		}
		return n.one.Rational(new(big.Rat).SetFrac(big.NewInt(x), n.unit))
	}
	for at, held := range n.held64 {
		if err := ctx.Err(); err != nil {
			return err
		}
		work := n.work64(at)
		n.work, n.held = append(n.work, number(work)), append(n.held, number(held))
		n.gain, n.idle = append(n.gain, number(work-held)), append(n.idle, number(n.all64-held))
	}
	return nil
}

// A sweep holds the solutions of the recursions of the package comment over the states of a part,
// in one arithmetic.
type sweep struct {
	*numbers
	busy, free []arithmetic.Number // F, H
	up, down   []arithmetic.Number // A, B
	weight     []arithmetic.Number // F H
	z          arithmetic.Number   // Z = Σ F H
}

// newSweep solves the recursions.
func newSweep(ctx context.Context, s *numbers) (*sweep, error) {
	w := &sweep{numbers: s}
	var err error
	if w.busy, err = s.climb(ctx, nil, s.gain); err != nil {
		return nil, err
	}
	if w.free, err = s.fall(ctx, nil, s.idle); err != nil {
		return nil, err
	}
	if w.up, err = s.fall(ctx, w.free, s.gain); err != nil {
		return nil, err
	}
	if w.down, err = s.climb(ctx, w.busy, s.idle); err != nil {
		return nil, err
	}
	w.weight = make([]arithmetic.Number, s.States)
	for at := range w.weight {
		w.weight[at] = w.busy[at].Mul(w.free[at])
	}
	w.z, err = arithmetic.Sum(ctx, 0, s.States-1, func(at int) arithmetic.Number { return w.weight[at] })
	return w, err
}

// climb solves in increasing order X(k) = Σ_g X(k-e_g)/d(k) with X(0) = 1 or, given a source,
// X(k) = source(k) + Σ_g X(k-e_g)/d(k-e_g).
func (s *numbers) climb(ctx context.Context, source, d []arithmetic.Number) ([]arithmetic.Number, error) {
	v, x := make([]arithmetic.Number, s.States), make([]int, len(s.groups))
	for at := range v {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := s.one.Zero()
		for g, k := range x {
			if k == 0 {
				continue
			}
			below := at - s.Stride[g]
			if source == nil {
				sum = sum.Add(v[below])
			} else {
				sum = sum.Add(v[below].Quo(d[below]))
			}
		}
		switch {
		case source != nil:
			v[at] = sum.Add(source[at])
		case at == 0:
			v[at] = s.one
		default:
			v[at] = sum.Quo(d[at])
		}
		s.Next(x)
	}
	return v, nil
}

// fall solves in decreasing order X(k) = Σ_g X(k+e_g)/d(k) with X(n) = 1 or, given a source,
// X(k) = source(k) + Σ_g X(k+e_g)/d(k+e_g).
func (s *numbers) fall(ctx context.Context, source, d []arithmetic.Number) ([]arithmetic.Number, error) {
	v, x := make([]arithmetic.Number, s.States), s.Point(s.States-1)
	for at := s.States - 1; at >= 0; at-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := s.one.Zero()
		for g, k := range x {
			if k == s.Limits[g] {
				continue
			}
			above := at + s.Stride[g]
			if source == nil {
				sum = sum.Add(v[above])
			} else {
				sum = sum.Add(v[above].Quo(d[above]))
			}
		}
		switch {
		case source != nil:
			v[at] = sum.Add(source[at])
		case at == s.States-1:
			v[at] = s.one
		default:
			v[at] = sum.Quo(d[at])
		}
		s.Back(x)
	}
	return v, nil
}
