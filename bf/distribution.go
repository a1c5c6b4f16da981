package bf

import (
	"cmp"
	"context"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// The number of jobs has the generating function Z(zλ)/Z(λ). On the class lattice the
// coefficients of G_A(zλ) obey
//
//	μ(A) g_A[n] = Σ_{i∈A} λ_i g_{A∖i}[n-1] + λ(A) g_A[n-1],   Z[n] = Σ_A g_A[n],
//
// and those of Z_K(zλ) on the lattices of servers
//
//	M(K) z_K[n] = Σ_t weight_t z_{K∖t}[n] + λ(K) z_K[n-1],   Z[n] = z_all[n].
//
// Nothing is subtracted, so that no digits are lost near the stability boundary. One array is
// enough: it goes from n-1 to n in place, down the class lattice or up the others. On connected sets terms
// are products, so that every state keeps its series.

// coefficients returns Z[0..n] of one component.
func (l *plan) coefficients(ctx context.Context, n int, engine num.Engine, prec uint, maxBytes int64) ([]value, error) {
	if err := l.build(ctx, prec); err != nil {
		return nil, err
	}
	g := l.graph
	switch {
	case g.lattice == ConnectedLattice:
		return seriesOfProducts(ctx, g, n, unit(engine, prec))
	case engine == num.Float:
		return floatSeries(ctx, g, n)
	case engine == num.Enclose:
		low, lowErr := boundSeries(ctx, g, n, prec, big.ToNegativeInf)
		high, err := boundSeries(ctx, g, n, prec, big.ToPositiveInf)
		if err := cmp.Or(lowErr, err); err != nil {
			return nil, err
		}
		z := make([]value, n+1)
		for i := range z {
			z[i] = value{in: num.Interval{Low: low[i], High: high[i]}}
		}
		return z, nil
	}
	return exactSeries(ctx, g, n, maxBytes)
}

// order returns the k-th state to visit in place, of those but the root of the class lattice.
func (g *graph) order(k int) int {
	if g.lattice == ClassLattice {
		return g.states() - 2 - k
	}
	return k
}

// stateCount returns the number of states that have a series.
func (g *graph) stateCount() int {
	if g.lattice == ClassLattice {
		return g.states() - 1
	}
	return g.states()
}

// floatSeries runs in float64 until a number leaves [2^-300, 2^300), and from there on in wide numbers.
func floatSeries(ctx context.Context, g *graph, n int) ([]value, error) {
	stop := cancellation{ctx: ctx}
	const least, most = 0x1p-300, 0x1p300 // products with the others, in [2^-400, 2^400), keep within the range
	states := g.stateCount()
	c := make([]float64, states)
	rate, total := make([]wide, states), make([]wide, states)
	wideRate := g.rate.wide
	if g.shares != nil {
		r := g.shares.reader()
		wideRate = func(k int) wide { return wideFloat(r.rate(k)) }
	}
	plain := true
	for k := range rate {
		rate[k], total[k] = wideRate(k), g.total.wide(k)
		plain = plain && rate[k].exp == 0 && total[k].exp == 0
	}
	weights := make([]wide, len(g.weights))
	for i, w := range g.weights {
		weights[i] = wideFloat(new(big.Float).SetInt(w))
		plain = plain && weights[i].exp == 0
	}
	// Errors of one visit: at most width terms, four roundings each, and the additions.
	width := 0
	for k := range states {
		width = max(width, int(g.first[k+1]-g.first[k]))
	}
	layers := float64(g.layer[g.states()-1])
	c[0] = 1
	var far []wide // takes over from c
	widen := func() {
		far = make([]wide, states)
		for k, x := range c {
			far[k] = newWide(x, 0)
		}
		c = nil
	}
	if !plain {
		widen()
	}
	z := make([]value, n+1)
	for i := range z {
		for k := range states {
			k := g.order(k)
			first, last := g.terms(k)
			if first == last {
				switch {
				case i == 0:
				case far != nil:
					far[k] = wide{}
				default:
					c[k] = 0
				}
				continue
			}
			if i == 0 && g.lattice == ClassLattice {
				continue
			}
			if err := stop.after(4 * int(last-first)); err != nil {
				return nil, err
			}
			if far == nil {
				sum := c[k] * rate[k].f
				for t := first; t < last; t++ {
					sum += weights[g.weight[t]].f * c[g.child[t]]
				}
				if x := sum / total[k].f; x == 0 || x >= least && x < most {
					c[k] = x
					continue
				}
				widen()
			}
			sum := far[k].times(rate[k])
			for t := first; t < last; t++ {
				sum = sum.plus(weights[g.weight[t]].times(far[g.child[t]]))
			}
			far[k] = sum.over(total[k])
		}
		steps := float64(i)
		if g.lattice != ClassLattice {
			steps += layers
		}
		z[i] = coefficient(g, c, far, roundings(steps*float64(width+6)+4))
	}
	return z, nil
}

// coefficient reads Z[n] off the states, which far holds unless it is nil.
func coefficient(g *graph, c []float64, far []wide, e float64) value {
	switch {
	case g.lattice != ClassLattice && far != nil:
		return wideValue(far[len(far)-1], e)
	case g.lattice != ClassLattice:
		return floatValue(c[len(c)-1], e)
	case far == nil:
		var sum num.Sum
		for _, x := range c {
			sum.Add(x)
		}
		return floatValue(sum.Value(), e)
	}
	var sum wide
	for _, x := range far {
		sum = sum.plus(x)
	}
	return wideValue(sum, compound(e, roundings(float64(len(far))), 0))
}

func boundSeries(ctx context.Context, g *graph, n int, prec uint, mode big.RoundingMode) ([]*big.Float, error) {
	stop := cancellation{ctx: ctx}
	number := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
	buf := new(big.Int)
	divisor := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf + big.ToPositiveInf - mode)
	weights := make([]*big.Float, len(g.weights))
	for i, w := range g.weights {
		weights[i] = number().SetInt(w)
	}
	var shares *shareReader
	var edge *big.Float
	if g.shares != nil {
		shares, edge = g.shares.reader(), g.shares.edge(mode)
	}
	c := make([]big.Float, g.stateCount())
	for k := range c {
		c[k].SetPrec(prec).SetMode(mode)
	}
	const lowest = -1 << 30 // numbers of 2^14 bits to the power of 10^4 are above
	one := big.NewFloat(1)
	c[0].SetInt64(1)
	z := make([]*big.Float, n+1)
	sum, term := number(), number()
	for i := range z {
		for k := range c {
			k := g.order(k)
			first, last := g.terms(k)
			if first == last {
				if i > 0 {
					c[k].SetInt64(0)
				}
				continue
			}
			if i == 0 && g.lattice == ClassLattice {
				continue
			}
			if err := stop.after(bigSteps * int(last-first)); err != nil {
				return nil, err
			}
			if shares != nil {
				sum.Mul(sum.Mul(&c[k], shares.rate(k)), edge)
			} else {
				sum.Mul(&c[k], term.SetInt(g.rate.at(k, buf)))
			}
			for t := first; t < last; t++ {
				addFar(sum, term.Mul(weights[g.weight[t]], &c[g.child[t]]))
			}
			c[k].Quo(sum, divisor.SetInt(g.total.at(k, buf)))
			if exponentOf(&c[k]) < lowest { // a bound far below every Z[n], before it leaves the range of big.Float
				c[k].SetInt64(0)
				if mode == big.ToPositiveInf {
					c[k].SetMantExp(one, lowest)
				}
			}
		}
		z[i] = number()
		if g.lattice == ClassLattice {
			for k := range c {
				z[i].Add(z[i], &c[k])
			}
		} else {
			z[i].Set(&c[len(c)-1])
		}
	}
	return z, nil
}

