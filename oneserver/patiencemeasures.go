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

// waitMeasures are the measures of a class. With V the time after which a job would start if it did
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
	servedBy           []float64 // by group, the fraction of all jobs that its servers serve

	quantiles, servedQuantiles []float64 // of W, over all jobs and over those that are served
}

// A patienceQuestion holds times at which probabilities are requested, and the probabilities of
// exceeding percentiles.
type patienceQuestion struct{ times, tails []float64 }

// probabilities lists the probabilities.
func (m *waitMeasures) probabilities() []float64 {
	return slices.Concat([]float64{m.idle, m.wait, m.served, m.abandoned}, m.within, m.servedSoon)
}

// measure solves the equations of a part on steps with these ends, and returns the measures.
func (r *race) measure(ctx context.Context, ask patienceQuestion, grid []float64, maxBytes int64) (
	*patienceMeasures, error,
) {
	back, err := r.solveBack(ctx, grid, maxBytes)
	if err != nil {
		return nil, err
	}
	n, times := len(grid)-1, ask.times
	m := r.start(back.first, times)
	var tails *waitTails
	if len(ask.tails) > 0 {
		tails = newWaitTails(len(r.byClass), n)
	}
	a := slices.Clone(r.weights)
	ahead := make([][stages]float64, r.States)
	for k := 1; k <= n; k++ {
		g := back.grade(k)
		u, inner, err := back.solved(ctx, k, g)
		if err != nil {
			return nil, err
		}
		z := product(a, u)
		r.addPoint(m, grid[k-1], a, u, z, times)
		tails.addPoint(r, k-1, a, u, z)
		if err := r.forth(ctx, g, a, ahead); err != nil {
			return nil, err
		}
		tails.addStep(k-1, r.addStep(m, g, ahead, inner, z, times))
		rescale(a)
		if tails == nil {
			back.drop(k)
		}
	}
	z := product(a, r.final)
	r.addPoint(m, grid[n], a, r.final, z, times)
	tails.addPoint(r, n, a, r.final, z)
	r.addEndless(m, a)
	if tails == nil {
		return m, nil
	}
	tails.finish(r)
	return m, r.addQuantiles(ctx, m, back, tails, ask.tails)
}

// A backward holds the numbers u at the ends of steps. It stores them at as many ends as fit into
// the memory, and also at the nodes, with the grades of the steps, if all fit. It recomputes the
// others.
type backward struct {
	r      *race
	grid   []float64
	stride int         // steps between stored numbers
	stored [][]float64 // by step
	from   int         // the first step since the last recomputation
	nodes  [][][stages]float64
	grades []*grade
	first  []float64 // at 0
	inner  [][stages]float64
}

// solveBack solves u from the last end to 0.
func (r *race) solveBack(ctx context.Context, grid []float64, maxBytes int64) (*backward, error) {
	n := len(grid) - 1
	b := &backward{
		r:      r,
		grid:   grid,
		stride: 1,
		stored: make([][]float64, n+1),
		inner:  make([][stages]float64, r.States),
	}
	need := 8 * float64(r.States) * float64(n)
	if need > float64(maxBytes)/2 {
		b.stride = int(math.Ceil(math.Sqrt(float64(n))))
	}
	if need*(stages+1)+float64(n)*r.bytesOfGrade() < float64(maxBytes)/2 {
		b.nodes, b.grades = make([][][stages]float64, n+1), make([]*grade, n+1)
	}
	u := slices.Clone(r.final)
	for k := n; k > 0; k-- {
		if k%b.stride == 0 || k == n {
			b.stored[k] = slices.Clone(u)
		}
		if b.nodes != nil {
			b.inner = make([][stages]float64, r.States)
			b.nodes[k] = b.inner
			b.grades[k] = r.newGrade(grid[k-1], grid[k]-grid[k-1])
		}
		moved, err := b.step(ctx, k, u)
		if err != nil {
			return nil, err
		}
		if moved { // the numbers at the nodes and at the start differ in unit
			b.nodes[k] = nil
		}
	}
	b.first = u
	return b, nil
}

// step moves u from the end of step k to its start, and reports whether it was rescaled.
func (b *backward) step(ctx context.Context, k int, u []float64) (bool, error) {
	if err := b.r.back(ctx, b.grade(k), u, b.inner); err != nil {
		return false, err
	}
	return rescale(u), nil
}

// grade returns the grade of step k.
func (b *backward) grade(k int) *grade {
	if b.grades != nil {
		return b.grades[k]
	}
	return b.r.newGrade(b.grid[k-1], b.grid[k]-b.grid[k-1])
}

// at returns u at the end of step k, computed from the next stored numbers if necessary.
func (b *backward) at(ctx context.Context, k int) ([]float64, error) {
	if b.stored[k] == nil {
		last := min((k/b.stride+1)*b.stride, len(b.grid)-1)
		for l := b.from; l < min(b.from+b.stride, k); l++ { // those recomputed last
			if l%b.stride != 0 {
				b.stored[l] = nil
			}
		}
		b.from = k
		u := slices.Clone(b.stored[last])
		for l := last; l > k; l-- {
			if _, err := b.step(ctx, l, u); err != nil {
				return nil, err
			}
			b.stored[l-1] = slices.Clone(u)
		}
	}
	return b.stored[k], nil
}

