package oneserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
	"productform/stability"
)

// Solve returns the means of a cluster: [Answer] without a further question.
func Solve(ctx context.Context, m *cluster.Model, s Settings) (*Result, error) {
	return Answer(ctx, m, Question{}, s)
}

// Answer returns the stationary measures of a cluster in which each job runs on one server; see the
// package comment for the formulas. Time and memory grow with the states, Π_g (n_g + 1) for groups
// of n_g equal servers: the means take one step for each state and group, and G times as many for
// the servers that serve the jobs. Distributions of times take q t steps for the time t, each over
// all states, where q is the largest rate μ(k) - λ(k). m is not modified.
//
// The error is one of the following:
//   - an [*cluster.UnstableError] that names an overloaded set of classes and wraps
//     [num.ErrUnstable];
//   - a [*num.InputError] if the model fails [cluster.Model.Check], has a service other than
//     [cluster.OneServer], patience (see [SolvePatience]) or classes of different mean sizes, if a
//     setting or question is out of range, for an answer beyond 1e±308, or for distributions of
//     times as fractions;
//   - a [*num.TooLargeError];
//   - [num.ErrFloatRange] if float64 has no bound for the engine Float; if it has none for the
//     distributions, an error that wraps both that and a [*num.InputError] about the question;
//   - the error of the context, promptly after it is cancelled.
func Answer(ctx context.Context, m *cluster.Model, q Question, s Settings) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := cmp.Or(m.RequireService(cluster.OneServer), m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	if err := m.RequireEndlessPatience("in Go, oneserver.SolvePatience accepts patience"); err != nil {
		return nil, err
	}
	size, err := oneMeanSize(m)
	if err != nil {
		return nil, err
	}
	if s, err = q.check(s); err != nil {
		return nil, err
	}
	overload, err := stability.Overload(ctx, m)
	if err != nil {
		return nil, err
	}
	if overload != nil {
		return nil, overload
	}
	parts := split(m, size)
	err = checkSize(parts, s, func(p *part) float64 { return q.bytesPerState(p, s.Engine) })
	if err != nil {
		return nil, err
	}
	spaces := make([]*states, len(parts))
	for k, p := range parts {
		if p.isLargePool() && q.asksMeans() && s.Engine != num.Exact {
			spaces[k] = &states{part: p, Box: lattice.FirstFastest(p.limits())}
		} else if spaces[k], err = newStates(ctx, p); err != nil {
			return nil, err
		}
	}
	ladder := arithmetic.Ladder{Engine: s.Engine, RelTol: s.RelTol, MaxPrec: 1 << 14,
		Next: func(err error) bool { return errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange) }}
	return arithmetic.Climb(ladder, func(engine num.Engine, prec uint) (*Result, float64, error) {
		b := &builder{ctx: ctx, model: m, size: size, question: q, settings: s, one: arithmetic.One(engine, prec),
			result: &Result{Engine: engine}}
		if err := b.build(spaces); err != nil {
			return nil, 0, err
		}
		beyond := math.IsInf(b.out.Bound, 1)
		switch {
		case engine == num.Float && (beyond || b.result.underflows()):
			return nil, 0, num.ErrFloatRange
		case engine == num.Enclose && b.out.Width > s.RelTol: // more bits follow
		case beyond:
			return nil, 0, arithmetic.BeyondFloat()
		}
		b.result.RelativeErrorBound = b.out.Bound
		return b.result, b.out.Width, nil
	})
}

// underflows reports whether a mean delay, which is positive, is too small for float64.
func (r *Result) underflows() bool {
	return slices.ContainsFunc(r.Classes, func(c ClassResult) bool {
		return c.MeanDelay != nil && c.MeanDelay.Float == 0
	})
}

// oneMeanSize returns the mean size of all arriving jobs.
func oneMeanSize(m *cluster.Model) (*big.Rat, error) {
	size, err := m.OneMeanSize()
	var bad *input.Error
	if errors.As(err, &bad) {
		other := *bad
		other.Want = "the mean size of the other classes, as one server per job has formulas only for exponential " +
			"sizes with one mean"
		return nil, &other
	}
	return size, err
}

// mostStates limits the states of a part.
const mostStates = 1 << 24

// checkSize rejects parts that are too large, given the bytes for each state.
func checkSize(parts []*part, s Settings, perState func(*part) float64) error {
	for _, p := range parts {
		states := lattice.Size(p.limits())
		need, limit := states*perState(p), s.MaxBytes
		if states <= mostStates && need <= float64(limit) {
			continue
		}
		if states > mostStates {
			limit = 0 // memory does not help
		}
		value := fmt.Sprintf("%d servers in %d groups of equal ones, %.2g states", p.servers(), len(p.groups), states)
		return &num.TooLargeError{States: states, Bytes: need, Limit: limit, Input: input.Errorf("model", value,
			"at most %d states, in %d MiB: fewer groups, or equal servers as one group", mostStates, s.MaxBytes>>20)}
	}
	return nil
}

