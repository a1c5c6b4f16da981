package gang

import (
	"context"
	"math"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A grid is the box of the amounts in use, with the last resource varying fastest.
type grid struct {
	*problem
	stride []int
	cells  int
}

// maxCells limits the cells of a grid, which has five numbers for each: 2.7 GB. maxSteps limits the
// cells times classes times jobs, about a minute.
const (
	maxCells = 1 << 26
	maxSteps = 2e11
)

// newGrid returns the grid of a problem, and nil if it is too large.
func newGrid(p *problem) *grid {
	g := &grid{problem: p, stride: make([]int, len(p.amounts)), cells: 1}
	for r := len(p.amounts) - 1; r >= 0; r-- {
		g.stride[r] = g.cells
		if g.cells > maxCells/(p.amounts[r]+1) {
			return nil
		}
		g.cells *= p.amounts[r] + 1
	}
	return g
}

// steps returns the approximate number of additions of a convolution.
func (g *grid) steps() float64 {
	if len(g.classes) == 1 {
		return float64(g.cells) // one cell for each number of jobs
	}
	jobs := math.Inf(1)
	for r, n := range g.amounts {
		least, sum := n, 0
		for _, c := range g.classes {
			least = min(least, c.needs[r])
			sum += c.needs[r]
		}
		if least > 0 {
			jobs = min(jobs, float64(n/least))
		}
	}
	if math.IsInf(jobs, 1) { // each class leaves out a resource
		jobs = 0
		for _, n := range g.amounts {
			jobs += float64(n)
		}
	}
	return float64(g.cells) * float64(len(g.classes)) * max(jobs, 1) / 2
}

// rows calls visit with the first cell and the number of cells of each row of the last resource in
// the box from low to high, which is not empty.
func (g *grid) rows(low, high []int, visit func(start, count int)) {
	last := len(low) - 1
	at, start := append([]int(nil), low...), 0
	for r, x := range low {
		start += x * g.stride[r]
	}
	for {
		visit(start, high[last]-low[last]+1)
		r := last - 1
		for ; r >= 0 && at[r] == high[r]; r-- {
			start -= (high[r] - low[r]) * g.stride[r]
			at[r] = low[r]
		}
		if r < 0 {
			return
		}
		at[r]++
		start += g.stride[r]
	}
}

// offset returns the distance between the cells before and after a job of class k starts.
func (g *grid) offset(k int) int {
	d := 0
	for r, w := range g.classes[k].needs {
		d += w * g.stride[r]
	}
	return d
}

// room returns the cells in which a job of class k still fits, as a box from 0.
func (g *grid) room(k int) []int {
	high := make([]int, len(g.amounts))
	for r, w := range g.classes[k].needs {
		high[r] = g.amounts[r] - w
	}
	return high
}

// box returns the smallest and the largest amounts that m jobs can take, and false if they cannot
// fit.
func (g *grid) box(m int) (low, high []int, ok bool) {
	low, high, ok = make([]int, len(g.amounts)), make([]int, len(g.amounts)), true
	for r := range low {
		low[r] = g.classes[0].needs[r]
		for _, c := range g.classes {
			low[r], high[r] = min(low[r], c.needs[r]), max(high[r], c.needs[r])
		}
		low[r], high[r] = m*low[r], min(m*high[r], g.amounts[r])
		ok = ok && low[r] <= high[r]
	}
	return low, high, ok
}

// blocked returns t(s), the share of the classes that do not fit if the amounts s are in use.
func (g *grid) blocked() []float64 {
	t := make([]float64, g.cells)
	for k, p := range g.load {
		for s, fits := range g.fitting(k) {
			if !fits {
				t[s] += p
			}
		}
	}
	return t
}

// fitting reports for each cell whether a job of class k still fits.
func (g *grid) fitting(k int) []bool {
	fits := make([]bool, g.cells)
	g.rows(make([]int, len(g.amounts)), g.room(k), func(start, count int) {
		for s := start; s < start+count; s++ {
			fits[s] = true
		}
	})
	return fits
}

// A convolution holds the sums over the numbers m of jobs that fit.
type convolution struct {
	mean       arithmetic.Number // E[1/N]
	derivative []float64         // ∂E[1/N]/∂p_k
}

// convolve returns E[1/N] in float64. With a_m(s) the probability that the first m jobs fit and
// take s,
//
//	a_{m+1}(s+w_k) += p_k a_m(s),  P(N=m) = Σ_s a_m(s) t(s),  E[1/N] = Σ_m P(N=m)/m,
//
// where t(s) is the share of the classes that do not fit next to s. All terms are positive. Each
// a_m(s) has at most m(K+1) roundings, K classes, and the sums have one for each cell of a row and
// for each row, so the relative error is at most (1+u)^c - 1 for their count c. Products below
// 2^-1022 change a sum by less than 2^-1074 each; all are probabilities, so together they are
// negligible next to E[1/N] >= 1/(number of cells).
//
// Given N = m, the first m jobs are exchangeable. So one of them is of class k with the probability
// that the first is, and the other m-1 take s with probability a_{m-1}(s):
//
//	∂E[1/N]/∂p_k = Σ_s A(s) t(s+w_k) + Σ_s B(s) [w_k does not fit next to s],
//	A = Σ_m a_{m-1},  B = Σ_m a_m/m,
//
// where the first sum is over s next to which w_k fits.
func (g *grid) convolve(ctx context.Context) (*convolution, error) {
	t := g.blocked()
	a, next := make([]float64, g.cells), make([]float64, g.cells)
	all, parts := make([]float64, g.cells), make([]float64, g.cells) // A, B
	a[0], all[0] = 1, 1
	sum, rows, jobs := 0.0, g.cells/(g.amounts[len(g.amounts)-1]+1), 0
	for m := 1; ; m++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !g.advance(a, next, m) {
			break
		}
		a, next, jobs = next, a, m
		low, high, _ := g.box(m)
		ends, inverse := 0.0, 1/float64(m)
		g.rows(low, high, func(start, count int) {
			part := 0.0
			for s, x := range a[start : start+count] {
				part += x * t[start+s]
				all[start+s] += x
				parts[start+s] += x * inverse
			}
			ends += part
		})
		sum += ends * inverse
	}
	width := g.amounts[len(g.amounts)-1] + 1
	count := float64(jobs)*float64(len(g.classes)+2) + float64(width+rows+jobs+len(g.classes)) + 8
	c := &convolution{mean: arithmetic.FromFloat(sum, arithmetic.Roundings(count))}
	for k := range g.classes {
		d, away := g.offset(k), 0.0
		for _, x := range parts {
			away += x
		}
		within := 0.0
		g.rows(make([]int, len(g.amounts)), g.room(k), func(start, count int) {
			for s := start; s < start+count; s++ {
				within += all[s]*t[s+d] - parts[s]
			}
		})
		c.derivative = append(c.derivative, within+away)
	}
	return c, nil
}

