package whittle

import (
	"iter"
	"math/bits"

	"productform/internal/input"
)

// MaxStates is the largest number of states of a [Lattice], 2^26. [StationaryExact] and the other exact
// functions take at most [MaxExactStates].
const (
	MaxStates      = 1 << 26
	MaxExactStates = 1 << 20
)

// A Lattice is the finite set of states over which tables run, with every state it holds all the
// smaller ones: the box {x: x_i <= Limits[i]} if Limits is set, else the simplex
// {x: x_1 + ... + x_Classes <= Total}. Tables are flat slices at [Lattice.Index].
type Lattice struct {
	Limits  []int // box: L_i >= 0
	Classes int   // simplex: number of queues; 0 for a box
	Total   int   // simplex: n >= 0; 0 for a box
}

// Box returns the lattice {x: x_i <= limits[i]}.
func Box(limits ...int) Lattice { return Lattice{Limits: limits} }

// Simplex returns the lattice {x: x_1 + ... + x_classes <= total}.
func Simplex(classes, total int) Lattice { return Lattice{Classes: classes, Total: total} }

// States returns the number of states, Π_i (L_i+1) or C(n+N, N), or an *[cluster.InputError]
// that names the field out of range; at most [MaxStates].
func (l Lattice) States() (int, error) {
	y, err := newLayout(l, MaxStates)
	return y.states, err
}

// Index returns the position of state x in the tables and whether x is in the lattice, in O(N)
// for a box and O(N n) for a simplex; [Lattice.All] is the way to visit every state.
// In a box it is the mixed-radix number Σ_i x_i Π_{j<i} (L_j+1); in a simplex, with s_k = x_1 + ... + x_k,
// it is Σ_k C(s_k+k-1, k), which orders states by their total and does not depend on n.
func (l Lattice) Index(x []int) (index int, ok bool) {
	y, err := newLayout(l, MaxStates)
	if err != nil || !y.contains(x) {
		return 0, false
	}
	return y.index(x), true
}

// State returns the state at a position of the tables and whether there is one; the inverse of [Lattice.Index].
func (l Lattice) State(index int) (x []int, ok bool) {
	y, err := newLayout(l, MaxStates)
	if err != nil || index < 0 || index >= y.states {
		return nil, false
	}
	return y.state(index), true
}

// All visits every state with its index, in the order of the index, x-e_i before x. The slice
// x is reused from one state to the next. Nothing is visited if the lattice is out of range, see [Lattice.States].
func (l Lattice) All() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		y, err := newLayout(l, MaxStates)
		if err != nil {
			return
		}
		x := make([]int, y.classes)
		for w, more := newWalker(y), true; more; more = w.next() {
			copy(x, w.x)
			if !yield(w.at, x) {
				return
			}
		}
	}
}

// A layout is a checked lattice with what its index needs.
type layout struct {
	classes, total, states int
	limits                 []int   // box, nil for a simplex
	stride                 []int   // box: Π_{j<i} (L_j+1)
	upTo                   [][]int // simplex: upTo[k][s] = C(s+k, k+1)
}

func newLayout(l Lattice, maxStates int) (layout, error) {
	if l.Limits == nil {
		return newSimplex(l, maxStates)
	}
	if l.Classes != 0 || l.Total != 0 {
		return layout{}, input.Errorf("Lattice", l, "either limits (a box) or classes and total (a simplex)")
	}
	if len(l.Limits) < 1 || len(l.Limits) > maxClasses {
		return layout{}, input.Errorf("Lattice.Limits", len(l.Limits), "1 to %d limits", maxClasses)
	}
	y := layout{classes: len(l.Limits), limits: l.Limits, states: 1}
	for i, limit := range l.Limits {
		if limit < 0 || limit >= maxStates {
			return layout{}, input.Errorf(path("Lattice.Limits", i), limit, "an integer in 0..%d", maxStates-1)
		}
		y.stride = append(y.stride, y.states)
		y.states *= limit + 1
		y.total += limit
		if y.states > maxStates {
			return layout{}, input.Errorf("Lattice.Limits", l.Limits, "at most %d states, which smaller limits or a simplex give", maxStates)
		}
	}
	return y, nil
}

