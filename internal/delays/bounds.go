package delays

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// bounds holds lower bounds, or upper bounds, on all numbers of a chain; [Floats] defines them.
type bounds struct {
	recursion.Rounded // with weights over q
	c                 *Chain
	stop              recursion.Cancellation
	q                 *big.Float
	question          Question

	v            []big.Float // values of the states
	stay, den    []big.Float // over q; den is rounded the other way
	y            []big.Float
	state        [][]int32
	initial      [][]big.Float // at those states
	flows        [][]*big.Float
	steps        int
	a            [][]*big.Float // Z a_n of each class
	perStep      int            // products per step
	product, one big.Float
}

func newBounds(
	ctx context.Context, c *Chain, v []big.Float, q *big.Float, prec uint, mode big.RoundingMode, question Question,
) *bounds {
	b := &bounds{Rounded: recursion.NewRounded(c.Graph, prec, mode), c: c, question: question,
		stop: recursion.Cancellation{Ctx: ctx}, q: q, v: v, perStep: len(c.Weight)}
	for _, w := range b.Weights {
		w.Quo(w, q)
	}
	b.product.SetPrec(prec).SetMode(mode)
	b.one.SetInt64(1)
	return b
}

func (b *bounds) numbers(n int) []big.Float {
	return recursion.Fill(&b.stop, *b.Number(), n)
}

// enter sets the numbers at time 0.
func (b *bounds) enter() error {
	c := b.c
	b.stay, b.y = b.numbers(c.top+1), b.numbers(c.top+1)
	b.den = make([]big.Float, c.top+1)
	for k := 1; k <= c.top; k++ {
		if err := b.stop.After(4 * recursion.BigSteps); err != nil {
			return err
		}
		d := b.Denominator(k)
		b.den[k].SetPrec(b.Prec).SetMode(d.Mode()).Quo(d, b.q)
		b.stay[k].Sub(b.q, d)
		b.stay[k].Quo(&b.stay[k], b.q)
		b.y[k].SetInt64(c.source(k))
	}
	b.state, b.initial = make([][]int32, len(c.marks)), make([][]big.Float, len(c.marks))
	b.flows, b.a = make([][]*big.Float, len(c.marks)), make([][]*big.Float, len(c.marks))
	var reader *recursion.ShareReader
	if c.Shares != nil {
		reader = c.Shares.Reader()
	}
	for i := range c.marks {
		if !b.question.asks(i) {
			continue
		}
		for k := 1; k <= c.top; k++ {
			if err := b.stop.After(len(c.marks[i])); err != nil {
				return err
			}
			if !c.holds(i, k) {
				continue
			}
			if err := b.stop.After(4 * recursion.BigSteps); err != nil {
				return err
			}
			b.state[i], b.initial[i] = append(b.state[i], int32(k)), append(b.initial[i], *b.initialOf(i, k, reader))
		}
		b.perStep += len(b.state[i])
	}
	return nil
}

// initialOf returns c_i(k).
func (b *bounds) initialOf(i, k int, reader *recursion.ShareReader) *big.Float {
	sum := b.Number()
	for _, m := range b.c.marks[i] {
		sum.Add(sum, b.product.Mul(b.Number().SetInt(m.weight), &b.v[k-m.stride]))
	}
	for _, m := range b.c.marks[i] {
		if m.share != nil {
			sum.Mul(sum, b.Number().SetRat(m.share[k/m.stride%m.size-m.choose]))
		}
	}
	if reader != nil { // times λ_i
		sum.Mul(sum, b.product.Mul(reader.Share(k, int32(i)), b.c.Shares.Edge(b.Mode)))
		sum.Quo(sum, b.Other().SetInt(b.c.problem.Classes[i].Rate))
	}
	if !b.c.ByClass {
		sum.Quo(sum, b.q)
	}
	return sum
}

// normalization returns Z. The error is the context's.
func (b *bounds) normalization() (*big.Float, error) {
	if !b.c.ByClass {
		return &b.v[b.c.top], nil
	}
	z := b.Number()
	for k := range b.c.top + 1 {
		if err := b.stop.After(recursion.BigSteps); err != nil {
			return nil, err
		}
		z.Add(z, &b.v[k])
	}
	return z, nil
}

// extendTo extends the chain to n steps and finds a_0, ..., a_n.
func (b *bounds) extendTo(n int) error {
	for ; b.steps < n; b.steps++ {
		for i := range b.flows {
			if !b.question.asks(i) {
				continue
			}
			flow, err := b.dot(i, b.y)
			if err != nil {
				return err
			}
			b.flows[i] = append(b.flows[i], flow)
		}
		if err := b.step(); err != nil {
			return err
		}
	}
	rest, err := b.rest()
	if err != nil {
		return err
	}
	for i, flows := range b.flows {
		if !b.question.asks(i) {
			continue
		}
		sum, err := b.dot(i, rest)
		if err != nil {
			return err
		}
		last, err := b.dot(i, b.y)
		if err != nil {
			return err
		}
		rate := b.Number()
		if b.c.ByClass {
			rate.Quo(rate.SetInt(b.c.problem.Classes[i].Rate), b.q)
		}
		b.a[i] = make([]*big.Float, n+1)
		for j := n; j >= 0; j-- {
			if err := b.stop.After(2 * recursion.BigSteps); err != nil {
				return err
			}
			if j < n {
				last = flows[j]
				sum = b.Number().Add(sum, last)
			}
			b.a[i][j] = sum
			if b.c.ByClass {
				b.a[i][j] = b.Number().Mul(rate, sum)
				b.a[i][j].Add(b.a[i][j], last)
			}
		}
	}
	return nil
}

