package sizes

import "math/bits"

// An AliasTable draws codes with given probabilities, each from one random word (A. J. Walker, "An
// efficient method for generating discrete random variables with general distributions", ACM
// Transactions on Mathematical Software 3, 1977, 253–256).
type AliasTable []AliasColumn

// An AliasColumn of an [AliasTable] stands for Codes[1] with probability Cut/2^64, otherwise for
// Codes[0]. Each of n columns has probability 1/n.
type AliasColumn struct {
	Cut   uint64    // fractions of a word below it give Codes[1]
	Codes [2]uint32 // the code that shares the column, then the code of the column
}

// NewAliasTable returns the table that draws codes[i] with a probability proportional to
// weights[i] >= 0, whose sum is positive and finite. Nil codes are 0, 1, ... Codes of weight 0 are
// never drawn. The relative error of the probability of one of n codes is about 2n 2^-53.
func NewAliasTable(weights []float64, codes []uint32) AliasTable {
	var positive []float64
	var own []uint32
	for i, w := range weights {
		if w > 0 {
			code := uint32(i)
			if codes != nil {
				code = codes[i]
			}
			positive, own = append(positive, w), append(own, code)
		}
	}
	keep, other := aliasColumns(positive)
	table := make(AliasTable, len(positive))
	for i, k := range keep {
		table[i] = AliasColumn{Cut: 1<<64 - 1, Codes: [2]uint32{own[other[i]], own[i]}}
		if other[i] != i {
			table[i].Cut = uint64(k * (1 << 63) * 2)
		}
	}
	return table
}

// Pick returns the code for a random word. It has no branch that depends on the word.
func (t AliasTable) Pick(word uint64) uint32 {
	column, fraction := bits.Mul64(word, uint64(len(t)))
	c := &t[column]
	_, below := bits.Sub64(fraction, c.Cut, 0)
	return c.Codes[below&1]
}

// aliasColumns returns n columns of equal probability for n weights >= 0 with a positive finite
// sum: column i stands for index i with probability keep[i], otherwise for other[i]. It takes
// linear time (M. D. Vose, IEEE Transactions on Software Engineering 17, 1991, 972–975). A column
// with keep 1 has other = i.
func aliasColumns(weights []float64) (keep []float64, other []int) {
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
	for _, i := range append(small, large...) { // full up to rounding, since the sum of all is their number
		keep[i] = 1
	}
	return keep, other
}
