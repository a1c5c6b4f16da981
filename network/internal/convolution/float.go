// This file computes the coefficients of products of power series over populations, for numbers of
// any size. Its tables hold numbers G(n) >= 0 for all n = (n_1, ..., n_K), 0 <= n <= N, which are
// the coefficients of a power series Σ_n G(n) z_1^n_1 ... z_K^n_K up to N.
//
// With u = Σ_k d_k z_k, d >= 0, the operations are [Divide], G/(1 - u), and [Horner], w H + u G.
// Each is one sweep over the table:
//
//	G(n) ← w H(n) + Σ_k d_k G(n - e_k),   upward for a division, downward for a step of Horner's rule,
//
// with the new or old G on the right side. All terms are positive, and nothing is subtracted. A
// table holds float64 numbers ([Float]), enclosures ([Enclosed]) or fractions ([Exact]); the
// functions below work on all of them.
//
// Float scales each segment of numbers by a power of two, so tables may span any range, and counts
// roundings along the longest path: see [Float].

package convolution

import (
	"context"
	"math"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// A Float is a table of float64 numbers: the number at n is mantissa 2^(exponent + Σ_k tilt_k n_k),
// with one exponent per segment of a row. It is a sum of products with at most a + b |n| roundings
// each, so its relative error is at most (1 + u)^(a + b |n|) - 1, u = 2^-53.
//
// Proof. Let b be at least K + δ + 2^-30, where the error of a factor counts as δ roundings. The
// term d_k G(n - e_k) has a + b (|n| - 1) roundings, plus δ of its factor and at most K of the
// fused products and sums; the omitted part is below 2^-380 of the sum, covered by 2^-30 roundings
// (see [step.settle]). Together these are at most a + b |n|. The term w H(n) has at most K + 2 more
// than H. So one sweep adds K + 2 to the greater a; b does not change, no matter how often a table
// is divided. Scaling by powers of two does not round.
//
// Within a segment every nonzero number is in [2^-400, 2^200). If the numbers of one segment differ
// too much for that, the table loses its bound; this never happens with segments of length 1.
type Float struct {
	ctx      context.Context
	lattice  *Lattice
	tilt     []int
	segment  int // length of a segment
	perRow   int // segments per row
	mantissa []float64
	exponent []int // exponent of each segment; arbitrary if all its numbers are 0
	a, b     float64
	lost     bool
}

const absent = math.MinInt

// NewFloat returns a table of zeros with segments of the given length. If 2^tilt_k is close to the
// ratio of numbers that differ by one job of chain k, the numbers of a segment have similar sizes.
func NewFloat(ctx context.Context, l *Lattice, segment int, tilt []int) *Float {
	segment = min(segment, l.width)
	perRow := (l.width + segment - 1) / segment
	stop := recursion.Cancellation{Ctx: ctx}
	return &Float{ctx: ctx, lattice: l, tilt: tilt, segment: segment, perRow: perRow,
		mantissa: make([]float64, l.States), exponent: recursion.Fill(&stop, absent, l.rows.States*perRow)}
}

// FloatBytes returns the memory of a table with the given number of numbers.
func FloatBytes(points float64, segment int) float64 { return points * (8 + 8/float64(segment)) }

func (t *Float) New() *Float { return NewFloat(t.ctx, t.lattice, t.segment, t.tilt) }

func (t *Float) Lattice() *Lattice { return t.lattice }

func (t *Float) Copy(from *Float) {
	const block = 1 << 18
	for i := 0; i < len(t.mantissa) && t.ctx.Err() == nil; i += block {
		copy(t.mantissa[i:min(i+block, len(t.mantissa))], from.mantissa[i:])
	}
	copy(t.exponent, from.exponent)
	t.a, t.b, t.lost = from.a, from.b, from.lost
}

// Set takes numbers with individual bounds; the table gets the largest bound.
func (t *Float) Set(numbers []arithmetic.Number) {
	t.a, t.b, t.lost = 0, 0, false
	stop := recursion.Cancellation{Ctx: t.ctx}
	for _, x := range numbers {
		if stop.After(8) != nil {
			return
		}
		t.a = max(t.a, roundingsOf(x))
	}
	for row := range t.lattice.rows.States {
		for s := range t.perRow {
			if stop.After(32*t.segment) != nil {
				return
			}
			t.fill(row, s, func(j int) (float64, int) {
				m, e := split(numbers[row*t.lattice.width+j])
				return m, e - t.tiltAt(row*t.lattice.width+j)
			})
		}
	}
}

// SetProducts rounds each product K times. If in each list x_n has at most r_0 + b n roundings, the
// products have at most Σ r_0 + b |n| with the largest b.
func (t *Float) SetProducts(factors [][]arithmetic.Number) {
	t.a, t.b, t.lost = 0, 0, false
	stop := recursion.Cancellation{Ctx: t.ctx}
	for _, list := range factors {
		least := roundingsOf(list[0])
		for n, x := range list[1:] {
			if stop.After(8) != nil {
				return
			}
			t.b = max(t.b, (roundingsOf(x)-least)/float64(n+1))
		}
		t.a += least + 1
	}
	if !(t.a+t.b < math.MaxFloat64) {
		t.a, t.b, t.lost = 0, 0, true
	}
	mantissas, exponents := make([]float64, t.lattice.width), make([]int, t.lattice.width)
	last := len(factors) - 1
	for j, x := range factors[last] {
		if stop.After(8) != nil {
			return
		}
		mantissas[j], exponents[j] = split(x)
		exponents[j] -= t.tilt[last] * j
	}
	w := t.lattice.sweep(false)
	for {
		of, shift := 1.0, 0
		for k, n := range w.n {
			m, e := split(factors[k][n])
			of *= m
			shift += e - t.tilt[k]*n
			m, e = math.Frexp(of)
			of, shift = m, shift+e
		}
		for s := range t.perRow {
			if stop.After(16*t.segment) != nil {
				return
			}
			t.fill(w.row, s, func(j int) (float64, int) { return of * mantissas[j], shift + exponents[j] })
		}
		if !w.next() {
			return
		}
	}
}

// fill sets one segment of a row to mantissas within [1/4, 2) or 0, with exponents, by column.
func (t *Float) fill(row, s int, number func(column int) (float64, int)) {
	first, last := s*t.segment, min((s+1)*t.segment, t.lattice.width)
	most, least := absent, math.MaxInt
	for j := first; j < last; j++ {
		if m, e := number(j); m != 0 {
			most, least = max(most, e), min(least, e)
		}
	}
	t.exponent[row*t.perRow+s] = most
	t.lost = t.lost || most != absent && most-least > leastBits-8
	for j := first; j < last; j++ {
		m, e := number(j)
		if m != 0 {
			m = math.Ldexp(m, max(e-most, -1100))
		}
		t.mantissa[row*t.lattice.width+j] = m
	}
}

// split returns x = m 2^e with m in [1/2, 1), or 0.
func split(x arithmetic.Number) (m float64, e int) {
	m, e = math.Frexp(x.F)
	if m == 0 {
		return 0, 0
	}
	return m, e + 512*x.Exp
}

// roundingsOf returns the number of roundings equivalent to the relative error of x: r with (1+u)^r
// >= 1 + e and (1-u)^r <= 1 - e, which hold for r u = e/(1-e) (1 + 4u), since ln(1+u) >= u (1 -
// u/2) and -ln(1-e) <= e/(1-e).
func roundingsOf(x arithmetic.Number) float64 {
	if !(x.Bound < 1e-3) {
		return math.Inf(1)
	}
	return x.Bound / (1 - x.Bound) / arithmetic.Roundoff * (1 + 8*arithmetic.Roundoff)
}

func (t *Float) At(index int) arithmetic.Number {
	row, j := index/t.lattice.width, index%t.lattice.width
	e := t.exponent[row*t.perRow+j/t.segment]
	m := t.mantissa[index]
	if m == 0 {
		return arithmetic.FromFloat(0, t.bound(t.lattice.Total(index), 0))
	}
	return wide(m, e+t.tiltAt(index), t.bound(t.lattice.Total(index), 0))
}

// tiltAt returns Σ_k tilt_k n_k for the population at an index.
func (t *Float) tiltAt(index int) int {
	sum := t.tilt[len(t.tilt)-1] * (index % t.lattice.width)
	row := index / t.lattice.width
	for k := len(t.tilt) - 2; k >= 0; k-- {
		sum += t.tilt[k] * (row % (t.lattice.Limits[k] + 1))
		row /= t.lattice.Limits[k] + 1
	}
	return sum
}

// bound returns the error bound on a number with the given number of jobs, after additional
// roundings.
func (t *Float) bound(jobs int, more float64) float64 {
	if t.lost {
		return math.Inf(1)
	}
	return arithmetic.Roundings(t.a + t.b*float64(jobs) + more)
}

// wide returns m 2^e, given a bound on its error.
func wide(m float64, e int, bound float64) arithmetic.Number {
	m, shift := math.Frexp(m) // products of two mantissas may be as small as 2^-800
	e += shift
	steps := e / 512
	return arithmetic.FromWide(arithmetic.NewWide(math.Ldexp(m, e-512*steps), steps), bound)
}

// Add rounds twice.
func (t *Float) Add(w int64, from *Float) {
	factor := float64(w)
	t.a, t.b, t.lost = max(t.a, from.a)+3, max(t.b, from.b), t.lost || from.lost
	stop := recursion.Cancellation{Ctx: t.ctx}
	for i := range t.exponent {
		if stop.After(4*t.segment) != nil {
			return
		}
		row, s := i/t.perRow, i%t.perRow
		first := row*t.lattice.width + s*t.segment
		last := min(first+t.segment, (row+1)*t.lattice.width)
		out := step{alone: t.segment == 1, lost: t.lost}
		out.take(t.exponent[i])
		out.take(from.exponent[i])
		own, of := out.scale(t.exponent[i]), out.scale(from.exponent[i])
		x, y := t.mantissa[first:last], from.mantissa[first:last]
		for j, v := range y {
			x[j] = own*x[j] + of*(factor*v)
		}
		t.exponent[i] = out.settle(x)
		t.lost = out.lost
	}
}

func (t *Float) Divide(ctx context.Context, from *Float, d []arithmetic.Number) error {
	return t.sweep(ctx, 1, from, d, false)
}

func (t *Float) Horner(ctx context.Context, w int64, from *Float, d []arithmetic.Number) error {
	return t.sweep(ctx, w, from, d, true)
}

func (t *Float) Shift(ctx context.Context, d []arithmetic.Number) error {
	return t.sweep(ctx, 0, t, d, true)
}

// A factor is a nonzero factor m 2^e.
type factor struct {
	axis int
	m    float64
	e    int
}

// sweep sets t(n) to w from(n) + Σ_k d_k t(n - e_k).
func (t *Float) sweep(ctx context.Context, w int64, from *Float, d []arithmetic.Number, down bool) error {
	chains := float64(len(d))
	lost, above := from.lost, from.a+chains+2
	switch {
	case !down:
		t.a, t.b, t.lost = above, from.b, lost
	case w != 0:
		t.a, t.b, t.lost = max(t.a, above), max(t.b, from.b), t.lost || lost
	}
	var outer []factor
	var own factor
	for k, x := range d {
		t.b = max(t.b, chains+roundingsOf(x)+0x1p-30)
		if m, e := split(x); m != 0 {
			e -= t.tilt[k]
			if k == len(d)-1 {
				own = factor{k, m, e}
			} else {
				outer = append(outer, factor{k, m, e})
			}
		}
	}
	stop := recursion.Cancellation{Ctx: ctx}
	row := rowStep{
		t:     t,
		from:  from,
		w:     float64(w),
		own:   own,
		below: make([]neighbour, 0, len(outer)),
		terms: make([]term, 0, len(outer)),
	}
	for s := t.lattice.sweep(down); ; {
		if err := stop.After((len(outer) + 2) * t.lattice.width); err != nil {
			return err
		}
		row.below = row.below[:0]
		for _, f := range outer {
			if s.n[f.axis] > 0 {
				row.below = append(row.below, neighbour{factor: f, row: s.row - t.lattice.rows.Stride[f.axis]})
			}
		}
		if down {
			for i := t.perRow - 1; i >= 0; i-- {
				row.computeDownward(s.row, i)
			}
		} else {
			for i := range t.perRow {
				row.computeUpward(s.row, i)
			}
		}
		if !s.next() {
			return nil
		}
	}
}
