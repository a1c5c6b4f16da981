package convolution

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// An Exact is a table of fractions: the number at n is an integer divided by unit Π_k scale_k^n_k.
// Every factor d_k times scale_k is an integer.
type Exact struct {
	grid[big.Int, *big.Int]
	scale []*big.Int
	unit  *big.Int
}

// NewExact returns a table of zeros, given a multiple of the denominators of all factors of each
// chain.
func NewExact(ctx context.Context, l *Lattice, scale []*big.Int) *Exact {
	zero, add := func() *big.Int { return new(big.Int) }, func(z, x *big.Int) { z.Add(z, x) }
	return &Exact{newGrid(ctx, l, zero, add), scale, big.NewInt(1)}
}

func (t *Exact) New() *Exact { return NewExact(t.ctx, t.lattice, t.scale) }

func (t *Exact) Lattice() *Lattice { return t.lattice }

func (t *Exact) Copy(from *Exact) {
	t.copy(&from.grid)
	t.unit = from.unit
}

// Add requires tables derived from the same table by sweeps and copies, with its unit.
func (t *Exact) Add(w int64, from *Exact) { t.plus(w, &from.grid) }

// scaleAt returns Π_k scale_k^n_k.
func (t *Exact) scaleAt(index int) *big.Int {
	product := big.NewInt(1)
	for k, n := range t.lattice.Point(index) {
		product.Mul(product, new(big.Int).Exp(t.scale[k], big.NewInt(int64(n)), nil))
	}
	return product
}

func (t *Exact) Set(numbers []arithmetic.Number) {
	integers := make([]*big.Rat, len(numbers))
	t.unit = big.NewInt(1)
	for i, x := range numbers {
		if t.ctx.Err() != nil {
			return
		}
		integers[i] = new(big.Rat).Mul(x.Exact, new(big.Rat).SetInt(t.scaleAt(i)))
		t.unit = recursion.LCM(t.unit, integers[i].Denom())
	}
	for i, x := range integers {
		if t.ctx.Err() != nil {
			return
		}
		z := &t.x[i]
		z.Mul(x.Num(), z.Quo(t.unit, x.Denom()))
	}
}

func (t *Exact) SetProducts(factors [][]arithmetic.Number) {
	t.unit = big.NewInt(1)
	integers := make([][]*big.Int, len(factors))
	for k, list := range factors {
		unit, power := big.NewInt(1), big.NewInt(1)
		scaled := make([]*big.Rat, len(list))
		for n, x := range list {
			if t.ctx.Err() != nil {
				return
			}
			scaled[n] = new(big.Rat).Mul(x.Exact, new(big.Rat).SetInt(power))
			unit = recursion.LCM(unit, scaled[n].Denom())
			power = new(big.Int).Mul(power, t.scale[k])
		}
		for _, x := range scaled {
			integers[k] = append(integers[k], new(big.Int).Mul(x.Num(), new(big.Int).Quo(unit, x.Denom())))
		}
		t.unit.Mul(t.unit, unit)
	}
	for i := range t.x {
		if t.ctx.Err() != nil {
			return
		}
		z := t.x[i].SetInt64(1)
		for k, n := range t.lattice.Point(i) {
			z.Mul(z, integers[k][n])
		}
	}
}

func (t *Exact) Divide(ctx context.Context, from *Exact, d []arithmetic.Number) error {
	t.unit = from.unit
	return t.sweep(ctx, 1, &from.grid, t.integers(d), false)
}

func (t *Exact) Horner(ctx context.Context, w int64, from *Exact, d []arithmetic.Number) error {
	return t.sweep(ctx, w, &from.grid, t.integers(d), true)
}

func (t *Exact) Shift(ctx context.Context, d []arithmetic.Number) error {
	return t.sweep(ctx, 0, &t.grid, t.integers(d), true)
}

// integers returns the factors d_k scale_k.
func (t *Exact) integers(d []arithmetic.Number) []*big.Int {
	list := make([]*big.Int, len(d))
	for k, x := range d {
		product := new(big.Rat).Mul(x.Exact, new(big.Rat).SetInt(t.scale[k]))
		if !product.IsInt() {
			panic("populations: the scale of a chain is no multiple of a denominator")
		}
		list[k] = product.Num()
	}
	return list
}

func (t *Exact) At(index int) arithmetic.Number {
	return arithmetic.Number{Exact: new(big.Rat).SetFrac(&t.x[index], new(big.Int).Mul(t.unit, t.scaleAt(index)))}
}

func (t *Exact) Convolved(with *Exact, index int) arithmetic.Number {
	unit := new(big.Int).Mul(t.unit, with.unit)
	return arithmetic.Number{
		Exact: new(big.Rat).SetFrac(t.convolved(&with.grid, index), unit.Mul(unit, t.scaleAt(index))),
	}
}
