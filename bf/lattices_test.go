package bf

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/cube"
	"productform/internal/oracle"
	"productform/num"

	"pgregory.net/rapid"
)

// lattices holds "" and all lattices that support every engine.
var lattices = append([]Lattice{""}, slices.DeleteFunc(Lattices()[1:], func(l Lattice) bool {
	return l == EliminationLattice
})...)

// Settings accept the lattices of the table, and an error lists them.
func TestLatticesAreValid(t *testing.T) {
	for _, lattice := range append(Lattices(), "") {
		if _, err := (Settings{Lattice: lattice}).validate(); err != nil {
			t.Errorf("%q: %v", lattice, err)
		}
	}
	_, err := Settings{Lattice: "cubic"}.validate()
	for _, lattice := range Lattices() {
		if err == nil || !strings.Contains(err.Error(), string(lattice)) {
			t.Errorf("error %v does not list %s", err, lattice)
		}
	}
}

// drawModel draws a stable cluster of at most 5 classes and 5 rows of servers. Long numbers have 60
// bits or more, and may differ by a similar factor. There are few ways to choose servers, so the
// reference recursion in fractions over all sets of them takes less than a second.
func drawModel(t *rapid.T, groups, long bool) *cluster.Model {
	o := oracle.Options{Stable: true, ZeroRates: rapid.Bool().Draw(t, "zero rates"),
		OwnSizes: rapid.Bool().Draw(t, "own sizes"), Long: long}
	if groups {
		o.Count = 3
	}
	ways := 10
	if long {
		ways = 6
	}
	return rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
		Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= ways }).Draw(t, "model")
}

// All lattices and engines match the reference recursion on the model with expanded groups: equal
// as fractions, enclosed, and within the error bound in float64. On these well-conditioned models
// the bound is at most 10^4 times the true error or the roundoff of the output.
func TestLatticesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Bool().Draw(t, "groups")
		long := rapid.IntRange(0, 3).Draw(t, "long") == 0
		m := drawModel(t, groups, long)
		want := oracle.Solve(m)
		for _, lattice := range lattices {
			for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
				r, err := Solve(t.Context(), m, Settings{Engine: engine, Lattice: lattice})
				if long && (errors.Is(err, num.ErrFloatRange) || errors.Is(err, num.ErrDigits)) && engine == num.Float {
					continue
				}
				if err != nil {
					if groups && isInput(err) && lattice != "" && lattice != SymmetricLattice {
						continue // a lattice of single servers for a model with groups
					}
					t.Fatalf("%s %s: %v", lattice, engine, err)
				}
				name := fmt.Sprintf("%s %s", lattice, engine)
				checkValue(t, name+" Z", r, r.Normalization.Float, r.Normalization.Exact, want.Normalization)
				for i, w := range want.MeanJobs {
					checkValue(t, name+" jobs", r, r.Classes[i].MeanJobs.Float, r.Classes[i].MeanJobs.Exact, w)
				}
				for s, w := range want.Busy {
					checkValue(t, name+" busy", r, r.Servers[s].Utilization.Float, r.Servers[s].Utilization.Exact, w)
				}
				if engine == num.Float && !long && r.RelativeErrorBound > 1e4*0x1p-53 {
					t.Errorf("%s: bound %g", name, r.RelativeErrorBound)
				}
			}
		}
	})
}

func checkValue(t *rapid.T, name string, r *Result, got float64, exact, want *big.Rat) {
	t.Helper()
	e := relativeError(got, want)
	if r.Engine == num.Exact {
		if exact.Cmp(want) != 0 {
			t.Errorf("%s = %v, want %v", name, exact, want)
		}
	} else if e > r.RelativeErrorBound {
		t.Errorf("%s = %v, want %v: relative error %g, bound %g", name, got, want, e, r.RelativeErrorBound)
	}
}

// drawSparse draws a cluster of 9 to 12 classes, so tables have several blocks: in a ring, or with
// one to three random servers per class. Loads are 1/100 to 9/10 of a lower bound on the critical
// load.
func drawSparse(t *rapid.T) *cluster.Model {
	n := rapid.IntRange(cube.LowBits+1, cube.LowBits+4).Draw(t, "classes")
	servers := n
	ring := rapid.Bool().Draw(t, "ring")
	if !ring {
		servers = rapid.IntRange(n-3, n+3).Draw(t, "servers")
	}
	load := rapid.SampledFrom([]int64{1, 10, 50, 90}).Draw(t, "load")
	m := &cluster.Model{}
	share := make([]int64, servers) // classes that use each server
	for i := range n {
		k := cluster.Class{Name: fmt.Sprint("c", i), Servers: cluster.On(i%servers, (i+1)%servers)}
		if !ring {
			order := rapid.Permutation(rangeOf(servers)).Draw(t, "order")
			k.Servers = cluster.On(order[:rapid.IntRange(1, 3).Draw(t, "degree")]...)
		}
		share[k.Servers[0].Server]++
		m.Classes = append(m.Classes, k)
	}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "capacity"), 3)})
	}
	for i := range m.Classes { // each class fits its share of its first server, so the model is stable
		s := m.Classes[i].Servers[0].Server
		m.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Servers[s].Capacity, big.NewRat(load, 100*share[s]))
	}
	return m
}

func rangeOf(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// Tables of several blocks match graphs of another lattice in exact arithmetic.
func TestTablesAgreeWithGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawSparse(t)
		want, err := Solve(t.Context(), m, Settings{Engine: num.Enclose, Lattice: ConnectedLattice, RelTol: 1e-20})
		if err != nil {
			t.Fatal(err)
		}
		for _, lattice := range lattices {
			r, err := Solve(t.Context(), m, Settings{Engine: num.Float, Lattice: lattice})
			if err != nil {
				t.Fatalf("%s: %v", lattice, err)
			}
			check := func(name string, got float64, low *big.Float) {
				x, _ := low.Rat(nil)
				if e := relativeError(got, x); e > r.RelativeErrorBound || r.RelativeErrorBound > 1e-12 {
					t.Errorf("%s %s = %v, want %v: relative error %g, bound %g", lattice, name, got, low, e,
						r.RelativeErrorBound)
				}
			}
			check("Z", r.Normalization.Float, want.Normalization.Low)
			for i, k := range want.Classes {
				check(fmt.Sprint("jobs of class ", i), r.Classes[i].MeanJobs.Float, k.MeanJobs.Low)
			}
			for s, k := range want.Servers {
				if k.Utilization.High.Sign() > 0 {
					check(fmt.Sprint("busy server ", s), r.Servers[s].Utilization.Float, k.Utilization.Low)
				}
			}
		}
	})
}
