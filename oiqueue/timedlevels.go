package oiqueue

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
)

// Limits on the part of a cluster with timeouts.
const (
	mostMoves       = 1 << 23       // arrivals of a class at a set of busy servers: about 1 GiB
	mostTimedStates = 1 << 22       // about ten seconds in float64 with few classes
	mostThetas      = bits.UintSize // bits of the mask of a [lattice.Walker]

	// mostRest is the largest relative measure of the omitted states. It is about the
	// size of the roundings of float64, so a smaller measure would not tighten the bounds that
	// the engine Float proves.
	mostRest = 1e-15
)

// timedLevels visits the states of a part in the order of the number of jobs that may time out. A
// state is a vector y of numbers of these jobs by timeout and a point K of a box, the busy servers
// by group. Its values are W, and D_i of the tracked classes; for other classes, D_i = y_r W.
type timedLevels struct {
	*timedPart
	ctx      context.Context
	one      arithmetic.Number
	maxBytes int64
	box      lattice.Box
	drain    []arithmetic.Number // μ(K) - λ_0(K)
	slack    []float64           // μ(K) - λ(K), rounded
	theta    []arithmetic.Number // θ_r
	moves    [][]timedMove       // by class and point; see movesOf
	tables   float64             // size of drain, moves and cells, in numbers
	slot     []int               // by class: the position of D_i in the values of a state; 0 unless tracked
	width    int                 // number of values of a state
	member   [][]int             // classes by timeout; the last list has the classes without one

	walk      *lattice.Walker
	last      timedLevel // the level below
	level     timedLevel
	lastFirst int // index of the first state of last
	cells     []arithmetic.Number
	marked    []bool
	touched   []int
	zero      arithmetic.Number

	states  int
	jobs    int // jobs that may time out in a state of level
	mass    halves
	masses  []halves            // D_i by class
	ofLevel []arithmetic.Number // W and D_i by class, of the level
	total   []arithmetic.Number // W and D_i by class, of all levels
}

// A timedMove is the arrival of jobs of a class at a set of busy servers.
type timedMove struct {
	to   int               // the busy servers after the arrival
	rate arithmetic.Number // λ_i times its probability
}

// A timedLevel holds the states with the same number of jobs that may time out.
type timedLevel struct {
	start  []int // first entry of each y
	at     []int // K of each entry
	values []arithmetic.Number
}

// newTimedLevels tabulates the rates of a part of a cluster.
func newTimedLevels(
	ctx context.Context, p *timedPart, one arithmetic.Number, maxBytes int64,
) (*timedLevels, error) {
	l := &timedLevels{timedPart: p, ctx: ctx, one: one, zero: one.Zero(), box: lattice.FirstFastest(p.limits),
		slot: make([]int, len(p.classes)), width: 1, member: make([][]int, len(p.thetas)+1), maxBytes: maxBytes}
	for i, x := range p.classes {
		r := len(p.thetas)
		if x.group >= 0 {
			r = x.group
		}
		l.member[r] = append(l.member[r], i)
	}
	for r, list := range l.member {
		for _, i := range list {
			if len(list) > 1 || r == len(p.thetas) {
				l.slot[i] = l.width
				l.width++
			}
		}
	}
	l.drain = make([]arithmetic.Number, l.box.States)
	l.slack = make([]float64, l.box.States)
	l.moves = make([][]timedMove, l.box.States*len(p.classes))
	l.tables = float64(l.box.States*(1+l.width)) + 2*p.countMoves() // a move takes as much as two numbers
	if used := l.bytes(); used > float64(maxBytes) {
		return nil, &num.TooLargeError{Bytes: used, Limit: maxBytes, Input: input.Errorf("servers",
			fmt.Sprintf("%d sets of busy servers", l.box.States),
			"sets whose rates take at most %d MiB (fewer servers, or equal servers as one group)", maxBytes>>20)}
	}
	l.cells = make([]arithmetic.Number, l.box.States*l.width)
	l.marked = make([]bool, l.box.States)
	for at := range l.drain {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d := p.rank(&l.box, at)
		timed := new(big.Rat)
		for i, x := range p.classes {
			steps := p.steps(&l.box, i, at)
			list := make([]timedMove, len(steps))
			for k, s := range steps {
				list[k] = timedMove{s.to, one.Rational(s.rate)}
				switch {
				case s.to == at && x.theta == nil:
					d.Sub(d, s.rate)
				case s.to == at:
					timed.Add(timed, s.rate)
				}
			}
			l.moves[i*l.box.States+at] = list
		}
		l.drain[at] = one.Rational(d)
		l.slack[at] = num.Nearest(d.Sub(d, timed))
	}
	for _, theta := range p.thetas {
		l.theta = append(l.theta, one.Rational(theta))
	}
	l.walk = lattice.Walk(unlimited(len(p.thetas), firstTotal))
	l.masses = make([]halves, len(p.classes))
	l.total = slices.Repeat([]arithmetic.Number{l.zero}, 1+len(p.classes))
	l.ofLevel = slices.Clone(l.total)
	return l, nil
}

