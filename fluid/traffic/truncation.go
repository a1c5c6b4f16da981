package traffic

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/fluid"
	"productform/fluid/internal/markov"
	"productform/internal/input"
)

// truncationSafety is the factor on the expected truncation error. If a chain does not make some
// moves from x to x ± e_k, with rate r, the mean of x_i changes by exactly
//
//	E[x_i] - E_L[x_i] = Σ_k Σ_{lost moves x to x ± e_k} π_L(x) r D_i,  D_i = h_i(x ± e_k) - h_i(x),
//
// where h_i is the bias of x_i in the chain without limits: D_i is the effect of one more or one
// fewer job of class k on the integral of x_i over time. It grows in proportion to the number of
// jobs, since one job delays others as long as the resource stays busy, and to the number of
// class-i jobs that are delayed: the x_i present and, of those that arrive later, E[x_i] at a time.
// So the error relative to E[x_i] is taken to be proportional to
//
//	A_ki = Σ_{lost moves} π_L(x) r (1 + x_i/E[x_i]) (1 + Σ_l x_l),
//
// with a constant measured by a second solve in a smaller region L': |E_L[x_i] -
// E_L'[x_i]|/E_L[x_i] times max_k A_ki(L)/A_ki(L') is the expected error, and the bound is
// truncationSafety times that. The factor x_i/E[x_i] turns the stationary distribution into the one
// biased by x_i. It matters if class i is rare: other jobs may accumulate while one of its jobs is
// served, to a level that the stationary distribution hardly shows, but that every class-i job
// sees.
//
// This is only an estimate: it does not include anything rarer than the summed states. Two classes
// whose jobs are hardly ever present together may cause a third to accumulate to a level that
// neither causes alone.
const truncationSafety = 4

// chain solves the truncated chain and bounds the effect of the truncation.
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
	p.Limits, p.States = v.limits, v.chain.States
	return v.mean, nil
}

// truncated returns the solution with the limits of the settings, or in a region whose bound meets
// TruncationTol, and its bound.
func (w *problem) truncated(ctx context.Context, policy fluid.Policy, s Settings) (*solution, float64, error) {
	tol := max(s.TruncationTol/10, 1e-12) // for iterations, whose rounding error is not far below 1e-12
	if s.Limits != nil {
		limits := w.chosen(s)
		if _, err := checkStates(limits, s); err != nil {
			return nil, 0, err
		}
		v, err := w.solveAt(ctx, policy, boxOf(limits), nil, tol)
		if err != nil {
			return nil, 0, err
		}
		if err := v.prove(ctx); err != nil {
			return nil, 0, err
		}
		small, err := w.solveAt(ctx, policy, boxOf(v.smaller()), v, tol)
		if err != nil {
			return nil, 0, err
		}
		return v, v.truncationBound(small), v.checkConverged(s)
	}
	small, err := w.pilot(ctx, policy, s)
	if err != nil {
		return nil, 0, err
	}
	if err := small.forecastStates(s); err != nil {
		return nil, 0, err
	}
	const onTheWay = 1e-4 // required of a step that estimates how errors decrease
	pilot := small.reach()
	region, err := pilot.grown(1, max(s.TruncationTol, onTheWay), pilot, s)
	if err != nil {
		return nil, 0, err
	}
	// Regions grow by more than an eighth in all directions each time, up to MaxStates at the
	// latest.
	last := small
	for round := 0; ; round++ {
		v, err := w.solveAt(ctx, policy, region, last, tol)
		if err != nil {
			return nil, 0, err
		}
		bound := v.truncationBound(small)
		// with the omitted states, the origin is so improbable that the measure leaves the range of
		// float64
		if !(bound >= 0) {
			if region, err = v.box(s); err != nil {
				return nil, 0, err
			}
			continue
		}
		if bound <= s.TruncationTol {
			if err := v.prove(ctx); err != nil {
				return nil, 0, err
			}
			if bound = v.truncationBound(small); bound <= s.TruncationTol { // usually true
				return v, bound, v.checkConverged(s)
			}
		}
		last = v
		expected := bound
		if bound > 1 { // the edges of some class give no information on the size of the error
			expected = max(v.expectedError(small), 100*s.TruncationTol)
		}
		if region, err = v.reach().grown(expected, s.TruncationTol, pilot, s); err != nil {
			return nil, 0, err
		}
		if round >= 5 { // the directions in which errors arise cannot be predicted
			if region, err = v.box(s); err != nil {
				return nil, 0, err
			}
		}
		if bound > 1e-2 { // the error of the smaller solution is too large for a proportional estimate
			small = v
		}
	}
}

