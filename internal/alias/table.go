package alias

import "math/bits"

// A Table draws codes with given probabilities, each from one random word.
type Table []Column

// A Column of a [Table] of n columns stands for Own with probability Cut/2^64, else for Other; each column has probability 1/n.
type Column struct {
	Cut        uint64
	Own, Other uint32
}

// NewTable returns the table that draws codes[i] with probability in proportion to weights[i] >= 0, whose sum is positive
// and finite; nil codes are 0, 1, ... Codes of weight 0 are never drawn. Probabilities of n codes are as those of [Columns], but for n 2^-64.
func NewTable(weights []float64, codes []uint32) Table {
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
	keep, other := Columns(positive)
	table := make(Table, len(positive))
	for i, k := range keep {
		table[i] = Column{Cut: 1<<64 - 1, Own: own[i], Other: own[other[i]]}
		if other[i] != i {
			table[i].Cut = uint64(k * (1 << 63) * 2)
		}
	}
	return table
}

// Pick returns the code that a random word stands for, without a branch that depends on it.
func (t Table) Pick(word uint64) uint32 {
	column, fraction := bits.Mul64(word, uint64(len(t)))
	c := &t[column]
	_, below := bits.Sub64(fraction, c.Cut, 0)
	return c.Other ^ (c.Own^c.Other)&-uint32(below)
}
