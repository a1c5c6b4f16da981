package bf

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
	"productform/internal/elimination"
	"productform/internal/input"
	"productform/internal/jobcounts"
	"productform/internal/recursion"
	"productform/num"
)

// Solve returns the stationary measures of a cluster under balanced fairness: with Φ the
// balance function of the rank function μ(A) ([BC17], equation (4)),
//
//	P(X = x) = Φ(x) Π_i λ_i^x_i / Z,  Z = Σ_x Φ(x) Π_i λ_i^x_i.
//
// By Theorem 2 of [BC17] these are also the measures of the multi-server queue with exponential sizes of one mean, first
// come first served. Classes may differ in mean size under balanced fairness, where σ_i counts through the work λ_i σ_i only:
// the arrival rates above are those of [cluster.Model.EqualSizes]. [cluster.Model.OneMeanSize] tells whether they differ.
//
// The model is reduced first (see [cluster.Model.Reduce]); each component is solved on the
// lattice that takes the fewest operations, named with the reason in Result.Parts. Time and
// memory grow with the number of states of that lattice; a model that needs more than
// Settings.MaxBytes, or more work than Settings.MaxWork, is refused.
//
// The error wraps [num.ErrUnstable], as an [*cluster.UnstableError] that names an overloaded set of
// classes; or it is a [*num.InputError], for a model that does not pass [cluster.Model.Check] or
// settings out of range; a [*num.TooLargeError]; [ErrDigits] or [ErrRange], where the engine Float, asked for by name,
// cannot give a bound; or that of the context, soon after it has ended. m is not modified.
func Solve(ctx context.Context, m *cluster.Model, s Settings) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	p, err := prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.solve(ctx, s)
}

// solve returns the measures of a model. The settings are checked.
func (p *prepared) solve(ctx context.Context, s Settings) (*Result, error) {
	return arithmetic.Climb(s.ladder(), func(engine num.Engine, prec uint) (r *Result, bound float64, err error) {
		if engine == num.Float {
			r, err = p.solveFloat(ctx, s)
		} else {
			r, err = p.solveWith(ctx, s, engine, prec)
		}
		if err != nil {
			return nil, 0, err
		}
		if engine == num.Float {
			return r, r.RelativeErrorBound, nil
		}
		return r, r.width, nil
	})
}

// ladder returns the engines and precisions that may answer.
func (s Settings) ladder() arithmetic.Ladder {
	return arithmetic.Ladder{Engine: s.Engine, RelTol: s.RelTol, MaxPrec: maxPrecision, Next: isBeyondFloat}
}

// isBeyondFloat reports whether float64 has no answer and other engines may.
func isBeyondFloat(err error) bool { return errors.Is(err, ErrDigits) || errors.Is(err, ErrRange) }

// solveFloat solves a model in float64. Where elimination, not asked for by name, turns out to take too much or to miss the tolerance, the tables of
// the other lattices are tried, and where these are too large the error is that of elimination.
func (p *prepared) solveFloat(ctx context.Context, s Settings) (*Result, error) {
	r, err := p.solveWith(ctx, s, num.Float, 0)
	var failed *eliminationError
	var missed *elimination.ToleranceError
	switch {
	case errors.As(err, &missed):
		err = errMissed(s, missed.Bound)
	case errors.As(err, &failed):
		if s.Lattice == EliminationLattice && s.Engine != num.Float && errors.Is(err, ErrDigits) {
			err = errBeyondFloat(s, err)
		}
	case err == nil && s.Engine != num.Float && r.eliminated() && r.RelativeErrorBound > s.RelTol:
		err = errMissed(s, r.RelativeErrorBound)
	default:
		return r, err
	}
	if s.Lattice != "" {
		return nil, err
	}
	s.withoutElimination = true
	r, otherwise := p.solveWith(ctx, s, num.Float, 0)
	if isInput(otherwise) {
		return nil, err
	}
	return r, otherwise
}

// errBeyondFloat returns the error of Auto on the elimination lattice for a model that float64 cannot
// solve. The cause is [ErrRange] if the range is too small; otherwise the digits are too few.
func errBeyondFloat(s Settings, cause error) error {
	if errors.Is(cause, ErrRange) {
		return input.Errorf("Lattice", s.Lattice, "another lattice: this model exceeds the range of float64")
	}
	return input.Errorf("Lattice", s.Lattice, "another lattice: this model needs more digits than float64 has")
}

func errMissed(s Settings, bound float64) error {
	return input.Errorf("RelTol", s.RelTol, "%.0e or more, as close as the elimination lattice comes to this model", 1.5*bound)
}

// maxPrecision is how many bits an enclosure has at most.
const maxPrecision = 1 << 16

// defaultMaxBytes is what 0 for [Settings.MaxBytes] stands for.
const defaultMaxBytes = 16 << 30

