package whittle_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/whittle"
)

// The states visited are those of the definition, each once, and the three ways of numbering them
// agree.
func TestLatticeNumbersItsStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		l := drawLattice(t, classes)
		states, err := l.States()
		if err != nil {
			t.Fatal(err)
		}
		inside := 0
		x := make([]int, classes)
		for { // every x in {0..8}^N, counted by the definition of the lattice
			sum, ok := 0, true
			for i, v := range x {
				sum += v
				ok = ok && (l.Limits == nil || v <= l.Limits[i])
			}
			ok = ok && (l.Limits != nil || sum <= l.Total)
			k, in := l.Index(x)
			if in != ok {
				t.Fatalf("Index(%v) in %+v: %v", x, l, in)
			}
			if ok {
				inside++
				if back, found := l.State(k); !found || !slices.Equal(back, x) {
					t.Fatalf("State(Index(%v)) = %v", x, back)
				}
			}
			i := 0
			for i < classes && x[i] == 8 {
				x[i] = 0
				i++
			}
			if i == classes {
				break
			}
			x[i]++
		}
		visited := 0
		for k, x := range l.All() {
			if at, ok := l.Index(x); k != visited || at != k || !ok {
				t.Fatalf("visit %d is %v with index %d, Index says %d", visited, x, k, at)
			}
			for i := range x {
				if x[i] > 0 {
					x[i]-- // x is a copy that the walk does not read
					if below, _ := l.Index(x); below >= k {
						t.Fatalf("index %d of %v is not below %d", below, x, k)
					}
					x[i]++
				}
			}
			visited++
		}
		if visited != states || inside != states {
			t.Fatalf("States() = %d, visited %d, by definition %d", states, visited, inside)
		}
	})
}

// The index of a state of a simplex does not depend on the simplex.
func TestSimplexIndexIsUniversal(t *testing.T) {
	small, large := whittle.Simplex(3, 5), whittle.Simplex(3, 9)
	for k, x := range small.All() {
		if at, _ := large.Index(x); at != k {
			t.Fatalf("%v is at %d and %d", x, k, at)
		}
	}
}
