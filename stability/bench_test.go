package stability

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/cluster"
)

// randomCluster returns a cluster with classes of degree servers each, drawn from near neighbours
// on a ring or from all. Capacities and rates have a few digits, and the load is given in parts per
// million of the critical scale.
func randomCluster(b testing.TB, classes, servers, degree, spread int, load int64) *cluster.Model {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{
			Name:     fmt.Sprint("s", s),
			Capacity: big.NewRat(900+rng.Int64N(200), 1000),
		})
	}
	for i := range classes {
		chosen := make([]int, 0, degree)
		start := rng.IntN(servers)
		for len(chosen) < degree {
			if s := (start + rng.IntN(spread)) % servers; !slices.Contains(chosen, s) {
				chosen = append(chosen, s)
			}
		}
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(500+rng.Int64N(1000), 1000),
			Servers:     cluster.On(chosen...),
		})
	}
	r, err := Cluster(b.Context(), m.Scale(big.NewRat(1, 1_000_000)))
	if err != nil {
		b.Fatal(err)
	}
	return m.Scale(new(big.Rat).Mul(r.CriticalScale, big.NewRat(load, 1_000_000_000_000)))
}

func BenchmarkCluster(b *testing.B) {
	for _, c := range []struct {
		name                             string
		classes, servers, degree, spread int
		load                             int64
	}{
		{"random/load=0.5", 100_000, 100_000, 10, 100_000, 500_000},
		{"random/load=0.999999", 100_000, 100_000, 10, 100_000, 999_999},
		{"ring/load=0.5", 100_000, 100_000, 10, 20, 500_000},
		{"ring/load=0.999999", 100_000, 100_000, 10, 20, 999_999},
		{"ring/load=1.1", 100_000, 100_000, 10, 20, 1_100_000},
		{"shared/load=0.5", 100_000, 1000, 10, 1000, 500_000},
		{"shared/load=0.999", 100_000, 1000, 10, 1000, 999_000},
		{"ring/load=0.999999", 100_000, 100_000, 2, 3, 999_999},
		{"triples/load=0.3", 100_000, 200, 3, 200, 300_000},
	} {
		b.Run(fmt.Sprintf("classes=%d/edges=%d/servers=%d/%s",
			c.classes, c.classes*c.degree, c.servers, c.name), func(b *testing.B) {
			m := randomCluster(b, c.classes, c.servers, c.degree, c.spread, c.load)
			for b.Loop() {
				if _, err := Cluster(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Racks of equal servers, from which jobs choose some, either in one rack or in two together.
func BenchmarkGroups(b *testing.B) {
	for _, racks := range []int{4, 40} {
		b.Run(fmt.Sprintf("racks=%d/servers=25", racks), func(b *testing.B) {
			m := &cluster.Model{}
			for g := range racks {
				m.Servers = append(m.Servers, cluster.Server{
					Name:     fmt.Sprint("rack", g),
					Count:    25,
					Capacity: big.NewRat(1, 1),
				})
				for d := 1; d <= 3; d++ {
					m.Classes = append(m.Classes, cluster.Class{
						Name:        fmt.Sprint("own", g, d),
						ArrivalRate: big.NewRat(5, 1),
						Servers:     []cluster.Choice{{Server: g, Choose: d}},
					})
				}
				m.Classes = append(m.Classes, cluster.Class{
					Name:        fmt.Sprint("both", g),
					ArrivalRate: big.NewRat(5, 1),
					Servers:     []cluster.Choice{{Server: g, Choose: 1}, {Server: (g + 1) % racks, Choose: 2}},
				})
			}
			for b.Loop() {
				if _, err := Cluster(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRank(b *testing.B) {
	for _, n := range []int{16, 20} {
		b.Run(fmt.Sprintf("classes=%d", n), func(b *testing.B) {
			rates, rank := make([]*big.Rat, n), make([]*big.Rat, 1<<n)
			for i := range rates {
				rates[i] = big.NewRat(int64(i+1), 400)
			}
			for a := range rank {
				rank[a] = big.NewRat(int64(bits.OnesCount(uint(a))), 3)
			}
			for b.Loop() {
				if _, err := Rank(b.Context(), rates, rank); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// chainOf returns n classes of rate 1/2 on servers of capacity 1: class i uses servers i to i+next.
// If an order is given, classes have that order.
func chainOf(n, next int, order []int) *cluster.Model {
	m := &cluster.Model{}
	for s := range n + next {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for i := range n {
		if order != nil {
			i = order[i]
		}
		chosen := make([]int, next+1)
		for k := range chosen {
			chosen[k] = i + k
		}
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(1, 2),
			Servers:     cluster.On(chosen...),
		})
	}
	return m
}

// Equal classes, for which all sets of some size tie, each on a separate server or chained.
func BenchmarkAlike(b *testing.B) {
	const n = 100_000
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for _, c := range []struct {
		name string
		m    *cluster.Model
	}{
		{"separate", chainOf(n, 0, nil)}, {"chained", chainOf(n, 1, nil)},
		{"chained/order=shuffled", chainOf(n, 1, shuffled)},
	} {
		b.Run(fmt.Sprintf("classes=%d/%s", n, c.name), func(b *testing.B) {
			for b.Loop() {
				if _, err := Cluster(b.Context(), c.m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Only the verdict.
func BenchmarkOverload(b *testing.B) {
	for _, c := range []struct {
		classes, servers, degree, spread int
		load                             int64
	}{{1000, 300, 3, 300, 900_000}, {100_000, 100_000, 10, 20, 999_999}} {
		b.Run(fmt.Sprintf("classes=%d/servers=%d/degree=%d", c.classes, c.servers, c.degree), func(b *testing.B) {
			m := randomCluster(b, c.classes, c.servers, c.degree, c.spread, c.load)
			for b.Loop() {
				if _, err := Overload(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