// checked returns s with the values that zeros stand for, or the error for one out of range.
func (s Settings) checked() (Settings, error) {
	var err error
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return s, err
	}
	switch s.Lattice {
	case AutoLattice:
		s.Lattice = ""
	case "", ClassLattice, ServerLattice, ConnectedLattice, SymmetricLattice:
	case EliminationLattice:
		if s.Engine == num.Enclose || s.Engine == num.Exact {
			return s, input.Errorf("Engine", s.Engine, "auto or float: the elimination lattice has bounds in float64 only")
		}
	default:
		return s, input.Errorf("Lattice", s.Lattice, "auto, class, server, connected, symmetric or elimination")
	}
	if s.MaxJobs < 0 || s.MaxJobs > MostJobs {
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 0..%d", MostJobs)
	}
	if !(s.MaxWork >= 0) {
		return s, input.Errorf("MaxWork", s.MaxWork, "a number of operations, or 0 for no limit")
	}
	if s.MaxBytes < 0 {
		return s, input.Errorf("MaxBytes", s.MaxBytes, "a number of bytes, or 0 for 16 GiB")
	}
	s.MaxBytes = min(cmp.Or(s.MaxBytes, defaultMaxBytes), math.MaxInt) // no slice is longer
	return s, nil
}

func isInput(err error) bool {
	var e *input.Error
	return errors.As(err, &e)
}

// solveWith solves all components with one engine and puts the result together.
func (p *prepared) solveWith(ctx context.Context, s Settings, engine num.Engine, prec uint) (*Result, error) {
	t, err := p.solveRows(ctx, s, engine, prec)
	if err != nil {
		return nil, err
	}
	for row := range p.model.Servers {
		if p.model.Servers[row].Capacity.Sign() == 0 {
			if t.busy[row], err = idleServer(ctx, p.equal, s, row, t, prec); err != nil {
				return nil, err
			}
		}
	}
	r, err := t.result(p, s, engine)
	if s.Engine != num.Float && errors.Is(err, ErrRange) && slices.ContainsFunc(t.parts, func(p Part) bool { return p.Lattice == EliminationLattice }) {
		err = &eliminationError{errBeyond()} // there are no other engines for it
	}
	return r, err
}

// rows holds the measures of a model by row, as one engine knows them.
type rows struct {
	like          arithmetic.Number // 1
	normalization arithmetic.Number
	jobs, busy    []arithmetic.Number
	distribution  []arithmetic.Number   // coefficients of Z(zλ), before the division by Z
	byClass       [][]arithmetic.Number // P(X_i = n) of each row
	parts         []Part
}

// solveRows returns the measures of a model, but for the servers of capacity 0.
func (p *prepared) solveRows(ctx context.Context, s Settings, engine num.Engine, prec uint) (*rows, error) {
	m := p.equal
	one := arithmetic.One(engine, prec)
	zero := one.Rational(new(big.Rat))
	t := &rows{like: one, normalization: one, jobs: make([]arithmetic.Number, len(m.Classes)), busy: make([]arithmetic.Number, len(m.Servers))}
	for i := range t.jobs {
		t.jobs[i] = zero
	}
	for i := range t.busy {
		t.busy[i] = zero
	}
	if s.MaxJobs > 0 {
		t.distribution = make([]arithmetic.Number, s.MaxJobs+1)
		for i := range t.distribution {
			t.distribution[i] = zero
		}
		t.distribution[0] = one
	}
	if s.ByClass && s.MaxJobs > 0 {
		t.byClass = slices.Repeat([][]arithmetic.Number{t.distribution}, len(m.Classes)) // no jobs of a class without arrivals
	}
	for k := range p.components {
		c := &p.components[k]
		l, err := p.plan(ctx, k, engine, prec, s)
		if err == nil {
			l.tol = 0.99 * s.RelTol / float64(len(p.components)) // whose normalizations multiply
			err = t.solve(ctx, m, c, l, engine, prec, s)
		}
		if err != nil {
			return nil, inRows(err, m, c)
		}
		p.keep(l, engine)
	}
	return t, nil
}

// inRows returns the error of a component with the rows of the model in place of its classes.
func inRows(err error, m *cluster.Model, c *cluster.Component) error {
	var u *recursion.Overload
	if errors.As(err, &u) {
		var list []int
		for _, i := range u.Classes {
			list = append(list, c.Classes[i]...)
		}
		return &cluster.UnstableError{Classes: list, Names: m.NamesOf(list), ArrivalRate: u.ArrivalRate, Capacity: u.Capacity}
	}
	var large *num.TooLargeError
	if errors.As(err, &large) && large.Input.Path == "model" && large.Bytes > 0 && len(c.Model.Classes)+len(c.Model.Servers) < len(m.Classes)+len(m.Servers) {
		bad := *large.Input
		bad.Value += fmt.Sprintf(" (of %d on %d: what is alike counts once, what is unused or apart not)", len(m.Classes), len(m.Servers))
		whole := &num.TooLargeError{Input: &bad, States: large.States, Bytes: large.Bytes, Limit: large.Limit}
		var failed *eliminationError
		if errors.As(err, &failed) {
			return &eliminationError{whole}
		}
		return whole
	}
	return err
}

