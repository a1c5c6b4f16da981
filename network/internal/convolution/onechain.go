package convolution

import (
	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// With one chain the series of a station is a list, f_j = Π_{i <= j} D/α'(i). The terms that a
// station with many servers adds to H are then sums Σ_j f_j H(n - j) at the few requested
// populations, instead of sweeps over the table:
//
//	G(n) = Σ_j f_j H(n-j),   [(f - 1) H](n) = Σ_{j >= 1} f_j H(n-j),   [Y_1 H](n) = Σ_j (j+1) f_{j+1}/f_1 H(n-j).

// isDirect reports whether these sums take less work than the sweeps for group g.
func (c *convolver[T]) isDirect(g int) bool {
	return len(c.Most) == 1 && c.Groups[g].Shared == nil && len(c.over[g]) > 4*len(c.at)
}

// list returns Π_{first <= i <= first+j-1} D/α'(i) for j = 0, ..., N. The error is the
// context's.
func (c *convolver[T]) list(g, first int) ([]arithmetic.Number, error) {
	over := c.over[g]
	stop := recursion.Cancellation{Ctx: c.ctx}
	f := append(make([]arithmetic.Number, 0, c.Most[0]+1), c.one)
	for j := range c.Most[0] {
		if err := stop.After(recursion.BigSteps); err != nil {
			return nil, err
		}
		f = append(f, f[j].Mul(over[min(first+j, len(over))-1][0]))
	}
	return f, nil
}

// measureDirectly computes the same results as measure, using lists.
func (w *worker[T]) measureDirectly(g int, h T) error {
	t := w.table()
	defer w.free(t)
	f, err := w.list(g, 1)
	if err != nil {
		return err
	}
	if g == 0 {
		t.SetProducts([][]arithmetic.Number{f})
		w.sums = w.sumsOf(func(i int) arithmetic.Number { return h.Convolved(t, i) })
	}
	if w.needsBusyProbability(g) {
		f[0] = w.one.Zero()
		t.SetProducts([][]arithmetic.Number{f})
		for n, i := range w.at {
			some := h.Convolved(t, i)
			w.results[n].Groups[g].Some = &some
		}
	}
	y, err := w.list(g, 2)
	if err != nil {
		return err
	}
	stop := recursion.Cancellation{Ctx: w.ctx}
	for j := range y {
		if err := stop.After(recursion.BigSteps); err != nil {
			return err
		}
		y[j] = y[j].Mul(w.one.Integer(j + 1))
	}
	t.SetProducts([][]arithmetic.Number{y})
	for n, slope := range w.sumsOf(func(i int) arithmetic.Number { return h.Convolved(t, i) }) {
		m := &w.results[n].Groups[g]
		m.Empty, m.Open, m.Closed = h.At(w.at[n]), slope.at, slope.below
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return w.groupPowers(g, h)
}
