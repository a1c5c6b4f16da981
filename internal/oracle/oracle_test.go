package oracle_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// The oracles of this package match the answers of the independent program.
func TestReferences(t *testing.T) {
	unstable := 0
	for _, r := range oracle.References() {
		margin, scale := oracle.Extremes(r.Model)
		if margin.Cmp(r.Expect.Margin) != 0 || scale.Cmp(r.Expect.CriticalScale) != 0 ||
			r.Expect.Stable != (margin.Sign() > 0) {
			t.Errorf("%s: margin %v, scale %v; want %+v", r.Name, margin, scale, r.Expect)
		}
		if !r.Expect.Stable {
			unstable++
			continue
		}
		a := oracle.Solve(r.Model)
		if a.Normalization.Cmp(r.Expect.Normalization) != 0 || !oracle.Equal(a.MeanJobs, r.Expect.MeanJobs) ||
			!oracle.Equal(a.Busy, r.Expect.Utilization) {
			t.Errorf("%s: %v; want %+v", r.Name, a, r.Expect)
		}
	}
	if n := len(oracle.References()); n != 15 || unstable != 2 {
		t.Errorf("%d references, %d of them unstable; want 15 and 2", n, unstable)
	}
}

// Work is conserved: the mean busy capacity equals the rate of arriving work, also for rows with
// groups.
func TestSolveConservesWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Custom(func(t *rapid.T) *cluster.Model {
			return oracle.DrawModel(t, oracle.Options{
				Servers:        3,
				Classes:        3,
				Count:          3,
				ZeroRates:      true,
				ZeroCapacities: true,
				OwnSizes:       true,
				Stable:         true,
			})
		}).Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 7 }).Draw(t, "model")
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		balance := new(big.Rat)
		for s, busy := range oracle.Solve(m).Busy {
			c := big.NewRat(int64(m.Servers[s].Size()), 1)
			balance.Add(balance, c.Mul(c, busy).Mul(c, m.Servers[s].Capacity))
		}
		for _, c := range m.Classes {
			work := new(big.Rat).Set(c.ArrivalRate)
			if c.MeanSize != nil {
				work.Mul(work, c.MeanSize)
			} else if m.MeanSize != nil {
				work.Mul(work, m.MeanSize)
			}
			balance.Sub(balance, work)
		}
		if balance.Sign() != 0 {
			t.Errorf("busy capacity exceeds arriving work by %v", balance)
		}
	})
}

// One server of rate μ: Z = μ/(μ-Σλ), E[X_i] = λ_i/(μ-Σλ).
func TestActiveSetsOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		lambda, mu := make([]*big.Rat, n), make([]*big.Rat, 1<<n)
		for i := range lambda {
			lambda[i] = big.NewRat(rapid.Int64Range(0, 6).Draw(t, "rate"), 25)
		}
		for a := range mu {
			mu[a] = big.NewRat(1, 1)
		}
		slack := new(big.Rat).Sub(mu[0], oracle.Sum(lambda))
		g, jobs := oracle.ActiveSets(lambda, mu)
		want := []*big.Rat{new(big.Rat).Inv(slack)}
		for _, l := range lambda {
			want = append(want, new(big.Rat).Quo(l, slack))
		}
		if got := append([]*big.Rat{oracle.Sum(g)}, jobs...); !oracle.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestSubsets(t *testing.T) {
	want := [][]int{{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	if got := oracle.Subsets(3); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("subsets %v, want %v", got, want)
	}
}
