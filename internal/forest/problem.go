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
	Servers []int   // different ones, at least one
}

// Settings tunes [Forest.Solve].
type Settings struct {
	Tolerance float64 // relative bound asked of all numbers, in (0, 1)
	Parts     int     // of how many trees the normalizations are multiplied, at least 1
	ByClass   int     // if > 0, Result.Jobs has P(X_i = n), n = 0..ByClass
	Gradients bool    // of the mean number of all jobs
	Of        []int   // classes of whose mean numbers of jobs derivatives are wanted, too
	Rarest    float64 // if > 0, Result.Laws has P(min_{S_i} T > t), which is known to the tolerance where it is at least so much
	MaxBytes  int64   // memory that messages may take; 0 means [num.DefaultMaxBytes]
}

// A Result holds the measures of a connected cluster, each a float64 with a proved bound of its relative error.
type Result struct {
	Normalization arithmetic.Number     // Z, maybe beyond the range of float64
	Times         []arithmetic.Number   // E~[min_{S_i} T] of each class
	Busy          []arithmetic.Number   // probability that a server has a job to serve
	Jobs          [][]arithmetic.Number // P(X_i = n) of each class, if asked
	Laws          []Law                 // of min_{S_i} T of each class with arrivals, if asked
	Gradients     []Gradients           // of E[Σ_i X_i], if asked, and of the E[X_i] of Settings.Of
}

// Gradients holds derivatives of a mean number of jobs.
type Gradients struct {
	Rates      []Difference // ∂/∂λ_i
	Capacities []Difference // ∂/∂C_s
}

type Difference = arithmetic.Difference

// A ToleranceError is the error of a problem whose bounds float64, or the work that is allowed, does not bring below the tolerance.
type ToleranceError struct{ Tolerance, Bound float64 } // asked, and reached; the latter is +Inf if there is none

func (e *ToleranceError) Error() string {
	return fmt.Sprintf("elimination reaches a relative bound of %.2g, not of %.2g", e.Bound, e.Tolerance)
}

// Worst returns the largest bound of the numbers, in one of so many parts whose normalizations are multiplied.
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
	return worst*(1+0x1p-10) + 4*u // they are multiplied, and by rates
}

// NoJobs returns the distribution of no jobs.
func NoJobs(most int) []arithmetic.Number {
	return append([]arithmetic.Number{arithmetic.FromFloat(1, 0)}, make([]arithmetic.Number, most)...)
}

// New returns the tree of servers of these capacities and classes, which link them all, nil if they form none.
func New(capacities []float64, classes []Class) *Forest {
	f := &Forest{capacity: capacities, own: make([]float64, len(capacities)), terms: make([]int, len(capacities)), exact: isExact(capacities, classes)}
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

// isExact reports whether all capacities and rates are multiples of a power of two, and their sum less than 2^53 times that.
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