// firstTotal is the number of jobs of the first lattice, which is doubled when it is too small.
const firstTotal = 64

// unlimited returns a simplex without a limit on its number of states, which may exceed an int.
func unlimited(classes, total int) lattice.Lattice {
	y := lattice.NewSimplex(classes, total)
	y.States = math.MaxInt
	return y
}

// endless returns the classes whose jobs never time out.
func (l *timedLevels) endless() []int { return l.member[len(l.thetas)] }

// rank returns μ(K).
func (p *timedPart) rank(b *lattice.Box, at int) *big.Rat {
	sum := new(big.Rat)
	for g, c := range p.capacity {
		busy := new(big.Rat).SetInt64(int64(b.Digit(at, g)))
		sum.Add(sum, busy.Mul(busy, c))
	}
	return sum
}

// A timedStep is a [timedMove] with its rate as a fraction.
type timedStep struct {
	to   int
	rate *big.Rat
}

// steps returns the effects of arrivals of class i on the busy servers at a point. If d servers are
// drawn from n, of which k are busy, v more become busy with probability
// C(k, d-v) C(n-k, v) / C(n, d).
func (p *timedPart) steps(b *lattice.Box, i, at int) []timedStep {
	x := &p.classes[i]
	list := []timedStep{{at, x.rate}}
	for _, c := range x.choices {
		g := c.Server
		n, k := p.limits[g], b.Digit(at, g)
		var longer []timedStep
		for _, s := range list {
			switch {
			case p.isPool && k < n:
				longer = append(longer, timedStep{s.to + b.Stride[g], s.rate})
			case p.isPool:
				longer = append(longer, s)
			case c.Choose == n:
				longer = append(longer, timedStep{s.to + (n-k)*b.Stride[g], s.rate})
			default:
				for v := max(0, c.Choose-k); v <= min(c.Choose, n-k); v++ {
					longer = append(longer, timedStep{s.to + v*b.Stride[g],
						new(big.Rat).Mul(s.rate, drawn(n, k, c.Choose, v))})
				}
			}
		}
		list = longer
	}
	return list
}

// drawn returns C(k, d-v) C(n-k, v) / C(n, d).
func drawn(n, k, d, v int) *big.Rat {
	ways := new(big.Int).Binomial(int64(k), int64(d-v))
	ways.Mul(ways, new(big.Int).Binomial(int64(n-k), int64(v)))
	return new(big.Rat).SetFrac(ways, new(big.Int).Binomial(int64(n), int64(d)))
}

// movesOf returns the moves of class i at a point.
func (l *timedLevels) movesOf(i, at int) []timedMove { return l.moves[i*l.box.States+at] }

// float returns the rate of a move, rounded up if it is an interval.
func (m *timedMove) float() float64 {
	if high := m.rate.Interval.High; high != nil {
		f, _ := high.Float64()
		return f
	}
	return m.rate.Double()
}

// solve returns E[X_i] of the classes of a part and the number of states.
func (p *timedPart) solve(ctx context.Context, one arithmetic.Number, s TimeoutSettings) (
	means []arithmetic.Number, states int, err error,
) {
	l, err := newTimedLevels(ctx, p, one, s.MaxBytes)
	if err != nil {
		return nil, 0, err
	}
	if err := l.predict(); err != nil {
		return nil, 0, err
	}
	tol := min(mostRest, s.RelTol/4)
	rest := make([]float64, 1+len(p.classes))
	for next := 0; ; l.jobs++ {
		if err := l.fill(); err != nil {
			return nil, 0, err
		}
		if len(p.thetas) == 0 {
			break // there is one level only
		}
		if l.jobs < next || !(l.relative(l.ofLevel[0], l.total[0]) <= tol) {
			continue
		}
		if rest = l.tail(); slices.Max(rest) <= tol {
			break
		}
		next = l.jobs + 1 + l.jobs/16
	}
	for i := range p.classes {
		mean := l.total[1+i].Quo(l.total[0])
		means = append(means, widen(mean, max(rest[0], rest[1+i])))
	}
	return means, l.states, nil
}

