package recursion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// problemOf returns a problem with groups of n servers and classes with a rate per way.
func problemOf(groups []Group, classes []Class, small bool) *Problem {
	p := &Problem{Groups: groups, Classes: classes, Whole: true, Scale: big.NewInt(1), Small: small}
	for _, g := range groups {
		p.Whole = p.Whole && g.N == 1
		p.Capacity64 = append(p.Capacity64, g.Capacity.Int64())
	}
	for _, k := range classes {
		p.Rate64 = append(p.Rate64, k.Rate.Int64())
	}
	return p
}

func drawProblem(t *rapid.T, most int) *Problem {
	var groups []Group
	for range rapid.IntRange(1, 4).Draw(t, "groups") {
		groups = append(groups, Group{
			rapid.IntRange(1, most).Draw(t, "servers"), big.NewInt(rapid.Int64Range(1, 20).Draw(t, "capacity")),
		})
	}
	var classes []Class
	for range rapid.IntRange(1, 4).Draw(t, "classes") {
		var choose []Choice
		for s, g := range groups {
			if d := rapid.IntRange(0, g.N).Draw(t, "chosen"); d > 0 {
				choose = append(choose, Choice{s, d})
			}
		}
		if choose != nil {
			classes = append(classes, Class{big.NewInt(rapid.Int64Range(1, 8).Draw(t, "rate")), choose})
		}
	}
	if classes == nil {
		classes = []Class{{big.NewInt(1), []Choice{{0, 1}}}}
	}
	return problemOf(groups, classes, rapid.Bool().Draw(t, "small"))
}

// setsOfServers returns, for each class, each of its ways to choose servers as a mask with its
// rate, and the capacities of all servers.
func setsOfServers(p *Problem) (ways []uint, rates, capacities []int64) {
	start := make([]int, len(p.Groups))
	for s, g := range p.Groups {
		start[s] = len(capacities)
		for range g.N {
			capacities = append(capacities, g.Capacity.Int64())
		}
	}
	for _, k := range p.Classes {
		for set := range uint(1) << len(capacities) {
			fits := true
			for s, g := range p.Groups {
				want := 0
				for _, c := range k.Choose {
					if c.Group == s {
						want = c.Choose
					}
				}
				fits = fits && bits.OnesCount(set>>start[s]&(1<<g.N-1)) == want
			}
			if fits {
				ways, rates = append(ways, set), append(rates, k.Rate.Int64())
			}
		}
	}
	return ways, rates, capacities
}

// normalization returns Z by the recursion over all sets K of single servers, in which every way to
// choose servers is a class: Z(∅) = 1, (M(K) - λ(K)) Z(K) = Σ_{s∈K} C_s Z(K∖s), with λ(K) the rate
// of the ways within K. It returns nil for an unstable problem.
func normalization(p *Problem) *big.Rat {
	ways, rates, capacities := setsOfServers(p)
	z := make([]*big.Rat, 1<<len(capacities))
	z[0] = big.NewRat(1, 1)
	for k := uint(1); k < uint(len(z)); k++ {
		var slack int64
		sum := new(big.Rat)
		for s, c := range capacities {
			if k>>s&1 == 1 {
				slack += c
				sum.Add(sum, new(big.Rat).Mul(big.NewRat(c, 1), z[k&^(1<<s)]))
			}
		}
		for w, set := range ways {
			if set&^k == 0 {
				slack -= rates[w]
			}
		}
		if slack <= 0 {
			return nil
		}
		z[k] = sum.Quo(sum, big.NewRat(slack, 1))
	}
	return z[len(z)-1]
}

// root returns the value of the last state of a graph by a literal recursion, and checks that
// children lie on lower layers.
func root(t *rapid.T, g *Graph) *big.Rat {
	values := make([]*big.Rat, g.States())
	for k := range values {
		first, last := g.Terms(k)
		values[k] = new(big.Rat)
		if first == last {
			values[k].SetInt64(1)
			continue
		}
		for term := first; term < last; term++ {
			product := big.NewRat(1, 1)
			if w := g.Weight[term]; w >= 0 {
				product.SetInt(g.Weights[w])
			}
			for _, c := range g.Children(term) {
				if g.Layer[c] >= g.Layer[k] {
					t.Errorf("state %d of layer %d needs %d of layer %d", k, g.Layer[k], c, g.Layer[c])
				}
				product.Mul(product, values[c])
			}
			values[k].Add(values[k], product)
		}
		if g.Shares != nil {
			d, _ := g.Big[k].Rat(nil)
			values[k].Quo(values[k], d)
			continue
		}
		d := g.Den.At(k, new(big.Int))
		values[k].Quo(values[k], new(big.Rat).SetInt(d))
	}
	return values[len(values)-1]
}

