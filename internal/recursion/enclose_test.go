package recursion_test

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// drawProblem draws single servers and classes, the first of which uses all servers. The total rate
// is less than the capacity of any server.
func drawProblem(t *rapid.T) *recursion.Problem {
	p := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Small: true}
	for range rapid.IntRange(1, 4).Draw(t, "servers") {
		c := rapid.Int64Range(100, 200).Draw(t, "capacity")
		p.Groups, p.Capacity64 = append(p.Groups, recursion.Group{
			N:        1,
			Capacity: big.NewInt(c),
		}), append(p.Capacity64, c)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
		rate := rapid.Int64Range(1, 20).Draw(t, "rate")
		k := recursion.Class{Rate: big.NewInt(rate)}
		servers := 1<<len(p.Groups) - 1
		if i > 0 {
			servers = rapid.IntRange(1, servers).Draw(t, "uses")
		}
		for s := range p.Groups {
			if servers>>s&1 == 1 {
				k.Choose = append(k.Choose, recursion.Choice{Group: s, Choose: 1})
			}
		}
		p.Classes, p.Rate64 = append(p.Classes, k), append(p.Rate64, rate)
	}
	return p
}

// Fractions are within the bounds, which are as narrow as their bits allow.
func TestMeasuresEncloseFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		p := drawProblem(t)
		prec := uint(rapid.IntRange(64, 200).Draw(t, "bits"))
		for _, build := range []func() (*recursion.Graph, error){
			func() (*recursion.Graph, error) { return recursion.ClassGraph(ctx, p) },
			func() (*recursion.Graph, error) { return recursion.SymmetricGraph(ctx, p, prec) },
		} {
			g, err := build()
			if err != nil {
				t.Fatal(err)
			}
			exact, err := recursion.Fractions(ctx, p, g, "any", 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			m, err := recursion.Enclose(ctx, p, g, prec)
			if err != nil {
				t.Fatal(err)
			}
			holds := func(name string, x, y arithmetic.Number) {
				want := y.Exact
				low, _ := x.Interval.Low.Rat(nil)
				high, _ := x.Interval.High.Rat(nil)
				width := new(big.Rat).Sub(high, low)
				most := new(big.Rat).SetFrac(big.NewInt(1<<20), new(big.Int).Lsh(big.NewInt(1), prec))
				if low.Cmp(want) > 0 || high.Cmp(want) < 0 || width.Cmp(most.Mul(most, high)) > 0 {
					t.Errorf("%s: %v..%v of %d bits, exactly %v", name, x.Interval.Low, x.Interval.High, prec, want)
				}
			}
			holds("normalization", m.Normalization, exact.Normalization)
			if len(m.Jobs) != len(p.Classes) || len(m.Busy) != len(p.Groups) {
				t.Fatalf("%d classes, %d groups", len(m.Jobs), len(m.Busy))
			}
			for i, x := range m.Jobs {
				holds("jobs", x, exact.Jobs[i])
			}
			for s, x := range m.Busy {
				holds("busy", x, exact.Busy[s])
			}
		}
	})
}