// bytes estimates the memory in use.
func (l *timedLevels) bytes() float64 {
	return l.one.Bytes() * (l.tables + float64(cap(l.level.values)+cap(l.last.values)))
}

// sizeError returns the error for a number of states.
func (l *timedLevels) sizeError(states, bytes float64, limit int64) error {
	value := fmt.Sprintf("%d mean timeouts: more than %.0f states", len(l.thetas), states)
	return &num.TooLargeError{States: states, Bytes: bytes, Limit: limit, Input: input.Errorf("classes", value,
		"at most %d states, which are numbers of jobs by mean timeout and sets of busy servers (fewer different mean "+
			"timeouts, or fewer jobs at a time)", mostTimedStates)}
}

// predict returns an error if a part needs too many states. The measure of n jobs that may time out
// is at least λ/(μ + n max θ_r) times that of n-1, for the rate λ of these jobs and the rate μ of
// all servers. So n jobs are at least as likely as in the birth-death process with these ratios.
func (l *timedLevels) predict() error {
	if len(l.thetas) == 0 {
		return nil
	}
	rate, fastest := 0.0, 0.0
	for _, x := range l.classes {
		if x.theta != nil {
			rate += num.Nearest(x.rate)
			fastest = max(fastest, num.Nearest(x.theta))
		}
	}
	mu := num.Nearest(l.rank(&l.box, l.box.States-1))
	term, sum, states, r := 1.0, 1.0, 1.0, float64(len(l.thetas))
	for n := 1.0; term > mostRest/2*sum; n++ {
		term *= rate / (mu + n*fastest)
		if sum += term; sum > 0x1p500 {
			term, sum = term/sum, 1
		}
		if states *= (n + r) / n; states > mostTimedStates { // C(n+r, r)
			return l.sizeError(states, 0, 0)
		}
	}
	return nil
}

// widen returns a number whose bounds contain x/(1+t) and x(1+t).
func widen(x arithmetic.Number, t float64) arithmetic.Number {
	if x.Interval.Low == nil {
		return arithmetic.FromWide(x.Wide, arithmetic.Compound(x.Bound, t, 0))
	}
	one, off := big.NewFloat(1), big.NewFloat(t)
	prec := x.Interval.Prec()
	return x.Mul(arithmetic.Number{Interval: num.Interval{
		Low:  new(big.Float).SetPrec(prec).SetMode(big.ToZero).Sub(one, off),
		High: new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).Add(one, off),
	}})
}

// fill computes the next level and adds it to the sums.
func (l *timedLevels) fill() error {
	l.last, l.level = l.level, timedLevel{l.last.start[:0], l.last.at[:0], l.last.values[:0]}
	first := l.walk.At
	if l.jobs > 0 {
		if w := l.walk; w.Jobs == w.Total { // the order of a simplex does not depend on its size
			w.Lattice = unlimited(w.Classes, 2*w.Total)
		}
		l.walk.Next()
		first = l.walk.At
	}
	for {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		l.level.start = append(l.level.start, len(l.level.at))
		if err := l.visit(); err != nil {
			return err
		}
		used := l.bytes()
		if states := float64(l.states + len(l.level.at)); states > mostTimedStates || used > float64(l.maxBytes) {
			return l.sizeError(states, used, l.maxBytes)
		}
		if len(l.thetas) == 0 || l.walk.X[0] == l.jobs {
			break // the last state of the level has all jobs in the first coordinate
		}
		l.walk.Next()
	}
	l.level.start = append(l.level.start, len(l.level.at))
	l.states += len(l.level.at)
	l.lastFirst = first
	l.ofLevel[0] = l.mass.take(l.zero)
	l.total[0] = l.total[0].Add(l.ofLevel[0])
	for i := range l.masses {
		l.ofLevel[1+i] = l.masses[i].take(l.zero)
		l.total[1+i] = l.total[1+i].Add(l.ofLevel[1+i])
	}
	return nil
}

