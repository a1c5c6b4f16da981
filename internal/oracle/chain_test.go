package oracle_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// The M/M/2/4 queue, with transitions of rate 0 and self-transitions, has birth-death weights.
func TestChainMatchesBirthDeath(t *testing.T) {
	lambda := big.NewRat(3, 2)
	c := oracle.NewChain(2, func(n int, move func(int, *big.Rat)) {
		if n < 4 {
			move(n+1, lambda)
		}
		if n > 0 {
			move(n-1, big.NewRat(int64(min(n, 2)), 1))
		}
		move(n, big.NewRat(7, 1))
		move(9, new(big.Rat))
	})
	if len(c.Prob) != 5 {
		t.Errorf("%d states, want 5", len(c.Prob))
	}
	weight, total := []*big.Rat{big.NewRat(1, 1)}, big.NewRat(1, 1)
	for n := 1; n <= 4; n++ {
		w := new(big.Rat).Mul(weight[n-1], lambda)
		weight = append(weight, w.Quo(w, big.NewRat(int64(min(n, 2)), 1)))
		total.Add(total, w)
	}
	for n, w := range weight {
		if want := new(big.Rat).Quo(w, total); c.Prob[n].Cmp(want) != 0 {
			t.Errorf("π(%d) = %v, want %v", n, c.Prob[n], want)
		}
	}
	mean := c.Mean(func(n int) *big.Rat { return big.NewRat(int64(n), 1) })
	want := new(big.Rat)
	for n, w := range weight {
		want.Add(want, new(big.Rat).Mul(w, big.NewRat(int64(n), 1)))
	}
	if want.Quo(want, total); mean.Cmp(want) != 0 {
		t.Errorf("mean %v, want %v", mean, want)
	}
}

// In float64 the chain has the probabilities of fractions.
func TestFloatChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "states")
		rates := make([]int64, n*n)
		for k := range rates {
			rates[k] = rapid.Int64Range(1, 9).Draw(t, "rate")
		}
		exact := oracle.NewChain(0, func(s int, move func(to int, rate *big.Rat)) {
			for to := range n {
				if to != s {
					move(to, big.NewRat(rates[s*n+to], 1))
				}
			}
		})
		all, p := oracle.FloatChain(0, func(s int, move func(to int, rate float64)) {
			for to := range n {
				if to != s || n == 1 {
					move(to, float64(rates[s*n+to]))
				}
			}
		})
		for i, s := range all {
			if want, _ := exact.Prob[s].Float64(); math.Abs(p[i]-want) > 1e-12 {
				t.Errorf("state %d: %v, want %v", s, p[i], want)
			}
		}
	})
}
