package oiqueue

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// The rate of each position is what the servers, or the constraints, give to that job.
func TestPositionRatesMatchServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		s := drawSystem(t, n)
		c := drawState(t, n, 8)
		if got, want := must(PositionRates(t.Context(), s.q, c))(t), s.served(c); !oracle.Equal(got, want) {
			t.Errorf("PositionRates(t.Context(), %v) = %v, want %v", c, got, want)
		}
	})
}

func TestPartialBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		q := drawQueue(t, n)
		c := drawState(t, n, 6)
		for i, d := range must(PartialBalance(t.Context(), q, c))(t) {
			if d.Sign() != 0 {
				t.Errorf("class %d is out of balance by %v in state %v", i, d, c)
			}
		}
	})
}

// The oldest job decides the rate: no product form, and partial balance shows it.
func TestPartialBalanceSeesOrder(t *testing.T) {
	q := &Queue{ArrivalRates: rats(t, "1", "1"), OrderedRate: func(c []int) *big.Rat { return rat(int64(c[0]+1), 1) }}
	// By hand in the empty state: λ_i - (λ_i/μ(i)) μ(i) = 0. In state (0): π = 1; for i = 1 the
	// insertions give state (1, 0): π = 1/4, first job served at 2; state (0, 1): π = 1, second job
	// served at 0; 1 - 1/2 = 1/2.
	got := must(PartialBalance(t.Context(), q, []int{0}))(t)
	if want := rats(t, "0", "1/2"); !oracle.Equal(got, want) {
		t.Errorf("PartialBalance = %v, want %v", got, want)
	}
}

// Both sides of (2)-(4): Φ by its recursion against the sum of π(c) over all orders, Theorem 2
// by balance against the mean over all orders, and Corollary 1.
func TestAggregateAndTheorem2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		q := drawQueue(t, n)
		k := rapid.IntRange(0, 5).Draw(t, "jobs")
		for _, x := range vectors(n, k) {
			total := new(big.Rat)
			for _, c := range states(n, k) {
				if slices.Equal(counts(n, c), x) {
					total.Add(total, must(StateMeasure(t.Context(), q, c))(t))
				}
			}
			if got := must(AggregateMeasure(t.Context(), q, x))(t); got.Cmp(total) != 0 {
				t.Fatalf("AggregateMeasure(t.Context(), %v) = %v, sum over orders = %v", x, got, total)
			}
			phi := must(Allocation(t.Context(), q, x))(t)
			if mean := must(MeanAllocation(t.Context(), q, x))(t); !oracle.Equal(phi, mean) {
				t.Fatalf("x = %v: Allocation = %v, mean over orders = %v", x, phi, mean)
			}
			if k == 0 {
				continue
			}
			if mu := must(totalRate(q, x))(t); oracle.Sum(phi).Cmp(mu) != 0 {
				t.Fatalf("x = %v: φ = %v sums to %v, want μ = %v", x, phi, oracle.Sum(phi), mu)
			}
		}
	})
}

// Corollary 1: φ lies in the capacity set of a compatibility graph.
func TestAllocationInCapacitySet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		q := drawGraph(t, n).q
		x := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "x")
		phi := must(Allocation(t.Context(), q, x))(t)
		for _, set := range oracle.Subsets(n) {
			total := new(big.Rat)
			for _, i := range set {
				total.Add(total, phi[i])
			}
			if mu := q.Rank[oracle.Mask(set)]; total.Cmp(mu) > 0 {
				t.Errorf("x = %v: classes %v get %v of %v", x, set, total, mu)
			}
		}
	})
}

// Corollary 2 on the states of at most 4 jobs, for a random function g of the counts.
func TestOrderIndependentMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		q := drawQueue(t, n)
		a := rapid.SliceOfN(rapid.Int64Range(-9, 9), n, n).Draw(t, "coefficients")
		g := func(x []int) *big.Rat { // neither linear nor additive
			v := int64(1)
			for i, xi := range x {
				v = v*a[i] + int64(xi*xi)
			}
			return new(big.Rat).SetInt64(v)
		}
		detailed, aggregate := new(big.Rat), new(big.Rat)
		for k := range 5 {
			for _, c := range states(n, k) {
				v := g(counts(n, c))
				detailed.Add(detailed, v.Mul(v, must(StateMeasure(t.Context(), q, c))(t)))
			}
			for _, x := range vectors(n, k) {
				v := g(x)
				aggregate.Add(aggregate, v.Mul(v, must(AggregateMeasure(t.Context(), q, x))(t)))
			}
		}
		if detailed.Cmp(aggregate) != 0 {
			t.Errorf("detailed %v, aggregate %v", detailed, aggregate)
		}
	})
}

func TestTooManyOrders(t *testing.T) {
	q := must(MMc(rats(t, "1", "1"), 1, rat(3, 1)))(t)
	for _, x := range [][]int{{12, 12}, {1000000, 1}, {600, 600}} { // C(24,12) = 2704156 > 2^20
		if _, err := MeanAllocation(t.Context(), q, x); !isTooLarge(err) {
			t.Errorf("MeanAllocation(t.Context(), %v): %v", x, err)
		}
	}
	if _, err := Balance(t.Context(), q, []int{math.MaxInt, math.MaxInt}); !isTooLarge(err) {
		t.Errorf("Balance: %v", err)
	}
}
