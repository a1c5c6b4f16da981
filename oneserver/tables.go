package oneserver

import (
	"context"
	"math"
	"math/big"
	"sort"

	"productform/internal/arithmetic"
	"productform/internal/cube"
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
	unit       float64
	gain, idle filler    // d and λ - λ(k) in the unit; 1 where they are not used, at 0 and n
	busy, free []float64 // F, H
	up, down   []float64 // A/d, B/(λ - λ(k))
	totals     totals
	bound      float64 // on the relative errors of the tables
}

// newTables returns the tables of a part. The error is [num.ErrFloatRange] or that of the context.
func newTables(ctx context.Context, s *states) (*tables, error) {
	t := &tables{states: s}
	if err := t.addRates(ctx); err != nil {
		return nil, err
	}
	if err := t.solve(ctx); err != nil {
		return nil, err
	}
	t.bound = arithmetic.Roundings(float64(2*s.servers()+1) * float64(len(s.groups)+6))
	if err := t.addTotals(ctx); err != nil {
		return nil, err
	}
	if z := t.totals.z.Value(); !(z >= leastValue && z <= mostValue) {
		return nil, num.ErrFloatRange
	}
	return t, nil
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
	if t.held64 != nil {
		t.fromIntegers()
		return ctx.Err()
	}
	unit, rate := new(big.Rat).SetFloat64(t.unit), new(big.Rat)
	for _, c := range t.classes {
		rate.Add(rate, c.rate)
	}
	gain, idle := cube.NewTable(t.States), cube.NewTable(t.States)
	t.gain = func(row []float64, from int) { copy(row, gain[from:]) }
	t.idle = func(row []float64, from int) { copy(row, idle[from:]) }
	err := t.exact(ctx, func(at int, _ []int, inside, work *big.Rat) {
		d, l := new(big.Rat).Sub(work, inside), new(big.Rat).Sub(rate, inside)
		gain[at], _ = d.Quo(d, unit).Float64()
		idle[at], _ = l.Quo(l, unit).Float64()
	})
	gain[0], idle[t.States-1] = 1, 1
	return err
}

// fromIntegers sets gain and idle if there are integers.
func (t *tables) fromIntegers() {
	scale, _ := new(big.Float).SetInt(t.states.unit).Float64() // up to 2^62
	scale = 1 / (scale * t.unit)
	low := make([]int64, t.grid.size) // μ of the first groups
	for l := range low {
		low[l] = t.work64(l)
	}
	t.gain = func(row []float64, from int) {
		high, low, held := t.work64(from), low[:len(row)], t.held64[from:][:len(row)]
		for l := range row {
			row[l] = float64(low[l]+high-held[l]) * scale
		}
		if from == 0 {
			row[0] = 1
		}
	}
	t.idle = func(row []float64, from int) {
		for l, held := range t.held64[from:][:len(row)] {
			row[l] = float64(t.all64-held) * scale
		}
		if from+len(row) == t.States {
			row[len(row)-1] = 1
		}
	}
}

// solve solves the recursions for F, H, A/d and B/(λ - λ(k)). At k = 0 there is no d, and at k = n
// no λ - λ(k): the solutions are not used there.
func (t *tables) solve(ctx context.Context) error {
	t.busy, t.free = cube.NewTable(t.States), cube.NewTable(t.States)
	err := recursion.Both(func() error { return t.grid.climb(ctx, t.busy, nil, t.gain) },
		func() error { return t.grid.fall(ctx, t.free, nil, t.idle) })
	if err != nil {
		return err
	}
	t.up, t.down = cube.NewTable(t.States), cube.NewTable(t.States)
	return recursion.Both(func() error { return t.grid.fall(ctx, t.up, t.free, t.gain) },
		func() error { return t.grid.climb(ctx, t.down, t.busy, t.idle) })
}

// totals are the sums over the states that [sweep.measure] explains, before the division by Z.
type totals struct {
	z              num.Sum
	busy           []num.Sum // by group
	wait, queue    []num.Sum // by class
	direct, waited []num.Sum // at class*groups+group
}

func newTotals(p *part) totals {
	n, g := len(p.classes), len(p.groups)
	return totals{busy: make([]num.Sum, g), wait: make([]num.Sum, n), queue: make([]num.Sum, n),
		direct: make([]num.Sum, n*g), waited: make([]num.Sum, n*g)}
}

// add adds other totals.
func (t *totals) add(x *totals) {
	t.z.Add(x.z.Value())
	for k, list := range [][]num.Sum{t.busy, t.wait, t.queue, t.direct, t.waited} {
		for i := range list {
			list[i].Add([][]num.Sum{x.busy, x.wait, x.queue, x.direct, x.waited}[k][i].Value())
		}
	}
}

