package gang

import (
	"context"
	"math"
)

// costs holds mean costs until the queue is in some state, by cost and phase of a level. The first
// cost is the time. The next ones are the times during which a job of each class would wait. The
// last ones are the integrals of the numbers of waiting jobs of each class.
type costs [][]float64

// add adds other costs.
func (c costs) add(d costs) {
	for k := range c {
		addTimes(c[k], 1, d[k])
	}
}

// solve overwrites the costs with the solutions of the equations of a factored matrix.
func (c costs) solve(f *factored) {
	for k := range c {
		f.solve(c[k])
	}
}

// newCosts returns costs that are 0.
func (q *queue) newCosts(phases int) costs {
	c := make(costs, 1+2*len(q.classes))
	for k := range c {
		c[k] = make([]float64, phases)
	}
	return c
}

// rates returns the rates of costs in the phases of a level.
func (q *queue) rates(level int) costs {
	c, n := q.newCosts(q.phases(level)), len(q.classes)
	for i := range c[0] {
		s := q.set(level, i)
		c[0][i] = 1
		for k, share := range q.load {
			if level > s.jobs || !s.fits[k] {
				c[1+k][i] = 1
			}
			if level > s.jobs {
				c[1+n+k][i] = q.waitingOf(s, level, k, share)
			}
		}
	}
	return c
}

// waitingOf returns the mean number of waiting jobs of class k next to a set of jobs in service: the
// head is one of the classes that do not fit, and the others have shares.
func (q *queue) waitingOf(s *set, level, k int, share float64) float64 {
	waiting := float64(level-s.jobs-1) * share
	if !s.fits[k] {
		waiting += share / s.stop
	}
	return waiting
}

// raise returns the costs after an arrival in each phase of a level, times its rate.
func (q *queue) raise(level int, after costs) costs {
	c := q.newCosts(q.phases(level))
	for i := range c[0] {
		q.up(level, i, func(to int, rate float64) {
			for k := range c {
				c[k][i] += rate * after[k][to]
			}
		})
	}
	return c
}

// drop returns the costs after a departure, times its rate.
func drop(down *matrix, after costs) costs {
	c := make(costs, len(after))
	for k := range c {
		c[k] = down.times(after[k])
	}
	return c
}

// A defectProblem holds what the bounds on the errors of a profile need.
type defectProblem struct {
	*profile
	g, above *matrix     // first passages and departures above level M
	factors  []*factored // B_ℓ
	drift    *factored   // F

	base, slope costs   // costs of a first passage from level M+j: base + j slope
	until       []costs // by level: costs until the queue is in its most likely state
}

// boundErrors bounds the errors of the means by the defects of the balance equations. The defect of
// an approximation is the approximation times Q. Let c be a cost and u a solution of Qu = π c - c.
// Then the error of the mean cost is the defect times u. Up to a constant, |u| is at most V + π(c) W,
// where V and W are the mean cost and the mean time until the queue is in its most likely state.
// Defects include the rounding errors of their computation. docs/theory.md has the proof.
//
// V and W are computed in float64, so the bound is not proved. It allows for errors of 1 %; those
// seen in tests are below 1e-9.
func (d *defectProblem) boundErrors(ctx context.Context) error {
	if err := d.findCosts(ctx); err != nil {
		return err
	}
	lost := make([]float64, 1+2*len(d.classes))
	if err := d.addLow(ctx, lost); err != nil {
		return err
	}
	d.addHigh(lost)
	d.addSums(lost)
	const slack = 1.01 // for the errors of V and W
	d.bound = 0
	waiting, waits := d.means()
	for k, x := range append(waits, waiting...) {
		if x > 0 {
			d.bound = max(d.bound, slack*(lost[1+k]/x+lost[0]))
		}
	}
	return nil
}

