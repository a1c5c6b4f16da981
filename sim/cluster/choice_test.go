package cluster

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"productform/sim"
)

// All sets of servers are drawn equally often, and no draw contains a server twice.
func TestChosenServersAreUniform(t *testing.T) {
	random := sim.NewStream([32]byte{1})
	for _, c := range []struct{ n, choose int }{{5, 1}, {5, 2}, {5, 4}, {6, 3}, {40, 2}} {
		order := make([]uint32, c.n)
		for k := range order {
			order[k] = uint32(10 + k)
		}
		chosen := chosenServers{order, c.choose}
		counts := map[string]float64{}
		const draws = 200_000
		for range draws {
			set := slices.Clone(chosen.draw(random))
			slices.Sort(set)
			if len(slices.Compact(set)) != c.choose || set[0] < 10 || int(set[len(set)-1]) >= 10+c.n {
				t.Fatalf("drew %v, want %d of %d servers", set, c.choose, c.n)
			}
			key := ""
			for _, s := range set {
				key += string(rune(s))
			}
			counts[key]++
		}
		sets := math.Round(math.Exp(lgamma(c.n+1) - lgamma(c.choose+1) - lgamma(c.n-c.choose+1)))
		chi := 0.0
		for _, n := range counts {
			chi += (n - draws/sets) * (n - draws/sets) / (draws / sets)
		}
		if p := (distuv.ChiSquared{K: sets - 1}).Survival(chi); float64(len(counts)) != sets || p < 1e-7 {
			t.Errorf("%d of %d: %d sets drawn of %g, p = %g", c.choose, c.n, len(counts), sets, p)
		}
	}
}

// Drawing many servers from one row uses several random words.
func TestChosenServersOfManyWords(t *testing.T) {
	random := sim.NewStream([32]byte{2})
	order := make([]uint32, 1000)
	for k := range order {
		order[k] = uint32(k)
	}
	chosen := chosenServers{order, 999}
	var left [1000]float64 // how often each server is the one that is not drawn
	const draws = 20_000
	for range draws {
		chosen.draw(random)
		left[order[999]]++
	}
	chi := 0.0
	for _, n := range left {
		chi += (n - draws/1000) * (n - draws/1000) / (draws / 1000)
	}
	if p := (distuv.ChiSquared{K: 999}).Survival(chi); p < 1e-7 || p > 1-1e-7 {
		t.Errorf("p = %g", p)
	}
}

func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}
