package markov

import (
	"context"
	"math"
)

// A level is a chain on a grid with a measure that the method makes stationary: the multiplicative
// multigrid method of Horton and Leutenegger, "A multi-level solution algorithm for steady-state
// Markov chains", SIGMETRICS 1994. Gauss-Seidel sweeps smooth differences between neighbours. A
// chain of blocks of two states in some coordinates, with the rates that the measure implies
// between blocks, corrects the rest: its stationary measure gives the factor by which to multiply
// each block. Rates between blocks are not divided by the mass of the block, so the measure on the
// coarser level is the factor itself, which is near 1. Sweeps have little effect along a coordinate
// that moves far more slowly than another. Blocks are therefore formed only along coordinates that
// move at least a third as fast as the fastest, which halves their speed on the coarser level.
//
// Between two blocks of two states, one pair of neighbours has flows a and b in the two directions,
// so factors u and v change the net flow by (a+b)/2 (u-v) in addition to (a-b)/2 (u+v). But u-v is
// the difference over two states: if the factor is smooth, each pair has half of it. So blocks are
// coupled twice as strongly as their states, and on every level the factors would be only half as
// far from 1 as they should be. [level.loosen] subtracts half the smaller flow from both, which
// preserves the net flow between blocks of factor 1. (Other piecewise constant corrections are also
// too small: D. Braess, "Towards algebraic multigrid for elliptic problems of second order",
// Computing 55, 1995.) With this, 10 to 20 cycles suffice instead of 60 to 100.
type level struct {
	g       *Chain
	pi      []float64 // at pad + number of the state, like the rates
	inverse []float64 // inverse of the sum of the rates from a state; 0 if these rates are 0 or negligible
	inflow  []float64 // buffer for a line
	block   []int     // number of states of a block, 1 or 2 in each coordinate
	coarse  *level    // nil if this level is solved by elimination
	lineOf  []int     // for each line, its line on the coarser level
}

const (
	eliminatedStates = 1500 // largest number of states of a level solved by elimination, in a millisecond
	mostCycles       = 300  // enough for 1e-13 with a factor of 0.9; slower iterations fail
)

// newLevel returns a level and those below it; speed[k] is the rate of moves in coordinate k.
func newLevel(g *Chain, speed []float64) *level {
	n := g.States + 2*pad
	l := &level{
		g:       g,
		pi:      make([]float64, n),
		inverse: make([]float64, n),
		inflow:  make([]float64, g.Size[len(g.Size)-1]),
	}
	if g.States <= eliminatedStates {
		return l
	}
	var fastest float64
	for k, v := range speed {
		if g.Size[k] > 1 {
			fastest = max(fastest, v)
		}
	}
	slower := make([]float64, len(speed))
	l.block = make([]int, len(speed))
	for k, v := range speed {
		l.block[k], slower[k] = 1, v
		if 3*v >= fastest {
			l.block[k], slower[k] = 2, v/2
		}
	}
	blocks := g.coarser(l.block)
	l.lineOf = g.linesOf(l.block, blocks.Size)
	l.coarse = newLevel(NewChain(blocks), slower)
	return l
}

// Iterate returns a stationary measure, and an estimate of the relative error of the means. If
// changes shrink by a factor f per cycle, the estimate is twice the last change times f/(1-f). It
// is doubled because changes may still contain components that shrink more slowly than the measured
// f. A change smaller than f predicts counts as predicted, because a larger one may follow. Iterate
// stops when the error is below tol/10 or no longer improves.
func (g *Chain) Iterate(ctx context.Context, start, speed []float64, tol float64) (
	pi []float64, measured float64, err error,
) {
	l := newLevel(g, speed)
	copy(l.pi[pad:], start)
	l.addExits()
	mean := g.means(l.pi[pad:])
	previous, worst := 1.0, 0.0
	for cycle := range mostCycles {
		l.cycle(ctx)
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		now := g.means(l.pi[pad:])
		var change float64
		for k := range now {
			change = max(change, math.Abs(now[k]-mean[k])/now[k])
		}
		factor := 0.5 // one lucky cycle does not determine the speed
		if change > factor*previous {
			factor = min(change/previous, 0.99) // at 1 the sum diverges
		}
		worst = max(factor, worst*0.8) // worst of the last cycles: 0.99 * 0.8^3 is the lowest factor
		foretold := max(change, previous*worst)
		measured = 2*foretold*worst/(1-worst) + 1e-14 // includes the rounding of the means
		mean, previous = now, change
		if cycle >= 4 && (measured < tol/10 || change < 1e-14) {
			break
		}
	}
	return l.pi[pad : pad+g.States], measured, nil
}

