package elimination

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// For functions with the value 1 + d kept as 1, a product and its integral over [0, 1] have the
// defect Π (1+d) - 1.
func TestDefectsMultiply(t *testing.T) {
	g := newMesh([]float64{0, 1}, 8)
	p, list, product := &Problem{Capacities: []float64{1}}, []*function{}, 1.0
	for _, d := range []float64{0.5, 0.25, 2} {
		f := newFunction([]int{0}, g)
		for _, all := range [][]float64{f.values, f.norms} {
			for i := range all {
				all[i] = 1
			}
		}
		f.defect[0] = d
		list = append(list, f)
		product *= 1 + d
		off, all := product-1, factors{functions: list}
		integral, err := integrate(context.Background(), g, p, all, 0, -1, []*scratch{newScratch(g, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for name, k := range map[string]*function{
			"product":  collapse(g, p, all, 0, newScratch(g, 1)),
			"integral": integral,
		} {
			if got := math.Ldexp(k.defect[0], k.exponent); !(got >= off && got <= off*1.01) {
				t.Errorf("%s of %d functions: a defect of %v, want %v", name, len(list), got, off)
			}
		}
	}
}

// The remainder of a worker in one time is that of the sums over all spans, whichever ellipse was
// best before.
func TestTailMatchesSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	k := &worker{step: &step{g: newMesh([]float64{0, 1}, 6)}, spans: make([]span, 4)}
	for s := range k.spans {
		k.spans[s].low = s
	}
	best := map[int]bool{}
	for range 200 {
		var all [radii]float64
		parts := make([][radii]float64, len(k.spans))
		growth := 6 * r.Float64()
		for s := range parts {
			for e := range radii {
				parts[s][e] = r.ExpFloat64() * math.Pow(ellipses[e], growth)
				all[e] += parts[s][e]
			}
		}
		got := k.tail(0, func(sum float64, s *span, e int) float64 { return sum + parts[s.low][e] })
		if want := k.g.tail(&all); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		best[k.ellipse[0]] = true
	}
	if len(best) < radii-1 {
		t.Errorf("only the ellipses %v were best", best)
	}
}

// weigh returns the sum of the sizes of coefficients times the weights of each ellipse.
func TestWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	row, growth := make([]float64, 9), make([][radii]float64, 9)
	var want [radii]float64
	for k := range row {
		row[k] = r.NormFloat64()
		for e := range radii {
			growth[k][e] = r.ExpFloat64()
			want[e] += math.Abs(row[k]) * growth[k][e]
		}
	}
	for e, x := range weigh(row, growth) {
		if !(math.Abs(x-want[e]) <= 1e-14*want[e]) {
			t.Errorf("ellipse %d: %v, want %v", e, x, want[e])
		}
	}
}
