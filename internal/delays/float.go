package delays

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Vectors start at start, and numbers below floor count as 0. The effect on a_n is below slop, as
// the comment of [Floats] shows.
const start, floor, slop = 0x1p500, 0x1p-700, 0x1p-1000

// Floats is a chain in float64: the numbers a_n of
//
//	P(T_i > t) = Σ_n e^-m m^n/n! a_n,  m = q t,
//
// for n = 0..steps, for every class, one step at a time. With the values v of the lattice and
// c_i(k) at time 0, s_n = Σ_k c_i(k) (P^n y)(k) and B_n = Σ_{j>=n} s_j: on the class lattice a_n =
// (s_n + λ_i/q B_n)/Z, on those of servers a_n = B_n/(q Z), where 1/q is put into c_i. B at the
// last n is one sweep down: Σ_k c_i(k) (q (-Q)^-1 P^n y)(k).
//
// Roundings. A step has at most three in staying, or in a weight and its product, and one per
// addition; with shares, staying may have 24, because q exceeds every d by an eighth. So y after n
// steps is within n (elements + 3 or 26) units, and a sum of s_j adds one per step.
//
// Range. If a number below floor counts as 0, at most R times before step R, s_n loses at most R
// floor c_i P^j 1 for some j, and B_n at most R floor c_i q (-Q)^-1 1. That sum is at most Z q/λ_i
// on the class lattice, as a_0 = 1; on the others c_i (-Q)^-1 is Z(K) <= Z at every K. In units of
// start Z that is below R 2^-1200 (1 + q/λ_i) or R 2^-1200 states, and with q/λ_i and states below
// 2^100 and R below 2^40 below slop. Products below the range of float64 lose less.
type Floats struct {
	c           *Chain
	cancel      recursion.Cancellation
	stepCancel  recursion.Cancellation // used by step, which may run concurrently with the rest
	topRate     float64                // q, in the units of the problem
	stay        []float64
	weight      []float64 // over q
	y, next     []float64 // P^n y, and its successor
	question    Question
	entries     []entries   // entries of each requested class
	flows       [][]float64 // s_0, s_1, ... of each requested class
	steps       int         // last n for which a_n is known
	normal      float64     // start Z
	base        float64     // bounds the relative error of c_i and Z
	perStep     float64     // roundings per step
	stepsPerRun int
}

// entries holds the values c_i(k) at time 0 of the states that contain a class.
type entries struct {
	state []int32
	value []float64
}

// newFloats returns a chain at step 0 for the requested classes, given the values v of its states
// except the root of the class lattice, and a bound on their relative errors.
func newFloats(ctx context.Context, c *Chain, v []float64, bound float64, q Question) (*Floats, error) {
	f := &Floats{
		c:        c,
		question: q,
		y:        make([]float64, c.top+1),
		next:     make([]float64, c.top+1),
		flows:    make([][]float64, len(c.marks)),
	}
	f.cancel.Ctx, f.stepCancel.Ctx = ctx, ctx
	f.perStep = float64(c.elements() + 3)
	if c.Shares != nil {
		f.perStep += 23
	}
	if err := f.setRates(); err != nil {
		return nil, err
	}
	for _, w := range f.weight {
		if !(w >= 0x1p-300 && w <= 0x1p300) {
			return nil, num.ErrFloatRange
		}
	}
	for k := 1; k <= c.top; k++ {
		if err := f.cancel.After(4); err != nil {
			return nil, err
		}
		f.y[k] = start * float64(c.source(k))
		if !(f.stay[k] >= 0x1p-100 || f.stay[k] == 0) {
			return nil, num.ErrFloatRange
		}
	}
	var z num.Sum
	if c.ByClass {
		for _, x := range v[:c.top+1] {
			if err := f.cancel.After(4); err != nil {
				return nil, err
			}
			z.Add(x)
		}
	} else {
		z.Add(v[c.top])
	}
	f.normal = z.Value() * start
	marks := 0
	f.entries = make([]entries, len(c.marks))
	for i := range c.marks {
		if !q.asks(i) {
			continue
		}
		e, err := f.entriesOf(i, v)
		if err != nil {
			return nil, err
		}
		f.entries[i] = e
		f.stepsPerRun += len(e.state)
		marks = max(marks, len(c.marks[i]))
		if c.ByClass && !(f.rate(i) >= 0x1p-100) {
			return nil, num.ErrFloatRange
		}
	}
	f.stepsPerRun += len(c.Weight)
	f.base = quotientBound(bound, float64(4*marks+12))
	if !(f.normal <= math.MaxFloat64) || !(f.base >= 0 && f.base < 1) {
		return nil, num.ErrFloatRange
	}
	return f, nil
}

