package elimination

import (
	"fmt"
	"math"

	"productform/internal/arithmetic"
	"productform/internal/forest"
	"productform/internal/input"
)

// A Problem is a cluster of single servers. Capacities and rates are taken as they are. Where they are integers, of any unit, with a sum below
// 2^53, all sums of them are exact; other numbers lose digits where the slack of the cluster is small.
type Problem struct {
	Capacities []float64 // C_s > 0 of each server
	Classes    []Class
}

// A Class is served by its servers together.
type Class struct {
	Rate    float64 // λ_i >= 0, in work per unit of time
	Servers []int   // different ones, at least one
}

// Settings tunes [Solve].
type Settings struct {
	Tolerance float64 // relative bound asked of all numbers, in (0, 1)
	ByClass   int     // if > 0, Result.ClassJobs has P(X_i = n), n = 0..ByClass
	Rarest    float64 // if > 0, Result.Laws has P(min_{S_i} T > t), which is known to the tolerance where it is at least so much
	Gradients bool    // Result.Gradients is wanted
	Of        []int   // classes of which Result.ClassGradients are wanted; as with Gradients, classes without arrivals link their servers, too
	MaxBytes  int64   // memory that messages may take; 0 means [num.DefaultMaxBytes]
	MaxWork   float64 // products of float64 that components whose servers form no tree may take; 0 means 1e11
}

// A Result holds the measures of a problem, each a float64 with a proved bound of its relative error.
type Result struct {
	Normalization arithmetic.Number     // Z, maybe beyond the range of float64
	Jobs          []arithmetic.Number   // E[X_i] of each class
	Times         []arithmetic.Number   // E~[min_{S_i} T]; 0 of a class without arrivals, unless derivatives are asked
	Busy          []arithmetic.Number   // probability that a server has a job to serve
	ClassJobs     [][]arithmetic.Number // P(X_i = n) of each class, if asked
	Laws          []Law                 // of each class with arrivals, if asked
	Gradients     *Gradients            // of E[Σ_i X_i], if asked

	ClassGradients []Gradients // of E[X_i] of each class asked
}

// What the results of trees and of other components have in common.
type (
	Gradients      = forest.Gradients      // derivatives of a mean number of jobs
	Difference     = forest.Difference     // of two numbers >= 0
	Law            = forest.Law            // the distribution of a time
	ToleranceError = forest.ToleranceError // bounds are not below the tolerance
)

// check refuses a problem that makes no sense.
func (p *Problem) check() error {
	for s, c := range p.Capacities {
		if !(c > 0 && c <= math.MaxFloat64) {
			return input.Errorf(input.Index("Capacities", s), c, input.Positive)
		}
	}
	seen := make([]int, len(p.Capacities)) // one more than the last class that has the server
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
