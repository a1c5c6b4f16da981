package forest

import (
	"context"
	"slices"
)

// A pair is a function x and, if weights are requested, its weighted version y: see sweep.
type pair struct {
	x, y  curve
	bound float64 // bound on |log(kept/true)| of both
}

// A message holds q, r and m of a direction of a forest.
type message struct{ q, r, m pair }

// A sweep holds the messages of a forest on one partition.
//
// With weights it also keeps each function with weight Ŷ = Σ_i w_i min_{S_i} T + Σ_s c_s over the
// classes and servers integrated out, such as q̂ for q:
//
//	q̂ = (c_s + w_s x) q + Σ_k m̂_k Π_{j≠k} m_j,  r̂' = κ r̂ - q̂,
//	m̂' = λ e^{-μx} (r̂ + w (1/λ + x) r) - g m̂,  m̂(0) = r̂(0).
type sweep struct {
	*Forest
	solver
	ctx      context.Context
	weights  *weights // nil if there are none
	base     *sweep   // with weights, the unweighted sweep on the same partition, which provides the functions x
	none     curve    // 0
	messages []message
	lack     float64 // logarithm of the error of a probability due to times beyond the panels
	drift    float64 // bound on what the errors of exponents and of sums of rates add to the error of a message
}

// weights holds the weights of a sweep: the constants c_s >= 0 of each server with their mean c >
// 0, and the sums of w_i over the classes of each single server and of each edge, at most the sums
// of their rates. If w_i > 0, the constants of its servers are positive too, so a weighted function
// is either positive or 0 everywhere.
type weights struct {
	constant              float64
	constants, own, edges []float64
}

func (f *Forest) newSweep(ctx context.Context, g *panels, c *weights, base *sweep) *sweep {
	w := &sweep{
		Forest: f, solver: solver{g, make([]float64, g.count())}, ctx: ctx, weights: c, base: base,
		none: make(curve, g.count()), messages: make([]message, 2*len(f.edges)), drift: f.inexact * g.last(),
	}
	for s := range f.capacity {
		w.drift = max(w.drift, f.inexact*g.last()+f.sums(s))
	}
	return w
}

// pass finds the messages towards the root, and then those away from it unless the defect of a
// polynomial exceeds the target.
func (w *sweep) pass(target float64) error {
	for _, s := range w.order {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if d := w.parent[s]; d >= 0 && !w.copies(s, d) {
			w.send(d, w.gather(s, d^1))
		}
	}
	if w.isCoarse(target) {
		return nil
	}
	for _, s := range slices.Backward(w.order) {
		if err := w.spread(s); err != nil {
			return err
		}
	}
	return nil
}

// server returns the function 1, with the weight c + w_s x of server s.
func (w *sweep) server(s int) pair {
	if w.weights == nil {
		return w.unit()
	}
	return w.weighted(w.weights.constants[s], w.weights.own[s])
}

// weighted returns the function 1, with the weight c + a x, c > 0 unless both are 0.
func (w *sweep) weighted(c, a float64) pair {
	p := w.unit()
	if c == 0 {
		return p
	}
	for k := range p.y {
		var defect float64
		p.y[k], defect = w.linear(k, c, a)
		p.bound = max(p.bound, defect)
	}
	return p
}

// unit returns the function 1 without weight.
func (w *sweep) unit() pair {
	p := pair{x: make(curve, w.count())}
	for k := range p.x {
		p.x[k] = piece{poly{0.5}, 1}
	}
	if w.weights != nil {
		p.y = make(curve, w.count())
	}
	return p
}

// multiply sets p to p m. Weights are added: the new y is p.y m.x + p.x m.y.
func (w *sweep) multiply(p, m *pair) {
	worst := 0.0
	for k := range p.x {
		if w.weights != nil {
			one, d1 := w.product(k, &p.y[k], &m.x[k])
			two, d2 := w.product(k, &p.x[k], &m.y[k])
			both, d3 := w.sum(k, &one, &two)
			p.y[k] = both
			worst = max(worst, max(d1, d2)+d3)
		}
		var defect float64
		p.x[k], defect = w.product(k, &p.x[k], &m.x[k])
		worst = max(worst, defect)
	}
	p.bound += m.bound + worst
}

// gather returns the product of the messages m into s, except that of direction but (-1 for no
// exception).
func (w *sweep) gather(s, but int) pair {
	q := w.server(s)
	for _, d := range w.into[s] {
		if d != but {
			w.multiply(&q, &w.messages[d].m)
		}
	}
	return q
}

// spread sends the messages from s to all neighbours except its parent. Each uses the product of
// the m before it in the list and of those after it.
func (w *sweep) spread(s int) error {
	into := w.into[s]
	q := make([]pair, len(into))
	rest := w.server(s)
	for i, d := range slices.Backward(into) {
		q[i] = pair{slices.Clone(rest.x), slices.Clone(rest.y), rest.bound}
		w.multiply(&rest, &w.messages[d].m)
	}
	rest = w.unit()
	for i, d := range into {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if d^1 != w.parent[s] && !w.copies(s, d^1) {
			w.multiply(&q[i], &rest)
			w.send(d^1, q[i])
		}
		w.multiply(&rest, &w.messages[d].m)
	}
	return nil
}

// copies reports whether the message of direction d out of s has no weight, and in that case copies
// it from the base.
func (w *sweep) copies(s, d int) bool {
	if w.base == nil || w.weights.constants[s] > 0 {
		return false
	}
	for _, in := range w.into[s] {
		if in != d^1 && w.messages[in].m.y[0].poly[0] != 0 {
			return false
		}
	}
	b := w.base.messages[d]
	b.q.y, b.r.y, b.m.y = w.none, w.none, w.none
	w.messages[d] = b
	return true
}

// send finds the message of direction d from its q.
func (w *sweep) send(d int, q pair) {
	lambda, kappa := w.edges[d/2].rate, w.decay[d]
	growth, mu := w.growth[d], max(0, kappa-lambda)
	r, m := pair{}, pair{}
	var ofR, ofM float64
	if w.base != nil {
		r, m = w.base.messages[d].r, w.base.messages[d].m
	} else {
		r.x, ofR = w.backward(kappa, 1, q.x, smoothest)
		m.x, ofM = w.forward(lambda, growth, mu, r.x, r.x)
	}
	if w.weights != nil {
		var bound float64
		r.y, bound = w.backward(kappa, 1, q.y, smoothest)
		ofR = max(ofR, bound)
		source, defect := w.source(&r, lambda, w.weights.edges[d/2])
		m.y, bound = w.forward(lambda, growth, mu, source, r.y)
		ofM = max(ofM, defect+bound)
	}
	r.bound = max(r.bound, q.bound+ofR+w.drift)
	m.bound = max(m.bound, r.bound+ofM+w.drift)
	w.messages[d] = message{q, r, m}
}

// source returns r̂ + w (1/λ + x) r, and its bound.
func (w *sweep) source(r *pair, lambda, weight float64) (source curve, bound float64) {
	if weight == 0 {
		return r.y, 0
	}
	source = make(curve, len(r.y))
	for k := range source {
		line, d1 := w.linear(k, weight/lambda, weight)
		own, d2 := w.product(k, &line, &r.x[k])
		both, d3 := w.sum(k, &own, &r.y[k])
		source[k] = both
		bound = max(bound, d1+d2+d3)
	}
	return source, bound
}
