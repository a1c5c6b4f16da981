package gang

import (
	"context"
	"math"

	"productform/internal/arithmetic"
)

// A chain is the saturated chain in float64: the line never ends, and its classes are independent
// draws. With h(y) the mean of v after a refill from y, and T(y) the share of the classes that do
// not fit next to y,
//
//	h(y)    = T(y) v(y) + Σ_{j fits next to y} p_j h(y+e_j),
//	(Qv)(x) = Σ_i c_i h(y_i) + Σ_i c'_i v(z_i) - r(x) v(x),
//
// where c_i and c'_i are the rates of the transitions with and without refill, whose sum is r(x) =
// Σ x_k μ_k, the rate of completions.
type chain struct {
	*states
	mu    []float64
	rate  []float64 // r(x)
	stop  []float64 // T(x)
	self  []float64 // rate of the transitions to the same state
	first []int32   // starts[first[i]:first[i+1]] are those of state i
	start []arc
	from  []int32 // the same for transitions; to < 0 is state -1-to without refill
	moves []arc
}

// An arc leads to a state with a probability or at a rate.
type arc struct {
	weight float64
	to     int32
}

// newChain builds the chain of the states.
func newChain(ctx context.Context, s *states) (*chain, error) {
	n := len(s.x)
	c := &chain{states: s, mu: s.rates(), self: make([]float64, n)}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.first, c.from = append(c.first, int32(len(c.start))), append(c.from, int32(len(c.moves)))
		t := s.blockedShare(i)
		c.stop = append(c.stop, t)
		s.starts(i, func(k int, to int32) { c.start = append(c.start, arc{s.load[k], to}) })
		rate := 0.0
		s.departures(i, func(d *departure) {
			each := float64(s.x[i][d.class]) * c.mu[d.class]
			rate += each
			for h, k := range d.heads {
				c.moves = append(c.moves, arc{each * (s.load[k] / t), d.after[h]})
				if int(d.after[h]) == i {
					c.self[i] += each * s.load[k]
				}
			}
			if d.stay >= 0 {
				c.moves = append(c.moves, arc{each * (s.blockedShare(int(d.stay)) / t), -1 - d.stay})
			}
		})
		c.rate = append(c.rate, rate)
	}
	c.first, c.from = append(c.first, int32(len(c.start))), append(c.from, int32(len(c.moves)))
	return c, nil
}

// blockedShare returns T(x), the share of the classes that do not fit next to a state.
func (s *states) blockedShare(i int) float64 {
	free, t := s.free(s.x[i]), 0.0
	for k := range s.classes {
		if !s.fits(k, free) {
			t += s.load[k]
		}
	}
	return t
}

// bounds returns proved bounds on λ*. For any v, the mean of r + Qv under the stationary
// distribution is that of r, which is λ*, so λ* lies between the smallest and the largest r + Qv.
// It is computed as
//
//	g(y)    = h(y) - v(y) = Σ_{j fits next to y} p_j (g(y+e_j) + v(y+e_j) - v(y)),
//	(Qv)(x) = Σ_i c_i (g(y_i) + v(y_i) - v(x)) + Σ_i c'_i (v(z_i) - v(x)),
//
// because differences have small errors. A running bound covers their rounding errors: each weight
// has at most 2K+5 roundings for K classes, and each sum has one per term. The v of the formulas is
// the sum of the arguments v and rest, which holds the remainder. The result mean is the mean of
// r + Qv weighted by pi. If excess is not nil, it is set to r + Qv - target. The cost is about two sweeps.
func (c *chain) bounds(v, rest, pi, excess []float64, target float64) (low, high, mean float64) {
	const u = arithmetic.Roundoff
	low, high = math.Inf(1), math.Inf(-1)
	g, wrong := make([]float64, len(v)), make([]float64, len(v))
	classes, total := float64(len(c.classes)), 0.0
	for i := len(v) - 1; i >= 0; i-- {
		sum, here, below, size, e := 0.0, v[i], rest[i], 0.0, 0.0
		for _, a := range c.start[c.first[i]:c.first[i+1]] {
			d, more := v[a.to]-here, rest[a.to]-below
			sum += a.weight * (g[a.to] + (d + more))
			size += a.weight * (math.Abs(g[a.to]) + math.Abs(d) + math.Abs(more))
			e += a.weight * wrong[a.to]
		}
		g[i], wrong[i] = sum, e+(classes+8)*u*size
	}
	for i, here := range v {
		sum, below, size, e := 0.0, rest[i], 0.0, 0.0
		arcs := c.moves[c.from[i]:c.from[i+1]]
		for _, a := range arcs {
			if a.to < 0 {
				d, more := v[-1-a.to]-here, rest[-1-a.to]-below
				sum += a.weight * (d + more)
				size += a.weight * (math.Abs(d) + math.Abs(more))
				continue
			}
			d, more := v[a.to]-here, rest[a.to]-below
			sum += a.weight * (g[a.to] + (d + more))
			size += a.weight * (math.Abs(g[a.to]) + math.Abs(d) + math.Abs(more))
			e += a.weight * wrong[a.to]
		}
		e += (2*classes+float64(len(arcs))+14)*u*size + (classes+4)*u*c.rate[i]
		e *= 1 + 1e-6 // its own rounding
		x := c.rate[i] + sum
		if excess != nil {
			excess[i] = (c.rate[i] - target) + sum
		}
		low, high = min(low, math.Nextafter(x-e, math.Inf(-1))), max(high, math.Nextafter(x+e, math.Inf(1)))
		mean += max(pi[i], 0) * x
		total += max(pi[i], 0)
	}
	return low, high, mean / total
}