// findCosts sets the costs. From above the level of the most likely state they are sums of first
// passages down, B_ℓ τ_ℓ = c + up_ℓ τ_{ℓ+1}, and from below it of first passages up, with
//
//	C_ℓ = D_ℓ - down_ℓ H_{ℓ-1},  H_ℓ = C_ℓ⁻¹ up_ℓ,  C_ℓ σ_ℓ = c + down_ℓ σ_{ℓ-1}.
func (d *defectProblem) findCosts(ctx context.Context) error {
	n, classes := d.g.rows, len(d.classes)
	d.base, d.slope = d.newCosts(n), d.newCosts(n)
	times := d.base[0]
	for i := range times {
		times[i] = 1
	}
	d.drift.solve(times)
	for k, share := range d.load {
		copy(d.base[1+k], times)
		base, slope := d.base[1+classes+k], d.slope[1+classes+k]
		addTimes(slope, share, times)
		for i := range base {
			base[i] = d.waitingOf(d.set(d.most, i), d.most, k, share) + d.lambda*slope[i]
			base[i] = max(base[i], 0) // rounding: with M jobs in service it is 0 + λ slope
		}
		d.drift.solve(base)
	}
	level, phase := d.mostLikely()
	down, err := d.passagesDown(ctx, level)
	if err != nil {
		return err
	}
	up, upFactors, here, err := d.passagesUp(ctx, level)
	if err != nil {
		return err
	}
	// the level of the most likely state, seen only when the queue is there
	n = d.phases(level)
	rates := d.rates(level)
	rates.add(d.raise(level, down[level+1]))
	if level > 0 {
		rates.add(drop(d.down(level), up[level-1]))
	}
	passage := d.passage(level + 1)
	rest, excess, part := newMatrix(n-1, n-1), make([]float64, n-1), make([]float64, n)
	short := d.newCosts(n - 1)
	for i := range n - 1 {
		from := i
		if i >= phase {
			from++
		}
		clear(part)
		if here != nil {
			copy(part, here.row(from))
		}
		d.up(level, from, func(to int, rate float64) { addTimes(part, rate, passage.row(to)) })
		excess[i] = part[phase]
		copy(rest.row(i), part[:phase])
		copy(rest.row(i)[phase:], part[phase+1:])
		for k := range short {
			short[k][i] = rates[k][from]
		}
	}
	short.solve(factor(rest, make([]float64, n-1), excess))
	d.until = make([]costs, d.most+1)
	for _, v := range short {
		d.until[level] = append(d.until[level], insertZero(v, phase))
	}
	for l := level + 1; l <= d.most; l++ {
		d.until[l] = drop(d.down(l), d.until[l-1])
		d.until[l].solve(d.factors[l])
		d.until[l].add(down[l])
	}
	for l := level - 1; l >= 0; l-- {
		d.until[l] = d.raise(l, d.until[l+1])
		d.until[l].solve(upFactors[l])
		d.until[l].add(up[l])
	}
	return ctx.Err()
}

// insertZero inserts a zero.
func insertZero(v []float64, at int) []float64 {
	out := make([]float64, len(v)+1)
	copy(out, v[:at])
	copy(out[at+1:], v[at:])
	return out
}

// mostLikely returns the most likely phase of the most likely level up to M.
func (d *defectProblem) mostLikely() (level, phase int) {
	most := -1.0
	for l, list := range d.levels {
		sum := 0.0
		for _, x := range list {
			sum += x
		}
		if sum > most {
			level, most = l, sum
		}
	}
	for i, x := range d.levels[level] {
		if x > d.levels[level][phase] {
			phase = i
		}
	}
	return level, phase
}

// passage returns G_ℓ, the phases after a first passage down from a level.
func (d *defectProblem) passage(level int) *matrix {
	if level > d.most {
		return d.g
	}
	m := d.down(level)
	d.factors[level].solveMatrix(m)
	return m
}

// passagesDown returns the costs of first passages down from the levels above the given one.
func (d *defectProblem) passagesDown(ctx context.Context, last int) ([]costs, error) {
	list := make([]costs, d.most+2)
	list[d.most+1] = d.newCosts(d.g.rows)
	list[d.most+1].add(d.base)
	list[d.most+1].add(d.slope)
	for level := d.most; level > last; level-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[level] = d.rates(level)
		list[level].add(d.raise(level, list[level+1]))
		list[level].solve(d.factors[level])
	}
	return list, nil
}

// passagesUp returns the costs of first passages up from the levels below the given one, with the
// factors C_ℓ, and the rates down_ℓ H_{ℓ-1} of the given level, nil for level 0.
func (d *defectProblem) passagesUp(ctx context.Context, last int) (
	list []costs, f []*factored, here *matrix, err error,
) {
	for level := range last {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		n := d.phases(level)
		if here == nil {
			here = newMatrix(n, n)
		}
		excess := make([]float64, n)
		for i := range excess {
			excess[i] = d.lambda
		}
		c := factor(here, make([]float64, n), excess)
		costs := d.rates(level)
		if level > 0 {
			costs.add(drop(d.down(level), list[level-1]))
		}
		costs.solve(c)
		passage := newMatrix(n, d.phases(level+1))
		for i := range n {
			d.up(level, i, func(to int, rate float64) { passage.row(i)[to] += rate })
		}
		c.solveMatrix(passage)
		here = product(d.down(level+1), passage)
		list, f = append(list, costs), append(f, c)
	}
	return list, f, here, nil
}