// check compares the value of a graph with that of all sets of single servers.
func check(t *rapid.T, name string, p *Problem, g *Graph, err error, want *big.Rat) {
	t.Helper()
	if want != nil {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z := root(t, g); z.Cmp(want) != 0 {
			t.Errorf("%s: Z = %v, want %v", name, z, want)
		}
		return
	}
	var o *Overload
	if !errors.As(err, &o) || o.ArrivalRate.Cmp(o.Capacity) < 0 || len(o.Classes) == 0 {
		t.Fatalf("%s: %v, want an overload", name, err)
	}
	if !p.Whole {
		return
	}
	used, capacity, rate := map[int]bool{}, new(big.Rat), new(big.Rat)
	for _, i := range o.Classes {
		rate.Add(rate, new(big.Rat).SetInt(p.Classes[i].Rate))
		for _, c := range p.Classes[i].Choose {
			if !used[c.Group] {
				used[c.Group] = true
				capacity.Add(capacity, new(big.Rat).SetInt(p.Groups[c.Group].Capacity))
			}
		}
	}
	if rate.Cmp(o.ArrivalRate) != 0 || rate.Cmp(capacity) < 0 {
		t.Errorf("%s: %v is not a witness: %v to %v", name, o, rate, capacity)
	}
}

// All graphs of single servers match the recursion over all sets, with integers of one word and
// longer.
func TestGraphsOfSingleServers(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 1)
		want := normalization(p)
		g, err := ClassGraph(ctx, p)
		check(t, "classes", p, g, err, want)
		g, err = SymmetricGraph(ctx, p, 0)
		check(t, "servers", p, g, err, want)
		g, used, err := ConnectedGraph(ctx, p, 1000)
		check(t, "connected", p, g, err, want)
		if err != nil {
			return
		}
		if least := p.leastTerms(); least > float64(len(g.Weight)) {
			t.Errorf("%d terms, at least %v", len(g.Weight), least)
		}
		again, _, err := ConnectedGraph(ctx, p, used)
		check(t, "connected, with just enough", p, again, err, want)
		if less, _, err := ConnectedGraph(ctx, p, used-1); less != nil || err != nil {
			t.Errorf("a graph for less than %d: %v", used, err)
		}
	})
}

// The count matches the sum over all connected sets of their servers and the classes that use
// these.
func TestConnectedSetsAreCounted(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 1)
		sets := make([]uint, len(p.Classes))
		for i, k := range p.Classes {
			for _, c := range k.Choose {
				sets[i] |= 1 << c.Group
			}
		}
		states, want := 0, 0
		all := uint(1)<<len(p.Groups) - 1
		for k := uint(1); k <= all; k++ {
			part, touching := uint(0), 0 // part linked to the first class inside
			for grown := true; grown; {
				grown = false
				for _, set := range sets {
					if set&^k == 0 && set&^part != 0 && (part == 0 || set&part != 0) {
						part, grown = part|set, true
					}
				}
			}
			for _, set := range sets {
				touching += oneIf(set&k != 0)
			}
			if part == k || k == all {
				states++
				want += bits.OnesCount(k) + touching*9/40
			}
		}
		used, err := newLinks(p).count(ctx, want)
		if used != want || err != nil {
			t.Fatalf("%d counted, %v, want %d", used, err, want)
		}
		if less, err := newLinks(p).count(ctx, want-1); less < want || err != nil {
			t.Errorf("%d counted up to %d, %v", less, want-1, err)
		}
		if g, _, err := ConnectedGraph(ctx, p, want); err == nil && g.States() != states {
			t.Errorf("%d states, want %d", g.States(), states)
		}
	})
}