// means returns the mean coordinates.
func (g *Chain) means(pi []float64) []float64 {
	mean := make([]float64, len(g.Size))
	var mass float64
	last := len(g.Size) - 1
	for i, l := range g.lines {
		var sum, moment float64
		for n, p := range pi[l.at+l.from : l.at+l.to] {
			sum += p
			moment += float64(l.from+n) * p
		}
		for k, stride := range g.stride {
			mean[k] += sum * float64(i/stride%g.Size[k])
		}
		mean[last] += moment
		mass += sum
	}
	for k := range mean {
		mean[k] /= mass
	}
	return mean
}

// addExits sets the inverse of the sum of the rates from each state.
func (l *level) addExits() {
	const least = 1e-300 // smallest rate with an inverse
	clear(l.inverse)
	for k := range l.g.Size {
		up, down := l.g.up[k], l.g.down[k]
		for s := range l.inverse {
			l.inverse[s] += up[s] + down[s]
		}
	}
	for s, exit := range l.inverse {
		l.inverse[s] = 0
		if exit >= least {
			l.inverse[s] = 1 / exit
		}
	}
}

// cycle improves the measure once: sweeps, one or two cycles on the coarser level, sweeps.
func (l *level) cycle(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	g, c := l.g, l.coarse
	if c == nil {
		pi, _, _ := g.Eliminate(ctx) // on cancellation nothing changes
		copy(l.pi[pad:], pi)
		return
	}
	l.sweep(true)
	l.sweep(false)
	l.coarsen()
	l.loosen()
	c.addExits()
	for s := range c.pi[pad : pad+c.g.States] {
		c.pi[pad+s] = 1
	}
	c.cycle(ctx)
	if c.coarse != nil && 3*c.g.States < g.States { // otherwise levels shrink too slowly for two cycles
		c.cycle(ctx)
	}
	l.correct()
	l.sweep(false)
	l.sweep(true)
}

// correct multiplies the measure by the factors that the coarser level has found.
func (l *level) correct() {
	block := l.block[len(l.block)-1]
	for i, line := range l.g.lines {
		pi, factor := l.pi[pad+line.at:], l.coarse.pi[pad+l.coarse.g.lines[l.lineOf[i]].at:]
		if block == 1 {
			for x := line.from; x < line.to; x++ {
				pi[x] *= factor[x]
			}
			continue
		}
		for x := line.from; x < line.to; x++ {
			pi[x] *= factor[x/2]
		}
	}
}

// sweep sets π_s to inflow divided by exit rate, one state after another.
func (l *level) sweep(forward bool) {
	n := len(l.g.lines)
	for i := range n {
		if forward {
			l.sweepLine(i, true)
		} else {
			l.sweepLine(n-1-i, false)
		}
	}
}

// sweepLine does the same for the states of line i. It first sums the inflow from other lines; each
// state then depends on the previous one only through a multiplication and an addition.
func (l *level) sweepLine(i int, forward bool) {
	g, at := l.g, l.g.lines[i]
	n, last := at.to-at.from, len(g.Size)-1
	if n <= 0 {
		return
	}
	inflow, s := l.inflow[:n], pad+at.at+at.from
	clear(inflow)
	for k := range g.stride {
		before, after := l.neighbourLine(i, k, -1), l.neighbourLine(i, k, 1)
		from, to := max(at.from, before.from, after.from), min(at.to, before.to, after.to) // the common interval
		if from >= to {
			from, to = at.to, at.to
		} else {
			b, a, n := pad+before.at+from, pad+after.at+from, to-from
			addPairs(inflow[from-at.from:to-at.from], l.pi[b:b+n], g.up[k][b:b+n], l.pi[a:a+n], g.down[k][a:a+n])
		}
		for _, ends := range [2]line{{from: at.from, to: from}, {from: to, to: at.to}} {
			l.addInflow(inflow, at.from, ends, before, g.up[k])
			l.addInflow(inflow, at.from, ends, after, g.down[k])
		}
	}
	up, down, inverse, line := g.up[last][s-1:s-1+n], g.down[last][s+1:s+1+n], l.inverse[s:s+n], l.pi[s:s+n]
	if forward {
		next := l.pi[s+1 : s+1+n]
		p := l.pi[s-1]
		for i, in := range inflow {
			v := inverse[i]
			p = (in+next[i]*down[i])*v + p*(up[i]*v)
			line[i] = p
		}
		return
	}
	before := l.pi[s-1 : s-1+n]
	p := l.pi[s+n]
	for i := n - 1; i >= 0; i-- {
		v := inverse[i]
		p = (inflow[i]+before[i]*up[i])*v + p*(down[i]*v)
		line[i] = p
	}
}

