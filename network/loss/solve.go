package loss

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/recursion"
	"productform/num"
)

// Solve returns the stationary measures of a system. If each job is served as soon as it arrives
// and any two limits are nested or disjoint, it works along the tree of limits ([Tree]). With n
// units at a limit and K Poisson classes this takes O(K n) operations, and O(n²) for each class
// with sources and each limit directly below it. Otherwise it works on a table ([Table]), whose
// number of entries is the product of
//
//   - n_L + 1 for each limit, in units of the greatest common divisor of its jobs,
//   - N_k + 1 for each class with N_k sources,
//   - the total number of tokens + 1 for each set of servers that the same classes use,
//   - 2 for each class without its own limit, in a compatibility graph or with a rank function,
//   - the number of equal servers + 1, unless the room gives the number of jobs,
//
// in O(K) operations per entry. Poisson classes with the same servers, limits and units count as
// one.
//
// It returns the errors of [Model.Check] and the context, and a *[num.InputError] for settings out
// of range. An [*UnstableError] wraps [num.ErrUnstable]. [num.ErrDigits] occurs only with the
// engine Float. A *[num.TooLargeError] is returned immediately for a model that needs more than
// Settings.MaxBytes or too long fractions, or that has more than 20 classes (sets of servers, with
// tokens) in a compatibility graph or with a rank function. m is not modified.
func Solve(ctx context.Context, m *Model, s Settings) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	expanded, first := m.Expanded()
	return arithmetic.Climb(ladder(s.Engine, s.RelTol), func(engine num.Engine, prec uint) (*Result, float64, error) {
		r, err := expanded.solve(ctx, engine, arithmetic.One(engine, prec), s)
		if err != nil {
			return nil, 0, err
		}
		servers := r.Servers
		r.Servers = nil
		for i, row := range first {
			servers[row].Count = m.Servers[i].Count
			r.Servers = append(r.Servers, servers[row])
		}
		return r, r.width, nil
	})
}

// maxPrecision is the maximum number of bits of an enclosure.
const maxPrecision = 1 << 14

// ladder returns the engines and precisions to try, in order.
func ladder(engine num.Engine, relTol float64) arithmetic.Ladder {
	return arithmetic.Ladder{Engine: engine, RelTol: relTol, MaxPrec: maxPrecision}
}

// checked returns s with defaults in place of zeros, or the error for a setting out of range.
func (s Settings) checked() (Settings, error) {
	var err error
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return s, err
	}
	s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes)
	return s, err
}

// solve solves with one engine.
func (m *Model) solve(ctx context.Context, engine num.Engine, one arithmetic.Number, s Settings) (*Result, error) {
	x := &measures{m: m, engine: engine, one: one}
	n := len(m.Classes)
	for _, list := range []*[]arithmetic.Number{&x.pass, &x.lost, &x.jobs, &x.wait, &x.queue} {
		*list = make([]arithmetic.Number, n)
	}
	var err error
	roots, nested := m.forest()
	switch {
	case m.hasTokens():
		err = x.byTokens(ctx, float64(s.MaxBytes))
	case m.Count == 0 && !m.hasSets() && nested:
		err = x.byTree(ctx, roots, one.Bytes(), s.MaxBytes)
	default:
		err = x.byTable(ctx, float64(s.MaxBytes))
	}
	if err != nil {
		return nil, err
	}
	return x.result()
}

// maxExactSeconds is the maximum estimated time for fractions.
const maxExactSeconds = 1000

// checkExact rejects fractions that would take too long, given the number of operations and the
// maximum number of jobs in a state, whose works and counts form the fractions. The constants were
// measured and are accurate to a small factor.
func (m *Model) checkExact(engine num.Engine, states, operations, jobs float64) error {
	if engine != num.Exact {
		return nil
	}
	each := 1.0
	for k := range m.Classes {
		w := m.Classes[k].work()
		each = max(each, float64(w.Num().BitLen()), float64(w.Denom().BitLen()))
	}
	longest := jobs * (each + math.Log2(2+jobs))
	words := longest / 64
	seconds := operations * (1e-6 + 2e-9*words*words)
	if seconds <= maxExactSeconds {
		return nil
	}
	return &num.TooLargeError{States: states, Input: input.Errorf("Engine", num.Exact,
		"float or enclose: %.3g operations on fractions of up to %.3g bits would take about %.3g s",
		operations, longest, seconds)}
}

