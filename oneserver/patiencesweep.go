package oneserver

import (
	"context"
	"errors"
	"math"
	"slices"

	"productform/num"
)

var errTooManySteps = errors.New("too many steps")

// A race holds the equations of a part whose jobs may give up, in float64. With g_i(x) the
// probability that the patience of class i exceeds x, and u_K(x) = F_K(x) Π_{s∈K} μ_s,
//
//	u_K'(x) = d_K(x) u_K(x) - Σ_{s∈K} μ_s u_{K∖s}(x),  d_K(x) = μ(K) - Σ_{i: S_i⊆K} λ_i g_i(x),
//
// u_∅ = 1, with u bounded, and the adjoint
//
//	a_K'(x) = -d_K(x) a_K(x) + Σ_{s∉K} μ_s a_{K∪s}(x),  a_K(0) = H(K) / Π_{s∈K} μ_s.
//
// a_K(x) u_K(x) / Z is the probability that K are the servers that stay busy for longer than x if
// no more jobs arrive, Z = Σ_K a_K u_K the same for all x.
type race struct {
	*states
	byClass []patience
	lambda  []float64
	mu      []float64 // by group
	work    []float64 // μ(k) by state

	// The fractions q_i(k) > 0 of the draws of class i among the servers of state k: those of state
	// at are number insideEnd[at-1] to insideEnd[at].
	insideEnd []int32
	inside    []int32 // classes
	fractions []float64

	// Likewise the neighbours of each state, with the rates k_g μ_g between the states.
	belowEnd, aboveEnd []int32
	below, above       []int32
	down, up           []float64

	corners []int // states in which the servers of a group are all busy or all idle

	method  *collocation
	weights []float64 // a(0)
	final   []float64 // u(∞)
}

// newRace tabulates the equations of a part.
func newRace(ctx context.Context, s *states, byClass []patience) (*race, error) {
	r := &race{states: s, byClass: byClass, method: newCollocation()}
	for _, c := range s.classes {
		r.lambda = append(r.lambda, num.Nearest(c.rate))
	}
	for _, g := range s.groups {
		r.mu = append(r.mu, num.Nearest(g.capacity))
	}
	share := make([][]float64, len(s.share))
	for k, list := range s.share {
		for _, x := range list {
			share[k] = append(share[k], num.Nearest(x))
		}
	}
	x := make([]int, len(s.groups))
	for at := range s.States {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		work := 0.0
		for g, k := range x {
			work += float64(k) * r.mu[g]
			if k > 0 {
				r.below, r.down = append(r.below, int32(at-s.Stride[g])), append(r.down, float64(k)*r.mu[g])
			}
			if k < s.Limits[g] {
				r.above, r.up = append(r.above, int32(at+s.Stride[g])), append(r.up, float64(k+1)*r.mu[g])
			}
		}
		r.work = append(r.work, work)
		if isCorner(x, s.Limits) {
			r.corners = append(r.corners, at)
		}
		for i := range s.classes {
			q := 1.0
			for g, k := range x {
				if list := share[i*len(x)+g]; list != nil {
					q *= list[k]
				}
			}
			if q > 0 {
				r.inside, r.fractions = append(r.inside, int32(i)), append(r.fractions, q)
			}
		}
		r.insideEnd = append(r.insideEnd, int32(len(r.inside)))
		r.belowEnd, r.aboveEnd = append(r.belowEnd, int32(len(r.below))), append(r.aboveEnd, int32(len(r.above)))
		s.Next(x)
	}
	r.addWeights()
	r.addFinal()
	return r, ctx.Err()
}

// span returns the entries of a state in lists with these ends.
func span(ends []int32, at int) (first, end int32) {
	if at > 0 {
		first = ends[at-1]
	}
	return first, ends[at]
}

const (
	large = 0x1p+660
	small = 0x1p-660
)

