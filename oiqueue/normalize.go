package oiqueue

import (
	"fmt"
	"math/big"

	"productform/internal/ranktable"
)

// An ExactResult holds the stationary measures of a [Queue] as fractions.
type ExactResult struct {
	Normalization    *big.Rat   // Z = Σ_x Φ(x) Π_i λ_i^x_i
	EmptyProbability *big.Rat   // π(∅) = 1/Z
	MeanJobs         []*big.Rat // E[X_i], jobs of class i
	Slack            *big.Rat   // min_A 1 - Σ_{i∈A} λ_i/μ(A), μ(A) the largest rate with only classes of A; in (0, 1]
	States           int        // size of the table
}

// maxExactStates bounds the table of [StationaryExact]: the digits of its fractions grow with every state.
const maxExactStates = 1 << 12

// StationaryExact returns the stationary measures of q as fractions. With m_i the Saturation
// of class i (1 for a Rank table), let G(y) be the measure of all x with min(x_i, m_i) = y_i
// for every i. Summing μ(x) Φ(x) = Σ_i Φ(x-e_i) over these x gives
//
//	G(0) = 1,  (μ(y) - Σ_{i: y_i=m_i} λ_i) G(y) = Σ_{i: y_i>0} λ_i G(y-e_i),  Z = Σ_y G(y),
//
// the recursion over active sets when every m_i is 1 (Bonald, Comte and Mathieu, POMACS 1(2),
// 2017, https://doi.org/10.1145/3154500), with nothing cut off beyond m; and E[X_j] = Σ_y L_j(y)/Z with
// L_j = λ_j ∂G/∂λ_j from the derivative of the recursion. It takes O(N^2 Π_i (m_i+1)) operations on
// fractions that get longer as they go; at most 2^12 states (12 classes with Rank) are accepted.
//
// The queue is stable if and only if Σ_{i∈A} λ_i < μ(A) for every non-empty A, where μ(A) is the
// rate with m_i jobs of each class of A; otherwise the error is an [*UnstableError] naming the first
// overloaded A in the order of the bit masks. The error is an *[cluster.InputError] if Rank is not positive or
// falls, a [*RateError] if a rate function does, or still changes one job beyond Saturation, wraps [ErrTooLarge], or
// [ErrUnbounded] if the rate is a function and Saturation is not set (see [Truncated]).
func StationaryExact(q *Queue) (*ExactResult, error) {
	t, err := newTable(q, maxExactStates)
	if err != nil {
		return nil, err
	}
	g := t.sweep(q.ArrivalRates, -1, nil)
	z := sum(g)
	mean := make([]*big.Rat, len(q.ArrivalRates))
	for j := range mean {
		mean[j] = sum(t.sweep(q.ArrivalRates, j, g))
		mean[j].Quo(mean[j], z)
	}
	return &ExactResult{z, new(big.Rat).Inv(z), mean, t.slack, t.states}, nil
}

// A table holds what the recursions need of a stable queue.
type table struct {
	lattice
	drain []*big.Rat // μ(y) - Σ_{i: y_i=m_i} λ_i > 0 at the index of y; nil at 0
	slack *big.Rat
}

// newTable tabulates the rates of q up to saturation, checks them and the stability of q.
func newTable(q *Queue, limit int) (*table, error) {
	if err := checkShape(q); err != nil {
		return nil, err
	}
	top := q.Saturation
	if q.Rank != nil {
		top = make([]int, len(q.ArrivalRates))
		for i := range top {
			top[i] = 1
		}
	} else if top == nil {
		return nil, fmt.Errorf("oiqueue: %w: set Saturation to the numbers of jobs beyond which the rate no longer changes, or use Truncated", ErrUnbounded)
	}
	l, err := newLattice(top, limit)
	if err != nil {
		return nil, err
	}
	mu, err := tabulate(q, l)
	if err != nil {
		return nil, err
	}
	load := make([]*big.Rat, 1<<len(top)) // Σ_{i∈A} λ_i
	slack, err := stability(q, l, mu, load)
	if err != nil {
		return nil, err
	}
	drain := make([]*big.Rat, l.states)
	for s, y := 1, l.first(); s < l.states; s++ {
		l.up(y)
		saturated := 0
		for i := range y {
			if y[i] == top[i] {
				saturated |= 1 << i
			}
		}
		drain[s] = new(big.Rat).Sub(mu[s], load[saturated])
	}
	return &table{l, drain, slack}, nil
}

