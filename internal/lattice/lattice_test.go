package lattice

import (
	"slices"
	"testing"
)

// lists returns the vectors x with 0 <= x_i <= most, the first entry fastest.
func lists(classes, most int) [][]int {
	all := [][]int{nil}
	for range classes {
		var longer [][]int
		for v := range most + 1 {
			for _, x := range all {
				longer = append(longer, append(slices.Clone(x), v))
			}
		}
		all = longer
	}
	return all
}

func total(x []int) int {
	n := 0
	for _, v := range x {
		n += v
	}
	return n
}

// Small lattices have exactly the states found by trying all vectors.
func TestStates(t *testing.T) {
	within := func(limits []int) func(x []int) bool {
		return func(x []int) bool { return !exceeds(x, limits) }
	}
	upTo := func(n int) func(x []int) bool { return func(x []int) bool { return total(x) <= n } }
	for _, c := range []struct {
		name string
		y    Lattice
		in   func(x []int) bool
	}{
		{"box 3", NewBox([]int{3}), within([]int{3})},
		{"box 2 0 3", NewBox([]int{2, 0, 3}), within([]int{2, 0, 3})},
		{"box 1 1 1 1", NewBox([]int{1, 1, 1, 1}), within([]int{1, 1, 1, 1})},
		{"table 3", NewTable([]int{3}), within([]int{3})},
		{"table 2 0 3", NewTable([]int{2, 0, 3}), within([]int{2, 0, 3})},
		{"table 1 1 1 1", NewTable([]int{1, 1, 1, 1}), within([]int{1, 1, 1, 1})},
		{"simplex 1 4", NewSimplex(1, 4), upTo(4)},
		{"simplex 3 3", NewSimplex(3, 3), upTo(3)},
		{"simplex 4 2", NewSimplex(4, 2), upTo(2)},
		{"simplex 2 0", NewSimplex(2, 0), upTo(0)},
	} {
		states, most := 0, make([]int, c.y.Classes)
		for _, x := range lists(c.y.Classes, 5) {
			if c.y.Contains(x) != c.in(x) {
				t.Errorf("%s: contains %v: %v", c.name, x, c.y.Contains(x))
			}
			if !c.in(x) {
				continue
			}
			states++
			for i, v := range x {
				most[i] = max(most[i], v)
			}
			if at := c.y.Index(x); at < 0 || at >= c.y.States || !slices.Equal(c.y.State(at), x) {
				t.Errorf("%s: %v has index %d, which is that of %v", c.name, x, at, c.y.State(at))
			}
		}
		if states != c.y.States {
			t.Errorf("%s: %d states, want %d", c.name, c.y.States, states)
		}
		for i, m := range most {
			if c.y.Most(i) != m {
				t.Errorf("%s: at most %d jobs of class %d, want %d", c.name, c.y.Most(i), i, m)
			}
		}
		checkWalk(t, c.name, c.y, c.in)
	}
}

func exceeds(x, limits []int) bool {
	for i, v := range x {
		if v > limits[i] {
			return true
		}
	}
	return false
}

// checkWalk checks that a walk visits all states in order, with correct data for each.
func checkWalk(t *testing.T, name string, y Lattice, in func(x []int) bool) {
	t.Helper()
	w := Walk(y)
	for at, more := 0, true; more; at, more = at+1, w.Next() {
		if x := y.State(at); w.At != at || !slices.Equal(w.X, x) || w.Jobs != total(x) {
			t.Fatalf("%s: %d jobs in %v at %d, want %v", name, w.Jobs, w.X, w.At, x)
		}
		for i := range w.X {
			x := slices.Clone(w.X)
			x[i]++
			if w.Leaves(i) == in(x) {
				t.Errorf("%s: %v leaves: %v", name, x, w.Leaves(i))
			}
			if active := w.Active>>i&1 == 1; active != (w.X[i] > 0) {
				t.Errorf("%s: class %d is active in %v: %v", name, i, w.X, active)
			}
			if x[i] -= 2; x[i] >= 0 && w.At-w.Drop[i] != y.Index(x) {
				t.Errorf("%s: %v is at %d, want %d", name, x, w.At-w.Drop[i], y.Index(x))
			}
		}
	}
	if w.At != y.States-1 {
		t.Errorf("%s: the walk ends at %d of %d states", name, w.At, y.States)
	}
}
