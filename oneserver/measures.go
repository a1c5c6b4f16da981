package oneserver

import (
	"context"

	"productform/internal/arithmetic"
)

// measures are the means of a part.
type measures struct {
	wait  []arithmetic.Number // P(W_i > 0) of each class
	queue []arithmetic.Number // E[Q_i], waiting jobs of each class
	busy  []arithmetic.Number // utilization of the servers of each group

	// at class*groups+group: the rates at which jobs of a class start on the servers of a group,
	// without waiting and after waiting
	direct, waited []arithmetic.Number
}

// newMeasures returns measures that are all 0.
func newMeasures(p *part, zero arithmetic.Number) *measures {
	zeros := func(n int) []arithmetic.Number {
		list := make([]arithmetic.Number, n)
		for i := range list {
			list[i] = zero
		}
		return list
	}
	classes, groups := len(p.classes), len(p.groups)
	return &measures{wait: zeros(classes), queue: zeros(classes), busy: zeros(groups),
		direct: zeros(classes * groups), waited: zeros(classes * groups)}
}

// divide divides sums over the states by Z, and multiplies those of a class by its arrival rate.
func (m *measures) divide(p *part, z arithmetic.Number) {
	for i, c := range p.classes {
		rate := z.Rational(c.rate)
		m.wait[i] = m.wait[i].Quo(z)
		m.queue[i] = m.queue[i].Mul(rate).Quo(z)
		for g := range p.groups {
			k := i*len(p.groups) + g
			m.direct[k] = m.direct[k].Mul(rate).Quo(z)
			m.waited[k] = m.waited[k].Mul(rate).Quo(z)
		}
	}
	for g := range m.busy {
		m.busy[g] = m.busy[g].Quo(z)
	}
}

// measure sums over the states, with q_i(k) the fraction of the draws of class i among the busy
// servers and d_ig the number of servers that it draws from group g:
//
//	P(W_i > 0) = Σ_k q_i(k) F(k) H(k) / Z,
//	E[Q_i]     = λ_i/Z Σ_k q_i(k) A(k) F(k) / d(k),
//	a_ig       = λ_i/Z Σ_k q_i(k) d_ig/k_g H(k) B(k-e_g) / (λ - λ(k-e_g)),
//	b_ig       = λ_i/Z Σ_k q_i(k) d_ig/k_g F(k-e_g) A(k) / d(k).
func (w *sweep) measure(ctx context.Context) (*measures, error) {
	n := len(w.groups)
	m := newMeasures(w.part, w.one.Zero())
	wall := make([]arithmetic.Number, w.States) // A(k)/d(k)
	x := make([]int, n)
	for at := range w.States {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if at > 0 {
			wall[at] = w.up[at].Quo(w.gain[at])
		}
		for g, k := range x {
			if k > 0 {
				m.busy[g] = m.busy[g].Add(w.weight[at].Mul(w.one.Integer(k)).Quo(w.one.Integer(w.Limits[g])))
			}
		}
		for i, c := range w.classes {
			q := w.fraction(i, x)
			if q == nil {
				continue
			}
			share := w.one.Rational(q)
			m.wait[i] = m.wait[i].Add(share.Mul(w.weight[at]))
			m.queue[i] = m.queue[i].Add(share.Mul(wall[at]).Mul(w.busy[at]))
			for _, choice := range c.choices {
				below, k := at-w.Stride[choice.group], i*n+choice.group
				each := share.Mul(w.one.Integer(choice.servers)).Quo(w.one.Integer(x[choice.group]))
				m.direct[k] = m.direct[k].Add(each.Mul(w.free[at]).Mul(w.down[below]).Quo(w.idle[below]))
				m.waited[k] = m.waited[k].Add(each.Mul(w.busy[below]).Mul(wall[at]))
			}
		}
		w.Next(x)
	}
	m.divide(w.part, w.z)
	return m, nil
}
