package forest

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
)

// drawForest draws servers, each except the first linked to an earlier one by one or two classes,
// some with single-server classes. Each server divides its capacity equally among its classes, so
// no set of servers exceeds the drawn load.
func drawForest(t *rapid.T, most int) (capacities []float64, classes []Class) {
	count := make([]float64, rapid.IntRange(1, most).Draw(t, "servers"))
	for s := range count {
		power := math.Pow(10, float64(rapid.SampledFrom([]int{0, 0, 0, 1, 3, 6}).Draw(t, "power")))
		capacities = append(capacities, float64(rapid.IntRange(1, 9).Draw(t, "capacity"))*power*0x1p20)
		if s > 0 {
			parent := rapid.IntRange(0, s-1).Draw(t, "parent")
			for range rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "shared") {
				classes = append(classes, Class{Servers: []int{s, parent}})
			}
		}
		for range rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "own") {
			classes = append(classes, Class{Servers: []int{s}})
		}
	}
	load := rapid.SampledFrom([]float64{0.01, 0.3, 0.7, 0.9, 0.99, 0.9999}).Draw(t, "load")
	for _, k := range classes {
		for _, s := range k.Servers {
			count[s]++
		}
	}
	for i, k := range classes {
		for _, s := range k.Servers {
			classes[i].Rate += capacities[s] / count[s]
		}
		classes[i].Rate = math.Floor(load * classes[i].Rate * rapid.SampledFrom([]float64{0.5, 0.9, 1}).Draw(t, "part"))
	}
	return capacities, classes
}

// Bounds also hold on partitions that are too coarse, where errors come from truncation rather than
// rounding. The reference is Solve, whose bounds package elimination checks against exact
// fractions.
func TestCoarsePanels(t *testing.T) {
	bounded := 0
	rapid.Check(t, func(t *rapid.T) {
		capacities, classes := drawForest(t, 8)
		f := New(capacities, classes)
		fine, err := f.Solve(context.Background(), Settings{Tolerance: 1e-10, Parts: 1})
		if err != nil {
			t.Fatal(err)
		}
		first, ratio := rapid.Float64Range(1, 12).Draw(t, "first"), rapid.SampledFrom([]float64{
			1.5, 2, 3, 4,
		}).Draw(t, "ratio")
		full := (&task{Forest: f}).panels()
		g := &panels{at: []float64{0, math.Exp2(math.Floor(math.Log2(first * full.at[1])))}}
		for g.last() < full.last() {
			g.at = append(g.at, g.last()*ratio)
		}
		r, err := f.newSweep(context.Background(), g, nil, nil).measures(math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		hold := func(name string, k int, got, want arithmetic.Number) {
			if got.Bound >= 1 || want.F == 0 {
				return
			}
			bounded++
			if off := math.Abs(got.Over(want.Wide).Double() - 1); !(off <= got.Bound+1.01*want.Bound) {
				t.Fatalf("%s %d: error %.3g, bound %.3g", name, k, off, got.Bound)
			}
		}
		for i, x := range r.Times {
			hold("class", i, x, fine.Times[i])
		}
		for s, x := range r.Busy {
			hold("server", s, x, fine.Busy[s])
		}
	})
	if bounded < 100 {
		t.Errorf("only %d numbers had bounds", bounded)
	}
}
