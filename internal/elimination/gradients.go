package elimination

import (
	"math"

	"productform/internal/arithmetic"
)

// A moment holds E~[τ], E~[Ŷ] and E~[τ Ŷ] of the time τ that a class is served, min_{S_i} T, or of T_s, with Ŷ = Y + c n, Y = Σ_i λ_i min_{S_i} T. The mean number of
// jobs is E~[Y] = Σ_i λ_i ∂ log Z/∂λ_i, so that
//
//	∂/∂λ_i E~[Y] = E~[min_{S_i} T] + Cov~(min_{S_i} T, Y),  ∂/∂C_s E~[Y] = -Cov~(T_s, Y),
//
// and constants have no covariances.
type moment struct{ mean, weight, both arithmetic.Number }

// rate returns the derivative of the mean number of jobs in the rate of a class that is served during τ.
func (m moment) rate() Difference { return Difference{m.mean.Add(m.both), m.mean.Mul(m.weight)} }

// capacity returns that in the capacity of the server.
func (m moment) capacity() Difference { return Difference{m.mean.Mul(m.weight), m.both} }

// extraWeight returns what horizon needs for moments with a weight c.
func (f *forest) extraWeight(weight float64) float64 {
	total := 0.0
	for s := range f.capacity {
		total += f.around(s)
	}
	return 1 + math.Log1p(2*total/(f.slack*weight))
}

// gradients adds the derivatives to a part, by a sweep with weights, unless a polynomial has a larger defect than the target.
func (w *sweep) gradients(r *part, target float64) error {
	if err := w.pass(target); err != nil || w.isCoarse(target) {
		return err
	}
	shared := make([]Difference, len(w.edges))
	for e, k := range w.edges {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		parts, kappa := w.joint(e)
		f, own := w.add(&parts[0], &parts[1]), w.one(k.rate)
		w.multiply(&f, &own)
		shared[e] = w.momentOf(&f, kappa).rate()
	}
	alone := make([]Difference, len(w.capacity))
	r.capacities = make([]Difference, len(w.capacity))
	for s := range w.capacity {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		f := w.gather(s, -1)
		f.bound += w.drift
		m := w.momentOf(&f, w.total(s))
		r.capacities[s], alone[s] = m.capacity(), m.rate()
	}
	r.rates = make([]Difference, len(w.classes))
	for i, k := range w.classes {
		r.rates[i] = in(k, shared, alone)
	}
	return nil
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
