package plots

import (
	"math"

	"productform/sim"
)

// A Check compares one number of a figure with the same number obtained by another method, or by
// simulation with a confidence interval. Missing entries are nil.
type Check struct {
	Figure   string  `json:"figure"`   // figure and panel, such as "bf-1a"
	Quantity string  `json:"quantity"` // name of the measure and load
	Exact    float64 `json:"exact"`    // theoretical value, or result of a run on given jobs; not 0

	Solver *float64 `json:"solver"` // by another method, such as the general solver or a second count of a run
	// accepted relative error, such as its own proved bound plus two roundings
	Tolerance *float64 `json:"tolerance"`

	Simulated *float64 `json:"simulated"`  // mean over the replications
	HalfWidth *float64 `json:"half_width"` // half-width of its 95 % confidence interval
	// (simulated - exact) / standard error, transformed to the standard normal distribution
	Z *float64 `json:"z"`

	// Simulation names the simulated system. Rows with the same name are dependent; all others are
	// independent.
	Simulation *string `json:"simulation"`
}

// SimulatedCheck returns the check of a simulated number.
func SimulatedCheck(figure, quantity string, exact float64, v *sim.Estimate, name string) Check {
	z := v.Z(exact)
	return Check{Figure: figure, Quantity: quantity, Exact: exact, Simulated: &v.Mean, HalfWidth: &v.HalfWidth, Z: &z,
		Simulation: &name}
}

// MaxZ is the |z| beyond which a simulation contradicts theory; a correct one exceeds it with
// probability 6e-7.
const MaxZ = 5

// RelativeError returns |solver - exact| / |exact|, or nil without a solver.
func (c Check) RelativeError() *float64 {
	if c.Solver == nil {
		return nil
	}
	e := math.Abs(*c.Solver-c.Exact) / math.Abs(c.Exact)
	return &e
}

// OK reports whether the two numbers agree: the relative error of the solver is within its
// tolerance, and |z| <= [MaxZ].
func (c Check) OK() bool {
	if e := c.RelativeError(); e != nil && c.Tolerance != nil && !(*e <= *c.Tolerance) {
		return false
	}
	return c.Z == nil || math.Abs(*c.Z) <= MaxZ
}

// SolverCheck returns the check of a number by a second computation.
func SolverCheck(figure, quantity string, exact, second, tolerance float64) Check {
	return Check{Figure: figure, Quantity: quantity, Exact: exact, Solver: &second, Tolerance: &tolerance}
}