// workLimit limits the multiplications of an answer by value iteration, to about a minute. At most a
// quarter of it is for the stationary distribution.
const workLimit = 2e10

// sweepWork returns the number of multiplications of a sweep.
func (c *chain) sweepWork() float64 { return float64(len(c.start) + 2*len(c.moves) + 2*len(c.rate)) }

// A solution holds bounds on λ* and approximate vectors of the saturated chain.
type solution struct {
	low, high float64   // bounds on λ*
	value     []float64 // v with r + Qv ≈ λ*
	rest      []float64 // to be added to v, beyond its digits
	pi        []float64 // approximate stationary distribution
	defect    float64   // sum of the absolute values of πQ, divided by the mean rate
	work      float64   // multiplications
}

// directStates is the number of states up to which a chain is solved by elimination, in about 0.1 s.
const directStates = 500

// begin sets the first solution.
func (c *chain) begin(ctx context.Context, s *solution) error {
	n := len(c.rate)
	s.rest = make([]float64, n)
	if n <= directStates {
		s.pi, s.value, _ = solveChain(c.dense(), c.rate)
		s.low, s.high, _ = c.bounds(s.value, s.rest, s.pi, nil, 0)
		if width := s.high - s.low; width <= math.MaxFloat64 {
			return nil
		}
		// The first state is so unlikely that the measure of others, relative to it, overflows.
	}
	s.value = make([]float64, n)
	if err := c.balance(ctx, s); err != nil {
		return err
	}
	s.low, s.high, _ = c.bounds(s.value, s.rest, s.pi, nil, 0)
	return nil
}

// dense returns the rates between the states.
func (c *chain) dense() *matrix {
	n := len(c.rate)
	refill, rates := newMatrix(n, n), newMatrix(n, n)
	for y := n - 1; y >= 0; y-- {
		refill.row(y)[y] = c.stop[y]
		for _, a := range c.start[c.first[y]:c.first[y+1]] {
			addTimes(refill.row(y), a.weight, refill.row(int(a.to)))
		}
	}
	for x := range n {
		for _, a := range c.moves[c.from[x]:c.from[x+1]] {
			if a.to >= 0 {
				addTimes(rates.row(x), a.weight, refill.row(int(a.to)))
			} else {
				rates.row(x)[-1-a.to] += a.weight
			}
		}
	}
	return rates
}

// digitsOfSweeps is the relative width below which sweeps of v itself hardly narrow the bounds, since
// v has no more digits.
const digitsOfSweeps = 1e-11

