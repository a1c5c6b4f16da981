package cube

import (
	"productform/num"
)

// Sums holds sums over the subsets of a part of the lattice, including the empty set.
type Sums struct {
	elements   int
	hi, lo     []float64 // sums of the queries, in the form of [num.Sum]
	MostlyIdle []num.Sum // see MostlyIdle of the cube
	Min        float64   // smallest denominator, and its block; after Up of the class lattice
	MinBlock   int
}

// All returns the sum over all subsets.
func (s *Sums) All() float64 { return s.at(0) }

// With returns the sum over the subsets that contain element i.
func (s *Sums) With(i int) float64 { return s.at(1 + i) }

// Meet returns the sum over the subsets that meet mask k of the cube, after [Cube.Up].
func (s *Sums) Meet(k int) float64 { return s.at(1 + s.elements + k) }

func (s *Sums) at(i int) float64 { return s.hi[i] + s.lo[i] }

// queries returns the queries that Sums answers, padded to a multiple of four.
func (c *Cube) queries(meet []int) []query {
	if !c.AllSets {
		return nil
	}
	n := len(c.Weight)
	list := make([]query, 1, (1+n+len(meet)+3)/4*4)
	list[0].pick = allSets
	for i := range n {
		list = append(list, queryOf(1<<i))
	}
	for _, m := range meet {
		list = append(list, queryOf(m))
	}
	return list[:cap(list)]
}

// queryOf returns the query for the sum over the subsets that meet a mask.
func queryOf(mask int) query {
	return query{meet: mask >> 5 & 7, pick: mask & 31, high: mask >> LowBits}
}

// begin sets empty sums.
func (s *Sums) begin(n, queries int) {
	zeros := make([]float64, 2*queries)
	s.elements, s.hi, s.lo = n, zeros[:queries], zeros[queries:]
}

// add adds the sums of another part.
func (s *Sums) add(t *Sums) {
	for i := range s.hi {
		s.hi[i], s.lo[i] = addCompensated(s.hi[i], s.lo[i], t.at(i))
	}
	for i := range s.MostlyIdle {
		s.MostlyIdle[i].Add(t.MostlyIdle[i].Value())
	}
	if t.Min < s.Min {
		s.Min, s.MinBlock = t.Min, t.MinBlock
	}
}

// addCompensated adds x to the sum hi + lo, as [num.Sum] does.
func addCompensated(hi, lo, x float64) (float64, float64) {
	s := hi + x
	z := s - hi
	return s, lo + ((hi - (s - z)) + (x - z))
}
