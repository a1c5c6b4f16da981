package recursion

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/num"
)

// drawCounts draws servers and classes on some of them, with rates small enough for stability.
func drawCounts(t *rapid.T) *Problem {
	p := &Problem{Whole: true, Small: true, Scale: big.NewInt(1)}
	for range rapid.IntRange(1, 6).Draw(t, "servers") {
		c := rapid.Int64Range(100, 1000).Draw(t, "capacity")
		p.Groups, p.Capacity64 = append(p.Groups, Group{N: 1, Capacity: big.NewInt(c)}), append(p.Capacity64, c)
	}
	for range rapid.IntRange(1, 6).Draw(t, "classes") {
		var k Class
		for s := range p.Groups {
			if rapid.Bool().Draw(t, "uses") {
				k.Choose = append(k.Choose, Choice{Group: s, Choose: 1})
			}
		}
		if k.Choose == nil {
			k.Choose = []Choice{{Group: 0, Choose: 1}}
		}
		r := rapid.Int64Range(1, 16).Draw(t, "rate")
		k.Rate = big.NewInt(r)
		p.Classes, p.Rate64 = append(p.Classes, k), append(p.Rate64, r)
	}
	return p
}

// In float64, the coefficients on connected sets differ from the exact fractions by at most their
// bounds.
func TestFloatProducts(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawCounts(t)
		g, _, err := ConnectedGraph(ctx, p, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 20).Draw(t, "jobs")
		got, err := floatProducts(ctx, g, n)
		if err != nil {
			t.Fatal(err)
		}
		want, err := seriesOfProducts(ctx, g, n, arithmetic.Number{Exact: big.NewRat(1, 1)}, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			off := new(big.Rat).SetFloat64(got[i].Double())
			off.Sub(off, w.Exact)
			off.Abs(off).Quo(off, w.Exact)
			if e, _ := off.Float64(); !(e <= got[i].Bound) || got[i].Bound > 1e-12 {
				t.Errorf("Z[%d] = %v, want %v: off by %g, bound %g", i, got[i].Double(), w.Exact, e, got[i].Bound)
			}
		}
	})
}

// Coefficients too far apart for float64 use wide numbers, and still match the exact fractions.
func TestFarProducts(t *testing.T) {
	ctx := context.Background()
	p := &Problem{
		Whole:      true,
		Small:      true,
		Scale:      big.NewInt(1),
		Capacity64: []int64{1e9, 1e9},
		Rate64:     []int64{1, 9e8},
	}
	for i, c := range p.Capacity64 {
		p.Groups = append(p.Groups, Group{N: 1, Capacity: big.NewInt(c)})
		k := Class{Rate: big.NewInt(p.Rate64[i]), Choose: []Choice{{Group: 0, Choose: 1}, {Group: 1, Choose: 1}}}
		k.Choose = k.Choose[i:]
		p.Classes = append(p.Classes, k)
	}
	// The first class uses only the first server, at a rate far below that of the second class.
	p.Classes[0].Choose = p.Classes[0].Choose[:1]
	g, _, err := ConnectedGraph(ctx, p, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	const n = 60
	if _, err := floatProducts(ctx, g, n); !errors.Is(err, errFar) {
		t.Errorf("error %v", err)
	}
	got, err := Total(ctx, g, true, n, arithmetic.One(num.Float, 0), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Total(ctx, g, true, n, arithmetic.One(num.Exact, 0), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		off := new(big.Rat).SetFloat64(got[i].Double())
		off.Sub(off, w.Exact)
		off.Abs(off).Quo(off, w.Exact)
		if e, _ := off.Float64(); !(e <= got[i].Bound) {
			t.Errorf("Z[%d] = %v: off by %g, bound %g", i, got[i].Double(), e, got[i].Bound)
		}
	}
	var large *num.TooLargeError
	if _, err := Total(ctx, g, true, n, arithmetic.One(num.Exact, 0), 100); !errors.As(err, &large) {
		t.Errorf("error %v, want one for fractions of more than 100 bytes", err)
	}
}
