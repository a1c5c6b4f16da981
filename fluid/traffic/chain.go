package traffic

import (
	"context"
	"math"

	"productform/fluid"
	"productform/fluid/internal/markov"
	"productform/num"
)

// A loss is a move that the truncated chain does not make because it leads out of its region.
type loss struct {
	state, class int
	rate         float64
}

// newChain returns the chain of the numbers of jobs in a region: class k arrives at rate λ_k and
// leaves at rate x_k φ_k(x)/σ_k, unless that leads out of the region. Lost moves are in the order
// of their states. The residual is the largest over the allocations of all states.
func (w *problem) newChain(ctx context.Context, policy fluid.Policy, region *markov.Region) (
	c *markov.Chain, lost []loss, residual float64, err error,
) {
	a, err := fluid.NewAllocator(w.traffic.Pool(), policy)
	if err != nil {
		return nil, nil, 0, err
	}
	c = markov.NewChain(region)
	x := make([]int, len(region.Size))
	count, tasks := make([]float64, len(w.traffic.Classes)), make([]float64, len(w.traffic.Classes))
	kept := func(state, k, step int, rate float64) float64 {
		x[k] += step
		inside := region.Number(x) >= 0
		x[k] -= step
		if !inside && rate > 0 {
			lost = append(lost, loss{state, k, rate})
			return 0
		}
		return rate
	}
	for s := range c.States {
		for k, row := range w.class {
			count[row] = float64(x[k])
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		if err := a.Tasks(ctx, count, tasks); err != nil {
			return nil, nil, 0, err
		}
		if s > 0 { // jobs are present
			residual = max(residual, a.Residual(count, tasks))
		}
		for k, row := range w.class {
			c.SetRates(s, k, kept(s, k, 1, w.lambda[k]), kept(s, k, -1, count[row]*tasks[row]/w.sigma[k]))
		}
		c.Next(x)
	}
	return c, lost, residual, nil
}

// A solution holds the stationary distribution of a truncated chain and its summaries.
type solution struct {
	chain         *markov.Chain
	pi            []float64 // a stationary measure, not necessarily of total mass 1
	lost          []loss
	limits        []int          // the largest x_k in the region
	mean          []float64      // E[x_k]
	distributions []distribution // the stationary distribution, then the one biased by x_i for each class i

	residual  float64 // largest residual of the allocations
	multigrid bool
	rounding  float64 // proved bound on the relative error of the means from rounding; not with multigrid
	iteration float64 // measured relative error of the iteration
}

// A distribution is a distribution of the numbers of jobs: the stationary one, or the one biased by
// x_i, which has the expectations E[x_i f(x)] / E[x_i]. The distribution biased by a rare class
// shows the state of others while a job of that class is present.
type distribution struct {
	marginal [][]float64 // P(x_k = n) at [k][n]
	edge     []float64   // Σ over the lost moves x to x ± e_k of their rate, P(x) (1 + Σ_l x_l)
}

// solveAt solves the chain in a region with the faster method. An iteration starts from the
// solution in another region, if one is known.
func (w *problem) solveAt(
	ctx context.Context, policy fluid.Policy, region *markov.Region, known *solution, tol float64,
) (*solution, error) {
	c, lost, residual, err := w.newChain(ctx, policy, region)
	if err != nil {
		return nil, err
	}
	v := &solution{chain: c, limits: region.Limits(), lost: lost, residual: residual}
	if c.IsIterable() {
		v.multigrid = true
		v.pi, v.iteration, err = c.Iterate(ctx, w.startingPoint(c, known), w.lambda, tol)
	} else {
		v.pi, v.rounding, err = c.Eliminate(ctx)
	}
	if err != nil {
		return nil, err
	}
	v.summarize()
	return v, nil
}

// prove solves the same chain by elimination, whose rounding error is proved, unless that was
// already done or is too expensive.
func (v *solution) prove(ctx context.Context) error {
	if !v.multigrid || !v.chain.IsEliminable() {
		return nil
	}
	pi, bound, err := v.chain.Eliminate(ctx)
	if err != nil {
		return err
	}
	v.pi, v.rounding, v.iteration, v.multigrid = pi, bound, 0, false
	v.summarize()
	return nil
}

// summarize computes the summaries of the measure.
func (v *solution) summarize() {
	v.mean, v.distributions = nil, nil
	distributions := []*distributionSums{newDistributionSums(v.limits)}
	for range v.limits {
		distributions = append(distributions, newDistributionSums(v.limits))
	}
	x, lost := make([]int, len(v.limits)), v.lost
	for s, p := range v.pi {
		jobs, moves := 0, 0
		for _, n := range x {
			jobs += n
		}
		for moves < len(lost) && lost[moves].state == s {
			moves++
		}
		distributions[0].add(x, p, jobs, lost[:moves])
		for i, n := range x {
			if n > 0 {
				distributions[1+i].add(x, float64(n)*p, jobs, lost[:moves])
			}
		}
		lost = lost[moves:]
		v.chain.Next(x)
	}
	for i, sums := range distributions {
		v.distributions = append(v.distributions, sums.distribution())
		if i > 0 {
			v.mean = append(v.mean, sums.mass()/distributions[0].mass())
		}
	}
}

// distributionSums holds sums over a measure. Its sums are compensated, which keeps their relative
// error below 2^-50 for any number of states.
type distributionSums struct {
	marginal [][]num.Sum
	edge     []num.Sum // of p rate (1 + Σ_l x_l) over the lost moves of each class
}

func newDistributionSums(limits []int) *distributionSums {
	s := &distributionSums{edge: make([]num.Sum, len(limits))}
	for _, l := range limits {
		s.marginal = append(s.marginal, make([]num.Sum, l+1))
	}
	return s
}

// add adds a state of measure p with the given number of jobs, and its lost moves.
func (s *distributionSums) add(x []int, p float64, jobs int, lost []loss) {
	for k, n := range x {
		s.marginal[k][n].Add(p)
	}
	for _, move := range lost {
		s.edge[move.class].Add(p * move.rate * float64(1+jobs))
	}
}

func (s *distributionSums) mass() float64 {
	var mass num.Sum
	for i := range s.marginal[0] {
		mass.Add(s.marginal[0][i].Value())
	}
	return mass.Value()
}

// distribution returns the distribution proportional to the sums.
func (s *distributionSums) distribution() distribution {
	mass := s.mass()
	var l distribution
	for k, sums := range s.marginal {
		p := make([]float64, len(sums))
		for n := range p {
			p[n] = sums[n].Value() / mass
		}
		l.marginal = append(l.marginal, p)
		l.edge = append(l.edge, s.edge[k].Value()/mass)
	}
	return l
}

// startingPoint returns Π_k (1-gap_k)^x_k or, with limits on tasks, the product of the birth-death
// chains in which x_k jobs do at most the work that their limits permit. A known solution in
// another region replaces it there; beyond its edge, measures decrease from one state to the next
// like those of the product.
func (w *problem) startingPoint(c *markov.Chain, known *solution) []float64 {
	pi, x := make([]float64, c.States), make([]int, len(c.Size))
	power := make([][]float64, len(x))
	for k, n := range c.Size {
		power[k] = make([]float64, n)
		for i := range power[k] {
			power[k][i] = math.Pow(1-w.gap(k), float64(i))
		}
		if w.jobs[k] > 0 {
			w.birthDeath(k, power[k])
		}
	}
	for s := range pi {
		if known == nil {
			pi[s] = 1
			for k, n := range x {
				pi[s] *= power[k][n]
			}
		} else if old := known.chain.Number(x); old >= 0 {
			pi[s] = known.pi[old]
		} else {
			pi[s] = w.extrapolated(c, pi, x, power)
		}
		c.Next(x)
	}
	return pi
}

// extrapolated returns the largest measure for x extrapolated from its previous neighbours; 0 if it
// has none.
func (w *problem) extrapolated(c *markov.Chain, pi []float64, x []int, power [][]float64) float64 {
	var most float64
	for k, n := range x {
		if n == 0 {
			continue
		}
		x[k]--
		if before := c.Number(x); before >= 0 && power[k][n-1] > 0 {
			most = max(most, pi[before]*power[k][n]/power[k][n-1])
		}
		x[k]++
	}
	return most
}

// birthDeath sets p to the stationary distribution of the jobs of class k alone, as if its share of
// the resources were fixed.
func (w *problem) birthDeath(k int, p []float64) {
	logarithm, most := make([]float64, len(p)), 0.0
	for n := 1; n < len(p); n++ {
		logarithm[n] = logarithm[n-1] + math.Log(max(1-w.gap(k), w.jobs[k]/float64(n)))
		most = max(most, logarithm[n])
	}
	for n, l := range logarithm {
		p[n] = math.Exp(max(l-most, -700/float64(len(w.class)))) // keeps products of these positive
	}
}
