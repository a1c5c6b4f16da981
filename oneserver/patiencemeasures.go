package oneserver

import (
	"context"
	"math"
	"slices"
)

// patienceMeasures are the measures of a part whose jobs may give up.
type patienceMeasures struct {
	busy    []float64 // by group, fraction of the time that a server is busy
	classes []waitMeasures
}

// waitMeasures are the measures of a class. With V the time after which a job would begin if it did
// not give up, π(x) = P(V > x) and f = -π',
//
//	P(served) = P(V = 0) + ∫ g f,     E[W; served]  = ∫ x g(x) f(x) dx,      E[W] = ∫ g π,
//	P(gave up) = ∫ π(x) dP(patience <= x),  E[W; gave up] = ∫ x π(x) dP(patience <= x).
type waitMeasures struct {
	idle, wait         float64 // P(V = 0), P(V > 0)
	served, abandoned  float64
	waiting            float64 // E[W]
	waitingServed      float64 // E[W; served]
	waitingAbandoned   float64 // E[W; gave up]
	within, servedSoon []float64
}

// probabilities lists the probabilities.
func (m *waitMeasures) probabilities() []float64 {
	return slices.Concat([]float64{m.idle, m.wait, m.served, m.abandoned}, m.within, m.servedSoon)
}

// grid returns the ends of steps that are about as long as they can be.
func (r *race) grid(ctx context.Context, times []float64) ([]float64, error) {
	corners := slices.Clone(times)
	end := r.end()
	for i := range r.byClass {
		corners = append(corners, r.byClass[i].corners()...)
	}
	for _, t := range times {
		end = max(end, t)
	}
	return steps(ctx, corners, end, r.longest(64))
}

// measure solves the equations of a part on steps with these ends, and returns the measures at the
// given times. The numbers u at the ends of as many steps as fit into the memory are stored; the
// others are computed twice.
func (r *race) measure(ctx context.Context, times, grid []float64, maxBytes int64) (*patienceMeasures, error) {
	n := len(grid) - 1
	stride := 1 // steps between stored numbers
	if 8*float64(r.States)*float64(n) > float64(maxBytes)/2 {
		stride = int(math.Ceil(math.Sqrt(float64(n))))
	}
	u := slices.Clone(r.final)
	stored := make(map[int][]float64)
	inner := make([][stages]float64, r.States)
	for k := n; k > 0; k-- {
		if k%stride == 0 || k == n {
			stored[k] = slices.Clone(u)
		}
		if err := r.back(ctx, r.newGrade(grid[k-1], grid[k]-grid[k-1]), u, inner); err != nil {
			return nil, err
		}
		rescale(u)
	}
	m := r.start(u, times)
	a := slices.Clone(r.weights)
	ahead := make([][stages]float64, r.States)
	for k := 1; k <= n; k++ {
		if stored[k] == nil { // the numbers up to the next stored ones
			last := min((k/stride+1)*stride, n)
			u := slices.Clone(stored[last])
			for l := last; l > k; l-- {
				if err := r.back(ctx, r.newGrade(grid[l-1], grid[l]-grid[l-1]), u, inner); err != nil {
					return nil, err
				}
				rescale(u)
				stored[l-1] = slices.Clone(u)
			}
		}
		g := r.newGrade(grid[k-1], grid[k]-grid[k-1])
		u := stored[k]
		delete(stored, k)
		if err := r.back(ctx, g, u, inner); err != nil {
			return nil, err
		}
		z := product(a, u)
		r.addPoint(m, grid[k-1], a, u, z, times)
		if err := r.forth(ctx, g, a, ahead); err != nil {
			return nil, err
		}
		r.addStep(m, g, ahead, inner, z, times)
		rescale(a)
	}
	r.addPoint(m, grid[n], a, r.final, product(a, r.final), times)
	r.addEndless(m, a)
	return m, nil
}

// start returns the measures of idle and busy servers; u is that at 0.
func (r *race) start(u []float64, times []float64) *patienceMeasures {
	m := &patienceMeasures{busy: make([]float64, len(r.groups))}
	z := product(r.weights, u)
	wait := make([]float64, len(r.byClass))
	idle := make([]float64, len(r.byClass))
	left := make([]float64, len(r.byClass))
	x := make([]int, len(r.groups))
	for at := range u {
		p := r.weights[at] * u[at] / z
		for g, k := range x {
			m.busy[g] += p * float64(k) / float64(r.groups[g].n)
		}
		for i := range left {
			left[i] = p
		}
		for first, end := span(r.insideEnd, at); first < end; first++ {
			i := r.inside[first]
			wait[i] += p * r.fractions[first]
			left[i] = p * (1 - r.fractions[first])
		}
		for i, v := range left {
			idle[i] += v
		}
		r.Next(x)
	}
	for i := range r.byClass {
		c := waitMeasures{idle: idle[i], wait: wait[i], served: idle[i]}
		c.within, c.servedSoon = make([]float64, len(times)), make([]float64, len(times))
		for k := range times {
			c.within[k], c.servedSoon[k] = idle[i], idle[i]
		}
		m.classes = append(m.classes, c)
	}
	return m
}

