package oiqueue

import (
	"math/big"
	"math/bits"
	"testing"

	"productform/internal/oracle"

	"pgregory.net/rapid"
)

// erlang returns the normalization and the mean number of jobs of the M/M/c queue with
// offered load a < c, by Erlang's C formula: E = a + C(c, a) ρ/(1-ρ), ρ = a/c.
func erlang(c int, a *big.Rat) (z, mean *big.Rat) {
	term, z := rat(1, 1), new(big.Rat)
	for k := 1; k <= c; k++ {
		z.Add(z, term)
		term = new(big.Rat).Mul(term, a)
		term.Quo(term, rat(int64(k), 1)) // a^k/k!
	}
	rho := new(big.Rat).Quo(a, rat(int64(c), 1))
	left := new(big.Rat).Sub(rat(1, 1), rho)
	wait := term.Quo(term, left)
	z.Add(z, wait)
	mean = new(big.Rat).Quo(wait, z)
	mean.Mul(mean, rho).Quo(mean, left)
	return z, mean.Add(mean, a)
}

func TestMMcMatchesErlangC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.IntRange(1, 3).Draw(t, "classes"), rapid.IntRange(1, 5).Draw(t, "servers")
		rate := drawRat(t, "service rate", 1)
		q := drawStable(t, must(MMc(drawRates(t, n), c, rate))(t))
		total := oracle.Sum(q.ArrivalRates)
		z, mean := erlang(c, new(big.Rat).Quo(total, rate))
		got := must(Stationary(t.Context(), q, exactly))(t)
		if got.Normalization.Exact.Cmp(z) != 0 {
			t.Errorf("Z = %v, want %v", got.Normalization, z)
		}
		for i, l := range q.ArrivalRates { // all classes wait equally long
			want := new(big.Rat).Mul(mean, l)
			if want.Quo(want, total); got.MeanJobs[i].Exact.Cmp(want) != 0 {
				t.Errorf("MeanJobs[%d] = %v, want %v", i, got.MeanJobs[i], want)
			}
		}
	})
}

func sameAnswer(t *rapid.T, what string, p, q *Queue) {
	a, b := must(Stationary(t.Context(), p, exactly))(t), must(Stationary(t.Context(), q, exactly))(t)
	if a.Normalization.Exact.Cmp(b.Normalization.Exact) != 0 ||
		!oracle.Equal(oracle.Fractions(a.MeanJobs), oracle.Fractions(b.MeanJobs)) {
		t.Errorf("%s: Z = %v and %v, means %v and %v", what, a.Normalization, b.Normalization, a.MeanJobs, b.MeanJobs)
	}
}

// Limits that never bind leave M/M/c, enough servers leave one M/M/b_i a class, one server leaves
// M/M/1.
func TestMSCCCSpecialCases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.IntRange(1, 3).Draw(t, "classes"), rapid.IntRange(1, 4).Draw(t, "servers")
		rate := drawRat(t, "service rate", 1)
		limits := make([]int, n)
		for i := range limits {
			limits[i] = c + rapid.IntRange(0, 2).Draw(t, "excess")
		}
		q := drawStable(t, must(MSCCC(drawRates(t, n), c, rate, limits))(t))
		sameAnswer(t, "loose limits", q, must(MMc(q.ArrivalRates, c, rate))(t))

		servers := 0
		for i := range limits {
			limits[i] = rapid.IntRange(1, 3).Draw(t, "limit")
			servers += limits[i]
		}
		q = drawStable(t, must(MSCCC(drawRates(t, n), servers, rate, limits))(t))
		got, z := must(Stationary(t.Context(), q, exactly))(t), rat(1, 1)
		for i, l := range q.ArrivalRates {
			zi, mean := erlang(limits[i], new(big.Rat).Quo(l, rate))
			z.Mul(z, zi)
			if got.MeanJobs[i].Exact.Cmp(mean) != 0 {
				t.Errorf("MeanJobs[%d] = %v, M/M/%d has %v", i, got.MeanJobs[i], limits[i], mean)
			}
		}
		if got.Normalization.Exact.Cmp(z) != 0 {
			t.Errorf("Z = %v, want %v", got.Normalization, z)
		}

		q = drawStable(t, must(MSCCC(drawRates(t, n), 1, rate, nil))(t))
		sameAnswer(t, "one server", q, must(MMc(q.ArrivalRates, 1, rate))(t))
	})
}