// tabulate returns μ(y) at the index of y, positive, nondecreasing and constant one job beyond top.
func tabulate(q *Queue, l lattice) ([]*big.Rat, error) {
	if q.Rank != nil {
		return q.Rank, ranktable.Check(q.Rank, len(q.ArrivalRates))
	}
	mu := make([]*big.Rat, l.states)
	for s, y := 1, l.first(); s < l.states; s++ {
		l.up(y)
		var err error
		if mu[s], err = totalRate(q, y); err != nil {
			return nil, err
		}
		for i := range y {
			if p := s - l.stride[i]; y[i] > 0 && p > 0 && mu[p].Cmp(mu[s]) > 0 {
				c := sortedState(y)
				y[i]--
				return nil, &RateError{c, mu[s], sortedState(y), mu[p], ErrNotMonotone}
			}
			if y[i] == l.top[i] {
				y[i]++
				beyond, err := totalRate(q, y)
				if err != nil {
					return nil, err
				}
				c := sortedState(y)
				y[i]--
				if beyond.Cmp(mu[s]) != 0 {
					return nil, &RateError{c, beyond, sortedState(y), mu[s], ErrNotSaturated}
				}
			}
		}
	}
	return mu, nil
}

// stability fills load and returns the slack, or the error naming the first overloaded set.
// Since mu is nondecreasing, it makes every drain positive: the classes A saturated in y alone
// leave the smallest rate, μ(A). G is then finite: the partial sums of G(y) over at most n jobs
// satisfy the recursion with <=.
func stability(q *Queue, l lattice, mu, load []*big.Rat) (*big.Rat, error) {
	one, slack := big.NewRat(1, 1), big.NewRat(1, 1)
	at := make([]int, len(load)) // index of the state with m_i jobs of each class of A
	load[0] = new(big.Rat)
	for i, lambda := range q.ArrivalRates {
		for a := 1 << i; a < 2<<i; a++ {
			load[a] = new(big.Rat).Add(load[a^1<<i], lambda)
			at[a] = at[a^1<<i] + l.top[i]*l.stride[i]
			if load[a].Cmp(mu[at[a]]) >= 0 {
				return nil, &UnstableError{Classes: ranktable.Members(a), ArrivalRate: load[a], Capacity: mu[at[a]]}
			}
			left := new(big.Rat).Quo(load[a], mu[at[a]])
			if left.Sub(one, left); left.Cmp(slack) < 0 {
				slack = left
			}
		}
	}
	return slack, nil
}

// sweep returns G at every index or, given G, its derivative L_j = λ_j ∂G/∂λ_j, which obeys the
// same recursion with the source λ_j (G(y-e_j) [y_j>0] + G(y) [y_j=m_j]).
func (t *table) sweep(lambda []*big.Rat, j int, g []*big.Rat) []*big.Rat {
	v := make([]*big.Rat, t.states)
	v[0] = big.NewRat(1, 1)
	if g != nil {
		v[0].SetInt64(0)
	}
	term := new(big.Rat)
	for s, y := 1, t.first(); s < t.states; s++ {
		t.up(y)
		flow := new(big.Rat)
		for i, yi := range y {
			if yi == 0 {
				continue
			}
			p := s - t.stride[i]
			flow.Add(flow, term.Mul(lambda[i], v[p]))
			if i == j {
				flow.Add(flow, term.Mul(lambda[i], g[p]))
				if yi == t.top[i] {
					flow.Add(flow, term.Mul(lambda[i], g[s]))
				}
			}
		}
		v[s] = flow.Quo(flow, t.drain[s])
	}
	return v
}

func sum(v []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, x := range v {
		total.Add(total, x)
	}
	return total
}
