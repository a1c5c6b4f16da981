package elimination

import (
	"math"

	"productform/internal/arithmetic"
)

// A moment holds E~[τ], E~[Ŷ] and E~[τ Ŷ] of the time τ that a class is served, min_{S_i} T, or of T_s, with Ŷ = Y + c n, Y = Σ_i w_i min_{S_i} T. Where
// w_i is λ_i or 0, E~[Y] = Σ_i w_i ∂ log Z/∂λ_i is the mean number of jobs of some classes, so that
//
//	∂/∂λ_i E~[Y] = w_i/λ_i E~[min_{S_i} T] + Cov~(min_{S_i} T, Y),  ∂/∂C_s E~[Y] = -Cov~(T_s, Y),
//
// and constants have no covariances.
type moment struct{ mean, weight, both arithmetic.Number }

// rate returns the derivative in the rate of a class that is served during τ, and is counted or not.
func (m moment) rate(counted bool) Difference {
	d := Difference{m.both, m.mean.Mul(m.weight)}
	if counted {
		d.Plus = d.Plus.Add(m.mean)
	}
	return d
}

// capacity returns that in the capacity of the server.
func (m moment) capacity() Difference { return Difference{m.mean.Mul(m.weight), m.both} }

// extraWeight returns what horizon needs for moments with a weight c.
func (f *forest) extraWeight(constant float64) float64 {
	total := 0.0
	for s := range f.capacity {
		total += f.around(s)
	}
	return 1 + math.Log1p(2*total/(f.slack*constant))
}

// weigh returns the weights of one class, or of all if it is -1, with a constant that gives about as much: one near their mean number of jobs.
func (f *forest) weigh(class int, r *part) *weights {
	c := &weights{own: make([]float64, len(f.capacity)), edges: make([]float64, len(f.edges))}
	for i, k := range f.classes {
		if class >= 0 && i != class {
			continue
		}
		c.constant += k.rate * r.times[i].Double()
		if k.shared {
			c.edges[k.at] += k.rate
		} else {
			c.own[k.at] += k.rate
		}
	}
	if c.constant == 0 {
		c.constant = 1
	}
	c.constant /= float64(len(f.capacity))
	return c
}

// gradients returns the derivatives of the mean number of jobs of one class, or of all if it is -1, by a sweep with their weights. They mean nothing if a polynomial
// has a larger defect than the target.
func (w *sweep) gradients(class int, target float64) (g Gradients, err error) {
	if err := w.pass(target); err != nil || w.isCoarse(target) {
		return g, err
	}
	shared, alone := make([]moment, len(w.edges)), make([]moment, len(w.capacity))
	for e := range w.edges {
		if err := w.ctx.Err(); err != nil {
			return g, err
		}
		parts, kappa := w.joint(e)
		f, own := w.add(&parts[0], &parts[1]), w.weighted(w.weights.edges[e])
		w.multiply(&f, &own)
		shared[e] = w.momentOf(&f, kappa)
	}
	for s := range alone {
		if err := w.ctx.Err(); err != nil {
			return g, err
		}
		f := w.gather(s, -1)
		f.bound += w.drift
		alone[s] = w.momentOf(&f, w.total(s))
		g.Capacities = append(g.Capacities, alone[s].capacity())
	}
	for i, k := range w.classes {
		g.Rates = append(g.Rates, entry(k, shared, alone).rate(class < 0 || class == i))
	}
	return g, nil
}

// momentOf returns the moment of a time of the density e^{-κx} f(x).
func (w *sweep) momentOf(f *pair, kappa float64) moment {
	var sums, areas [2]arithmetic.Number
	for i, part := range []curve{f.x, f.y} {
		gamma, bound := w.backward(kappa, 1, part, smoothest)
		area, more := w.backward(kappa, 1, gamma, smoothest)
		sums[i] = gamma.number(f.bound + bound + tail)
		areas[i] = area.number(f.bound + bound + more + tail)
	}
	return moment{areas[0].Quo(sums[0]), sums[1].Quo(sums[0]), areas[1].Quo(sums[0])}
}
