package oiqueue

import (
	"context"
	"math/big"

	"productform/cluster"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// checkStability checks the stability condition Σ_{i∈A} λ_i < μ(A) for every non-empty set A of classes.
// It fills load and returns the slack, or the [*cluster.UnstableError] of the first overloaded set.
// Since mu is nondecreasing, it makes every drain positive: the classes A saturated in y alone
// leave the smallest rate, μ(A). G is then finite: the partial sums of G(y) over at most n jobs
// satisfy the recursion with <=.
func checkStability(ctx context.Context, q *Queue, l lattice.Lattice, mu, load []*big.Rat) (*big.Rat, error) {
	one, slack := big.NewRat(1, 1), big.NewRat(1, 1)
	at := make([]int, len(load)) // index of the state with m_i jobs of each class of A
	load[0] = new(big.Rat)
	for i, lambda := range q.ArrivalRates {
		for a := 1 << i; a < 2<<i; a++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			load[a] = new(big.Rat).Add(load[a^1<<i], lambda)
			at[a] = at[a^1<<i] + l.Limits[i]*l.Stride[i]
			if load[a].Cmp(mu[at[a]]) >= 0 {
				return nil, &cluster.UnstableError{
					Classes:     ranktable.Members(a),
					ArrivalRate: load[a],
					Capacity:    mu[at[a]],
				}
			}
			left := new(big.Rat).Quo(load[a], mu[at[a]])
			if left.Sub(one, left); left.Cmp(slack) < 0 {
				slack = left
			}
		}
	}
	return slack, nil
}