// boxOf returns the region of all x <= limits.
func boxOf(limits []int) *markov.Region {
	size := make([]int, len(limits))
	for k, l := range limits {
		size[k] = l + 1
	}
	return markov.NewRegion(size, nil)
}

// box returns the region of all states up to limits that are a quarter larger.
func (v *solution) box(s Settings) (*markov.Region, error) {
	limits := make([]int, len(v.limits))
	for k, l := range v.limits {
		limits[k] = l + l/4 + 2
	}
	if _, err := checkStates(limits, s); err != nil {
		return nil, err
	}
	return boxOf(limits), nil
}

// pilot solves with limits that are reached with a small probability under every distribution: 5e-3
// gives means with about two digits, enough to see how tails decay. It starts at limits that are
// expected to suffice with a margin. All states within the limits are included, since a region that
// cuts off the states in which jobs accumulate would be misleading.
func (w *problem) pilot(ctx context.Context, policy fluid.Policy, s Settings) (*solution, error) {
	const box = 8 // the box contains up to this many times as many states as matter
	if all := w.expected(s.TruncationTol); productOf(all) > box*float64(s.MaxStates) {
		return nil, &statesError{productOf(all) / box, all}
	}
	if err := w.forecast(ctx, policy, s, longPilot); err != nil {
		return nil, err
	}
	return w.pilotFrom(ctx, policy, s, w.expected(1e-3))
}

// longPilot is the number of states of a pilot that takes a few tenths of a second.
const longPilot = 200_000

// forecast returns a *statesError if a solution needs far more than MaxStates states according to a
// cheaper solution at a lower load: far from the axes the numbers of jobs of class k are
// approximately proportional to 1/gap_k. It does so only if a pilot would have more states than
// long, and solves one with about a tenth of these.
func (w *problem) forecast(ctx context.Context, policy fluid.Policy, s Settings, long float64) error {
	const unsure = 3 // factor by which the forecast may be too high
	states := productOf(w.expected(1e-3))
	if states <= long {
		return nil
	}
	farther := math.Pow(10*states/long, 1/float64(len(w.class))) // factor of the distance from saturation
	load := 1 - farther*slices.Min(w.slack)
	if load < 0.5 {
		return nil
	}
	lower, err := w.scaled(load / (1 - slices.Min(w.slack)))
	if err != nil {
		return err
	}
	v, err := lower.pilotFrom(ctx, policy, Settings{MaxStates: int(4 * long)}, lower.expected(1e-3))
	if many := (*statesError)(nil); errors.As(err, &many) {
		return nil // it gives no information
	}
	if err != nil {
		return err
	}
	r := v.reach()
	size, states := r.boundingBox(r.extended(r.level - math.Log(s.TruncationTol)))
	limits := limitsOf(size)
	for k := range limits {
		growth := lower.gap(k) / w.gap(k)
		states *= growth
		limits[k] = int(min(float64(limits[k])*growth, mostStates))
	}
	if states > unsure*float64(s.MaxStates) {
		return &statesError{states / unsure, limits}
	}
	return nil
}

// scaled returns the problem with all arrival rates multiplied by a factor.
func (w *problem) scaled(factor float64) (*problem, error) {
	f := new(big.Rat).SetFloat64(factor)
	groups := slices.Clone(w.group)
	for n := range groups {
		groups[n].rate = new(big.Rat).Mul(f, groups[n].rate)
	}
	return newProblem(w.traffic, groups)
}

