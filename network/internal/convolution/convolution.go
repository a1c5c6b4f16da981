package convolution

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// A Measure holds the results of the tables for the stations of one group. All numbers except those
// from tables of shared stations include the factor G(N).
type Measure struct {
	Empty  arithmetic.Number   // H(N)
	Some   *arithmetic.Number  // [(f - 1) H](N), if required
	Open   arithmetic.Number   // [Y_1 H](N)
	Closed []arithmetic.Number // [Y_1 H](N - e_k), by axis
	Powers []arithmetic.Number // [(u/α'(1))^j H](N), j = 0, ...; for delays [u^j H](N), for shared stations P(j jobs)

	Jobs []arithmetic.Number // shared stations: E[x_c] of each kind
	Idle []arithmetic.Number // shared stations: P(idle) of each node
}

// A Result holds the results of the tables for all stations.
type Result struct {
	Sum        arithmetic.Number   // G(N)
	Throughput []arithmetic.Number // X_k, by axis
	Groups     []Measure
	Delays     []Measure
}

// A convolver computes with tables of one kind.
type convolver[T Operand[T]] struct {
	*Plan
	ctx     context.Context
	zeros   T // makes tables
	one     arithmetic.Number
	over    [][][]arithmetic.Number // D_k/α'(j) of each group
	tables  [][]arithmetic.Number   // F of each shared station
	with    []*Tabulation
	jobs    int       // required number of powers
	at      []int     // indices of the requested populations
	sums    []topSums // G at each requested population
	results []*Result // one result per requested population
}

// topSums holds the numbers of a table at a population N and at N - e_k, by axis.
type topSums struct {
	at    arithmetic.Number
	below []arithmetic.Number
}