// iterate improves the bounds on λ* until their relative width is at most tol, the work is used up,
// or rounding stops it. Any v gives bounds. Value iteration adds to v(x) a multiple of r + Qv - λ*;
// the sweeps here do so state by state, with the latest values, in both orders of the states
// (symmetric Gauss-Seidel), and extrapolate from time to time. For λ* they use the mean of r under
// the stationary distribution, which sweeps of its equations approximate first. When v has no more
// digits, sweeps improve what is added to it, with r + Qv - λ* in place of r.
func (c *chain) iterate(ctx context.Context, s *solution, tol float64) error {
	if s.value == nil {
		if err := c.begin(ctx, s); err != nil {
			return err
		}
	}
	target := dot(s.pi, c.rate)
	best := append([]float64(nil), s.value...)
	improve := func(sweep int) (goesOn bool) {
		low, high, mean := c.bounds(s.value, s.rest, s.pi, nil, 0)
		s.work += c.sweepWork() / 2
		if math.IsNaN(mean) || math.IsNaN(high-low) {
			copy(s.value, best)
			return false
		}
		if high-low < s.high-s.low {
			copy(best, s.value)
		}
		s.low, s.high = max(s.low, low), min(s.high, high)
		target = max(s.low, min(mean, s.high))
		return s.high-s.low > max(tol, digitsOfSweeps)*s.low
	}
	if s.high-s.low > max(tol, digitsOfSweeps)*s.low {
		if err := c.sweeps(ctx, s, s.value, c.rate, &target, improve); err != nil {
			return err
		}
	}
	copy(s.value, best)
	excess, part := make([]float64, len(c.rate)), make([]float64, len(c.rate))
	for range 4 { // each adds about two digits, and four reach the rounding errors of the bounds
		if !(s.high-s.low > tol*s.low && s.work < workLimit) {
			break
		}
		_, _, mean := c.bounds(s.value, s.rest, s.pi, nil, 0)
		low, high, _ := c.bounds(s.value, s.rest, s.pi, excess, mean)
		zero, width := 0.0, high-low
		clear(part)
		count := 0
		h := make([]float64, len(part))
		err := c.sweeps(ctx, s, part, excess, &zero, func(int) bool {
			count++
			return c.spread(part, h, excess) > 0.01*width && count < 30
		})
		if err != nil {
			return err
		}
		addTimes(s.rest, 1, part)
		low, high, _ = c.bounds(s.value, s.rest, s.pi, nil, 0)
		if !(high-low < width) {
			addTimes(s.rest, -1, part)
			break
		}
		s.low, s.high = max(s.low, low), min(s.high, high)
	}
	return nil
}

// spread returns the difference between the largest and the smallest reward + Qv.
func (c *chain) spread(v, h, reward []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for x := len(v) - 1; x >= 0; x-- {
		c.refill(x, v, h)
	}
	for x := range v {
		e := c.excess(x, v, h, reward)
		low, high = min(low, e), max(high, e)
	}
	return high - low
}

// sweeps sweeps v for a reward, with extrapolation. It calls goesOn after every tenth sweep and
// stops once that returns false, the work is used up, or 4000 sweeps are done. Chains with means of
// similar size take about 100.
func (c *chain) sweeps(
	ctx context.Context, s *solution, v, reward []float64, target *float64, goesOn func(sweep int) bool,
) error {
	h := make([]float64, len(v))
	e := extrapolation{weights: s.pi}
	for k := 0; k < 4000 && s.work < workLimit; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.keep(k, v)
		c.sweep(v, h, reward, *target)
		e.extrapolate(k, v)
		s.work += c.sweepWork()
		if k%10 == 9 && !goesOn(k) {
			break
		}
	}
	return nil
}

// refill sets h(y) from v(y) and the h of more jobs.
func (c *chain) refill(y int, v, h []float64) {
	sum := c.stop[y] * v[y]
	for _, a := range c.start[c.first[y]:c.first[y+1]] {
		sum += a.weight * h[a.to]
	}
	h[y] = sum
}

// excess returns (reward + Qv)(x).
func (c *chain) excess(x int, v, h, reward []float64) float64 {
	sum := reward[x] - c.rate[x]*v[x]
	for _, a := range c.moves[c.from[x]:c.from[x+1]] {
		if a.to >= 0 {
			sum += a.weight * h[a.to]
		} else {
			sum += a.weight * v[-1-a.to]
		}
	}
	return sum
}

// sweep improves v in both orders, for a given mean of the reward. h is scratch.
func (c *chain) sweep(v, h, reward []float64, mean float64) {
	improve := func(x int) {
		d := (c.excess(x, v, h, reward) - mean) / (c.rate[x] - c.self[x])
		v[x] += d
		h[x] += c.stop[x] * d
	}
	for level := len(c.levels) - 2; level >= 0; level-- {
		from, to := c.levels[level], c.levels[level+1]
		for y := to - 1; y >= from; y-- {
			c.refill(y, v, h)
		}
		for x := to - 1; x >= from; x-- {
			improve(x)
		}
	}
	for x := range v {
		improve(x)
	}
}

