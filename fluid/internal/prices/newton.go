package prices

import (
	"context"
	"math"
)

// A newtonStep holds one step of Newton's method on p >= 0, which decreases the quadratic model
// -g·d + d·Hd/2, g = load - 1, over p + d >= 0.
type newtonStep struct {
	support []int     // resources with positive price
	free    []int     // resources whose price may change
	h       []float64 // Hessian of the free resources, row after row
	factor  []float64 // L and D of L D L^T = h
	move    []float64 // solution of H move = g - H d
	noise   []float64 // bound on the rounding error of a pivot
	d       []float64 // step of all resources
	at      []int     // positions in free at the start of the step
}

func newNewtonStep(resources int) *newtonStep {
	return &newtonStep{
		support: make([]int, 0, resources), free: make([]int, 0, resources), at: make([]int, 0, resources),
		h: make([]float64, resources*resources), factor: make([]float64, resources*resources),
		noise: make([]float64, resources), move: make([]float64, resources), d: make([]float64, resources),
	}
}

// minimise improves the prices until the residual is at residualGoal and the prices have converged,
// or steps no longer improve it. Loads and residual match the prices on entry and on return.
//
// A small residual alone says little about rows that are small compared with the others of their
// resources. If a full step changes each y_i by the factor 1 + u_i, |u_i| <= δ, the remaining
// gradient is Σ_i m_i b_ij u_i²/y_i up to higher orders. The next step, with factors 1 + v_i, has
// Σ_i m_i v_i² <= δ² Σ_i m_i u_i², where Σ_i m_i u_i² is the slope λ² at which the function
// decreased. So |v_i| <= δ λ / sqrt(m_i), and the prices have converged if that is at most
// convergedTol.
func (k *Solver) minimise(ctx context.Context) {
	const steps = 100
	const stalled = 1e-12 // ten times the rounding error of a load, for sums of at most 1024 successive terms
	best, stalls := math.Inf(1), 0
	copy(k.best, k.Price)
	change := math.Inf(1)
	for range steps {
		converged := change <= convergedTol || len(k.newton.support) == 1 // a single price is Σ_i m_i
		if converged && k.Residual <= residualGoal {
			return
		}
		stalls++
		if k.Residual <= best/2 {
			stalls = 0
		}
		if k.Residual < best {
			best = k.Residual
			copy(k.best, k.Price)
		}
		if stalls > 0 && best <= stalled || stalls > len(k.Price)+5 && best <= residualNear {
			break
		}
		if ctx.Err() != nil {
			return
		}
		k.hessian()
		change = k.advance(k.newton.solve(k.Price, k.load))
	}
	if !(k.Residual <= best) {
		copy(k.Price, k.best)
		k.evaluate()
	}
}

// advance moves along the step to the new prices. A full step is accepted without evaluating the
// function, which is convex, if its slope after the step is not much above 0; otherwise it first
// finds the best point along the step. It returns the bound of [Solver.minimise] on the change of
// the next step, or +Inf after a shortened step.
func (k *Solver) advance(slope float64) float64 {
	d := k.newton.d
	copy(k.before, k.Price)
	sum, delta := 0.0, 0.0 // no y_i changes by a larger factor than some price
	for j, p := range k.before {
		if d[j] != 0 {
			delta = max(delta, math.Abs(d[j])/p)
		}
		p = max(p+d[j], 0)
		k.Price[j] = p
		sum += p
	}
	if sum > 0 && sum <= math.MaxFloat64 {
		factor := k.Total / sum
		for j := range k.Price {
			k.Price[j] *= factor
		}
		k.evaluate()
		end, noise := 0.0, 0.0 // slope at the end of the step, before scaling
		for j, load := range k.load {
			end += d[j] * (1 - load*factor)
			noise += math.Abs(d[j])
		}
		const rounding = 1e-14 // error of a load: about 100 roundings of 2^-53
		if end <= -slope/4+rounding*noise {
			return delta * math.Sqrt(max(-slope, 0)/k.Least)
		}
	}
	step := k.search()
	for j, p := range k.before {
		k.Price[j] = max(p+step*d[j], 0)
	}
	k.scale()
	k.evaluate()
	if step < 0.25 { // far from quadratic: a step of expectation maximization always decreases the function
		for j, load := range k.load {
			k.Price[j] *= load
		}
		k.scale()
		k.evaluate()
	}
	return math.Inf(1)
}

