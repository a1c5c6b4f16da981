package oiqueue

import (
	"context"
	"encoding/binary"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// Truncated sums the aggregate measure over all x with at most the given number n of jobs and
// bounds the truncation error. It does not need Saturation and supports rates that grow forever,
// such as μ(x) = Σ x_i. With W_k the measure of all x of k jobs, Λ = Σ λ_i and r = Λ / min {μ(x): Σ
// x_i = n+1} < 1,
//
//	W_{k+1} = Σ_x Σ_i λ_i Φ(x-e_i) Π_l λ_l^(x-e_i)_l / μ(x) <= r W_k  for k >= n,
//	Σ_{k>n} W_k <= W_n r/(1-r),   Σ_{k>n} k W_k <= W_n (n r/(1-r) + r/(1-r)^2),
//
// because a monotone μ is smallest, over more jobs, among the fewest. So each number lies between
// two fractions, and has these as bounds, rounded outward to 256 bits; without arrivals it is a
// fraction. There are C(N+n+1, N) states, at most 2^18, otherwise the error is a
// [*num.TooLargeError]. If r >= 1 the error is an *[num.InputError] that asks for more jobs: then a
// stable queue may still be beyond this bound, and [Stationary] with Saturation is the way. A
// [*RateError] names states where μ falls or is not positive.
func Truncated(ctx context.Context, q *Queue, jobs int) (*Result, error) {
	if err := checkShape(q); err != nil {
		return nil, err
	}
	n := len(q.ArrivalRates)
	if jobs < 0 {
		return nil, input.Errorf("jobs", jobs, "a whole number >= 0")
	}
	// C(N+n+1, k) grows with k up to the middle, and 20 of 40 is far too many already.
	most := min(jobs, maxTruncated) + 1
	if states := new(big.Int).Binomial(
		int64(n+most), int64(min(n, most, 20)),
	); states.Cmp(big.NewInt(maxTruncated)) > 0 {
		return nil, sizeError(
			"jobs", jobs, states, "fewer, for at most %d states; %d classes have %s or more of up to %d jobs",
			maxTruncated, n, digits(states), most,
		)
	}
	total := new(big.Rat)
	for _, l := range q.ArrivalRates {
		total.Add(total, l)
	}
	level, z, mean := firstLevel(n), big.NewRat(1, 1), make([]*big.Rat, n)
	for i := range mean {
		mean[i] = new(big.Rat)
	}
	states, last := 1, big.NewRat(1, 1) // W_0
	for k := 1; k <= jobs; k++ {
		var err error
		if level, err = level.next(ctx, q); err != nil {
			return nil, err
		}
		last = new(big.Rat)
		term, held := new(big.Rat), make([]big.Rat, n) // fractions of one level are shorter than the totals
		for _, s := range level {
			states++
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			last.Add(last, s.measure)
			for i, xi := range s.x {
				if xi > 0 {
					held[i].Add(&held[i], term.Mul(s.measure, term.SetInt64(int64(xi))))
				}
			}
		}
		z.Add(z, last)
		for i := range mean {
			mean[i].Add(mean[i], &held[i])
		}
	}
	beyond, err := level.next(ctx, q)
	if err != nil {
		return nil, err
	}
	var least *big.Rat
	for _, s := range beyond {
		if least == nil || s.mu.Cmp(least) < 0 {
			least = s.mu
		}
	}
	r := new(big.Rat).Quo(total, least)
	left := new(big.Rat).Sub(big.NewRat(1, 1), r)
	if left.Sign() <= 0 {
		return nil, input.Errorf("jobs", jobs,
			"more: jobs arrive at rate %s, and a state of %d jobs is served at rate %s, where the bound needs a "+
				"higher one",
			total.RatString(), jobs+1, least.RatString())
	}
	odds := new(big.Rat).Quo(r, left) // r/(1-r)
	tail := new(big.Rat).Mul(last, odds)
	tailJobs := new(big.Rat).SetInt64(int64(jobs))
	tailJobs.Add(tailJobs, new(big.Rat).Inv(left)).Mul(tailJobs, tail)

	high := new(big.Rat).Add(z, tail)
	res := &Result{
		Engine:           num.Enclose,
		States:           states,
		Normalization:    num.Between(z, high),
		EmptyProbability: num.Between(new(big.Rat).Inv(high), new(big.Rat).Inv(z)),
		Ratio:            r,
	}
	for _, m := range mean {
		most := new(big.Rat).Add(m, tailJobs)
		res.MeanJobs = append(res.MeanJobs, num.Between(m.Quo(m, high), most.Quo(most, z)))
	}
	return res, nil
}

const maxTruncated = 1 << 18

// A level holds the states with the same number of jobs.
type level []*levelState

type levelState struct {
	x       []int
	mu      *big.Rat // μ(x)
	measure *big.Rat // Φ(x) Π λ_i^x_i
}

func firstLevel(n int) level {
	return level{{make([]int, n), new(big.Rat), big.NewRat(1, 1)}}
}

// next returns the level with one more job.
func (l level) next(ctx context.Context, q *Queue) (level, error) {
	var up level
	at := make(map[string]*levelState)
	term := new(big.Rat)
	for _, from := range l {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := append([]int(nil), from.x...)
		for i, lambda := range q.ArrivalRates {
			x[i]++
			to := at[key(x)]
			if to == nil {
				mu, err := totalRate(q, x)
				if err != nil {
					return nil, err
				}
				to = &levelState{append([]int(nil), x...), mu, new(big.Rat)}
				at[key(x)] = to
				up = append(up, to)
			}
			if to.mu.Cmp(from.mu) < 0 {
				return nil, &RateError{sortedState(to.x), to.mu, sortedState(from.x), from.mu, ErrNotMonotone}
			}
			to.measure.Add(to.measure, term.Mul(lambda, from.measure))
			x[i]--
		}
	}
	for _, to := range up {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to.measure.Quo(to.measure, to.mu)
	}
	return up, nil
}

func key(x []int) string {
	var b []byte
	for _, xi := range x {
		b = binary.AppendUvarint(b, uint64(xi))
	}
	return string(b)
}
