package lattice

import "math/bits"

// A Lattice is a checked lattice with the data of its index.
type Lattice struct {
	Box                    // Limits and Stride are nil for a simplex
	Classes, Total int     // N, and the largest number of jobs
	upTo           [][]int // simplex: upTo[k][s] = C(s+k, k+1)
}

// NewBox returns the lattice {x: x_i <= limits[i]}.
func NewBox(limits []int) Lattice { return of(FirstFastest(limits)) }

// NewTable returns the same lattice with the last class fastest, the order of the tables in files.
func NewTable(limits []int) Lattice { return of(LastFastest(limits)) }

func of(b Box) Lattice {
	y := Lattice{Box: b, Classes: len(b.Limits)}
	for _, limit := range b.Limits {
		y.Total += limit
	}
	return y
}

// NewSimplex returns the lattice {x: x_1 + ... + x_classes <= total}.
func NewSimplex(classes, total int) Lattice {
	y := Lattice{Box: Box{States: 1}, Classes: classes, Total: total}
	for k := 1; k <= classes; k++ {
		y.States = y.States * (total + k) / k
	}
	for k := range classes {
		row := make([]int, total+2)
		for s := 1; s < len(row); s++ { // C(s+k, k+1) = C(s+k-1, k+1) + C(s+k-1, k)
			row[s] = row[s-1] + 1
			if k > 0 {
				row[s] = row[s-1] + y.upTo[k-1][s]
			}
		}
		y.upTo = append(y.upTo, row)
	}
	return y
}

func (y *Lattice) Contains(x []int) bool {
	if len(x) != y.Classes {
		return false
	}
	left := y.Total
	for i, v := range x {
		if v < 0 || v > left || (y.Limits != nil && v > y.Limits[i]) {
			return false
		}
		left -= v
	}
	return true
}

func (y *Lattice) Index(x []int) int {
	if y.Limits != nil {
		return y.Number(x)
	}
	index, sum := 0, 0
	for k, v := range x {
		sum += v
		index += y.upTo[k][sum]
	}
	return index
}

func (y *Lattice) State(index int) []int {
	if y.Limits != nil {
		return y.Point(index)
	}
	x := make([]int, y.Classes)
	above := 0 // s_{k+1}, from which s_k is subtracted to give x_{k+1}
	for k := y.Classes - 1; k >= 0; k-- {
		s := 0
		for s < y.Total && y.upTo[k][s+1] <= index {
			s++
		}
		index -= y.upTo[k][s]
		x[k] = s
		if k < y.Classes-1 {
			x[k+1] = above - s
		}
		above = s
	}
	return x
}

// Leaves reports whether x+e_i is outside, for the state x of w.
func (w *Walker) Leaves(i int) bool {
	if w.Limits != nil {
		return w.X[i] == w.Limits[i]
	}
	return w.Jobs == w.Total
}

// A Walker visits the states in the order of the index, starting at 0. The state x-e_i is at
// At-Drop[i], that is, behind.
type Walker struct {
	Lattice
	X      []int
	Drop   []int // meaningful for the classes in Active; of a box, its Stride
	Jobs   int   // Σ_i x_i
	Active uint  // mask of {i: x_i > 0}
	At     int   // index of x
}

// Walk returns a walker at state 0.
func Walk(y Lattice) *Walker {
	w := &Walker{Lattice: y, X: make([]int, y.Classes), Drop: y.Stride}
	if y.Limits == nil {
		w.Drop = make([]int, y.Classes)
	}
	return w
}

// Next moves to the next state and reports whether there was one.
func (w *Walker) Next() bool {
	if w.At+1 >= w.States {
		return false
	}
	w.At++
	if w.Limits != nil {
		w.nextInBox()
	} else {
		w.nextInSimplex()
	}
	return true
}

func (w *Walker) nextInBox() {
	w.Jobs++
	if i := w.first; w.X[i] < w.Limits[i] { // most moves
		w.X[i]++
		w.Active |= 1 << i
		return
	}
	rose := w.Box.Next(w.X)
	emptied, others := w.Limits[:rose], w.Active>>rose<<rose
	if w.step < 0 {
		emptied, others = w.Limits[rose+1:], w.Active&(1<<rose-1)
	}
	for _, n := range emptied {
		w.Jobs -= n
	}
	w.Active = others | 1<<rose
}

// nextInSimplex moves all jobs of the first queue, and one job of the next nonempty queue k+1, to
// queue k. If only the first queue has jobs, it moves these and a new one to the last queue.
func (w *Walker) nextInSimplex() {
	first := w.X[0]
	w.X[0] = 0
	w.Active &^= 1
	k := w.Classes - 1
	if w.Active != 0 {
		k = bits.TrailingZeros(w.Active) - 1
		w.X[k+1]--
		if w.X[k+1] == 0 {
			w.Active &^= 1 << (k + 1)
		}
	} else {
		w.Jobs++
	}
	w.X[k] = first + 1
	w.Active |= 1 << k

	// C(s+k, k+1) decreases by C(s+k-1, k) when s decreases by 1, for every sum s_k that includes
	// x_i.
	drop, sum := 0, w.Jobs
	for k := w.Classes - 1; k >= 0 && sum > 0; k-- {
		drop += w.upTo[k][sum] - w.upTo[k][sum-1]
		w.Drop[k] = drop
		sum -= w.X[k]
	}
}

// Most returns the largest x_i in the lattice.
func (y *Lattice) Most(i int) int {
	if y.Limits != nil {
		return y.Limits[i]
	}
	return y.Total
}
