package oneserver

import (
	"context"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/num"
)

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
	*pace
	lattice.Box
	work []float64 // μ(k) by state

	// The fractions q_i(k) > 0 of the draws of class i among the servers of state k: those of state
	// at are number insideEnd[at-1] to insideEnd[at].
	insideEnd []int32
	inside    []int32 // classes
	fractions []float64

	// Likewise the neighbours of each state, the groups in which they differ, and the rates k_g μ_g
	// between the states.
	belowEnd, aboveEnd     []int32
	below, above           []int32
	belowGroup, aboveGroup []int32
	down, up               []float64

	// by neighbour above: the probability that the servers which become idle next, going back in
	// time, lead to it
	rise []float64

	corners []int // states in which the servers of a group are all busy or all idle

	method  *collocation
	weights []float64 // a(0)
	final   []float64 // u(∞)

	// buffers of addStep: sums at the nodes by class, and by class and group; 0 by class
	sums     [][stages]float64
	fraction []float64
}

// bytesOfRace returns the memory of a race and of the numbers of one step, for each state: five
// vectors, two numbers for each stage, and the entries of neighbours and classes. A [backward]
// takes half of the limit on memory for the numbers of other steps.
func (p *part) bytesOfRace() float64 {
	const vector, neighbour, entry = 8, 8 + 4 + 4, 4 + 8
	neighbours := 2 * float64(len(p.groups)) // above and below
	return vector*(5+2*stages+float64(len(p.groups))) + neighbour*neighbours + entry*float64(len(p.classes))
}

// newRace tabulates the equations of a part.
func newRace(ctx context.Context, p *pace) (*race, error) {
	r := &race{pace: p, Box: lattice.FirstFastest(p.limits()), method: newCollocation()}
	share := make([][]float64, len(p.classes)*len(p.groups))
	for i, c := range p.classes {
		for _, choice := range c.choices {
			for _, x := range shares(p.groups[choice.group].n, choice.servers) {
				k := i*len(p.groups) + choice.group
				share[k] = append(share[k], num.Nearest(x))
			}
		}
	}
	x := make([]int, len(p.groups))
	for at := range r.States {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		work := 0.0
		for g, k := range x {
			work += float64(k) * r.mu[g]
			if k > 0 {
				r.below, r.down = append(r.below, int32(at-r.Stride[g])), append(r.down, float64(k)*r.mu[g])
				r.belowGroup = append(r.belowGroup, int32(g))
			}
			if k < r.Limits[g] {
				r.above, r.up = append(r.above, int32(at+r.Stride[g])), append(r.up, float64(k+1)*r.mu[g])
				r.aboveGroup = append(r.aboveGroup, int32(g))
			}
		}
		r.work = append(r.work, work)
		if isCorner(x, r.Limits) {
			r.corners = append(r.corners, at)
		}
		for i := range p.classes {
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
		r.Next(x)
	}
	r.addWeights()
	r.addFinal()
	r.sums = make([][stages]float64, len(p.classes)*(2+len(p.groups)))
	r.fraction = make([]float64, len(p.classes))
	return r, ctx.Err()
}

// span returns the entries of a state in lists with these ends.
func span(ends []int32, at int) (first, end int32) {
	if at > 0 {
		first = ends[at-1]
	}
	return first, ends[at]
}

// Vectors are rescaled by small beyond large. Then a step may still multiply a number by 2^364.
const (
	large = 0x1p+660
	small = 0x1p-660
)

// addWeights computes a(0), up to a factor: by counts,
//
//	a(k) = Σ_g (k_g+1) μ_g a(k+e_g) / Σ_i λ_i (1 - q_i(k)).
//
// States beyond the range of float64 in comparison with others become 0. Each term is a part of the
// sum, and gives the probability of the step to k+e_g; these parts keep their range.
func (r *race) addWeights() {
	r.weights = make([]float64, r.States)
	r.weights[r.States-1] = 1
	r.rise = make([]float64, len(r.above))
	wide := make([]arithmetic.Wide, r.States)
	wide[r.States-1] = arithmetic.Wide{F: 1}
	outside := make([]float64, len(r.lambda))
	for at := r.States - 2; at >= 0; at-- {
		sum := 0.0
		var total arithmetic.Wide
		first, end := span(r.aboveEnd, at)
		for k := first; k < end; k++ {
			sum += r.up[k] * r.weights[r.above[k]]
			total = total.Plus(arithmetic.NewWide(r.up[k], 0).Times(wide[r.above[k]]))
		}
		for k := first; k < end; k++ {
			r.rise[k] = arithmetic.NewWide(r.up[k], 0).Times(wide[r.above[k]]).Over(total).Double()
		}
		idle := 0.0
		copy(outside, r.lambda)
		for first, end := span(r.insideEnd, at); first < end; first++ {
			outside[r.inside[first]] *= 1 - r.fractions[first]
		}
		for _, x := range outside {
			idle += x
		}
		wide[at] = total.Over(arithmetic.NewWide(idle, 0))
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

// bytesOfGrade returns the memory of a grade.
func (r *race) bytesOfGrade() float64 { return 100 + 2*8*stages*float64(len(r.byClass)) }

func (r *race) newGrade(x, h float64) *grade {
	classes := len(r.byClass)
	numbers := make([][stages]float64, 2*classes)
	g := &grade{x: x, h: h, tail: numbers[:classes], inside: numbers[classes:]}
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

// rescale divides large numbers by a power of 2, and reports whether it did. Those that become 0
// are negligible.
func rescale(v []float64) bool {
	if slices.Max(v) <= large {
		return false
	}
	for k := range v {
		v[k] *= small
	}
	return true
}
