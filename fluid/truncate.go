package fluid

import "math"

// truncationSafety multiplies the truncation error expected. If arrivals of class k are lost at x_k = L_k, the mean of
// f changes by exactly
//
//	E[f] - E_L[f] = Σ_k λ_k Σ_{x_k = L_k} π_L(x) D_k(x),  D_k(x) = h(x+e_k) - h(x),
//
// where h is the bias of f in the chain without limits: D_k is the effect of one more job on the integral of f over
// time. For f = x_i it grows as the number of jobs, since one job delays others as long as the resource stays busy. So
// the error is taken to be proportional to A_k(L) = λ_k E_L[(1 + Σ_l x_l) 1{x_k = L_k}], with a constant measured by a
// second solve with smaller limits L': |E_L - E_L'| max_k A_k(L)/A_k(L') is the error expected, truncationSafety times
// that the bound.
const truncationSafety = 4

// chain solves the truncated chain and bounds what the truncation does.
func (w *trafficProblem) chain(p *TrafficPart, policy Policy, s TrafficSettings) ([]float64, error) {
	v, bound, err := w.truncated(policy, s)
	if err != nil {
		return nil, err
	}
	p.Method, p.TruncationBound = ChainMethod, bound
	if v.multigrid {
		p.Method = MultigridMethod
	}
	p.RoundingBound, p.IterationError, p.RateResidual = v.rounding, v.iteration, v.residual
	p.Limits, p.States = v.limits, 1
	for _, l := range v.limits {
		p.States *= l + 1
	}
	return v.mean, nil
}

// truncated returns the solution with the limits of the settings, or with ones whose bound meets RelTol, and its bound.
func (w *trafficProblem) truncated(policy Policy, s TrafficSettings) (*solution, float64, error) {
	tol := max(s.RelTol/10, 1e-12) // of an iteration, whose rounding is not far below 1e-12
	if s.Limits != nil {
		limits := w.chosen(s)
		if _, err := checkStates(limits, s); err != nil {
			return nil, 0, err
		}
		v, err := w.solveAt(policy, limits, tol)
		if err != nil {
			return nil, 0, err
		}
		small, err := w.solveAt(policy, v.smaller(), tol)
		if err != nil {
			return nil, 0, err
		}
		bound, _ := v.truncationBound(small)
		return v, bound, v.converged(s)
	}
	small, err := w.pilot(policy, s)
	if err != nil {
		return nil, 0, err
	}
	limits := small.grown(filled(len(w.class), 1), max(s.RelTol, 1e-4)) // a step on the way that says how errors fall
	// Limits grow by more than an eighth each time, until MaxStates at the latest.
	for {
		if _, err := checkStates(limits, s); err != nil {
			return nil, 0, err
		}
		v, err := w.solveAt(policy, limits, tol)
		if err != nil {
			return nil, 0, err
		}
		bound, byClass := v.truncationBound(small)
		if bound <= s.RelTol {
			return v, bound, v.converged(s)
		}
		limits = v.grown(byClass, s.RelTol)
		if bound > 1e-2 { // the error of the smaller solve is a good part of its means, too much for one in proportion
			small = v
		}
	}
}

// pilot solves with limits that are reached with a small probability: 5e-3 gives means with some two digits, enough to
// see how tails decay. It starts where that is expected with something to spare.
func (w *trafficProblem) pilot(policy Policy, s TrafficSettings) (*solution, error) {
	limits := w.expected(1e-3)
	for {
		if _, err := checkStates(limits, s); err != nil {
			if _, all := checkStates(w.expected(s.RelTol), s); all != nil { // not only what the pilot needs
				err = all
			}
			return nil, err
		}
		v, err := w.solveAt(policy, limits, 1e-8)
		if err != nil {
			return nil, err
		}
		wider := append([]int(nil), limits...)
		enough := true
		for k, p := range v.marginal {
			if p[limits[k]] > 5e-3 || !falls(p) {
				wider[k] = 2 * limits[k]
				enough = false
			}
		}
		if enough {
			return v, nil
		}
		limits = wider
	}
}

// expected returns limits that would be exceeded with this probability if resources were shared as one processor each.
func (w *trafficProblem) expected(tail float64) []int {
	limits := make([]int, len(w.class))
	for k := range limits {
		limits[k] = int(min(max(4, math.Ceil(math.Log(tail)/math.Log1p(-w.gap(k)))), mostStates))
	}
	return limits
}

// smaller returns limits to compare with: exceeded with probability 1e-3, as those of a pilot, or a quarter less where
// the limit is not larger, which still changes the means far more than rounding.
func (v *solution) smaller() []int {
	limits := make([]int, len(v.limits))
	for k, p := range v.marginal {
		n, tail := len(p)-1, 0.0
		for ; n > 0 && tail+p[n] <= 1e-3; n-- {
			tail += p[n]
		}
		limits[k] = min(n, v.limits[k]-(v.limits[k]+3)/4)
	}
	return limits
}

// falls reports whether a marginal is far smaller at its limit than half way: otherwise nothing is known of its tail.
// It may stay level for long, if rare long jobs are served at the expense of a class. A quarter is little for a tail
// that decays, and much for one that is level.
func falls(p []float64) bool { return p[len(p)-1] <= p[len(p)/2]/4 }

// truncationBound measures the truncation error relative to the mean numbers, as a whole and by the class whose limit
// causes it. It is at least 1 if some marginal does not fall.
func (v *solution) truncationBound(small *solution) (bound float64, byClass []float64) {
	var change float64
	for k, m := range v.mean {
		change = max(change, math.Abs(m-small.mean[k])/m)
	}
	change += v.iteration + small.iteration
	byClass = make([]float64, len(v.mean))
	for k := range byClass {
		if small.edge[k] > 0 {
			byClass[k] = truncationSafety * change * v.edge[k] / small.edge[k]
		}
		if !falls(v.marginal[k]) {
			byClass[k] = max(byClass[k], 1)
		}
		bound = max(bound, byClass[k])
	}
	return bound / (1 - min(bound, 0.5)), byClass // relative to the mean without limits
}

// grown returns limits for which bounds should fall to half of relTol, as the tails of the marginals decay between half
// of the limit and an eighth below it, where the limit itself does not bend them; a twentieth and two steps more, since
// another round costs more. It is at most four times the limits before and a few more, for the decay is not known
// better, and at least an eighth and two more for every class, since the effect of a limit that stays is not seen.
func (v *solution) grown(bounds []float64, relTol float64) []int {
	limits := make([]int, len(v.limits))
	for k, p := range v.marginal {
		l := v.limits[k]
		near := l / 2
		far := max(near+1, l-l/8-1)
		steps := 3*l + 8
		if need := math.Log(2 * bounds[k] / relTol); need <= 0 {
			steps = 0
		} else if p[far] < p[near] {
			rate := math.Log(p[near]/p[far]) / float64(far-near)
			steps = int(min(float64(steps), 2+1.05*need/rate))
		}
		limits[k] = l + max(steps, l/8+2)
	}
	return limits
}

// converged refuses the result of an iteration that has neither seven digits nor what was asked.
func (v *solution) converged(s TrafficSettings) error {
	if v.iteration <= max(s.RelTol, 1e-7) {
		return nil
	}
	return tooLarge("RelTol", s.RelTol, "at least %.2g, where the iteration for x <= %d ends", v.iteration, v.limits)
}

func filled(n int, value float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = value
	}
	return x
}
