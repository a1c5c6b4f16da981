package recursion

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"productform/internal/oracle"
)

// singleServers returns n servers with one class each.
func singleServers(n int, small bool) *Problem {
	var groups []Group
	var classes []Class
	for s := range n {
		groups = append(groups, Group{N: 1, Capacity: big.NewInt(int64(10 + s))})
		classes = append(classes, Class{Rate: big.NewInt(5), Choose: []Choice{{Group: s, Choose: 1}}})
	}
	return problemOf(groups, classes, small)
}

// After cancellation, the sums over the sets of active classes visit only a few more sets.
func TestActiveSumsEnd(t *testing.T) {
	const n = 12
	p := singleServers(n, true)
	g, err := ClassGraph(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, looks := range []int{0, 1, 9} {
		ctx := oracle.NewCountdown(looks)
		b := newBoundRun(ctx, p, g, 64, big.ToNegativeInf)
		for k := range b.Value {
			b.Value[k].SetInt64(1)
		}
		if err := b.addActive(); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d checks: error %v", looks, err)
		}
		// The class and its server are active in every second set. A set takes a step of a long
		// number for each class and server.
		sets, _ := b.part[0].Int64()
		if most := int64(looks+1) * (stepsPerCheck/(BigSteps*2*n) + 1); sets > most {
			t.Errorf("after %d checks: %d sets with the first server, want at most %d", looks, sets, most)
		}
	}
}

// All work on a graph of 2^14 states checks the context every few states, and ends promptly after
// cancellation.
func TestGraphsEnd(t *testing.T) {
	const n = 14
	for _, small := range []bool{true, false} {
		p := singleServers(n, small)
		g, err := ClassGraph(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		outline := g.Outline()
		for _, c := range []struct {
			name string
			most int // states between two checks
			ask  func(ctx context.Context) error
		}{
			{"class graph", 512, func(ctx context.Context) error { _, err := ClassGraph(ctx, p); return err }},
			{"other rates", 1 << 12, func(ctx context.Context) error { _, err := outline.For(ctx, p, p); return err }},
			{"scale", 1 << 13, func(ctx context.Context) error {
				o, stop := *outline, Cancellation{Ctx: ctx}
				if small {
					return o.scaleWords(&stop, big.NewRat(2, 1))
				}
				return o.scale(&stop, big.NewRat(2, 1))
			}},
			{"enclose", 64, func(ctx context.Context) error { _, err := Enclose(ctx, p, g, 64); return err }},
		} {
			ctx := oracle.NewCountdown(1 << 30)
			if err := c.ask(ctx); err != nil {
				t.Fatal(err)
			}
			if between := g.States() / max(1, ctx.Asked()); between > c.most {
				t.Errorf("%s, small %v: a check in %d states, want one in %d", c.name, small, between, c.most)
			}
			if err := oracle.CheckEnds(c.ask, 1<<13, 2); err != nil {
				t.Errorf("%s, small %v: %v", c.name, small, err)
			}
		}
	}
}