// In a line with jobs on neighbours, the connected sets are those of two or more consecutive
// servers.
func TestConnectedSetsOfALine(t *testing.T) {
	for n := 2; n < 12; n++ {
		g, _, err := ConnectedGraph(context.Background(), line(n), 10000)
		if err != nil || g.States() != n*(n-1)/2 {
			t.Errorf("%d servers: %d states, %v", n, g.States(), err)
		}
	}
}

// The terms of a tree with jobs on pairs are counted in linear time, including those of a large
// star.
func TestTermsOfTrees(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := line(rapid.IntRange(2, 9).Draw(t, "servers"))
		for i := range p.Classes {
			p.Classes[i].Choose[0].Group = rapid.IntRange(0, i).Draw(t, "parent")
		}
		g, _, err := ConnectedGraph(ctx, p, 10000)
		if err != nil {
			t.Fatal(err)
		}
		if least := p.leastTerms(); math.Ceil(least) != float64(len(g.Weight)) {
			t.Errorf("%v terms, want %d", least, len(g.Weight))
		}
	})
	star := line(2000)
	for i := range star.Classes {
		star.Classes[i].Choose[0].Group = 0
	}
	if g, used, err := ConnectedGraph(ctx, star, 1<<30); g != nil || used != 1<<30+1 || err != nil {
		t.Errorf("graph %v, %d terms, %v", g, used, err)
	}
}

// Graphs of groups of equal servers match the recursion over all sets. With shares the denominators
// are rounded to 100 bits.
func TestGraphsOfGroups(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 2)
		want := normalization(p)
		g, err := SymmetricGraph(ctx, p, 0)
		check(t, "groups", p, g, err, want)

		shared := *p
		shared.Shared, shared.Whole, shared.Small, shared.Capacity64, shared.Rate64, shared.Classes = true,
			false, false, nil, nil, slices.Clone(p.Classes)
		for i, k := range p.Classes { // rate of all ways together
			for _, c := range k.Choose {
				shared.Classes[i].Rate = new(big.Int).Mul(
					shared.Classes[i].Rate, new(big.Int).Binomial(int64(p.Groups[c.Group].N), int64(c.Choose)),
				)
			}
		}
		g, err = SymmetricGraph(ctx, &shared, 100)
		if want == nil {
			check(t, "shares", &shared, g, err, nil)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		off := root(t, g)
		off.Sub(off, want).Abs(off).Quo(off, want)
		// at most 8 servers, 2^-100 each
		if off.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 95))) > 0 {
			t.Errorf("shares: Z is off by %v of %v", off.FloatString(40), want)
		}
	})
}

// A cancelled context stops every builder.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := line(14)
	for name, build := range map[string]func() (*Graph, error){
		"classes":   func() (*Graph, error) { return ClassGraph(ctx, p) },
		"servers":   func() (*Graph, error) { return SymmetricGraph(ctx, p, 0) },
		"connected": func() (*Graph, error) { g, _, err := ConnectedGraph(ctx, line(100), 1<<20); return g, err },
	} {
		if g, err := build(); g != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// line returns a problem of n servers in a line, with jobs on each two neighbours.
func line(n int) *Problem {
	var groups []Group
	var classes []Class
	for s := range n {
		groups = append(groups, Group{1, big.NewInt(10)})
		if s > 0 {
			classes = append(classes, Class{big.NewInt(9), []Choice{{s - 1, 1}, {s, 1}}})
		}
	}
	return problemOf(groups, classes, true)
}

func BenchmarkGraphs(b *testing.B) {
	ctx := b.Context()
	run := func(name string, n int, build func(p *Problem) (*Graph, error)) {
		b.Run(fmt.Sprintf("%s/servers=%d", name, n), func(b *testing.B) {
			p := line(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := build(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("classes", 15, func(p *Problem) (*Graph, error) { return ClassGraph(ctx, p) })
	run("servers", 14, func(p *Problem) (*Graph, error) { return SymmetricGraph(ctx, p, 0) })
	run("connected", 60, func(p *Problem) (*Graph, error) { g, _, err := ConnectedGraph(ctx, p, 1<<30); return g, err })
}
