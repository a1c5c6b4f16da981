package tags

import (
	"context"
	"fmt"
	"math"

	"productform/internal/input"
	"productform/sizes"
	"productform/tags/internal/path"
)

// moments computes the properties of the sizes that the theory needs. It keeps the first error in
// err, so formulas need no error checks.
type moments struct {
	ctx                   context.Context // context of the call that uses the distribution
	d                     sizes.Distribution
	mean, square, inverse float64      // E[X], E[X²], E[1/X]
	noInverse             bool         // E[1/X] is infinite, or beyond float64; inverse is 0
	low, high             float64      // ends of the support; high may be +Inf
	list                  *list        // list of the sizes; nil if there is none
	atoms                 []float64    // 0 and the sizes of a list, computed on first use
	atomWork              []path.Point // data for loads, computed on first use
	kept                  []keptValue  // values of partial and partialExcess; nil if not stored
	err                   error
}

// leastSquare is the smallest mean square that is accepted: partial moments, which may be 1e-16 of
// it, then keep all their digits.
const leastSquare = 1e-290

// newMoments returns the moments of m's sizes. The error names a moment that does not exist.
func newMoments(ctx context.Context, m Model) (*moments, error) {
	l := &moments{ctx: ctx, d: m.Sizes, list: newList(m)}
	low, high, bounded := m.Sizes.Support()
	l.low, l.high = low, high
	if !bounded {
		l.high = math.Inf(1)
	}
	var err error
	if l.mean, err = m.Sizes.Moment(1); err != nil {
		return nil, fmt.Errorf("tags: E[X] of %v: %w", m.Sizes, err)
	}
	if l.square, err = m.Sizes.Moment(2); err != nil {
		return nil, fmt.Errorf("tags: E[X²] of %v: %w", m.Sizes, err)
	}
	if !(l.mean > 0 && l.square > leastSquare) {
		return nil, input.Errorf("Sizes", m.Sizes, "sizes with moments within the range of float64")
	}
	if l.inverse, err = m.Sizes.Moment(-1); err != nil {
		l.inverse, l.noInverse = 0, true
	}
	return l, nil
}

// A keptValue is a value of partial or partialExcess with the bits of its arguments.
type keptValue struct {
	key   [3]uint64
	value float64
}

// keptBits is the binary logarithm of the number of stored values, half a megabyte.
const keptBits = 14

// keep makes partial and partialExcess store their values, for a search that needs most of them
// several times. Values of a list are not stored: computing them is faster than finding them.
func (l *moments) keep() {
	if l.list == nil {
		l.kept = make([]keptValue, 1<<keptBits)
	}
}

// place returns where the value for a key is stored, in place of the one stored there before.
func (l *moments) place(key [3]uint64) *keptValue {
	const mix = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio, an odd number with mixed bits
	h := ((key[0]*mix^key[1])*mix ^ key[2]) * mix
	return &l.kept[(h^h>>32)*mix>>(64-keptBits)]
}

// stopped reports whether the context is done, and records its error.
func (l *moments) stopped() bool {
	err := l.ctx.Err()
	if err != nil && l.err == nil {
		l.err = err
	}
	return err != nil
}

// partial returns E[X^order; a < X <= b].
func (l *moments) partial(order, a, b float64) float64 {
	if b <= a {
		return 0
	}
	var kept *keptValue
	key := [3]uint64{math.Float64bits(order), math.Float64bits(a), math.Float64bits(b)}
	if l.kept != nil {
		if kept = l.place(key); kept.key == key {
			return kept.value
		}
	}
	v, err := l.d.PartialMoment(order, a, b)
	switch {
	case err == nil && kept != nil:
		*kept = keptValue{key, v}
	case err != nil && l.err == nil:
		l.err = fmt.Errorf("tags: E[X^%v; %v < X <= %v] of %v: %w", order, a, b, l.d, err)
	}
	return v
}

// tail returns P(X > x).
func (l *moments) tail(x float64) float64 {
	if x >= l.high {
		return 0
	}
	return l.d.Survival(x)
}

// partialExcess returns E[X - x; X > x].
func (l *moments) partialExcess(x float64) float64 {
	if x >= l.high {
		return 0
	}
	if l.kept == nil {
		return l.d.MeanExcess(x)
	}
	key := [3]uint64{math.Float64bits(math.Inf(1)), math.Float64bits(x)} // an order that partial never has
	k := l.place(key)
	if k.key != key {
		*k = keptValue{key, l.d.MeanExcess(x)}
	}
	return k.value
}

// work returns M_1 and M_2 of a host between the cutoffs a and b: E[Y^r; X > a] of its work Y =
// min(X, b) - a + d on a job, by sums of positive terms.
func (l *moments) work(r Resume, a, b float64) (first, second float64) {
	if r.restarts() || a == 0 {
		return l.capped(1, a, b), l.capped(2, a, b)
	}
	first, second, err := sizes.TailIntegrals(l.d, a, b)
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("tags: E[(min(X, %v) - %v)²; X > %v] of %v: %w", b, a, a, l.d, err)
	}
	d, tail := r.Redone(a), l.tail(a)
	return first + d*tail, second + 2*d*first + d*d*tail
}

// capped returns E[min(X, b)^order; X > a] for order 1 or 2.
func (l *moments) capped(order int, a, b float64) float64 {
	v := l.partial(float64(order), a, b)
	if tail := l.tail(b); tail > 0 {
		v += math.Pow(b, float64(order)) * tail
	}
	return v
}
