package loss

import (
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
)

// A table is the set of entries over which the recursion runs: mixed-radix numbers with a digit for each axis. It holds all that is
// known before an engine is chosen.
type table struct {
	axes    []axis
	members []member
	states  int

	servers int        // of Model.Count; 0 without
	jobs    int        // axis that counts all jobs, -1 without: up to servers if it is soft
	nodes   []uint     // sets of members that each node serves; nil without a graph
	drain   []*big.Rat // μ(A) less the work of the free members of A, at the bit mask of A; nil without a graph
	free    *big.Rat   // work of all free members
}

// An axis is a digit of an entry. A soft one counts jobs up to its top and stays there; a hard one is a limit.
type axis struct {
	top, stride int
	soft        bool
}

// A member is a class as the table knows it; with tokens, a server.
type member struct {
	work    *big.Rat
	sources int    // 0 for Poisson arrivals
	hard    []step // axes that one job more moves up
	soft    int    // soft axis that it moves up, or -1
	own     int    // axis that tells the number of its jobs, or -1
	shift   int    // Σ units stride over its hard axes: 0 if it is free
	drops   int    // stride of its soft axis, 0 without
}

type step struct{ axis, units int }

// A walk goes through the entries in the order of their numbers.
type walk struct {
	*table
	at    int
	digit []int
}

func (t *table) walk() *walk { return &walk{table: t, digit: make([]int, len(t.axes))} }

// next moves to the next entry and reports whether there was one.
func (w *walk) next() bool {
	w.at++
	for a := range w.digit {
		if w.digit[a] < w.axes[a].top {
			w.digit[a]++
			return true
		}
		w.digit[a] = 0
	}
	return false
}

// back moves to the entry before, and reports whether that is not 0.
func (w *walk) back() bool {
	w.at--
	for a := range w.digit {
		if w.digit[a] > 0 {
			w.digit[a]--
			break
		}
		w.digit[a] = w.axes[a].top
	}
	return w.at > 0
}

// before returns the entries from which a job of member k leads to this one: low where it moves its soft axis, and high where that is at its
// top before, too; -1 if there is none. high is this entry itself if the member is free.
func (w *walk) before(k int) (low, high int) {
	m := &w.members[k]
	for _, h := range m.hard {
		if w.digit[h.axis] < h.units {
			return -1, -1
		}
	}
	at := w.at - m.shift
	if m.soft < 0 {
		return at, -1
	}
	switch w.digit[m.soft] {
	case 0:
		return -1, -1
	case w.axes[m.soft].top:
		return at - m.drops, at
	}
	return at - m.drops, -1
}

// fits reports whether a job more of member k keeps all limits.
func (w *walk) fits(k int) bool {
	for _, h := range w.members[k].hard {
		if w.digit[h.axis]+h.units > w.axes[h.axis].top {
			return false
		}
	}
	return true
}

// present returns the set of members with jobs in this entry, of a graph.
func (w *walk) present() (set uint) {
	for k := range w.members {
		m := &w.members[k]
		if a := max(m.own, m.soft); w.digit[a] > 0 {
			set |= 1 << k
		}
	}
	return set
}

// idle returns the sources of member k that have no job.
func (w *walk) idle(k int) int {
	m := &w.members[k]
	return max(0, m.sources-w.count(k))
}

// count returns the number of jobs of a member with an axis of its own.
func (w *walk) count(k int) int {
	m := &w.members[k]
	for _, h := range m.hard {
		if h.axis == m.own {
			return w.digit[m.own] / h.units
		}
	}
	return w.digit[m.own]
}

// busy reports whether all servers are busy in an entry with so many jobs on the axis that counts them.
func (t *table) busy(jobs int) bool { return jobs >= t.servers }

// An evaluation is a table in the arithmetic of an engine.
type evaluation struct {
	*table
	ctx    context.Context
	one    arithmetic.Number
	work   []arithmetic.Number
	drains []arithmetic.Number // of a graph
	full   arithmetic.Number   // μ less the work of the free members where all servers are busy
	looks  int

	weight []arithmetic.Number // W
}

