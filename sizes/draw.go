package sizes

import (
	"math"
	"math/rand/v2"
)

// exponentialDraw draws an exponential variable of mean 1, and rejects 0 and +Inf, which are fewer
// than one in 2^31 draws of math/rand/v2.
func exponentialDraw(r *rand.Rand) float64 {
	for {
		if e := r.ExpFloat64(); e > 0 && e <= math.MaxFloat64 {
			return e
		}
	}
}

// geometricDraw draws K with P(K > k) = (1-p)^k, the exponential variable of rate -ln(1-p) rounded
// up. For p >= 1/maxSpread it is below 100 maxSpread, because exponentialDraw is below 100: the
// tail of r.ExpFloat64 is 7.7 - ln U, U >= 2^-53 if not 0.
func geometricDraw(r *rand.Rand, p float64) int {
	return 1 + int(exponentialDraw(r)/-math.Log1p(-p))
}

// gammaDraw draws a sum of k >= 1 exponential variables of mean 1, in O(1) time for large k
// (Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Trans. Math. Software
// 26(3), 2000).
func gammaDraw(r *rand.Rand, k int) float64 {
	if k < 16 {
		var sum float64
		for range k {
			sum += exponentialDraw(r)
		}
		return sum
	}
	d := float64(k) - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if exponentialDraw(r) > d*v-d-d*math.Log(v)-x*x/2 {
			return d * v
		}
	}
}

// An indexTable draws an index with a probability proportional to its weight in O(1) time, like an
// [AliasTable] but from the numbers of a rand.Rand.
type indexTable struct {
	keep  []float64 // probability of column i itself
	other []int     // index taken otherwise
}

// newIndexTable returns the table of weights >= 0 with a positive finite sum.
func newIndexTable(weights []float64) indexTable {
	keep, other := aliasColumns(weights)
	return indexTable{keep, other}
}

func (a indexTable) draw(r *rand.Rand) int {
	i := r.IntN(len(a.keep))
	if a.keep[i] < 1 && r.Float64() >= a.keep[i] {
		return a.other[i]
	}
	return i
}
