package loss

import (
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
)

// A number is >= 0, in one of the arithmetics: an arithmetic.Number or a double.
type number[T any] interface {
	Add(T) T
	Mul(T) T
	Quo(T) T
	IsZero() bool
}

// A sweep processes a table in one arithmetic.
type sweep[T number[T]] struct {
	*table
	ctx     context.Context
	integer func(int) T
	zero    T
	flows   [][]T // flow of each member: its work, also multiplied by its units on each axis
	growth  [][]T // growth of each member, with tokens
	drains  []T   // drain of each set
	full    T     // μ minus the work of the free members if all servers are busy
	looks   int

	weight []T // W
}

func newSweep[T number[T]](
	ctx context.Context, t *table, rational func(*big.Rat) T, integer func(int) T, of func(arithmetic.Number) T,
) *sweep[T] {
	e := &sweep[T]{table: t, ctx: ctx, integer: integer, zero: integer(0)}
	for k := range t.members {
		work := rational(t.members[k].work)
		flows := make([]T, len(t.soft)+1)
		for a := range flows {
			flows[a] = e.zero
		}
		flows[0] = work
		for _, h := range t.members[k].hard {
			flows[1+h.axis] = work.Mul(integer(h.units))
		}
		e.flows = append(e.flows, flows)
		var growth []T
		for _, x := range t.members[k].growth {
			growth = append(growth, of(x))
		}
		e.growth = append(e.growth, growth)
	}
	for _, d := range t.drain {
		e.drains = append(e.drains, rational(d))
	}
	if t.servers > 0 {
		e.full = rational(new(big.Rat).Sub(big.NewRat(int64(t.servers), 1), t.free))
	}
	return e
}

// look returns the error of the context, which it checks periodically.
func (e *sweep[T]) look() error {
	if e.looks++; e.looks%64 != 0 {
		return nil
	}
	return e.ctx.Err()
}

// rate returns the difference by which the flow into the entry is divided, and 1 + the axis by
// whose units the flow is counted, or 0 if by jobs. ok is false for an entry that cannot be
// reached.
func (e *sweep[T]) rate(w *walk) (d T, by int, ok bool) {
	switch {
	case e.nodes != nil:
		set := w.present()
		return e.drains[set], 0, set != 0
	case e.servers > 0:
		n := w.digit[e.jobs]
		if n >= e.servers && e.soft[e.jobs] {
			return e.full, 0, true
		}
		return e.integer(min(n, e.servers)), 0, n > 0
	}
	for a, x := range w.digit {
		if x > 0 {
			return e.integer(x), 1 + a, true
		}
	}
	return e.zero, 0, false
}

// flow returns the factor of W at the preceding entries in the flow into this entry by jobs of
// member k: w_k, times the units on the axis by which flow is counted, times the number of sources
// that were idle; or, with tokens, the growth.
func (e *sweep[T]) flow(w *walk, k, by int) T {
	if e.growth[k] != nil {
		return e.growth[k][w.digit[e.members[k].own]]
	}
	f := e.flows[k][by]
	if e.members[k].sources > 0 {
		f = f.Mul(e.integer(w.idle(k) + 1))
	}
	return f
}

// up computes W, from first at entry 0.
func (e *sweep[T]) up(first T) error {
	e.weight = make([]T, e.States)
	e.weight[0] = first
	for w := e.walk(); w.next(); {
		if err := e.look(); err != nil {
			return err
		}
		e.weight[w.at] = e.zero
		d, by, ok := e.rate(w)
		if !ok {
			continue
		}
		sum := e.zero
		for k := range e.members {
			low, high := w.predecessors(k)
			if low < 0 {
				continue
			}
			from := e.weight[low]
			if high >= 0 && high != w.at {
				from = from.Add(e.weight[high])
			}
			if from.IsZero() {
				continue
			}
			sum = sum.Add(e.flow(w, k, by).Mul(from))
		}
		e.weight[w.at] = sum.Quo(d)
	}
	return nil
}

