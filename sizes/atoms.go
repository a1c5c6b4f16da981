package sizes

import "slices"

// Atomic is implemented by distributions with finitely many sizes: those of [NewDeterministic] and
// [NewEmpirical].
type Atomic interface {
	Distribution
	// Atoms returns the sizes x with P(X = x) > 0 in increasing order, in a new slice. The
	// probability of x is PartialMoment(0, y, x), where y is the previous size, or 0. Atoms takes
	// O(n) time for a list of n sizes.
	Atoms() []float64
	// Counts returns how often each atom occurs in the list. The probability of an atom is its
	// count divided by the sum of all counts.
	Counts() []int
}

// Atoms returns the only size.
func (d deterministic) Atoms() []float64 { return []float64{d.size} }

// Counts returns 1.
func (d deterministic) Counts() []int { return []int{1} }

// Atoms returns the sizes of the list, each once.
func (e empirical) Atoms() []float64 { return slices.Compact(slices.Clone(e.sizes)) }

// Counts returns how often each size occurs in the list.
func (e empirical) Counts() []int {
	var counts []int
	for i, x := range e.sizes {
		if i == 0 || x != e.sizes[i-1] {
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return counts
}