// quotientBound bounds the relative error of the quotient of two values within bound, bound < 1,
// after n more roundings.
func quotientBound(bound, n float64) float64 {
	return arithmetic.Compound(bound, bound/(1-bound), arithmetic.Roundings(n))
}

// setRates sets q, the shares that stay in a state in a step, and the weights of the terms, over q.
// The error is the context's.
func (f *Floats) setRates() error {
	c := f.c
	for k := 1; k <= c.top; k++ {
		if err := f.cancel.After(8); err != nil {
			return err
		}
		f.topRate = max(f.topRate, c.DenFloat(k))
	}
	f.stay = make([]float64, c.top+1)
	switch {
	case c.Shares != nil:
		f.topRate *= 1.125
		for k := range f.stay {
			if err := f.cancel.After(8); err != nil {
				return err
			}
			f.stay[k] = (f.topRate - c.DenFloat(k)) / f.topRate
		}
	default: // q is an integer, not below the largest d
		f.topRate = math.Nextafter(f.topRate, math.Inf(1))
		if f.topRate < 0x1p53 {
			f.topRate = math.Floor(f.topRate)
		}
		q, _ := new(big.Float).SetFloat64(f.topRate).Int(nil)
		var buf, less big.Int
		for k := range f.stay {
			if err := f.cancel.After(recursion.BigSteps); err != nil {
				return err
			}
			f.stay[k] = arithmetic.Scaled(less.Sub(q, c.Den.At(k, &buf)), 0) / f.topRate
		}
	}
	for _, w := range c.Weights {
		f.weight = append(f.weight, arithmetic.Scaled(w, 0)/f.topRate)
	}
	return nil
}

// rate returns λ_i/q.
func (f *Floats) rate(i int) float64 {
	return arithmetic.Scaled(f.c.problem.Classes[i].Rate, 0) / f.topRate
}

// entriesOf returns c_i, given the values of the lattice.
func (f *Floats) entriesOf(i int, v []float64) (e entries, err error) {
	c := f.c
	if c.ByClass {
		return f.entriesByClass(i, v)
	}
	weights := make([]float64, len(c.marks[i]))
	shares := make([][]float64, len(c.marks[i]))
	for j, m := range c.marks[i] {
		weights[j] = arithmetic.Scaled(m.weight, 0) / f.topRate
		for _, r := range m.share {
			x, _ := r.Float64()
			shares[j] = append(shares[j], x)
		}
	}
	for k := 1; k <= c.top; k++ {
		if err := f.cancel.After(len(weights)); err != nil {
			return e, err
		}
		if !c.holds(i, k) {
			continue
		}
		x, q := 0.0, 1.0
		for j, m := range c.marks[i] {
			x += weights[j] * v[k-m.stride]
			if shares[j] != nil {
				q *= shares[j][k/m.stride%m.size-m.choose]
			}
		}
		if c.Shares != nil {
			q, _ = c.Shares.Float(k, int32(i))
		}
		if x *= q; !(x >= arithmetic.Least) {
			return e, num.ErrFloatRange
		}
		e.state, e.value = append(e.state, int32(k)), append(e.value, x)
	}
	return e, nil
}

