package markov

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawRegion draws random intervals around a diagonal of a box, usually so wide that adjacent lines
// overlap.
func drawRegion(r *rand.Rand, width int, size ...int) *Region {
	last := len(size) - 1
	return NewRegion(size, func(x []int) (from, to int) {
		middle := 0.0
		for k, n := range x {
			middle += float64(n) / float64(size[k]) * float64(size[last]) / float64(last)
		}
		return int(middle) - r.IntN(width+1), int(middle) + 1 + r.IntN(width+1)
	})
}

// pointsOf returns the points of a region, in order of their numbers.
func pointsOf(r *Region) [][]int {
	x := make([]int, len(r.Size))
	var all [][]int
	for range r.States {
		all = append(all, slices.Clone(x))
		r.Next(x)
	}
	return all
}

// Points are numbered in order, other points have no number, and moves by one connect all points.
// Regions of blocks contain the blocks of all points.
func TestRegion(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		size := []int{1 + rnd.IntN(9), 1 + rnd.IntN(9), 1 + rnd.IntN(9)}[:2+seed%2]
		r := drawRegion(rnd, rnd.IntN(4), size...)
		number := map[string]int{}
		key := func(x []int) string {
			return string([]rune{rune(100 + x[0]), rune(100 + x[1]), rune(100 + x[len(x)-1])})
		}
		points := pointsOf(r)
		for s, x := range points {
			if number[key(x)] = s; r.Number(x) != s {
				t.Fatalf("seed %d: point %d is %d, with number %d", seed, s, x, r.Number(x))
			}
		}
		if len(number) != r.States || slices.ContainsFunc(points[0], func(n int) bool { return n != 0 }) {
			t.Fatalf("seed %d: %d points of %d, the first is %d", seed, len(number), r.States, points[0])
		}
		box, x, inside := NewBox(size), make([]int, len(size)), 0
		for range box.States {
			if r.Number(x) >= 0 {
				inside++
			}
			box.Next(x)
		}
		joined := map[int]bool{0: true}
		for todo := []int{0}; len(todo) > 0; todo = todo[1:] {
			for k := range size {
				for _, step := range [2]int{-1, 1} {
					y := slices.Clone(points[todo[0]])
					y[k] += step
					if s := r.Number(y); s >= 0 && !joined[s] {
						joined[s] = true
						todo = append(todo, s)
					}
				}
			}
		}
		if inside != r.States || len(joined) != r.States {
			t.Fatalf("seed %d: %d points, %d in the box, %d joined", seed, r.States, inside, len(joined))
		}
		block := []int{1 + rnd.IntN(2), 1 + rnd.IntN(2), 1 + rnd.IntN(2)}[:len(size)]
		c := r.coarser(block)
		for _, x := range points {
			for k := range x {
				x[k] /= block[k]
			}
			if c.Number(x) < 0 {
				t.Fatalf("seed %d: no block %d", seed, x)
			}
		}
	}
}

// randomRates draws the rates of all moves in the region over the given number of binary orders of
// magnitude.
func randomRates(r *rand.Rand, g *Chain, orders int) {
	draw := func(x []int, k, to int) float64 {
		y := slices.Clone(x)
		if y[k] = to; g.Number(y) < 0 {
			return 0
		}
		return math.Ldexp(float64(1+r.IntN(7)), r.IntN(orders)-orders/2)
	}
	for s, x := range pointsOf(g.Region) {
		for k, n := range x {
			g.SetRates(s, k, draw(x, k, n+1), draw(x, k, n-1))
		}
	}
}

// On regions, probabilities from elimination differ from exact fractions by at most the error
// bound; the iteration has the same means.
func TestRegionMatchesFractions(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 10))
		size := []int{3 + rnd.IntN(5), 3 + rnd.IntN(6)}
		if seed%2 == 1 {
			size = []int{2 + rnd.IntN(3), 2 + rnd.IntN(3), 2 + rnd.IntN(4)}
		}
		g := NewChain(drawRegion(rnd, 1+rnd.IntN(3), size...))
		randomRates(rnd, g, 20)
		pi, bound, _ := g.Eliminate(context.Background())
		want := literalStationary(g)
		for s, p := range pi {
			w, _ := want[s].Float64()
			if !(math.Abs(p/w-1) <= bound) || bound > 1e-11 {
				t.Fatalf("seed %d, size %d: π_%d = %v, want %v within %g", seed, size, s, p, w, bound)
			}
		}
	}
}

// Both methods agree on larger regions with slightly varying rates, like flows of jobs near
// saturation: a strip along the diagonal, and the points below a diagonal.
func TestIterateRegions(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		size := []int{60 + rnd.IntN(90), 60 + rnd.IntN(90)}
		region := drawRegion(rnd, 30, size...)
		switch seed % 3 {
		case 1:
			region = NewRegion(size, func(x []int) (from, to int) { return 0, (size[0] - x[0]) * size[1] / size[0] })
		case 2:
			size = []int{12 + rnd.IntN(9), 12 + rnd.IntN(9), 12 + rnd.IntN(9)}
			region = NewRegion(size, func(x []int) (from, to int) { return x[0] / 3, size[2] - x[0]/2 - x[1]/2 })
		}
		g := NewChain(region)
		for s, x := range pointsOf(region) {
			for k := range x {
				up, down := 0.9, 1+0.3*rnd.Float64()
				x[k]++
				if region.Number(x) < 0 {
					up = 0
				}
				x[k] -= 2
				if region.Number(x) < 0 {
					down = 0
				}
				x[k]++
				g.SetRates(s, k, up, down)
			}
		}
		start := make([]float64, g.States)
		for s := range start {
			start[s] = 1
		}
		speed := []float64{1, 1, 1}[:len(size)]
		a, bound, _ := g.Eliminate(context.Background())
		b, measured, err := g.Iterate(context.Background(), start, speed, 1e-11)
		if err != nil || measured > 1e-11 {
			t.Errorf("seed %d: measured error %g, %v", seed, measured, err)
		}
		mean := g.means(b)
		for k, want := range g.means(a) {
			if !(math.Abs(mean[k]/want-1) <= bound+measured+1e-12) { // 1e-12 allows for the rounding of the iteration
				t.Errorf("seed %d: mean %v of coordinate %d, want %v within %.2g",
					seed, mean[k], k, want, bound+measured)
			}
		}
	}
}