// search returns the approximate step in (0, 1) that minimizes the function along d. It uses the
// memory of 1/y and m/y as scratch space.
func (k *Solver) search() float64 {
	n := k.rows
	y, u, m := k.inverse[:n], k.z[:n], k.m[:n]
	clear(y)
	clear(u)
	drift := 0.0
	for j, b := range k.column {
		p, d := k.before[j], k.newton.d[j]
		drift += d
		b = b[:n]
		for i, b := range b {
			y[i] += p * b
			u[i] += d * b
		}
	}
	low, high, t := 0.0, 1.0, 0.5
	first := 0.0
	const rounds = 60 // down to 16^-60 of the step, which changes no price
	for round := range rounds {
		slope, curve := drift, 0.0
		for i, m := range m {
			x := u[i] / (y[i] + t*u[i])
			slope -= m * x
			curve += m * x * x
			if !(y[i]+t*u[i] > 0) {
				slope = math.Inf(1)
			}
		}
		if round == 0 {
			first = math.Abs(slope)
		}
		if slope > 0 {
			high = t
		} else {
			low = t
		}
		if math.Abs(slope) <= 1e-3*first || high-low <= 1e-3*high {
			break
		}
		t -= slope / curve
		if !(t > low && t < high) {
			t = (low + high) / 2
			if low == 0 {
				t = high / 16
			}
		}
	}
	if low > 0 {
		return low
	}
	return t
}

// hessian chooses the free resources, those of positive price or load above 1, and sets their
// Hessian.
func (k *Solver) hessian() {
	s := k.newton
	s.free = s.free[:0]
	for j, p := range k.Price {
		if p > 0 || k.load[j] > 1 {
			s.free = append(s.free, j)
		}
	}
	n, q := len(s.free), k.q[:k.rows]
	h := s.h[:n*n]
	a := 0
	for ; a+1 < n; a += 2 {
		x, y := k.column[s.free[a]], k.column[s.free[a+1]]
		h[a*n+a], h[(a+1)*n+a], h[(a+1)*n+a+1] = gram(x, y, q)
		b := a + 2
		for ; b+1 < n; b += 2 {
			h[b*n+a], h[b*n+a+1], h[(b+1)*n+a], h[(b+1)*n+a+1] = cross(
				x, y, k.column[s.free[b]], k.column[s.free[b+1]], q,
			)
		}
		if b < n {
			h[b*n+a], h[b*n+a+1], _, _ = cross(x, y, k.column[s.free[b]], k.column[s.free[b]], q)
		}
	}
	if a < n {
		h[a*n+a], _, _ = gram(k.column[s.free[a]], k.column[s.free[a]], q)
	}
}

// gram returns Σ_i q_i a_i², Σ_i q_i a_i b_i and Σ_i q_i b_i².
func gram(a, b, q []float64) (aa, ab, bb float64) {
	a, b = a[:len(q)], b[:len(q)]
	for i, q := range q {
		x, y := a[i], b[i]
		s, t := q*x, q*y
		aa += s * x
		ab += s * y
		bb += t * y
	}
	return aa, ab, bb
}

// cross returns Σ_i q_i a_i c_i, Σ_i q_i b_i c_i, Σ_i q_i a_i d_i and Σ_i q_i b_i d_i.
func cross(a, b, c, d, q []float64) (ac, bc, ad, bd float64) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for i, q := range q {
		x, y := q*a[i], q*b[i]
		u, v := c[i], d[i]
		ac += x * u
		bc += y * u
		ad += x * v
		bd += y * v
	}
	return ac, bc, ad, bd
}

