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
type level struct {
	g      *Chain
	pi     []float64 // at pad + number of the state, as the rates
	exit   []float64 // sum of the rates from a state
	block  []int     // states of a block, 1 or 2 in each coordinate
	coarse *level    // nil if this level is solved by elimination
}

const (
	eliminatedStates = 1500 // levels with at most so many states are solved by elimination, in a millisecond
	mostCycles       = 300  // a factor of 0.9 gives 1e-13 by then; what is slower is given up
)

// newLevel returns a level and those below it; speed[k] is the rate of moves in coordinate k.
func newLevel(g *Chain, speed []float64) *level {
	l := &level{g: g, pi: make([]float64, g.States+2*g.pad), exit: make([]float64, g.States+2*g.pad)}
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
		factor := min(max(change/previous, 0.5), 0.99) // one lucky cycle shows no speed; 1 has no sum
		worst = max(factor, worst*0.8)                 // of the last cycles: 0.99 * 0.8^3 is the lowest factor
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

func (l *level) addExits() {
	clear(l.exit)
	for k := range l.g.Size {
		up, down := l.g.up[k], l.g.down[k]
		for s := range l.exit {
			l.exit[s] += up[s] + down[s]
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
	block := l.coarsen()
	for s := c.g.pad; s < c.g.pad+c.g.States; s++ {
		c.pi[s] = 1
	}
	c.cycle(ctx)
	if c.coarse != nil && 3*c.g.States < g.States { // otherwise levels shrink too slowly to go twice
		c.cycle(ctx)
	}
	for s, b := range block {
		l.pi[g.pad+s] *= c.pi[b]
	}
	l.sweep(false)
	l.sweep(true)
}

// sweep sets π_s to inflow over exit rate, one state after the other.
func (l *level) sweep(forward bool) {
	g := l.g
	from, to, step := g.pad, g.pad+g.States, 1
	if !forward {
		from, to, step = to-1, from-1, -1
	}
	if len(g.Size) == 3 {
		l.sweep3(from, to, step)
		return
	}
	for s := from; s != to; s += step {
		if l.exit[s] == 0 {
			continue
		}
		var inflow float64
		for k, stride := range g.Stride {
			inflow += l.pi[s-stride]*g.up[k][s-stride] + l.pi[s+stride]*g.down[k][s+stride]
		}
		l.pi[s] = inflow / l.exit[s]
	}
}

// sweep3 is sweep for three coordinates.
func (l *level) sweep3(from, to, step int) {
	pi, exit, a, b := l.pi, l.exit, l.g.Stride[0], l.g.Stride[1]
	up0, up1, up2 := l.g.up[0], l.g.up[1], l.g.up[2]
	down0, down1, down2 := l.g.down[0], l.g.down[1], l.g.down[2]
	for s := from; s != to; s += step {
		if exit[s] != 0 {
			pi[s] = (pi[s-a]*up0[s-a] + pi[s+a]*down0[s+a] + pi[s-b]*up1[s-b] + pi[s+b]*down1[s+b] +
				pi[s-1]*up2[s-1] + pi[s+1]*down2[s+1]) / exit[s]
		}
	}
}

// coarsen sets the rates of the coarser level to the flows between blocks, and returns the block of each state.
func (l *level) coarsen() []int32 {
	g, c := l.g, l.coarse.g
	for k := range c.Size {
		clear(c.up[k])
		clear(c.down[k])
	}
	block := make([]int32, g.States)
	x := make([]int, len(g.Size))
	for s := range block {
		b := c.pad
		for k, n := range x {
			b += n / l.block[k] * c.Stride[k]
		}
		block[s] = int32(b)
		p := l.pi[g.pad+s]
		for k, n := range x {
			if (n+1)%l.block[k] == 0 {
				c.up[k][b] += p * g.up[k][g.pad+s]
			}
			if n%l.block[k] == 0 {
				c.down[k][b] += p * g.down[k][g.pad+s]
			}
		}
		g.Next(x)
	}
	l.coarse.addExits()
	return block
}
