// This file maintains disjoint sets of integers under unions.

package ranktable

// Sets are disjoint sets of the integers 0, ..., n-1. Entry x is the parent of x: a smaller number
// of its set, or x itself if it is the smallest one.
type Sets []int

// Singles returns n sets of one integer each.
func Singles(n int) Sets {
	s := make(Sets, n)
	for x := range s {
		s[x] = x
	}
	return s
}

// Root returns the smallest number in the set of x. It halves the path to it.
func (s Sets) Root(x int) int {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

// Join unites the sets of x and y.
func (s Sets) Join(x, y int) {
	x, y = s.Root(x), s.Root(y)
	s[max(x, y)] = min(x, y)
}
