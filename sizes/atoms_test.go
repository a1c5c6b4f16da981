package sizes

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAtoms(t *testing.T) {
	if got := ok(NewDeterministic(3)).(Atomic).Atoms(); !slices.Equal(got, []float64{3}) {
		t.Errorf("deterministic: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Float64Range(1, 3), 1, 9).Draw(t, "sizes")
		sizes = append(sizes, sizes[len(sizes)/2], sizes[0])
		d := ok(NewEmpirical(sizes)).(Atomic)
		atoms := d.Atoms()
		count := map[float64]int{}
		for _, x := range sizes {
			count[x]++
		}
		for i, n := range d.Counts() {
			if n != count[atoms[i]] {
				t.Fatalf("%v: atom %v counted %d times", sizes, atoms[i], n)
			}
		}
		if len(atoms) != len(count) {
			t.Fatalf("%v: atoms %v", sizes, atoms)
		}
		before := 0.0
		for _, x := range atoms {
			p := ok(d.PartialMoment(0, before, x))
			if !(x > before) || p != float64(count[x])/float64(len(sizes)) {
				t.Fatalf("%v: atom %v after %v has probability %v", sizes, x, before, p)
			}
			before = x
		}
		atoms[0] = 1e9
		if again := d.Atoms(); again[0] == 1e9 || ok(d.Quantile(0)) == 1e9 {
			t.Fatalf("%v: a caller changed the distribution", sizes)
		}
	})
	for _, d := range allDistributions() {
		_, has := d.(Atomic)
		if x := ok(d.Quantile(0.5)); has != (d.CDF(x)-d.CDF(math.Nextafter(x, 0)) > 1e-9) {
			t.Errorf("%v: atomic is %v", d, has)
		}
	}
}
