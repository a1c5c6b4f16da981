package elimination

import (
	"context"
	"math"
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