// bytesPerState returns the memory that the answer takes for each state of a part.
func (q *Question) bytesPerState(p *part, engine num.Engine) float64 {
	bytes := 8 * float64(5+p.draws())
	if p.draws() > 0 {
		bytes += 8 * 2 // d and λ - λ(k), if they are not integers
	}
	if q.asksTimes() {
		bytes += 8 * float64(len(p.groups)+5+p.choices())
	}
	if engine == num.Enclose || engine == num.Exact || q.MaxJobs > 0 {
		bytes += 12 * 300
	}
	if q.Gradients {
		bytes += 300 * float64(18+2*len(p.classes)+len(p.groups))
	}
	return bytes
}

// A builder makes a result from the measures of the parts.
type builder struct {
	ctx      context.Context
	model    *cluster.Model
	size     *big.Rat // σ
	question Question
	settings Settings
	one      arithmetic.Number
	result   *Result
	out      arithmetic.Output // means and numbers of jobs
	times    arithmetic.Output // quantiles of times
	absolute float64           // bound on the errors of the probabilities of times

	queue, jobs []arithmetic.Number // distributions of the numbers of jobs in the parts so far
}

// build fills the result.
func (b *builder) build(spaces []*states) error {
	r, m, one := b.result, b.model, b.one
	zero := b.out.Value(one.Zero())
	for i := range m.Servers {
		s := &m.Servers[i]
		r.Servers = append(r.Servers, ServerResult{s.Name, s.GroupSize(), zero})
	}
	for _, c := range m.Classes {
		r.Classes = append(r.Classes, ClassResult{Name: c.Name, ArrivalRate: c.ArrivalRate, MeanQueue: zero})
	}
	if b.question.Gradients {
		r.Gradients = b.newGradients()
	}
	if b.question.asksTimes() {
		r.Times = &Precision{Engine: num.Float}
	}
	queue, busy, arrivals := one.Zero(), one.Zero(), new(big.Rat)
	for _, s := range spaces {
		r.States += s.States
		a, err := b.solve(s)
		if err != nil {
			return err
		}
		for g, x := range s.groups {
			for _, row := range x.rows {
				r.Servers[row].Utilization = b.out.Value(a.busy[g])
			}
			busy = busy.Add(a.busy[g].Mul(one.Integer(x.n)))
		}
		for i, x := range s.classes {
			queue = queue.Add(a.queue[i])
			arrivals.Add(arrivals, x.rate)
			b.addClass(s.part, a, i)
		}
	}
	r.MeanQueue, r.MeanJobs = b.out.Value(queue), b.out.Value(queue.Add(busy))
	if arrivals.Sign() > 0 {
		rate := one.Rational(arrivals)
		r.MeanWaiting, r.MeanDelay = b.out.Pointer(queue.Quo(rate)), b.out.Pointer(queue.Add(busy).Quo(rate))
	}
	for n := range b.question.MaxJobs + 1 {
		if b.question.MaxJobs > 0 {
			r.QueueDistribution = append(r.QueueDistribution, b.out.Value(at(b.queue, n, one)))
			r.JobsDistribution = append(r.JobsDistribution, b.out.Value(at(b.jobs, n, one)))
		}
	}
	if r.Times != nil {
		r.Times.RelativeErrorBound, r.Times.AbsoluteErrorBound = b.times.Bound, b.absolute
	}
	return nil
}

// solve returns the means of a part, and adds its distributions to the result.
func (b *builder) solve(s *states) (*measures, error) {
	if s.grid == nil { // a large pool
		return s.measurePool(b.ctx, b.one)
	}
	isFloat, asksTimes := b.result.Engine == num.Float, b.question.asksTimes()
	var t *tables
	var a, float *measures // by the engine, and in float64
	var err error
	if isFloat || asksTimes {
		switch t, err = newTables(b.ctx, s); {
		case err == nil:
			float = t.measure()
		case !errors.Is(err, num.ErrFloatRange):
			return nil, err
		}
	}
	var w *sweep
	if float == nil || !isFloat || b.question.MaxJobs > 0 || b.question.Gradients {
		n, err := newNumbers(b.ctx, s, b.one)
		if err != nil {
			return nil, err
		}
		if w, err = newSweep(b.ctx, n); err != nil {
			return nil, err
		}
	}
	if a = float; a == nil || !isFloat {
		if a, err = w.measure(b.ctx); err != nil {
			return nil, err
		}
	}
	if b.question.MaxJobs > 0 {
		if err := b.addNumbers(w); err != nil {
			return nil, err
		}
	}
	if b.question.Gradients {
		if err := b.addGradients(w, b.size); err != nil {
			return nil, err
		}
	}
	if !asksTimes {
		return a, nil
	}
	var l *times
	if float != nil {
		l, err = timesOf(b.ctx, t, float)
	} else {
		l, err = b.wideTimes(s)
	}
	if err != nil {
		return nil, err
	}
	return a, b.addTimes(l)
}