// entriesByClass returns c_i on the class lattice: G of the set without i.
func (f *Floats) entriesByClass(i int, v []float64) (e entries, err error) {
	n := (f.c.top + 1) / 2
	e.state, e.value = make([]int32, 0, n), make([]float64, 0, n)
	bit := 1 << i
	for first := bit; first <= f.c.top; first += 2 * bit {
		if err := f.cancel.After(bit); err != nil {
			return e, err
		}
		for k := first; k < first+bit; k++ {
			x := v[k-bit]
			if !(x >= arithmetic.Least) {
				return e, num.ErrFloatRange
			}
			e.state, e.value = append(e.state, int32(k)), append(e.value, x)
		}
	}
	return e, nil
}

// unit returns 1/q, in units of time of the model.
func (f *Floats) unit() *big.Rat {
	q := new(big.Rat).SetFloat64(f.topRate)
	return q.Quo(new(big.Rat).SetInt(f.c.problem.Scale), q)
}

// extendTo extends the chain to n steps.
func (f *Floats) extendTo(n int) error {
	for ; f.steps < n; f.steps++ {
		var err error
		if f.stepsPerRun >= manyProducts {
			err = recursion.Both(f.step, f.addFlows)
		} else if err = f.step(); err == nil {
			err = f.addFlows()
		}
		if err != nil {
			return err
		}
		f.y, f.next = f.next, f.y
		f.c.Work += float64(f.stepsPerRun)
	}
	return nil
}

// addFlows appends s_n of every requested class. The error is the context's.
func (f *Floats) addFlows() error {
	for i, e := range f.entries {
		if !f.question.asks(i) {
			continue
		}
		if err := f.cancel.After(len(e.state)); err != nil {
			return err
		}
		f.flows[i] = append(f.flows[i], e.dot(f.y))
	}
	return nil
}

// manyProducts is the number of products of a step that justifies sharing them with another core.
const manyProducts = 1 << 14

// dot returns Σ_k value(k) y(k), each term rounded at most dotRoundings times.
func (e entries) dot(y []float64) float64 {
	sum := 0.0
	for first := 0; first < len(e.state); first += dotBlock {
		last := min(first+dotBlock, len(e.state))
		state, value := e.state[first:last], e.value[first:last]
		var a, b, c, d float64
		for ; len(state) >= 4 && len(value) >= 4; state, value = state[4:], value[4:] {
			a += value[0] * y[state[0]]
			b += value[1] * y[state[1]]
			c += value[2] * y[state[2]]
			d += value[3] * y[state[3]]
		}
		for j, k := range state {
			a += value[j] * y[k]
		}
		sum += (a + b) + (c + d)
	}
	return sum
}

const dotBlock = 1024

func dotRoundings(terms int) float64 { return float64(dotBlock/4 + terms/dotBlock + 6) }

// step sets next to Py, with numbers below floor set to 0. A state depends only on later ones. The
// error is the context's; then next is neither.
func (f *Floats) step() error {
	var err error
	if f.c.ByClass {
		err = f.stepByClass()
	} else {
		err = f.stepByTerms()
	}
	if err != nil {
		return err
	}
	for k, x := range f.next {
		if x < floor {
			f.next[k] = 0
		}
	}
	f.next[0] = 0
	return nil
}

// stepByTerms takes a step on any lattice. It checks the context once for many states.
func (f *Floats) stepByTerms() error {
	const block = 1 << 12
	c, next, stay := f.c, f.next, f.stay
	for from := 0; from < len(f.y); from += block {
		to := min(from+block, len(f.y))
		if err := f.stepCancel.After(int(c.First[to] - c.First[from])); err != nil {
			return err
		}
		for k, x := range f.y[from:to] {
			k += from
			next[k] = stay[k] * x
			first, last := c.First[k], c.First[k+1]
			children, weights := c.Child[first:last], c.Weight[first:last]
			for t, child := range children {
				next[child] += f.weight[weights[t]] * x
			}
		}
	}
	return nil
}