// neighbourLine returns the line next to line i in coordinate k, which has no states outside the
// box.
func (l *level) neighbourLine(i, k, step int) line {
	if n := l.g.neighbourLine(i, k, step); n >= 0 {
		return l.g.lines[n]
	}
	return line{}
}

// addInflow adds the flows at these rates from the states of another line to an interval of the
// adjacent line. The slice inflow starts at state first.
func (l *level) addInflow(inflow []float64, first int, interval, other line, rate []float64) {
	from, to := max(interval.from, other.from), min(interval.to, other.to)
	if from < to {
		s := pad + other.at
		addBlocks(inflow[from-first:], l.pi[s+from:s+to], rate[s+from:s+to], 0, 1)
	}
}

// addPairs adds p_i r_i + q_i t_i to the sums.
func addPairs(sum, p, r, q, t []float64) {
	n := len(sum)
	p, r, q, t = p[:n], r[:n], q[:n], t[:n]
	for i, x := range sum {
		sum[i] = x + p[i]*r[i] + q[i]*t[i]
	}
}

// coarsen sets the rates of the coarser level to the flows between blocks.
func (l *level) coarsen() {
	g, c := l.g, l.coarse.g
	for k := range c.Size {
		clear(c.up[k])
		clear(c.down[k])
	}
	last := len(g.Size) - 1
	block := l.block[last]
	for i, line := range g.lines {
		if line.from >= line.to {
			continue
		}
		s, n := pad+line.at+line.from, line.to-line.from
		first := pad + c.lines[l.lineOf[i]].at + line.from/block
		p, odd := l.pi[s:s+n], line.from%block
		for k, stride := range g.stride {
			x := i / stride % g.Size[k]
			if (x+1)%l.block[k] == 0 {
				addBlocks(c.up[k][first:], p, g.up[k][s:s+n], odd, block)
			}
			if x%l.block[k] == 0 {
				addBlocks(c.down[k][first:], p, g.down[k][s:s+n], odd, block)
			}
		}
		up, down := g.up[last][s:s+n], g.down[last][s:s+n]
		if block == 1 {
			addBlocks(c.up[last][first:], p, up, 0, 1)
			addBlocks(c.down[last][first:], p, down, 0, 1)
			continue
		}
		for i := odd; i < n; i += 2 { // even coordinates lead down to another block, odd ones up
			c.down[last][first+(i+odd)/2] += p[i] * down[i]
		}
		for i := 1 - odd; i < n; i += 2 {
			c.up[last][first+(i+odd)/2] += p[i] * up[i]
		}
	}
}

// loosen reduces the flows between blocks of two states without changing net flows.
func (l *level) loosen() {
	c, last := l.coarse.g, len(l.block)-1
	for i, at := range c.lines {
		for k := range c.stride {
			n := c.neighbourLine(i, k, 1)
			if l.block[k] == 1 || n < 0 {
				continue
			}
			o := c.lines[n]
			from, to := max(at.from, o.from), min(at.to, o.to)
			if from < to {
				loosen(c.up[k][pad+at.at+from:pad+at.at+to], c.down[k][pad+o.at+from:])
			}
		}
		if l.block[last] == 2 && at.to-at.from > 1 {
			s := pad + at.at
			loosen(c.up[last][s+at.from:s+at.to-1], c.down[last][s+at.from+1:])
		}
	}
}

// loosen subtracts half the smaller of the two flows between the same blocks from both.
func loosen(up, down []float64) {
	down = down[:len(up)]
	for b, back := range down {
		less := min(up[b], back) / 2
		up[b] -= less
		down[b] = back - less
	}
}

// addBlocks adds p_i r_i to the sum of the block of i. Blocks have one or two states; if odd is 1,
// the first block of two has only one.
func addBlocks(sum, p, r []float64, odd, block int) {
	n := len(p)
	r = r[:n]
	if block == 1 {
		sum = sum[:n]
		for i, x := range p {
			sum[i] += x * r[i]
		}
		return
	}
	if odd == 1 {
		sum[0] += p[0] * r[0]
		sum, p, r, n = sum[1:], p[1:], r[1:], n-1
	}
	for i := 0; i+1 < n; i += 2 {
		sum[i/2] += p[i]*r[i] + p[i+1]*r[i+1]
	}
	if n%2 == 1 {
		sum[n/2] += p[n-1] * r[n-1]
	}
}
