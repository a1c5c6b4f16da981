package sizes

import "slices"

// Atomic is implemented by distributions on finitely many sizes, those of [NewDeterministic] and
// [NewEmpirical].
type Atomic interface {
	Distribution
	// Atoms returns the sizes x with P(X = x) > 0, increasing, in a slice that is the caller's. The
	// probability of one is PartialMoment(0, before, x), before being the one before it or 0. It
	// takes O(n) time for a list of n.
	Atoms() []float64
	// Counts returns the number of times that each of the atoms occurs in the list: its probability
	// is its count over their sum.
	Counts() []int
}

// Atoms returns the one size.
func (d deterministic) Atoms() []float64 { return []float64{d.size} }

// Counts returns 1.
func (d deterministic) Counts() []int { return []int{1} }

// Atoms returns the sizes of the list, each once.
func (e empirical) Atoms() []float64 { return slices.Compact(slices.Clone(e.sizes)) }

// Counts returns the number of times that each size occurs in the list.
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