// stepByClass takes a step on the class lattice, where state k is the set of the bits of k. It adds
// the same terms in the same order as stepByTerms, two classes at a time, and checks the context
// before each pair.
func (f *Floats) stepByClass() error {
	next, y := f.next, f.y
	for k, x := range f.stay {
		next[k] = x * y[k]
	}
	classes := len(f.c.marks)
	for j := 0; j+1 < classes; j += 2 {
		if err := f.stepCancel.After(len(next)); err != nil {
			return err
		}
		leavePair(next, y, 1<<j, f.weight[j], f.weight[j+1])
	}
	if classes%2 == 1 {
		half, w := 1<<(classes-1), f.weight[classes-1]
		without, with := next[:half], y[half:]
		for k := range without {
			without[k] += w * with[k]
		}
	}
	return f.stepCancel.After(len(next))
}

// leavePair adds, to the number of each set without class j or j+1, with bit = 1<<j, those of the
// sets with the class times its weight.
func leavePair(next, y []float64, bit int, v, w float64) {
	if bit == 1 {
		for k := 0; k+4 <= len(next) && k+4 <= len(y); k += 4 {
			n, x := next[k:k+4:k+4], y[k:k+4:k+4]
			n[0] = n[0] + v*x[1] + w*x[2]
			n[1] += w * x[3]
			n[2] += v * x[3]
		}
		return
	}
	for k := 0; k < len(next); k += 4 * bit {
		neither, first, second := next[k:k+bit], next[k+bit:k+2*bit], next[k+2*bit:k+3*bit]
		yFirst, ySecond, yBoth := y[k+bit:k+2*bit], y[k+2*bit:k+3*bit], y[k+3*bit:k+4*bit]
		first, second = first[:len(neither)], second[:len(neither)]
		yFirst, ySecond, yBoth = yFirst[:len(neither)], ySecond[:len(neither)], yBoth[:len(neither)]
		for i := range neither {
			both := yBoth[i]
			neither[i] = neither[i] + v*yFirst[i] + w*ySecond[i]
			first[i] += w * both
			second[i] += v * both
		}
	}
}

// rest returns q (-Q)^-1 y, by a sweep down. The error is the context's.
func (f *Floats) rest() ([]float64, error) {
	c := f.c
	w := append([]float64(nil), f.y...)
	for k := c.top; k > 0; k-- {
		w[k] /= c.DenFloat(k) / f.topRate
		first, last := c.Terms(k)
		if err := f.cancel.After(4 * int(last-first)); err != nil {
			return nil, err
		}
		for t := first; t < last; t++ {
			w[c.Child[t]] += f.weight[c.Weight[t]] * w[k]
		}
	}
	return w, nil
}

// survivalsNow returns a_0, ..., a_n after n steps for every requested class.
func (f *Floats) survivalsNow() ([]Survival, error) {
	n := f.steps
	rest, err := f.rest()
	if err != nil {
		return nil, err
	}
	list := make([]Survival, len(f.entries))
	for i, e := range f.entries {
		if !f.question.asks(i) {
			continue
		}
		if err := f.cancel.After(2 * len(e.state)); err != nil {
			return nil, err
		}
		s := &list[i]
		*s = NewSurvival(make([]float64, n+1), 0)
		if f.question.Rough {
			s.omitted, s.deviations = roughTruncation, 5 // beyond 5, less than that over a Jump of hundreds
		}
		levels := float64(f.c.Layer[f.c.top]) * (f.perStep + 4)
		s.Bound = arithmetic.Compound(
			f.base, arithmetic.Roundings(float64(n)*(f.perStep+1)+levels+dotRoundings(len(e.state))+8), 0,
		)
		last, rate := e.dot(f.y), 0.0
		if f.c.ByClass {
			rate = f.rate(i)
			s.Jump = (1 + 1/rate) * (1 + 0x1p-40)
		}
		sum := e.dot(rest)
		for j := n; j >= 0; j-- {
			if err := f.cancel.After(1); err != nil {
				return nil, err
			}
			flow := last
			if j < n {
				flow = f.flows[i][j]
				sum += flow
			}
			if f.c.ByClass {
				s.A[j] = (flow + rate*sum) / f.normal
			} else {
				s.A[j] = sum / f.normal
			}
		}
		if !(s.A[0] > 0.5 && s.A[0] < 2) {
			return nil, num.ErrFloatRange
		}
	}
	return list, nil
}