// pilotFrom runs [problem.pilot] starting at these limits.
func (w *problem) pilotFrom(ctx context.Context, policy fluid.Policy, s Settings, limits []int) (*solution, error) {
	var v *solution
	for {
		if _, err := checkStates(limits, s); err != nil {
			return nil, err
		}
		var err error
		if v, err = w.solveAt(ctx, policy, boxOf(limits), v, 1e-8); err != nil {
			return nil, err
		}
		wider := append([]int(nil), limits...)
		converged := true
		for k, l := range limits {
			if v.maxProbability(k, l) > 5e-3 || !v.decays(k) {
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

// expected returns limits that would be exceeded with this probability if each resource were shared
// as one processor, in addition to the jobs that limits on tasks retain.
func (w *problem) expected(tail float64) []int {
	limits := make([]int, len(w.class))
	for k := range limits {
		kept := math.Ceil(w.jobs[k] + 4*math.Sqrt(w.jobs[k]))
		limits[k] = int(min(max(4, math.Ceil(math.Log(tail)/math.Log1p(-w.gap(k))))+kept, mostStates))
	}
	return limits
}

// smaller returns limits to compare with. They are exceeded with probability 1e-3 under every
// distribution, as in a pilot, or are a quarter smaller if the limit is not larger, which still
// changes the means far more than rounding does. They are at least 1.
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

// maxProbability returns the largest P(x_k = n) of all distributions.
func (v *solution) maxProbability(k, n int) float64 {
	var most float64
	for _, d := range v.distributions {
		most = max(most, d.marginal[k][n])
	}
	return most
}

// decays reports whether the marginal of class k is far smaller at its limit than halfway to it,
// under every distribution; otherwise nothing is known of its tail. It may stay level for long if
// rare long jobs are served at the expense of a class. A factor of a quarter is easily reached by a
// decaying tail, but not by a level one.
func (v *solution) decays(k int) bool {
	for _, d := range v.distributions {
		if p := d.marginal[k]; p[v.limits[k]] > p[v.limits[k]/2]/4 {
			return false
		}
	}
	return true
}

// truncationBound measures the truncation error relative to the mean numbers, from the class whose
// lost moves cause the largest error. It is at least 1 if the limit of a class gives no information
// on its tail.
func (v *solution) truncationBound(small *solution) float64 {
	var bound float64
	for k := range v.limits {
		for i, m := range v.mean {
			change := math.Abs(m-small.mean[i])/m + v.iteration + small.iteration
			edge, before := v.edge(k, i), small.edge(k, i)
			switch {
			case edge == 0: // below the range of float64, far below any tolerance
			case before == 0:
				bound = unknownBound
			default:
				bound = max(bound, min(truncationSafety*change*edge/before, unknownBound))
			}
		}
		if v.limits[k] == small.limits[k] || !v.decays(k) {
			bound = max(bound, 1)
		}
	}
	return bound / (1 - min(bound, 0.5)) // relative to the mean without limits
}

// expectedError is the value that truncationBound would have if lost moves of all classes had the
// same effect, or 1 if that is smaller. It is not a bound, but it controls the growth of regions
// when too few moves of some class were lost to know their effect.
func (v *solution) expectedError(small *solution) float64 {
	var most float64
	for i, m := range v.mean {
		change := math.Abs(m-small.mean[i])/m + v.iteration + small.iteration
		var edge, before float64
		for k := range v.limits {
			if !v.decays(k) {
				return 1
			}
			edge, before = edge+v.edge(k, i), before+small.edge(k, i)
		}
		if edge > 0 {
			most = max(most, truncationSafety*change*edge/before)
		}
	}
	return min(most, 1)
}

// unknownBound is a finite bound that means that nothing is known.
const unknownBound = 1e300

// edge returns A_ki.
func (v *solution) edge(k, i int) float64 {
	return v.distributions[0].edge[k] + v.distributions[1+i].edge[k]
}

// grown returns a region for which a bound should decrease to half of relTol, since weights decay
// towards the edge. It also includes the states within the limits of the pilot that will matter:
// the pilot shows them, whereas a region shows nothing of the states that it omits.
func (r *reach) grown(bound, relTol float64, pilot *reach, s Settings) (*markov.Region, error) {
	t := r.level + math.Log(2*max(bound/relTol, 1))
	return r.region(r.extended(t), pilot, max(t, pilot.level+math.Log(2/s.TruncationTol)), s)
}

// forecastStates returns a *statesError if a solution needs far more than MaxStates states,
// according to the tails of this solution.
func (v *solution) forecastStates(s Settings) error {
	const unsure = 2 // factor by which that number may be too large
	r := v.reach()
	if size, states := r.boundingBox(r.extended(r.level - math.Log(s.TruncationTol))); states > unsure*
		float64(s.MaxStates) {
		return &statesError{states / unsure, limitsOf(size)}
	}
	return nil
}

// checkConverged rejects the result of an iteration that has neither seven digits nor the requested
// accuracy.
func (v *solution) checkConverged(s Settings) error {
	if v.iteration <= max(s.TruncationTol, 1e-7) {
		return nil
	}
	return &UnsolvedError{Input: input.Errorf("TruncationTol",
		s.TruncationTol, "at least %.2g, where the iteration for x <= %d ends",
		v.iteration, v.limits)}
}
