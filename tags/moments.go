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
	mean, square, inverse float64               // E[X], E[X²], E[1/X]
	noInverse             bool                  // E[1/X] is infinite, or beyond float64; inverse is 0
	low, high             float64               // ends of the support; high may be +Inf
	list                  *list                 // list of the sizes; nil if there is none
	atoms                 []float64             // 0 and the sizes of a list, computed on first use
	atomWork              []path.Point          // data for loads, computed on first use
	partials              map[[3]uint64]float64 // values of partial by the bits of its arguments; nil if not stored
	excesses              map[uint64]float64    // values of partialExcess by the bits of its argument; likewise
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

// mostKept limits the values of a function that are stored, to some megabytes.
const mostKept = 1 << 16

// keep makes partial and partialExcess store their values, for a search that needs most of them
// several times. Values of a list are not stored: computing them is faster than finding them.
func (l *moments) keep() {
	if l.list == nil {
		l.partials, l.excesses = make(map[[3]uint64]float64), make(map[uint64]float64)
	}
}

// keepIn stores a value unless kept is nil. If kept is full, it is emptied first.
func keepIn[K comparable](kept map[K]float64, key K, v float64) {
	if len(kept) >= mostKept {
		clear(kept)
	}
	if kept != nil {
		kept[key] = v
	}
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
	key := [3]uint64{math.Float64bits(order), math.Float64bits(a), math.Float64bits(b)}
	if v, isKept := l.partials[key]; isKept {
		return v
	}
	v, err := l.d.PartialMoment(order, a, b)
	switch {
	case err == nil:
		keepIn(l.partials, key, v)
	case l.err == nil:
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
	key := math.Float64bits(x)
	if v, isKept := l.excesses[key]; isKept {
		return v
	}
	v := l.d.MeanExcess(x)
	keepIn(l.excesses, key, v)
	return v
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
