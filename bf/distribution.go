package bf

import (
	"cmp"
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
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
func (l *plan) coefficients(ctx context.Context, n int, engine num.Engine, prec uint, maxBytes int64) ([]arithmetic.Number, error) {
	if err := l.build(ctx, prec); err != nil {
		return nil, err
	}
	g := l.graph
	switch {
	case l.lattice == ConnectedLattice:
		return seriesOfProducts(ctx, g, n, arithmetic.One(engine, prec))
	case engine == num.Float:
		return floatSeries(ctx, g, n)
	case engine == num.Enclose:
		low, lowErr := boundSeries(ctx, g, n, prec, big.ToNegativeInf)
		high, err := boundSeries(ctx, g, n, prec, big.ToPositiveInf)
		if err := cmp.Or(lowErr, err); err != nil {
			return nil, err
		}
		z := make([]arithmetic.Number, n+1)
		for i := range z {
			z[i] = arithmetic.Number{Interval: num.Interval{Low: low[i], High: high[i]}}
		}
		return z, nil
	}
	return exactSeries(ctx, g, n, maxBytes)
}

// order returns the k-th state to visit in place, of those but the root of the class lattice.
func order(g *recursion.Graph, k int) int {
	if g.ByClass {
		return g.States() - 2 - k
	}
	return k
}

// seriesStates returns the number of states that have a series.
func seriesStates(g *recursion.Graph) int {
	if g.ByClass {
		return g.States() - 1
	}
	return g.States()
}

// floatSeries runs in float64 until a number leaves [2^-300, 2^300), and from there on in wide numbers.
func floatSeries(ctx context.Context, g *recursion.Graph, n int) ([]arithmetic.Number, error) {
	stop := recursion.Cancellation{Ctx: ctx}
	const least, most = 0x1p-300, 0x1p300 // products with the others, in [2^-400, 2^400), keep within the range
	states := seriesStates(g)
	c := make([]float64, states)
	rate, total := make([]arithmetic.Wide, states), make([]arithmetic.Wide, states)
	wideRate := g.Rate.Wide
	if g.Shares != nil {
		r := g.Shares.Reader()
		wideRate = func(k int) arithmetic.Wide { return arithmetic.WideOf(r.Rate(k)) }
	}
	plain := true
	for k := range rate {
		rate[k], total[k] = wideRate(k), g.Total.Wide(k)
		plain = plain && rate[k].Exp == 0 && total[k].Exp == 0
	}
	weights := make([]arithmetic.Wide, len(g.Weights))
	for i, w := range g.Weights {
		weights[i] = arithmetic.WideOf(new(big.Float).SetInt(w))
		plain = plain && weights[i].Exp == 0
	}
	// Errors of one visit: at most width terms, four roundings each, and the additions.
	width := 0
	for k := range states {
		width = max(width, int(g.First[k+1]-g.First[k]))
	}
	layers := float64(g.Layer[g.States()-1])
	c[0] = 1
	var far []arithmetic.Wide // takes over from c
	widen := func() {
		far = make([]arithmetic.Wide, states)
		for k, x := range c {
			far[k] = arithmetic.NewWide(x, 0)
		}
		c = nil
	}
	if !plain {
		widen()
	}
	z := make([]arithmetic.Number, n+1)
	for i := range z {
		for k := range states {
			k := order(g, k)
			first, last := g.Terms(k)
			if first == last {
				switch {
				case i == 0:
				case far != nil:
					far[k] = arithmetic.Wide{}
				default:
					c[k] = 0
				}
				continue
			}
			if i == 0 && g.ByClass {
				continue
			}
			if err := stop.After(4 * int(last-first)); err != nil {
				return nil, err
			}
			if far == nil {
				sum := c[k] * rate[k].F
				for t := first; t < last; t++ {
					sum += weights[g.Weight[t]].F * c[g.Child[t]]
				}
				if x := sum / total[k].F; x == 0 || x >= least && x < most {
					c[k] = x
					continue
				}
				widen()
			}
			sum := far[k].Times(rate[k])
			for t := first; t < last; t++ {
				sum = sum.Plus(weights[g.Weight[t]].Times(far[g.Child[t]]))
			}
			far[k] = sum.Over(total[k])
		}
		steps := float64(i)
		if !g.ByClass {
			steps += layers
		}
		z[i] = coefficient(g, c, far, arithmetic.Roundings(steps*float64(width+6)+4))
	}
	return z, nil
}

// coefficient reads Z[n] off the states, which far holds unless it is nil.
func coefficient(g *recursion.Graph, c []float64, far []arithmetic.Wide, e float64) arithmetic.Number {
	switch {
	case !g.ByClass && far != nil:
		return arithmetic.FromWide(far[len(far)-1], e)
	case !g.ByClass:
		return arithmetic.FromFloat(c[len(c)-1], e)
	case far == nil:
		var sum num.Sum
		for _, x := range c {
			sum.Add(x)
		}
		return arithmetic.FromFloat(sum.Value(), e)
	}
	var sum arithmetic.Wide
	for _, x := range far {
		sum = sum.Plus(x)
	}
	return arithmetic.FromWide(sum, arithmetic.Compound(e, arithmetic.Roundings(float64(len(far))), 0))
}

func boundSeries(ctx context.Context, g *recursion.Graph, n int, prec uint, mode big.RoundingMode) ([]*big.Float, error) {
	stop := recursion.Cancellation{Ctx: ctx}
	number := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
	buf := new(big.Int)
	divisor := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf + big.ToPositiveInf - mode)
	weights := make([]*big.Float, len(g.Weights))
	for i, w := range g.Weights {
		weights[i] = number().SetInt(w)
	}
	var shares *recursion.ShareReader
	var edge *big.Float
	if g.Shares != nil {
		shares, edge = g.Shares.Reader(), g.Shares.Edge(mode)
	}
	c := make([]big.Float, seriesStates(g))
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
			k := order(g, k)
			first, last := g.Terms(k)
			if first == last {
				if i > 0 {
					c[k].SetInt64(0)
				}
				continue
			}
			if i == 0 && g.ByClass {
				continue
			}
			if err := stop.After(recursion.BigSteps * int(last-first)); err != nil {
				return nil, err
			}
			if shares != nil {
				sum.Mul(sum.Mul(&c[k], shares.Rate(k)), edge)
			} else {
				sum.Mul(&c[k], term.SetInt(g.Rate.At(k, buf)))
			}
			for t := first; t < last; t++ {
				arithmetic.AddFar(sum, term.Mul(weights[g.Weight[t]], &c[g.Child[t]]))
			}
			c[k].Quo(sum, divisor.SetInt(g.Total.At(k, buf)))
			if arithmetic.Exponent(&c[k]) < lowest { // a bound far below every Z[n], before it leaves the range of big.Float
				c[k].SetInt64(0)
				if mode == big.ToPositiveInf {
					c[k].SetMantExp(one, lowest)
				}
			}
		}
		z[i] = number()
		if g.ByClass {
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
func exactSeries(ctx context.Context, g *recursion.Graph, n int, maxBytes int64) ([]arithmetic.Number, error) {
	c := make([]big.Int, seriesStates(g))
	perLayer := make([]*big.Int, g.Layer[g.States()-1]+1)
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
		if g.First[k] != g.First[k+1] {
			perLayer[g.Layer[k]] = lcm(perLayer[g.Layer[k]], g.Total.At(k, buf))
			all = lcm(all, g.Total.At(k, buf))
			if float64(all.BitLen())/8*float64(n)*float64(len(c)) > float64(maxBytes) {
				return nil, tooLong
			}
		}
	}
	if !g.ByClass { // E_l, too
		bits := make([]float64, len(perLayer))
		for l, x := range perLayer {
			bits[l] = bits[max(l-1, 0)] + float64(x.BitLen())
		}
		need := float64(all.BitLen()*n) / 8 * float64(len(c))
		for k := range c {
			need += bits[g.Layer[k]]/8 + 64
		}
		if need > float64(maxBytes) {
			return nil, tooLong
		}
	}
	scale := big.NewInt(1) // denominator of Z[n]
	c[0].SetInt64(1)
	if !g.ByClass {
		for _, l := range perLayer {
			scale.Mul(scale, l)
		}
	}
	z := make([]arithmetic.Number, n+1)
	sum, term, q := new(big.Int), new(big.Int), new(big.Int)
	for i := range z {
		for k := range c {
			k := order(g, k)
			first, last := g.Terms(k)
			if first == last {
				if i > 0 {
					c[k].SetInt64(0)
				}
				continue
			}
			if i == 0 && g.ByClass {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum.SetInt64(0)
			for t := first; t < last; t++ {
				sum.Add(sum, term.Mul(g.Weights[g.Weight[t]], &c[g.Child[t]]))
			}
			total := g.Total.At(k, buf)
			if !g.ByClass {
				sum.Mul(sum, q.Quo(perLayer[g.Layer[k]], total))
				term.Mul(&c[k], q.Quo(all, total))
				c[k].Add(sum, term.Mul(term, g.Rate.At(k, buf)))
				continue
			}
			q.Quo(all, total)
			sum.Add(sum, term.Mul(&c[k], g.Rate.At(k, buf)))
			c[k].Mul(sum, q)
		}
		sum.Set(&c[len(c)-1])
		if g.ByClass {
			sum.SetInt64(0)
			for k := range c {
				sum.Add(sum, &c[k])
			}
		}
		z[i] = arithmetic.Number{Exact: new(big.Rat).SetFrac(sum, scale)}
		scale.Mul(scale, all)
	}
	return z, nil
}

// seriesOfProducts keeps the whole series of every state, in the arithmetic of like.
func seriesOfProducts(ctx context.Context, g *recursion.Graph, n int, like arithmetic.Number) ([]arithmetic.Number, error) {
	ratio := func(a, b *big.Int) arithmetic.Number { return like.Rational(new(big.Rat).SetFrac(a, b)) }
	zero := like.Rational(new(big.Rat))
	series := make([][]arithmetic.Number, g.States())
	var buf, buf2 big.Int
	for k := range series {
		first, last := g.Terms(k)
		sum := make([]arithmetic.Number, n+1)
		for i := range sum {
			sum[i] = zero
		}
		total := g.Total.At(k, &buf2)
		for t := first; t < last; t++ {
			product, err := []arithmetic.Number{ratio(g.Weights[g.Weight[t]], total)}, error(nil)
			for _, c := range g.Children(t) {
				if product, err = convolve(ctx, product, series[c], n); err != nil {
					return nil, err
				}
			}
			for i := range product {
				sum[i] = sum[i].Add(product[i])
			}
		}
		factor := ratio(g.Rate.At(k, &buf), total)
		for i := 1; i <= n; i++ {
			sum[i] = sum[i].Add(factor.Mul(sum[i-1]))
		}
		series[k] = sum
	}
	return series[len(series)-1], nil
}

// convolve returns the coefficients 0..n of the product of two series.
func convolve(ctx context.Context, a, b []arithmetic.Number, n int) ([]arithmetic.Number, error) {
	c := make([]arithmetic.Number, min(n, len(a)+len(b)-2)+1)
	for i := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set := false
		for j := max(0, i-len(b)+1); j <= min(i, len(a)-1); j++ {
			term := a[j].Mul(b[i-j])
			if set {
				term = c[i].Add(term)
			}
			c[i], set = term, true
		}
	}
	return c, nil
}