// visit computes the states with the numbers of jobs of the walker.
func (l *timedLevels) visit() error {
	timeouts := l.zero
	l.touched = l.touched[:0]
	for r, n := range l.walk.X {
		if n == 0 {
			continue
		}
		timeouts = timeouts.Add(l.theta[r].Mul(l.one.Integer(n)))
		below := l.walk.At - l.walk.Drop[r] - l.lastFirst
		for e := l.last.start[below]; e < l.last.start[below+1]; e++ {
			from := l.last.values[e*l.width : (e+1)*l.width]
			for _, i := range l.member[r] {
				moves := l.movesOf(i, l.last.at[e])
				for k := range moves {
					l.flow(&moves[k], i, from)
				}
			}
		}
	}
	if l.jobs == 0 {
		l.cell(0)[0] = l.one
	}
	slices.Sort(l.touched)
	sum := l.zero
	for k := 0; k < len(l.touched); k++ {
		at := l.touched[k]
		v := l.cell(at)
		l.settle(v, at, l.drain[at].Add(timeouts))
		for _, i := range l.endless() {
			moves := l.movesOf(i, at)
			for k := range moves {
				if m := &moves[k]; m.to > at {
					l.flow(m, i, v)
				}
			}
		}
		l.sortFrom(k + 1)
		l.marked[at] = false
		l.level.at = append(l.level.at, at)
		l.level.values = append(l.level.values, v...)
		l.mass.add(v[0])
		sum.SetSum(&sum, &v[0])
		for i, slot := range l.slot {
			if slot > 0 {
				l.masses[i].add(v[slot])
			}
		}
	}
	for i, x := range l.classes {
		if l.slot[i] == 0 && l.walk.X[x.group] > 0 {
			l.masses[i].add(sum.Mul(l.one.Integer(l.walk.X[x.group])))
		}
	}
	return nil
}

// settle divides the flow into a state by its drain. Jobs of class i that never time out and find
// their servers busy add λ_i W to D_i.
func (l *timedLevels) settle(v []arithmetic.Number, at int, drain arithmetic.Number) {
	if l.jobs > 0 || at > 0 {
		v[0] = v[0].Quo(drain)
	}
	for _, i := range l.endless() {
		for _, m := range l.movesOf(i, at) {
			if m.to == at {
				v[l.slot[i]] = v[l.slot[i]].Add(m.rate.Mul(v[0]))
			}
		}
	}
	for k := 1; k < len(v); k++ {
		if !v[k].IsZero() {
			v[k] = v[k].Quo(drain)
		}
	}
}

// flow adds the arrivals of class i at a state.
func (l *timedLevels) flow(m *timedMove, i int, from []arithmetic.Number) {
	to := l.cell(m.to)
	add := func(slot int, v *arithmetic.Number) {
		var x arithmetic.Number
		x.SetProduct(&m.rate, v)
		to[slot].SetSum(&to[slot], &x)
	}
	for k := range from {
		add(k, &from[k])
	}
	if slot := l.slot[i]; slot > 0 {
		add(slot, &from[0])
	}
}

// cell returns the values of a point, initially 0.
func (l *timedLevels) cell(at int) []arithmetic.Number {
	v := l.cells[at*l.width : (at+1)*l.width]
	if !l.marked[at] {
		l.marked[at] = true
		l.touched = append(l.touched, at)
		for k := range v {
			v[k] = l.zero
		}
	}
	return v
}

// sortFrom sorts the points after the first k if new ones were added.
func (l *timedLevels) sortFrom(k int) {
	if rest := l.touched[k:]; !slices.IsSorted(rest) {
		slices.Sort(rest)
	}
}

// halves adds numbers one at a time, in pairs, pairs of pairs and so on, like [arithmetic.Sum].
type halves struct {
	sums   []arithmetic.Number
	levels []int
}

func (h *halves) add(x arithmetic.Number) {
	level := 0
	for k := len(h.sums) - 1; k >= 0 && h.levels[k] == level; k-- {
		x.SetSum(&h.sums[k], &x)
		level++
		h.sums, h.levels = h.sums[:k], h.levels[:k]
	}
	h.sums, h.levels = append(h.sums, x), append(h.levels, level)
}

// take returns the sum and starts a new one.
func (h *halves) take(zero arithmetic.Number) arithmetic.Number {
	sum := zero
	for _, x := range slices.Backward(h.sums) {
		sum = sum.Add(x)
	}
	h.sums, h.levels = h.sums[:0], h.levels[:0]
	return sum
}
