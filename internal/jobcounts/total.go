package jobcounts

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/fractions"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// Total returns Z[0..n], the coefficients of Z(zλ), in the arithmetic of like. On the class lattice those of G_A(zλ) obey
//
//	μ(A) g_A[n] = Σ_{i∈A} λ_i g_{A∖i}[n-1] + λ(A) g_A[n-1],   Z[n] = Σ_A g_A[n],
//
// and those of Z_K(zλ) on the lattices of servers
//
//	M(K) z_K[n] = Σ_t weight_t z_{K∖t}[n] + λ(K) z_K[n-1],   Z[n] = z_all[n].
//
// One array is enough: it goes from n-1 to n in place, down the class lattice or up the others. On connected sets terms
// are products, so that every state keeps its series. The error is a *[num.TooLargeError] for fractions that take more than
// maxBytes, or that of the context.
func Total(ctx context.Context, g *recursion.Graph, connected bool, n int, like arithmetic.Number, maxBytes int64) ([]arithmetic.Number, error) {
	if connected {
		if like.Exact == nil && like.Interval.Low == nil {
			if z, err := floatProducts(ctx, g, n); !errors.Is(err, errFar) {
				return z, err
			}
		}
		return seriesOfProducts(ctx, g, n, like, maxBytes)
	}
	var s series
	switch {
	case like.Exact != nil:
		exact, err := newExactSeries(ctx, g, n, maxBytes)
		if err != nil {
			return nil, err
		}
		s = exact
	case like.Interval.Low != nil:
		s = newBoundSeries(g, like.Interval.Prec())
	default:
		s = newFloatSeries(g)
	}
	stop := recursion.Cancellation{Ctx: ctx}
	z := make([]arithmetic.Number, n+1)
	states := g.Inner()
	for i := range z {
		for k := range states {
			k := order(g, k)
			first, last := g.Terms(k)
			switch {
			case first == last && i > 0:
				s.clear(k)
			case first == last || i == 0 && g.ByClass:
			default:
				if err := stop.After(s.steps() * int(last-first)); err != nil {
					return nil, err
				}
				s.next(k)
			}
		}
		z[i] = s.coefficient(i)
	}
	return z, nil
}

var intOne = big.NewInt(1) // never changed

// A series holds one coefficient of every state, in the arithmetic of one engine. At first those of order 0 of the
// states without terms are 1, and others 0.
type series interface {
	clear(k int)                         // makes the coefficient of state k 0
	next(k int)                          // takes state k from order n-1 to n, after those that it needs
	coefficient(n int) arithmetic.Number // Z[n], when all states are at order n
	steps() int                          // how many additions of float64 one term counts for
}

// order returns the k-th state to visit in place, of those but the root of the class lattice.
func order(g *recursion.Graph, k int) int {
	if g.ByClass {
		return g.States() - 2 - k
	}
	return k
}

// A floatSeries is in float64 until a number leaves [2^-300, 2^300), and from there on in wide numbers.
type floatSeries struct {
	*recursion.Graph
	c                    []float64
	far                  []arithmetic.Wide // takes over from c
	rate, total, weights []arithmetic.Wide
	width                int // the most terms of a state
}

func newFloatSeries(g *recursion.Graph) *floatSeries {
	states := g.Inner()
	s := &floatSeries{Graph: g, c: make([]float64, states), rate: make([]arithmetic.Wide, states), total: make([]arithmetic.Wide, states),
		weights: make([]arithmetic.Wide, len(g.Weights))}
	wideRate := g.Rate.Wide
	if g.Shares != nil {
		r := g.Shares.Reader()
		wideRate = func(k int) arithmetic.Wide { return arithmetic.WideOf(r.Rate(k)) }
	}
	plain := true
	for k := range s.rate {
		s.rate[k], s.total[k] = wideRate(k), g.Total.Wide(k)
		plain = plain && s.rate[k].Exp == 0 && s.total[k].Exp == 0
		s.width = max(s.width, int(g.First[k+1]-g.First[k]))
	}
	for i, w := range g.Weights {
		s.weights[i] = arithmetic.WideOf(new(big.Float).SetInt(w))
		plain = plain && s.weights[i].Exp == 0
	}
	s.c[0] = 1
	if !plain {
		s.widen()
	}
	return s
}

func (s *floatSeries) steps() int { return 4 }

func (s *floatSeries) widen() {
	s.far = make([]arithmetic.Wide, len(s.c))
	for k, x := range s.c {
		s.far[k] = arithmetic.NewWide(x, 0)
	}
	s.c = nil
}

func (s *floatSeries) clear(k int) {
	if s.far != nil {
		s.far[k] = arithmetic.Wide{}
		return
	}
	s.c[k] = 0
}

