package stability

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
)

// drawShares returns numbers near 1, most of them equal. So sets tie, and slack is small or at one
// end.
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

// drawChain returns a chain of classes. The i-th, in row[i], shares server i with the previous one
// and server i+1 with the next. Rates and capacities are multiples of unit, of hundreds of bits if
// long is set.
func drawChain(t *rapid.T, most int, long bool) (
	m *cluster.Model, row []int, rates, capacities []*big.Int, unit *big.Rat,
) {
	n := rapid.IntRange(1, most).Draw(t, "classes")
	unit = big.NewRat(1, 1000)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
	numbers := func(name string, n int) (x []*big.Int) {
		for _, v := range drawShares(t, n, name) {
			x = append(x, big.NewInt(v))
		}
		return x
	}
	rates, capacities = numbers("rates", n), numbers("capacities", n+1)
	if long {
		factor, bits := big.NewInt(rapid.Int64().Draw(t, "factor")), rapid.UintRange(130, 400).Draw(t, "bits")
		factor.SetBit(factor.Abs(factor), int(bits), 1)
		thin := rapid.Bool().Draw(t, "thin") // margins differ only in the last digits
		for _, x := range slices.Concat(rates, capacities) {
			x.Mul(x, factor)
			if thin {
				x.Add(x, big.NewInt(rng.Int64N(5)))
			}
		}
		unit.Quo(unit, new(big.Rat).SetInt(factor.Add(factor, big.NewInt(1))))
	}
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
	times := func(x *big.Int) *big.Rat { return new(big.Rat).Mul(unit, new(big.Rat).SetInt(x)) }
	m = &cluster.Model{Classes: make([]cluster.Class, n)}
	for s, c := range capacities {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: times(c)})
	}
	for i, r := range rates {
		m.Classes[row[i]] = cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: times(r), Servers: cluster.On(i, i+1)}
	}
	return m, row, rates, capacities, unit
}

// Chains of small numbers are long enough that needs are moved together; chains of long numbers are
// short.
func TestChainsAgainstRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkChain(t, 250, false) })
	rapid.Check(t, func(t *rapid.T) { checkChain(t, 30, true) })
}

// checkChain compares Cluster with all runs of classes of a chain. A set of classes consists of
// runs that share no server, whose margins add up. So the critical scale is that of a run, and so
// is the margin if it is positive. Otherwise it is found from the left, one class at a time.
func checkChain(t *rapid.T, most int, long bool) {
	m, row, rates, capacities, unit := drawChain(t, most, long)
	var margin, load, capacity *big.Int // the run with the smallest margin; the run with the smallest scale
	var marginSet, bottleneck []int
	for a := range rates {
		sumLoad, sumCapacity := new(big.Int), new(big.Int).Set(capacities[a])
		for b := a; b < len(rates); b++ {
			sumLoad.Add(sumLoad, rates[b])
			sumCapacity.Add(sumCapacity, capacities[b+1])
			set := func() []int { return slices.Sorted(slices.Values(row[a : b+1])) }
			h := new(big.Int).Sub(sumCapacity, sumLoad)
			if margin == nil || h.Cmp(margin) < 0 || h.Cmp(margin) == 0 && compareRows(set(), marginSet) < 0 {
				margin, marginSet = h, set()
			}
			c := -1
			if load != nil {
				c = new(big.Int).Mul(sumCapacity, load).Cmp(new(big.Int).Mul(capacity, sumLoad))
			}
			if c < 0 || c == 0 && compareRows(set(), bottleneck) < 0 {
				load, capacity, bottleneck = new(big.Int).Set(sumLoad), new(big.Int).Set(sumCapacity), set()
			}
		}
	}
	got, err := Cluster(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), m, got); err != nil {
		t.Fatal(err)
	}
	if got.CriticalScale.Cmp(new(big.Rat).SetFrac(capacity, load)) != 0 || !slices.Equal(got.Bottleneck, bottleneck) {
		t.Fatalf("critical scale %v of %v, want %d/%d of %v",
			got.CriticalScale, got.Bottleneck, capacity, load, bottleneck)
	}
	if margin.Sign() < 0 {
		least := func(a, b *big.Int) *big.Int {
			if a == nil || a.Cmp(b) > 0 {
				return b
			}
			return a
		}
		var in *big.Int // smallest margin over the sets of the classes so far that contain the last one
		out := new(big.Int)
		for i, r := range rates {
			with := least(in, new(big.Int).Add(out, capacities[i]))
			with = new(big.Int).Add(with, capacities[i+1])
			in, out = with.Sub(with, r), least(in, out)
		}
		margin, marginSet = least(in, out), got.MarginSet
	}
	if want := new(big.Rat).Mul(unit, new(big.Rat).SetInt(margin)); got.Margin.Cmp(want) != 0 ||
		!slices.Equal(got.MarginSet, marginSet) {
		t.Fatalf("margin %v of %v, want %v of %v", got.Margin, got.MarginSet, want, marginSet)
	}
}

// Both ways to find a maximum flow send the same amount and give the same smallest minimum cut.
func TestFillMatchesMaximize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "classes")
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
		run := func(method func(*network, context.Context) error) *network {
			g := newNetwork(servers, len(capacity))
			for i, x := range need {
				g.need[i] = uint128{0, uint64(x)}
				g.sources = append(g.sources, int32(i))
			}
			for s, x := range capacity {
				g.slack[s] = uint128{0, uint64(x)}
			}
			if err := method(g, t.Context()); err != nil {
				t.Fatal(err)
			}
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
					t.Fatalf("class %d sends or lacks a total of %d, want %d", i, sent, need[i])
				}
				sum += g.need[i].lo
			}
			for s, x := range given {
				if x+g.slack[s].lo != uint64(capacity[s]) {
					t.Fatalf("server %d is given %d and has slack %d, want a total of %d",
						s, x, g.slack[s].lo, capacity[s])
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

// If all classes attain the smallest margin, memory is proportional to their number.
func TestTiesTakeLittleMemory(t *testing.T) {
	perClass := func(n int) float64 {
		m := chainOf(n, 0, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Cluster(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	few, many := perClass(500), perClass(8000)
	if many > 2*few { // tables that grow by doubling take up to twice the required memory
		t.Errorf("%.0f bytes per class of 8000, %.0f of 500", many, few)
	}
}