// addLow adds the defects of the balance equations of the levels up to M, times the costs.
func (d *defectProblem) addLow(ctx context.Context, lost []float64) error {
	last := append([]float64(nil), d.levels[d.most]...)
	scale(last, d.lambda)
	d.factors[d.most+1].solveLeft(last)
	for level := 0; level <= d.most; level++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, down := last, d.above
		if level < d.most {
			next, down = d.levels[level+1], d.down(level+1)
		}
		in := down.timesLeft(next)
		size := append([]float64(nil), in...)
		if level > 0 {
			for i, x := range d.levels[level-1] {
				d.up(level-1, i, func(to int, rate float64) { in[to] += x * rate; size[to] += x * rate })
			}
		}
		for i, x := range d.levels[level] {
			out := x * (d.lambda + d.set(level, i).rate)
			in[i] = math.Abs(in[i]-out) + d.rounding()*(size[i]+out)
		}
		for k := range lost {
			lost[k] += dot(in, d.until[level][k])
		}
	}
	return nil
}

// rounding bounds the relative error of an entry of a balance equation.
func (d *defectProblem) rounding() float64 { return float64(d.g.rows+len(d.load)+16) * 0x1p-53 }

// addHigh adds the defects of the levels M+j, j >= 1, times the costs: π_M R^(j-1) times the defect
// of R, λ - R (D - R A), where A is above. The sums over j of π_M R^(j-1) times 1, j and j² are y0,
// y1 and at most y2, and the costs are at most linear and quadratic in j.
func (d *defectProblem) addHigh(lost []float64) {
	n := d.g.rows
	r := newMatrix(n, n)
	for i := range n {
		r.row(i)[i] = d.lambda
	}
	d.factors[d.most+1].solveMatrix(r)
	middle := product(r, d.above)
	for i, x := range middle.a {
		middle.a[i] = -x
	}
	for i := range n {
		middle.row(i)[i] += d.lambda + d.set(d.most, i).rate
	}
	rest, sums := product(r, middle), make([]float64, n)
	for i := range n {
		for j, x := range rest.row(i) {
			size := 3 * r.row(i)[j] * (d.lambda + d.set(d.most, j).rate)
			if i == j {
				x -= d.lambda
			}
			sums[i] += math.Abs(x) + d.rounding()*size
		}
	}
	y0 := append([]float64(nil), d.levels[d.most]...)
	addTimes(y0, 1, d.tail)
	y1 := append([]float64(nil), y0...)
	addTimes(y1, 1, d.rises)
	y2 := append([]float64(nil), y1...)
	scale(y2, d.lambda)
	d.drift.solveLeft(y2)
	addTimes(y2, 1, y1)
	d0, d1, d2 := dot(y0, sums), dot(y1, sums), 2*dot(y2, sums)
	for k := range lost {
		lost[k] += d0*top(d.until[d.most][k]) + d1*top(d.base[k]) + d2*top(d.slope[k])
	}
}

// addSums adds the defects of the sums over the levels above M, times the costs: tail F = λ π_M,
// and rises F = λ (π_M + tail).
func (d *defectProblem) addSums(lost []float64) {
	y0 := append([]float64(nil), d.levels[d.most]...)
	addTimes(y0, 1, d.tail)
	for _, c := range []struct{ source, solution []float64 }{{d.levels[d.most], d.tail}, {y0, d.rises}} {
		flow := d.g.timesLeft(c.solution)
		for i, x := range c.solution {
			out, in := x*d.set(d.most, i).rate, d.lambda*(c.source[i]+flow[i])
			wrong := math.Abs(out-in) + d.rounding()*(out+in)
			for k := range lost {
				lost[k] += wrong * (d.base[k][i] + d.slope[k][i])
			}
		}
	}
}

func top(v []float64) (m float64) {
	for _, x := range v {
		m = max(m, x)
	}
	return m
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
