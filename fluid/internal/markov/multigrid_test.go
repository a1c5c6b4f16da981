package markov

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// product returns the chain of independent coordinates that move up at rate r_k and down at rate 1,
// both multiplied by its speed; its measure is Π_k r_k^x_k.
func product(size []int, r, speed []float64) *Chain {
	g := NewChain(NewRegion(size, nil))
	x := make([]int, len(size))
	for s := range g.States {
		for k, n := range x {
			up, down := r[k]*speed[k], speed[k]
			if n == size[k]-1 {
				up = 0
			}
			if n == 0 {
				down = 0
			}
			g.SetRates(s, k, up, down)
		}
		g.Next(x)
	}
	return g
}

// geometricMean returns the mean of a distribution proportional to r^n on 0..size-1.
func geometricMean(r float64, size int) float64 {
	var mass, moment float64
	for n := size - 1; n >= 0; n-- {
		mass += math.Pow(r, float64(n))
		moment += float64(n) * math.Pow(r, float64(n))
	}
	return moment / mass
}

// The iteration finds the means of independent coordinates within its stated error: near saturation
// and beyond, from a flat start, with coordinates of different speeds, and in a flat box, in which
// it forms blocks along only one coordinate.
func TestIterateProducts(t *testing.T) {
	for seed := range uint64(16) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		size := []int{2 + rnd.IntN(3)*rnd.IntN(60), 30 + rnd.IntN(100)}
		if seed%3 == 0 {
			size = []int{1 + rnd.IntN(30), 10 + rnd.IntN(20), 10 + rnd.IntN(20)}
		}
		r, speed := make([]float64, len(size)), make([]float64, len(size))
		for k := range size {
			r[k] = 1 - math.Pow(10, -3*rnd.Float64())
			if rnd.IntN(5) == 0 {
				r[k] = 1 / r[k]
			}
			speed[k] = math.Pow(10, 2*rnd.Float64())
		}
		g := product(size, r, speed)
		start := make([]float64, g.States)
		for s := range start {
			start[s] = 1
		}
		pi, measured, err := g.Iterate(context.Background(), start, speed, 1e-11)
		if err != nil || !(measured < 1e-10) {
			t.Fatalf("seed %d, size %d, r %.3g, speed %.3g: measured error %g, %v", seed, size, r, speed, measured, err)
		}
		for k, mean := range g.means(pi) {
			// 1e-12 for the rounding of thousands of terms
			if want := geometricMean(r[k], size[k]); !(math.Abs(mean/want-1) <= measured+1e-12) {
				t.Errorf("seed %d, size %d, r %.3g: mean %v of coordinate %d, want %v within %.2g",
					seed, size, r, mean, k, want, measured)
			}
		}
	}
}

func BenchmarkIterate(b *testing.B) {
	for _, size := range [][]int{{500, 500}, {1000, 1000}, {60, 60, 60}} {
		r, speed := []float64{0.99, 0.98, 0.97}[:len(size)], []float64{1, 1, 1}[:len(size)]
		g := product(size, r, speed)
		start := make([]float64, g.States)
		for s := range start {
			start[s] = 1
		}
		b.Run(fmt.Sprintf("states=%d/classes=%d", g.States, len(size)), func(b *testing.B) {
			for b.Loop() {
				g.Iterate(context.Background(), start, speed, 1e-11)
			}
		})
	}
}
