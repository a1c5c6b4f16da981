package markov

import (
	"context"
	"math"
)

// A level is a chain on a grid with a measure that is to become stationary. The multiplicative multigrid method (Horton
// and Leutenegger, "A multi-level solution algorithm for steady-state Markov chains", SIGMETRICS 1994) improves it by
// Gauss-Seidel sweeps, which even out what neighbours disagree on, and by a chain of blocks of two states in some
// coordinates: with the rates that the measure gives between blocks, its stationary measure says by what factor each
// block is to be multiplied. Rates between blocks are not divided by the mass of the block, so the measure to look for
// on the coarser level is the factor itself, near 1. Sweeps are of little use along a coordinate that moves far more
// slowly than another, so blocks are made only along those that move at least a third as fast as the fastest, which
// halves their speed on the coarser level.
//
// Between two blocks of two states the flows of one pair of neighbours go each way, a and b, so that factors u and v
// change the net flow by (a+b)/2 (u-v) beside (a-b)/2 (u+v). But u-v is the difference over two states: along a smooth
// factor each pair has half of it. So blocks hold together twice as firmly as their states do, and the factors found would be
// half as far from 1 as they should be, on every level. [level.loosen] takes half the smaller flow from both, which leaves
// the net flow between blocks of factor 1. (Piecewise constant corrections are too small elsewhere, too: D. Braess,
// "Towards algebraic multigrid for elliptic problems of second order", Computing 55, 1995.) So 10 to 20 cycles do what
// otherwise takes 60 to 100.
type level struct {
	g       *Chain
	pi      []float64 // at pad + number of the state, as the rates
	inverse []float64 // of the sum of the rates from a state; 0 where none leaves, or hardly any
	inflow  []float64 // room for a line
	block   []int     // states of a block, 1 or 2 in each coordinate
	coarse  *level    // nil if this level is solved by elimination
}

const (
	eliminatedStates = 1500 // levels with at most so many states are solved by elimination, in a millisecond
	mostCycles       = 300  // a factor of 0.9 gives 1e-13 by then; what is slower is given up
)

// newLevel returns a level and those below it; speed[k] is the rate of moves in coordinate k.
func newLevel(g *Chain, speed []float64) *level {
	l := &level{g: g, pi: make([]float64, g.States+2*g.pad), inverse: make([]float64, g.States+2*g.pad), inflow: make([]float64, g.Size[len(g.Size)-1])}
	if g.States <= eliminatedStates {
		return l
	}
	var fastest float64
	for k, v := range speed {
		if g.Size[k] > 1 {
			fastest = max(fastest, v)
		}
	}
	size, slower := make([]int, len(speed)), make([]float64, len(speed))
	l.block = make([]int, len(speed))
	for k, n := range g.Size {
		l.block[k], slower[k] = 1, speed[k]
		if 3*speed[k] >= fastest {
			l.block[k], slower[k] = 2, speed[k]/2
		}
		size[k] = (n + l.block[k] - 1) / l.block[k]
	}
	l.coarse = newLevel(NewChain(size), slower)
	return l
}

// Iterate returns a stationary measure, and twice the relative error of the means that the changes of the last cycles
// suggest: change times f/(1-f) if changes shrink by a factor f a cycle. Twice, since f is measured at changes that
// may still have parts which shrink more slowly. A change smaller than that factor foretold counts as foretold, for a
// larger one may follow. It stops when the error is below tol/10, or no longer improves.
func (g *Chain) Iterate(ctx context.Context, start, speed []float64, tol float64) (pi []float64, measured float64, err error) {
	l := newLevel(g, speed)
	copy(l.pi[g.pad:], start)
	l.addExits()
	mean := g.means(l.pi[g.pad:])
	previous, worst := 1.0, 0.0
	for cycle := range mostCycles {
		l.cycle(ctx)
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		now := g.means(l.pi[g.pad:])
		var change float64
		for k := range now {
			change = max(change, math.Abs(now[k]-mean[k])/now[k])
		}
		factor := 0.5 // one lucky cycle shows no speed
		if change > factor*previous {
			factor = min(change/previous, 0.99) // 1 has no sum
		}
		worst = max(factor, worst*0.8) // of the last cycles: 0.99 * 0.8^3 is the lowest factor
		foretold := max(change, previous*worst)
		measured = 2*foretold*worst/(1-worst) + 1e-14 // and the rounding of the means
		mean, previous = now, change
		if cycle >= 4 && (measured < tol/10 || change < 1e-14) {
			break
		}
	}
	return l.pi[g.pad : g.pad+g.States], measured, nil
}

// means returns the mean coordinates.
func (g *Chain) means(pi []float64) []float64 {
	mean, x := make([]float64, len(g.Size)), make([]int, len(g.Size))
	var mass float64
	last := g.Size[len(g.Size)-1]
	for s := 0; s < g.States; s += last {
		var line, moment float64
		for n, p := range pi[s : s+last] {
			line += p
			moment += float64(n) * p
		}
		for k := range len(x) - 1 {
			mean[k] += line * float64(x[k])
		}
		mean[len(x)-1] += moment
		mass += line
		x[len(x)-1] = last - 1
		g.Next(x)
	}
	for k := range mean {
		mean[k] /= mass
	}
	return mean
}