// exactSeries keeps integers: with U the least common multiple of all M(k), and E_l the
// product of those of the layers up to l, a coefficient of order n is an integer over U^n (class lattice) or E_l U^n.
func exactSeries(ctx context.Context, g *graph, n int, maxBytes int64) ([]value, error) {
	c := make([]big.Int, g.stateCount())
	perLayer := make([]*big.Int, g.layer[g.states()-1]+1)
	for l := range perLayer {
		perLayer[l] = intOne
	}
	all, buf := intOne, new(big.Int)
	tooLong := &TooLargeError{States: float64(len(c)), Limit: maxBytes, Input: input.Errorf("engine", num.Exact,
		"a smaller model, or fewer probabilities: exact coefficients of %d states up to %d jobs pass %d MiB; enclose gives as many digits as asked",
		len(c), n, maxBytes>>20)}
	for k := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.first[k] != g.first[k+1] {
			perLayer[g.layer[k]] = lcm(perLayer[g.layer[k]], g.total.at(k, buf))
			all = lcm(all, g.total.at(k, buf))
			if float64(all.BitLen())/8*float64(n)*float64(len(c)) > float64(maxBytes) {
				return nil, tooLong
			}
		}
	}
	if g.lattice != ClassLattice { // E_l, too
		bits := make([]float64, len(perLayer))
		for l, x := range perLayer {
			bits[l] = bits[max(l-1, 0)] + float64(x.BitLen())
		}
		need := float64(all.BitLen()*n) / 8 * float64(len(c))
		for k := range c {
			need += bits[g.layer[k]]/8 + 64
		}
		if need > float64(maxBytes) {
			return nil, tooLong
		}
	}
	scale := big.NewInt(1) // denominator of Z[n]
	c[0].SetInt64(1)
	if g.lattice != ClassLattice {
		for _, l := range perLayer {
			scale.Mul(scale, l)
		}
	}
	z := make([]value, n+1)
	sum, term, q := new(big.Int), new(big.Int), new(big.Int)
	for i := range z {
		for k := range c {
			k := g.order(k)
			first, last := g.terms(k)
			if first == last {
				if i > 0 {
					c[k].SetInt64(0)
				}
				continue
			}
			if i == 0 && g.lattice == ClassLattice {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum.SetInt64(0)
			for t := first; t < last; t++ {
				sum.Add(sum, term.Mul(g.weights[g.weight[t]], &c[g.child[t]]))
			}
			total := g.total.at(k, buf)
			if g.lattice != ClassLattice {
				sum.Mul(sum, q.Quo(perLayer[g.layer[k]], total))
				term.Mul(&c[k], q.Quo(all, total))
				c[k].Add(sum, term.Mul(term, g.rate.at(k, buf)))
				continue
			}
			q.Quo(all, total)
			sum.Add(sum, term.Mul(&c[k], g.rate.at(k, buf)))
			c[k].Mul(sum, q)
		}
		sum.Set(&c[len(c)-1])
		if g.lattice == ClassLattice {
			sum.SetInt64(0)
			for k := range c {
				sum.Add(sum, &c[k])
			}
		}
		z[i] = value{x: new(big.Rat).SetFrac(sum, scale)}
		scale.Mul(scale, all)
	}
	return z, nil
}

