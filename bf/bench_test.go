package bf

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/cluster"
	"productform/num"
)

// sparseModel has n classes on n+5 servers, with 3 servers per class, at load about 0.8.
func sparseModel(n int) *cluster.Model {
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	m := &cluster.Model{}
	for s := range n + 5 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(10+rng.Int64N(10), 10)})
	}
	for i := range n {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(3+rng.Int64N(8), 10),
			Servers:     cluster.On(rng.Perm(n + 5)[:3]...)})
	}
	return m
}

// triplesModel has one class per three of n servers, at load 0.8.
func triplesModel(n int) *cluster.Model {
	m := &cluster.Model{}
	for s := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for a := range n {
		for b := range a {
			for c := range b {
				m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint(a, " ", b, " ", c),
					Servers: cluster.On(a, b, c)})
			}
		}
	}
	for i := range m.Classes {
		m.Classes[i].ArrivalRate = big.NewRat(int64(8*n), int64(10*len(m.Classes)))
	}
	return m
}

// racksModel has four racks of 25 servers; jobs choose servers of one rack, of two, or of all.
func racksModel() *cluster.Model {
	m := &cluster.Model{}
	for g := range 4 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("rack", g), Count: 25,
			Capacity: big.NewRat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("local", g), ArrivalRate: big.NewRat(10, 1),
			Servers: []cluster.Choice{{Server: g, Choose: 2}}})
	}
	for g := range 3 {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("pair", g), ArrivalRate: big.NewRat(10, 1),
			Servers: []cluster.Choice{{Server: g, Choose: 1}, {Server: g + 1, Choose: 2}}})
	}
	m.Classes = append(m.Classes, cluster.Class{Name: "wide", ArrivalRate: big.NewRat(10, 1),
		Servers: []cluster.Choice{{Server: 0, Choose: 1}, {Server: 1, Choose: 1}, {Server: 2, Choose: 1},
			{Server: 3, Choose: 1}}})
	return m
}

// randomModel has jobs that choose d of n equal servers at random, at load 0.8.
func randomModel(n, d int) *cluster.Model {
	return &cluster.Model{Servers: []cluster.Server{{Name: "rack", Count: n, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(int64(8*n), 10),
			Servers: []cluster.Choice{{Server: 0, Choose: d}}}}}
}

// lineModel has n servers in a line; each class may use r consecutive ones.
func lineModel(n, r int) *cluster.Model {
	m := &cluster.Model{}
	for s := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for s := range n - r + 1 {
		k := cluster.Class{Name: fmt.Sprint("c", s), ArrivalRate: big.NewRat(int64(8*n), int64(10*(n-r+1)))}
		for j := range r {
			k.Servers = append(k.Servers, cluster.Choice{Server: s + j, Choose: 1})
		}
		m.Classes = append(m.Classes, k)
	}
	return m
}

func BenchmarkSolve(b *testing.B) {
	run := func(name string, m *cluster.Model, engine num.Engine) {
		b.Run(name+"/engine="+string(engine), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := Solve(b.Context(), m, Settings{Engine: engine})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Parts[0].States), "states")
				b.ReportMetric(r.RelativeErrorBound, "bound")
			}
		})
	}
	for _, n := range []int{8, 16, 20, 24, 26} {
		run(fmt.Sprintf("classes=%d", n), sparseModel(n), num.Float)
	}
	for _, n := range []int{12, 14} {
		run(fmt.Sprintf("classes=%d", n), sparseModel(n), num.Exact)
	}
	run("classes=12", sparseModel(12), num.Enclose)
	run("classes=16", sparseModel(16), num.Enclose)
	run("triples=20", triplesModel(20), num.Float)
	run("racks=4x25", racksModel(), num.Float)
	for _, n := range []int{100, 300, 1000} {
		run(fmt.Sprintf("line=%d", n), lineModel(n, 10), num.Float)
	}
	for _, n := range []int{63, 1023} {
		run(fmt.Sprintf("tree=%d", n), treeModel(n, 2, big.NewRat(4, 5)), num.Float)
	}
	run("grid=2x8", gridModel(2, 8), num.Enclose)
	for _, d := range []int{2, 3} {
		run(fmt.Sprintf("random=100/degree=%d", d), randomModel(100, d), num.Float)
	}
}

