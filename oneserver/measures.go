package oneserver

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
)

// measures are the means of a part.
type measures struct {
	wait  []arithmetic.Number // P(W_i > 0) of each class
	queue []arithmetic.Number // E[Q_i], waiting jobs of each class
	busy  []arithmetic.Number // utilization of the servers of each group

	// at class*groups+group: the rates at which jobs of a class begin on the servers of a group,
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
//	b_ig       = λ_i/Z Σ_k q_i(k) d_ig/k_g μ_g G_g(k) A(k) / d(k).
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
			if q.Sign() == 0 {
				continue
			}
			share := w.one.Rational(q)
			m.wait[i] = m.wait[i].Add(share.Mul(w.weight[at]))
			m.queue[i] = m.queue[i].Add(share.Mul(wall[at]).Mul(w.busy[at]))
			begins := share.Mul(w.free[at])
			for _, choice := range c.choices {
				below := at - w.Stride[choice.group]
				each := begins.Mul(w.one.Integer(choice.servers)).Quo(w.one.Integer(x[choice.group]))
				to := &m.direct[i*n+choice.group]
				*to = to.Add(each.Mul(w.down[below]).Quo(w.idle[below]))
			}
		}
		w.Next(x)
	}
	for g := range w.groups {
		if err := w.addWaited(ctx, m, g, wall); err != nil {
			return nil, err
		}
	}
	m.divide(w.part, w.z)
	return m, nil
}

// addWaited adds the jobs that servers of a group begin after they have waited:
//
//	G_g(k) = [F(k-e_g) + Σ_h G_g(k-e_h)] / (d(k-e_g) + μ_g),  k_g > 0.
func (w *sweep) addWaited(ctx context.Context, m *measures, g int, wall []arithmetic.Number) error {
	n := len(w.groups)
	capacity := w.one.Rational(w.groups[g].capacity)
	v, x := make([]arithmetic.Number, w.States), make([]int, n)
	for at := range v {
		if err := ctx.Err(); err != nil {
			return err
		}
		if x[g] == 0 {
			w.Next(x)
			continue
		}
		without := at - w.Stride[g]
		sum := w.busy[without]
		for h, k := range x {
			if k > 1 || k == 1 && h != g {
				sum = sum.Add(v[at-w.Stride[h]])
			}
		}
		v[at] = sum.Quo(w.gain[without].Add(capacity))
		for i := range w.classes {
			d := w.chosen(i, g)
			if d == 0 {
				continue
			}
			if q := w.fraction(i, x); q.Sign() > 0 {
				each := w.one.Rational(q.Mul(q, big.NewRat(int64(d), int64(x[g])))).Mul(capacity)
				to := &m.waited[i*n+g]
				*to = to.Add(each.Mul(v[at]).Mul(wall[at]))
			}
		}
		w.Next(x)
	}
	return nil
}
