package forest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"productform/internal/arithmetic"
)

// A Class is served by its servers together.
type Class struct {
	Rate    float64 // λ_i >= 0, in work per unit of time
	Servers []int   // distinct, at least one
}

// Settings tunes [Forest.Solve].
type Settings struct {
	Tolerance float64 // required bound on the relative error of every number, in (0, 1)
	Parts     int     // number of trees whose normalizations are multiplied, at least 1
	ByClass   int     // if > 0, Result.Jobs has P(X_i = n), n = 0..ByClass
	Gradients bool    // compute the gradient of the mean number of all jobs
	Of        []int   // classes for whose mean numbers of jobs gradients are also computed
	Rarest    float64 // if > 0, Result.Laws has P(min_{S_i} T > t), accurate to the tolerance where it is >= Rarest
	MaxBytes  int64   // memory limit for messages; 0 means [num.DefaultMaxBytes]
}

// A Result holds the measures of a connected cluster, each a float64 with a proved bound on its
// relative error.
type Result struct {
	Normalization arithmetic.Number     // Z, possibly beyond the range of float64
	Times         []arithmetic.Number   // E~[min_{S_i} T] of each class
	Busy          []arithmetic.Number   // probability that a server has a job to serve
	Jobs          [][]arithmetic.Number // P(X_i = n) of each class, if requested
	Laws          []Law                 // laws of min_{S_i} T for each class with arrivals, if requested
	// gradients of E[Σ_i X_i], if requested, then of E[X_i] for each class of Settings.Of
	Gradients []Gradients
}

// Gradients holds derivatives of a mean number of jobs.
type Gradients struct {
	Rates      []Difference // ∂/∂λ_i
	Capacities []Difference // ∂/∂C_s
}

type Difference = arithmetic.Difference

// A ToleranceError reports that bounds stay above the tolerance, because of the precision of
// float64 or the limit on work.
type ToleranceError struct{ Tolerance, Bound float64 } // required and reached; Bound is +Inf if there is none

func (e *ToleranceError) Error() string {
	return fmt.Sprintf("elimination reaches a relative bound of %.2g, not %.2g", e.Bound, e.Tolerance)
}

// Worst returns the largest bound among the numbers, for one of parts trees whose normalizations
// are multiplied.
func (r *Result) Worst(parts int) float64 {
	worst := r.Normalization.Bound * float64(parts)
	for _, list := range append([][]arithmetic.Number{r.Times, r.Busy}, r.Jobs...) {
		for _, x := range list {
			worst = max(worst, x.Bound)
		}
	}
	for _, g := range r.Gradients {
		for _, x := range slices.Concat(g.Rates, g.Capacities) {
			worst = max(worst, x.Plus.Bound, x.Minus.Bound)
		}
	}
	return worst*(1+0x1p-10) + 4*u // numbers are multiplied with each other and with rates
}

// NoJobs returns the distribution of no jobs.
func NoJobs(most int) []arithmetic.Number {
	return append([]arithmetic.Number{arithmetic.FromFloat(1, 0)}, make([]arithmetic.Number, most)...)
}

// New returns the tree formed by servers with these capacities and classes, which must link all
// servers; nil if they form none.
func New(capacities []float64, classes []Class) *Forest {
	f := &Forest{
		capacity: capacities,
		own:      make([]float64, len(capacities)),
		terms:    make([]int, len(capacities)),
		exact:    isExact(capacities, classes),
	}
	known := make(map[[2]int]int)
	for _, k := range classes {
		for _, s := range k.Servers {
			f.terms[s]++
		}
		switch len(k.Servers) {
		case 1:
			at := k.Servers[0]
			f.own[at] += k.Rate
			f.classes = append(f.classes, place{rate: k.Rate, at: at})
		case 2:
			a, b := k.Servers[0], k.Servers[1]
			ends := [2]int{min(a, b), max(a, b)}
			e, ok := known[ends]
			if !ok {
				e = len(f.edges)
				known[ends] = e
				f.edges = append(f.edges, edge{ends: ends})
			}
			f.edges[e].rate += k.Rate
			f.classes = append(f.classes, place{rate: k.Rate, shared: true, at: e})
		default:
			return nil
		}
	}
	if len(f.edges) != len(capacities)-1 {
		return nil
	}
	return f
}

// isExact reports whether all capacities and rates are multiples of a power of two, and their sum
// less than 2^53 times that.
func isExact(capacities []float64, classes []Class) bool {
	unit, sum := math.MaxInt, 0.0
	add := func(x float64) {
		if x > 0 {
			f, e := math.Frexp(x)
			unit = min(unit, e-53+bits.TrailingZeros64(uint64(f*0x1p53)))
			sum += x
		}
	}
	for _, c := range capacities {
		add(c)
	}
	for _, k := range classes {
		add(k.Rate)
	}
	return sum < math.Ldexp(1, unit+53)
}