// addWeights computes a(0), up to a factor: by counts,
//
//	a(k) = Σ_g (k_g+1) μ_g a(k+e_g) / Σ_i λ_i (1 - q_i(k)).
//
// States beyond the range of float64 in comparison with others become 0.
func (r *race) addWeights() {
	r.weights = make([]float64, r.States)
	r.weights[r.States-1] = 1
	outside := make([]float64, len(r.lambda))
	for at := r.States - 2; at >= 0; at-- {
		sum := 0.0
		for first, end := span(r.aboveEnd, at); first < end; first++ {
			sum += r.up[first] * r.weights[r.above[first]]
		}
		idle := 0.0
		copy(outside, r.lambda)
		for first, end := span(r.insideEnd, at); first < end; first++ {
			outside[r.inside[first]] *= 1 - r.fractions[first]
		}
		for _, x := range outside {
			idle += x
		}
		r.weights[at] = sum / idle
		if r.weights[at] > large {
			for k := at; k < r.States; k++ {
				r.weights[k] *= small
			}
		}
	}
}

// addFinal computes u(∞), where only jobs with endless patience wait.
func (r *race) addFinal() {
	r.final = make([]float64, r.States)
	r.final[0] = 1
	for at := 1; at < r.States; at++ {
		sum := 0.0
		for first, end := span(r.belowEnd, at); first < end; first++ {
			sum += r.down[first] * r.final[r.below[first]]
		}
		r.final[at] = sum / r.finalGain(at)
	}
}

// finalGain returns d(k) at infinity.
func (r *race) finalGain(at int) float64 {
	gain := r.work[at]
	for first, end := span(r.insideEnd, at); first < end; first++ {
		if i := r.inside[first]; r.byClass[i].endless() {
			gain -= r.lambda[i] * r.fractions[first]
		}
	}
	return gain
}

// A grade is a step from x of length h, with the rates of waiting jobs at its nodes.
//
// The equations are solved with d - c in place of d, for a constant c. This multiplies u and a by
// numbers that depend on x only. With c about the smallest d, u hardly grows towards 0, however
// many jobs wait: it is that of a state whose groups are idle or busy as a whole, unless classes
// draw servers.
type grade struct {
	x, h   float64
	tail   [][stages]float64 // g_i at the nodes
	inside [][stages]float64 // h λ_i g_i
	least  float64           // h c
}

func (r *race) newGrade(x, h float64) *grade {
	g := &grade{x: x, h: h, tail: make([][stages]float64, len(r.byClass)), inside: make([][stages]float64, len(r.byClass))}
	for i := range r.byClass {
		for j, c := range r.method.nodes {
			g.tail[i][j] = r.byClass[i].tail(x + h*c)
			g.inside[i][j] = h * r.lambda[i] * g.tail[i][j]
		}
	}
	least := 0.0
	var hd [stages]float64
	for _, at := range r.corners {
		r.gains(g, at, &hd)
		least = min(least, slices.Max(hd[:]))
	}
	g.least = least
	return g
}

// isCorner reports whether each coordinate is 0 or its limit.
func isCorner(x, limits []int) bool {
	for g, k := range x {
		if k != 0 && k != limits[g] {
			return false
		}
	}
	return true
}

// gains sets hd to h (d - c) of a state at the nodes.
func (r *race) gains(g *grade, at int, hd *[stages]float64) {
	w := g.h * r.work[at]
	for j := range hd {
		hd[j] = w - g.least
	}
	for first, end := span(r.insideEnd, at); first < end; first++ {
		q, in := r.fractions[first], &g.inside[r.inside[first]]
		for j := range hd {
			hd[j] -= q * in[j]
		}
	}
}

// back solves u over a step, from its end: u becomes that at its start, and inner its values at the
// nodes.
func (r *race) back(ctx context.Context, g *grade, u []float64, inner [][stages]float64) error {
	var hd, mirrored [stages]float64
	for at := range u {
		if at%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		r.gains(g, at, &hd)
		for j := range hd {
			mirrored[j] = hd[stages-1-j] // the nodes lie symmetrically
		}
		var y [stages]float64
		for first, end := span(r.belowEnd, at); first < end; first++ {
			rate, v := g.h*r.down[first], &inner[r.below[first]]
			for j := range y {
				y[j] += rate * v[stages-1-j]
			}
		}
		u[at] = r.method.step(&y, &mirrored, u[at])
		v := &inner[at]
		for j := range y {
			v[stages-1-j] = y[j]
		}
	}
	return nil
}

