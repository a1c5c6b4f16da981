// Package optimum proves the best, or fair, cutoffs of TAGS to 49 digits: where exactly are they?
// Within a tiny radius of them, there is exactly one point at which the gradient is 0, or the
// slowdowns are equal.
//
// For example:
//
//	m := tags.ExactModel{
//		Hosts: 2,
//		Load:  num.Rat("0.5"),
//		Sizes: exact.BoundedPareto{Alpha: num.Rat("1"), High: num.Rat("1e10"), Mean: num.Rat("3000")},
//	}
//	r, err := optimum.Enclose(context.Background(), m, tags.Objective{Slowdown: 1}, []float64{78602})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("cutoff %.40g\n", r.Points[0])
//	fmt.Println("known to 49 digits:", r.Radius < 1e-49)
//	// Output:
//	// cutoff 78602.32151940451634993501143298315581978
//	// known to 49 digits: true
//
// [tags.Optimize] finds the global optimum; its cutoffs are the intended starting point.
package optimum

import (
	"context"
	"errors"
	"math/big"

	"productform/internal/input"
	"productform/num"
	"productform/sizes/exact"
	"productform/tags"
)

// A Result holds cutoffs near which proved bounds enclose a solution.
type Result struct {
	tags.Result              // at ExactCutoffs, to a relative width of at most 1e-30; Objective is that of the solution
	Points      []*big.Float // the same cutoffs as floats, of at least 256 bits
	Radius      float64      // proved: the solution lies within Radius s_i of each cutoff s_i; at most 2^-165
	Gradient    float64      // bounds |s_i ∂objective/∂s_i|/objective at the cutoffs, or |E[S_i] - E[S_{i+1}]|/E[S_i]
	Steps       int          // number of Newton steps
}

// ErrIdleStart is wrapped by the error for initial cutoffs that leave a host idle or lie outside
// the sizes.
var ErrIdleStart = errors.New("optimum: the initial cutoffs leave a host idle")

// Enclose returns the cutoffs that minimise the objective near start, to 49 digits with a proof:
// within Radius of them there is one point at which the gradient is 0 and the Hessian matrix is
// positive definite, a local minimum. For a fair objective, all E[S_i] are equal at one point
// within Radius. The start need not be close: Enclose finds slacks of 1e-30, which no
// double-precision cutoffs have, from cutoffs that overload hosts. The sizes must have a density.
//
// Enclose uses damped Newton's method in 256 bits or more, with the gradient and the Hessian matrix
// in closed form. If a cutoff changes σ, the slack of the host above it, by much more than itself,
// the variable is ln(σ/ρ), in which a waiting time that grows like 1/σ is smooth. Otherwise it is
// the logarithm of the cutoff, and always if jobs resume from checkpoints written when they are
// stopped. Other checkpoints are rejected: the cost drops there. The proof is Krawczyk's test on
// intervals and does not depend on how the point was found (R. Krawczyk, "Newton-Algorithmen zur
// Bestimmung von Nullstellen mit Fehlerschranken", Computing 4, 1969, 187–201). It takes 3 to 50
// steps of h points.
//
// The error names the field of m, the weight or the cutoff that is out of range, or wraps
// [tags.ErrInfeasible] if no cutoffs near start keep all loads below 1. It wraps
// [tags.ErrPrecision] if Newton's method or the proof fails. The proof fails for a minimum that is
// flat or at an end of the sizes. Once ctx is done, Enclose promptly returns ctx.Err().
func Enclose(ctx context.Context, m tags.ExactModel, o tags.Objective, start []float64) (Result, error) {
	s, err := solve(ctx, m, o, start)
	if err != nil {
		return Result{}, err
	}
	cutoffs := make([]*big.Rat, len(s.points))
	for i, x := range s.points {
		cutoffs[i], _ = x.Rat(nil)
	}
	r, err := tags.Enclose(ctx, m, tags.PolicyTAGS, cutoffs, 1e-30)
	if err != nil {
		return Result{}, err
	}
	r.Objective = s.objective.Value()
	return Result{r, s.points, s.radius, s.gradient, s.steps}, nil
}