// solve adds the measures of one component.
func (t *rows) solve(ctx context.Context, m *cluster.Model, c *cluster.Component, l *plan, engine num.Engine, prec uint, s Settings) error {
	if need := l.classBytes(engine, prec, s.MaxJobs); t.byClass != nil && !l.byRows && need > float64(s.MaxBytes) {
		return l.tooLarge(need, engine, prec, s)
	}
	var r measures
	var err error
	if l.lattice == EliminationLattice {
		r, err = l.eliminated(ctx, m, s)
	} else {
		r, err = l.measure(ctx, engine, prec, s.MaxBytes)
	}
	if err != nil {
		return err
	}
	t.normalization = t.normalization.Mul(r.normalization)
	for i, list := range c.Classes {
		total := c.Model.Classes[i].ArrivalRate
		for _, row := range list {
			t.jobs[row] = r.jobs[i]
			if len(list) > 1 {
				share := new(big.Rat).Quo(m.Classes[row].ArrivalRate, total)
				t.jobs[row] = t.like.Rational(share).Mul(r.jobs[i])
			}
		}
	}
	for i, list := range c.Servers {
		for _, row := range list {
			t.busy[row] = r.busy[i]
		}
	}
	if l.lattice == EliminationLattice {
		t.distribution = nil
	}
	if t.distribution != nil {
		z, err := l.totalJobs(ctx, t.like, prec, s)
		if err != nil {
			return err
		}
		if t.parts != nil {
			if z, err = jobcounts.Convolve(ctx, t.distribution, z, s.MaxJobs); err != nil {
				return err
			}
		}
		t.distribution = z
	}
	if t.byClass != nil {
		if l.byRows {
			rows, err := l.eliminated(ctx, m, s)
			if err != nil {
				return err
			}
			r.byRows = rows.byRows
		}
		if err := t.solveByClass(ctx, m, c, l, r, prec, s); err != nil {
			return err
		}
	}
	part := Part{Lattice: l.lattice, States: int(l.states), Why: l.why, bytes: l.memory(engine, prec, s.MaxJobs)}
	for _, list := range c.Classes {
		part.Classes = append(part.Classes, list...)
	}
	for _, list := range c.Servers {
		part.Servers = append(part.Servers, list...)
	}
	switch {
	case l.lattice == EliminationLattice:
		part.Width = l.order.Width
	case l.byRows:
		part.Why += "; distributions of single classes by elimination"
		part.byRows = true
	}
	t.parts = append(t.parts, part)
	return nil
}

// totalJobs returns the coefficients of Z(zλ) of a component.
func (l *plan) totalJobs(ctx context.Context, like arithmetic.Number, prec uint, s Settings) ([]arithmetic.Number, error) {
	if l.chain != nil {
		return l.chain.Total(ctx, s.MaxJobs)
	}
	if err := l.build(ctx, prec); err != nil {
		return nil, err
	}
	return jobcounts.Total(ctx, l.graph, l.lattice == ConnectedLattice, s.MaxJobs, like, s.MaxBytes)
}

// solveByClass adds the distributions of the numbers of jobs of the classes of one component, given its measures.
func (t *rows) solveByClass(ctx context.Context, m *cluster.Model, c *cluster.Component, l *plan, r measures, prec uint, s Settings) error {
	if r.byRows != nil {
		for k, row := range slices.Concat(c.Classes...) {
			t.byClass[row] = r.byRows[k]
		}
		return nil
	}
	if err := l.build(ctx, prec); err != nil {
		return err
	}
	for i, list := range c.Classes {
		for _, row := range list {
			share := new(big.Rat).Quo(m.Classes[row].ArrivalRate, c.Model.Classes[i].ArrivalRate)
			law, err := jobcounts.OfClass(ctx, l.problem, l.graph, i, share, s.MaxJobs, t.like, s.MaxBytes)
			if err != nil {
				return err
			}
			for n := range law {
				law[n] = law[n].Quo(r.normalization)
			}
			t.byClass[row] = law
		}
	}
	return nil
}

