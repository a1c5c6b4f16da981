package tags

import (
	"math/big"

	"productform/num"
)

// An ExactOptimum holds cutoffs at which proved bounds enclose a solution.
type ExactOptimum struct {
	Result                // at ExactCutoffs, to a relative width of at most 1e-30; Objective is that of the solution
	Points   []*big.Float // the same cutoffs as floats, of at least 256 bits
	Radius   float64      // proved: the solution lies within Radius s_i of each cutoff s_i; at most 2^-165
	Gradient float64      // bounds |s_i ∂objective/∂s_i|/objective at Cutoffs, or |E[S_i] - E[S_{i+1}]|/E[S_i]
	Steps    int          // of Newton's method
}

// OptimizeExact returns the cutoffs that minimise the objective near start, to 49 digits and proved: within Radius of
// them the gradient is 0 at one point, where the Hessian matrix is positive definite, so it is a local minimum. Whether
// it is the global one is for [Optimize] to say, whose cutoffs are the start meant. The start need not be close: slacks
// of 1e-30, which no cutoffs in doubles have, are found from cutoffs that overload hosts.
//
// It is Newton's method with the gradient and the Hessian matrix in closed form, damped, in 256 bits
// or more. Where a cutoff moves the slack of the host above it, σ, by much more than itself, its variable is ln(σ/ρ),
// in which a wait that grows like 1/σ is smooth; elsewhere it is the logarithm of the cutoff. The proof is Krawczyk's
// test on intervals and does not depend on how the point was found (R. Krawczyk, "Newton-Algorithmen zur Bestimmung von
// Nullstellen mit Fehlerschranken", Computing 4, 1969, 187–201). It takes 3 to 50 steps of h logarithms and
// exponentials.
//
// The error names the field of m, the weight or the cutoff that is out of range, wraps [ErrInfeasible] if no cutoffs
// near start keep all loads below 1, or wraps [ErrPrecision] if Newton's method or the proof fails, as the latter does
// for a minimum that is flat or at an end of the sizes.
func OptimizeExact(m ExactModel, o Objective, start []float64) (ExactOptimum, error) {
	p, err := polish(m, start, o)
	if err != nil {
		return ExactOptimum{}, err
	}
	return p.enclose(m)
}

// FairExact returns the cutoffs near start at which all E[S_i] are equal, as [OptimizeExact] does those of the least
// objective. Within Radius there is one solution.
func FairExact(m ExactModel, start []float64) (ExactOptimum, error) {
	p, err := polishFair(m, start)
	if err != nil {
		return ExactOptimum{}, err
	}
	return p.enclose(m)
}

// A polished solution: cutoffs and what is proved of them.
type polished struct {
	points    []*big.Float
	radius    float64
	objective num.Interval // over all cutoffs within the radius, or where they solve the problem
	gradient  float64
	steps     int
}

// enclose adds the means at the cutoffs.
func (p polished) enclose(m ExactModel) (ExactOptimum, error) {
	cutoffs := make([]*big.Rat, len(p.points))
	for i, s := range p.points {
		cutoffs[i], _ = s.Rat(nil)
	}
	r, err := Enclose(m, cutoffs, 1e-30)
	if err != nil {
		return ExactOptimum{}, err
	}
	r.Objective = enclosed(p.objective)
	return ExactOptimum{r, p.points, p.radius, p.gradient, p.steps}, nil
}

// A bigSearch is a problem for Newton's method to a number of bits.
type bigSearch struct {
	bigFarm
	fair              bool
	slowdown, waiting *big.Rat // the objective, unless fair
}

// A bigState is a point of the search.
type bigState struct {
	at     []bigPoint // k, s_1, ..., s_{h-1}, p
	stages []bigStage
}

// polish minimises the objective from start.
func polish(m ExactModel, start []float64, o Objective) (polished, error) {
	if err := o.validate(); err != nil {
		return polished{}, err
	}
	return polishFrom(m, start, bigSearch{
		slowdown: new(big.Rat).SetFloat64(o.Slowdown),
		waiting:  new(big.Rat).SetFloat64(o.Waiting),
	})
}

// polishFair makes the slowdowns of all hosts equal from start.
func polishFair(m ExactModel, start []float64) (polished, error) {
	return polishFrom(m, start, bigSearch{fair: true})
}

// polishFrom runs Newton's method to more and more bits, each time from where it ended, until the proof succeeds.
func polishFrom(m ExactModel, start []float64, p bigSearch) (polished, error) {
	if err := m.Validate(); err != nil {
		return polished{}, err
	}
	var goals []bigGoal
	steps := 0
	var found polished
	err := settle(256, 4096, func(prec uint) error {
		var err error
		if p.bigFarm, err = m.farm(prec); err != nil {
			return err
		}
		if goals == nil {
			if goals, err = p.startGoals(start); err != nil {
				return err
			}
		}
		state, err := p.enter(goals)
		if err != nil {
			return err
		}
		state, n, err := p.newton(state)
		steps += n
		if err != nil {
			return err
		}
		for i := range goals {
			goals[i] = bigGoal{log: state.at[i].log}
		}
		found, err = p.prove(state)
		return err
	})
	found.steps = steps
	if err != nil {
		return polished{}, err
	}
	return found, nil
}
