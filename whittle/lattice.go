package whittle

import (
	"iter"

	"productform/internal/input"
	"productform/internal/lattice"
)

// MaxStates is the largest number of states of a [Lattice], 2^26. Functions that compute in
// fractions take at most [MaxExactStates].
const (
	MaxStates      = 1 << 26
	MaxExactStates = 1 << 20
)

// A Lattice is the finite set of states over which tables run. With every state it holds all
// smaller ones: the box {x: x_i <= Limits[i]} if Limits is set, otherwise the simplex {x: x_1 + ...
// + x_Classes <= Total}. Tables are flat slices at [Lattice.Index].
type Lattice struct {
	Limits  []int // box: L_i >= 0
	Classes int   // simplex: number of queues; 0 for a box
	Total   int   // simplex: n >= 0; 0 for a box
}

// Box returns the lattice {x: x_i <= limits[i]}.
func Box(limits ...int) Lattice { return Lattice{Limits: limits} }

// Simplex returns the lattice {x: x_1 + ... + x_classes <= total}.
func Simplex(classes, total int) Lattice { return Lattice{Classes: classes, Total: total} }

// States returns the number of states, Π_i (L_i+1) or C(n+N, N), or a *[num.InputError]
// that names the field out of range; at most [MaxStates].
func (l Lattice) States() (int, error) {
	y, err := newLayout(l, MaxStates)
	return y.States, err
}

// Index returns the position of state x in the tables and whether x is in the lattice, in O(N) for
// a box and O(N n) for a simplex; [Lattice.All] is the way to visit every state. In a box it is the
// mixed-radix number Σ_i x_i Π_{j<i} (L_j+1); in a simplex, with s_k = x_1 + ... + x_k, it is Σ_k
// C(s_k+k-1, k), which orders states by their total and does not depend on n.
func (l Lattice) Index(x []int) (index int, ok bool) {
	y, err := newLayout(l, MaxStates)
	if err != nil || !y.Contains(x) {
		return 0, false
	}
	return y.Index(x), true
}

// State returns the state at a position of the tables and whether there is one; the inverse of
// [Lattice.Index].
func (l Lattice) State(index int) (x []int, ok bool) {
	y, err := newLayout(l, MaxStates)
	if err != nil || index < 0 || index >= y.States {
		return nil, false
	}
	return y.State(index), true
}

// All visits every state with its index, in the order of the index, x-e_i before x. The slice x is
// reused from one state to the next. Nothing is visited if the lattice is out of range, see
// [Lattice.States].
func (l Lattice) All() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		y, err := newLayout(l, MaxStates)
		if err != nil {
			return
		}
		x := make([]int, y.Classes)
		for w, more := lattice.Walk(y), true; more; more = w.Next() {
			copy(x, w.X)
			if !yield(w.At, x) {
				return
			}
		}
	}
}

func newLayout(l Lattice, maxStates int) (lattice.Lattice, error) {
	if l.Limits == nil {
		return newSimplex(l, maxStates)
	}
	if l.Classes != 0 || l.Total != 0 {
		return lattice.Lattice{}, input.Errorf("Lattice", l, "either limits (a box) or classes and total (a simplex)")
	}
	if len(l.Limits) < 1 || len(l.Limits) > maxClasses {
		return lattice.Lattice{}, input.Errorf("Lattice.Limits", len(l.Limits), "1 to %d limits", maxClasses)
	}
	states := 1
	for i, limit := range l.Limits {
		if limit < 0 || limit >= maxStates {
			return lattice.Lattice{}, input.Errorf(path("Lattice.Limits", i), limit, "an integer in 0..%d", maxStates-1)
		}
		if states *= limit + 1; states > maxStates {
			return lattice.Lattice{}, input.Errorf("Lattice.Limits", l.Limits,
				"at most %d states, which smaller limits or a simplex give",
				maxStates)
		}
	}
	return lattice.NewBox(l.Limits), nil
}

func newSimplex(l Lattice, maxStates int) (lattice.Lattice, error) {
	if l.Classes < 1 || l.Classes > maxClasses {
		return lattice.Lattice{}, input.Errorf("Lattice.Classes", l.Classes, "an integer in 1..%d", maxClasses)
	}
	if l.Total < 0 || l.Total >= maxStates {
		return lattice.Lattice{}, input.Errorf("Lattice.Total", l.Total, "an integer in 0..%d", maxStates-1)
	}
	if simplexStates(l.Classes, l.Total) > maxStates {
		return lattice.Lattice{}, input.Errorf("Lattice.Total", l.Total,
			"at most %d states, which a smaller total or a box gives",
			maxStates)
	}
	return lattice.NewSimplex(l.Classes, l.Total), nil
}

// simplexStates returns C(total+classes, classes), or a number above MaxStates if that is.
// C(total+k, k) grows with k.
func simplexStates(classes, total int) int {
	states := 1
	for k := 1; k <= classes && states <= MaxStates; k++ {
		states = states * (total + k) / k
	}
	return states
}
