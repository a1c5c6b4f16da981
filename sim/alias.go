package sim

import (
	"math/bits"

	"productform/internal/alias"
)

// An outcome is one column of an alias table: it stands for own with probability cut/2^64, else for other.
type outcome struct {
	cut        uint64
	own, other uint32
}

// pick returns the code that a random word stands for, without a branch that depends on it.
func pick(table []outcome, word uint64) uint32 {
	column, fraction := bits.Mul64(word, uint64(len(table)))
	o := &table[column]
	_, below := bits.Sub64(fraction, o.cut, 0)
	return o.other ^ (o.own^o.other)&-uint32(below)
}

// aliasTable returns the columns from which [pick] draws codes[i] with probability in proportion to weights[i] >= 0.
// Codes of weight 0 are never drawn. Probabilities of n codes are as those of [alias.Columns], but for n 2^-64.
func aliasTable(weights []float64, codes []uint32) []outcome {
	var positive []float64
	var own []uint32
	for i, w := range weights {
		if w > 0 {
			positive, own = append(positive, w), append(own, codes[i])
		}
	}
	keep, other := alias.Columns(positive)
	table := make([]outcome, len(positive))
	for i, k := range keep {
		table[i] = outcome{cut: 1<<64 - 1, own: own[i], other: own[other[i]]}
		if other[i] != i {
			table[i].cut = uint64(k * (1 << 63) * 2)
		}
	}
	return table
}

// drawBatch fills codes with independent draws from the table and writes the places of the codes above limit into high,
// which is as long as codes; it returns their number. It has no branch that depends on what is drawn.
func drawBatch(s *stream, table []outcome, limit uint32, codes, high []uint32) int {
	s0, s1, s2, s3 := s.s0, s.s1, s.s2, s.s3
	found := 0
	high = high[:len(codes)]
	for i := range codes {
		r := bits.RotateLeft64(s0+s3, 23) + s0 // the step of stream.Uint64
		t := s1 << 17
		s2 ^= s0
		s3 ^= s1
		s1 ^= s2
		s0 ^= s3
		s2 ^= t
		s3 = bits.RotateLeft64(s3, 45)

		code := pick(table, r)
		codes[i] = code
		high[found] = uint32(i)
		_, above := bits.Sub64(uint64(limit), uint64(code), 0)
		found += int(above)
	}
	s.s0, s.s1, s.s2, s.s3 = s0, s1, s2, s3
	return found
}