// dot returns Σ_k c_i(k) y(k).
func (b *bounds) dot(i int, y []big.Float) (*big.Float, error) {
	sum := b.Number()
	for j, k := range b.state[i] {
		if err := b.stop.After(recursion.BigSteps); err != nil {
			return nil, err
		}
		arithmetic.AddFar(sum, b.product.Mul(&b.initial[i][j], &y[k]))
	}
	return sum, nil
}

// step replaces y by Py, in place: a state depends only on later ones. After an error y is neither.
func (b *bounds) step() error {
	c := b.c
	x := b.Number()
	for k := 1; k <= c.top; k++ {
		x.Set(&b.y[k])
		if x.Sign() == 0 {
			continue
		}
		b.y[k].Mul(x, &b.stay[k])
		first, last := c.Terms(k)
		if err := b.stop.After(recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		for t := first; t < last; t++ {
			child := &b.y[c.Child[t]]
			arithmetic.AddFar(child, b.product.Mul(x, b.Weights[c.Weight[t]]))
		}
	}
	return nil
}

// rest returns q (-Q)^-1 y.
func (b *bounds) rest() ([]big.Float, error) {
	w := b.numbers(b.c.top + 1)
	sweep := recursion.NewSweep(b.stop.Ctx, b.c.Graph, 0, restKernel{b}, *b.Number(), recursion.BigSteps)
	return w, sweep.Down(w, nil)
}

// A restKernel adds y(k) to the adjoint of state k before it divides that by d(k)/q.
type restKernel struct{ *bounds }

func (r restKernel) Divide(z, x *big.Float, k int) {
	x.Add(x, &r.y[k])
	z.Set(x.Quo(x, &r.den[k]))
}

// jump returns a bound on a_n / a_k over n >= k; see [Survival].
func (b *bounds) jump(i int) *big.Float {
	if !b.c.ByClass {
		return &b.one
	}
	j := num.Up(b.Prec).Quo(b.q, num.Down(b.Prec).SetInt(b.c.problem.Classes[i].Rate))
	return j.Add(j, &b.one)
}

// approximate returns a_0, ... of class i in float64, as if they were exact, given Z. The error is
// the context's.
func (b *bounds) approximate(i int, z *big.Float) (Survival, error) {
	s := Survival{A: make([]float64, len(b.a[i])), omitted: truncation}
	x := b.Number()
	for n, a := range b.a[i] {
		if err := b.stop.After(recursion.BigSteps); err != nil {
			return s, err
		}
		s.A[n], _ = x.Quo(a, z).Float64()
	}
	s.Jump, _ = b.jump(i).Float64()
	return s, nil
}

// tail returns a bound on P(T_i > m/q), given a bound on Z in the other direction.
//
// As in [Survival.Tail], weights go from the mode, 1, in both directions, and the omitted terms are
// bounded by geometric series: a lower bound omits them from the sum of p_n a_n and adds them to
// the sum of weights, and an upper bound does the reverse.
func (b *bounds) tail(i int, m, z *big.Float) (*big.Float, error) {
	a, up := b.a[i], b.Mode == big.ToPositiveInf
	last := len(a) - 1
	float, _ := m.Float64()
	switch {
	case float < float64(last):
	case up:
		return b.Number().SetInt64(1), nil
	default:
		return b.Number(), nil
	}
	mode, jump := int(float), b.jump(i)
	sum, total := b.Number().Set(a[mode]), b.Other().SetInt64(1)
	// weights rounded as sum and as total require; the ratio to the next weight, and the remainder
	var w, v, r, rest, integer *big.Float
	begin := func() { w, v = b.Number().SetInt64(1), b.Other().SetInt64(1) }
	r, rest, integer = num.Up(b.Prec), num.Up(b.Prec), new(big.Float)
	// ends omits all further terms, at most rest of w, if they are small or must is set.
	ends := func(most *big.Float, must bool) bool {
		left := num.Down(b.Prec).Sub(&b.one, r)
		switch {
		case r.Sign() == 0:
			return true
		case left.Sign() <= 0:
			return false
		}
		rest.Quo(r, left)
		below := arithmetic.Exponent(w) + arithmetic.Exponent(rest) + int(b.Prec)
		if !must && (below > arithmetic.Exponent(total) ||
			below+arithmetic.Exponent(jump)+arithmetic.Exponent(most) > arithmetic.Exponent(sum)) {
			return false
		}
		if up {
			rest.Mul(rest.Mul(rest, w), jump)
			sum.Add(sum, rest.Mul(rest, most))
		} else {
			total.Add(total, rest.Mul(rest, v))
		}
		return true
	}
	next := func(n int, x, y *big.Float) { // the weight of n is x/y times the previous one
		w.Quo(w.Mul(w, x), y)
		v.Quo(v.Mul(v, x), y)
		arithmetic.AddFar(sum, b.product.Mul(w, a[n]))
		arithmetic.AddFar(total, v)
	}
	begin()
	for n := mode; ; n++ {
		if err := b.stop.After(8 * recursion.BigSteps); err != nil {
			return nil, err
		}
		integer.SetInt64(int64(n + 1))
		r.Quo(m, integer)
		if ends(a[n], n == last) {
			break
		}
		next(n+1, m, integer)
	}
	begin()
	for n := mode; n > 0; n-- {
		if err := b.stop.After(8 * recursion.BigSteps); err != nil {
			return nil, err
		}
		integer.SetInt64(int64(n))
		r.Quo(integer, m)
		if ends(a[0], false) {
			break
		}
		next(n-1, integer, m)
	}
	return sum.Quo(sum, total.Mul(total, z)), nil
}
