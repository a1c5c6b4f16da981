package fluid

import (
	"productform/num"
)

// A grid is a Markov chain on the states 0 <= x_k < size[k] that moves by one in one coordinate at a time. State x has
// the number Σ_k x_k stride[k]. Rates stand at pad + that number, between pad zeros on either side, so that
// every state has all its neighbours in the tables: those beyond an edge are states with rate 0 towards it.
type grid struct {
	size, stride []int
	states, pad  int
	up, down     [][]float64 // rates from x to x+e_k and x-e_k, at [k][pad + number of x]
}

func newGrid(size []int) *grid {
	g := &grid{size: size, stride: make([]int, len(size)), states: 1}
	for k := len(size) - 1; k >= 0; k-- {
		g.stride[k] = g.states
		g.states *= size[k]
	}
	for _, s := range g.stride {
		g.pad = max(g.pad, s)
	}
	for range size {
		g.up = append(g.up, make([]float64, g.states+2*g.pad))
		g.down = append(g.down, make([]float64, g.states+2*g.pad))
	}
	return g
}

// next moves x to the state with the next number; the one after the last is 0.
func (g *grid) next(x []int) {
	for k := len(x) - 1; k >= 0; k-- {
		if x[k]++; x[k] < g.size[k] {
			return
		}
		x[k] = 0
	}
}

// newTrafficGrid returns the chain of the numbers of jobs below the limits: class k arrives at rate λ_k, unless the
// limit is reached, and leaves at rate x_k φ_k(x)/σ_k. The residual is the largest of one allocation for each state.
func (w *trafficProblem) newTrafficGrid(policy Policy, limits []int) (g *grid, residual float64, err error) {
	a, err := NewAllocator(w.traffic.Pool(), policy)
	if err != nil {
		return nil, 0, err
	}
	size := make([]int, len(limits))
	for k, l := range limits {
		size[k] = l + 1
	}
	g = newGrid(size)
	x := make([]int, len(size))
	count, tasks := make([]float64, len(w.traffic.Classes)), make([]float64, len(w.traffic.Classes))
	for s := g.pad; s < g.pad+g.states; s++ {
		for k, c := range w.class {
			count[c] = float64(x[k])
		}
		if err := a.Tasks(count, tasks); err != nil {
			return nil, 0, err
		}
		if s > g.pad { // jobs are present
			residual = max(residual, a.residual(policy, count, tasks))
		}
		for k, c := range w.class {
			g.down[k][s] = count[c] * tasks[c] / w.sigma[k]
			if x[k] < limits[k] {
				g.up[k][s] = w.lambda[k]
			}
		}
		g.next(x)
	}
	return g, residual, nil
}

// residual returns the residual of the last allocation, as [Allocation] has it.
func (a *Allocator) residual(policy Policy, count, tasks []float64) float64 {
	if k, ok := a.kernel.(*proportional); ok {
		return k.residual
	}
	share := make([]float64, len(tasks))
	for i, d := range a.problem.dominant {
		share[i] = tasks[i] * d
	}
	return a.problem.residual(policy, count, share, a.problem.utilization(count, share))
}

// A solution holds what is kept of the stationary distribution of a truncated chain.
type solution struct {
	limits []int
	mean   []float64 // E[x_k]
	laws   []law     // the stationary distribution, then that biased by x_i for each class i

	residual  float64 // largest of the allocations
	multigrid bool
	rounding  float64 // proved bound of the relative error of the means; with multigrid
	iteration float64 // the measured one
}

// A law is a distribution of the numbers of jobs: the stationary one, or that biased by x_i, which has the expectations
// E[x_i f(x)] / E[x_i]. The law biased by a rare class shows what others do while a job of that class is present.
type law struct {
	marginal [][]float64 // P(x_k = n) at [k][n]
	edge     []float64   // λ_k E[(1 + Σ_l x_l) 1{x_k = limit}]
}

// eliminates reports whether a grid is solved by elimination: of two classes while it takes at most about a gigabyte,
// of three while it is not slower than the iteration.
func (g *grid) eliminates() bool {
	switch len(g.size) {
	case 1:
		return true
	case 2:
		return g.states <= 1_000_000
	}
	return g.states <= 8_000
}

// solveAt solves the chain with these limits.
func (w *trafficProblem) solveAt(policy Policy, limits []int, tol float64) (*solution, error) {
	g, residual, err := w.newTrafficGrid(policy, limits)
	if err != nil {
		return nil, err
	}
	var pi []float64
	v := &solution{limits: limits, residual: residual}
	if g.eliminates() {
		pi, v.rounding = g.stationary()
	} else {
		v.multigrid = true
		pi, v.iteration = g.iterate(w.startingPoint(g), w.lambda, tol)
	}
	w.summarize(v, g, pi)
	return v, nil
}

// summarize adds up a stationary measure, not necessarily of mass 1.
func (w *trafficProblem) summarize(v *solution, g *grid, pi []float64) {
	laws := []*lawSums{newLawSums(g)}
	for range g.size {
		laws = append(laws, newLawSums(g))
	}
	x := make([]int, len(g.size))
	for _, p := range pi {
		jobs := 0
		for _, n := range x {
			jobs += n
		}
		laws[0].add(x, p, jobs)
		for i, n := range x {
			if n > 0 {
				laws[1+i].add(x, float64(n)*p, jobs)
			}
		}
		g.next(x)
	}
	for i, sums := range laws {
		v.laws = append(v.laws, sums.law(w.lambda))
		if i > 0 {
			v.mean = append(v.mean, sums.mass()/laws[0].mass())
		}
	}
}

// A lawSums adds up a measure. Its sums are compensated, so that their relative error is below 2^-50 for any number of
// states.
type lawSums struct {
	marginal [][]num.Sum
	edge     []num.Sum // of p (1 + Σ_l x_l) where x_k is at its limit
}

func newLawSums(g *grid) *lawSums {
	s := &lawSums{edge: make([]num.Sum, len(g.size))}
	for _, n := range g.size {
		s.marginal = append(s.marginal, make([]num.Sum, n))
	}
	return s
}

// add adds a state of measure p with so many jobs.
func (s *lawSums) add(x []int, p float64, jobs int) {
	for k, n := range x {
		s.marginal[k][n].Add(p)
		if n == len(s.marginal[k])-1 {
			s.edge[k].Add(p * float64(1+jobs))
		}
	}
}

func (s *lawSums) mass() float64 {
	var mass num.Sum
	for i := range s.marginal[0] {
		mass.Add(s.marginal[0][i].Value())
	}
	return mass.Value()
}

// law returns the law in proportion to the sums.
func (s *lawSums) law(lambda []float64) law {
	var l law
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
