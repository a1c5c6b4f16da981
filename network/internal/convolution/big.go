package convolution

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/recursion"
)

// A number is a math/big number: rounded in one direction, or an integer.
type number[T any] interface {
	*T
	Set(x *T) *T
	SetInt64(x int64) *T
	Mul(x, y *T) *T
	Sign() int
}

// A grid holds a number for every population. It computes in place with its own numbers, so it
// allocates only if numbers outgrow their memory.
type grid[T any, P number[T]] struct {
	ctx     context.Context
	lattice *Lattice
	x       []T
	zero    func() P     // a number with the precision of the grid
	add     func(z, x P) // z ← z + x
}

func newGrid[T any, P number[T]](
	ctx context.Context, l *Lattice, zero func() P, add func(z, x P),
) grid[T, P] {
	stop := recursion.Cancellation{Ctx: ctx}
	return grid[T, P]{ctx: ctx, lattice: l, x: recursion.Fill(&stop, *zero(), l.States), zero: zero, add: add}
}

func (g *grid[T, P]) at(i int) P { return P(&g.x[i]) }

func (g *grid[T, P]) copy(from *grid[T, P]) {
	stop := recursion.Cancellation{Ctx: g.ctx}
	for i := range g.x {
		if stop.After(recursion.BigSteps) != nil {
			return
		}
		g.at(i).Set(&from.x[i])
	}
}

func (g *grid[T, P]) plus(w int64, from *grid[T, P]) {
	weight, product := g.zero().SetInt64(w), g.zero()
	stop := recursion.Cancellation{Ctx: g.ctx}
	for i := range g.x {
		if stop.After(recursion.BigSteps) != nil {
			return
		}
		if from.at(i).Sign() != 0 {
			g.add(g.at(i), P(product).Mul(weight, &from.x[i]))
		}
	}
}

// sweep sets g(n) to w from(n) + Σ_k d_k g(n - e_k).
func (g *grid[T, P]) sweep(ctx context.Context, w int64, from *grid[T, P], d []P, down bool) error {
	l := g.lattice
	last := len(d) - 1
	weight, product, sum := g.zero().SetInt64(w), g.zero(), g.zero()
	stop := recursion.Cancellation{Ctx: ctx}
	for s := l.sweep(down); ; {
		for c := range l.width {
			if err := stop.After(recursion.BigSteps * len(d)); err != nil {
				return err
			}
			j := c
			if down {
				j = l.width - 1 - c
			}
			i := s.row*l.width + j
			P(sum).SetInt64(0)
			if w != 0 && from.at(i).Sign() != 0 {
				P(sum).Mul(weight, &from.x[i])
			}
			if j > 0 && d[last].Sign() != 0 && g.at(i-1).Sign() != 0 {
				g.add(sum, P(product).Mul(d[last], &g.x[i-1]))
			}
			for k, n := range s.n {
				if below := i - l.Stride[k]; n > 0 && d[k].Sign() != 0 && g.at(below).Sign() != 0 {
					g.add(sum, P(product).Mul(d[k], &g.x[below]))
				}
			}
			g.at(i).Set(sum)
		}
		if !s.next() {
			return nil
		}
	}
}

// convolved returns Σ_{m <= n} g(m) h(n - m).
func (g *grid[T, P]) convolved(h *grid[T, P], index int) P {
	l := g.lattice
	sum, product := g.zero(), g.zero()
	upTo, n := lattice.LastFastest(l.Point(index)), make([]int, len(l.Limits))
	stop := recursion.Cancellation{Ctx: g.ctx}
	for i := 0; ; i = l.Number(n) {
		if stop.After(recursion.BigSteps) != nil {
			return sum
		}
		if g.at(i).Sign() != 0 && h.at(index-i).Sign() != 0 {
			g.add(sum, P(product).Mul(&g.x[i], &h.x[index-i]))
		}
		if upTo.Next(n) < 0 {
			return sum
		}
	}
}

// An Enclosed holds two tables of big.Float, one rounded down and one rounded up throughout,
// computed in parallel.
type Enclosed struct {
	low, high grid[big.Float, *big.Float]
	prec      uint
}

