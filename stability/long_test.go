package stability

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
)

// drawShares returns numbers near 1, most of them alike, so that sets tie and slack is thin or at one end.
func drawShares(t *rapid.T, n int, name string) []int64 {
	usual := rapid.Int64Range(990, 1010).Draw(t, name)
	spread := rapid.SampledFrom([]int64{0, 0, 1, 10, 300}).Draw(t, "spread of "+name)
	step := rapid.SampledFrom([]int64{0, 0, -1, 1}).Draw(t, "step of "+name)
	at := rapid.IntRange(0, n-1).Draw(t, "where "+name+" step")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of "+name), 1))
	x := make([]int64, n)
	for i := range x {
		x[i] = usual + rng.Int64N(2*spread+1) - spread
		if i >= at {
			x[i] += step
		}
	}
	return x
}

// drawChain returns classes that share server i with the last and i+1 with the next, their rows shuffled: class row[i] is
// i-th in the chain.
func drawChain(t *rapid.T) (m *cluster.Model, row []int, rates, capacities []int64) {
	n := rapid.IntRange(1, 150).Draw(t, "classes")
	rates, capacities = drawShares(t, n, "rates"), drawShares(t, n+1, "capacities")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
	row = make([]int, n)
	for i := range row {
		row[i] = i
	}
	switch rapid.IntRange(0, 2).Draw(t, "kind of order") {
	case 0:
		slices.Reverse(row)
	case 1:
		rng.Shuffle(n, func(i, j int) { row[i], row[j] = row[j], row[i] })
	}
	m = &cluster.Model{Classes: make([]cluster.Class, n)}
	for s, c := range capacities {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(c, 1000)})
	}
	for i, r := range rates {
		m.Classes[row[i]] = cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(r, 1000), Servers: cluster.On(i, i+1)}
	}
	return m, row, rates, capacities
}

// A set of classes in a chain is a number of runs that share no server, whose margins add up. So the critical scale is that of
// a run, and so is the margin if it is positive; else it is found from the left, one class after the other.
func TestChainsAgainstRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, row, rates, capacities := drawChain(t)
		var margin, load, capacity int64 // of the run of least margin; of the run of least scale
		var marginSet, bottleneck []int
		first := true
		for a := range rates {
			sumLoad, sumCapacity := int64(0), capacities[a]
			var set []int
			for b := a; b < len(rates); b++ {
				sumLoad += rates[b]
				sumCapacity += capacities[b+1]
				set = append(set, row[b])
				sorted := func() []int { return slices.Sorted(slices.Values(set)) }
				if c := cmp.Compare(sumCapacity-sumLoad, margin); first || c < 0 || c == 0 && compareRows(sorted(), marginSet) < 0 {
					margin, marginSet = sumCapacity-sumLoad, sorted()
				}
				if c := cmp.Compare(sumCapacity*load, capacity*sumLoad); first || c < 0 || c == 0 && compareRows(sorted(), bottleneck) < 0 {
					load, capacity, bottleneck = sumLoad, sumCapacity, sorted()
				}
				first = false
			}
		}
		got, err := Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(m, got); err != nil {
			t.Fatal(err)
		}
		if got.CriticalScale.Cmp(big.NewRat(capacity, load)) != 0 || !slices.Equal(got.Bottleneck, bottleneck) {
			t.Fatalf("critical scale %v of %v, want %d/%d of %v", got.CriticalScale, got.Bottleneck, capacity, load, bottleneck)
		}
		if margin < 0 {
			const far = int64(1) << 40
			in, out := far, int64(0) // least margin of sets of the classes so far, with the last of them and without
			for i, r := range rates {
				in, out = min(in, out+capacities[i])+capacities[i+1]-r, min(in, out)
			}
			margin, marginSet = min(in, out), got.MarginSet
		}
		if got.Margin.Cmp(big.NewRat(margin, 1000)) != 0 || !slices.Equal(got.MarginSet, marginSet) {
			t.Fatalf("margin %v of %v, want %d/1000 of %v", got.Margin, got.MarginSet, margin, marginSet)
		}
	})
}

// However a maximum flow is found, as much finds room, and the smallest minimum cut is the same.
func TestFillIsMaximize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "classes")
		shape := rapid.SampledFrom([]string{"chain", "ring", "ladder", "tree", "random"}).Draw(t, "shape")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		servers := make([][]int32, n)
		for k, i := range rng.Perm(n) {
			var list []int
			switch shape {
			case "chain":
				list = []int{k, k + 1}
			case "ring":
				list = []int{k, (k + 1) % (n + 1)}
			case "ladder":
				list = []int{k, k + 1 + rng.IntN(2), k + 3}
			case "tree":
				list = []int{k + 1, k / 2}
			default:
				list = []int{rng.IntN(n), n + rng.IntN(3)}
			}
			for _, s := range list {
				servers[i] = append(servers[i], int32(s))
			}
		}
		need, capacity := drawShares(t, n, "needs"), drawShares(t, n+3, "capacities")
		run := func(method func(*network)) *network {
			g := newNetwork(servers, len(capacity))
			for i, x := range need {
				g.need[i] = wide{0, uint64(x)}
				g.sources = append(g.sources, int32(i))
			}
			for s, x := range capacity {
				g.slack[s] = wide{0, uint64(x)}
			}
			method(g)
			return g
		}
		left := func(g *network) (sum uint64) {
			given := make([]uint64, len(capacity))
			for i := range need {
				sent := g.need[i].lo
				for e := g.first[i]; e < g.first[i+1]; e++ {
					sent += g.flow[e].lo
					given[g.head[e]] += g.flow[e].lo
				}
				if sent != uint64(need[i]) {
					t.Fatalf("class %d sends or lacks %d in all, want %d", i, sent, need[i])
				}
				sum += g.need[i].lo
			}
			for s, x := range given {
				if x+g.slack[s].lo != uint64(capacity[s]) {
					t.Fatalf("server %d is given %d and has slack %d, want %d in all", s, x, g.slack[s].lo, capacity[s])
				}
			}
			return sum
		}
		got, want := run((*network).fill), run((*network).maximize)
		if g, w := left(got), left(want); g != w {
			t.Fatalf("%d find no room, want %d", g, w)
		}
		for _, g := range []*network{got, want} {
			slices.Sort(g.classes)
			slices.Sort(g.servers)
		}
		if !slices.Equal(got.classes, want.classes) || !slices.Equal(got.servers, want.servers) {
			t.Fatalf("minimum cut %v, %v, want %v, %v", got.classes, got.servers, want.classes, want.servers)
		}
	})
}

// Where all classes attain the least margin, memory is in proportion to their number.
func TestTiesTakeLittleMemory(t *testing.T) {
	perClass := func(n int) float64 {
		m := chainOf(n, 0, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Cluster(m); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	few, many := perClass(500), perClass(8000)
	if many > 2*few { // tables that grow by doubling hold up to twice what they need
		t.Errorf("%.0f bytes a class of 8000, %.0f of 500", many, few)
	}
}
