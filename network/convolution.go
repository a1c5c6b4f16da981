package network

import (
	"context"
	"math/big"
	"runtime"
	"sync"

	"productform/internal/arithmetic"
	"productform/internal/populations"
	"productform/network/internal/demands"
)

// What follows computes on the lattice of populations. With f_i the series of station i in u_i = Σ_k D_ik z_k, open chains folded in,
//
//	G = Π_i f_i,  H_i = Π_{j≠i} f_j,  f_i = Σ_n u^n / Π_{j <= n} α'(j),
//
// the coefficients at the populations N give all measures, by sums of positive terms:
//
//	X_k = G(N - e_k)/G(N),  E[x_ik] = D_ik [f_i' H_i](N - e_k)/G(N),  P(station i empty) = H_i(N)/(f_i(ρ_i) G(N)).
//
// f_i times a table takes one division and m - 1 steps of Horner's rule for rates that are constant from m on: T_m = H/(1 - u/α'(m)),
// T_j = H + (u/α'(j)) T_{j+1}, f H = T_1. So does f_i': f' = Y_1/α'(1) with Y_j = Σ_{n >= j} n u^(n-j) / Π_{j < i <= n} α'(i),
//
//	Y_{m-1} H = (m-2) R + R/(1 - u/α'(m)),  R = H/(1 - u/α'(m)),  Y_j H = j H + (u/α'(j+1)) Y_{j+1} H  (m >= 2);  Y_1 H = R/(1 - u/α'(1))  (m = 1).
//
// All H_i come by halving: the product of all stations outside of a part of them, times one half of the part, is that of all outside of the other half. Each
// station is multiplied in about log2(M) times, M the number of different stations.

// A tableMeasure holds what the tables say of the stations of one group. All numbers but those of tables of shared stations are over G(N).
type tableMeasure struct {
	empty  arithmetic.Number   // H(N)
	some   *arithmetic.Number  // [(f - 1) H](N), where it is wanted
	open   arithmetic.Number   // [Y_1 H](N)
	closed []arithmetic.Number // [Y_1 H](N - e_k), by axis
	powers []arithmetic.Number // [(u/α'(1))^j H](N), j = 0, ...; for delays [u^j H](N)

	jobs []arithmetic.Number // shared stations: E[x_c] of each kind
	idle []arithmetic.Number // and P(idle) of each node
}

// A lattice result is what tables give for all stations.
type latticeResult struct {
	throughput []arithmetic.Number // X_k, by axis
	groups     []tableMeasure
	delays     []tableMeasure
}

// A convolver computes with tables of one kind.
type convolver[T populations.Table[T]] struct {
	*latticePlan
	ctx     context.Context
	zeros   T // makes tables
	one     arithmetic.Number
	over    [][][]arithmetic.Number // D_k/α'(j) of each group
	tables  [][]arithmetic.Number   // F of each shared station
	with    []*demands.Tabulation
	jobs    int              // powers wanted
	at      []int            // indices of the populations that are asked for
	sums    []topSums        // G at each of them
	results []*latticeResult // one for each
}

// topSums holds the numbers of a table at a population N and at N - e_k, by axis.
type topSums struct {
	at    arithmetic.Number
	below []arithmetic.Number
}

// A worker has tables to compute in.
type worker[T populations.Table[T]] struct {
	*convolver[T]
	spare []T
	all   []T // G, once a station with one rate was measured, for which T_1 = H/(1 - u/α'(1)) is G
}

func (w *worker[T]) table() T {
	if n := len(w.spare); n > 0 {
		t := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return t
	}
	return w.zeros.New()
}

func (w *worker[T]) free(t T) { w.spare = append(w.spare, t) }

// forget gives up G.
func (w *worker[T]) forget() {
	w.spare = append(w.spare, w.all...)
	w.all = nil
}