// NewEnclosed returns a table of zeros with numbers of prec bits.
func NewEnclosed(ctx context.Context, l *Lattice, prec uint) *Enclosed {
	rounded := func(mode big.RoundingMode) grid[big.Float, *big.Float] {
		zero := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
		return newGrid(ctx, l, zero, arithmetic.AddFar)
	}
	return &Enclosed{low: rounded(big.ToNegativeInf), high: rounded(big.ToPositiveInf), prec: prec}
}

// EnclosedBytes returns the memory of a table with the given number of numbers.
func EnclosedBytes(points float64, prec uint) float64 { return 2 * points * (56 + float64(prec)/8) }

func (t *Enclosed) New() *Enclosed { return NewEnclosed(t.low.ctx, t.low.lattice, t.prec) }

func (t *Enclosed) Lattice() *Lattice { return t.low.lattice }

func (t *Enclosed) Copy(from *Enclosed) {
	t.low.copy(&from.low)
	t.high.copy(&from.high)
}

func (t *Enclosed) Add(w int64, from *Enclosed) {
	t.low.plus(w, &from.low)
	t.high.plus(w, &from.high)
}

func (t *Enclosed) Set(numbers []arithmetic.Number) {
	stop := recursion.Cancellation{Ctx: t.low.ctx}
	for i, x := range numbers {
		if stop.After(recursion.BigSteps) != nil {
			return
		}
		t.low.x[i].Set(x.Interval.Low)
		t.high.x[i].Set(x.Interval.High)
	}
}

func (t *Enclosed) SetProducts(factors [][]arithmetic.Number) {
	products(t.low.ctx, t.low.lattice, factors, func(i int, product arithmetic.Number) {
		t.low.x[i].Set(product.Interval.Low)
		t.high.x[i].Set(product.Interval.High)
	})
}

// products calls set with Π_k factors[k][n_k] for all n, until the context is done.
func products(
	ctx context.Context, l *Lattice, factors [][]arithmetic.Number, set func(i int, product arithmetic.Number),
) {
	stop := recursion.Cancellation{Ctx: ctx}
	for w := l.sweep(false); ; {
		product := factors[len(w.n)][0].One()
		for k, n := range w.n {
			product = product.Mul(factors[k][n])
		}
		for j, x := range factors[len(w.n)] {
			if stop.After(2*recursion.BigSteps) != nil {
				return
			}
			set(w.row*l.width+j, product.Mul(x))
		}
		if !w.next() {
			return
		}
	}
}

func (t *Enclosed) Divide(ctx context.Context, from *Enclosed, d []arithmetic.Number) error {
	return t.sweep(ctx, 1, from, d, false)
}

func (t *Enclosed) Horner(ctx context.Context, w int64, from *Enclosed, d []arithmetic.Number) error {
	return t.sweep(ctx, w, from, d, true)
}

func (t *Enclosed) Shift(ctx context.Context, d []arithmetic.Number) error {
	return t.sweep(ctx, 0, t, d, true)
}

func (t *Enclosed) sweep(ctx context.Context, w int64, from *Enclosed, d []arithmetic.Number, down bool) error {
	var low, high []*big.Float
	for _, x := range d {
		low, high = append(low, x.Interval.Low), append(high, x.Interval.High)
	}
	return recursion.Both(func() error { return t.low.sweep(ctx, w, &from.low, low, down) },
		func() error { return t.high.sweep(ctx, w, &from.high, high, down) })
}

func (t *Enclosed) At(index int) arithmetic.Number {
	return enclosed(new(big.Float).Set(&t.low.x[index]), new(big.Float).Set(&t.high.x[index]))
}

func (t *Enclosed) Convolved(with *Enclosed, index int) arithmetic.Number {
	return enclosed(t.low.convolved(&with.low, index), t.high.convolved(&with.high, index))
}

func enclosed(low, high *big.Float) arithmetic.Number {
	var x arithmetic.Number
	x.Interval.Low, x.Interval.High = low, high
	return x
}
