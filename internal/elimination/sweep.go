package elimination

import (
	"context"
	"slices"
)

// A pair is a function x, and if weights are asked for the same with them, y: see sweep.
type pair struct {
	x, y  curve
	bound float64 // of |log(kept/true)| of both
}

// A message holds q, r and m of a direction of a forest.
type message struct{ q, r, m pair }

// A sweep holds the messages of a forest on one partition.
//
// With a weight c > 0 it also keeps each function with the weight Ŷ = Σ_i λ_i min_{S_i} T + c n of the classes and the n servers integrated out; q̂ for q and so on:
//
//	q̂ = (c + λ_s x) q + Σ_k m̂_k Π_{j≠k} m_j,  r̂' = κ r̂ - q̂,  m̂' = λ e^{-μx} (r̂ + (1 + λx) r) - g m̂,  m̂(0) = r̂(0).
type sweep struct {
	*forest
	solver
	ctx      context.Context
	weight   float64
	messages []message
	drift    float64 // bound of what the errors of exponents add to that of a message: they count up to T
}

func (f *forest) newSweep(ctx context.Context, g *panels, weight float64) *sweep {
	return &sweep{forest: f, solver: solver{g, make([]float64, g.count())}, ctx: ctx, weight: weight, messages: make([]message, 2*len(f.edges)), drift: f.inexact * g.last()}
}

// pass finds the messages towards the root, and those away from it unless a polynomial has a larger defect than the target.
func (w *sweep) pass(target float64) error {
	for _, s := range w.order {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if d := w.parent[s]; d >= 0 {
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

// one returns the function 1, with the weight c + λx.
func (w *sweep) one(lambda float64) pair {
	p := w.unit()
	for k := range p.y {
		var defect float64
		p.y[k], defect = w.linear(k, w.weight, lambda)
		p.bound = max(p.bound, defect)
	}
	return p
}

// unit returns the function 1 without a weight.
func (w *sweep) unit() pair {
	p := pair{x: make(curve, w.count())}
	for k := range p.x {
		p.x[k] = piece{poly{0.5}, 1}
	}
	if w.weight > 0 {
		p.y = make(curve, w.count())
	}
	return p
}

// multiply sets p to p m. Weights are added: the new y is p.y m.x + p.x m.y.
func (w *sweep) multiply(p, m *pair) {
	worst := 0.0
	for k := range p.x {
		if w.weight > 0 {
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

// gather returns the product of the m into s but for that of one direction; of none if it is -1.
func (w *sweep) gather(s, but int) pair {
	q := w.one(w.own[s])
	for _, d := range w.into[s] {
		if d != but {
			w.multiply(&q, &w.messages[d].m)
		}
	}
	return q
}

// spread sends the messages from s to all servers but its parent. Each takes the product of the m before it in the list and of those after it.
func (w *sweep) spread(s int) error {
	into := w.into[s]
	q := make([]pair, len(into))
	rest := w.one(w.own[s])
	for i, d := range slices.Backward(into) {
		q[i] = pair{slices.Clone(rest.x), slices.Clone(rest.y), rest.bound}
		w.multiply(&rest, &w.messages[d].m)
	}
	rest = w.unit()
	for i, d := range into {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if d^1 != w.parent[s] {
			w.multiply(&q[i], &rest)
			w.send(d^1, q[i])
		}
		w.multiply(&rest, &w.messages[d].m)
	}
	return nil
}

// send finds the message of direction d from its q.
func (w *sweep) send(d int, q pair) {
	lambda, kappa := w.edges[d/2].rate, w.decay[d]
	growth, mu := w.growth[d], max(0, kappa-lambda)
	r, m := pair{bound: q.bound}, pair{}
	var ofR, ofM float64
	r.x, ofR = w.backward(kappa, 1, q.x, smoothest)
	m.x, ofM = w.forward(lambda, growth, mu, r.x, r.x)
	if w.weight > 0 {
		var of, defect float64
		r.y, of = w.backward(kappa, 1, q.y, smoothest)
		ofR = max(ofR, of)
		source := make(curve, len(q.y))
		for k := range source {
			line, d1 := w.linear(k, 1, lambda)
			mine, d2 := w.product(k, &line, &r.x[k])
			both, d3 := w.sum(k, &mine, &r.y[k])
			source[k] = both
			defect = max(defect, d1+d2+d3)
		}
		m.y, of = w.forward(lambda, growth, mu, source, r.y)
		ofM = max(ofM, defect+of)
	}
	r.bound += ofR
	m.bound = r.bound + ofM + w.drift
	w.messages[d] = message{q, r, m}
}
