package oneserver

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
)

// skillGroups returns groups of 30, 20 and 50 agents, the last of whom serve both classes.
func skillGroups() *cluster.Model {
	one := big.NewRat(1, 1)
	return &cluster.Model{
		Service: cluster.OneServer,
		Servers: []cluster.Server{
			{Name: "english", Count: 30, Capacity: one},
			{Name: "french", Count: 20, Capacity: one},
			{Name: "both", Count: 50, Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "english", ArrivalRate: big.NewRat(50, 1),
				Servers: []cluster.Choice{{Server: 0, Choose: 30}, {Server: 2, Choose: 50}}},
			{Name: "french", ArrivalRate: big.NewRat(40, 1),
				Servers: []cluster.Choice{{Server: 1, Choose: 20}, {Server: 2, Choose: 50}}},
		},
	}
}

// singles returns servers of different capacities, and as many classes of two to four of them.
func singles(n int) *cluster.Model {
	r := rand.New(rand.NewPCG(1, 2))
	m := &cluster.Model{Service: cluster.OneServer}
	for s := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(int64(100+s), 100)})
	}
	for i := range n {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1, 2),
			Servers: cluster.On(r.Perm(n)[:2+r.IntN(3)]...)})
	}
	return m
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *cluster.Model
		q    Question
	}{
		{"servers=20", singles(20), Question{}},
		{"groups=3", skillGroups(), Question{}},
		{"groups=3/percentiles", skillGroups(), Question{Levels: oracle.Rats("0.5 0.95")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Answer(b.Context(), c.m, c.q, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSolvePatience(b *testing.B) {
	for _, distribution := range []string{"exponential", "deterministic", "lognormal:2"} {
		b.Run("groups=3/patience="+distribution, func(b *testing.B) {
			m := skillGroups()
			m.MeanPatience, m.Patience = big.NewRat(2, 1), distribution
			for b.Loop() {
				if _, err := SolvePatience(b.Context(), m, PatienceSettings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	levels := oracle.Rats("0.5 0.95")
	groups := skillGroups()
	groups.MeanPatience = big.NewRat(2, 1)
	for name, m := range map[string]*cluster.Model{"groups=3": groups, "servers=100000": largePool(100_000)} {
		b.Run(name+"/percentiles", func(b *testing.B) {
			for b.Loop() {
				if _, err := SolvePatience(b.Context(), m, PatienceSettings{Levels: levels}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
