package consecutive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// newProblem returns a problem with these capacities and rates, with each class on the servers of
// its arc.
func newProblem(capacities, rates []*big.Int, arcs []arc) *recursion.Problem {
	p := &recursion.Problem{Whole: true, Small: true, Scale: big.NewInt(1)}
	for _, c := range capacities {
		p.Groups = append(p.Groups, recursion.Group{N: 1, Capacity: c})
		p.Small = p.Small && c.BitLen() < 50
		p.Capacity64 = append(p.Capacity64, c.Int64())
	}
	for i, r := range rates {
		k := recursion.Class{Rate: r}
		for s := range arcs[i].servers {
			k.Choose = append(k.Choose, recursion.Choice{Group: (arcs[i].first + s) % len(capacities), Choose: 1})
		}
		p.Classes = append(p.Classes, k)
		p.Small = p.Small && r.BitLen() < 50
		p.Rate64 = append(p.Rate64, r.Int64())
	}
	return p
}

// drawChain draws a problem of servers in a line or a ring, with numbers that may exceed words.
// Servers may be almost always idle, and the problem may be unstable.
func drawChain(t *rapid.T, most int) *recursion.Problem {
	n := rapid.IntRange(2, most).Draw(t, "servers")
	ring := rapid.Bool().Draw(t, "ring")
	scale := big.NewInt(rapid.SampledFrom([]int64{1, 1, 1000, 1 << 40}).Draw(t, "scale"))
	if scale.BitLen() > 30 {
		scale.Mul(scale, scale).Add(scale, big.NewInt(12345))
	}
	var capacities, rates []*big.Int
	var arcs []arc
	for range n {
		c := big.NewInt(rapid.Int64Range(20, 200).Draw(t, "capacity"))
		capacities = append(capacities, c.Mul(c, scale))
	}
	least := rapid.SampledFrom([]int{0, 0, 1, 2, n}).Draw(t, "classes") // minimum
	seen := map[arc]bool{}
	add := func(a arc) {
		if seen[a] {
			return
		}
		seen[a] = true
		r := big.NewInt(rapid.Int64Range(1, 20).Draw(t, "rate"))
		arcs, rates = append(arcs, a), append(rates, r.Mul(r, new(big.Int).Quo(
			new(big.Int).Add(scale, big.NewInt(9)),
			big.NewInt(rapid.SampledFrom([]int64{1, 1, 1, 500}).Draw(t, "over")),
		)).Add(r, big.NewInt(1)))
	}
	for s := range n - 1 {
		add(arc{s, 2})
	}
	for range least {
		first := rapid.IntRange(0, n-1).Draw(t, "first")
		long := n - first
		if ring {
			long = n
		}
		if a := (arc{first, rapid.IntRange(1, long).Draw(t, "length")}); a.servers < n || a.first == 0 {
			add(a)
		}
	}
	return newProblem(capacities, rates, arcs)
}

type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

func checkNumber(t tester, what string, x arithmetic.Number, want *big.Rat) {
	t.Helper()
	off := new(big.Rat).SetFloat64(x.Double())
	off.Sub(off, want)
	off.Abs(off).Quo(off, want)
	if e, _ := off.Float64(); !(e <= x.Bound) || x.Bound > 1e-11 { // 1 minus the idle probability loses a factor of 16
		t.Errorf("%s = %v, want %v: error %g, bound %g", what, x.Double(), want.FloatString(20), e, x.Bound)
	}
}

