package recursion

import (
	"context"
	"math/big"
	"math/bits"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Fractions returns the measures of a graph, computed in integers. All values of one layer share a
// denominator: a term costs a product by a word and an addition, and the recursion computes no
// greatest common divisor. With L_l the least common multiple of the d(k) of layer l and E_0 =
// F_root = 1,
//
//	v(k) = P(k)/E_l,  E_l = L_l lcm{Π_c E(layer of c)},  over the children c of the terms of the layer,
//	dZ/dv(k) = A(k)/F_l,  F_l = lcm{F L (layer above) Π_s E(layer of s)},  s the siblings in a term.
//
// On the lattices of subsets E_l = L_1 ... L_l and F_l = L_{l+1} ... L_n. The error is a
// *[num.TooLargeError], which names the lattice, before the sweeps start, if the tables need more
// than maxBytes; or that of the context.
func Fractions(ctx context.Context, p *Problem, g *Graph, lattice string, maxBytes int64) (Measures, error) {
	x := &evaluation{Whole: Whole{g}, root: g.States() - 1, ctx: ctx, lattice: lattice}
	if err := x.denominators(maxBytes); err != nil {
		return Measures{}, err
	}
	s := NewSweep(ctx, g, 0, x, big.Int{}, perTerm)
	s.Order = slices.Concat(x.layers...)
	x.p = x.numbers(func(l int) int { return x.e[l].BitLen() })
	s.Value = x.p
	if err := s.Up(); err != nil {
		return Measures{}, err
	}
	if err := x.down(s, p); err != nil {
		return Measures{}, err
	}
	z, e := &x.p[x.root], x.e[g.Layer[x.root]] // Z is z/e
	fraction := func(a, b *big.Int) arithmetic.Number {
		return arithmetic.Number{Exact: new(big.Rat).SetFrac(a, b)}
	}
	m := Measures{Normalization: fraction(z, e)}
	perJobs := new(big.Int).Mul(x.common, z)
	idle := make([]big.Int, len(p.Groups)) // Z P(idle), over e
	if g.ByClass {
		if err := x.addActive(p, e, idle); err != nil {
			return Measures{}, err
		}
	} else {
		first, _ := g.Terms(x.root)
		for s := range idle {
			children := g.Children(first + int32(s))
			idle[s].Quo(e, x.product(children, -1))
			for _, c := range children {
				idle[s].Mul(&idle[s], &x.p[c])
			}
		}
	}
	for i := range x.sums {
		if err := ctx.Err(); err != nil { // a fraction is reduced at each
			return Measures{}, err
		}
		m.Jobs = append(m.Jobs, fraction(x.sums[i].Mul(&x.sums[i], e), perJobs))
	}
	for s := range idle {
		if err := ctx.Err(); err != nil {
			return Measures{}, err
		}
		m.Busy = append(m.Busy, fraction(idle[s].Sub(z, &idle[s]), z))
	}
	return m, nil
}

const perTerm = 1 << 16 // steps: a sweep checks the context at each state

// An evaluation is the kernel of a sweep by layers. Numbers are integers over the denominators of
// their layers.
type evaluation struct {
	Whole
	root    int
	ctx     context.Context
	lattice string    // named in errors
	layers  [][]int32 // the states of each layer

	l, e, f []*big.Int // L, E, F of each layer
	common  *big.Int   // lcm of L E F over the layers
	p       []big.Int  // P(k)
	sums    []big.Int  // rate_i Σ_k coef(k, i) dZ/d(numerator of k) v(k), over common

	layer        int32      // layer being visited
	total, above *big.Int   // E/L and F L of the layer
	known        []*big.Int // factors of terms with one child, by the layer of the child
	run          big.Int    // sum of the last terms, which have the factor cof
	cof          *big.Int
	q, buf       big.Int
}

// denominators finds L, E and F of all layers. It returns an error if they need more than maxBytes.
func (x *evaluation) denominators(maxBytes int64) error {
	top := 0
	for _, l := range x.Graph.Layer {
		top = max(top, int(l))
	}
	x.layers = make([][]int32, top+1)
	for k, l := range x.Graph.Layer {
		x.layers[l] = append(x.layers[l], int32(k))
	}
	ones := func() []*big.Int { return slices.Repeat([]*big.Int{intOne}, top+1) }
	x.l, x.e, x.f = ones(), ones(), ones()
	for _, find := range []func(maxBytes int64) error{x.findL, x.findE, x.findF} {
		if err := find(maxBytes); err != nil {
			return err
		}
	}
	x.common = intOne
	for l := range x.layers {
		x.common = LCM(x.common, x.lef(l))
	}
	need := 0.0
	for l, states := range x.layers {
		layer := float64(x.e[l].BitLen() + x.f[l].BitLen())
		number := layer + float64(x.common.BitLen()) + 3*wordBits*(moreWords+3)
		need += (layer + float64(x.l[l].BitLen()) + float64(len(states))*number) / 8
	}
	if need > float64(maxBytes) {
		return &num.TooLargeError{
			States: float64(x.Graph.States()),
			Bytes:  need,
			Limit:  maxBytes,
			Input: input.Errorf("engine", num.Exact,
				"a smaller model: exact values of the %d states (lattice %q) take %.0f MiB, more than the %d MiB "+
					"left; enclose gives as many digits as requested",
				x.Graph.States(), x.lattice, need/(1<<20), maxBytes>>20),
		}
	}
	return nil
}

func (x *evaluation) sizeError(maxBytes int64) error {
	return &num.TooLargeError{States: float64(x.Graph.States()), Limit: maxBytes, Input: input.Errorf("engine",
		num.Exact,
		"a smaller model: exact values of the %d states (lattice %q) exceed %d MiB; enclose gives as many digits "+
			"as asked",
		x.Graph.States(), x.lattice, maxBytes>>20)}
}

// findL finds L. A value on layer l has at least the bits of L_1 ... L_l, and a value over the
// common denominator has those of all layers.
func (x *evaluation) findL(maxBytes int64) error {
	var buf big.Int
	var chain, need float64
	all := float64(x.Graph.States())
	for l, states := range x.layers {
		for _, k := range states {
			if err := x.ctx.Err(); err != nil {
				return err
			}
			x.l[l] = LCM(x.l[l], x.Graph.Den.At(int(k), &buf))
			if now := chain + float64(x.l[l].BitLen()-1); need+(float64(len(states))+all)*now/8 > float64(maxBytes) {
				return x.sizeError(maxBytes)
			}
		}
		chain += float64(x.l[l].BitLen() - 1)
		need += float64(len(states)) * chain / 8
	}
	return nil
}

// findE finds E, from the lowest layer up.
func (x *evaluation) findE(maxBytes int64) error {
	g, need := x.Graph, 0.0
	for l, states := range x.layers {
		seen := make([]bool, len(x.layers))
		for _, k := range states {
			if err := x.ctx.Err(); err != nil {
				return err
			}
			first, last := g.Terms(int(k))
			for t := first; t < last; t++ {
				if c := g.Children(t); len(c) != 1 || !seen[g.Layer[c[0]]] {
					x.e[l] = LCM(x.e[l], x.product(c, -1))
					if len(c) == 1 {
						seen[g.Layer[c[0]]] = true
					}
				}
			}
			if need += 3. / 8 * float64(x.e[l].BitLen()+x.l[l].BitLen()); need > float64(maxBytes) {
				return x.sizeError(maxBytes)
			}
		}
		x.e[l] = new(big.Int).Mul(x.e[l], x.l[l])
	}
	return nil
}

// findF finds F, from the highest layer down.
func (x *evaluation) findF(int64) error {
	g := x.Graph
	for l := len(x.layers) - 1; l >= 0; l-- {
		above := new(big.Int).Mul(x.f[l], x.l[l])
		seen := make([]bool, len(x.layers))
		for _, k := range x.layers[l] {
			if err := x.ctx.Err(); err != nil {
				return err
			}
			first, last := g.Terms(int(k))
			for t := first; t < last; t++ {
				children := g.Children(t)
				for j, c := range children {
					if lc := g.Layer[c]; len(children) > 1 || !seen[lc] {
						x.f[lc] = LCM(x.f[lc], new(big.Int).Mul(above, x.product(children, j)))
						seen[lc] = seen[lc] || len(children) == 1
					}
				}
			}
		}
	}
	return nil
}

// lef returns L E F of a layer.
func (x *evaluation) lef(l int) *big.Int {
	d := new(big.Int).Mul(x.l[l], x.e[l])
	return d.Mul(d, x.f[l])
}

// product returns Π E of the layers of the children, except number skip.
func (x *evaluation) product(children []int32, skip int) *big.Int {
	d := intOne
	for j, c := range children {
		if j != skip {
			d = new(big.Int).Mul(d, x.e[x.Graph.Layer[c]])
		}
	}
	return d
}

func (x *evaluation) One(z *big.Int, k int) { z.Set(x.e[x.Graph.Layer[k]]) }

func (x *evaluation) Begin(z *big.Int, k int) {
	if l := x.Graph.Layer[k]; x.total == nil || l != x.layer {
		x.layer, x.total, x.known = l, new(big.Int).Quo(x.e[l], x.l[l]), make([]*big.Int, len(x.layers))
	}
	z.SetInt64(0)
}

// factor returns a quotient for the children of term t. For a single child, it depends only on the
// layer of the child.
func (x *evaluation) factor(t int32, quotient func(children []int32) *big.Int) *big.Int {
	children := x.Graph.Children(t)
	if len(children) != 1 {
		return quotient(children)
	}
	c := &x.known[x.Graph.Layer[children[0]]]
	if *c == nil {
		*c = quotient(children)
	}
	return *c
}

// Add brings terms to the denominator of the layer of their sum. It first sums those with the same
// factor.
func (x *evaluation) Add(z, y *big.Int, k int, t int32, child int) {
	switch {
	case t < 0:
		z.Add(z, y)
		return
	case child >= 0:
		x.push(z, y, k, t, child)
		return
	}
	c := x.factor(t, func(children []int32) *big.Int { return new(big.Int).Quo(x.total, x.product(children, -1)) })
	if x.cof != nil && c != x.cof {
		z.Add(z, x.run.Mul(&x.run, x.cof))
		x.run.SetInt64(0)
	}
	x.cof = c
	x.run.Add(&x.run, y)
}

func (x *evaluation) Divide(z, y *big.Int, k int) {
	if x.cof != nil {
		if !isOne(x.cof) {
			x.run.Mul(&x.run, x.cof)
		}
		y.Add(y, &x.run)
		x.run.SetInt64(0)
		x.cof = nil
	}
	z.Mul(y, x.q.Quo(x.l[x.Graph.Layer[k]], x.Graph.Den.At(k, &x.buf)))
}

func isOne(z *big.Int) bool { return z.IsInt64() && z.Int64() == 1 }

// numbers returns a zero for every state, with capacity for the bits of its layer and a few extra
// words, so sums into it rarely allocate.
func (x *evaluation) numbers(size func(layer int) int) []big.Int {
	words := func(layer int) int { return size(layer)/wordBits + moreWords }
	total := 0
	for l, states := range x.layers {
		total += words(l) * len(states)
	}
	slab := make([]big.Word, total)
	list := make([]big.Int, x.Graph.States())
	for l, states := range x.layers {
		for _, k := range states {
			list[k].SetBits(slab[:0:words(l)])
			slab = slab[words(l):]
		}
	}
	return list
}

const (
	wordBits  = bits.UintSize // bits of a big.Word
	moreWords = 4             // extra capacity of a number beyond its denominator
)

// push brings a term to the denominator of the layer of a child.
func (x *evaluation) push(z, y *big.Int, k int, t int32, child int) {
	g := x.Graph
	if l := g.Layer[k]; x.above == nil || l != x.layer {
		x.layer, x.above, x.known = l, new(big.Int).Mul(x.f[l], x.l[l]), make([]*big.Int, len(x.layers))
	}
	c := x.factor(t, func(children []int32) *big.Int {
		d := new(big.Int).Mul(x.above, x.product(children, child))
		return d.Quo(x.f[g.Layer[children[child]]], d)
	})
	if !isOne(c) {
		y.Mul(y, c)
	}
	z.Add(z, y)
}

// down sweeps from the root and computes the sums.
func (x *evaluation) down(s *Sweep[big.Int, *evaluation], p *Problem) error {
	g := x.Graph
	a := x.numbers(func(l int) int { return x.f[l].BitLen() })
	carried := x.numbers(func(int) int { return x.common.BitLen() })
	a[x.root].SetInt64(1)
	x.sums = make([]big.Int, len(p.Classes))
	var rescale, loss, term, buf big.Int
	layer := int32(-1)
	return s.Down(a, func(k int, w *big.Int) {
		if l := g.Layer[k]; l != layer {
			layer = l
			rescale.Quo(x.common, x.lef(int(l)))
		}
		loss.Mul(w, &x.p[k])
		s.Carry(carried, k, loss.Mul(&loss, &rescale), func(o, i int32, y *big.Int) {
			term.Mul(y, p.Classes[i].Rate)
			if g.Coef != nil {
				term.Mul(&term, g.Coef.At(int(o), &buf))
			}
			x.sums[i].Add(&x.sums[i], &term)
		})
	})
}

// addActive adds Σ_{A∋i} G(A) to sums[i], and sets idle[s] to Σ G(A) over the sets A that do not
// use server s, in units of 1/e. The error is the context's.
func (x *evaluation) addActive(p *Problem, e *big.Int, idle []big.Int) error {
	masks := p.ClassMasks()
	active := make([]big.Int, len(x.sums))
	add := func(to, sum, cof *big.Int) { to.Add(to, sum.Mul(sum, cof)) }
	for l, states := range x.layers[:len(x.layers)-1] {
		with, without := make([]big.Int, len(x.sums)), make([]big.Int, len(masks))
		for _, a := range states {
			if err := x.ctx.Err(); err != nil {
				return err
			}
			for h := int(a); h != 0; h &= h - 1 {
				i := bits.TrailingZeros(uint(h))
				with[i].Add(&with[i], &x.p[a])
			}
			for s, mask := range masks {
				if int(a)&mask == 0 {
					without[s].Add(&without[s], &x.p[a])
				}
			}
		}
		cof := new(big.Int).Quo(e, x.e[l])
		for i := range with {
			add(&active[i], &with[i], cof)
		}
		for s := range without {
			add(&idle[s], &without[s], cof)
		}
	}
	for i := range active { // active over e, sums over common, both to be multiplied by e
		active[i].Mul(&active[i], x.common)
		x.sums[i].Add(&x.sums[i], active[i].Quo(&active[i], e))
	}
	return nil
}
