// This file computes the distribution of the number of jobs of a cluster under balanced fairness,
// from a graph of the recursion for the normalization Z(λ). The total number of jobs has the
// generating function Z(zλ)/Z(λ), and the number of class-i jobs Z(λ + (z-1) λ_i e_i)/Z(λ), with
// e_i the i-th unit vector. [Total] and [OfClass] return the coefficients of these functions,
// before the division by Z(λ). Nothing is subtracted, so no digits are lost near the stability
// boundary.

package recursion

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Total returns Z[0..n], the coefficients of Z(zλ), in the arithmetic of like. On the class
// lattice, the coefficients of G_A(zλ) obey
//
//	μ(A) g_A[n] = Σ_{i∈A} λ_i g_{A∖i}[n-1] + λ(A) g_A[n-1],   Z[n] = Σ_A g_A[n],
//
// and on the lattices of servers, those of Z_K(zλ) obey
//
//	M(K) z_K[n] = Σ_t weight_t z_{K∖t}[n] + λ(K) z_K[n-1],   Z[n] = z_all[n].
//
// One array suffices: it is updated from n-1 to n in place, down the class lattice or up the
// others. On connected sets terms are products, so every state keeps its series. The error is a
// *[num.TooLargeError] for fractions that need more than maxBytes, or that of the context.
func Total(
	ctx context.Context, g *Graph, connected bool, n int, like arithmetic.Number, maxBytes int64,
) ([]arithmetic.Number, error) {
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
		s = newBoundSeries(ctx, g, like.Interval.Prec())
	default:
		float, err := newFloatSeries(ctx, g)
		if err != nil {
			return nil, err
		}
		s = float
	}
	z := make([]arithmetic.Number, n+1)
	for i := range z {
		if i > 0 || !g.ByClass {
			if err := s.next(i); err != nil {
				return nil, err
			}
		}
		var err error
		if z[i], err = s.coefficient(i); err != nil {
			return nil, err
		}
	}
	return z, nil
}

var countOne = big.NewInt(1) // never changed

// A series holds one coefficient of every state, in the arithmetic of one engine. Initially that of
// the state without terms is 1, and all others are 0.
type series interface {
	// moves all states from order n-1 to n, each after those that it needs
	next(n int) error
	coefficient(n int) (arithmetic.Number, error) // Z[n], when all states are at order n
}

// order returns the states, without the root of the class lattice, in an order for updates in
// place.
func order(g *Graph) []int32 {
	list := make([]int32, g.Inner())
	for k := range list {
		list[k] = int32(k)
	}
	if g.ByClass {
		slices.Reverse(list)
	}
	return list
}

// A floatSeries is in float64 until a number leaves [2^-300, 2^300), and then in wide numbers.
type floatSeries struct {
	*Graph
	stop                 Cancellation
	order                []int32
	c                    []float64
	far                  []arithmetic.Wide // takes over from c
	rate, total, weights []arithmetic.Wide
	width                int // maximum number of terms of a state
}

