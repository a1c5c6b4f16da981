package plots

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Summary tells whether the simulated numbers of some checks, taken together, agree with theory. Where a
// simulation is right, z is a standard normal variable: 5 % of |z| exceed 1.96, and 0.27 % exceed 3.
type Summary struct {
	Rows        int     // distinct simulated numbers; what several figures check alike is one
	Beyond196   int     // of them, those with |z| > 1.96
	Beyond3     int     // those with |z| > 3
	Largest     float64 // the largest |z|
	Simulations int     // distinct ones; z of the first numbers of each are independent

	// Pearson's chi-square statistic of those z over ten cells of equal probability, with 9 degrees of freedom, and the
	// probability of at least as much; nil for fewer than fifty, five a cell, where that distribution is too far off.
	ChiSquare *float64
	PValue    *float64
}

// LeastProb is the p-value below which simulated numbers together contradict theory.
const LeastProb = 1e-6

const (
	cells  = 10
	fewest = 5 * cells
)

// Summarize looks at the checks of simulated numbers. Those of one simulation and one quantity, which several figures
// may show, are one number and count once.
func Summarize(checks []Check) Summary {
	var s Summary
	type number struct{ simulation, quantity string }
	seen := make(map[number]bool)
	known := make(map[string]bool)
	var count [cells]float64
	for _, c := range checks {
		if c.Z == nil {
			continue
		}
		if c.Simulation != nil {
			n := number{*c.Simulation, c.Quantity}
			if seen[n] {
				continue
			}
			seen[n] = true
		}
		z := math.Abs(*c.Z)
		s.Rows++
		if z > 1.96 {
			s.Beyond196++
		}
		if z > 3 {
			s.Beyond3++
		}
		s.Largest = max(s.Largest, z)
		if c.Simulation != nil {
			if known[*c.Simulation] {
				continue
			}
			known[*c.Simulation] = true
		}
		s.Simulations++
		count[min(int(cells*distuv.UnitNormal.CDF(*c.Z)), cells-1)]++
	}
	if s.Simulations < fewest {
		return s
	}
	expected := float64(s.Simulations) / cells
	var x float64
	for _, n := range count {
		x += (n - expected) * (n - expected) / expected
	}
	p := distuv.ChiSquared{K: cells - 1}.Survival(x)
	s.ChiSquare, s.PValue = &x, &p
	return s
}

// OK reports whether no |z| exceeds [MaxZ] and the chi-square test, if there is one, does not reject at the level
// [LeastProb].
func (s Summary) OK() bool {
	return s.Largest <= MaxZ && (s.PValue == nil || *s.PValue >= LeastProb)
}
