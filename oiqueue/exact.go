package oiqueue

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// An ExactResult holds the stationary measures of a [Queue] as fractions.
type ExactResult struct {
	Normalization    *big.Rat   // Z = Σ_x Φ(x) Π_i λ_i^x_i
	EmptyProbability *big.Rat   // π(∅) = 1/Z
	MeanJobs         []*big.Rat // E[X_i], jobs of class i
	// P(min(X_i, m_i) = y_i for all i) at the index Σ_i y_i Π_{j<i} (m_j+1) of y, so at the bit
	// mask of the set of active classes with Rank
	Active []*big.Rat
	Slack  *big.Rat // min_A 1 - Σ_{i∈A} λ_i/μ(A), μ(A) the largest rate with only classes of A; in (0, 1]
	States int      // size of the table
}

// maxExactStates bounds the table of [StationaryExact]: the digits of its fractions grow with every
// state.
const maxExactStates = 1 << 12

// StationaryExact returns the stationary measures of q as fractions. With m_i the Saturation
// of class i (1 for a Rank table), let G(y) be the measure of all x with min(x_i, m_i) = y_i
// for every i. Summing μ(x) Φ(x) = Σ_i Φ(x-e_i) over these x gives
//
//	G(0) = 1,  (μ(y) - Σ_{i: y_i=m_i} λ_i) G(y) = Σ_{i: y_i>0} λ_i G(y-e_i),  Z = Σ_y G(y),
//
// the recursion over active sets when every m_i is 1 (Bonald, Comte and Mathieu, POMACS 1(2), 2017,
// https://doi.org/10.1145/3154500), with nothing cut off beyond m; and for all classes at once,
// with its adjoint,
//
//	V(y) (μ(y) - Σ_{i: y_i=m_i} λ_i) = 1 + Σ_{i: y_i<m_i} λ_i V(y+e_i),
//	E[X_i] = λ_i/Z Σ_{y: y_i>0} V(y) (G(y-e_i) + G(y) [y_i=m_i]).
//
// It takes O(N Π_i (m_i+1)) operations on fractions that get longer as they go; at most 2^12 states
// (12 classes with Rank) are accepted.
//
// The queue is stable if and only if Σ_{i∈A} λ_i < μ(A) for every non-empty A, where μ(A) is the
// rate with m_i jobs of each class of A; otherwise the error is an [*cluster.UnstableError] naming
// the first overloaded A in the order of the bit masks. The error is a *[num.InputError] if Rank is
// not positive or falls, a [*RateError] if a rate function does, or still changes one job beyond
// Saturation, a [*num.TooLargeError], or [ErrUnbounded] if the rate is a function and Saturation is
// not set (see [Truncated]).
func StationaryExact(ctx context.Context, q *Queue) (*ExactResult, error) {
	t, err := newTable(ctx, q, maxExactStates)
	if err != nil {
		return nil, err
	}
	g, jobs, z, err := t.recursion(q, arithmetic.One(num.Exact, 0)).Measures(ctx)
	if err != nil {
		return nil, err
	}
	r := &ExactResult{
		Normalization:    z.Exact,
		EmptyProbability: new(big.Rat).Inv(z.Exact),
		Slack:            t.slack,
		States:           t.States,
	}
	for _, x := range jobs {
		r.MeanJobs = append(r.MeanJobs, x.Exact)
	}
	for _, x := range g {
		if err := ctx.Err(); err != nil { // fractions are long
			return nil, err
		}
		r.Active = append(r.Active, x.Quo(z).Exact)
	}
	return r, nil
}

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
	slack, err := stability(ctx, q, l, mu, load)
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

// recursion returns the recursion of the table in the arithmetic of one.
func (t *table) recursion(q *Queue, one arithmetic.Number) *lattice.Recursion {
	r := &lattice.Recursion{Lattice: t.Lattice, Drain: make([]arithmetic.Number, t.States)}
	for _, l := range q.ArrivalRates {
		r.Lambda = append(r.Lambda, one.Rational(l))
	}
	for at := 1; at < t.States; at++ {
		r.Drain[at] = one.Rational(t.drain[at])
	}
	return r
}

func sum(v []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, x := range v {
		total.Add(total, x)
	}
	return total
}