// measures holds the results of a method in the arithmetic of the engine.
type measures struct {
	m      *Model
	engine num.Engine
	one    arithmetic.Number
	method Method
	states float64

	empty *arithmetic.Number
	// weights, divided by G, of the states seen by arrivals of each class in which one more job
	// fits, and in which it does not; with sources Σ (N_k - x_k) π(x)
	pass, lost []arithmetic.Number
	jobs       []arithmetic.Number // E[X_k]
	// with Model.Count: the part of pass in which all servers are busy, and E[number of waiting
	// jobs]
	wait, queue      []arithmetic.Number
	busy             []arithmetic.Number // busy probability of each server
	given, jobsGiven []arithmetic.Number // with tokens: jobs per unit of time, and mean number of jobs, of each server
}

// unlimited sets the measures of classes that have no limits and share nothing: X_k is Poisson of
// mean w_k, or binomial.
func (x *measures) unlimited(classes []int) {
	for _, k := range classes {
		c := &x.m.Classes[k]
		x.lost[k] = x.one.Zero()
		x.pass[k] = x.one
		x.jobs[k] = x.one.Rational(c.work())
		if c.Sources == 0 {
			if c.ArrivalRate.Sign() > 0 {
				x.empty = nil
			}
			continue
		}
		idle := new(big.Rat).Add(ratOf(1), c.work())
		idle.Inv(idle) // probability that a source is idle
		x.pass[k] = x.one.Rational(idle).Mul(x.one.Integer(c.Sources))
		x.jobs[k] = x.jobs[k].Mul(x.pass[k])
		if x.empty != nil {
			*x.empty = x.empty.Mul(power(x.one.Rational(idle), c.Sources))
		}
	}
}

// power returns a^n.
func power(a arithmetic.Number, n int) arithmetic.Number {
	p := a.One()
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p = p.Mul(a)
		}
		a = a.Mul(a)
	}
	return p
}

// byTree solves a system in which each job is served as soon as it arrives and limits are nested.
func (x *measures) byTree(ctx context.Context, roots []*node, each float64, maxBytes int64) error {
	x.method = Tree
	longest, operations := 0, 0.0
	for _, v := range roots {
		states, ops := v.cost()
		x.states, operations = x.states+states, operations+ops
		longest = max(longest, v.most)
	}
	if need := x.states * each; need > float64(maxBytes) {
		return treeSizeError(x.states, need, maxBytes)
	}
	if err := x.m.checkExact(x.engine, x.states, operations, float64(longest)); err != nil {
		return err
	}
	empty := x.one
	x.empty = &empty
	for _, v := range roots {
		f := &forestRun{
			ctx:  ctx,
			stop: recursion.Cancellation{Ctx: ctx},
			m:    x.m,
			one:  x.one,
			law:  map[*node][]arithmetic.Number{},
			part: map[*node][][]arithmetic.Number{},
			pass: x.pass,
			lost: x.lost,
		}
		total, err := f.solveTree(v)
		if err != nil {
			return err
		}
		empty = empty.Quo(total)
		for _, k := range v.rows {
			x.jobs[k] = x.one.Rational(x.m.Classes[k].work()).Mul(x.pass[k])
		}
	}
	x.unlimited(unbound(len(x.m.Classes), x.m.bounds()))
	return nil
}

// byTable solves a system with a table of its classes.
func (x *measures) byTable(ctx context.Context, maxBytes float64) error {
	x.method = Table
	t, rows, err := x.m.newTable(ctx)
	if err != nil {
		return err
	}
	s, err := x.sweep(ctx, t, false, maxBytes)
	if err != nil {
		return err
	}
	for j, list := range rows {
		for _, k := range list {
			x.pass[k], x.lost[k], x.wait[k] = s.pass[j].Quo(s.total), s.lost[j].Quo(s.total), s.wait[j].Quo(s.total)
			x.jobs[k], x.queue[k] = s.jobs[j].Quo(s.total), s.queue[j].Quo(s.total)
			// a job of a member belongs to each of its classes with probability proportional to
			// work
			if work := t.members[j].work; len(list) > 1 && work.Sign() > 0 {
				part := x.one.Rational(new(big.Rat).Quo(x.m.Classes[k].work(), work))
				x.jobs[k], x.queue[k] = x.jobs[k].Mul(part), x.queue[k].Mul(part)
			}
		}
	}
	for _, b := range s.serves {
		x.busy = append(x.busy, b.Quo(s.total))
	}
	if x.m.Count == 0 && !x.m.hasSets() {
		x.unlimited(unbound(len(x.m.Classes), x.m.bounds()))
	}
	return nil
}

