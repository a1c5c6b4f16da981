package elimination

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// linked returns servers of capacity 100 with a class of rate 70 for each pair of a server and its
// parent; the first server has none.
func linked(servers int, parent func(s int) int) *Problem {
	p := &Problem{}
	for s := range servers {
		p.Capacities = append(p.Capacities, 100)
		if s > 0 {
			p.Classes = append(p.Classes, Class{70, []int{s, parent(s)}})
		}
	}
	return p
}

func binaryTree(servers int) *Problem { return linked(servers, func(s int) int { return (s - 1) / 2 }) }
func line(servers int) *Problem       { return linked(servers, func(s int) int { return s - 1 }) }
func star(servers int) *Problem       { return linked(servers, func(int) int { return 0 }) }

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name string
		p    *Problem
	}{
		{"servers=63/shape=tree", binaryTree(63)},
		{"servers=1023/shape=tree", binaryTree(1023)},
		{"servers=2000/shape=line", line(2000)},
		{"servers=300/shape=star", star(300)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				o, err := NewOrder(c.p)
				if err != nil {
					b.Fatal(err)
				}
				r, err := Solve(context.Background(), c.p, o, Settings{Tolerance: 1e-9})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(-math.Log10(r.Jobs[0].Bound), "digits")
			}
		})
	}
}

// Grids of 2×200 and more need a coarser tolerance.
func BenchmarkWide(b *testing.B) {
	for _, c := range []struct {
		rows, columns int
		tolerance     float64
	}{{2, 10, 1e-6}, {2, 40, 1e-6}, {2, 200, 1e-6}} {
		b.Run(fmt.Sprintf("servers=%dx%d/tolerance=%g", c.rows, c.columns, c.tolerance), func(b *testing.B) {
			p := lattice(c.rows, c.columns, 0.7)
			for b.Loop() {
				o, err := NewOrder(p)
				if err != nil {
					b.Fatal(err)
				}
				r, err := Solve(context.Background(), p, o, Settings{Tolerance: c.tolerance})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Normalization.Bound, "bound")
			}
		})
	}
}
