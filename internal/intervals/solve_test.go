package intervals

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/fractions"
	"productform/internal/recursion"
)

// newProblem returns the problem of these capacities and rates, each class on a number of servers from the first on.
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

// drawChain draws a problem of servers in a line or a ring, in words or not. Loads may be so small that servers are mostly idle, and it
// may be unstable.
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
	least := rapid.SampledFrom([]int{0, 0, 1, 2, n}).Draw(t, "classes") // so many at least
	seen := map[arc]bool{}
	add := func(a arc) {
		if seen[a] {
			return
		}
		seen[a] = true
		r := big.NewInt(rapid.Int64Range(1, 20).Draw(t, "rate"))
		arcs, rates = append(arcs, a), append(rates, r.Mul(r, new(big.Int).Quo(new(big.Int).Add(scale, big.NewInt(9)), big.NewInt(rapid.SampledFrom([]int64{1, 1, 1, 500}).Draw(t, "over")))).Add(r, big.NewInt(1)))
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

// Measures are within their bounds of the fractions that the graph of connected sets gives, and an overload is one.
func TestSolveAgainstFractions(t *testing.T) {
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
		want, err := fractions.Evaluate(ctx, p, g, "connected", 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if c.Ring {
			rings++
		}
		check := func(what string, x arithmetic.Number, want *big.Rat) {
			v := new(big.Rat).SetFloat64(x.Double())
			off := new(big.Rat).Sub(v, want)
			off.Abs(off).Quo(off, want)
			if e, _ := off.Float64(); !(e <= x.Bound) || x.Bound > 1e-11 { // 1 less what is idle loses a factor of 16
				t.Errorf("%s = %v, want %v: off by %g, bound %g", what, x.Double(), want.FloatString(20), e, x.Bound)
			}
		}
		check("Z", got.Normalization, want.Normalization)
		for i, w := range want.Jobs {
			check("jobs", got.Jobs[i], w)
		}
		for s, w := range want.Busy {
			if w.Cmp(big.NewRat(1, 16)) < 0 {
				idle++
			}
			check("busy", got.Busy[s], w)
		}
	})
	if rings == 0 || idle == 0 || overloaded == 0 {
		t.Errorf("%d rings, %d idle servers, %d overloads", rings, idle, overloaded)
	}
}
