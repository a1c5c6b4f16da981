package traffic

import (
	"context"
	"math"

	"productform/fluid"
	"productform/internal/markov"
	"productform/num"
)

// newChain returns the chain of the numbers of jobs below the limits: class k arrives at rate λ_k, unless the
// limit is reached, and leaves at rate x_k φ_k(x)/σ_k. The residual is the largest of one allocation for each state.
func (w *problem) newChain(ctx context.Context, policy fluid.Policy, limits []int) (c *markov.Chain, residual float64, err error) {
	a, err := fluid.NewAllocator(w.traffic.Pool(), policy)
	if err != nil {
		return nil, 0, err
	}
	size := make([]int, len(limits))
	for k, l := range limits {
		size[k] = l + 1
	}
	c = markov.NewChain(size)
	x := make([]int, len(size))
	count, tasks := make([]float64, len(w.traffic.Classes)), make([]float64, len(w.traffic.Classes))
	for s := range c.States {
		for k, row := range w.class {
			count[row] = float64(x[k])
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if err := a.Tasks(ctx, count, tasks); err != nil {
			return nil, 0, err
		}
		if s > 0 { // jobs are present
			residual = max(residual, a.Residual(count, tasks))
		}
		for k, row := range w.class {
			up := 0.0
			if x[k] < limits[k] {
				up = w.lambda[k]
			}
			c.SetRates(s, k, up, count[row]*tasks[row]/w.sigma[k])
		}
		c.Next(x)
	}
	return c, residual, nil
}

// A solution holds what is kept of the stationary distribution of a truncated chain.
type solution struct {
	limits        []int
	mean          []float64      // E[x_k]
	distributions []distribution // the stationary distribution, then that biased by x_i for each class i

	residual  float64 // largest of the allocations
	multigrid bool
	rounding  float64 // proved bound of the relative error of the means; with multigrid
	iteration float64 // the measured one
}

// A distribution is a distribution of the numbers of jobs: the stationary one, or that biased by x_i, which has the expectations
// E[x_i f(x)] / E[x_i]. The one biased by a rare class shows what others do while a job of that class is present.
type distribution struct {
	marginal [][]float64 // P(x_k = n) at [k][n]
	edge     []float64   // λ_k E[(1 + Σ_l x_l) 1{x_k = limit}]
}

// solveAt solves the chain with these limits: as a step on the way by the method that is faster, else by the one whose rounding
// is proved, as long as it is affordable.
func (w *problem) solveAt(ctx context.Context, policy fluid.Policy, limits []int, tol float64, step bool) (*solution, error) {
	c, residual, err := w.newChain(ctx, policy, limits)
	if err != nil {
		return nil, err
	}
	var pi []float64
	v := &solution{limits: limits, residual: residual}
	if c.IsEliminable() && !(step && c.IsIterable()) {
		pi, v.rounding, err = c.Eliminate(ctx)
	} else {
		v.multigrid = true
		pi, v.iteration, err = c.Iterate(ctx, w.startingPoint(c), w.lambda, tol)
	}
	if err != nil {
		return nil, err
	}
	w.summarize(v, c, pi)
	return v, nil
}

// summarize adds up a stationary measure, not necessarily of mass 1.
func (w *problem) summarize(v *solution, c *markov.Chain, pi []float64) {
	distributions := []*distributionSums{newDistributionSums(c.Size)}
	for range c.Size {
		distributions = append(distributions, newDistributionSums(c.Size))
	}
	x := make([]int, len(c.Size))
	for _, p := range pi {
		jobs := 0
		for _, n := range x {
			jobs += n
		}
		distributions[0].add(x, p, jobs)
		for i, n := range x {
			if n > 0 {
				distributions[1+i].add(x, float64(n)*p, jobs)
			}
		}
		c.Next(x)
	}
	for i, sums := range distributions {
		v.distributions = append(v.distributions, sums.distribution(w.lambda))
		if i > 0 {
			v.mean = append(v.mean, sums.mass()/distributions[0].mass())
		}
	}
}

// A distributionSums adds up a measure. Its sums are compensated, so that their relative error is below 2^-50 for any number of
// states.
type distributionSums struct {
	marginal [][]num.Sum
	edge     []num.Sum // of p (1 + Σ_l x_l) where x_k is at its limit
}

func newDistributionSums(size []int) *distributionSums {
	s := &distributionSums{edge: make([]num.Sum, len(size))}
	for _, n := range size {
		s.marginal = append(s.marginal, make([]num.Sum, n))
	}
	return s
}

// add adds a state of measure p with so many jobs.
func (s *distributionSums) add(x []int, p float64, jobs int) {
	for k, n := range x {
		s.marginal[k][n].Add(p)
		if n == len(s.marginal[k])-1 {
			s.edge[k].Add(p * float64(1+jobs))
		}
	}
}

func (s *distributionSums) mass() float64 {
	var mass num.Sum
	for i := range s.marginal[0] {
		mass.Add(s.marginal[0][i].Value())
	}
	return mass.Value()
}

// distribution returns the one in proportion to the sums.
func (s *distributionSums) distribution(lambda []float64) distribution {
	var l distribution
	mass := s.mass()
	for k, sums := range s.marginal {
		p := make([]float64, len(sums))
		for n := range p {
			p[n] = sums[n].Value() / mass
		}
		l.marginal = append(l.marginal, p)
		l.edge = append(l.edge, lambda[k]*s.edge[k].Value()/mass)
	}
	return l
}

// startingPoint returns Π_k (1-gap_k)^x_k.
func (w *problem) startingPoint(c *markov.Chain) []float64 {
	pi, x := make([]float64, c.States), make([]int, len(c.Size))
	power := make([][]float64, len(x))
	for k, n := range c.Size {
		power[k] = make([]float64, n)
		for i := range power[k] {
			power[k][i] = math.Pow(1-w.gap(k), float64(i))
		}
	}
	for s := range pi {
		pi[s] = 1
		for k, n := range x {
			pi[s] *= power[k][n]
		}
		c.Next(x)
	}
	return pi
}
