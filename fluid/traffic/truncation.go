package traffic

import (
	"context"
	"math"
	"slices"

	"productform/fluid"
	"productform/internal/input"
)

// truncationSafety multiplies the truncation error expected. If arrivals of class k are lost at x_k = L_k, the mean of
// x_i changes by exactly
//
//	E[x_i] - E_L[x_i] = Σ_k λ_k Σ_{x_k = L_k} π_L(x) D_ki(x),  D_ki(x) = h_i(x+e_k) - h_i(x),
//
// where h_i is the bias of x_i in the chain without limits: D_ki is the effect of one more job of class k on the
// integral of x_i over time. It grows as the number of jobs, since one job delays others as long as the resource stays
// busy, and as the number of class-i jobs that are delayed: the x_i present and, of those that come later, E[x_i] at a
// time. So the error relative to E[x_i] is taken to be proportional to
//
//	A_ki(L) = λ_k E_L[(1 + x_i/E[x_i]) (1 + Σ_l x_l) 1{x_k = L_k}],
//
// with a constant measured by a second solve with smaller limits L': |E_L[x_i] - E_L'[x_i]|/E_L[x_i] times
// max_k A_ki(L)/A_ki(L') is the error expected, truncationSafety times that the bound. The factor x_i/E[x_i] makes the
// distribution biased by x_i of the stationary one. It matters where class i is rare: others may pile up while one of its jobs is
// served, to a level that the stationary one hardly shows, but which is all that a class-i job sees.
//
// This stays an estimate: what is rarer than the states summed is not seen. Two classes so rare that jobs of both are
// hardly ever present may together make a third one pile up, at a level that neither does alone.
const truncationSafety = 4

