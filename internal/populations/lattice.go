package populations

// A Lattice is the set of the populations 0 <= n <= N. That of n stands at index Σ_k n_k Π_{l>k} (N_l + 1): the last chain runs
// fastest, and should have the largest population.
type Lattice struct {
	most   []int // N
	stride []int // of each axis, in rows; the last has none
	width  int   // N_K + 1, the length of a row
	rows   int
}

// NewLattice returns that of the populations up to N >= 0, of at least one chain. The number of its points must fit into an int.
func NewLattice(most []int) *Lattice {
	last := len(most) - 1
	l := &Lattice{most: most, stride: make([]int, last), width: most[last] + 1, rows: 1}
	for k := last - 1; k >= 0; k-- {
		l.stride[k] = l.rows
		l.rows *= most[k] + 1
	}
	return l
}

// Points returns the number of populations.
func (l *Lattice) Points() int { return l.rows * l.width }

// Step returns the index of n less that of n - e_k.
func (l *Lattice) Step(k int) int {
	if k == len(l.most)-1 {
		return 1
	}
	return l.stride[k] * l.width
}

// At returns the population at an index.
func (l *Lattice) At(index int) []int {
	n := make([]int, len(l.most))
	row := index / l.width
	n[len(n)-1] = index % l.width
	for k := len(n) - 2; k >= 0; k-- {
		n[k] = row % (l.most[k] + 1)
		row /= l.most[k] + 1
	}
	return n
}

// Total returns Σ_k n_k of the population at an index.
func (l *Lattice) Total(index int) int {
	sum := index % l.width
	row := index / l.width
	for k := len(l.most) - 2; k >= 0; k-- {
		sum += row % (l.most[k] + 1)
		row /= l.most[k] + 1
	}
	return sum
}

// A sweep visits the rows of a lattice, upward or downward, and knows the coordinates of the row: all but the last.
type sweep struct {
	*Lattice
	row  int
	n    []int
	down bool
}

func (l *Lattice) sweep(down bool) sweep {
	s := sweep{Lattice: l, n: make([]int, len(l.most)-1), down: down}
	if down {
		s.row = l.rows - 1
		copy(s.n, l.most)
	}
	return s
}

// next goes to the next row, and reports whether there is one.
func (s *sweep) next() bool {
	if s.down {
		s.row--
		for k := len(s.n) - 1; k >= 0; k-- {
			if s.n[k]--; s.n[k] >= 0 {
				return true
			}
			s.n[k] = s.most[k]
		}
		return false
	}
	s.row++
	for k := len(s.n) - 1; k >= 0; k-- {
		if s.n[k]++; s.n[k] <= s.most[k] {
			return true
		}
		s.n[k] = 0
	}
	return false
}
