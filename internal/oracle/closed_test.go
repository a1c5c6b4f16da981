package oracle_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func inv(a *big.Rat) *big.Rat    { return new(big.Rat).Inv(a) }

func drawRat(t *rapid.T, low int64, label string) *big.Rat {
	return big.NewRat(rapid.Int64Range(low, 12).Draw(t, label), rapid.Int64Range(1, 7).Draw(t, label+" over"))
}

// drawLoad draws a load below 1, sometimes close to it.
func drawLoad(t *rapid.T) *big.Rat {
	return rapid.SampledFrom([]*big.Rat{
		new(big.Rat), big.NewRat(1, 3), big.NewRat(9, 10), big.NewRat(999999, 1000000),
	}).Draw(t, "load")
}

// checkClosed compares every measure of a closed form with the recursion over sets of active
// classes.
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

// oneServer returns the measures of multiclass processor sharing: class-i jobs arrive at
// rates[i] >= 0 at one server of positive capacity μ. With ρ_i = λ_i/μ and ρ = Σ_i ρ_i,
//
//	Z = 1/(1-ρ),  E[X_i] = ρ_i/(1-ρ)
//
// (Kleinrock, "Time-shared systems: a theoretical treatment", Journal of the ACM 14, 1967).
func oneServer(rates []*big.Rat, capacity *big.Rat) *oracle.ClosedForm {
	total := new(big.Rat)
	for _, l := range rates {
		total.Add(total, l)
	}
	slack := sub(capacity, total)
	c := &oracle.ClosedForm{
		Normalization: quo(capacity, slack),
		MeanJobs:      quo(total, slack),
		Utilization:   []*big.Rat{quo(total, capacity)},
	}
	for _, l := range rates {
		c.ClassJobs = append(c.ClassJobs, quo(l, slack))
	}
	return c
}

func TestOneServerMatchesRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &cluster.Model{Servers: []cluster.Server{{Capacity: drawRat(t, 1, "capacity")}}}
		for range rapid.IntRange(0, 5).Draw(t, "classes") {
			m.Classes = append(m.Classes, cluster.Class{ArrivalRate: drawRat(t, 0, "rate"), Servers: cluster.On(0)})
		}
		m = oracle.ScaleTo(m, drawLoad(t))
		checkClosed(t, oneServer(oracle.Rates(m), m.Servers[0].Capacity), m)
	})
}

// A nestedNode is one class of a nested cluster together with the servers that it adds.
type nestedNode struct {
	ArrivalRate *big.Rat // λ_v >= 0
	Capacity    *big.Rat // >= 0, of the servers that serve v and its ancestors but none of its descendants
	Parent      int      // index of an earlier node, or -1 at a root
}

// nested returns the measures of a cluster whose classes form a tree: the servers of a class are
// its own and those of its descendants. Two server sets are disjoint or nested. With M_v the
// capacity and Λ_v the rate of the subtree of v, v included,
//
//	Z = Π_v (M_v - Λ_v + λ_v) / (M_v - Λ_v),
//	E[X_v] = λ_v (1/(M_v - Λ_v) + Σ_{u ancestor of v} (1/(M_u - Λ_u) - 1/(M_u - Λ_u + λ_u))).
//
// Proof: in Z(K) (M(K) - λ(K)) = Σ_{s∈K} μ_s Z(K∖s) a class served by all of K enters only through
// λ(K). It multiplies Z(K) by (M - Λ + λ)/(M - Λ), and without it the subtrees are independent.
// Utilization is omitted: it depends on how the capacity of a node is divided.
func nested(nodes []nestedNode) *oracle.ClosedForm {
	n := len(nodes)
	capacity, rate := make([]*big.Rat, n), make([]*big.Rat, n) // M_v, Λ_v
	for v, node := range nodes {
		capacity[v], rate[v] = new(big.Rat).Set(node.Capacity), new(big.Rat).Set(node.ArrivalRate)
	}
	for v := n - 1; v >= 0; v-- {
		if u := nodes[v].Parent; u >= 0 {
			capacity[u].Add(capacity[u], capacity[v])
			rate[u].Add(rate[u], rate[v])
		}
	}
	c := &oracle.ClosedForm{Normalization: big.NewRat(1, 1), MeanJobs: new(big.Rat), ClassJobs: make([]*big.Rat, n)}
	above := make([]*big.Rat, n) // d log Z / dλ of a child: the bracket without its first term
	for v, node := range nodes {
		slack := sub(capacity[v], rate[v])
		inner := add(slack, node.ArrivalRate)
		c.Normalization.Mul(c.Normalization, quo(inner, slack))
		outer := new(big.Rat)
		if node.Parent >= 0 {
			outer = above[node.Parent]
		}
		c.ClassJobs[v] = mul(node.ArrivalRate, add(inv(slack), outer))
		above[v] = add(outer, sub(inv(slack), inv(inner)))
		c.MeanJobs.Add(c.MeanJobs, c.ClassJobs[v])
	}
	return c
}

func TestNestedMatchesRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "nodes")
		nodes, on := make([]nestedNode, n), make([][]int, n)
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
		checkClosed(t, nested(nodes), m)
	})
}

func TestLineAndRingLocalityMatchRecursion(t *testing.T) {
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
