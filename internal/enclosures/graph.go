package enclosures

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Measures are enclosures of the stationary measures that a graph gives.
type Measures struct {
	Normalization arithmetic.Number
	Jobs          []arithmetic.Number // E[X_i] of each class
	Busy          []arithmetic.Number // utilization of the servers of each group
}

// Evaluate returns the measures of a graph, computed in big.Float of prec bits twice, once with every operation
// rounded down and once rounded up. All the recursions add, multiply and divide positive numbers, and the
// denominators are exact integers, so that the two runs enclose every number. The errors are those of the context.
func Evaluate(ctx context.Context, p *recursion.Problem, g *recursion.Graph, prec uint) (Measures, error) {
	low, high := newBoundRun(ctx, p, g, prec, big.ToNegativeInf), newBoundRun(ctx, p, g, prec, big.ToPositiveInf)
	var lowErr error
	done := make(chan struct{})
	go func() {
		lowErr = low.run()
		close(done)
	}()
	err := high.run()
	<-done
	if err := cmp.Or(err, lowErr); err != nil {
		return Measures{}, err
	}
	between := func(low, high *big.Float) arithmetic.Number {
		return arithmetic.Number{Interval: num.Interval{Low: low, High: high}}
	}
	root := g.States() - 1
	z := between(&low.v[root], &high.v[root])
	m := Measures{Normalization: z}
	for s := range p.Groups {
		part := between(low.part[s], high.part[s]).Quo(z)
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

// Values returns lower and upper bounds of the values of all states of a graph, in big.Float of prec bits. The errors are those of the
// context.
func Values(ctx context.Context, p *recursion.Problem, g *recursion.Graph, prec uint) (low, high []big.Float, err error) {
	below, above := newBoundRun(ctx, p, g, prec, big.ToNegativeInf), newBoundRun(ctx, p, g, prec, big.ToPositiveInf)
	err = cmp.Or(below.up(), above.up())
	return below.v, above.v, err
}

// A boundRun computes lower bounds, or upper bounds, of all numbers of a graph.
type boundRun struct {
	*recursion.Graph
	problem *recursion.Problem
	prec    uint
	mode    big.RoundingMode
	stop    recursion.Cancellation

	shares         *recursion.ShareReader // nil unless the graph has shares
	edge, other    *big.Float             // of these, towards the bound and away from it
	weights, rates []*big.Float

	v, w []big.Float  // of every state: its value, and its adjoint
	jobs []big.Float  // Z E[X_i]
	part []*big.Float // Z P(busy) of each server on the class lattice, Z P(idle) on others

	product, divisor *big.Float // under way
	buf              big.Int
}

func opposite(mode big.RoundingMode) big.RoundingMode {
	return big.ToNegativeInf + big.ToPositiveInf - mode
}

func newBoundRun(ctx context.Context, p *recursion.Problem, g *recursion.Graph, prec uint, mode big.RoundingMode) *boundRun {
	b := &boundRun{Graph: g, problem: p, prec: prec, mode: mode, stop: recursion.Cancellation{Ctx: ctx}}
	// SetInt rounds, so a denominator is rounded the other way.
	b.product, b.divisor = b.number(), b.number().SetMode(opposite(mode))
	if g.Shares != nil {
		b.shares, b.edge, b.other = g.Shares.Reader(), g.Shares.Edge(mode), g.Shares.Edge(opposite(mode))
	}
	for _, w := range g.Weights {
		b.weights = append(b.weights, b.number().SetInt(w))
	}
	for _, k := range p.Classes {
		b.rates = append(b.rates, b.number().SetInt(k.Rate))
	}
	b.v, b.w, b.jobs = b.numbers(g.States()), b.numbers(g.States()), b.numbers(len(p.Classes))
	return b
}

func (b *boundRun) number() *big.Float { return new(big.Float).SetPrec(b.prec).SetMode(b.mode) }

func (b *boundRun) numbers(n int) []big.Float {
	list := make([]big.Float, n)
	for k := range list {
		list[k].SetPrec(b.prec).SetMode(b.mode)
	}
	return list
}

// denominator returns a bound of d(k), valid until the next call.
func (b *boundRun) denominator(k int) *big.Float {
	if b.shares != nil {
		return b.divisor.Mul(&b.Big[k], b.other)
	}
	return b.divisor.SetInt(b.Den.At(k, &b.buf))
}

var bigOne = big.NewFloat(1) // never changed

// start sets product to the weight of term t.
func (b *boundRun) start(t int32) {
	if b.Weight[t] >= 0 {
		b.product.Set(b.weights[b.Weight[t]])
		return
	}
	b.product.Set(bigOne)
}

// times multiplies product by the values of children, but for number skip.
func (b *boundRun) times(children []int32, skip int) {
	for j, c := range children {
		if j != skip {
			b.product.Mul(b.product, &b.v[c])
		}
	}
}

func (b *boundRun) run() error {
	if err := b.up(); err != nil {
		return err
	}
	if err := b.down(); err != nil {
		return err
	}
	if b.ByClass {
		b.addActive()
		return nil
	}
	first, _ := b.Terms(b.States() - 1)
	for s := range b.problem.Groups {
		idle := b.number().Set(bigOne)
		for _, c := range b.Children(first + int32(s)) {
			idle.Mul(idle, &b.v[c])
		}
		b.part = append(b.part, idle)
	}
	return nil
}

func (b *boundRun) up() error {
	for k := range b.v {
		first, last := b.Terms(k)
		if first == last {
			b.v[k].Set(bigOne)
			continue
		}
		if err := b.stop.After(recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		for t := first; t < last; t++ {
			b.start(t)
			b.times(b.Children(t), -1)
			b.v[k].Add(&b.v[k], b.product)
		}
		b.v[k].Quo(&b.v[k], b.denominator(k))
	}
	return nil
}

// down sums rate_i Σ_k coef(k, i) w(k) v(k) into jobs; what the states that have a class of their own or in their
// rest add is carried down along the rests. With shares nothing is carried.
func (b *boundRun) down() error {
	carry := b.numbers(1)
	at := func(int) *big.Float { return carry[0].SetInt64(0) }
	if b.shares == nil {
		carry = b.numbers(b.States())
		at = func(k int) *big.Float { return &carry[k] }
	}
	b.w[b.States()-1].Set(bigOne)
	for k := b.States() - 1; k >= 0; k-- {
		first, last := b.Terms(k)
		if first == last {
			continue
		}
		if err := b.stop.After(2 * recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		b.w[k].Quo(&b.w[k], b.denominator(k))
		for t := first; t < last; t++ {
			children := b.Children(t)
			for j, c := range children {
				b.start(t)
				b.product.Mul(b.product, &b.w[k])
				b.times(children, j)
				b.w[c].Add(&b.w[c], b.product)
			}
		}
		carried := at(k)
		carried.Add(carried, b.product.Mul(&b.w[k], &b.v[k]))
		b.addOwn(k, carried)
		if t := b.Rest[k]; t >= 0 {
			for _, c := range b.Children(t) {
				carry[c].Add(&carry[c], carried)
			}
		}
	}
	return nil
}

// addOwn adds what state k carries to the classes of its own.
func (b *boundRun) addOwn(k int, carried *big.Float) {
	for o := b.OwnFirst[k]; o < b.OwnFirst[k+1]; o++ {
		i := b.Own[o]
		if b.shares != nil {
			b.product.Mul(b.product.Mul(carried, b.shares.Share(k, i)), b.edge)
		} else {
			b.product.Mul(carried, b.rates[i])
		}
		if b.Coef != nil {
			b.product.Mul(b.product, b.number().SetInt(b.Coef.At(int(o), &b.buf)))
		}
		arithmetic.AddFar(&b.jobs[i], b.product)
	}
}

// addActive adds Σ_{A∋i} G(A) to jobs[i], and sets part to Σ G(A) over the sets A that use each server.
func (b *boundRun) addActive() {
	masks := b.problem.ClassMasks()
	for range masks {
		b.part = append(b.part, b.number())
	}
	for a := range len(b.v) - 1 {
		for h := a; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			b.jobs[i].Add(&b.jobs[i], &b.v[a])
		}
		for s, mask := range masks {
			if a&mask != 0 {
				b.part[s].Add(b.part[s], &b.v[a])
			}
		}
	}
}
