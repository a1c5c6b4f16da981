package elimination

import (
	"fmt"
	"math"

	"productform/bf/internal/forest"
	"productform/internal/arithmetic"
	"productform/internal/input"
)

// A Problem is a cluster of single servers. Capacities and rates are used without scaling. If they
// are integers with a sum below 2^53, in any unit, all their sums are exact; other numbers lose
// digits if the slack of the cluster is small.
type Problem struct {
	Capacities []float64 // C_s > 0 of each server
	Classes    []Class
}

// A Class is served by its servers together.
type Class struct {
	Rate    float64 // λ_i >= 0, in work per unit of time
	Servers []int   // distinct, at least one
}

// Settings tunes [Solve].
type Settings struct {
	Tolerance float64 // required bound on the relative error of every number, in (0, 1)
	ByClass   int     // if > 0, Result.ClassJobs has P(X_i = n), n = 0..ByClass
	Rarest    float64 // if > 0, Result.Laws has P(min_{S_i} T > t), accurate to the tolerance where it is >= Rarest
	Gradients bool    // compute Result.Gradients
	// classes for Result.ClassGradients; as with Gradients, classes without arrivals also link
	// their servers
	Of       []int
	MaxBytes int64   // memory limit for messages; 0 means [num.DefaultMaxBytes]
	MaxWork  float64 // limit on float64 products for components that are not trees; 0 means 1e11
}

// A Result holds the measures of a problem, each a float64 with a proved bound on its relative
// error.
type Result struct {
	Normalization arithmetic.Number   // Z, possibly beyond the range of float64
	Jobs          []arithmetic.Number // E[X_i] of each class
	// E~[min_{S_i} T]; 0 for a class without arrivals, unless derivatives are requested
	Times     []arithmetic.Number
	Busy      []arithmetic.Number   // probability that a server has a job to serve
	ClassJobs [][]arithmetic.Number // P(X_i = n) of each class, if requested
	Laws      []Law                 // distribution of min_{S_i} T for each class with arrivals, if requested
	Gradients *Gradients            // gradients of E[Σ_i X_i], if requested

	ClassGradients []Gradients // gradients of E[X_i] for each class of Settings.Of
}

// Types shared by the results of trees and of other components.
type (
	Gradients      = forest.Gradients      // derivatives of a mean number of jobs
	Difference     = forest.Difference     // difference of two numbers >= 0
	Law            = forest.Law            // the distribution of a time
	ToleranceError = forest.ToleranceError // bounds exceed the tolerance
)

// check rejects an invalid problem.
func (p *Problem) check() error {
	for s, c := range p.Capacities {
		if !(c > 0 && c <= math.MaxFloat64) {
			return input.Errorf(input.Index("Capacities", s), c, input.Positive)
		}
	}
	seen := make([]int, len(p.Capacities)) // one more than the last class with the server
	for i, k := range p.Classes {
		path := input.Index("Classes", i)
		if !(k.Rate >= 0 && k.Rate <= math.MaxFloat64) {
			return input.Errorf(path+".Rate", k.Rate, input.Nonnegative)
		}
		if len(k.Servers) == 0 {
			return input.Errorf(path+".Servers", "[]", "at least one server")
		}
		for _, s := range k.Servers {
			if s < 0 || s >= len(seen) || seen[s] == i+1 {
				return input.Errorf(path+".Servers", fmt.Sprint(k.Servers), "different servers of 0..%d", len(seen)-1)
			}
			seen[s] = i + 1
		}
	}
	return nil
}
