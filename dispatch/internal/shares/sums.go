package shares

import "productform/num"

// sums are a list of numbers, the largest first, and the sums of its first ones.
type sums struct {
	values []float64
	upTo   []float64 // upTo[k] is the sum of the first k, rounded once
}

// set takes the numbers > 0 at some places of a list, which never grow.
func (s *sums) set(places []int, of []float64) {
	s.values, s.upTo = s.values[:0], append(s.upTo[:0], 0)
	var sum num.Sum
	for _, at := range places {
		s.values = append(s.values, of[at])
		sum.Add(of[at])
		s.upTo = append(s.upTo, sum.Value())
	}
}

// fewest returns the least k in 1..most for which the numbers at from, ..., from+k-1, added one by one in float64, are at
// least enough; most if there is none.
//
// A difference d of two sums tells without adding, unless it is near enough. With u = 2^-53 and a sum t of all numbers, d is
// off by at most 3.1 u t, two sums rounded once each and the difference, and adding k numbers one by one is off by at most
// 1.01 k u (d + 3.1 u t), for less than 2^40 numbers. Both, and the rounding of the comparison itself, are below
// u (4 t + 2 (k+1) d). Where that leaves a doubt, the numbers are added.
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
	for d < enough && k < most { // no number that follows is larger than the next
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
