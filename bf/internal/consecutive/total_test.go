package consecutive

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Coefficients differ from the exact fractions on the graph of connected sets by at most their
// bounds.
func TestTotalMatchesFractions(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawChain(t, 7)
		g, _, err := recursion.ConnectedGraph(ctx, p, 1e6)
		if err != nil {
			return
		}
		jobs := rapid.IntRange(1, 14).Draw(t, "jobs")
		got, err := New(p).Total(ctx, jobs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recursion.Total(ctx, g, true, jobs, arithmetic.Number{Exact: big.NewRat(1, 1)}, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range want {
			checkNumber(t, "coefficient", got[n], w.Exact)
		}
	})
}

// Long sums of products match enclosures, and so do series with negligible coefficients, which
// widen the bound only by their size.
func TestTotalMatchesEnclosures(t *testing.T) {
	ctx := context.Background()
	var capacities, rates []*big.Int
	var arcs []arc
	// one server has a much lower load than the others: its powers are far below those of all
	// servers
	for s := range 7 {
		capacities = append(capacities, big.NewInt(1000000))
		rates, arcs = append(rates, big.NewInt(900000)), append(arcs, arc{s, 1})
		if s > 0 {
			rates, arcs = append(rates, big.NewInt(1)), append(arcs, arc{s - 1, 2})
		}
	}
	rates[0] = big.NewInt(1)
	for _, c := range []struct {
		p    *recursion.Problem
		jobs int
	}{{newProblem(capacities, rates, arcs), 60}, {even(30, 3, false), 9}, {even(20, 2, true), 9}} {
		g, _, err := recursion.ConnectedGraph(ctx, c.p, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		got, err := New(c.p).Total(ctx, c.jobs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recursion.Total(ctx, g, true, c.jobs, arithmetic.One(num.Enclose, 200), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range want {
			low, _ := w.Interval.Low.Rat(nil)
			checkNumber(t, "coefficient", got[n], low)
		}
	}
}