func (s *floatSeries) next(k int) {
	const least, most = 0x1p-300, 0x1p300 // products with the others, in [2^-400, 2^400), keep within the range
	first, last := s.Terms(k)
	if s.far == nil {
		sum := s.c[k] * s.rate[k].F
		for t := first; t < last; t++ {
			sum += s.weights[s.Weight[t]].F * s.c[s.Child[t]]
		}
		if x := sum / s.total[k].F; x == 0 || x >= least && x < most {
			s.c[k] = x
			return
		}
		s.widen()
	}
	sum := s.far[k].Times(s.rate[k])
	for t := first; t < last; t++ {
		sum = sum.Plus(s.weights[s.Weight[t]].Times(s.far[s.Child[t]]))
	}
	s.far[k] = sum.Over(s.total[k])
}

// coefficient bounds the errors of n visits, each of at most width terms with four roundings each, and the additions.
func (s *floatSeries) coefficient(n int) arithmetic.Number {
	steps := float64(n)
	if !s.ByClass {
		steps += float64(s.Layer[s.States()-1])
	}
	e := arithmetic.Roundings(steps*float64(s.width+6) + 4)
	switch {
	case !s.ByClass && s.far != nil:
		return arithmetic.FromWide(s.far[len(s.far)-1], e)
	case !s.ByClass:
		return arithmetic.FromFloat(s.c[len(s.c)-1], e)
	case s.far == nil:
		var sum num.Sum
		for _, x := range s.c {
			sum.Add(x)
		}
		return arithmetic.FromFloat(sum.Value(), e)
	}
	var sum arithmetic.Wide
	for _, x := range s.far {
		sum = sum.Plus(x)
	}
	return arithmetic.FromWide(sum, arithmetic.Compound(e, arithmetic.Roundings(float64(len(s.far))), 0))
}

// A boundSeries holds lower and upper bounds.
type boundSeries struct {
	*recursion.Graph
	shares    *recursion.ShareReader // nil unless the graph has shares
	low, high *roundedSeries
}

// A roundedSeries is rounded in one direction in every operation.
type roundedSeries struct {
	mode                     big.RoundingMode
	c                        []big.Float
	weights                  []*big.Float
	sum, term, divisor, edge *big.Float
}

func newBoundSeries(g *recursion.Graph, prec uint) *boundSeries {
	s := &boundSeries{Graph: g}
	if g.Shares != nil {
		s.shares = g.Shares.Reader()
	}
	rounded := func(mode big.RoundingMode) *roundedSeries {
		number := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(mode) }
		r := &roundedSeries{mode: mode, c: make([]big.Float, g.Inner()), sum: number(), term: number(),
			divisor: number().SetMode(big.ToNegativeInf + big.ToPositiveInf - mode)}
		if g.Shares != nil {
			r.edge = g.Shares.Edge(mode)
		}
		for _, w := range g.Weights {
			r.weights = append(r.weights, number().SetInt(w))
		}
		for k := range r.c {
			r.c[k].SetPrec(prec).SetMode(mode)
		}
		r.c[0].SetInt64(1)
		return r
	}
	s.low, s.high = rounded(big.ToNegativeInf), rounded(big.ToPositiveInf)
	return s
}

func (s *boundSeries) steps() int { return 2 * recursion.BigSteps }

func (s *boundSeries) clear(k int) {
	s.low.c[k].SetInt64(0)
	s.high.c[k].SetInt64(0)
}

func (s *boundSeries) next(k int) {
	var buf big.Int
	total := s.Total.At(k, &buf)
	var rate *big.Int
	var share *big.Float
	if s.shares != nil {
		share = s.shares.Rate(k)
	} else {
		rate = s.Rate.At(k, new(big.Int))
	}
	for _, r := range []*roundedSeries{s.low, s.high} {
		if s.shares != nil {
			r.sum.Mul(r.sum.Mul(&r.c[k], share), r.edge)
		} else {
			r.sum.Mul(&r.c[k], r.term.SetInt(rate))
		}
		first, last := s.Terms(k)
		for t := first; t < last; t++ {
			arithmetic.AddFar(r.sum, r.term.Mul(r.weights[s.Weight[t]], &r.c[s.Child[t]]))
		}
		r.c[k].Quo(r.sum, r.divisor.SetInt(total))
		const lowest = -1 << 30                    // numbers of 2^14 bits to the power of 10^4 are above
		if arithmetic.Exponent(&r.c[k]) < lowest { // a bound far below every Z[n], before it leaves the range of big.Float
			r.c[k].SetInt64(0)
			if r.mode == big.ToPositiveInf {
				r.c[k].SetMantExp(big.NewFloat(1), lowest)
			}
		}
	}
}

func (s *boundSeries) coefficient(int) arithmetic.Number {
	read := func(r *roundedSeries) *big.Float {
		z := new(big.Float).SetPrec(r.sum.Prec()).SetMode(r.mode)
		if !s.ByClass {
			return z.Set(&r.c[len(r.c)-1])
		}
		for k := range r.c {
			z.Add(z, &r.c[k])
		}
		return z
	}
	return arithmetic.Number{Interval: num.Interval{Low: read(s.low), High: read(s.high)}}
}

