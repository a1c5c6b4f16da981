package plots

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Summary assesses whether the simulated numbers of checks, taken together, agree with theory. If
// a simulation is correct, z is a standard normal variable: 5 % of |z| exceed 1.96, and 0.27 %
// exceed 3.
type Summary struct {
	Rows        int     // distinct simulated numbers; a number checked by several figures counts once
	Beyond196   int     // rows with |z| > 1.96
	Beyond3     int     // rows with |z| > 3
	Largest     float64 // the largest |z|
	Simulations int     // distinct simulations; z of their first numbers are independent

	// Pearson's chi-square statistic of these z over ten cells of equal probability, with 9 degrees
	// of freedom, and the probability of a statistic at least as large. They are nil for fewer than
	// fifty z (five per cell), since the approximation is then too poor.
	ChiSquare *float64
	PValue    *float64
}

// LeastProb is the p-value below which simulated numbers together contradict theory.
const LeastProb = 1e-6

const (
	cells  = 10
	fewest = 5 * cells
)

// Summarize evaluates the checks of simulated numbers. Checks with the same simulation and
// quantity, which several figures may share, count once.
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

// OK reports whether no |z| exceeds [MaxZ] and the chi-square test, if there is one, does not
// reject at the level [LeastProb].
func (s Summary) OK() bool {
	return s.Largest <= MaxZ && (s.PValue == nil || *s.PValue >= LeastProb)
}