// advance sets next to the distribution after one more job, the m-th, and reports whether any fits.
func (g *grid) advance(a, next []float64, m int) bool {
	from, to, ok := g.box(m - 1)
	low, high, fits := g.box(m)
	if !ok || !fits {
		return false
	}
	g.rows(low, high, func(start, count int) { clear(next[start : start+count]) })
	some := false
	for k := range g.classes {
		p, d, high := g.load[k], g.offset(k), g.room(k)
		empty := false
		for r := range high {
			high[r] = min(high[r], to[r])
			empty = empty || high[r] < from[r]
		}
		if empty {
			continue
		}
		g.rows(from, high, func(start, count int) {
			x := a[start : start+count]
			y := next[start+d : start+d+count]
			for s, v := range x {
				y[s] += p * v
			}
			some = some || slices.ContainsFunc(x, func(v float64) bool { return v > 0 })
		})
	}
	return some
}

// convolveExact returns E[1/N] and its derivatives as fractions. The shares are integers over a
// common denominator, so a_m(s) is an integer over its m-th power.
func (g *grid) convolveExact(ctx context.Context) (mean *big.Rat, derivative []*big.Rat, err error) {
	shares, unit := g.integerShares()
	t := make([]*big.Int, g.cells)
	fits := make([][]bool, len(g.classes))
	for s := range t {
		t[s] = new(big.Int)
	}
	for k := range g.classes {
		fits[k] = g.fitting(k)
		for s, ok := range fits[k] {
			if !ok {
				t[s].Add(t[s], shares[k])
			}
		}
	}
	a := map[int]*big.Int{0: big.NewInt(1)}
	scale := big.NewInt(1) // unit^m
	mean = new(big.Rat)
	derivative = make([]*big.Rat, len(g.classes))
	for k := range derivative {
		derivative[k] = new(big.Rat)
	}
	// Each sum is over m, with the denominator unit^(m+1) and for some terms also m.
	for m := 0; len(a) > 0; m++ {
		next, x := map[int]*big.Int{}, new(big.Int)
		ends := new(big.Int)
		within, away := make([]*big.Int, len(g.classes)), make([]*big.Int, len(g.classes))
		for k := range g.classes {
			within[k], away[k] = new(big.Int), new(big.Int)
		}
		for s, v := range a {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			ends.Add(ends, x.Mul(v, t[s]))
			for k, share := range shares {
				if !fits[k][s] {
					away[k].Add(away[k], v)
					continue
				}
				to := s + g.offset(k)
				within[k].Add(within[k], x.Mul(v, t[to]))
				y := next[to]
				if y == nil {
					y = new(big.Int)
					next[to] = y
				}
				y.Add(y, x.Mul(v, share))
			}
		}
		over := new(big.Int).Mul(scale, unit)
		for k := range g.classes {
			derivative[k].Add(derivative[k], new(big.Rat).SetFrac(within[k], over))
		}
		if m > 0 {
			count := big.NewInt(int64(m))
			mean.Add(mean, new(big.Rat).SetFrac(ends, new(big.Int).Mul(over, count)))
			for k := range g.classes {
				derivative[k].Add(derivative[k], new(big.Rat).SetFrac(away[k], new(big.Int).Mul(scale, count)))
			}
		}
		a, scale = next, over
	}
	return mean, derivative, nil
}

// gridError returns the error for a grid beyond its limits.
func gridError() error {
	return &num.TooLargeError{
		Input: input.Errorf("servers", "a grid of their amounts", "at most %d cells and %.0e steps for the "+
			"throughput limit (divide amounts and needs by a common unit)", maxCells, float64(maxSteps)),
		Instead: []num.Remedy{num.Simulation},
	}
}
