package lattice

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Both orders visit all points by number, forward and backward.
func TestBoxGoesForthAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 4).Draw(t, "limits")
		boxes := map[string]Box{"first fastest": FirstFastest(limits), "last fastest": LastFastest(limits)}
		for name, b := range boxes {
			if float64(b.States) != Size(limits) {
				t.Fatalf("%s: %d points, want %g", name, b.States, Size(limits))
			}
			x := make([]int, len(limits))
			for n := range b.States {
				if b.Number(x) != n || !slices.Equal(b.Point(n), x) {
					t.Fatalf("%s: point %d is %v, found %v", name, n, b.Point(n), x)
				}
				before := slices.Clone(x)
				k := b.Next(x)
				if (k < 0) != (n == b.States-1) || k >= 0 && x[k] != before[k]+1 {
					t.Fatalf("%s: coordinate %d rose from %v to %v", name, k, before, x)
				}
				back := slices.Clone(x)
				if j := b.Back(back); j != k || !slices.Equal(back, before) {
					t.Fatalf("%s: coordinate %d fell from %v to %v, want %v", name, j, x, back, before)
				}
			}
		}
	})
}
