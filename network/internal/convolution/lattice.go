package convolution

import (
	"slices"

	"productform/internal/lattice"
)

// A Lattice is the set of the populations 0 <= n <= N. The last chain varies fastest, and should
// have the largest population.
type Lattice struct {
	lattice.Box
	rows  lattice.Box // all chains but the last
	width int         // N_K + 1, the length of a row
}

// NewLattice returns the lattice of the populations up to N >= 0, for at least one chain. Its
// number of points must fit into an int.
func NewLattice(most []int) *Lattice {
	last := len(most) - 1
	return &Lattice{Box: lattice.LastFastest(most), rows: lattice.LastFastest(most[:last]), width: most[last] + 1}
}

// Total returns Σ_k n_k of the population at an index.
func (l *Lattice) Total(index int) (sum int) {
	for k := range l.Limits {
		sum += l.Digit(index, k)
	}
	return sum
}

// A sweep visits the rows of a lattice, upward or downward, with the coordinates of the row: all
// coordinates except the last.
type sweep struct {
	*Lattice
	row  int
	n    []int
	down bool
}

func (l *Lattice) sweep(down bool) sweep {
	s := sweep{Lattice: l, n: make([]int, len(l.rows.Limits)), down: down}
	if down {
		s.row, s.n = l.rows.States-1, slices.Clone(l.rows.Limits)
	}
	return s
}

// next moves to the next row, and reports whether there is one.
func (s *sweep) next() bool {
	if s.down {
		s.row--
		return s.rows.Back(s.n) >= 0
	}
	s.row++
	return s.rows.Next(s.n) >= 0
}