// addPoint adds the jobs that give up at x because their patience has an atom there, and those that
// are still waiting at one of the times with patience that ended before.
func (r *race) addPoint(m *patienceMeasures, x float64, a, u []float64, z float64, times []float64) {
	atTime := slices.Contains(times, x)
	var longer []float64 // P(V > x)
	for i := range r.byClass {
		k, atom := slices.BinarySearch(r.byClass[i].atoms, x)
		if !atom && !atTime {
			continue
		}
		if longer == nil {
			longer = r.longer(a, u, z)
		}
		c := &m.classes[i]
		if atom {
			c.abandoned += r.byClass[i].chances[k] * longer[i]
			c.waitingAbandoned += x * r.byClass[i].chances[k] * longer[i]
		}
		if atTime && !r.byClass[i].endless() {
			for k, t := range times {
				if t == x {
					c.within[k] += r.byClass[i].CDF(x) * longer[i]
				}
			}
		}
	}
}

// longer returns P(V > x) of all classes.
func (r *race) longer(a, u []float64, z float64) []float64 {
	sum := make([]float64, len(r.byClass))
	for at, v := range a {
		for first, end := span(r.insideEnd, at); first < end; first++ {
			sum[r.inside[first]] += r.fractions[first] * v * u[at]
		}
	}
	for i := range sum {
		sum[i] /= z
	}
	return sum
}

// addStep adds the integrals over a step.
func (r *race) addStep(m *patienceMeasures, g *grade, a, u [][stages]float64, z float64, times []float64) {
	longer := make([][stages]float64, len(r.byClass))  // π at the nodes
	density := make([][stages]float64, len(r.byClass)) // f
	fraction := make([]float64, len(r.byClass))
	for at := range a {
		first, end := span(r.insideEnd, at)
		if first == end {
			continue
		}
		v, w := &a[at], &u[at]
		for ; first < end; first++ {
			sum, q := &longer[r.inside[first]], r.fractions[first]
			for j := range sum {
				sum[j] += q * v[j] * w[j]
			}
		}
		for b, last := span(r.belowEnd, at); b < last; b++ {
			low := int(r.below[b])
			for first, end := span(r.insideEnd, low); first < end; first++ {
				fraction[r.inside[first]] = r.fractions[first]
			}
			for first, end := span(r.insideEnd, at); first < end; first++ {
				i := r.inside[first]
				rate := (r.fractions[first] - fraction[i]) * r.down[b]
				if rate == 0 {
					continue
				}
				sum, w := &density[i], &u[low]
				for j := range sum {
					sum[j] += rate * v[j] * w[j]
				}
			}
			for first, end := span(r.insideEnd, low); first < end; first++ {
				fraction[r.inside[first]] = 0
			}
		}
	}
	for i := range r.byClass {
		r.integrate(&m.classes[i], &r.byClass[i], g, &g.tail[i], &longer[i], &density[i], z, times)
	}
}

// integrate adds the integrals of a class over a step.
func (r *race) integrate(
	c *waitMeasures, law *patience, g *grade, tail, longer, density *[stages]float64, z float64, times []float64,
) {
	for j, node := range r.method.nodes {
		x := g.x + g.h*node
		weight := g.h * r.method.weights[j] / z
		begin := weight * density[j]
		served := begin * tail[j]
		c.served += served
		c.waiting += weight * tail[j] * longer[j]
		c.waitingServed += x * served
		for k, t := range times {
			if x < t {
				c.within[k] += begin
				c.servedSoon[k] += served
			}
		}
		switch {
		case law.endless() || len(law.atoms) > 0:
		case law.density != nil:
			lost := weight * longer[j] * law.density.Density(x)
			c.abandoned += lost
			c.waitingAbandoned += x * lost
		default: // P(gave up) = ∫ (1-g) f, E[W; gave up] = E[W] - E[W; served]
			c.abandoned += begin * law.CDF(x)
			c.waitingAbandoned += weight*tail[j]*longer[j] - x*served
		}
	}
}

// addEndless adds the waiting of the jobs that never give up, after the last step: a is that at its
// end; all rates are constant after it.
func (r *race) addEndless(m *patienceMeasures, a []float64) {
	if !slices.ContainsFunc(r.byClass, func(p patience) bool { return p.endless() }) {
		return
	}
	z := product(a, r.final)
	sums := make([]float64, r.States) // ∫ a
	for at := r.States - 1; at > 0; at-- {
		sum := a[at]
		for first, end := span(r.aboveEnd, at); first < end; first++ {
			sum += r.up[first] * sums[r.above[first]]
		}
		sums[at] = sum / r.finalGain(at)
	}
	rest := r.longer(sums, r.final, z)
	for i := range r.byClass {
		if r.byClass[i].endless() {
			m.classes[i].waiting += rest[i]
			m.classes[i].waitingServed = m.classes[i].waiting
		}
	}
	longer := r.longer(a, r.final, z)
	for i := range r.byClass {
		if r.byClass[i].endless() {
			m.classes[i].served += longer[i]
		}
	}
}
