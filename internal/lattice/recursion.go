package lattice

import (
	"context"

	"productform/internal/arithmetic"
)

// A Recursion is the recursion over the states y of a box, y_i <= m_i, of a queue whose total rate
// μ depends on the number of jobs of each class only up to m_i: over the sets of active classes if
// all m_i are 1. With d(y) = μ(y) - Σ_{i: y_i=m_i} λ_i > 0,
//
//	d(y) G(y) = Σ_{i: y_i>0} λ_i G(y-e_i),  G(0) = 1,
//	d(y) V(y) = c(y) + Σ_{i: y_i<m_i} λ_i V(y+e_i).
//
// G(y) is the measure of all x with min(x_i, m_i) = y_i for every i (Bonald, Comte and Mathieu,
// POMACS 1(2), 2017, https://doi.org/10.1145/3154500), and V its adjoint: the contribution of a
// unit of weight entering y to the sum of weights, each counted c times. Numbers are only added,
// multiplied and divided, in their own arithmetic. Functions return promptly after cancellation,
// with the error of the context.
type Recursion struct {
	Lattice                     // a box
	Lambda  []arithmetic.Number // λ_i
	Drain   []arithmetic.Number // d(y) at the index of y; that of 0 is not used
}

// Up returns G at the index of every state.
func (r *Recursion) Up(ctx context.Context) ([]arithmetic.Number, error) {
	g := make([]arithmetic.Number, r.States)
	g[0] = r.Lambda[0].One()
	zero := r.Lambda[0].Zero()
	for w := Walk(r.Lattice); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		flow := zero
		for i, y := range w.X {
			if y > 0 {
				flow = flow.Add(r.Lambda[i].Mul(g[w.At-r.Stride[i]]))
			}
		}
		g[w.At] = flow.Quo(r.Drain[w.At])
	}
	return g, nil
}

// Down returns V at the index of every state except 0, for c(y) = source(index of y).
func (r *Recursion) Down(ctx context.Context, source func(at int) arithmetic.Number) ([]arithmetic.Number, error) {
	v := make([]arithmetic.Number, r.States)
	for at := r.States - 1; at > 0; at-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		flow := source(at)
		for i, m := range r.Limits {
			if r.Digit(at, i) < m {
				flow = flow.Add(r.Lambda[i].Mul(v[at+r.Stride[i]]))
			}
		}
		v[at] = flow.Quo(r.Drain[at])
	}
	return v, nil
}

// Measures returns G at the index of every state, Z = Σ_y G(y), and for all classes
//
//	E[X_i] = λ_i/Z ∂Z/∂λ_i = λ_i/Z Σ_{y: y_i>0} V(y) (G(y-e_i) + G(y) [y_i=m_i]),
//
// where V is the adjoint for c = 1. [Floats] is faster if float64 suffices.
func (r *Recursion) Measures(ctx context.Context) (g, jobs []arithmetic.Number, z arithmetic.Number, err error) {
	one := r.Lambda[0].One()
	if g, err = r.Up(ctx); err != nil {
		return nil, nil, z, err
	}
	v, err := r.Down(ctx, func(int) arithmetic.Number { return one })
	if err != nil {
		return nil, nil, z, err
	}
	z, err = arithmetic.Sum(ctx, 0, r.States-1, func(at int) arithmetic.Number { return g[at] })
	if err != nil {
		return nil, nil, z, err
	}
	zero := one.Zero()
	for i, m := range r.Limits {
		sum, err := arithmetic.Sum(ctx, 0, r.States-1, func(at int) arithmetic.Number {
			switch at / r.Stride[i] % (m + 1) {
			case 0:
				return zero
			case m:
				return v[at].Mul(g[at-r.Stride[i]].Add(g[at]))
			}
			return v[at].Mul(g[at-r.Stride[i]])
		})
		if err != nil {
			return nil, nil, z, err
		}
		jobs = append(jobs, r.Lambda[i].Mul(sum).Quo(z))
	}
	return g, jobs, z, nil
}
