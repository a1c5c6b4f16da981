package bf

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf/internal/elimination"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// drawGraph draws servers in a tree, a ring or a ladder, with classes on neighbours and on some
// single servers.
func drawGraph(t *rapid.T, most int) *cluster.Model {
	m := &cluster.Model{}
	n := rapid.IntRange(3, most).Draw(t, "servers")
	add := func(servers ...int) {
		rate := big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 10)
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", len(m.Classes)),
			Servers: cluster.On(servers...), ArrivalRate: rate})
	}
	shape := rapid.SampledFrom([]string{"tree", "ring", "ladder"}).Draw(t, "shape")
	for s := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "capacity"), 1)})
		switch {
		case shape == "tree" && s > 0:
			add(rapid.IntRange(0, s-1).Draw(t, "parent"), s)
		case shape == "ring":
			add(s, (s+1)%n)
		case shape == "ladder" && s > 0:
			add(s-1, s)
			if s > 1 {
				add(s-2, s)
			}
		}
		if rapid.Bool().Draw(t, "own class") {
			add(s)
		}
	}
	return oracle.ScaleTo(m, rapid.SampledFrom(oracle.Rats("0.3 0.7 0.9")).Draw(t, "load"))
}

// By its own estimates the selected lattice takes at most three times the work of any other, or
// less than about 10 ms. Estimates for connected sets use counted terms.
func TestPlanUsesLeastWork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, err := prepare(t.Context(), drawGraph(t, 12))
		if err != nil {
			t.Fatal(err)
		}
		s := checkedRequest(Settings{MaxBytes: 1 << 30})
		s.MaxJobs = rapid.SampledFrom([]int{0, 0, 5, 50}).Draw(t, "jobs")
		for k := range p.components {
			chosen, err := p.plan(t.Context(), k, rung{s: s, engine: num.Float})
			if err != nil {
				t.Fatal(err)
			}
			for _, lattice := range []Lattice{ClassLattice, ServerLattice, ConnectedLattice, EliminationLattice} {
				s.Lattice = lattice
				other, err := p.plan(t.Context(), k, rung{s: s, engine: num.Float})
				if isInput(err) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				got, most := chosen.method.work(chosen, s.MaxJobs),
					3*max(minCompared, other.method.work(other, s.MaxJobs))
				if got > most {
					t.Errorf("%s takes %.3g, a third of it on %s is %.3g", chosen.why, got, lattice, most)
				}
			}
			s.Lattice = ""
		}
	})
}

// Elimination exceeds a limit of a tenth of its estimate, and meets one of ten times the estimate.
// The largest work of a pass counts. Four large components are enough: each takes 0.2 s.
func TestEstimateOfElimination(t *testing.T) {
	t.Parallel()
	compared, large := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p, err := prepare(t.Context(), drawGraph(t, 5))
		if err != nil {
			t.Fatal(err)
		}
		for k := range p.components {
			l, err := p.plan(t.Context(), k, rung{engine: num.Float,
				s: checkedRequest(Settings{Lattice: EliminationLattice, RelTol: 1e-2, MaxBytes: 1 << 30})})
			if err != nil {
				t.Fatal(err)
			}
			isLarge := l.elimination().operations > 1e8
			if l.elimination().Width < 2 || l.elimination().operations > 3e8 || isLarge && large == 4 {
				continue
			}
			for _, times := range []float64{0.1, 10} {
				_, err := elimination.Solve(t.Context(), eliminationProblem(l.problem), l.elimination().Order,
					elimination.Settings{Tolerance: 1e-2, MaxWork: times * l.elimination().operations})
				var large *num.TooLargeError
				if isRefused := errors.As(err, &large); isRefused != (times < 1) {
					t.Fatalf("%g times the estimate %.3g: %v", times, l.elimination().operations, err)
				}
			}
			if compared++; isLarge {
				large++
			}
		}
	})
	if compared < 10 && !t.Failed() {
		t.Errorf("%d components compared, want at least 10", compared)
	}
}
