package bf

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// areDisjoint reports whether two numbers between Low and High must differ.
func areDisjoint(a, b num.Value) bool { return a.Low.Cmp(b.High) > 0 || b.Low.Cmp(a.High) > 0 }

// For trees and forests, percentiles and tails of delays by elimination match those of the
// recursion in time over sets of classes or servers, within the bounds of both. The recursion does
// not use minima of lifetimes.
func TestDelaysByElimination(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(18, 1))
	for k := range 8 {
		m := oracle.ScaleTo(drawForest(r, 2+r.IntN(5)), big.NewRat(1+r.Int64N(98), 100))
		recursion := Settings{Engine: num.Float, Lattice: ServerLattice}
		if k%4 == 0 { // different units of sizes and capacities
			recursion = Settings{Engine: num.Enclose, RelTol: 1e-11}
			m.MeanSize = big.NewRat(5, 2)
			for s := range m.Servers {
				m.Servers[s].Capacity.Mul(m.Servers[s].Capacity, m.MeanSize)
			}
		}
		q := Question{Levels: oracle.Rats("0.01 0.5 0.99 0.999999999"), Times: oracle.Rats("0 0.125 3 40")}
		want, err := delaysOf(t.Context(), m, q, recursion)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delaysOf(t.Context(), m, q, Settings{Lattice: EliminationLattice})
		if err != nil {
			t.Fatal(err)
		}
		if got.RelativeErrorBound > 1e-9 || want.RelativeErrorBound > 1e-8 {
			t.Errorf("bounds %v and %v", got.RelativeErrorBound, want.RelativeErrorBound)
		}
		compareDelays(t, got, want)
	}
}

// ring returns a ring of servers, at most 4.
func ring(servers int) *cluster.Model {
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1+int64(s%2), 1)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", s), ArrivalRate: big.NewRat(int64(3+s), 5),
			Servers: cluster.On(s, (s+1)%servers)})
	}
	return m
}

// The same holds for a ring (width 2).
func TestRingDelaysByElimination(t *testing.T) {
	m := ring(4)
	q := Question{Levels: oracle.Rats("0.05 0.5 0.99"), Times: oracle.Rats("0 0.25 7")}
	want, err := delaysOf(t.Context(), m, q, Settings{Engine: num.Enclose, RelTol: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	got, err := delaysOf(t.Context(), m, q, Settings{Lattice: EliminationLattice, RelTol: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	if got.RelativeErrorBound > 1e-4 {
		t.Errorf("bound %v", got.RelativeErrorBound)
	}
	compareDelays(t, got, want)
}

// compareDelays compares numbers that lie between Low and High.
func compareDelays(t oracle.Tester, got, want *delayAnswer) {
	t.Helper()
	for i := range want.Classes {
		a, b := got.Classes[i], want.Classes[i]
		if len(a.Quantiles) != len(b.Quantiles) || len(a.Tails) != len(b.Tails) {
			t.Fatalf("class %d: %+v, want %+v", i, a, b)
		}
		for k := range b.Quantiles {
			if areDisjoint(a.Quantiles[k], b.Quantiles[k]) {
				t.Errorf("class %d, quantile %d: %v, want %v", i, k, a.Quantiles[k], b.Quantiles[k])
			}
		}
		for k := range b.Tails {
			if areDisjoint(a.Tails[k], b.Tails[k]) {
				t.Errorf("class %d, tail %d: %v, want %v", i, k, a.Tails[k], b.Tails[k])
			}
		}
	}
}