// chain solves the truncated chain and bounds what the truncation does.
func (w *problem) chain(ctx context.Context, p *Part, policy fluid.Policy, s Settings) ([]float64, error) {
	v, bound, err := w.truncated(ctx, policy, s)
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
func (w *problem) truncated(ctx context.Context, policy fluid.Policy, s Settings) (*solution, float64, error) {
	tol := max(s.RelTol/10, 1e-12) // of an iteration, whose rounding is not far below 1e-12
	if s.Limits != nil {
		limits := w.chosen(s)
		if _, err := checkStates(limits, s); err != nil {
			return nil, 0, err
		}
		v, err := w.solveAt(ctx, policy, limits, tol, false)
		if err != nil {
			return nil, 0, err
		}
		small, err := w.solveAt(ctx, policy, v.smaller(), tol, true)
		if err != nil {
			return nil, 0, err
		}
		bound, _ := v.truncationBound(small)
		return v, bound, v.converged(s)
	}
	small, err := w.pilot(ctx, policy, s)
	if err != nil {
		return nil, 0, err
	}
	const onTheWay = 1e-4 // asked of a step that says how errors fall
	step := s.RelTol < onTheWay
	limits := small.grown(filled(len(w.class), 1), max(s.RelTol, onTheWay))
	// Limits grow by more than an eighth each time, until MaxStates at the latest.
	for ; ; step = false {
		if _, err := checkStates(limits, s); err != nil {
			return nil, 0, err
		}
		v, err := w.solveAt(ctx, policy, limits, tol, step)
		if err != nil {
			return nil, 0, err
		}
		bound, byClass := v.truncationBound(small)
		if bound <= s.RelTol && !step {
			return v, bound, v.converged(s)
		}
		limits = v.grown(byClass, s.RelTol)
		if bound > 1e-2 { // the error of the smaller solve is a good part of its means, too much for one in proportion
			small = v
		}
	}
}

// pilot solves with limits that are reached with a small probability under every distribution: 5e-3 gives means with some two
// digits, enough to see how tails decay. It starts where that is expected with something to spare.
func (w *problem) pilot(ctx context.Context, policy fluid.Policy, s Settings) (*solution, error) {
	limits := w.expected(1e-3)
	for {
		if _, err := checkStates(limits, s); err != nil {
			if _, all := checkStates(w.expected(s.RelTol), s); all != nil { // not only what the pilot needs
				err = all
			}
			return nil, err
		}
		v, err := w.solveAt(ctx, policy, limits, 1e-8, true)
		if err != nil {
			return nil, err
		}
		wider := append([]int(nil), limits...)
		converged := true
		for k, l := range limits {
			if v.most(k, l) > 5e-3 || !v.falls(k) {
				wider[k] = 2 * l
				converged = false
			}
		}
		if converged {
			return v, nil
		}
		limits = wider
	}
}

// expected returns limits that would be exceeded with this probability if resources were shared as one processor each.
func (w *problem) expected(tail float64) []int {
	limits := make([]int, len(w.class))
	for k := range limits {
		limits[k] = int(min(max(4, math.Ceil(math.Log(tail)/math.Log1p(-w.gap(k)))), mostStates))
	}
	return limits
}

// smaller returns limits to compare with: exceeded with probability 1e-3 under every distribution, as those of a pilot, or a
// quarter less where the limit is not larger, which still changes the means far more than rounding; but at least 1.
func (v *solution) smaller() []int {
	limits := make([]int, len(v.limits))
	for k, l := range v.limits {
		n := 0
		for _, d := range v.distributions {
			n = max(n, quantile(d.marginal[k], 1e-3))
		}
		limits[k] = max(1, min(n, l-(l+3)/4))
	}
	return limits
}

// quantile returns the smallest number that is exceeded with at most this probability.
func quantile(p []float64, tail float64) int {
	n := len(p) - 1
	for sum := p[n]; n > 0 && sum <= tail; sum += p[n] {
		n--
	}
	return n
}

// most returns the largest P(x_k = n) of all distributions.
func (v *solution) most(k, n int) float64 {
	var most float64
	for _, d := range v.distributions {
		most = max(most, d.marginal[k][n])
	}
	return most
}

// falls reports whether the marginal of class k is far smaller at its limit than half way, under every distribution: otherwise
// nothing is known of its tail. It may stay level for long, if rare long jobs are served at the expense of a class. A
// quarter is little for a tail that decays, and much for one that is level.
func (v *solution) falls(k int) bool {
	for _, d := range v.distributions {
		if p := d.marginal[k]; p[v.limits[k]] > p[v.limits[k]/2]/4 {
			return false
		}
	}
	return true
}

// truncationBound measures the truncation error relative to the mean numbers, as a whole and by the class whose limit
// causes it. It is at least 1 where the limit of a class tells nothing of its tail.
func (v *solution) truncationBound(small *solution) (bound float64, byClass []float64) {
	byClass = make([]float64, len(v.mean))
	for k := range byClass {
		for i, m := range v.mean {
			change := math.Abs(m-small.mean[i])/m + v.iteration + small.iteration
			edge, before := v.edge(k, i), small.edge(k, i)
			switch {
			case edge == 0: // below the range of float64, far below any tolerance
			case before == 0:
				byClass[k] = unknownBound
			default:
				byClass[k] = max(byClass[k], min(truncationSafety*change*edge/before, unknownBound))
			}
		}
		if v.limits[k] == small.limits[k] || !v.falls(k) {
			byClass[k] = max(byClass[k], 1)
		}
	}
	bound = slices.Max(byClass)
	return bound / (1 - min(bound, 0.5)), byClass // relative to the mean without limits
}

// unknownBound is a bound that says nothing, and finite.
const unknownBound = 1e300

// edge returns A_ki of the limits.
func (v *solution) edge(k, i int) float64 {
	return v.distributions[0].edge[k] + v.distributions[1+i].edge[k]
}

// grown returns limits for which bounds should fall to half of relTol, as the tails of the marginals decay between half
// of the limit and an eighth below it, where the limit itself does not bend them; a twentieth and two steps more, since
// another round costs more. It is at most four times the limits before and a few more, for the decay is not known
// better, and at least an eighth and two more for every class, since the effect of a limit that stays is not seen.
func (v *solution) grown(bounds []float64, relTol float64) []int {
	limits := make([]int, len(v.limits))
	for k, l := range v.limits {
		steps := l/8 + 2
		if need := math.Log(2 * bounds[k] / relTol); need > 0 {
			steps = max(steps, int(min(float64(3*l+8), 2+1.05*need/v.decay(k))))
		}
		limits[k] = l + steps
	}
	return limits
}

// decay returns the rate at which the marginal of class k decays below its limit, not negative, under the distribution where
// that is lowest.
func (v *solution) decay(k int) float64 {
	l := v.limits[k]
	near := l / 2
	far := max(near+1, l-l/8-1)
	rate := math.Inf(1)
	for _, d := range v.distributions {
		if p := d.marginal[k]; p[near] > 0 {
			rate = min(rate, max(0, math.Log(p[near]/p[far])/float64(far-near)))
		}
	}
	return rate
}

// converged refuses the result of an iteration that has neither seven digits nor what was asked.
func (v *solution) converged(s Settings) error {
	if v.iteration <= max(s.RelTol, 1e-7) {
		return nil
	}
	return &TooLargeError{Input: input.Errorf("RelTol", s.RelTol, "at least %.2g, where the iteration for x <= %d ends", v.iteration, v.limits)}
}

func filled(n int, value float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = value
	}
	return x
}
