package oneserver

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// tables are the recursions over the states of a part in float64. Rates are in a unit, a power of
// two that keeps the numbers in range.
//
// Roundings. A denominator has at most 4: of an integer, of the unit and its inverse, and of their
// product. With n servers in G groups, a step of a recursion adds at most G additions and a
// division, so F and H are within n(G+5). A and B begin with these, and have one more addition in
// each step and one more step. So all are within (2n+1)(G+6).
type tables struct {
	*states
	grid       *grid
	unit       float64
	gain, idle []float64 // d and λ - λ(k) in the unit
	busy, free []float64 // F, H
	up, down   []float64 // A/d, B/(λ - λ(k))
	z          float64   // Z
	holds      []holding // one per class
	bound      float64   // on the relative errors of the above
}

// newTables returns the tables of a part. The error is [num.ErrFloatRange] or that of the context.
func newTables(ctx context.Context, s *states) (*tables, error) {
	t := &tables{states: s, grid: newGrid(s.limits())}
	if err := t.addRates(ctx); err != nil {
		return nil, err
	}
	var err error
	if t.holds, err = s.holdings(ctx); err != nil {
		return nil, err
	}
	if err := t.solve(ctx); err != nil {
		return nil, err
	}
	t.bound = arithmetic.Roundings(float64(2*s.servers()+1) * float64(len(s.groups)+6))
	all := holding{from: []int32{0}, to: []int32{int32(s.States)}}
	t.z = all.dots(nil, t.busy, t.free, 0)
	if !t.isWithin(0x1p-900, 0x1p900) {
		return nil, num.ErrFloatRange
	}
	return t, nil
}

// isWithin reports whether all numbers of the tables are in a range.
func (t *tables) isWithin(least, most float64) bool {
	for _, list := range [][]float64{t.busy, t.free, t.up, t.down, {t.z}} {
		for _, x := range list {
			if !(x >= least && x <= most) {
				return false
			}
		}
	}
	return true
}

// addRates sets the unit, gain and idle.
func (t *tables) addRates(ctx context.Context) error {
	total := new(big.Rat)
	for _, g := range t.groups {
		total.Add(total, new(big.Rat).Mul(g.capacity, big.NewRat(int64(g.n), 1)))
	}
	f, _ := total.Float64()
	if !(f >= 0x1p-200 && f <= 0x1p200) {
		return num.ErrFloatRange
	}
	t.unit = math.Exp2(math.Round(math.Log2(f / 3)))
	t.gain, t.idle = make([]float64, t.States), make([]float64, t.States)
	if t.states.unit != nil {
		scale, _ := new(big.Float).SetInt(t.states.unit).Float64() // up to 2^62
		scale = 1 / (scale * t.unit)
		for at := range t.gain {
			t.gain[at], t.idle[at] = float64(t.gain64[at])*scale, float64(t.idle64[at])*scale
		}
		return ctx.Err()
	}
	unit, rate := new(big.Rat).SetFloat64(t.unit), new(big.Rat)
	for _, c := range t.classes {
		rate.Add(rate, c.rate)
	}
	return t.exact(ctx, func(at int, _ []int, inside, work *big.Rat) {
		gain, idle := new(big.Rat).Sub(work, inside), new(big.Rat).Sub(rate, inside)
		t.gain[at], _ = gain.Quo(gain, unit).Float64()
		t.idle[at], _ = idle.Quo(idle, unit).Float64()
	})
}

// solve solves the recursions for F, H, A/d and B/(λ - λ(k)). At k = 0 there is no d, and at k = n no
// λ - λ(k): there they count as 1, and the solutions are not used.
func (t *tables) solve(ctx context.Context) error {
	last := t.States - 1
	t.gain[0], t.idle[last] = 1, 1
	t.busy, t.free = make([]float64, t.States), make([]float64, t.States)
	t.up, t.down = make([]float64, t.States), make([]float64, t.States)
	err := recursion.Both(func() error { return t.grid.climb(ctx, t.busy, nil, t.gain) },
		func() error { return t.grid.fall(ctx, t.free, nil, t.idle) })
	if err == nil {
		err = recursion.Both(func() error { return t.grid.fall(ctx, t.up, t.free, t.gain) },
			func() error { return t.grid.climb(ctx, t.down, t.busy, t.idle) })
	}
	t.gain[0], t.idle[last] = 0, 0
	return err
}

// measure returns the means; see [sweep.measure].
func (t *tables) measure(ctx context.Context) (*measures, error) {
	m := newMeasures(t.part, arithmetic.FromFloat(0, 0))
	number := func(x float64) arithmetic.Number {
		return arithmetic.FromFloat(x, arithmetic.Compound(2*t.bound, arithmetic.Roundings(dotRoundings), 0))
	}
	for g, group := range t.groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.busy[g] = number(t.meanBusy(g) / float64(group.n))
	}
	for i := range t.holds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := &t.holds[i]
		m.wait[i] = number(h.dots(h.share, t.free, t.busy, 0))
		m.queue[i] = number(h.dots(h.share, t.up, t.busy, 0) / t.unit)
		for k, choice := range t.classes[i].choices {
			at, stride := i*len(t.groups)+choice.group, t.Stride[choice.group]
			m.direct[at] = number(h.dots(h.each[k], t.free, t.down, stride))
			m.waited[at] = number(h.dots(h.each[k], t.up, t.busy, stride))
		}
	}
	m.divide(t.part, arithmetic.FromFloat(t.z, arithmetic.Compound(t.bound, arithmetic.Roundings(dotRoundings), 0)))
	return m, nil
}

// meanBusy returns Z times the mean number of busy servers of a group.
func (t *tables) meanBusy(g int) float64 {
	stride, size := t.Stride[g], t.Limits[g]+1
	var total num.Sum
	for from := 0; from < t.States; from += stride {
		if k := from / stride % size; k > 0 {
			for from, end := from, from+stride; from < end; from += dotBlock {
				to := min(from+dotBlock, end)
				total.Add(float64(k) * dot(nil, t.busy[from:to], t.free[from:to]))
			}
		}
	}
	return total.Value()
}
