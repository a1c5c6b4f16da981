package oneserver

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// tables are the recursions over the states of a part in float64. Rates are in a unit, a power of
// two that keeps the numbers in range.
//
// Roundings. A denominator has at most 4: of an integer, of the unit and its inverse, and of their
// product. With n servers in G groups, a step of a recursion adds at most G additions and a
// division, so F and H are within n(G+5). A, B and G_g begin with these; they have one more addition
// in each step, one more step, and G_g a sum as its denominator. So all are within (2n+1)(G+7).
type tables struct {
	*states
	grid       *grid
	unit       float64
	gain, idle []float64 // d and λ - λ(k) in the unit
	busy, free []float64 // F, H
	up, down   []float64 // A/d, B/(λ - λ(k))
	z          float64   // Z
	holds      []holding // of each class
	bound      float64   // on the relative errors of the above
}

// A holding lists the states in which a class may have to wait: intervals of states and, for a
// class that does not use whole groups, numbers for each of these states.
type holding struct {
	from, to []int32
	share    []float64   // q(k); nil if all are 1
	each     [][]float64 // q(k) d_g/k_g of each choice, the share of one busy server of the group
}

// newTables returns the tables of a part. The error is [num.ErrFloatRange] or that of the context.
func newTables(ctx context.Context, s *states) (*tables, error) {
	t := &tables{states: s, grid: newGrid(s.limits())}
	if err := t.addRates(ctx); err != nil {
		return nil, err
	}
	if err := t.addHoldings(ctx); err != nil {
		return nil, err
	}
	if err := t.solve(ctx); err != nil {
		return nil, err
	}
	t.bound = arithmetic.Roundings(float64(2*s.servers()+1) * float64(len(s.groups)+7))
	all := holding{from: []int32{0}, to: []int32{int32(s.States)}}
	t.z = all.dot(nil, t.busy, t.free, 0)
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
			t.gain[at], t.idle[at] = float64(t.states.gain[at])*scale, float64(t.states.idle[at])*scale
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

// addHoldings sets the states in which the classes wait.
func (t *tables) addHoldings(ctx context.Context) error {
	t.holds = make([]holding, len(t.classes))
	for i, c := range t.classes {
		h := &t.holds[i]
		h.each = make([][]float64, len(c.choices))
		whole := true
		least := make([]int, len(t.groups))
		for _, choice := range c.choices {
			least[choice.group] = choice.servers
			whole = whole && choice.servers == t.Limits[choice.group]
		}
		run := 1 // states that follow each other
		for g := 0; g < len(least) && least[g] == 0; g++ {
			run *= t.Limits[g] + 1
		}
		x := append([]int(nil), least...)
		for at := t.Number(x); at >= 0; at = t.nextAbove(x, least, run) {
			if err := ctx.Err(); err != nil {
				return err
			}
			h.from, h.to = append(h.from, int32(at)), append(h.to, int32(at+run))
			if whole {
				continue
			}
			q, _ := t.fraction(i, x).Float64()
			for range run {
				h.share = append(h.share, q)
				for k, choice := range c.choices {
					h.each[k] = append(h.each[k], q*float64(choice.servers)/float64(x[choice.group]))
				}
			}
		}
	}
	return nil
}

// nextAbove moves x to the next point >= least whose number is a multiple of run above that of
// least, and returns its number, or -1 after the last.
func (t *tables) nextAbove(x, least []int, run int) int {
	for g := range x {
		if t.Stride[g] < run {
			continue
		}
		if x[g] < t.Limits[g] {
			x[g]++
			return t.Number(x)
		}
		x[g] = least[g]
	}
	return -1
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

// begins returns G_g in the unit, in one of the buffers. With k_g - 1 in place of k_g it is a
// recursion over a smaller box, with the source F and d + μ_g.
func (t *tables) begins(ctx context.Context, g int, b *buffers) ([]float64, error) {
	limits := t.limits()
	limits[g]--
	small := newGrid(limits)
	capacity, _ := new(big.Rat).Quo(t.groups[g].capacity, new(big.Rat).SetFloat64(t.unit)).Float64()
	stride := t.Stride[g]
	inner := stride * t.Limits[g] // states in a row with k_g < n_g
	v, d := b.take(&b.v, small.States), b.take(&b.d, small.States)
	for k := 0; k*inner < len(v); k++ {
		from := k * (inner + stride)
		copy(v[k*inner:], t.busy[from:from+inner])
		for l, x := range t.gain[from : from+inner] {
			d[k*inner+l] = x + capacity
		}
	}
	if err := small.climb(ctx, v, v, d); err != nil {
		return nil, err
	}
	all := b.take(&b.all, t.States)
	for k := 0; k*inner < len(v); k++ {
		from := k * (inner + stride)
		clear(all[from : from+stride])
		copy(all[from+stride:from+stride+inner], v[k*inner:])
	}
	return all, nil
}

// buffers are lists that one goroutine uses again for each group.
type buffers struct{ v, d, all []float64 }

// take returns a list of n numbers.
func (b *buffers) take(list *[]float64, n int) []float64 {
	if cap(*list) < n {
		*list = make([]float64, n)
	}
	return (*list)[:n]
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
		m.wait[i] = number(h.dot(h.share, t.free, t.busy, 0))
		m.queue[i] = number(h.dot(h.share, t.up, t.busy, 0) / t.unit)
	}
	if err := t.addServed(ctx, m, number); err != nil {
		return nil, err
	}
	m.divide(t.part, arithmetic.FromFloat(t.z, arithmetic.Compound(t.bound, arithmetic.Roundings(dotRoundings), 0)))
	return m, nil
}

// addServed sets the rates at which jobs begin on the servers of each group, which are independent of
// each other.
func (t *tables) addServed(ctx context.Context, m *measures, number func(float64) arithmetic.Number) error {
	errs := make([]error, len(t.groups))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(t.groups)) {
		workers.Go(func() {
			var b buffers
			for g := int(next.Add(1)) - 1; g < len(t.groups); g = int(next.Add(1)) - 1 {
				errs[g] = t.addServedBy(ctx, g, &b, m, number)
			}
		})
	}
	workers.Wait()
	return cmp.Or(errs...)
}