// A solution holds cutoffs and what is proved about them.
type solution struct {
	points    []*big.Float
	radius    float64
	objective num.Interval // over all cutoffs within the radius, or those that solve the problem
	gradient  float64
	steps     int
}

// A search is a problem for Newton's method in a given number of bits.
type search struct {
	farm
	ctx               context.Context // context of the call
	rough             farm            // in few bits, to search for points
	fair              bool
	slowdown, waiting *big.Rat // the objective, unless fair
}

// A state is a point of the search.
type state struct {
	at     []exact.Point // k, s_1, ..., s_{h-1}, p
	stages []stage
}

// solve runs Newton's method with more and more bits, each time from the last result, until the
// proof succeeds.
func solve(ctx context.Context, m tags.ExactModel, o tags.Objective, start []float64) (solution, error) {
	if err := o.Validate(); err != nil {
		return solution{}, err
	}
	if err := m.Validate(); err != nil {
		return solution{}, err
	}
	var cut *big.Rat
	switch m.Resume.Rule {
	case "", tags.ResumeRestart:
	case tags.ResumeCut:
		if cut = m.Resume.Overhead; cut == nil {
			cut = new(big.Rat)
		}
	default:
		return solution{}, input.Errorf("Resume.Rule", string(m.Resume.Rule), "%q or %q, under which waiting times "+
			"are smooth functions of the cutoffs", tags.ResumeRestart, tags.ResumeCut)
	}
	p := search{
		ctx:      ctx,
		fair:     o.Fair,
		slowdown: new(big.Rat).SetFloat64(o.Slowdown),
		waiting:  new(big.Rat).SetFloat64(o.Waiting),
	}
	rough, err := m.Enclosed(ctx, 96)
	if err != nil {
		return solution{}, err
	}
	switch {
	case !rough.Smooth:
		return solution{}, input.Errorf("Sizes", "a list", "a distribution with a density")
	case rough.NoInverse && (o.Fair || o.Slowdown > 0):
		return solution{}, input.Errorf("Objective", "slowdown", "waiting only, since E[1/X] is infinite")
	}
	p.rough, p.cut = farm{rough, cut}, cut
	var goals []goal
	steps := 0
	var found solution
	err = exact.WithPrecision(ctx, 256, 4096, func(prec uint) error {
		var err error
		if p.EnclosedFarm, err = m.Enclosed(ctx, prec); err != nil {
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
			goals[i] = goal{log: state.at[i].Log}
		}
		found, err = p.prove(state)
		return err
	})
	found.steps = steps
	if errors.Is(err, exact.ErrMoreBits) {
		return solution{}, tags.ErrPrecision
	}
	if err != nil {
		return solution{}, err
	}
	return found, nil
}

// A farm is a model in a given number of bits.
type farm struct {
	tags.EnclosedFarm
	cut *big.Rat // overhead of jobs that resume where they were stopped; nil if jobs restart from scratch
}

// start returns the point of s_0: the smallest size, below which no cutoff helps restarts, or 0.
func (f *farm) start() exact.Point {
	p := f.Low
	if f.cut != nil {
		p.X = num.FromInt(0, f.Prec)
	}
	return p
}

// point returns the point of a cutoff, which may be below all sizes if jobs resume.
func (f *farm) point(x num.Interval) (exact.Point, error) {
	if f.cut == nil || x.Sign() <= 0 || x.High.Cmp(f.Low.X.Low) >= 0 {
		return f.Inside(x)
	}
	p := f.Low
	p.X, p.Density, p.Slope = x, num.FromInt(0, f.Prec), num.FromInt(0, f.Prec)
	var err error
	p.Log, err = x.Log()
	return p, err
}
