package elimination

import (
	"productform/internal/arithmetic"
)

// A pair holds the measures of the ends a and b of an edge.
type pair struct {
	z, least arithmetic.Number    // the integral of all, and E~[min(T_a, T_b)]
	before   [2]arithmetic.Number // P~(T_a < T_b), P~(T_b < T_a)
}

// pairOf returns the measures of edge e with ends a and b. At T_a = x < T_b the density is F_a(x) e^{λx} R_b(x) = e^{-κx} q_a r_b, with κ = κ_a + κ_b - λ, so that
// e^{-κx} γ(x) = ∫_x^∞ e^{-κy} (q_a r_b + q_b r_a) dy is P(min > x), γ(0) the integral over all, and the mean minimum ∫ e^{-κx} γ(x) dx over that.
func (w *sweep) pairOf(e int) pair {
	there, back := &w.messages[2*e], &w.messages[2*e+1]
	kappa := w.decay[2*e] + w.decay[2*e+1] - w.edges[e].rate
	var first [2]curve
	var bounds [2]float64
	for i, x := range [2][2]*message{{there, back}, {back, there}} {
		density := newCurve(w.count())
		defect := 0.0
		for k := range w.count() {
			defect = max(defect, w.product(&density, k, &x[0].q, &x[1].r))
		}
		first[i] = newCurve(w.count())
		bounds[i] = x[0].ofQ + x[1].ofR + defect + w.drift + w.backward(&first[i], kappa, &density)
	}
	gamma, defect := newCurve(w.count()), 0.0
	for k := range w.count() {
		defect = max(defect, w.sum(&gamma, k, &first[0], &first[1]))
	}
	bound := max(bounds[0], bounds[1]) + defect
	r := pair{z: gamma.number(bound + tail)}
	r.least = w.mean(&gamma, kappa, bound, r.z)
	for i := range first {
		r.before[i] = first[i].number(bounds[i]).Quo(r.z)
	}
	return r
}

// mean returns ∫ e^{-κx} γ(x) dx / z.
func (w *sweep) mean(gamma *curve, kappa, bound float64, z arithmetic.Number) arithmetic.Number {
	area := newCurve(w.count())
	bound += w.backward(&area, kappa, gamma)
	return area.number(bound + tail).Quo(z)
}

// single returns ∫ F of all of server s, and E~[T_s].
func (w *sweep) single(s int) (z, mean arithmetic.Number) {
	q, bound := w.gather(s, -1)
	gamma := newCurve(w.count())
	kappa := w.total(s)
	bound += w.drift + w.backward(&gamma, kappa, &q)
	z = gamma.number(bound + tail)
	return z, w.mean(&gamma, kappa, bound, z)
}

// A part of a result is that of one component.
type part struct {
	normalization arithmetic.Number
	alone         []arithmetic.Number // E~[T_s] of each server with classes of its own
	least         []arithmetic.Number // E~[min] of each edge
	busy          []arithmetic.Number // of each server
}

// measures goes through all servers and edges, and returns nil as soon as a polynomial has a larger defect than the target.
func (w *sweep) measures(target float64) (*part, error) {
	for _, pass := range []func() error{w.up, w.down} {
		if err := pass(); err != nil || w.isCoarse(target) {
			return nil, err
		}
	}
	n := len(w.capacity)
	r := &part{alone: make([]arithmetic.Number, n), least: make([]arithmetic.Number, len(w.edges)), busy: make([]arithmetic.Number, n)}
	for s := range n {
		r.busy[s] = arithmetic.FromFloat(w.own[s], w.sums(s))
	}
	for e, k := range w.edges {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		m := w.pairOf(e)
		r.least[e] = m.least
		for i, s := range k.ends {
			r.busy[s] = r.busy[s].Add(arithmetic.FromFloat(k.rate, w.sums(k.ends[0])).Mul(m.before[i]))
		}
		r.normalization = m.z
	}
	for s := range n {
		if w.own[s] > 0 || len(w.edges) == 0 {
			if err := w.ctx.Err(); err != nil {
				return nil, err
			}
			r.normalization, r.alone[s] = w.single(s)
		}
		if r.busy[s].F != 0 { // the horizon errs by tail times the rates around
			r.busy[s].Bound = arithmetic.Compound(r.busy[s].Bound, tail*w.around(s)/r.busy[s].Double()*(1+0x1p-20), 0)
		}
		r.busy[s] = r.busy[s].Quo(arithmetic.FromFloat(w.capacity[s], 0))
	}
	for _, c := range w.capacity {
		r.normalization = r.normalization.Mul(arithmetic.FromFloat(c, 0))
	}
	if w.isCoarse(target) {
		return nil, nil
	}
	return r, nil
}

// sums returns a bound of the relative error of sums of rates of classes of server s.
func (f *forest) sums(s int) float64 {
	if f.exact {
		return 0
	}
	return arithmetic.Roundings(float64(f.terms[s]))
}

// worst returns the largest bound of the numbers of a part.
func (r *part) worst() float64 {
	worst := r.normalization.Bound
	for _, list := range [][]arithmetic.Number{r.alone, r.least, r.busy} {
		for _, x := range list {
			worst = max(worst, x.Bound)
		}
	}
	return worst
}