// solve sets d to a minimum of the model, found from d = 0 over faces of p + d >= 0: on each face
// it moves to the minimum or, if that is outside, to the first boundary on the way, which is the
// next face. The model always decreases, so the function decreases along d. It returns the slope of
// the function along d, which is negative.
func (s *newtonStep) solve(price, load []float64) float64 {
	clear(s.d)
	s.at = s.at[:len(s.free)]
	for a := range s.free {
		s.at[a] = a
	}
	size := len(s.free) // length of a row of h
	for {
		s.descend(size, load)
		first, step := -1, 1.0
		for a, c := range s.at {
			j := s.free[c]
			if p := price[j] + s.d[j]; p+s.move[a] < 0 || p == 0 && s.move[a] < 0 {
				if t := p / -s.move[a]; first < 0 || t < step {
					first, step = a, t
				}
			}
		}
		for a, c := range s.at {
			if j := s.free[c]; a == first {
				s.d[j] = -price[j]
			} else {
				s.d[j] = max(s.d[j]+step*s.move[a], -price[j])
			}
		}
		if first < 0 || len(s.at) == 1 {
			break
		}
		s.at = append(s.at[:first], s.at[first+1:]...)
	}
	slope := 0.0
	for j, d := range s.d {
		slope += d * (1 - load[j])
	}
	return slope
}

// descend sets move to the solution of H move = g - H d on the face, with H = L D L^T. A pivot that
// is lost to rounding, for example because all rows need some resources in the same proportion, is
// raised to its rounding error.
func (s *newtonStep) descend(size int, load []float64) {
	n, h, l := len(s.at), s.h, s.factor
	for a, c := range s.at {
		r := load[s.free[c]] - 1
		for e, j := range s.free {
			if d := s.d[j]; d != 0 {
				r -= h[max(c, e)*size+min(c, e)] * d
			}
		}
		s.move[a] = r
	}
	for a, c := range s.at {
		pivot := h[c*size+c]
		noise := pivot * 1e-15
		for b, e := range s.at[:a] {
			x := h[c*size+e]
			for f := range b {
				x -= l[a*n+f] * l[b*n+f] * l[f*n+f]
			}
			x /= l[b*n+b]
			l[a*n+b] = x
			pivot -= x * x * l[b*n+b]
			noise += x * x * s.noise[b]
			s.move[a] -= x * s.move[b]
		}
		l[a*n+a] = max(pivot, noise, 1e-300)
		s.noise[a] = noise
	}
	for a := n - 1; a >= 0; a-- {
		x := s.move[a] / l[a*n+a]
		for b := a + 1; b < n; b++ {
			x -= l[b*n+a] * s.move[b]
		}
		s.move[a] = x
	}
	for _, x := range s.move[:n] {
		if !(math.Abs(x) <= math.MaxFloat64) {
			s.diagonal(size, load)
			return
		}
	}
}

// diagonal sets move to the solution with n times the diagonal of H, which is an upper bound on H,
// instead of H.
func (s *newtonStep) diagonal(size int, load []float64) {
	n, h := len(s.at), s.h
	for a, c := range s.at {
		r := load[s.free[c]] - 1
		for e, j := range s.free {
			if d := s.d[j]; d != 0 {
				r -= h[max(c, e)*size+min(c, e)] * d
			}
		}
		s.move[a] = r / max(float64(n)*h[c*size+c], 1e-300)
	}
}

// sweep sets one price after another so that its load is 1, or to 0. This corrects prices of such
// different sizes that the rounding of one hides the other from a line search.
func (k *Solver) sweep() {
	n := k.rows
	rest, m := k.inverse[:n], k.m[:n]
	for j, b := range k.column {
		b = b[:n]
		clear(rest)
		for l, c := range k.column {
			if p := k.Price[l]; l != j && p > 0 {
				for i, c := range c[:n] {
					rest[i] += p * c
				}
			}
		}
		at := func(p float64) (load, curve float64) {
			for i, m := range m {
				if b[i] > 0 {
					x := b[i] / (rest[i] + p*b[i])
					load += m * x
					curve += m * x * x
				}
			}
			return load, curve
		}
		if load, _ := at(0); load <= 1 {
			k.Price[j] = 0
			continue
		}
		p := k.Price[j]
		if p == 0 {
			p = k.Total
		}
		const rounds = 200 // at worst by a factor of 1000 each: enough to cross the range of float64
		for range rounds { // Newton's method on 1/load = 1, which is exact in one step for rows of a single resource
			load, curve := at(p)
			if math.Abs(load-1) <= residualGoal {
				break
			}
			p = max(p+load*(load-1)/curve, p/1000)
		}
		k.Price[j] = p
	}
	k.evaluate()
}
