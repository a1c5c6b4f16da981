package oiqueue

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// A table holds what the recursions need of a stable queue.
type table struct {
	lattice.Lattice
	drain []*big.Rat // μ(y) - Σ_{i: y_i=m_i} λ_i > 0 at the index of y; nil at 0
	slack *big.Rat
}

// newTable tabulates the rates of q up to saturation, checks them and the stability of q.
func newTable(ctx context.Context, q *Queue, limit int) (*table, error) {
	if err := checkShape(q); err != nil {
		return nil, err
	}
	top := q.Saturation
	if q.Rank != nil {
		top = slices.Repeat([]int{1}, len(q.ArrivalRates))
	} else if top == nil {
		return nil, fmt.Errorf("oiqueue: %w: set Saturation to the numbers of jobs beyond which the rate no longer "+
			"changes, or use Truncated", ErrUnbounded)
	}
	l, err := newLattice(top, limit)
	if err != nil {
		return nil, err
	}
	mu, err := tabulate(ctx, q, l)
	if err != nil {
		return nil, err
	}
	load := make([]*big.Rat, 1<<len(top)) // Σ_{i∈A} λ_i
	slack, err := checkStability(ctx, q, l, mu, load)
	if err != nil {
		return nil, err
	}
	drain := make([]*big.Rat, l.States)
	for w := lattice.Walk(l); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		saturated := 0
		for i, y := range w.X {
			if y == top[i] {
				saturated |= 1 << i
			}
		}
		drain[w.At] = new(big.Rat).Sub(mu[w.At], load[saturated])
	}
	return &table{l, drain, slack}, nil
}

// tabulate returns μ(y) at the index of y, positive, nondecreasing and constant one job beyond top.
func tabulate(ctx context.Context, q *Queue, l lattice.Lattice) ([]*big.Rat, error) {
	if q.Rank != nil {
		return q.Rank, ranktable.Check(ctx, q.Rank, len(q.ArrivalRates))
	}
	mu := make([]*big.Rat, l.States)
	for w := lattice.Walk(l); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if mu[w.At], err = totalRate(q, w.X); err != nil {
			return nil, err
		}
		for i := range w.X {
			if err := checkNeighbours(q, w, mu, i); err != nil {
				return nil, err
			}
		}
	}
	return mu, nil
}

// checkNeighbours compares the rate of the state of w with that without a job of class i and, if
// y_i = m_i, with one more.
func checkNeighbours(q *Queue, w *lattice.Walker, mu []*big.Rat, i int) error {
	y := slices.Clone(w.X)
	if p := w.At - w.Stride[i]; y[i] > 0 && p > 0 && mu[p].Cmp(mu[w.At]) > 0 {
		y[i]--
		return &RateError{sortedState(w.X), mu[w.At], sortedState(y), mu[p], ErrNotMonotone}
	}
	if y[i] < w.Limits[i] {
		return nil
	}
	y[i]++
	beyond, err := totalRate(q, y)
	if err == nil && beyond.Cmp(mu[w.At]) != 0 {
		err = &RateError{sortedState(y), beyond, sortedState(w.X), mu[w.At], ErrNotSaturated}
	}
	return err
}

// recursion returns the recursion of the table in the arithmetic of one. The error is the
// context's.
func (t *table) recursion(ctx context.Context, q *Queue, one arithmetic.Number) (*lattice.Recursion, error) {
	r := &lattice.Recursion{Lattice: t.Lattice, Drain: make([]arithmetic.Number, t.States)}
	for _, l := range q.ArrivalRates {
		r.Lambda = append(r.Lambda, one.Rational(l))
	}
	for at := 1; at < t.States; at++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Drain[at] = one.Rational(t.drain[at])
	}
	return r, nil
}