// A flow holds the rates at which probability arrives at states: directly, and before refills.
type flow struct {
	*chain
	rest   []float64 // yQ, apart from what waits
	refill []float64 // what waits for a refill
}

// scatter adds the flow out of state x for the probability p.
func (f *flow) scatter(x int, p float64) {
	f.rest[x] -= p * f.rate[x]
	for _, a := range f.moves[f.from[x]:f.from[x+1]] {
		if a.to >= 0 {
			f.refill[a.to] += p * a.weight
		} else {
			f.rest[-1-a.to] += p * a.weight
		}
	}
}

// flush refills from state y.
func (f *flow) flush(y int) {
	p := f.refill[y]
	if p == 0 {
		return
	}
	f.refill[y] = 0
	f.rest[y] += p * f.stop[y]
	for _, a := range f.start[f.first[y]:f.first[y+1]] {
		f.refill[a.to] += p * a.weight
	}
}

// reset sets the flow to yQ and returns the sum of its absolute values.
func (f *flow) reset(y []float64) (size float64) {
	clear(f.rest)
	clear(f.refill)
	for x, p := range y {
		f.scatter(x, p)
	}
	for x := range y {
		f.flush(x)
	}
	for _, d := range f.rest {
		size += math.Abs(d)
	}
	return size
}

// balance approximates the stationary distribution by sweeps in both orders, each of which moves
// the excess flow out of one state after another. It stops if the defect does not fall any more in
// 100 sweeps, and keeps the best distribution.
func (c *chain) balance(ctx context.Context, s *solution) error {
	n := len(c.rate)
	f := &flow{c, make([]float64, n), make([]float64, n)}
	s.pi = make([]float64, n)
	weights := make([]float64, n)
	for x := range s.pi {
		s.pi[x] = 1 / float64(n)
	}
	move := func(x int) {
		f.flush(x)
		d := f.rest[x] / (c.rate[x] - c.self[x])
		s.pi[x] += d
		f.scatter(x, d)
	}
	e := extrapolation{weights: weights}
	best, least := append([]float64(nil), s.pi...), math.Inf(1)
	f.reset(s.pi)
	for sweeps, stalled := 0, 0; stalled < 10 && s.work < workLimit/4; sweeps++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.keep(sweeps, s.pi)
		for x := range n {
			move(x)
		}
		for x := n - 1; x >= 0; x-- {
			move(x)
		}
		for i := range weights {
			// relative errors count, but not those of states that hardly matter
			weights[i] = 1 / max(math.Abs(s.pi[i]), 1e-9/float64(n))
		}
		e.extrapolate(sweeps, s.pi)
		s.work += c.sweepWork()
		if sweeps%10 != 9 {
			continue
		}
		total, rate := 0.0, 0.0
		for x, p := range s.pi {
			total += p
			rate += p * c.rate[x]
		}
		scale(s.pi, 1/total)
		size := f.reset(s.pi) * total / rate
		switch {
		case math.IsNaN(size):
			copy(s.pi, best)
			f.reset(s.pi)
			stalled++
		case size < 0.9999*least:
			stalled = 0
		default:
			stalled++
		}
		if size < least {
			least = size
			copy(best, s.pi)
		}
		if size < 1e-13 { // close to the rounding errors of the sums
			break
		}
	}
	copy(s.pi, best)
	s.defect = least
	return nil
}

// The extrapolation uses window + 1 vectors, one from every tenth sweep, so the changes of the
// sweeps differ enough, and few vectors are kept.
const (
	spacing = 10
	window  = 10
)

// An extrapolation combines vectors before sweeps so that the changes of the sweeps nearly cancel,
// in the weighted sum of squares (reduced rank extrapolation; Sidi, "Vector extrapolation methods
// with applications", SIAM, 2017).
type extrapolation struct {
	weights         []float64
	vectors, change [][]float64
}

// keep keeps the vector before a sweep.
func (e *extrapolation) keep(sweep int, v []float64) {
	if sweep%spacing == spacing-1 {
		e.vectors = append(e.vectors, append([]float64(nil), v...))
	}
}