// addServedBy sets the rates at which jobs begin on the servers of one group.
func (t *tables) addServedBy(
	ctx context.Context, g int, b *buffers, m *measures, number func(float64) arithmetic.Number,
) error {
	v, err := t.begins(ctx, g, b)
	if err != nil {
		return err
	}
	capacity, _ := t.groups[g].capacity.Float64()
	for i, c := range t.classes {
		for k, choice := range c.choices {
			if choice.group != g {
				continue
			}
			h, at := &t.holds[i], i*len(t.groups)+g
			m.direct[at] = number(h.dot(h.each[k], t.free, t.down, t.Stride[g]))
			m.waited[at] = number(h.dot(h.each[k], t.up, v, 0) * (capacity / t.unit))
		}
	}
	return nil
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

// dot returns Σ_k w(k) a(k) b(k-shift) over the states; without w it is 1. It takes at most
// dotRoundings roundings.
func (h *holding) dot(w, a, b []float64, shift int) float64 {
	var total num.Sum
	var part []float64
	done := 0
	for i, from := range h.from {
		for from, end := int(from), int(h.to[i]); from < end; from += dotBlock {
			to := min(from+dotBlock, end)
			if w != nil {
				part = w[done : done+to-from]
			}
			total.Add(dot(part, a[from:to], b[from-shift:to-shift]))
			done += to - from
		}
	}
	return total.Value()
}

const (
	dotBlock     = 256
	dotRoundings = dotBlock + 16
)

// dot returns Σ w a b of at most dotBlock terms; without w it is 1.
func dot(w, a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	if w == nil {
		var s, t, u float64
		for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
			sum += float64(a[0] * b[0])
			s += float64(a[1] * b[1])
			t += float64(a[2] * b[2])
			u += float64(a[3] * b[3])
		}
		for k, x := range a {
			sum += float64(x * b[k])
		}
		return (sum + s) + (t + u)
	}
	w = w[:len(a)]
	for k, x := range a {
		sum += float64(w[k] * float64(x*b[k]))
	}
	return sum
}
