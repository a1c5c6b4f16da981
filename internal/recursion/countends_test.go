package recursion

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"productform/internal/oracle"
)

// Series check the context while they convert the rates of all states, before the first
// coefficient, and in the sums over all states.
func TestSeriesEnd(t *testing.T) {
	const n = 16
	p := &Problem{Whole: true, Small: true, Scale: big.NewInt(1)}
	for s := range n {
		p.Groups = append(p.Groups, Group{N: 1, Capacity: big.NewInt(10)})
		p.Capacity64 = append(p.Capacity64, 10)
		p.Classes = append(p.Classes,
			Class{Rate: big.NewInt(5), Choose: []Choice{{Group: s, Choose: 1}}})
		p.Rate64 = append(p.Rate64, 5)
	}
	classes, err := ClassGraph(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	shared := *p
	shared.Whole, shared.Shared, shared.Small, shared.Capacity64, shared.Rate64 = false, true, false, nil, nil
	shares, err := SymmetricGraph(t.Context(), &shared, FloatShares)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    *Graph
		most int // states between two checks
	}{{"classes", classes, 1 << 13}, {"shares", shares, 1 << 8}} {
		ctx := oracle.NewCountdown(1 << 30)
		s, err := newFloatSeries(ctx, c.g)
		if err != nil {
			t.Fatal(err)
		}
		if between := c.g.States() / max(1, ctx.Asked()); between > c.most {
			t.Errorf("%s: a check in %d states, want one in %d", c.name, between, c.most)
		}
		convert := func(ctx context.Context) error { _, err := newFloatSeries(ctx, c.g); return err }
		if err := oracle.CheckEnds(convert, 1<<13, 1); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !c.g.ByClass {
			continue
		}
		cancelled := oracle.NewCountdown(0)
		s.stop = Cancellation{Ctx: cancelled}
		if _, err := s.coefficient(0); !errors.Is(err, context.Canceled) || cancelled.Asked() != 1 {
			t.Errorf("%s: error %v of a sum after %d checks", c.name, err, cancelled.Asked())
		}
		b := newBoundSeries(t.Context(), c.g, 64)
		b.low.Stop, b.high.Stop = Cancellation{Ctx: cancelled}, Cancellation{Ctx: cancelled}
		if _, err := b.coefficient(0); !errors.Is(err, context.Canceled) || cancelled.Asked() != 2 {
			t.Errorf("%s: error %v of enclosed sums after %d checks", c.name, err, cancelled.Asked())
		}
	}
}

// Fill returns copies, and stops with its context; then the next count of steps reports that.
func TestFill(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1 << 14, 100_001} {
		stop := Cancellation{Ctx: t.Context()}
		if list := Fill(&stop, 7, n); len(list) != n || slices.ContainsFunc(list, func(x int) bool { return x != 7 }) {
			t.Errorf("%d copies: %d, %v...", n, len(list), list[:min(n, 3)])
		}
	}
	cancelled := oracle.NewCountdown(1)
	stop := Cancellation{Ctx: cancelled}
	list := Fill(&stop, 7, 1<<20)
	if filled := slices.Index(list, 0); len(list) != 1<<20 || filled < 1 || filled > 1<<17 {
		t.Errorf("%d copies before the end of the context", filled)
	}
	if err := stop.After(1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancelled fill", err)
	}
}