// A worker holds the tables for one goroutine.
type worker[T Operand[T]] struct {
	*convolver[T]
	spare []T
	all   []T // G, once a station with a single rate was measured, for which T_1 = H/(1 - u/α'(1)) is G
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

// releaseTable releases G.
func (w *worker[T]) releaseTable() {
	w.spare = append(w.spare, w.all...)
	w.all = nil
}

// convolve solves a plan with tables of one kind, for the populations at some indices of its
// lattice. If jobs > 0, it computes that many powers, and one for each station.
func convolve[T Operand[T]](
	ctx context.Context, p *Plan, zeros T, one arithmetic.Number, jobs int, at []int,
) ([]*Result, error) {
	c := &convolver[T]{Plan: p, ctx: ctx, zeros: zeros, one: one, jobs: jobs, at: at}
	for range at {
		c.results = append(c.results, &Result{
			Groups: make([]Measure, len(p.Groups)),
			Delays: make([]Measure, len(p.Delays)),
		})
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	w := &worker[T]{convolver: c}
	base := zeros.New()
	err := c.setDelays(base, p.think)
	switch {
	case err != nil:
	case len(p.Groups) == 0:
		c.sums = c.top(base)
	default:
		err = w.halve(base, 0, len(p.Groups), true, p.think)
	}
	if err == nil && len(p.Delays) > 0 {
		err = w.measureDelays()
	}
	if err := cmp.Or(ctx.Err(), err); err != nil { // tables may be unfinished
		return nil, err
	}
	for n := range at {
		c.results[n].divide(&c.sums[n])
	}
	return c.results, nil
}

// prepare converts the numbers of the plan to the arithmetic.
func (c *convolver[T]) prepare() error {
	c.over = make([][][]arithmetic.Number, len(c.Groups))
	c.tables, c.with = make([][]arithmetic.Number, len(c.Groups)), make([]*Tabulation, len(c.Groups))
	for g := range c.Groups {
		if c.Groups[g].Shared == nil {
			for _, list := range c.Groups[g].over {
				c.over[g] = append(c.over[g], numbersOf(list, c.one))
			}
			continue
		}
		var err error
		if c.with[g], err = c.Groups[g].Shared.Tabulate(c.ctx, c.Order, c.Most, c.one); err != nil {
			return err
		}
		if c.tables[g], err = c.with[g].Values(c.ctx); err != nil {
			return err
		}
	}
	return nil
}

// setDelays sets t to Π_k think_k^n_k/n_k!. The error is the context's.
func (c *convolver[T]) setDelays(t T, think []*big.Rat) error {
	stop := recursion.Cancellation{Ctx: c.ctx}
	factors := make([][]arithmetic.Number, len(think))
	for k, d := range think {
		x, by := c.one, c.one.Rational(d)
		factors[k] = append(make([]arithmetic.Number, 0, c.Most[k]+1), x)
		for n := 1; n <= c.Most[k]; n++ {
			if err := stop.After(recursion.BigSteps); err != nil {
				return err
			}
			x = x.Mul(by).Quo(c.one.Integer(n))
			factors[k] = append(factors[k], x)
		}
	}
	t.SetProducts(factors)
	return c.ctx.Err()
}

// top returns the numbers of a table at the requested populations.
func (c *convolver[T]) top(t T) []topSums { return c.sumsOf(t.At) }

// sumsOf returns number(i) for the index i of each requested population, and for the populations
// with one fewer job of a chain.
func (c *convolver[T]) sumsOf(number func(index int) arithmetic.Number) []topSums {
	sums := make([]topSums, len(c.at))
	for n, i := range c.at {
		sums[n].at = number(i)
		for k, jobs := range c.zeros.Lattice().Point(i) {
			x := c.one.Zero()
			if jobs > 0 {
				x = number(i - c.zeros.Lattice().Stride[k])
			}
			sums[n].below = append(sums[n].below, x)
		}
	}
	return sums
}

// Large is the number of lattice points at or above which one solution computes two parts in
// parallel. A caller that solves several smaller models can run them in parallel instead.
const Large = 1 << 12

// halve computes the measures of groups first..last-1, given the product h of all others, and
// overwrites h. If h contains the delays only, think holds their demands. Shared stations are split
// off one by one, which minimizes the multiplications by their tables.
func (w *worker[T]) halve(h T, first, last int, split bool, think []*big.Rat) error {
	if last-first == 1 {
		return w.measure(first, h)
	}
	middle := (first + last) / 2
	if w.Groups[first].Shared != nil {
		middle = first + 1
	}
	other := w.table()
	other.Copy(h)
	if split && w.Points >= Large && runtime.GOMAXPROCS(0) > 1 {
		var group sync.WaitGroup
		var err error
		group.Go(func() {
			second := &worker[T]{convolver: w.convolver}
			if err = second.multiply(&other, middle, last, think); err == nil {
				err = second.halve(other, first, middle, false, nil)
			}
		})
		own := w.multiply(&h, first, middle, think)
		if own == nil {
			own = w.halve(h, middle, last, false, nil)
		}
		group.Wait()
		if own != nil {
			return own
		}
		return err
	}
	if err := w.multiply(&other, middle, last, think); err != nil {
		return err
	}
	if err := w.halve(other, first, middle, false, nil); err != nil {
		return err
	}
	if split { // same digits as with two workers
		w.releaseTable()
	}
	if err := w.multiply(&h, first, middle, think); err != nil {
		return err
	}
	return w.halve(h, middle, last, false, nil)
}

// multiply multiplies *h by the series of all stations of groups first..last-1; if *h contains the
// delays only, think holds their demands. It may replace the table.
func (w *worker[T]) multiply(h *T, first, last int, think []*big.Rat) error {
	for g := first; g < last; g++ {
		for range w.Groups[g].Stations {
			if err := w.times(h, g, think); err != nil {
				return err
			}
			think = nil
		}
	}
	return nil
}

// times multiplies *h by the series of one station of a group.
func (w *worker[T]) times(h *T, g int, think []*big.Rat) error {
	t := w.table()
	var err error
	switch over := w.over[g]; {
	case w.isDirect(g) && think != nil && think[0].Sign() == 0: // *h is 1
		var list []arithmetic.Number
		if list, err = w.list(g, 1); err == nil {
			t.SetProducts([][]arithmetic.Number{list})
		}
	case w.Groups[g].Shared == nil:
		if err = t.Divide(w.ctx, *h, over[len(over)-1]); err == nil {
			err = w.series(t, *h, over[:len(over)-1])
		}
	case think != nil && w.one.Exact == nil:
		(*h).Set(w.tables[g])
		t.Copy(*h)
		err = w.delay(t, *h, think)
	default:
		f := w.table()
		f.Set(w.tables[g])
		err = Convolve(w.ctx, t, *h, f)
		w.free(f)
	}
	w.free(*h)
	*h = t
	return err
}

// delay sets t = h to the product of h and the delays, e^u = 1 + u (1 + u/2 (1 + u/3 (...))) up to
// the number of jobs that visit one. For the table of a shared station this is much faster than a
// convolution.
func (w *worker[T]) delay(t, h T, think []*big.Rat) error {
	jobs := 0
	for k, x := range think {
		if x.Sign() > 0 {
			jobs += w.Most[k]
		}
	}
	for j := int64(jobs); j >= 1; j-- {
		over := make([]arithmetic.Number, len(think))
		for k, x := range think {
			over[k] = w.one.Rational(new(big.Rat).Quo(x, big.NewRat(j, 1)))
		}
		if err := t.Horner(w.ctx, 1, h, over); err != nil {
			return err
		}
	}
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

// measure computes the measures of group g, given the product h of all other groups, and overwrites
// h.
func (w *worker[T]) measure(g int, h T) error {
	for range len(w.Groups[g].Stations) - 1 {
		if err := w.times(&h, g, nil); err != nil {
			return err
		}
	}
	defer w.free(h)
	if w.Groups[g].Shared != nil {
		return w.measureShared(g, h)
	}
	if w.isDirect(g) {
		return w.measureDirectly(g, h)
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
		m := &w.results[n].Groups[g]
		m.Empty, m.Open, m.Closed = h.At(w.at[n]), slope.at, slope.below
	}
	if err := w.sum(g, r, h); err != nil {
		return err
	}
	return w.groupPowers(g, h)
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

// sum computes the terms that a station of the group adds to states without jobs there, and for the
// first group all sums.
func (w *worker[T]) sum(g int, r, h T) error {
	over := w.over[g]
	if g > 0 && !w.needsBusyProbability(g) {
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
		w.results[n].Groups[g].Some = &some
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

// needsBusyProbability reports whether a station of the group has its own list of rates.
func (w *worker[T]) needsBusyProbability(g int) bool {
	for _, i := range w.Groups[g].Stations {
		if w.System.Stations[i].Totals.Listed {
			return true
		}
	}
	return false
}

// powers computes the powers u^j h, and modifies h.
func (w *worker[T]) powers(
	h T, u []arithmetic.Number, number func(index int) arithmetic.Number, of func(r *Result) *Measure,
) error {
	for j := range w.powersWanted() {
		if j > 0 {
			if err := h.Shift(w.ctx, u); err != nil {
				return err
			}
		}
		for n, i := range w.at {
			m := of(w.results[n])
			m.Powers = append(m.Powers, number(i))
		}
	}
	return nil
}

// powersWanted returns the number of powers.
func (w *worker[T]) powersWanted() int {
	if w.jobs == 0 {
		return 0
	}
	return min(w.jobs, w.Plan.Jobs) + 1
}

// groupPowers computes the powers of the stations of group g, and may modify h. With one chain, u^j
// h at n is u^j times h at n - j.
func (w *worker[T]) groupPowers(g int, h T) error {
	u := w.over[g][0]
	if !w.WantsLaw(w.Groups[g].Stations...) {
		return nil
	}
	if len(w.Most) > 1 {
		return w.powers(h, u, h.At, func(r *Result) *Measure { return &r.Groups[g] })
	}
	power := w.one
	for j := range w.powersWanted() {
		for n, i := range w.at {
			x := w.one.Zero()
			if j <= i {
				x = power.Mul(h.At(i - j))
			}
			m := &w.results[n].Groups[g]
			m.Powers = append(m.Powers, x)
		}
		power = power.Mul(u[0])
	}
	return nil
}

// WantsLaw reports whether the plan requires the distribution of the number of jobs at one of these
// stations.
func (p *Plan) WantsLaw(stations ...int) bool {
	return p.LawsOf == nil || slices.ContainsFunc(stations, func(i int) bool { return slices.Contains(p.LawsOf, i) })
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
	add := func(list Table, err error, of func(m *Measure) *[]arithmetic.Number) error {
		if err != nil {
			return err
		}
		f.Set(list)
		for n, i := range w.at {
			to := of(&w.results[n].Groups[g])
			*to = append(*to, h.Convolved(f, i))
		}
		return nil
	}
	for n, i := range w.at {
		w.results[n].Groups[g].Empty = h.At(i)
	}
	for c := range w.Groups[g].Shared.Kinds {
		list, err := with.Jobs(w.ctx, c)
		if err := add(list, err, func(m *Measure) *[]arithmetic.Number { return &m.Jobs }); err != nil {
			return err
		}
	}
	for n := range w.Groups[g].Shared.Serves {
		list, err := with.Idle(w.ctx, n)
		if err := add(list, err, func(m *Measure) *[]arithmetic.Number { return &m.Idle }); err != nil {
			return err
		}
	}
	return w.sharedPowers(g, f, h, w.tables[g])
}

// sharedPowers computes the sums over the states with j jobs at a shared station, for j = 0, ....
func (w *worker[T]) sharedPowers(g int, f, h T, values Table) error {
	if w.jobs == 0 || !w.WantsLaw(w.Groups[g].Stations...) {
		return nil
	}
	add := func(part Table) error {
		f.Set(part)
		for n, i := range w.at {
			m := &w.results[n].Groups[g]
			m.Powers = append(m.Powers, h.Convolved(f, i))
		}
		return w.ctx.Err()
	}
	if w.System.Stations[w.Groups[g].Stations[0]].Load.Sign() > 0 {
		return w.with[g].ByJobs(w.ctx, w.jobs, add)
	}
	l := h.Lattice()
	stop := recursion.Cancellation{Ctx: w.ctx}
	for j := range w.powersWanted() {
		part := make(Table, len(values))
		for i, x := range values {
			if err := stop.After(16); err != nil {
				return err
			}
			if l.Total(i) != j {
				x = w.one.Zero()
			}
			part[i] = x
		}
		if err := add(part); err != nil {
			return err
		}
	}
	return nil
}

// measureDelays computes the measures of each delay: the product of the other delays is in closed
// form, and the other stations are one table.
func (w *worker[T]) measureDelays() error {
	b := w.table()
	none := zerosOf(len(w.Most))
	if err := w.setDelays(b, none); err != nil {
		return err
	}
	if err := w.multiply(&b, 0, len(w.Groups), none); err != nil {
		return err
	}
	others := w.table()
	for n, own := range w.own {
		rest := make([]*big.Rat, len(own))
		for k, x := range own {
			rest[k] = new(big.Rat).Sub(w.think[k], x)
		}
		if err := w.setDelays(others, rest); err != nil {
			return err
		}
		number := func(index int) arithmetic.Number { return others.Convolved(b, index) }
		for p, i := range w.at {
			w.results[p].Delays[n].Empty = number(i)
		}
		if !w.WantsLaw(w.Plan.Delays[n]) {
			continue
		}
		if err := w.powers(
			others, numbersOf(own, w.one), number, func(r *Result) *Measure { return &r.Delays[n] },
		); err != nil {
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

// divide divides all sums by G(N). The sum of population N - e_k becomes the throughput X_k = G(N -
// e_k)/G(N).
func (r *Result) divide(g *topSums) {
	r.Sum = g.at
	for _, x := range g.below {
		r.Throughput = append(r.Throughput, x.Quo(g.at))
	}
	for _, list := range [][]Measure{r.Groups, r.Delays} {
		for i := range list {
			m := &list[i]
			m.Empty = m.Empty.Quo(g.at)
			for _, part := range [][]arithmetic.Number{m.Closed, m.Powers, m.Jobs, m.Idle} {
				for j := range part {
					part[j] = part[j].Quo(g.at)
				}
			}
			if m.Closed != nil {
				m.Open = m.Open.Quo(g.at)
			}
			if m.Some != nil {
				some := m.Some.Quo(g.at)
				m.Some = &some
			}
		}
	}
}

// Convolve returns the measures for several populations, up to those of the plan, from the tables
// of an engine and, if jobs > 0, the powers up to that number. In float64 it restarts with shorter
// segments if the numbers differ too much in size.
func (p *Plan) Convolve(ctx context.Context, engine num.Engine, prec uint, jobs int, at [][]int) ([]*Result, error) {
	lattice := NewLattice(p.Most)
	one := arithmetic.One(engine, prec)
	indices := make([]int, len(at))
	for n, most := range at {
		for k, count := range most {
			indices[n] += count * lattice.Stride[k]
		}
	}
	switch engine {
	case num.Exact:
		return convolve(ctx, p, NewExact(ctx, lattice, p.scales()), one, jobs, indices)
	case num.Enclose:
		return convolve(ctx, p, NewEnclosed(ctx, lattice, prec), one, jobs, indices)
	}
	for segment := p.segment(); ; segment = max(1, segment/8) {
		list, err := convolve(ctx, p, NewFloat(ctx, lattice, segment, p.tilt()), one, jobs, indices)
		if err != nil || segment == 1 || !slices.ContainsFunc(list, (*Result).isLost) {
			return list, err
		}
	}
}

// isLost reports whether a number has lost its bound.
func (m *Result) isLost() bool {
	for _, x := range m.Throughput {
		if math.IsInf(x.Bound, 1) {
			return true
		}
	}
	for _, list := range [][]Measure{m.Groups, m.Delays} {
		for _, t := range list {
			if math.IsInf(t.Empty.Bound, 1) || math.IsInf(t.Open.Bound, 1) ||
				len(t.Powers) > 0 && math.IsInf(t.Powers[len(t.Powers)-1].Bound, 1) {
				return true
			}
		}
	}
	return false
}
