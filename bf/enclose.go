package bf

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// encloseGraph evaluates a graph in big.Float of prec bits twice, once with every operation
// rounded down and once rounded up. All the recursions add, multiply and divide positive numbers, and the
// denominators are exact integers, so that the two runs enclose every number.
func encloseGraph(ctx context.Context, p *recursion.Problem, g *recursion.Graph, prec uint) (measures, error) {
	var low bounds
	var lowErr error
	done := make(chan struct{})
	go func() {
		low, lowErr = boundGraph(ctx, p, g, prec, big.ToNegativeInf)
		close(done)
	}()
	high, err := boundGraph(ctx, p, g, prec, big.ToPositiveInf)
	<-done
	if err := cmp.Or(err, lowErr); err != nil {
		return measures{}, err
	}
	z := arithmetic.Number{Interval: num.Interval{Low: low.root, High: high.root}}
	m := measures{normalization: z}
	for s := range low.part {
		part := arithmetic.Number{Interval: num.Interval{Low: low.part[s], High: high.part[s]}}.Quo(z)
		if !g.ByClass {
			part = part.OneMinus()
		}
		m.busy = append(m.busy, part)
	}
	for i := range low.jobs {
		m.jobs = append(m.jobs, arithmetic.Number{Interval: num.Interval{Low: low.jobs[i], High: high.jobs[i]}}.Quo(z))
	}
	return m, nil
}

// bounds are the numbers of one run: lower bounds or upper bounds of all of them.
type bounds struct {
	v    []big.Float  // of every state
	root *big.Float   // Z
	jobs []*big.Float // Z E[X_i]
	part []*big.Float // Z P(busy) of each server on the class lattice, Z P(idle) on others
}

func boundGraph(ctx context.Context, p *recursion.Problem, g *recursion.Graph, prec uint, mode big.RoundingMode) (bounds, error) {
	stop := recursion.Cancellation{Ctx: ctx}
	number := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
	opposite := big.ToNegativeInf + big.ToPositiveInf - mode
	// SetInt rounds, so a denominator is rounded the other way.
	buf, divisor := new(big.Int), new(big.Float).SetPrec(prec).SetMode(opposite)
	den := func(k int) *big.Float { return divisor.SetInt(g.Den.At(k, buf)) }
	var shares *recursion.ShareReader
	var edge *big.Float
	if g.Shares != nil {
		shares, edge = g.Shares.Reader(), g.Shares.Edge(mode)
		other := g.Shares.Edge(opposite)
		den = func(k int) *big.Float { return divisor.Mul(&g.Big[k], other) }
	}
	weights := make([]*big.Float, len(g.Weights))
	for i, w := range g.Weights {
		weights[i] = number().SetInt(w)
	}
	rates := make([]*big.Float, len(p.Classes))
	for i, k := range p.Classes {
		rates[i] = number().SetInt(k.Rate)
	}
	n := g.States()
	v, w := make([]big.Float, n), make([]big.Float, n)
	carry := make([]big.Float, 1) // of one state, if nothing is carried further
	at := func(k int) *big.Float { return carry[0].SetInt64(0) }
	if g.Shares == nil {
		carry = make([]big.Float, n)
		at = func(k int) *big.Float { return &carry[k] }
	}
	for _, l := range [][]big.Float{v, w, carry} {
		for k := range l {
			l[k].SetPrec(prec).SetMode(mode)
		}
	}
	product := number()
	times := func(children []int32, skip int) {
		for j, c := range children {
			if j != skip {
				product.Mul(product, &v[c])
			}
		}
	}
	one := big.NewFloat(1)
	weight := func(t int32) {
		if g.Weight[t] >= 0 {
			product.Set(weights[g.Weight[t]])
		} else {
			product.Set(one)
		}
	}

	for k := range n {
		first, last := g.Terms(k)
		if first == last {
			v[k].Set(one)
			continue
		}
		if err := stop.After(recursion.BigSteps * int(last-first)); err != nil {
			return bounds{}, err
		}
		for t := first; t < last; t++ {
			weight(t)
			times(g.Children(t), -1)
			v[k].Add(&v[k], product)
		}
		v[k].Quo(&v[k], den(k))
	}
	b := bounds{v: v, root: &v[n-1]}

	w[n-1].Set(one)
	jobs := make([]big.Float, len(p.Classes))
	for i := range jobs {
		jobs[i].SetPrec(prec).SetMode(mode)
		b.jobs = append(b.jobs, &jobs[i])
	}
	for k := n - 1; k >= 0; k-- {
		first, last := g.Terms(k)
		if first == last {
			continue
		}
		if err := stop.After(2 * recursion.BigSteps * int(last-first)); err != nil {
			return bounds{}, err
		}
		w[k].Quo(&w[k], den(k))
		for t := first; t < last; t++ {
			children := g.Children(t)
			for j, c := range children {
				weight(t)
				product.Mul(product, &w[k])
				times(children, j)
				w[c].Add(&w[c], product)
			}
		}
		carried := at(k)
		carried.Add(carried, product.Mul(&w[k], &v[k]))
		for o := g.OwnFirst[k]; o < g.OwnFirst[k+1]; o++ {
			i := g.Own[o]
			if shares != nil {
				product.Mul(product.Mul(carried, shares.Share(k, i)), edge)
			} else {
				product.Mul(carried, rates[i])
			}
			if g.Coef != nil {
				product.Mul(product, number().SetInt(g.Coef.At(int(o), buf)))
			}
			arithmetic.AddFar(&jobs[i], product)
		}
		if t := g.Rest[k]; t >= 0 {
			for _, c := range g.Children(t) {
				carry[c].Add(&carry[c], carried)
			}
		}
	}

	if g.ByClass {
		b.part = sumActive(p, v, jobs, number)
		return b, nil
	}
	first, _ := g.Terms(n - 1)
	for s := range p.Groups {
		weight := number().Set(one)
		for _, c := range g.Children(first + int32(s)) {
			weight.Mul(weight, &v[c])
		}
		b.part = append(b.part, weight)
	}
	return b, nil
}

// sumActive adds Σ_{A∋i} G(A) to jobs[i], and returns Σ G(A) over the sets A that use each server.
func sumActive(p *recursion.Problem, v []big.Float, jobs []big.Float, number func() *big.Float) []*big.Float {
	masks := p.ClassMasks()
	busy := make([]*big.Float, len(masks))
	for s := range busy {
		busy[s] = number()
	}
	for a := range len(v) - 1 {
		for h := a; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			jobs[i].Add(&jobs[i], &v[a])
		}
		for s, mask := range masks {
			if a&mask != 0 {
				busy[s].Add(busy[s], &v[a])
			}
		}
	}
	return busy
}