// sweep computes the sums of a table. In float64 it uses plain numbers if these stay in range.
func (x *measures) sweep(ctx context.Context, t *table, tokens bool, maxBytes float64) (s *scan, err error) {
	x.states = lattice.Size(t.Limits)
	longest, empty := 0.0, 0
	for _, top := range t.Limits {
		longest += float64(top)
	}
	tables := 2.0 // W and V
	if tokens {
		tables = 1
	}
	if err := t.checkSize(8*tables, maxBytes); err != nil {
		return nil, err
	}
	if tokens {
		empty = t.States - 1 // all tokens are free
	}
	if err := x.m.checkExact(x.engine, x.states, 3*x.states*float64(len(t.members)), longest); err != nil {
		return nil, err
	}
	ok := false
	if x.engine == num.Float {
		if s, ok, err = t.doubles(ctx, tokens, empty); err != nil {
			return nil, err
		}
	}
	if !ok {
		if err := t.checkSize(tables*x.one.Bytes(), maxBytes); err != nil {
			return nil, err
		}
		if s, err = t.scan(ctx, x.one, tokens, empty); err != nil {
			return nil, err
		}
	}
	p := s.empty.Quo(s.total)
	x.empty = &p
	return s, nil
}

// result converts the measures to a Result.
func (x *measures) result() (*Result, error) {
	r := &Result{Engine: x.engine, Method: x.method, States: int(x.states)}
	o := new(arithmetic.Output)
	if x.empty != nil {
		r.EmptyProbability = o.Pointer(*x.empty)
	}
	zero := x.one.Zero()
	offered, accepted, jobs, lost := zero, zero, zero, zero
	for k := range x.m.Classes {
		c := &x.m.Classes[k]
		rate := x.one.Rational(c.ArrivalRate)
		in, out := x.pass[k].Mul(rate), x.lost[k].Mul(rate)
		all := in.Add(out)
		seen := x.pass[k].Add(x.lost[k])
		row := ClassResult{Name: c.Name, Offered: o.Value(all), Throughput: o.Value(in),
			Blocking: o.Value(x.lost[k].Quo(seen))}
		offered, accepted, lost = offered.Add(all), accepted.Add(in), lost.Add(out)
		if !x.m.hasTokens() {
			jobs = jobs.Add(x.jobs[k])
			row.MeanJobs = o.Pointer(x.jobs[k])
			if !in.IsZero() {
				row.MeanDelay = o.Pointer(x.jobs[k].Quo(in))
			}
		}
		if x.m.Count > 0 {
			row.WaitProbability, row.MeanQueue = o.Pointer(zero), o.Pointer(x.queue[k])
			if !x.pass[k].IsZero() {
				row.WaitProbability = o.Pointer(x.wait[k].Quo(x.pass[k]))
			}
			if !in.IsZero() {
				row.MeanWaiting = o.Pointer(x.queue[k].Quo(in))
			}
		}
		r.Classes = append(r.Classes, row)
	}
	for s := range x.busy {
		row := ServerResult{Name: x.m.Servers[s].Name, Utilization: o.Value(x.busy[s])}
		if x.m.hasTokens() {
			row.MeanJobs, row.Throughput = o.Pointer(x.jobsGiven[s]), o.Pointer(x.given[s])
			jobs = jobs.Add(x.jobsGiven[s])
		}
		r.Servers = append(r.Servers, row)
	}
	r.Throughput, r.MeanJobs = o.Value(accepted), o.Value(jobs)
	if !offered.IsZero() {
		r.Blocking = o.Pointer(lost.Quo(offered))
	}
	if !accepted.IsZero() {
		r.MeanDelay = o.Pointer(jobs.Quo(accepted))
	}
	x.limits(r, o)
	r.RelativeErrorBound, r.width = o.Bound, o.Width
	return r, o.Check()
}

// limits sets the use of each limit.
func (x *measures) limits(r *Result, o *arithmetic.Output) {
	use := func(classes []int, most int) LimitResult {
		units, names := x.one.Zero(), []string{}
		for _, k := range classes {
			names = append(names, x.m.Classes[k].Name)
			units = units.Add(x.jobs[k].Mul(x.one.Integer(x.m.Classes[k].units())))
		}
		return LimitResult{Classes: names, Most: most, MeanUnits: o.Value(units),
			Utilization: o.Value(units.Quo(x.one.Integer(most)))}
	}
	for _, l := range x.m.Limits {
		r.Limits = append(r.Limits, use(l.Classes, l.Most))
	}
	if x.m.Room > 0 {
		all := make([]int, len(x.m.Classes))
		for k := range all {
			all[k] = k
		}
		room := use(all, x.m.Room)
		r.Room = &room
	}
}