// An exactSeries keeps integers: with U the least common multiple of all M(k), and E_l the product of those of the
// layers up to l, a coefficient of order n is an integer over U^n (class lattice) or E_l U^n.
type exactSeries struct {
	*recursion.Graph
	c            []big.Int
	perLayer     []*big.Int // lcm of the M(k) of each layer
	all          *big.Int   // U
	scale        *big.Int   // denominator of Z[n]
	sum, term, q big.Int
	buf          big.Int
}

func newExactSeries(ctx context.Context, g *recursion.Graph, n int, maxBytes int64) (*exactSeries, error) {
	s := &exactSeries{Graph: g, c: make([]big.Int, g.Inner()), all: intOne, scale: big.NewInt(1),
		perLayer: slices.Repeat([]*big.Int{intOne}, int(g.Layer[g.States()-1])+1)}
	for k := range s.c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.First[k] != g.First[k+1] {
			s.perLayer[g.Layer[k]] = fractions.LCM(s.perLayer[g.Layer[k]], g.Total.At(k, &s.buf))
			s.all = fractions.LCM(s.all, g.Total.At(k, &s.buf))
			if float64(s.all.BitLen())/8*float64(n)*float64(len(s.c)) > float64(maxBytes) {
				return nil, tooLong(g, n, maxBytes)
			}
		}
	}
	s.c[0].SetInt64(1)
	if g.ByClass {
		return s, nil
	}
	bits := make([]float64, len(s.perLayer)) // of E_l
	for l, x := range s.perLayer {
		bits[l] = bits[max(l-1, 0)] + float64(x.BitLen())
	}
	need := float64(s.all.BitLen()*n) / 8 * float64(len(s.c))
	for k := range s.c {
		need += bits[g.Layer[k]]/8 + 64
	}
	if need > float64(maxBytes) {
		return nil, tooLong(g, n, maxBytes)
	}
	for _, l := range s.perLayer {
		s.scale.Mul(s.scale, l)
	}
	return s, nil
}

// tooLong refuses fractions of more than so many bytes.
func tooLong(g *recursion.Graph, n int, maxBytes int64) error {
	return &num.TooLargeError{States: float64(g.Inner()), Limit: maxBytes, Input: input.Errorf("engine", num.Exact,
		"a smaller model, or fewer probabilities: exact coefficients of %d states up to %d jobs pass %d MiB; enclose gives as many digits as asked",
		g.Inner(), n, maxBytes>>20)}
}

func (s *exactSeries) steps() int { return 1 << 16 } // a look at each state

func (s *exactSeries) clear(k int) { s.c[k].SetInt64(0) }

func (s *exactSeries) next(k int) {
	first, last := s.Terms(k)
	sum, term, q := s.sum.SetInt64(0), &s.term, &s.q
	for t := first; t < last; t++ {
		sum.Add(sum, term.Mul(s.Weights[s.Weight[t]], &s.c[s.Child[t]]))
	}
	total := s.Total.At(k, &s.buf)
	if !s.ByClass {
		sum.Mul(sum, q.Quo(s.perLayer[s.Layer[k]], total))
		term.Mul(&s.c[k], q.Quo(s.all, total))
		s.c[k].Add(sum, term.Mul(term, s.Rate.At(k, &s.buf)))
		return
	}
	q.Quo(s.all, total)
	sum.Add(sum, term.Mul(&s.c[k], s.Rate.At(k, &s.buf)))
	s.c[k].Mul(sum, q)
}

func (s *exactSeries) coefficient(int) arithmetic.Number {
	sum := s.sum.Set(&s.c[len(s.c)-1])
	if s.ByClass {
		sum.SetInt64(0)
		for k := range s.c {
			sum.Add(sum, &s.c[k])
		}
	}
	z := arithmetic.Number{Exact: new(big.Rat).SetFrac(sum, s.scale)}
	s.scale.Mul(s.scale, s.all)
	return z
}

// seriesOfProducts keeps the whole series of every state, in the arithmetic of like. Fractions are counted as they come.
func seriesOfProducts(ctx context.Context, g *recursion.Graph, n int, like arithmetic.Number, maxBytes int64) ([]arithmetic.Number, error) {
	ratio := func(a, b *big.Int) arithmetic.Number { return like.Rational(new(big.Rat).SetFrac(a, b)) }
	zero := like.Rational(new(big.Rat))
	series, bits := make([][]arithmetic.Number, g.States()), 0
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
				if product, err = Convolve(ctx, product, series[c], n); err != nil {
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
		for _, x := range sum {
			if x.Exact != nil {
				bits += x.Exact.Num().BitLen() + x.Exact.Denom().BitLen()
			}
		}
		if bits/8 > int(maxBytes) {
			return nil, tooLong(g, n, maxBytes)
		}
		series[k] = sum
	}
	return series[len(series)-1], nil
}

// Convolve returns the coefficients 0..n of the product of two series.
func Convolve(ctx context.Context, a, b []arithmetic.Number, n int) ([]arithmetic.Number, error) {
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