// solved returns u at the start of step k, a grade, and at its nodes.
func (b *backward) solved(ctx context.Context, k int, g *grade) (u []float64, inner [][stages]float64, err error) {
	switch {
	case b.nodes == nil || b.nodes[k] == nil:
	case k == 1:
		return b.first, b.nodes[k], nil
	default:
		return b.stored[k-1], b.nodes[k], nil
	}
	end, err := b.at(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	u = slices.Clone(end)
	return u, b.inner, b.r.back(ctx, g, u, b.inner)
}

// drop forgets step k, after all before it.
func (b *backward) drop(k int) {
	b.stored[k-1] = nil
	if b.nodes != nil {
		b.nodes[k], b.grades[k] = nil, nil
	}
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
	direct := r.direct(u, z)
	for i := range r.byClass {
		c := waitMeasures{idle: idle[i], wait: wait[i], served: idle[i], servedBy: direct[i]}
		if r.byClass[i].none() {
			c.wait = 0
		}
		c.within, c.servedSoon = make([]float64, len(times)), make([]float64, len(times))
		for k := range times {
			c.within[k], c.servedSoon[k] = idle[i], idle[i]
		}
		m.classes = append(m.classes, c)
	}
	return m
}

// direct returns, by class and group, the fraction of the jobs that start on the group without
// waiting. Going back in time from the present, the servers that are idle become busy, one after
// the other: the longer a server has been idle, the later. A job takes the last of its servers.
func (r *race) direct(u []float64, z float64) [][]float64 {
	by := make([][]float64, len(r.byClass))
	for i := range by {
		by[i] = make([]float64, len(r.groups))
	}
	fraction := make([]float64, len(r.byClass))
	reach := make([]float64, r.States) // probability that this happens through a state
	for at := range u {
		reach[at] += r.weights[at] * u[at] / z
		for first, end := span(r.insideEnd, at); first < end; first++ {
			fraction[r.inside[first]] = r.fractions[first]
		}
		for b, last := span(r.aboveEnd, at); b < last; b++ {
			next := int(r.above[b])
			p := reach[at] * r.rise[b]
			reach[next] += p
			for first, end := span(r.insideEnd, next); first < end; first++ {
				i := r.inside[first]
				by[i][r.aboveGroup[b]] += p * (r.fractions[first] - fraction[i])
			}
		}
		for first, end := span(r.insideEnd, at); first < end; first++ {
			fraction[r.inside[first]] = 0
		}
	}
	return by
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

// addStep adds the integrals over a step. It returns the fractions of jobs of each class that start
// in it.
func (r *race) addStep(m *patienceMeasures, g *grade, a, u [][stages]float64, z float64, times []float64) []float64 {
	clear(r.sums)
	classes, fraction := len(r.byClass), r.fraction
	longer, density, own := r.sums[:classes], r.sums[classes:2*classes], r.sums[2*classes:] // π and f at the nodes
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
				sum, part, w := &density[i], &own[int(i)*len(r.groups)+int(r.belowGroup[b])], &u[low]
				for j := range sum {
					x := rate * v[j] * w[j]
					sum[j] += x
					part[j] += x
				}
			}
			for first, end := span(r.insideEnd, low); first < end; first++ {
				fraction[r.inside[first]] = 0
			}
		}
	}
	begun := make([]float64, len(r.byClass))
	for i := range r.byClass {
		c := &m.classes[i]
		r.integrate(c, &r.byClass[i], g, &g.tail[i], &longer[i], &density[i], z, times)
		for group := range c.servedBy {
			for j, x := range own[i*len(r.groups)+group] {
				served := g.h * r.method.weights[j] / z * x * g.tail[i][j]
				c.servedBy[group] += served
				begun[i] += served
			}
		}
	}
	return begun
}

// integrate adds the integrals of a class over a step.
func (r *race) integrate(
	c *waitMeasures, own *patience, g *grade, tail, longer, density *[stages]float64, z float64, times []float64,
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
		case own.endless() || len(own.atoms) > 0:
		case own.density != nil:
			lost := weight * longer[j] * own.density.Density(x)
			c.abandoned += lost
			c.waitingAbandoned += x * lost
		default: // P(gave up) = ∫ (1-g) f, E[W; gave up] = E[W] - E[W; served]
			c.abandoned += begin * own.CDF(x)
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
	fraction := make([]float64, len(r.byClass))
	for at := range sums {
		first, end := span(r.insideEnd, at)
		for b, last := span(r.belowEnd, at); b < last; b++ {
			low := int(r.below[b])
			for first, end := span(r.insideEnd, low); first < end; first++ {
				fraction[r.inside[first]] = r.fractions[first]
			}
			for k := first; k < end; k++ {
				if i := r.inside[k]; r.byClass[i].endless() {
					rate := (r.fractions[k] - fraction[i]) * r.down[b]
					m.classes[i].servedBy[r.belowGroup[b]] += rate * sums[at] * r.final[low] / z
				}
			}
			for first, end := span(r.insideEnd, low); first < end; first++ {
				fraction[r.inside[first]] = 0
			}
		}
	}
}