// convolve solves a plan with tables of one kind, for the populations at some indices of its lattice. If jobs > 0, there are that many powers and one of each station.
func convolve[T populations.Table[T]](ctx context.Context, p *latticePlan, zeros T, one arithmetic.Number, jobs int, at []int) ([]*latticeResult, error) {
	c := &convolver[T]{latticePlan: p, ctx: ctx, zeros: zeros, one: one, jobs: jobs, at: at}
	for range at {
		c.results = append(c.results, &latticeResult{groups: make([]tableMeasure, len(p.groups)), delays: make([]tableMeasure, len(p.delays))})
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	w := &worker[T]{convolver: c}
	base := zeros.New()
	c.setDelays(base, p.think)
	var err error
	if len(p.groups) == 0 {
		c.sums = c.top(base)
	} else {
		err = w.halve(base, 0, len(p.groups), true)
	}
	if err == nil && len(p.delays) > 0 {
		err = w.measureDelays()
	}
	if err != nil {
		return nil, err
	}
	for n := range at {
		c.results[n].divide(&c.sums[n])
	}
	return c.results, nil
}

// prepare brings the numbers of the plan into the arithmetic.
func (c *convolver[T]) prepare() error {
	c.over = make([][][]arithmetic.Number, len(c.groups))
	c.tables, c.with = make([][]arithmetic.Number, len(c.groups)), make([]*demands.Tabulation, len(c.groups))
	for g := range c.groups {
		if c.groups[g].shared == nil {
			for _, list := range c.groups[g].over {
				c.over[g] = append(c.over[g], numbersOf(list, c.one))
			}
			continue
		}
		var err error
		if c.with[g], err = c.groups[g].shared.Tabulate(c.ctx, c.order, c.most, c.one); err != nil {
			return err
		}
		if c.tables[g], err = c.with[g].Values(c.ctx); err != nil {
			return err
		}
	}
	return nil
}

// setDelays sets t to Π_k think_k^n_k/n_k!.
func (c *convolver[T]) setDelays(t T, think []*big.Rat) {
	factors := make([][]arithmetic.Number, len(think))
	for k, d := range think {
		x, by := c.one, c.one.Rational(d)
		factors[k] = append(factors[k], x)
		for n := 1; n <= c.most[k]; n++ {
			x = x.Mul(by).Quo(c.one.Rational(big.NewRat(int64(n), 1)))
			factors[k] = append(factors[k], x)
		}
	}
	t.SetProducts(factors)
}

// top returns the numbers of a table at the populations that are asked for.
func (c *convolver[T]) top(t T) []topSums { return c.sumsOf(t.At) }

// sumsOf returns numbers by index at the populations that are asked for.
func (c *convolver[T]) sumsOf(number func(index int) arithmetic.Number) []topSums {
	sums := make([]topSums, len(c.at))
	for n, i := range c.at {
		sums[n].at = number(i)
		for k := range c.most {
			sums[n].below = append(sums[n].below, number(i-c.zeros.Lattice().Step(k)))
		}
	}
	return sums
}

// large is the number of points from which on two parts are worked on side by side.
const large = 1 << 12

// halve computes the measures of groups first..last-1, given the product h of all others, which it uses up.
func (w *worker[T]) halve(h T, first, last int, split bool) error {
	if last-first == 1 {
		return w.measure(first, h)
	}
	middle := (first + last) / 2
	other := w.table()
	other.Copy(h)
	if split && w.points >= large && runtime.GOMAXPROCS(0) > 1 {
		var group sync.WaitGroup
		var err error
		group.Go(func() {
			second := &worker[T]{convolver: w.convolver}
			if err = second.multiply(&other, middle, last); err == nil {
				err = second.halve(other, first, middle, false)
			}
		})
		own := w.multiply(&h, first, middle)
		if own == nil {
			own = w.halve(h, middle, last, false)
		}
		group.Wait()
		if own != nil {
			return own
		}
		return err
	}
	if err := w.multiply(&other, middle, last); err != nil {
		return err
	}
	if err := w.halve(other, first, middle, false); err != nil {
		return err
	}
	if split { // the same digits as of two workers
		w.forget()
	}
	if err := w.multiply(&h, first, middle); err != nil {
		return err
	}
	return w.halve(h, middle, last, false)
}

// multiply multiplies *h by the series of all stations of groups first..last-1. The table may be another afterwards.
func (w *worker[T]) multiply(h *T, first, last int) error {
	for g := first; g < last; g++ {
		for range w.groups[g].stations {
			if err := w.times(h, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// times multiplies *h by the series of one station of a group.
func (w *worker[T]) times(h *T, g int) error {
	t := w.table()
	if w.groups[g].shared != nil {
		f := w.table()
		defer w.free(f)
		f.Set(w.tables[g])
		if err := populations.Convolve(w.ctx, t, *h, f); err != nil {
			return err
		}
	} else {
		over := w.over[g]
		if err := t.Divide(w.ctx, *h, over[len(over)-1]); err != nil {
			return err
		}
		if err := w.series(t, *h, over[:len(over)-1]); err != nil {
			return err
		}
	}
	w.free(*h)
	*h = t
	return nil
}

// series makes t = T_{m} the table T_1: t ← h + u_j t for j = m-1, ..., 1.
func (w *worker[T]) series(t, h T, over [][]arithmetic.Number) error {
	for j := len(over) - 1; j >= 0; j-- {
		if err := t.Horner(w.ctx, 1, h, over[j]); err != nil {
			return err
		}
	}
	return nil
}

// measure computes the measures of group g, given the product h of all other groups, which it uses up.
func (w *worker[T]) measure(g int, h T) error {
	for range len(w.groups[g].stations) - 1 {
		if err := w.times(&h, g); err != nil {
			return err
		}
	}
	defer w.free(h)
	if w.groups[g].shared != nil {
		return w.measureShared(g, h)
	}
	over := w.over[g]
	servers := len(over)
	y := w.table()
	defer w.free(y)
	r, err := w.geometric(h, over)
	if err != nil {
		return err
	}
	if servers > 1 {
		defer w.free(r)
	}
	if err := y.Divide(w.ctx, r, over[servers-1]); err != nil {
		return err
	}
	if servers > 2 {
		y.Add(int64(servers-2), r)
	}
	for j := servers - 2; j >= 1; j-- {
		if err := y.Horner(w.ctx, int64(j), h, over[j]); err != nil {
			return err
		}
	}
	for n, slope := range w.top(y) {
		m := &w.results[n].groups[g]
		m.empty, m.open, m.closed = h.At(w.at[n]), slope.at, slope.below
	}
	if err := w.sum(g, r, h); err != nil {
		return err
	}
	return w.powers(h, over[0], h.At, func(r *latticeResult) *tableMeasure { return &r.groups[g] })
}

// geometric returns R = h/(1 - u/α'(m)), which is kept if it is G.
func (w *worker[T]) geometric(h T, over [][]arithmetic.Number) (T, error) {
	servers := len(over)
	if servers == 1 && len(w.all) > 0 {
		return w.all[0], nil
	}
	r := w.table()
	err := r.Divide(w.ctx, h, over[servers-1])
	if servers == 1 {
		w.all = append(w.all, r)
	}
	return r, err
}

// sum sets what a station of the group adds to states without jobs there, and for the first group all sums.
func (w *worker[T]) sum(g int, r, h T) error {
	over := w.over[g]
	if g > 0 && !w.wantsSome(g) {
		return nil
	}
	if len(over) > 1 {
		if err := w.series(r, h, over[1:len(over)-1]); err != nil {
			return err
		}
	}
	for n, x := range w.top(r) {
		some := w.one.Zero()
		for k, below := range x.below {
			some = some.Add(below.Mul(over[0][k]))
		}
		w.results[n].groups[g].some = &some
	}
	if len(over) > 1 {
		if err := r.Horner(w.ctx, 1, h, over[0]); err != nil {
			return err
		}
	}
	if g == 0 {
		w.sums = w.top(r)
	}
	return nil
}

// wantsSome reports whether a station of the group has rates of its own.
func (w *worker[T]) wantsSome(g int) bool {
	for _, i := range w.groups[g].stations {
		if w.sys.model.Stations[i].Rates != nil {
			return true
		}
	}
	return false
}

// powers sets those of u^j h, and changes h.
func (w *worker[T]) powers(h T, u []arithmetic.Number, number func(index int) arithmetic.Number, of func(r *latticeResult) *tableMeasure) error {
	if w.jobs == 0 {
		return nil
	}
	for j := range min(w.jobs, w.latticePlan.jobs) + 1 {
		if j > 0 {
			if err := h.Shift(w.ctx, u); err != nil {
				return err
			}
		}
		for n, i := range w.at {
			m := of(w.results[n])
			m.powers = append(m.powers, number(i))
		}
	}
	return nil
}

// measureShared computes the measures of a shared station from its tables.
func (w *worker[T]) measureShared(g int, h T) error {
	with := w.with[g]
	f := w.table()
	defer w.free(f)
	if g == 0 {
		f.Set(w.tables[g])
		w.sums = w.sumsOf(func(i int) arithmetic.Number { return h.Convolved(f, i) })
	}
	add := func(list demands.Table, err error, of func(m *tableMeasure) *[]arithmetic.Number) error {
		if err != nil {
			return err
		}
		f.Set(list)
		for n, i := range w.at {
			to := of(&w.results[n].groups[g])
			*to = append(*to, h.Convolved(f, i))
		}
		return nil
	}
	for n, i := range w.at {
		w.results[n].groups[g].empty = h.At(i)
	}
	for c := range w.groups[g].shared.Kinds {
		list, err := with.Jobs(w.ctx, c)
		if err := add(list, err, func(m *tableMeasure) *[]arithmetic.Number { return &m.jobs }); err != nil {
			return err
		}
	}
	for n := range w.groups[g].shared.Serves {
		list, err := with.Idle(w.ctx, n)
		if err := add(list, err, func(m *tableMeasure) *[]arithmetic.Number { return &m.idle }); err != nil {
			return err
		}
	}
	return w.sharedPowers(g, f, h, w.tables[g])
}

// sharedPowers sets the sums over the states with j jobs at a shared station, for j = 0, ..., as far as only closed chains visit it.
func (w *worker[T]) sharedPowers(g int, f, h T, values demands.Table) error {
	if w.jobs == 0 {
		return nil
	}
	l := h.Lattice()
	for j := range min(w.jobs, w.latticePlan.jobs) + 1 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		part := make(demands.Table, len(values))
		for i, x := range values {
			if l.Total(i) != j {
				x = w.one.Zero()
			}
			part[i] = x
		}
		f.Set(part)
		for n, i := range w.at {
			m := &w.results[n].groups[g]
			m.powers = append(m.powers, h.Convolved(f, i))
		}
	}
	return nil
}

// measureDelays computes the measures of delays: of each, the others are a product in closed form, and the other stations one table.
func (w *worker[T]) measureDelays() error {
	b := w.table()
	w.setDelays(b, zerosOf(len(w.most)))
	if err := w.multiply(&b, 0, len(w.groups)); err != nil {
		return err
	}
	others := w.table()
	for n, own := range w.own {
		rest := make([]*big.Rat, len(own))
		for k, x := range own {
			rest[k] = new(big.Rat).Sub(w.think[k], x)
		}
		w.setDelays(others, rest)
		number := func(index int) arithmetic.Number { return others.Convolved(b, index) }
		for p, i := range w.at {
			w.results[p].delays[n].empty = number(i)
		}
		if err := w.powers(others, numbersOf(own, w.one), number, func(r *latticeResult) *tableMeasure { return &r.delays[n] }); err != nil {
			return err
		}
	}
	return nil
}

func zerosOf(n int) []*big.Rat {
	list := make([]*big.Rat, n)
	for i := range list {
		list[i] = new(big.Rat)
	}
	return list
}

// divide divides all sums by G(N).
func (r *latticeResult) divide(g *topSums) {
	for _, x := range g.below {
		r.throughput = append(r.throughput, x.Quo(g.at))
	}
	for _, list := range [][]tableMeasure{r.groups, r.delays} {
		for i := range list {
			m := &list[i]
			m.empty = m.empty.Quo(g.at)
			for _, part := range [][]arithmetic.Number{m.closed, m.powers, m.jobs, m.idle} {
				for j := range part {
					part[j] = part[j].Quo(g.at)
				}
			}
			if m.closed != nil {
				m.open = m.open.Quo(g.at)
			}
			if m.some != nil {
				some := m.some.Quo(g.at)
				m.some = &some
			}
		}
	}
}
