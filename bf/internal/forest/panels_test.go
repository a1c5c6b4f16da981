package forest

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// logQ returns log Q(n, v) = log Σ_{k<n} e^-v v^k/k!, summed from its largest term.
func logQ(n int, v float64) float64 {
	log, top := -v, math.Inf(-1)
	var terms []float64
	for k := range n {
		if k > 0 {
			log += math.Log(v / float64(k))
		}
		terms = append(terms, log)
		top = max(top, log)
	}
	sum := 0.0
	for _, x := range terms {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// The mass beyond T is as small as promised, by the gamma distribution.
func TestHorizon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var capacities []float64
		most, sum := 0.0, 0.0
		for range rapid.IntRange(1, 40).Draw(t, "servers") {
			capacities = append(capacities, math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "capacity")))
			most = max(most, capacities[len(capacities)-1])
			sum += capacities[len(capacities)-1]
		}
		slack := math.Pow(10, rapid.Float64Range(-9, 0).Draw(t, "slack"))
		for _, c := range capacities {
			slack = min(slack, c)
		}
		extra := rapid.SampledFrom([]float64{0, 3, 1000}).Draw(t, "extra")
		v := horizon(capacities, slack, extra) * slack
		omega := math.Ln2
		for _, c := range capacities {
			omega += math.Log(2 * c / slack)
		}
		n := len(capacities)
		mean := math.Ln2 + math.Log(float64(n)/slack) + math.Log(sum) + logQ(n+1, v)
		if z := omega + logQ(n, v); z > math.Log(tail)-extra || omega+mean > math.Log(tail)-extra {
			t.Fatalf("exp(%v) of Z and exp(%v) of a mean beyond T", z, omega+mean)
		}
	})
}

// Panels start and end at the given points, their widths are exact, and split halves them.
func TestPanels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, end := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "first")), math.Exp(rapid.Float64Range(-30, 60).Draw(
			t, "end",
		))
		g := newPanels(first, end)
		for round := range 3 {
			if g.at[0] != 0 || g.last() < end || g.at[1] > first {
				t.Fatalf("%v of %v to %v", g.at, first, end)
			}
			for k := range g.count() {
				if h := g.half(k); !(h > 0) || g.at[k]+2*h != g.at[k+1] || round == 0 && k > 0 && 2*h > g.at[k]/2 {
					t.Fatalf("panel %d of %v", k, g.at)
				}
			}
			marked := make([]bool, g.count())
			marked[rapid.IntRange(0, g.count()-1).Draw(t, "marked")] = true
			if finer := g.split(marked); finer.count() != g.count()+1 || finer.last() != g.last() {
				t.Fatalf("%v split into %v", g.at, finer.at)
			} else {
				g = finer
			}
		}
	})
}