// wideTimes returns the times of a part whose numbers are beyond the range of float64.
func (b *builder) wideTimes(s *states) (*times, error) {
	n, err := newNumbers(b.ctx, s, arithmetic.One(num.Float, 0))
	if err != nil {
		return nil, err
	}
	w, err := newSweep(b.ctx, n)
	if err != nil {
		return nil, err
	}
	m, err := w.measure(b.ctx)
	if err != nil {
		return nil, err
	}
	return timesOfSweep(b.ctx, w, m)
}

// addClass sets the means of class i of a part.
func (b *builder) addClass(p *part, a *measures, i int) {
	x := p.classes[i]
	c := &b.result.Classes[x.row]
	rate := b.one.Rational(x.rate)
	waiting := a.queue[i].Quo(rate)
	delay := waiting
	for _, choice := range x.choices {
		g := p.groups[choice.group]
		k := i*len(p.groups) + choice.group
		served := a.direct[k].Add(a.waited[k])
		share := served.Quo(rate)
		delay = delay.Add(share.Quo(b.one.Rational(g.capacity)))
		for _, row := range g.rows {
			s := b.model.Servers[row]
			part := b.one.Rational(big.NewRat(int64(s.Size()), int64(g.n)))
			c.ServedBy = append(c.ServedBy, Serving{s.Name, b.out.Value(served.Mul(part)),
				b.out.Value(share.Mul(part))})
		}
	}
	c.WaitProbability, c.MeanQueue = b.out.Pointer(a.wait[i]), b.out.Value(a.queue[i])
	c.MeanWaiting, c.MeanDelay = b.out.Pointer(waiting), b.out.Pointer(delay)
}

// addTimes sets the quantiles and probabilities of the times of the classes of a part.
func (b *builder) addTimes(l *times) error {
	q := delays.Question{Times: [][]*big.Rat{b.question.Times}}
	for _, x := range b.question.Levels {
		q.Tails = append(q.Tails, new(big.Rat).Sub(big.NewRat(1, 1), x))
	}
	list, err := l.distributions(b.ctx, q, b.settings.MaxBytes)
	if err != nil {
		return err
	}
	unit := l.time()
	for i, x := range l.classes {
		c := &b.result.Classes[x.row]
		waiting, err := b.answer(&list[i].waiting, q, unit)
		if err != nil {
			return err
		}
		delay, err := b.answer(&list[i].delay, q, unit)
		if err != nil {
			return err
		}
		c.Waiting, c.Delay = waiting.quantiles, delay.quantiles
		for k, time := range b.question.Times {
			c.Within = append(c.Within, Within{time, waiting.within[k], delay.within[k]})
		}
	}
	return nil
}

// timeAnswers are the answers about one time.
type timeAnswers struct{ quantiles, within []num.Value }

// answer answers a question about one distribution, in a unit of time.
func (b *builder) answer(s *delays.Survival, q delays.Question, unit *big.Rat) (a timeAnswers, err error) {
	for _, tail := range q.Tails {
		if below, _ := arithmetic.Around(tail); s.A[0]*(1+s.Bound) <= below {
			a.quantiles = append(a.quantiles, num.ExactValue(new(big.Rat))) // most jobs do not wait
			continue
		}
		list, err := s.Answer(b.ctx, []*big.Rat{tail}, nil, unit)
		if err != nil {
			return a, err
		}
		x := list.Quantiles[0]
		if x.Low.Sign() == 0 { // the probability of waiting may be the tail
			a.quantiles = append(a.quantiles, num.Value{Low: x.Low, High: x.High})
			continue
		}
		a.quantiles = append(a.quantiles, b.times.Value(arithmetic.Number{Interval: x}))
	}
	list, err := s.Answer(b.ctx, nil, q.Times[0], unit)
	if err != nil {
		return a, err
	}
	for _, x := range list.Tails {
		low, high := x.Value().Bounds()
		if high < leastTail {
			low, high = 0, leastTail
		}
		within := num.BetweenFloats(math.Nextafter(1-high, 0), math.Nextafter(1-low, 2))
		if within.Float > 1 {
			within.Float = 1
		}
		a.within = append(a.within, within)
		b.absolute = max(b.absolute, math.Nextafter(1-low, 2)-math.Nextafter(1-high, 0))
	}
	return a, nil
}