func newSimplex(l Lattice, maxStates int) (layout, error) {
	if l.Classes < 1 || l.Classes > maxClasses {
		return layout{}, input.Errorf("Lattice.Classes", l.Classes, "an integer in 1..%d", maxClasses)
	}
	if l.Total < 0 || l.Total >= maxStates {
		return layout{}, input.Errorf("Lattice.Total", l.Total, "an integer in 0..%d", maxStates-1)
	}
	y := layout{classes: l.Classes, total: l.Total, states: simplexStates(l.Classes, l.Total)}
	if y.states > maxStates {
		return layout{}, input.Errorf("Lattice.Total", l.Total, "at most %d states, which a smaller total or a box gives", maxStates)
	}
	for k := range l.Classes {
		row := make([]int, l.Total+2)
		for s := 1; s < len(row); s++ { // C(s+k, k+1) = C(s+k-1, k+1) + C(s+k-1, k)
			row[s] = row[s-1] + 1
			if k > 0 {
				row[s] = row[s-1] + y.upTo[k-1][s]
			}
		}
		y.upTo = append(y.upTo, row)
	}
	return y, nil
}

// simplexStates returns C(total+classes, classes), or a number above MaxStates if that is. C(total+k, k) grows with k.
func simplexStates(classes, total int) int {
	states := 1
	for k := 1; k <= classes && states <= MaxStates; k++ {
		states = states * (total + k) / k
	}
	return states
}

func (y *layout) contains(x []int) bool {
	if len(x) != y.classes {
		return false
	}
	left := y.total
	for i, v := range x {
		if v < 0 || v > left || (y.limits != nil && v > y.limits[i]) {
			return false
		}
		left -= v
	}
	return true
}

func (y *layout) index(x []int) int {
	index, sum := 0, 0
	for k, v := range x {
		if y.limits != nil {
			index += v * y.stride[k]
			continue
		}
		sum += v
		index += y.upTo[k][sum]
	}
	return index
}

func (y *layout) state(index int) []int {
	x := make([]int, y.classes)
	above := 0 // s_{k+1}, from which s_k is subtracted to give x_{k+1}
	for k := y.classes - 1; k >= 0; k-- {
		if y.limits != nil {
			x[k] = index / y.stride[k]
			index %= y.stride[k]
			continue
		}
		s := 0
		for s < y.total && y.upTo[k][s+1] <= index {
			s++
		}
		index -= y.upTo[k][s]
		x[k] = s
		if k < y.classes-1 {
			x[k+1] = above - s
		}
		above = s
	}
	return x
}

// leaves reports whether x+e_i is outside, for the state x of w.
func (w *walker) leaves(i int) bool {
	if w.limits != nil {
		return w.x[i] == w.limits[i]
	}
	return w.jobs == w.total
}

// A walker visits the states in the order of the index, starting at 0. The state x-e_i is at index-drop[i], hence behind.
type walker struct {
	layout
	x      []int
	drop   []int // meaningful for the classes in active
	jobs   int   // Σ_i x_i
	active uint  // mask of {i: x_i > 0}
	at     int   // index of x
}

func newWalker(y layout) *walker {
	w := &walker{layout: y, x: make([]int, y.classes), drop: make([]int, y.classes)}
	copy(w.drop, y.stride)
	return w
}

// next moves to the next state and reports whether there was one.
func (w *walker) next() bool {
	if w.at+1 >= w.states {
		return false
	}
	w.at++
	if w.limits != nil {
		w.nextInBox()
	} else {
		w.nextInSimplex()
	}
	return true
}

func (w *walker) nextInBox() {
	i := 0
	for w.x[i] == w.limits[i] {
		w.jobs -= w.x[i]
		w.x[i] = 0
		w.active &^= 1 << i
		i++
	}
	w.x[i]++
	w.jobs++
	w.active |= 1 << i
}

// nextInSimplex moves all jobs of the first queue and one of the first other queue k+1 with jobs to
// queue k, or, if only the first has jobs, these and a new one to the last.
func (w *walker) nextInSimplex() {
	first := w.x[0]
	w.x[0] = 0
	w.active &^= 1
	k := w.classes - 1
	if w.active != 0 {
		k = bits.TrailingZeros(w.active) - 1
		w.x[k+1]--
		if w.x[k+1] == 0 {
			w.active &^= 1 << (k + 1)
		}
	} else {
		w.jobs++
	}
	w.x[k] = first + 1
	w.active |= 1 << k

	// C(s+k, k+1) falls by C(s+k-1, k) when s does, for every sum s_k that holds x_i.
	drop, sum := 0, w.jobs
	for k := w.classes - 1; k >= 0 && sum > 0; k-- {
		drop += w.upTo[k][sum] - w.upTo[k][sum-1]
		w.drop[k] = drop
		sum -= w.x[k]
	}
}