// forth solves a over a step, likewise from its start.
func (r *race) forth(ctx context.Context, g *grade, a []float64, inner [][stages]float64) error {
	var hd [stages]float64
	for at := r.States - 1; at >= 0; at-- {
		if at%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		r.gains(g, at, &hd)
		var y [stages]float64
		for first, end := span(r.aboveEnd, at); first < end; first++ {
			rate, v := g.h*r.up[first], &inner[r.above[first]]
			for j := range y {
				y[j] += rate * v[j]
			}
		}
		a[at] = r.method.step(&y, &hd, a[at])
		inner[at] = y
	}
	return nil
}

// product returns Σ_k a(k) u(k).
func product(a, u []float64) float64 {
	sum := 0.0
	for k, x := range a {
		sum += x * u[k]
	}
	return sum
}

// rescale divides large numbers by a power of 2. Those that become 0 are negligible.
func rescale(v []float64) {
	if slices.Max(v) > large {
		for k := range v {
			v[k] *= small
		}
	}
}

// end returns a time after which waiting jobs can be omitted, for one of two reasons. After it,
// jobs with less than endless patience wait for less than 1e-18 on average. Or V is longer with a
// probability of about e^-45: if d_K(y) >= c for all K that are not empty, P(V > x) falls like
// e^{-cx} after x = y.
func (r *race) end() float64 {
	rest := func(x float64) float64 {
		sum := 0.0
		for i := range r.byClass {
			sum += r.lambda[i] * r.byClass[i].rest(x)
		}
		return sum
	}
	end := firstTime(func(x float64) bool { return rest(x) <= 1e-18 })
	if slices.ContainsFunc(r.byClass, func(p patience) bool { return p.endless() }) {
		end = math.Inf(1)
	}
	last := r.gap(math.Inf(1))
	for c := last / 2; c > last/1e6; c /= 4 {
		from := firstTime(func(x float64) bool { return r.gap(x) >= c })
		end = min(end, from+45/c)
	}
	return end
}

// gap returns the smallest d_K(x).
func (r *race) gap(x float64) float64 {
	rates := make([]float64, len(r.byClass))
	for i := range rates {
		if !math.IsInf(x, 1) || r.byClass[i].endless() {
			rates[i] = r.lambda[i] * r.byClass[i].tail(x)
		}
	}
	least := math.Inf(1)
	for at := 1; at < r.States; at++ {
		d := r.work[at]
		for first, end := span(r.insideEnd, at); first < end; first++ {
			d -= rates[r.inside[first]] * r.fractions[first]
		}
		least = min(least, d)
	}
	return least
}

// firstTime returns about the first time x at which a condition holds that remains true; 0 if it
// always does.
func firstTime(holds func(x float64) bool) float64 {
	if holds(0) {
		return 0
	}
	high := 1.0
	for !holds(high) && high < 1e150 {
		high *= 2
	}
	for high > 1e-150 && holds(high/2) {
		high /= 2
	}
	low := high / 2
	for high > 1.01*low {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// longest returns the function that limits the steps: the numbers that a step solves change by at
// most about e^fineness. Servers of group g that have jobs to do for longer than x are all of them
// as long as those jobs may be half its capacity, and then about e^(-μ_g x) of them.
func (r *race) longest(fineness float64) func(x float64) float64 {
	long := make([]float64, len(r.groups))
	for g := range long {
		long[g] = firstTime(func(x float64) bool {
			sum := 0.0
			for i := range r.byClass {
				if r.share[i*len(r.groups)+g] != nil && !r.byClass[i].endless() {
					sum += r.lambda[i] * r.byClass[i].tail(x)
				}
			}
			return sum <= r.mu[g]*float64(r.groups[g].n)/2
		})
	}
	return func(x float64) float64 {
		rate, scale := 0.0, math.Inf(1)
		for i := range r.byClass {
			rate += r.lambda[i] * r.byClass[i].tail(x)
			scale = min(scale, r.byClass[i].scale(x))
		}
		for g, group := range r.groups {
			busy := min(1, 3*math.Exp(-r.mu[g]*max(0, x-long[g])))
			rate += r.mu[g] * max(1, busy*float64(group.n))
		}
		return fineness * min(1/rate, scale/2)
	}
}