// One job per class in service and c < N servers: the rate is a rank function min(c, |A|).
func TestMSCCCAsRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "classes")
		c := rapid.IntRange(1, n).Draw(t, "servers")
		q := drawStable(t, must(MSCCC(drawRates(t, n), c, rat(1, 1), nil))(t))
		rank := make([]*big.Rat, 1<<n)
		for a := range rank {
			rank[a] = rat(int64(min(c, bits.OnesCount(uint(a)))), 1)
		}
		sameAnswer(t, "rank", q, must(FromTable(t.Context(), q.ArrivalRates, rank))(t))
	})
}

func TestMSHCCReducesToMSCCC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.IntRange(1, 3).Draw(t, "classes"), rapid.IntRange(1, 4).Draw(t, "servers")
		rate := drawRat(t, "service rate", 1)
		root, flat := Constraint{Limit: c}, Constraint{Limit: c}
		limits := make([]int, n)
		for i := range limits {
			limits[i] = rapid.IntRange(1, 4).Draw(t, "limit")
			root.Children = append(root.Children, Constraint{Limit: limits[i], Classes: []int{i}})
			flat.Classes = append(flat.Classes, i)
		}
		q := drawStable(t, must(MSHCC(drawRates(t, n), root, rate))(t))
		sameAnswer(t, "two levels", q, must(MSCCC(q.ArrivalRates, c, rate, limits))(t))
		q = drawStable(t, must(MSHCC(drawRates(t, n), flat, rate))(t))
		sameAnswer(t, "one level", q, must(MMc(q.ArrivalRates, c, rate))(t))
	})
}

// Branches whose limits add up to no more than the root's are separate stations.
func TestMSHCCIndependentBranches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTree(t, []int{0, 1}, 1), drawTree(t, []int{2}, 1)
		q := drawStable(t, must(MSHCC(
			drawRates(t, 3), Constraint{Limit: a.Limit + b.Limit, Children: []Constraint{a, b}}, rat(1, 1),
		))(t))
		b.Classes, b.Children = []int{0}, nil // class 2 alone, below the tightest of its limits
		b.Limit = q.Saturation[2]
		left := must(Stationary(t.Context(), must(MSHCC(q.ArrivalRates[:2], a, rat(1, 1)))(t), exactly))(t)
		right := must(Stationary(t.Context(), must(MSHCC(q.ArrivalRates[2:], b, rat(1, 1)))(t), exactly))(t)
		got := must(Stationary(t.Context(), q, exactly))(t)
		if z := new(big.Rat).Mul(
			left.Normalization.Exact, right.Normalization.Exact,
		); got.Normalization.Exact.Cmp(z) != 0 {
			t.Errorf("Z = %v, want %v", got.Normalization, z)
		}
		if want := append(left.MeanJobs, right.MeanJobs...); !oracle.Equal(
			oracle.Fractions(got.MeanJobs), oracle.Fractions(want)) {
			t.Errorf("MeanJobs = %v, want %v", got.MeanJobs, want)
		}
	})
}

// The tree of the caller may change afterwards.
func TestMSHCCKeepsItsTree(t *testing.T) {
	tree := Constraint{Limit: 2, Children: []Constraint{{Limit: 1, Classes: []int{0}}, {Limit: 1, Classes: []int{1}}}}
	q := must(MSHCC(rats(t, "1/2", "1/2"), tree, rat(1, 1)))(t)
	tree.Children[0].Limit, tree.Children[1].Classes[0] = 2, 0
	if mu := q.TotalRate([]int{5, 5}); mu.Cmp(rat(2, 1)) != 0 {
		t.Errorf("μ(5, 5) = %v, want 2", mu)
	}
}