// Measures differ from the exact fractions on the graph of connected sets by at most their bounds,
// and overloads are detected.
func TestSolveMatchesFractions(t *testing.T) {
	ctx := context.Background()
	rings, idle, overloaded := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawChain(t, 9)
		c := New(p)
		if c == nil {
			t.Fatal("not a chain")
		}
		g, _, graphErr := recursion.ConnectedGraph(ctx, p, 1e6)
		got, err := c.Solve(ctx)
		if graphErr != nil {
			overloaded++
			var o *recursion.Overload
			if !errors.As(err, &o) || len(o.Classes) == 0 || o.ArrivalRate.Cmp(o.Capacity) < 0 {
				t.Fatalf("%v, want an overload", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := recursion.Fractions(ctx, p, g, "connected", 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if c.Ring {
			rings++
		}
		checkNumber(t, "Z", got.Normalization, want.Normalization.Exact)
		for i, w := range want.Jobs {
			checkNumber(t, "jobs", got.Jobs[i], w.Exact)
		}
		for s, w := range want.Busy {
			if w.Exact.Cmp(big.NewRat(1, 16)) < 0 {
				idle++
			}
			checkNumber(t, "busy", got.Busy[s], w.Exact)
		}
	})
	if rings == 0 || idle == 0 || overloaded == 0 {
		t.Errorf("%d rings, %d idle servers, %d overloads", rings, idle, overloaded)
	}
}

// Long chains, which need a power of two per server, match enclosures from the graph of connected
// sets.
func TestSolveLongChains(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		servers, uses int
		ring          bool
	}{{70, 3, false}, {60, 2, true}} {
		p := even(c.servers, c.uses, c.ring)
		g, _, err := recursion.ConnectedGraph(ctx, p, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recursion.Enclose(ctx, p, g, 128)
		if err != nil {
			t.Fatal(err)
		}
		chain := New(p)
		if chain.Ring != c.ring || !c.ring && chain.Intervals() != float64(c.servers*(c.servers+1)/2) ||
			c.ring && chain.Intervals() != float64(c.servers*(c.servers-1)+1) {
			t.Errorf("%+v: ring %v, %v intervals", c, chain.Ring, chain.Intervals())
		}
		if terms := float64(len(g.Weight)); chain.GraphTerms() < terms || chain.GraphTerms() > 1.1*terms {
			t.Errorf("%+v: %v terms, at most %v", c, terms, chain.GraphTerms())
		}
		got, err := chain.Solve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		low := func(x arithmetic.Number) *big.Rat { r, _ := x.Interval.Low.Rat(nil); return r }
		checkNumber(t, "Z", got.Normalization, low(want.Normalization))
		for i, x := range want.Jobs {
			checkNumber(t, "jobs", got.Jobs[i], low(x))
		}
		for s, x := range want.Busy {
			checkNumber(t, "busy", got.Busy[s], low(x))
		}
	}
}

// even returns servers of equal capacity in a line or a ring, with a class on every uses
// consecutive servers, at load 0.9.
func even(servers, uses int, ring bool) *recursion.Problem {
	var capacities, rates []*big.Int
	var arcs []arc
	classes := servers - uses + 1
	if ring {
		classes = servers
	}
	for range servers {
		capacities = append(capacities, big.NewInt(int64(10*classes)))
	}
	for s := range classes {
		arcs, rates = append(arcs, arc{s, uses}), append(rates, big.NewInt(int64(9*servers)))
	}
	return newProblem(capacities, rates, arcs)
}

// Servers that share no class are independent M/M/1 queues; for such a long line Z = Π 1/(1-ρ) is
// far beyond float64.
func TestSolveIndependentServers(t *testing.T) {
	const servers = 600
	var capacities, rates []*big.Int
	var arcs []arc
	z := big.NewRat(1, 1)
	for s := range servers {
		c, r := int64(1000+s), int64(900+s)
		if s%100 == 0 {
			r = 3 // mostly idle
		}
		capacities, rates, arcs = append(capacities, big.NewInt(c)), append(rates, big.NewInt(r)), append(arcs, arc{
			s, 1,
		})
		z.Mul(z, big.NewRat(c, c-r))
	}
	got, err := New(newProblem(capacities, rates, arcs)).Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for s := range servers {
		c, r := capacities[s].Int64(), rates[s].Int64()
		checkNumber(t, "jobs", got.Jobs[s], big.NewRat(r, c-r))
		checkNumber(t, "busy", got.Busy[s], big.NewRat(r, c))
	}
	wide := arithmetic.WideOf(new(big.Float).SetPrec(200).SetRat(z))
	if x := got.Normalization; wide.Exp == 0 || x.Exp != wide.Exp || math.Abs(x.F/wide.F-1) > x.Bound+0x1p-50 ||
		x.Bound > 1e-11 {
		t.Errorf("Z = %v, want %v", x, wide)
	}
}

// New rejects problems that are not a line or a ring in the order of the servers; cancelled work
// returns the error of its context.
func TestNew(t *testing.T) {
	three := []*big.Int{big.NewInt(9), big.NewInt(9), big.NewInt(9), big.NewInt(9), big.NewInt(9)}
	p := newProblem(three, []*big.Int{big.NewInt(1)}, []arc{{0, 3}})
	p.Classes[0].Choose[1].Group = 3
	if New(p) != nil {
		t.Error("servers 0, 2 and 3 of five count as consecutive")
	}
	p.Classes[0].Choose[1].Group, p.Classes[0].Choose[2].Group = 4, 3
	if c := New(p); c == nil || !c.Ring || c.arcs[0] != (arc{3, 3}) {
		t.Error("servers 3, 4 and 0 of five do not count as consecutive in a ring")
	}
	p.Whole = false
	if New(p) != nil {
		t.Error("groups count as a line")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := New(even(100, 2, true))
	if _, err := c.Solve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Total(ctx, 50); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Inner products of any length match exact fractions, within the bound from dotAdditions.
func TestDot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(240, 800)).Draw(t, "length")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a, b := make([]float64, n), make([]float64, n)
		want, reversed := new(big.Rat), new(big.Rat)
		for k := range a {
			a[k], b[n-1-k] = rng.Float64()+0x1p-20, rng.Float64()+0x1p-20
		}
		for k := range a {
			x, y, z := new(big.Rat).SetFloat64(a[k]), new(big.Rat).SetFloat64(b[k]), new(big.Rat).SetFloat64(b[n-1-k])
			want.Add(want, y.Mul(x, y))
			reversed.Add(reversed, z.Mul(x, z))
		}
		if n > 0 {
			e := arithmetic.Roundings(dotAdditions(n) + 1)
			checkNumber(t, "dot", arithmetic.FromFloat(dot(a, b), e), want)
			checkNumber(t, "reversed", arithmetic.FromFloat(dotReversed(a, b), e), reversed)
		} else if dot(a, b) != 0 || dotReversed(a, b) != 0 {
			t.Error("nonzero sum of no products")
		}
	})
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{100, 300, 1000} {
		for _, ring := range []bool{false, true} {
			c := New(even(n, 10, ring))
			b.Run(fmt.Sprintf("servers=%d/ring=%v", n, ring), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Solve(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkTotal(b *testing.B) {
	for _, n := range []int{100, 300} {
		c := New(even(n, 10, false))
		b.Run(fmt.Sprintf("servers=%d/jobs=50", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Total(b.Context(), 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Powers of two change no digit, whatever windows they come from.
func TestPowersOfTwo(t *testing.T) {
	for _, ring := range []bool{false, true} {
		c := New(even(90, 4, ring))
		var sweeps []*sweep
		for _, windows := range [][]int{nil, {48}, {20, 70}} {
			w := &sweep{Chain: c, stop: recursion.Cancellation{Ctx: t.Context()}}
			err := w.prepare()
			w.from, w.until, w.taken = rows[float64](c, false), rows[float64](c, true), rows[float64](c, true)
			for _, window := range windows {
				err = cmp.Or(err, w.balance(window))
			}
			if err := cmp.Or(err, w.up(90)); err != nil {
				t.Fatal(err)
			}
			sweeps = append(sweeps, w)
		}
		for _, w := range sweeps[1:] {
			moved := 0
			for i, row := range w.from[:90] {
				exponent := 0
				for l, v := range row {
					if got, want := math.Ldexp(v, exponent), sweeps[0].from[i][l]; got != want {
						t.Fatalf("ring %v, %d servers from %d: %v, want %v", ring, l, i, got, want)
					}
					exponent += w.exponent[(i+l)%90]
				}
				moved = max(moved, exponent)
			}
			if moved < 20 {
				t.Errorf("ring %v: powers of two up to %d", ring, moved)
			}
		}
	}
}
