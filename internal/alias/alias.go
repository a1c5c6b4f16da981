// Package alias divides weights into the columns of an alias table, from which one step draws an index with probability
// in proportion to its weight.
package alias

// Columns returns n columns of equal probability for n weights >= 0 with a positive finite sum: column i stands for index
// i with probability keep[i], else for other[i] (A. J. Walker, "An efficient method for generating discrete random
// variables with general distributions", ACM Transactions on Mathematical Software 3, 1977, 253–256; in linear time by
// M. D. Vose, IEEE Transactions on Software Engineering 17, 1991, 972–975). A column of keep 1 has itself for other.
// Probabilities are right to some 2n 2^-53 relatively, for the rounding of sums.
func Columns(weights []float64) (keep []float64, other []int) {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	n := len(weights)
	keep, other = make([]float64, n), make([]int, n)
	var small, large []int
	for i, w := range weights {
		keep[i], other[i] = w/sum*float64(n), i
		if keep[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		other[s] = l
		keep[l] -= 1 - keep[s]
		if keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) { // full but for rounding, since all sum to their number
		keep[i] = 1
	}
	return keep, other
}