// The probabilities of 0 to 50 jobs, for servers in a line and for others.
func BenchmarkJobsDistribution(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *cluster.Model
		q    Question
		s    Settings
	}{{"line=100", lineModel(100, 10), Question{}, Settings{}},
		{"line=300", lineModel(300, 10), Question{}, Settings{}},
		{"tree=20", treeModel(20, 2, big.NewRat(4, 5)), Question{}, Settings{}},
		{"line=24/by-class", lineModel(24, 2), Question{ByClass: true}, Settings{}},
		{"grid=2x8", gridModel(2, 8), Question{}, Settings{Engine: num.Float, Lattice: ConnectedLattice}}} {
		c.q.MaxJobs = 50
		b.Run(c.name+"/jobs=50", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Answer(b.Context(), c.m, c.q, c.s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Rejecting a model counts its sets first.
func BenchmarkRefusal(b *testing.B) {
	m := gridModel(5, 10)
	b.Run("grid=5x10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Solve(b.Context(), m, Settings{}); err == nil {
				b.Fatal("no error")
			}
		}
	})
}

// A sweep over 100 loads, from 1/100 of the stability boundary to 1/100 below it.
func BenchmarkSweep(b *testing.B) {
	var factors []*big.Rat
	for k := range 100 {
		factors = append(factors, big.NewRat(int64(k+1), 101))
	}
	for _, c := range []struct {
		name string
		m    *cluster.Model
	}{{"classes=2", shopModel()}, {"classes=4", sparseModel(4)}, {"classes=8", sparseModel(8)},
		{"classes=12", sparseModel(12)}, {"classes=16", sparseModel(16)},
		{"line=40", lineModel(40, 4)}, {"random=100/degree=2", randomModel(100, 2)}} {
		b.Run(c.name+"/points=100", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sweepLoads(b.Context(), c.m, factors, Question{}, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGradient(b *testing.B) {
	for _, n := range []int{12, 16} {
		m := sparseModel(n)
		b.Run(fmt.Sprintf("classes=%d/engine=float", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := gradientOf(b.Context(), m, Settings{Engine: num.Float}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, lattice := range []Lattice{"", ConnectedLattice} {
		m := treeModel(19, 2, big.NewRat(1, 2))
		b.Run(fmt.Sprintf("tree=19/tol=1e-8/lattice=%s", cmp.Or(lattice, "auto")), func(b *testing.B) {
			for b.Loop() {
				if _, err := gradientOf(b.Context(), m, Settings{Lattice: lattice, RelTol: 1e-8}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGradients(b *testing.B) {
	for _, n := range []int{2, 6, 12} {
		m := sparseModel(n)
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			b.Run(fmt.Sprintf("classes=%d/engine=%s", n, engine), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := gradientsOf(b.Context(), m, Settings{Engine: engine}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	for _, servers := range []int{15, 63} {
		m := treeModel(servers, 2, big.NewRat(4, 5))
		b.Run(fmt.Sprintf("tree=%d/lattice=elimination", servers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := gradientsOf(b.Context(), m, Settings{Lattice: EliminationLattice}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// halfModel has jobs that choose half of a group of servers at random, at load 1/2.
func halfModel(servers int) *cluster.Model {
	return &cluster.Model{Servers: []cluster.Server{{Name: "g", Count: servers, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(int64(servers), 2),
			Servers: []cluster.Choice{{Server: 0, Choose: servers / 2}}}}}
}

func BenchmarkLongWays(b *testing.B) {
	for _, servers := range []int{10000, 1000000} {
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			b.Run(fmt.Sprintf("servers=%d/engine=%s", servers, engine), func(b *testing.B) {
				m := halfModel(servers)
				for b.Loop() {
					if _, err := Solve(b.Context(), m, Settings{Engine: engine}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// All classes and five percentiles: on the class lattice, and with so many servers per job that the
// server lattice is smaller.
func BenchmarkDelays(b *testing.B) {
	q := Question{Levels: []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(95, 100), big.NewRat(99, 100),
		big.NewRat(999, 1000)}}
	for _, classes := range []int{3, 12, 14} {
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			if engine == num.Enclose && classes > 3 {
				continue // seconds
			}
			m := sparseModel(classes)
			b.Run(fmt.Sprintf("classes=%d/engine=%s", classes, engine), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, err := delaysOf(b.Context(), m, q, Settings{Engine: engine})
					if err != nil || r.RelativeErrorBound > 1e-9 {
						b.Fatal(err, r.RelativeErrorBound)
					}
				}
			})
		}
	}
}