// addTotals sums over the states, some rows at a time, so no digit depends on the number of cores.
func (t *tables) addTotals(ctx context.Context) error {
	rows := t.States / t.grid.size
	each := max(1, taskStates/t.grid.size)
	parts := make([]totals, (rows+each-1)/each)
	err := t.grid.inParallel(len(parts), func(k int) error {
		parts[k] = newTotals(t.part)
		return t.sumRows(ctx, &parts[k], k*each*t.grid.size, min(rows, (k+1)*each)*t.grid.size)
	})
	if err != nil {
		return err
	}
	t.totals = parts[0]
	for k := range parts[1:] {
		t.totals.add(&parts[k+1])
	}
	return nil
}

// sumRows adds the rows from one state to another.
func (t *tables) sumRows(ctx context.Context, sum *totals, first, end int) error {
	size := t.grid.size
	present, walls := make([]float64, size), make([]float64, size) // F H and F A/d
	list := make([]float64, size)
	next := make([]int, len(t.classes)) // row of each class
	for i := range next {
		rows := t.holds[i].rows
		next[i] = sort.Search(len(rows), func(n int) bool { return int(rows[n]) >= first })
	}
	for from := first; from < end; from += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		busy, free, up := t.busy[from:from+size], t.free[from:][:size], t.up[from:][:size]
		for l, x := range busy {
			present[l] = float64(x * free[l])
			walls[l] = float64(x * up[l])
		}
		for i := range t.holds {
			h := &t.holds[i]
			n := next[i]
			if n == len(h.rows) || int(h.rows[n]) != from {
				continue
			}
			next[i]++
			share := h.sharesOf(n)
			addSums(&sum.wait[i], share, h.position, present)
			addSums(&sum.queue[i], share, h.position, walls)
			for k, choice := range t.classes[i].choices {
				each := h.eachOf(list, n, k, t.Digit(from, choice.group))
				at := i*len(t.groups) + choice.group
				begin, shift := from, t.Stride[choice.group]
				if choice.group >= t.grid.low { // k-e is in another row
					begin, shift = from-shift, 0
				}
				addDots(&sum.direct[at], each, h.position, free, t.down[begin:][:size], shift)
				addDots(&sum.waited[at], each, h.position, up, t.busy[begin:][:size], shift)
			}
		}
		t.sumBusy(sum, present, from)
	}
	return nil
}

// sumBusy adds F H and its products with the numbers of busy servers in a row, which it overwrites.
// It folds the row onto its first points, one coordinate at a time. If a row has several
// coordinates it has at most 512 points, so no sum takes more than dotBlock + 1 additions.
func (t *tables) sumBusy(sum *totals, present []float64, from int) {
	var total num.Sum
	for list := present; len(list) > 0; {
		size := min(len(list), dotBlock)
		total.Add(sumOf(list[:size]))
		list = list[size:]
	}
	all := total.Value()
	sum.z.Add(all)
	for g := len(t.groups) - 1; g >= 0; g-- {
		if g >= t.grid.low {
			sum.busy[g].Add(float64(t.Digit(from, g)) * all)
			continue
		}
		stride := t.Stride[g]
		for k := 1; k <= t.Limits[g]; k++ {
			slice := present[k*stride:][:stride]
			sum.busy[g].Add(float64(k) * sumOf(slice))
			if g > 0 {
				addTo(present[:stride], slice)
			}
		}
	}
}

// sumOf returns the sum of a list.
func sumOf(list []float64) float64 {
	var s0, s1, s2, s3 float64
	for ; len(list) >= 4; list = list[4:] {
		s0 += list[0]
		s1 += list[1]
		s2 += list[2]
		s3 += list[3]
	}
	for _, x := range list {
		s0 += x
	}
	return (s0 + s1) + (s2 + s3)
}

// measure returns the means; see [sweep.measure].
func (t *tables) measure() *measures {
	m := newMeasures(t.part, arithmetic.FromFloat(0, 0))
	number := func(x float64) arithmetic.Number {
		return arithmetic.FromFloat(x, arithmetic.Compound(2*t.bound, arithmetic.Roundings(dotRoundings), 0))
	}
	for g, group := range t.groups {
		m.busy[g] = number(t.totals.busy[g].Value() / float64(group.n))
	}
	for i := range t.classes {
		m.wait[i] = number(t.totals.wait[i].Value())
		m.queue[i] = number(t.totals.queue[i].Value() / t.unit)
	}
	for k := range m.direct {
		m.direct[k], m.waited[k] = number(t.totals.direct[k].Value()), number(t.totals.waited[k].Value())
	}
	m.divide(t.part, arithmetic.FromFloat(t.totals.z.Value(),
		arithmetic.Compound(t.bound, arithmetic.Roundings(dotRoundings), 0)))
	return m
}
