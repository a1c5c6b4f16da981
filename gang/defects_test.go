package gang

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The costs behind the bound on errors are mean costs until the queue is in its most likely state.
// Here they are the limits of Gauss-Seidel sweeps of their equations, for a queue that loses
// arrivals far above level M. The bound allows for 1 %.
func TestCostsOfDefects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStable(t, 5, 2).Scale(big.NewRat(1, 2))
		q, err := newQueue(t.Context(), newProblem(m))
		if err != nil {
			t.Fatal(err)
		}
		d, err := q.distribution(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.boundErrors(t.Context()); err != nil {
			t.Fatal(err)
		}
		target, phase := d.mostLikely()
		want := costsBySweeps(q, target, phase, farLevel(d)+10)
		for level, costs := range d.until {
			for k, list := range costs {
				for i, x := range list {
					// sweeps stop when they change by 1e-14, which their slow convergence multiplies
					if y := want[level][k][i]; !(math.Abs(x-y) <= 1e-9*y) {
						t.Errorf("cost %d of phase %d of level %d: %v, want %v", k, i, level, x, y)
					}
				}
			}
		}
		for k := range d.base {
			most := top(d.until[q.most][k])
			for j := 1; j <= 10; j++ {
				most += top(d.base[k]) + float64(j)*top(d.slope[k])
				if y := top(want[q.most+j][k]); !(y <= most*(1+1e-9)) {
					t.Errorf("cost %d of level %d: %v, want at most %v", k, q.most+j, y, most)
				}
			}
		}
	})
}

// farLevel returns a level above M whose phases are at most 1e-16 times as likely as one of level M.
func farLevel(d *defectProblem) int {
	y := slices.Clone(d.levels[d.most])
	first := top(y)
	level := d.most
	for ; top(y) > 1e-16*first; level++ {
		scale(y, d.lambda)
		d.factors[d.most+1].solveLeft(y)
	}
	return level
}

// costsBySweeps returns the mean costs until the queue is in a phase of a level, by level up to the
// last one, at which arrivals are lost.
func costsBySweeps(q *queue, target, phase, last int) []costs {
	v, rates, downs := make([]costs, last+1), make([]costs, last+1), make([]*matrix, last+1)
	for level := range v {
		v[level], rates[level] = q.newCosts(q.phases(level)), q.rates(level)
		if level > 0 {
			downs[level] = q.down(min(level, q.most+1))
		}
	}
	improve := func(level int) (change float64) {
		next, out := q.newCosts(q.phases(level)), 0.0
		next.add(rates[level])
		if level < last {
			next.add(q.raise(level, v[level+1]))
			out = q.lambda
		}
		if level > 0 {
			next.add(drop(downs[level], v[level-1]))
		}
		for k, list := range next {
			for i, x := range list {
				x /= out + q.set(level, i).rate
				if level == target && i == phase {
					x = 0
				}
				change = max(change, math.Abs(x-v[level][k][i])/max(x, 1e-300))
				v[level][k][i] = x
			}
		}
		return change
	}
	for range 100_000 {
		change := 0.0
		for level := last; level > 0; level-- {
			change = max(change, improve(level))
		}
		for level := range last {
			change = max(change, improve(level))
		}
		if change < 1e-14 {
			break
		}
	}
	return v
}