// idleServer returns the probability that a job is present that a server of the given row, of
// capacity 0, could serve, in a model of one mean size: 1 - Z'/Z, where Z' is without the jobs that chose it.
func idleServer(ctx context.Context, m *cluster.Model, s Settings, row int, t *rows, prec uint) (arithmetic.Number, error) {
	s.MaxJobs = 0
	without := &cluster.Model{Servers: append([]cluster.Server(nil), m.Servers...), MeanSize: m.MeanSize}
	n := int64(m.Servers[row].Size())
	without.Servers[row].Count = int(max(n-1, 1))
	used := false
	for _, k := range m.Classes {
		choices := make([]cluster.Choice, 0, len(k.Servers))
		rate := k.ArrivalRate
		for _, c := range k.Servers {
			if c.Server != row {
				choices = append(choices, c)
				continue
			}
			used = used || rate.Sign() > 0
			rate = new(big.Rat).Mul(rate, big.NewRat(n-int64(c.Choose), n)) // C(n-1, d)/C(n, d)
			if rate.Sign() > 0 {
				choices = append(choices, c)
			}
		}
		if rate.Sign() > 0 {
			without.Classes = append(without.Classes, cluster.Class{Name: k.Name, ArrivalRate: rate, Servers: choices})
		}
	}
	if !used {
		return t.like.Rational(new(big.Rat)), nil
	}
	engine := num.Float
	switch {
	case t.like.Exact != nil:
		engine = num.Exact
	case t.like.Interval.Low != nil:
		engine = num.Enclose
	}
	p, err := prepare(ctx, without)
	if err != nil {
		return arithmetic.Number{}, err
	}
	r, err := p.solveRows(ctx, s, engine, prec)
	if err != nil {
		return arithmetic.Number{}, err
	}
	return r.normalization.Quo(t.normalization).OneMinus(), nil
}

// result turns the measures into a Result.
func (t *rows) result(p *prepared, s Settings, engine num.Engine) (*Result, error) {
	m := p.model
	r := &Result{Engine: engine, Parts: t.parts}
	most := -1
	for _, part := range t.parts {
		r.States += part.States
		if part.States > most {
			r.Lattice, most = part.Lattice, part.States
		}
	}
	fits := true
	export := func(v arithmetic.Number) num.Value {
		x, ok := v.Value()
		fits = fits && ok
		r.RelativeErrorBound = max(r.RelativeErrorBound, v.RelativeError())
		r.width = max(r.width, v.Width())
		return x
	}
	pointer := func(v arithmetic.Number) *num.Value { x := export(v); return &x }
	if z := pointer(t.normalization); fits {
		r.Normalization = z
	}
	if z := pointer(t.like.Quo(t.normalization)); fits {
		r.EmptyProbability = z
	}
	fits = true
	jobs := t.like.Rational(new(big.Rat))
	r.Classes, r.Servers = make([]ClassResult, 0, len(m.Classes)), make([]ServerResult, 0, len(m.Servers))
	ownSizes := m.HasOwnMeanSizes()
	for i, k := range m.Classes {
		jobs = jobs.Add(t.jobs[i])
		c := ClassResult{Name: k.Name, ArrivalRate: k.ArrivalRate, Load: export(t.like.Rational(p.loads[i])),
			MeanJobs: export(t.jobs[i])}
		if ownSizes {
			c.MeanSize = m.MeanSizeOf(i)
		}
		if k.ArrivalRate.Sign() > 0 {
			c.MeanDelay = pointer(t.jobs[i].Quo(t.like.Rational(k.ArrivalRate)))
			c.ServiceRate = pointer(t.like.Rational(m.Work(i)).Quo(t.jobs[i]))
		}
		r.Classes = append(r.Classes, c)
	}
	r.MeanJobs = export(jobs)
	if p.rate.Sign() > 0 {
		r.MeanDelay = pointer(jobs.Quo(t.like.Rational(p.rate)))
	}
	for i := range m.Servers {
		s := &m.Servers[i]
		r.Servers = append(r.Servers, ServerResult{s.Name, s.GroupSize(), export(t.busy[i])})
	}
	probability := func(p arithmetic.Number) num.Value {
		x, _ := p.Value() // the nearest double, even where none is near in relative terms
		r.RelativeErrorBound = max(r.RelativeErrorBound, p.RelativeError())
		r.width = max(r.width, p.Width())
		return x
	}
	for _, z := range t.distribution {
		r.JobsDistribution = append(r.JobsDistribution, probability(z.Quo(t.normalization)))
	}
	for i, law := range t.byClass {
		for _, p := range law {
			r.Classes[i].JobsDistribution = append(r.Classes[i].JobsDistribution, probability(p))
		}
	}
	switch {
	case engine == num.Float && (!fits || math.IsInf(r.RelativeErrorBound, 1)):
		return nil, ErrRange
	case engine == num.Enclose && r.width > s.RelTol: // more bits are due, and say what the answers are
	case !fits:
		return nil, errBeyond()
	}
	return r, nil
}

// errBeyond refuses a model whose answers double numbers cannot hold.
func errBeyond() error {
	return input.Errorf("model", "an answer beyond 1e±308", "answers within the range of float64: count time, or work, in other units")
}