// seriesOfProducts keeps the whole series of every state, in the arithmetic of like.
func seriesOfProducts(ctx context.Context, g *graph, n int, like value) ([]value, error) {
	ratio := func(a, b *big.Int) value { return like.rational(new(big.Rat).SetFrac(a, b)) }
	zero := like.rational(new(big.Rat))
	series := make([][]value, g.states())
	var buf, buf2 big.Int
	for k := range series {
		first, last := g.terms(k)
		sum := make([]value, n+1)
		for i := range sum {
			sum[i] = zero
		}
		total := g.total.at(k, &buf2)
		for t := first; t < last; t++ {
			product, err := []value{ratio(g.weights[g.weight[t]], total)}, error(nil)
			for _, c := range g.children(t) {
				if product, err = convolve(ctx, product, series[c], n); err != nil {
					return nil, err
				}
			}
			for i := range product {
				sum[i] = sum[i].add(product[i])
			}
		}
		factor := ratio(g.rate.at(k, &buf), total)
		for i := 1; i <= n; i++ {
			sum[i] = sum[i].add(factor.mul(sum[i-1]))
		}
		series[k] = sum
	}
	return series[len(series)-1], nil
}

// convolve returns the coefficients 0..n of the product of two series.
func convolve(ctx context.Context, a, b []value, n int) ([]value, error) {
	c := make([]value, min(n, len(a)+len(b)-2)+1)
	for i := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set := false
		for j := max(0, i-len(b)+1); j <= min(i, len(a)-1); j++ {
			term := a[j].mul(b[i-j])
			if set {
				term = c[i].add(term)
			}
			c[i], set = term, true
		}
	}
	return c, nil
}