// addExits sets the inverse of the sum of the rates from each state.
func (l *level) addExits() {
	const least = 1e-300 // with an inverse
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
		pi, _, _ := g.Eliminate(ctx) // nothing is changed if the context is done
		copy(l.pi[g.pad:], pi)
		return
	}
	l.sweep(true)
	l.sweep(false)
	l.coarsen()
	l.loosen()
	c.addExits()
	for s := c.g.pad; s < c.g.pad+c.g.States; s++ {
		c.pi[s] = 1
	}
	c.cycle(ctx)
	if c.coarse != nil && 3*c.g.States < g.States { // otherwise levels shrink too slowly to go twice
		c.cycle(ctx)
	}
	l.correct()
	l.sweep(false)
	l.sweep(true)
}

// lines calls do with the places of the first states of each line along the last coordinate, here and in the coarser
// level, and with its other coordinates.
func (l *level) lines(do func(from, to int, x []int)) {
	g, c := l.g, l.coarse.g
	x := make([]int, len(g.Size))
	last := len(x) - 1
	for s := 0; s < g.States; s += g.Size[last] {
		to := c.pad
		for k, n := range x[:last] {
			to += n / l.block[k] * c.Stride[k]
		}
		do(g.pad+s, to, x)
		x[last] = g.Size[last] - 1
		g.Next(x)
	}
}

// correct multiplies the measure by the factors that the coarser level has found.
func (l *level) correct() {
	last := len(l.block) - 1
	n := l.g.Size[last]
	l.lines(func(from, to int, _ []int) {
		line, factor := l.pi[from:from+n], l.coarse.pi[to:]
		if l.block[last] == 1 {
			for i := range line {
				line[i] *= factor[i]
			}
			return
		}
		for i := range line {
			line[i] *= factor[i/2]
		}
	})
}

// sweep sets π_s to inflow over exit rate, one state after the other.
func (l *level) sweep(forward bool) {
	n := l.g.Size[len(l.g.Size)-1]
	for from := 0; from < l.g.States; from += n {
		if forward {
			l.sweepLine(l.g.pad+from, n, true)
		} else {
			l.sweepLine(l.g.pad+l.g.States-n-from, n, false)
		}
	}
}

// sweepLine does that for the n states of the line along the last coordinate that begins at place s of the tables. What
// comes from other lines is summed first; then each state waits for the one before it by no more than a multiplication
// and an addition.
func (l *level) sweepLine(s, n int, forward bool) {
	g, pi := l.g, l.pi
	inflow := l.inflow[:n]
	clear(inflow)
	last := len(g.Size) - 1
	for k, a := range g.Stride[:last] {
		below, up := pi[s-a:s-a+n], g.up[k][s-a:s-a+n]
		above, down := pi[s+a:s+a+n], g.down[k][s+a:s+a+n]
		for i := range inflow {
			inflow[i] += below[i]*up[i] + above[i]*down[i]
		}
	}
	up, down, inverse, line := g.up[last][s-1:s-1+n], g.down[last][s+1:s+1+n], l.inverse[s:s+n], pi[s:s+n]
	if forward {
		next := pi[s+1 : s+1+n]
		p := pi[s-1]
		for i, in := range inflow {
			v := inverse[i]
			p = (in+next[i]*down[i])*v + p*(up[i]*v)
			line[i] = p
		}
		return
	}
	before := pi[s-1 : s-1+n]
	p := pi[s+n]
	for i := n - 1; i >= 0; i-- {
		v := inverse[i]
		p = (inflow[i]+before[i]*up[i])*v + p*(down[i]*v)
		line[i] = p
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
	n := g.Size[last]
	l.lines(func(from, to int, x []int) {
		p := l.pi[from : from+n]
		for k, y := range x[:last] {
			if (y+1)%l.block[k] == 0 {
				addBlocks(c.up[k][to:], p, g.up[k][from:from+n], l.block[last])
			}
			if y%l.block[k] == 0 {
				addBlocks(c.down[k][to:], p, g.down[k][from:from+n], l.block[last])
			}
		}
		up, down := g.up[last][from:from+n], g.down[last][from:from+n]
		if l.block[last] == 1 {
			addBlocks(c.up[last][to:], p, up, 1)
			addBlocks(c.down[last][to:], p, down, 1)
			return
		}
		for i := 0; i < n; i += 2 {
			c.down[last][to+i/2] += p[i] * down[i]
			if i+1 < n {
				c.up[last][to+i/2] += p[i+1] * up[i+1]
			}
		}
	})
}

// loosen makes the flows between blocks of two states smaller, without changing the net ones.
func (l *level) loosen() {
	c := l.coarse.g
	for k, stride := range c.Stride {
		if l.block[k] == 1 {
			continue
		}
		up, down := c.up[k], c.down[k][stride:] // between the same blocks
		for b, back := range down {
			less := min(up[b], back) / 2
			up[b] -= less
			down[b] = back - less
		}
	}
}

// addBlocks adds p_i r_i to the sum of the block of i.
func addBlocks(sum, p, r []float64, block int) {
	if block == 1 {
		for i, x := range p {
			sum[i] += x * r[i]
		}
		return
	}
	n := len(p)
	for i := 0; i+1 < n; i += 2 {
		sum[i/2] += p[i]*r[i] + p[i+1]*r[i+1]
	}
	if n%2 == 1 {
		sum[n/2] += p[n-1] * r[n-1]
	}
}