// extrapolate keeps the change of a sweep, and replaces v once there are enough.
func (e *extrapolation) extrapolate(sweep int, v []float64) {
	if sweep%spacing != spacing-1 {
		return
	}
	d := make([]float64, len(v))
	for i, x := range e.vectors[len(e.vectors)-1] {
		d[i] = v[i] - x
	}
	e.change = append(e.change, d)
	if len(e.change) <= window {
		return
	}
	n := len(e.change)
	gram := make([][]float64, n)
	for i := range gram {
		gram[i] = make([]float64, n)
		for j := range i + 1 {
			for k, w := range e.weights {
				gram[i][j] += w * e.change[i][k] * e.change[j][k]
			}
			gram[j][i] = gram[i][j]
		}
	}
	if c := smallestCombination(gram); c != nil {
		clear(v)
		for i, f := range c {
			addTimes(v, f, e.vectors[i])
		}
	}
	e.vectors, e.change = nil, nil
}

// smallestCombination returns coefficients with sum 1 that minimize the quadratic form of a matrix,
// nil if it has no positive diagonal.
func smallestCombination(gram [][]float64) []float64 {
	n := len(gram)
	unit, a, b := make([]float64, n), make([][]float64, n), make([]float64, n)
	for i := range unit {
		if !(gram[i][i] > 0 && gram[i][i] < math.Inf(1)) {
			return nil
		}
		unit[i] = 1 / math.Sqrt(gram[i][i])
		b[i] = unit[i]
	}
	for i := range a {
		a[i] = make([]float64, n)
		for j := range a[i] {
			a[i][j] = gram[i][j] * unit[i] * unit[j]
		}
		a[i][i] += 1e-14 // relative; rounding may have made the form indefinite
	}
	for k := range n {
		for i := k + 1; i < n; i++ {
			f := a[i][k] / a[k][k]
			addTimes(a[i], -f, a[k])
			b[i] -= f * b[k]
		}
	}
	sum := 0.0
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			b[k] -= a[k][j] * b[j]
		}
		b[k] /= a[k][k]
	}
	for i := range b {
		b[i] *= unit[i]
		sum += b[i]
	}
	for i := range b {
		b[i] /= sum
	}
	return b
}

func addTimes(a []float64, f float64, b []float64) {
	b = b[:len(a)]
	for i := range a {
		a[i] += f * b[i]
	}
}

func scale(a []float64, f float64) {
	for i := range a {
		a[i] *= f
	}
}

// derivatives returns dλ*/dε for p + ε (e_i - p), for each class i: the mean of dQ v under π, where
// v solves r + Qv = λ* and dQ is the derivative of Q.
func (c *chain) derivatives(pi, v []float64) []float64 {
	n := len(v)
	result := make([]float64, len(c.classes))
	// h(y) is the mean of v after a refill from y, d[i] its derivative
	h := make([]float64, n)
	d := make([][]float64, len(c.classes))
	for i := range d {
		d[i] = make([]float64, n)
	}
	t := make([]float64, n)
	fits := make([]bool, len(c.classes))
	for y := n - 1; y >= 0; y-- {
		t[y] = c.blockedShare(y)
		clear(fits)
		h[y] = t[y] * v[y]
		c.starts(y, func(k int, to int32) {
			fits[k] = true
			h[y] += c.load[k] * h[to]
			for i := range d {
				d[i][y] += c.load[k]*d[i][to] - c.load[k]*h[to]
			}
			d[k][y] += h[to]
		})
		for i := range d {
			d[i][y] -= t[y] * v[y]
			if !fits[i] {
				d[i][y] += v[y]
			}
		}
	}
	change := make([]float64, len(c.classes))
	for x := range n {
		free := c.free(c.x[x])
		c.departures(x, func(dep *departure) {
			each := float64(c.x[x][dep.class]) * c.mu[dep.class] * pi[x] / t[x]
			sum := 0.0 // mean value after the departure, times T(x)
			clear(change)
			for a, k := range dep.heads {
				to := dep.after[a]
				sum += c.load[k] * h[to]
				for i := range change {
					change[i] += c.load[k]*d[i][to] - c.load[k]*h[to]
				}
				change[k] += h[to]
			}
			if to := dep.stay; to >= 0 {
				sum += t[to] * v[to]
				after := c.free(c.x[to])
				for i := range change {
					change[i] -= t[to] * v[to]
					if !c.fits(i, after) {
						change[i] += v[to]
					}
				}
			}
			for i := range change {
				rise := -t[x] // of T(x)
				if !c.fits(i, free) {
					rise++
				}
				result[i] += each * (change[i] - sum*rise/t[x])
			}
		})
	}
	return result
}