func (t *table) evaluate(ctx context.Context, one arithmetic.Number) *evaluation {
	e := &evaluation{table: t, ctx: ctx, one: one}
	for k := range t.members {
		e.work = append(e.work, one.Rational(t.members[k].work))
	}
	for _, d := range t.drain {
		e.drains = append(e.drains, one.Rational(d))
	}
	if t.servers > 0 {
		e.full = one.Rational(new(big.Rat).Sub(big.NewRat(int64(t.servers), 1), t.free))
	}
	return e
}

// number returns n >= 0.
func (e *evaluation) number(n int) arithmetic.Number { return e.one.Integer(n) }

// look returns the error of the context, now and then.
func (e *evaluation) look() error {
	if e.looks++; e.one.Exact == nil && e.looks%64 != 0 {
		return nil
	}
	return e.ctx.Err()
}

// rate returns the difference by which the flow into the entry is divided, and the axis by whose units the flow is counted, -1 if
// by jobs. ok is false for an entry that cannot be reached.
func (e *evaluation) rate(w *walk) (d arithmetic.Number, by int, ok bool) {
	switch {
	case e.nodes != nil:
		set := w.present()
		return e.drains[set], -1, set != 0
	case e.servers > 0:
		n := w.digit[e.jobs]
		if n >= e.servers && e.axes[e.jobs].soft {
			return e.full, -1, true
		}
		return e.number(min(n, e.servers)), -1, n > 0
	}
	for a, x := range w.digit {
		if x > 0 {
			return e.number(x), a, true
		}
	}
	return e.one, -1, false
}

// flow returns the factor of W at the entries before in the flow into this one by jobs of member k: w_k, times the sources that
// were idle, times the units on the axis by which flow is counted.
func (e *evaluation) flow(w *walk, k, by int) arithmetic.Number {
	m, f := &e.members[k], e.work[k]
	if m.sources > 0 {
		f = f.Mul(e.number(w.idle(k) + 1))
	}
	if by < 0 {
		return f
	}
	for _, h := range m.hard {
		if h.axis == by {
			return f.Mul(e.number(h.units))
		}
	}
	return e.number(0)
}

// up computes W.
func (e *evaluation) up() error {
	zero := e.one.Zero()
	e.weight = make([]arithmetic.Number, e.states)
	e.weight[0] = e.one
	for w := e.walk(); w.next(); {
		if err := e.look(); err != nil {
			return err
		}
		e.weight[w.at] = zero
		d, by, ok := e.rate(w)
		if !ok {
			continue
		}
		sum := zero
		for k := range e.members {
			low, high := w.before(k)
			if low < 0 || e.members[k].sources > 0 && w.count(k) > e.members[k].sources {
				continue
			}
			from := e.weight[low]
			if high >= 0 && high != w.at {
				from = from.Add(e.weight[high])
			}
			sum = sum.Add(e.flow(w, k, by).Mul(from))
		}
		e.weight[w.at] = sum.Quo(d)
	}
	return nil
}

// down returns E[X_k] G of each member, and of those E[jobs that wait] G: with V the adjoint of W,
//
//	V(s) = 1 + Σ_k Σ_{s'≠s} f_k(s') V(s')/d(s') over the entries s' to which a job of k leads from s,
//	E[X_k] G = w_k ∂G/∂w_k = Σ_s V(s)/d(s) f_k(s) Σ W(before) over all entries before, s itself included if k is free.
//
// Each term is that of a job which comes last, in order of arrival; it waits if all servers are busy before.
func (e *evaluation) down() (jobs, queue []arithmetic.Number, err error) {
	zero := e.one.Zero()
	all, waiting := make([]accumulator, len(e.members)), make([]accumulator, len(e.members))
	v := make([]arithmetic.Number, e.states)
	for at := range v {
		v[at] = e.one
	}
	w := e.walk()
	w.at = e.states
	for w.back() {
		if err := e.look(); err != nil {
			return nil, nil, err
		}
		d, by, ok := e.rate(w)
		if !ok {
			continue
		}
		share := v[w.at].Quo(d)
		for k := range e.members {
			low, high := w.before(k)
			if low < 0 || e.members[k].sources > 0 && w.count(k) > e.members[k].sources {
				continue
			}
			f := share.Mul(e.flow(w, k, by))
			for _, at := range [...]int{low, high} {
				if at < 0 {
					continue
				}
				if at != w.at {
					v[at] = v[at].Add(f)
				}
				term := f.Mul(e.weight[at])
				all[k].add(term)
				if e.servers > 0 && e.busy(w.jobsBefore(at == high)) {
					waiting[k].add(term)
				}
			}
		}
	}
	for k := range e.members {
		jobs = append(jobs, all[k].value(zero))
		queue = append(queue, waiting[k].value(zero))
	}
	return jobs, queue, nil
}

