package oracle_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

func drawRat(t *rapid.T, low int64, label string) *big.Rat {
	return big.NewRat(rapid.Int64Range(low, 12).Draw(t, label), rapid.Int64Range(1, 7).Draw(t, label+" over"))
}

// drawLoad draws a load below 1, close to it at times.
func drawLoad(t *rapid.T) *big.Rat {
	return rapid.SampledFrom([]*big.Rat{new(big.Rat), big.NewRat(1, 3), big.NewRat(9, 10), big.NewRat(999999, 1000000)}).Draw(t, "load")
}

// checkClosed compares all that a closed form says with the recursion over sets of active classes.
func checkClosed(t *rapid.T, got *oracle.ClosedForm, m *cluster.Model) {
	t.Helper()
	want := oracle.Solve(m)
	check := func(what string, got, want *big.Rat) {
		t.Helper()
		if got.Cmp(want) != 0 {
			t.Errorf("%s = %s, want %s", what, got.RatString(), want.RatString())
		}
	}
	check("Z", got.Normalization, want.Normalization)
	check("E[X]", got.MeanJobs, oracle.Sum(want.MeanJobs))
	for i, jobs := range got.ClassJobs {
		check("E[X_i]", jobs, want.MeanJobs[i])
	}
	for s, busy := range got.Utilization {
		check("utilization", busy, want.Busy[s])
	}
}

func TestOneServerIsRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &cluster.Model{Servers: []cluster.Server{{Capacity: drawRat(t, 1, "capacity")}}}
		for range rapid.IntRange(0, 5).Draw(t, "classes") {
			m.Classes = append(m.Classes, cluster.Class{ArrivalRate: drawRat(t, 0, "rate"), Servers: cluster.On(0)})
		}
		m = oracle.ScaleTo(m, drawLoad(t))
		checkClosed(t, oracle.OneServer(oracle.Rates(m), m.Servers[0].Capacity), m)
	})
}

func TestNestedIsRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "nodes")
		nodes, on := make([]oracle.NestedNode, n), make([][]int, n)
		m := &cluster.Model{}
		for v := range nodes {
			nodes[v].Parent = rapid.IntRange(-1, v-1).Draw(t, "parent")
			for u := v; u >= 0; u = nodes[u].Parent {
				on[u] = append(on[u], v)
			}
			nodes[v].Capacity = drawRat(t, 0, "capacity")
			m.Classes = append(m.Classes, cluster.Class{ArrivalRate: drawRat(t, 0, "rate")})
		}
		for v := range nodes {
			capacity := new(big.Rat)
			for _, u := range on[v] {
				capacity.Add(capacity, nodes[u].Capacity)
			}
			if capacity.Sign() == 0 {
				nodes[v].Capacity = big.NewRat(1, 2)
			}
		}
		for v := range nodes {
			m.Servers = append(m.Servers, cluster.Server{Capacity: nodes[v].Capacity})
			m.Classes[v].Servers = cluster.On(on[v]...)
		}
		m = oracle.ScaleTo(m, drawLoad(t))
		for v := range nodes {
			nodes[v].ArrivalRate = m.Classes[v].ArrivalRate
		}
		checkClosed(t, oracle.Nested(nodes), m)
	})
}

func TestLineAndRingLocalityAreRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ring := rapid.Bool().Draw(t, "ring")
		n := rapid.IntRange(1, 6).Draw(t, "servers")
		window := rapid.IntRange(1, n).Draw(t, "window")
		mu, rate := drawRat(t, 1, "mu"), drawRat(t, 0, "lambda")
		m := &cluster.Model{}
		for s := range n {
			m.Servers = append(m.Servers, cluster.Server{Capacity: mu})
			if !ring && s+window > n {
				continue
			}
			var on []int
			for k := range window {
				on = append(on, (s+k)%n)
			}
			m.Classes = append(m.Classes, cluster.Class{ArrivalRate: rate, Servers: cluster.On(on...)})
		}
		m = oracle.ScaleTo(m, drawLoad(t))
		lambda := oracle.Sum(oracle.Rates(m))
		if ring {
			checkClosed(t, oracle.RingLocality(n, window, lambda, mu), m)
			return
		}
		checkClosed(t, oracle.LineLocality(n, window, lambda, mu), m)
	})
}
