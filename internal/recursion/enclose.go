package recursion

import (
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
	"productform/num"
)

// Enclose returns the measures of a graph, computed in big.Float of prec bits twice, once with
// every operation rounded down and once rounded up. Since all recursions add, multiply and divide
// positive numbers, and the denominators are exact integers, the two runs enclose every number. The
// error is the context's.
func Enclose(ctx context.Context, p *Problem, g *Graph, prec uint) (Measures, error) {
	low, high := newBoundRun(ctx, p, g, prec, big.ToNegativeInf), newBoundRun(ctx, p, g, prec, big.ToPositiveInf)
	if err := Both(low.run, high.run); err != nil {
		return Measures{}, err
	}
	between := func(low, high *big.Float) arithmetic.Number {
		return arithmetic.Number{Interval: num.Interval{Low: low, High: high}}
	}
	root := g.States() - 1
	z := between(&low.Value[root], &high.Value[root])
	m := Measures{Normalization: z}
	for s := range p.Groups {
		part := between(&low.part[s], &high.part[s]).Quo(z)
		if !g.ByClass {
			part = part.OneMinus()
		}
		m.Busy = append(m.Busy, part)
	}
	for i := range p.Classes {
		m.Jobs = append(m.Jobs, between(&low.jobs[i], &high.jobs[i]).Quo(z))
	}
	return m, nil
}

// EncloseValues returns lower and upper bounds, of prec bits, on the values of all states of a
// graph. The error is the context's.
func EncloseValues(ctx context.Context, p *Problem, g *Graph, prec uint) (low, high []big.Float, err error) {
	below, above := newBoundRun(ctx, p, g, prec, big.ToNegativeInf), newBoundRun(ctx, p, g, prec, big.ToPositiveInf)
	err = Both(below.Up, above.Up)
	return below.Value, above.Value, err
}

// A boundRun computes lower bounds, or upper bounds, on all numbers of a graph.
type boundRun struct {
	*Sweep[big.Float, *Rounded]
	problem *Problem
	shares  *ShareReader // nil unless the graph has shares
	edge    *big.Float   // factor of shares
	rates   []*big.Float
	jobs    []big.Float // Z E[X_i]
	part    []big.Float // Z P(busy) of each server on the class lattice, Z P(idle) on others
	product *big.Float  // current product
}

func newBoundRun(ctx context.Context, p *Problem, g *Graph, prec uint, mode big.RoundingMode) *boundRun {
	kernel := NewRounded(g, prec, mode)
	sweep := NewSweep(ctx, g, g.States(), &kernel, *kernel.Number(), BigSteps)
	b := &boundRun{problem: p, Sweep: sweep, product: kernel.Number()}
	if g.Shares != nil {
		b.shares, b.edge = g.Shares.Reader(), g.Shares.Edge(mode)
	}
	for _, k := range p.Classes {
		b.rates = append(b.rates, kernel.Number().SetInt(k.Rate))
	}
	b.jobs, b.part = b.Numbers(len(p.Classes)), b.Numbers(len(p.Groups))
	return b
}

func (b *boundRun) run() error {
	if err := b.Up(); err != nil {
		return err
	}
	if err := b.down(); err != nil {
		return err
	}
	if b.ByClass {
		return b.addActive()
	}
	first, _ := b.Terms(b.States() - 1)
	for s := range b.part {
		idle := b.part[s].SetInt64(1)
		for _, c := range b.Children(first + int32(s)) {
			idle.Mul(idle, &b.Value[c])
		}
	}
	return nil
}

// down sums rate_i Σ_k coef(k, i) w(k) v(k) into jobs.
func (b *boundRun) down() error {
	w, carried := b.Numbers(b.States()), []big.Float(nil)
	if b.shares == nil {
		carried = b.Numbers(b.States())
	}
	w[b.States()-1].SetInt64(1)
	loss, coef := b.Kernel.Number(), b.Kernel.Number()
	var buf big.Int
	return b.Down(w, func(k int, w *big.Float) {
		b.Carry(carried, k, loss.Mul(w, &b.Value[k]), func(o, i int32, x *big.Float) {
			if b.shares != nil {
				b.product.Mul(b.product.Mul(x, b.shares.Share(k, i)), b.edge)
			} else {
				b.product.Mul(x, b.rates[i])
			}
			if b.Coef != nil {
				b.product.Mul(b.product, coef.SetInt(b.Coef.At(int(o), &buf)))
			}
			arithmetic.AddFar(&b.jobs[i], b.product)
		})
	})
}

// addActive adds Σ_{A∋i} G(A) to jobs[i], and sets part to Σ G(A) over the sets A that use each
// server. The error is the context's.
func (b *boundRun) addActive() error {
	masks := b.problem.ClassMasks()
	for a := range len(b.Value) - 1 {
		if err := b.Stop.After(BigSteps * (len(b.jobs) + len(masks))); err != nil {
			return err
		}
		for h := a; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			b.jobs[i].Add(&b.jobs[i], &b.Value[a])
		}
		for s, mask := range masks {
			if a&mask != 0 {
				b.part[s].Add(&b.part[s], &b.Value[a])
			}
		}
	}
	return nil
}