func newFloatSeries(ctx context.Context, g *Graph) (*floatSeries, error) {
	states := g.Inner()
	s := &floatSeries{Graph: g, stop: Cancellation{Ctx: ctx}, order: order(g), c: make([]float64, states),
		rate: make([]arithmetic.Wide, states), total: make([]arithmetic.Wide, states),
		weights: make([]arithmetic.Wide, len(g.Weights))}
	wideRate, steps := g.Rate.Wide, 16
	if g.Total.Large != nil {
		steps = 2 * BigSteps
	}
	if g.Shares != nil {
		steps = BigSteps * len(g.Shares.Choices)
		r := g.Shares.Reader()
		wideRate = func(k int) arithmetic.Wide { return arithmetic.WideOf(r.Rate(k)) }
	}
	plain := true
	for k := range s.rate {
		if err := s.stop.After(steps); err != nil {
			return nil, err
		}
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
	return s, nil
}

func (s *floatSeries) widen() {
	s.far = make([]arithmetic.Wide, len(s.c))
	for k, x := range s.c {
		s.far[k] = arithmetic.NewWide(x, 0)
	}
	s.c = nil
}

func (s *floatSeries) next(n int) error {
	for _, state := range s.order {
		k := int(state)
		first, last := s.Terms(k)
		switch {
		case first != last:
			if err := s.stop.After(4 * int(last-first)); err != nil {
				return err
			}
			s.step(k, first, last)
		case n == 0:
		case s.far != nil:
			s.far[k] = arithmetic.Wide{}
		default:
			s.c[k] = 0
		}
	}
	return nil
}

// step moves state k with the given terms to the next order.
func (s *floatSeries) step(k int, first, last int32) {
	const least, most = 0x1p-300, 0x1p300 // products with the others, in [2^-400, 2^400), stay in range
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

// coefficient bounds the errors of n visits, each of at most width terms with four roundings each,
// and the additions.
func (s *floatSeries) coefficient(n int) (arithmetic.Number, error) {
	steps := float64(n)
	if !s.ByClass {
		steps += float64(s.Layer[s.States()-1])
	}
	e := arithmetic.Roundings(steps*float64(s.width+6) + 4)
	switch {
	case !s.ByClass && s.far != nil:
		return arithmetic.FromWide(s.far[len(s.far)-1], e), nil
	case !s.ByClass:
		return arithmetic.FromFloat(s.c[len(s.c)-1], e), nil
	case s.far == nil:
		var sum num.Sum
		for _, x := range s.c {
			if err := s.stop.After(4); err != nil {
				return arithmetic.Number{}, err
			}
			sum.Add(x)
		}
		return arithmetic.FromFloat(sum.Value(), e), nil
	}
	var sum arithmetic.Wide
	for _, x := range s.far {
		if err := s.stop.After(8); err != nil {
			return arithmetic.Number{}, err
		}
		sum = sum.Plus(x)
	}
	return arithmetic.FromWide(sum, arithmetic.Compound(e, arithmetic.Roundings(float64(len(s.far))), 0)), nil
}

// A boundSeries holds lower and upper bounds.
type boundSeries struct {
	*Graph
	low, high *Sweep[big.Float, *roundedSeries]
}

// A roundedSeries is the kernel of a sweep from one order to the next.
type roundedSeries struct {
	Rounded                 // the denominators are M(k)
	shares     *ShareReader // nil unless the graph has shares
	edge, rate *big.Float   // factor of shares, and λ(k)
	buf        big.Int
	order      int64
	value      []big.Float // one for each state
}

func newBoundSeries(ctx context.Context, g *Graph, prec uint) *boundSeries {
	rounded := func(mode big.RoundingMode) *Sweep[big.Float, *roundedSeries] {
		r := &roundedSeries{Rounded: NewRounded(g, prec, mode)}
		r.Denominators, r.rate = &g.Total, r.Number()
		if g.Shares != nil {
			r.shares, r.edge = g.Shares.Reader(), g.Shares.Edge(mode)
		}
		s := NewSweep(ctx, g, g.Inner(), r, *r.Number(), BigSteps)
		s.Order = order(g)
		r.value = s.Value
		r.value[0].SetInt64(1)
		return s
	}
	return &boundSeries{g, rounded(big.ToNegativeInf), rounded(big.ToPositiveInf)}
}

func (s *boundSeries) next(n int) error {
	s.low.Kernel.order, s.high.Kernel.order = int64(n), int64(n)
	return Both(s.low.Up, s.high.Up)
}

func (r *roundedSeries) One(z *big.Float, _ int) { z.SetInt64(max(0, 1-r.order)) }

func (r *roundedSeries) Begin(z *big.Float, k int) {
	if r.shares != nil {
		z.Mul(z.Mul(&r.value[k], r.shares.Rate(k)), r.edge)
	} else {
		z.Mul(&r.value[k], r.rate.SetInt(r.Graph.Rate.At(k, &r.buf)))
	}
}

func (r *roundedSeries) Divide(z, x *big.Float, k int) {
	r.Rounded.Divide(z, x, k)
	const lowest = -1 << 30              // numbers of 2^14 bits to the power of 10^4 are above
	if arithmetic.Exponent(z) < lowest { // a bound far below every Z[n], before it leaves the range of big.Float
		z.SetInt64(0)
		if r.Mode == big.ToPositiveInf {
			z.SetMantExp(big.NewFloat(1), lowest)
		}
	}
}

func (s *boundSeries) coefficient(int) (arithmetic.Number, error) {
	read := func(sweep *Sweep[big.Float, *roundedSeries]) (*big.Float, error) {
		r := sweep.Kernel
		z := r.Number()
		if !s.ByClass {
			return z.Set(&r.value[len(r.value)-1]), nil
		}
		for k := range r.value {
			if err := sweep.Stop.After(sweep.Steps); err != nil {
				return nil, err
			}
			z.Add(z, &r.value[k])
		}
		return z, nil
	}
	low, err := read(s.low)
	if err != nil {
		return arithmetic.Number{}, err
	}
	high, err := read(s.high)
	return arithmetic.Number{Interval: num.Interval{Low: low, High: high}}, err
}

// An exactSeries keeps integers: with U the least common multiple of all M(k), and E_l the product
// of those of the layers up to l, a coefficient of order n is an integer over U^n (class lattice)
// or E_l U^n.
type exactSeries struct {
	Whole
	sweep    *Sweep[big.Int, *exactSeries] // the sweep with this kernel
	order    int64
	c        []big.Int  // its values
	perLayer []*big.Int // lcm of the M(k) of each layer
	all      *big.Int   // U
	scale    *big.Int   // denominator of Z[n]
	term, q  big.Int
	buf      big.Int
}

func newExactSeries(ctx context.Context, g *Graph, n int, maxBytes int64) (*exactSeries, error) {
	s := &exactSeries{Whole: Whole{Graph: g}, all: countOne, scale: big.NewInt(1),
		perLayer: slices.Repeat([]*big.Int{countOne}, int(g.Layer[g.States()-1])+1)}
	s.sweep = NewSweep(ctx, g, g.Inner(), s, big.Int{}, 1<<16) // checks the context at each state
	s.c = s.sweep.Value
	s.sweep.Order = order(g)
	for k := range s.c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.First[k] != g.First[k+1] {
			s.perLayer[g.Layer[k]] = LCM(s.perLayer[g.Layer[k]], g.Total.At(k, &s.buf))
			s.all = LCM(s.all, g.Total.At(k, &s.buf))
			if float64(s.all.BitLen())/8*float64(n)*float64(len(s.c)) > float64(maxBytes) {
				return nil, seriesSizeError(g, n, maxBytes)
			}
		}
	}
	s.c[0].SetInt64(1)
	if g.ByClass {
		return s, nil
	}
	bits := make([]float64, len(s.perLayer)) // bits of E_l
	for l, x := range s.perLayer {
		bits[l] = bits[max(l-1, 0)] + float64(x.BitLen())
	}
	need := float64(s.all.BitLen()*n) / 8 * float64(len(s.c))
	for k := range s.c {
		need += bits[g.Layer[k]]/8 + 64
	}
	if need > float64(maxBytes) {
		return nil, seriesSizeError(g, n, maxBytes)
	}
	for _, l := range s.perLayer {
		s.scale.Mul(s.scale, l)
	}
	return s, nil
}

// seriesSizeError returns an error for fractions of more than maxBytes.
func seriesSizeError(g *Graph, n int, maxBytes int64) error {
	return &num.TooLargeError{States: float64(g.Inner()), Limit: maxBytes, Input: input.Errorf("engine", num.Exact,
		"a smaller model, or fewer probabilities: exact coefficients of %d states up to %d jobs exceed %d MiB; "+
			"enclose "+
			"gives as many digits as requested",
		g.Inner(), n, maxBytes>>20)}
}

func (s *exactSeries) next(n int) error {
	s.order = int64(n)
	return s.sweep.Up()
}

func (s *exactSeries) One(z *big.Int, _ int) { z.SetInt64(max(0, 1-s.order)) }

// Divide also adds the term of state k itself.
func (s *exactSeries) Divide(z, x *big.Int, k int) {
	g, term, q := s.Graph, &s.term, &s.q
	total := g.Total.At(k, &s.buf)
	if g.ByClass {
		q.Quo(s.all, total)
		z.Mul(x.Add(x, term.Mul(z, g.Rate.At(k, &s.buf))), q)
		return
	}
	x.Mul(x, q.Quo(s.perLayer[g.Layer[k]], total))
	term.Mul(z, q.Quo(s.all, total))
	z.Add(x, term.Mul(term, g.Rate.At(k, &s.buf)))
}

func (s *exactSeries) coefficient(int) (arithmetic.Number, error) {
	sum := new(big.Int).Set(&s.c[len(s.c)-1])
	if s.Graph.ByClass {
		sum.SetInt64(0)
		for k := range s.c {
			if err := s.sweep.Stop.After(s.sweep.Steps); err != nil {
				return arithmetic.Number{}, err
			}
			sum.Add(sum, &s.c[k])
		}
	}
	z := arithmetic.Number{Exact: new(big.Rat).SetFrac(sum, s.scale)}
	s.scale.Mul(s.scale, s.all)
	return z, nil
}

// seriesOfProducts keeps the whole series of every state, in the arithmetic of like. The size of
// fractions is counted along the way.
func seriesOfProducts(
	ctx context.Context, g *Graph, n int, like arithmetic.Number, maxBytes int64,
) ([]arithmetic.Number, error) {
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
			return nil, seriesSizeError(g, n, maxBytes)
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
