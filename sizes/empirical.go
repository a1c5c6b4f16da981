package sizes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"productform/internal/input"
	"productform/num"
)

// empirical is the distribution of a size drawn uniformly from a list.
type empirical struct {
	sizes  []float64              // increasing
	prefix map[float64][]twoFloat // for orders -1, 1 and 2, Σ_{i<n} sizes[i]^order at index n
	excess []float64              // Σ_j (sizes[j] - sizes[i])^+/n at index i
	sha    string                 // prefix of the hash
}

// A twoFloat is the number hi + lo, |lo| at most half a unit in the last place of hi.
type twoFloat struct{ hi, lo float64 }

// plus returns the sum, with a relative error of about 2^-105 for positive numbers (Dekker's sum).
func (a twoFloat) plus(x float64) twoFloat {
	s := a.hi + x
	z := s - a.hi
	e := (a.hi - (s - z)) + (x - z) + a.lo
	hi := s + e
	return twoFloat{hi, e - (hi - s)}
}

// NewEmpirical returns the distribution of a size drawn uniformly from the list, all sizes in
// [1e-300, 1e300]. The list is copied. Partial moments of orders -1, 0, 1 and 2 take O(log n) time,
// others O(n). The error names the size that is out of range.
func NewEmpirical(sizes []float64) (Distribution, error) {
	if err := checkSizes(sizes); err != nil {
		return nil, err
	}
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	e := empirical{sizes: sorted, prefix: map[float64][]twoFloat{}, sha: digest(sorted)}
	e.excess = e.meanExcesses()
	for _, order := range []float64{-1, 1, 2} {
		p := make([]twoFloat, len(sorted)+1)
		for i, v := range sorted {
			p[i+1] = p[i].plus(math.Pow(v, order))
		}
		if last := p[len(sorted)]; math.Abs(last.hi+last.lo) <= math.MaxFloat64 { // otherwise the O(n) sums report it
			e.prefix[order] = p
		}
	}
	return e, nil
}

func checkSizes(sizes []float64) error {
	if len(sizes) == 0 {
		return input.Errorf("sizes", len(sizes), "at least one size")
	}
	for i, v := range sizes {
		if checkPositive("", v) != nil {
			return checkPositive(fmt.Sprintf("sizes[%d]", i), v)
		}
	}
	return nil
}

func (e empirical) String() string {
	return fmt.Sprintf("empirical of %d sizes, SHA-256 prefix %s", len(e.sizes), e.sha)
}

func (e empirical) Moment(order float64) (float64, error) {
	return e.PartialMoment(order, 0, math.Inf(1))
}

func (e empirical) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	from, to := e.countUpTo(low), e.countUpTo(high)
	n := float64(len(e.sizes))
	if from == to {
		return 0, nil
	}
	if order == 0 {
		return float64(to-from) / n, nil
	}
	if p, ok := e.prefix[order]; ok {
		return (p[to].hi - p[from].hi + (p[to].lo - p[from].lo)) / n, nil
	}
	var sum num.Sum
	for _, v := range e.sizes[from:to] {
		sum.Add(math.Pow(v, order))
	}
	return finite(sum.Value() / n)
}

// countUpTo returns the number of sizes <= x.
func (e empirical) countUpTo(x float64) int {
	return sort.Search(len(e.sizes), func(i int) bool { return e.sizes[i] > x })
}

// scv returns the mean square of X/E[X] - 1.
func (e empirical) scv() (float64, error) {
	m, err := e.Moment(1)
	if err != nil {
		return 0, err
	}
	var sum num.Sum
	for _, v := range e.sizes {
		d := (v - m) / m
		sum.Add(d * d)
	}
	return finite(sum.Value() / float64(len(e.sizes)))
}

func (e empirical) CDF(x float64) float64 {
	mustNotBeNaN(x)
	return float64(e.countUpTo(x)) / float64(len(e.sizes))
}

func (e empirical) Survival(x float64) float64 {
	mustNotBeNaN(x)
	return float64(len(e.sizes)-e.countUpTo(x)) / float64(len(e.sizes))
}

func (e empirical) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, true); err != nil {
		return 0, err
	}
	n := len(e.sizes)
	return e.sizes[sort.Search(n-1, func(i int) bool { return float64(i+1)/float64(n) >= p })], nil
}

func (e empirical) Sample(r *rand.Rand) float64 { return e.sizes[r.IntN(len(e.sizes))] }

func (e empirical) Support() (low, high float64, bounded bool) {
	return e.sizes[0], e.sizes[len(e.sizes)-1], true
}

func (e empirical) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	sizes := make([]float64, len(e.sizes))
	for i, v := range e.sizes {
		sizes[i] = v * factor
	}
	return NewEmpirical(sizes)
}