// jobsBefore returns the digit of the axis that counts jobs before the last one came, which stayed at its top if high.
func (w *walk) jobsBefore(high bool) int {
	n := w.digit[w.jobs]
	if high {
		return n
	}
	return n - 1
}

// Sums over the entries, all times G.
type sums struct {
	total            arithmetic.Number   // G
	pass, lost, wait []arithmetic.Number // of each member: weight of the arrivals' view in which one more fits, does not, fits and waits
	serves, rests    []arithmetic.Number // of each node: that it has a member to serve, or none
	left             []arithmetic.Number // of each member with an axis of its own and tokens: tokens not on it
}

// across adds up what arrivals and nodes see.
func (e *evaluation) across(tokens bool) (*sums, error) {
	n := len(e.members)
	pass, lost, wait, left := make([]accumulator, n), make([]accumulator, n), make([]accumulator, n), make([]accumulator, n)
	serves, rests := make([]accumulator, len(e.nodes)), make([]accumulator, len(e.nodes))
	var total accumulator
	w := e.walk()
	for more := true; more; more = w.next() {
		if err := e.look(); err != nil {
			return nil, err
		}
		x := e.weight[w.at]
		if x.IsZero() {
			continue
		}
		total.add(x)
		for k := range e.members {
			seen := x
			if e.members[k].sources > 0 {
				idle := w.idle(k)
				if idle == 0 {
					continue
				}
				seen = x.Mul(e.number(idle))
			}
			if !w.fits(k) {
				lost[k].add(seen)
				continue
			}
			pass[k].add(seen)
			if e.servers > 0 && e.busy(w.digit[e.jobs]) {
				wait[k].add(seen)
			}
			if tokens {
				left[k].add(x.Mul(e.number(e.axes[e.members[k].own].top - w.count(k))))
			}
		}
		if e.nodes == nil {
			continue
		}
		set := w.present()
		for s, users := range e.nodes {
			if set&users != 0 {
				serves[s].add(x)
			} else {
				rests[s].add(x)
			}
		}
	}
	values := func(a []accumulator) (list []arithmetic.Number) {
		for i := range a {
			list = append(list, a[i].value(e.one.Zero()))
		}
		return list
	}
	return &sums{total: total.value(e.one.Zero()), pass: values(pass), lost: values(lost), wait: values(wait), serves: values(serves), rests: values(rests), left: values(left)}, nil
}

// An accumulator adds numbers by halves, so that each takes part in few additions.
type accumulator struct {
	parts []arithmetic.Number // parts[i] is the sum of 2^i numbers if bit i of n is set
	n     uint
}

func (a *accumulator) add(x arithmetic.Number) {
	i := bits.TrailingZeros(^a.n)
	for j := range i {
		x = a.parts[j].Add(x)
	}
	if i == len(a.parts) {
		a.parts = append(a.parts, x)
	}
	a.parts[i] = x
	a.n++
}

// value returns the sum.
func (a *accumulator) value(zero arithmetic.Number) arithmetic.Number {
	sum := zero
	for i, x := range a.parts {
		if a.n>>i&1 == 1 {
			sum = x.Add(sum)
		}
	}
	return sum
}
