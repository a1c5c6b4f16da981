package dispatch

import "productform/num"

// sums holds a list of numbers in decreasing order and its prefix sums.
type sums struct {
	values []float64
	upTo   []float64 // upTo[k] is the sum of the first k numbers, rounded once
}

// set selects the numbers at some indices of a list. They must be > 0 and never increase.
func (s *sums) set(places []int, of []float64) {
	s.values, s.upTo = s.values[:0], append(s.upTo[:0], 0)
	var sum num.Sum
	for _, at := range places {
		s.values = append(s.values, of[at])
		sum.Add(of[at])
		s.upTo = append(s.upTo, sum.Value())
	}
}

// fewest returns the smallest k in 1..most for which the numbers at from, ..., from+k-1, added one
// by one in float64, are at least enough, or most if there is none.
//
// The difference d of two prefix sums decides this without further sums, unless it is too close to
// enough. With u = 2^-53 and the sum t of all numbers, the error of d is at most 3.1 u t: one
// rounding for each prefix sum and one for the difference. The error of adding k numbers one by one
// is at most 1.01 k u (d + 3.1 u t), for less than 2^40 numbers. Both errors, and the rounding of
// the comparison itself, are below u (4 t + 2 (k+1) d). If that is inconclusive, the numbers are
// added.
func (s *sums) fewest(from, most int, enough float64) int {
	const u = 0x1p-53
	upTo, values := s.upTo[from:from+most+1], s.values[from:from+most]
	first, all := upTo[0], 4*u*s.upTo[len(s.upTo)-1]
	d := upTo[most] - first
	if d < enough-(all+2*u*float64(most+1)*d) {
		return most
	}
	k := 1
	d = upTo[1] - first
	for d < enough && k < most { // later numbers are no larger than the next one
		if more := (enough - d) / values[k]; more < float64(most-k) {
			k += 1 + int(more)
		} else {
			k = most
		}
		d = upTo[k] - first
	}
	before := upTo[k-1] - first
	isEnough := k == most || d > enough+(all+2*u*float64(k+1)*d)
	if isEnough && (k == 1 || before < enough-(all+2*u*float64(k+1)*before)) {
		return k
	}
	k = 1
	for sum := values[0]; k < most && sum < enough; k++ {
		sum += values[k]
	}
	return k
}