// down returns E[X_k] G and E[waiting jobs] G of each member: with V the adjoint of W,
//
//	V(s) = 1 + Σ_k Σ_{s'≠s} f_k(s') V(s')/d(s') over the entries s' to which a job of k leads from s,
//	E[X_k] G = w_k ∂G/∂w_k = Σ_s V(s)/d(s) f_k(s) Σ W(before) over all entries before, s itself included if k is free.
//
// Each term counts a job that arrived last under FCFS; it waits if all servers were busy before.
// Entries of weight 0 add nothing: the entries before them have weight 0 too, or their jobs have no work.
func (e *sweep[T]) down() (jobs, queue []T, err error) {
	all, waiting := make([]accumulator[T], len(e.members)), make([]accumulator[T], len(e.members))
	v := make([]T, e.States)
	one := e.integer(1)
	for at := range v {
		v[at] = one
	}
	for w := e.walk(); w.back(); {
		if err := e.look(); err != nil {
			return nil, nil, err
		}
		d, by, ok := e.rate(w)
		if !ok || e.weight[w.at].IsZero() {
			continue
		}
		share := v[w.at].Quo(d)
		for k := range e.members {
			low, high := w.predecessors(k)
			if low < 0 {
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
				if e.servers > 0 && w.jobsBefore(at == high) >= e.servers {
					waiting[k].add(term)
				}
			}
		}
	}
	return values(all, e.zero), values(waiting, e.zero), nil
}

// Sums over the entries, all multiplied by G.
type sums[T any] struct {
	total T // G
	// for each member: weight of the states seen by arrivals in which one more job fits, does not
	// fit, fits and waits
	pass, lost, wait []T
	serves, rests    []T   // for each node: weight of the states with a member to serve, and without one
	marginal         [][]T // with tokens: for each member, weight of the states with n free tokens, n = 0, 1, ...
}

// addViews sums the states as seen by arrivals and nodes.
func (e *sweep[T]) addViews(tokens bool) (*sums[T], error) {
	n := len(e.members)
	pass, lost, wait := make([]accumulator[T], n), make([]accumulator[T], n), make([]accumulator[T], n)
	free := make([][]accumulator[T], n)
	for k := range free {
		if tokens {
			free[k] = make([]accumulator[T], e.Limits[e.members[k].own]+1)
		}
	}
	serves, rests := make([]accumulator[T], len(e.nodes)), make([]accumulator[T], len(e.nodes))
	var total accumulator[T]
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
			if tokens {
				free[k][w.digit[e.members[k].own]].add(x)
				continue
			}
			seen := x
			if e.members[k].sources > 0 {
				idle := w.idle(k)
				if idle == 0 {
					continue
				}
				seen = x.Mul(e.integer(idle))
			}
			if !w.fits(k) {
				lost[k].add(seen)
				continue
			}
			pass[k].add(seen)
			if e.servers > 0 && w.digit[e.jobs] >= e.servers {
				wait[k].add(seen)
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
	s := &sums[T]{
		total:  total.value(e.zero),
		pass:   values(pass, e.zero),
		lost:   values(lost, e.zero),
		wait:   values(wait, e.zero),
		serves: values(serves, e.zero),
		rests:  values(rests, e.zero),
	}
	for k := range free {
		s.marginal = append(s.marginal, values(free[k], e.zero))
	}
	return s, nil
}

// An accumulator adds numbers by halves, so each takes part in few additions.
type accumulator[T number[T]] struct {
	parts []T // parts[i] is the sum of 2^i numbers if bit i of n is set
	n     uint
}

func (a *accumulator[T]) add(x T) {
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
func (a *accumulator[T]) value(zero T) T {
	sum := zero
	for i, x := range a.parts {
		if a.n>>i&1 == 1 {
			sum = x.Add(sum)
		}
	}
	return sum
}

func values[T number[T]](a []accumulator[T], zero T) (list []T) {
	for i := range a {
		list = append(list, a[i].value(zero))
	}
	return list
}
