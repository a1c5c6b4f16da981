package bf

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"

	"productform/num"
)

// encloseGraph evaluates a graph in big.Float of prec bits twice, once with every operation
// rounded down and once rounded up. All the recursions add, multiply and divide positive numbers, and the
// denominators are exact integers, so that the two runs enclose every number.
func encloseGraph(ctx context.Context, p *problem, g *graph, prec uint) (measures, error) {
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
	z := value{in: num.Interval{Low: low.root, High: high.root}}
	m := measures{normalization: z}
	for s := range low.part {
		part := value{in: num.Interval{Low: low.part[s], High: high.part[s]}}.quo(z)
		if g.lattice != ClassLattice {
			part = part.oneMinus()
		}
		m.busy = append(m.busy, part)
	}
	for i := range low.jobs {
		m.jobs = append(m.jobs, value{in: num.Interval{Low: low.jobs[i], High: high.jobs[i]}}.quo(z))
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

func boundGraph(ctx context.Context, p *problem, g *graph, prec uint, mode big.RoundingMode) (bounds, error) {
	stop := cancellation{ctx: ctx}
	number := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
	opposite := big.ToNegativeInf + big.ToPositiveInf - mode
	// SetInt rounds, so a denominator is rounded the other way.
	buf, divisor := new(big.Int), new(big.Float).SetPrec(prec).SetMode(opposite)
	den := func(k int) *big.Float { return divisor.SetInt(g.den.at(k, buf)) }
	var shares *shareReader
	var edge *big.Float
	if g.shares != nil {
		shares, edge = g.shares.reader(), g.shares.edge(mode)
		other := g.shares.edge(opposite)
		den = func(k int) *big.Float { return divisor.Mul(&g.big[k], other) }
	}
	weights := make([]*big.Float, len(g.weights))
	for i, w := range g.weights {
		weights[i] = number().SetInt(w)
	}
	rates := make([]*big.Float, len(p.classes))
	for i, k := range p.classes {
		rates[i] = number().SetInt(k.rate)
	}
	n := g.states()
	v, w := make([]big.Float, n), make([]big.Float, n)
	carry := make([]big.Float, 1) // of one state, if nothing is carried further
	at := func(k int) *big.Float { return carry[0].SetInt64(0) }
	if g.shares == nil {
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
		if g.weight[t] >= 0 {
			product.Set(weights[g.weight[t]])
		} else {
			product.Set(one)
		}
	}

	for k := range n {
		first, last := g.terms(k)
		if first == last {
			v[k].Set(one)
			continue
		}
		if err := stop.after(bigSteps * int(last-first)); err != nil {
			return bounds{}, err
		}
		for t := first; t < last; t++ {
			weight(t)
			times(g.children(t), -1)
			v[k].Add(&v[k], product)
		}
		v[k].Quo(&v[k], den(k))
	}
	b := bounds{v: v, root: &v[n-1]}

	w[n-1].Set(one)
	jobs := make([]big.Float, len(p.classes))
	for i := range jobs {
		jobs[i].SetPrec(prec).SetMode(mode)
		b.jobs = append(b.jobs, &jobs[i])
	}
	for k := n - 1; k >= 0; k-- {
		first, last := g.terms(k)
		if first == last {
			continue
		}
		if err := stop.after(2 * bigSteps * int(last-first)); err != nil {
			return bounds{}, err
		}
		w[k].Quo(&w[k], den(k))
		for t := first; t < last; t++ {
			children := g.children(t)
			for j, c := range children {
				weight(t)
				product.Mul(product, &w[k])
				times(children, j)
				w[c].Add(&w[c], product)
			}
		}
		carried := at(k)
		carried.Add(carried, product.Mul(&w[k], &v[k]))
		for o := g.ownFirst[k]; o < g.ownFirst[k+1]; o++ {
			i := g.own[o]
			if shares != nil {
				product.Mul(product.Mul(carried, shares.share(k, i)), edge)
			} else {
				product.Mul(carried, rates[i])
			}
			if g.coef != nil {
				product.Mul(product, number().SetInt(g.coef.at(int(o), buf)))
			}
			addFar(&jobs[i], product)
		}
		if t := g.rest[k]; t >= 0 {
			for _, c := range g.children(t) {
				carry[c].Add(&carry[c], carried)
			}
		}
	}

	if g.lattice == ClassLattice {
		b.part = sumActive(p, v, jobs, number)
		return b, nil
	}
	first, _ := g.terms(n - 1)
	for s := range p.groups {
		weight := number().Set(one)
		for _, c := range g.children(first + int32(s)) {
			weight.Mul(weight, &v[c])
		}
		b.part = append(b.part, weight)
	}
	return b, nil
}

// sumActive adds Σ_{A∋i} G(A) to jobs[i], and returns Σ G(A) over the sets A that use each server.
func sumActive(p *problem, v []big.Float, jobs []big.Float, number func() *big.Float) []*big.Float {
	masks := p.classMasks()
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
