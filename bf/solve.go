package bf

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Solve returns the stationary measures of a cluster under balanced fairness. With Φ the balance
// function of the rank function μ(A) ([BC17], equation (4)),
//
//	P(X = x) = Φ(x) Π_i λ_i^x_i / Z,  Z = Σ_x Φ(x) Π_i λ_i^x_i.
//
// By Theorem 2 of [BC17] these are also the measures of the first-come first-served multi-server
// queue if sizes are exponential with a common mean. Under balanced fairness mean sizes may differ
// by class, and σ_i counts only through the work λ_i σ_i: the arrival rates above are those of
// [cluster.Model.EqualSizes]. [cluster.Model.OneMeanSize] reports whether the mean sizes are equal.
//
// The model is reduced first (see [cluster.Model.Reduce]). Each component is solved on the lattice
// that takes the fewest operations; Result.Parts names it and the reason. Time and memory grow with
// the number of states of that lattice. Solve rejects a model that needs more memory than
// Settings.MaxBytes or more work than Settings.MaxWork. It does not modify m.
//
// The error is one of the following:
//   - an [*cluster.UnstableError] that names an overloaded set of classes and wraps
//     [num.ErrUnstable];
//   - a [*num.InputError] if the model fails [cluster.Model.Check] or a setting is out of range;
//   - a [*num.TooLargeError];
//   - [num.ErrDigits] or [num.ErrFloatRange] if the engine Float was requested and cannot give a
//     bound;
//   - the error of the context, promptly after it is cancelled.
func Solve(ctx context.Context, m *cluster.Model, s Settings) (*Result, error) {
	return Answer(ctx, m, Question{}, s)
}

// Answer answers a question. [Solve] defines the means and [ClassDelays] the delays. The means, the
// delays and the derivatives each use the engine that Settings.RelTol requires.
//
// Answer returns the errors of [Solve]. It also returns a *[num.InputError] for a question out of
// range, for delays of a model whose classes differ in mean size, or if quantiles or tails are
// requested as fractions, since they are transcendental numbers. Delays that take too many steps
// give a *[num.TooLargeError].
func (p *Prepared) Answer(ctx context.Context, q Question, s Settings) (*Result, error) {
	ask, err := p.request(q, s)
	if err != nil {
		return nil, err
	}
	return p.answer(ctx, ask)
}

// Answer prepares a model and answers one question about it.
func Answer(ctx context.Context, m *cluster.Model, q Question, s Settings) (*Result, error) {
	p, err := Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.Answer(ctx, q, s)
}

// answer answers a request. It computes the means last. The other measures need more memory and
// work, so a model that is too large for them is rejected early.
func (p *Prepared) answer(ctx context.Context, s request) (*Result, error) {
	var d *delayResult
	var quantiles []num.Value
	var gradient *Gradient
	var gradients *Gradients
	var err error
	if s.asksDelays() {
		if d, err = p.delaysByEngines(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.OfAll && d != nil {
		if quantiles, err = p.quantilesOfAll(ctx, s, d.classes); err != nil {
			return nil, err
		}
	}
	if s.Gradient {
		if gradient, err = p.gradient(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.Gradients {
		if gradients, err = p.gradients(ctx, s); err != nil {
			return nil, err
		}
	}
	r, err := p.solve(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Quantiles, r.Gradient, r.Gradients = quantiles, gradient, gradients
	if d != nil {
		r.Delays = &d.Precision
		for i := range r.Classes {
			r.Classes[i].ClassDelays = d.classes[i]
		}
	}
	return r, nil
}

// A rung is a request to one engine.
type rung struct {
	s        request
	engine   num.Engine
	prec     uint      // bits of an enclosure
	excluded []Lattice // lattices that have failed
}

// maxPrecision is the maximum number of bits of an enclosure.
const maxPrecision = 1 << 16

// climb answers a request by the engines and precisions of its settings; next is that of
// [arithmetic.Ladder].
func climb[T any](s request, next func(error) bool, solve func(rung) (T, float64, error)) (T, error) {
	l := arithmetic.Ladder{Engine: s.Engine, RelTol: s.RelTol, MaxPrec: maxPrecision, Next: next}
	return arithmetic.Climb(l, func(engine num.Engine, prec uint) (T, float64, error) {
		return solve(rung{s: s, engine: engine, prec: prec})
	})
}

// solve returns the measures of a model.
func (p *Prepared) solve(ctx context.Context, s request) (*Result, error) {
	return climb(s, isBeyondFloat, func(g rung) (*Result, float64, error) {
		r, err := p.solveWith(ctx, g)
		if g.engine == num.Float {
			r, err = p.retryFloat(ctx, g, r, err)
		}
		if err != nil {
			return nil, 0, err
		}
		return r, r.width, nil
	})
}

// retryFloat returns a result in float64, or the result without elimination, unless elimination was
// requested. A product over components may leave the range of float64 or be less accurate than each
// factor, which shows only in the result. If there is no answer without elimination, the first
// error remains.
func (p *Prepared) retryFloat(ctx context.Context, g rung, r *Result, err error) (*Result, error) {
	failed := g.s.eliminationError(r, err)
	if failed == nil || g.s.Lattice != "" {
		return r, cmp.Or(failed, err)
	}
	g.excluded = []Lattice{EliminationLattice}
	r, err = p.solveWith(ctx, g)
	if isInput(err) {
		return nil, failed
	}
	return r, err
}

// eliminationError returns the error of a float64 result to which elimination contributed and that
// Auto cannot accept; nil if Auto can accept it.
func (s request) eliminationError(r *Result, err error) error {
	switch {
	case s.Engine == num.Float || r == nil || !r.usesElimination():
		return nil
	case errors.Is(err, num.ErrFloatRange):
		return arithmetic.BeyondFloat() // elimination has no other engines
	case err == nil && !(r.RelativeErrorBound <= s.RelTol):
		return errMissed(s, r.RelativeErrorBound)
	}
	return nil
}

// solveWith solves all components with one engine and combines the results. If float64 cannot
// represent a number, it still returns the parts of the result.
func (p *Prepared) solveWith(ctx context.Context, g rung) (*Result, error) {
	t, err := p.solveRows(ctx, g)
	if err != nil {
		return nil, err
	}
	for row := range p.model.Servers {
		if p.model.Servers[row].Capacity.Sign() == 0 {
			if t.busy[row], err = idleServer(ctx, p.equal, g, row, t); err != nil {
				return nil, err
			}
		}
	}
	return t.result(p, g)
}

// rowMeasures holds the measures of a model by row, computed by one engine.
type rowMeasures struct {
	one           arithmetic.Number // 1
	normalization arithmetic.Number
	jobs, busy    []arithmetic.Number
	distribution  []arithmetic.Number   // coefficients of Z(zλ), before the division by Z
	byClass       [][]arithmetic.Number // P(X_i = n) of each row
	parts         []Part
}

// solveRows returns the measures of a model, except for servers of capacity 0.
func (p *Prepared) solveRows(ctx context.Context, g rung) (*rowMeasures, error) {
	m := p.equal
	one := arithmetic.One(g.engine, g.prec)
	zero := one.Zero()
	t := &rowMeasures{one: one, normalization: one, jobs: slices.Repeat([]arithmetic.Number{zero}, len(m.Classes)),
		busy: slices.Repeat([]arithmetic.Number{zero}, len(m.Servers))}
	if g.s.MaxJobs > 0 {
		t.distribution = slices.Repeat([]arithmetic.Number{zero}, g.s.MaxJobs+1)
		t.distribution[0] = one
	}
	if g.s.ByClass {
		// A class without arrivals has no jobs.
		t.byClass = slices.Repeat([][]arithmetic.Number{t.distribution}, len(m.Classes))
	}
	for k := range p.components {
		if err := t.solveComponent(ctx, p, k, g); err != nil {
			return nil, errorInRows(err, m, &p.components[k])
		}
	}
	return t, nil
}

// solveComponent adds the measures of component k. If elimination fails and was not requested, it
// tries the other lattices. If they have no answer either, it returns the error of elimination.
func (t *rowMeasures) solveComponent(ctx context.Context, p *Prepared, k int, g rung) error {
	l, err := p.plan(ctx, k, g)
	if err != nil {
		return err
	}
	defer p.storePlan(l)
	a, err := l.attempt(ctx, t.distribution != nil)
	if err == nil && a.failed != nil && g.s.Lattice == "" {
		failed := a.failed
		g.excluded = []Lattice{EliminationLattice}
		if l, err = p.plan(ctx, k, g); err == nil {
			a, err = l.attempt(ctx, t.distribution != nil)
		}
		if isInput(err) {
			return failed
		}
	}
	if err = cmp.Or(err, a.failed); err != nil {
		return err
	}
	return t.add(ctx, p.equal, l, a)
}

// An attempt holds the results of a plan for its component.
type attempt struct {
	measures
	total []arithmetic.Number // coefficients of Z(zλ), if requested; nil by elimination
}

// attempt solves the component of a plan. An error ends the search.
func (l *plan) attempt(ctx context.Context, total bool) (a attempt, err error) {
	if l.s.ByClass && l.elimination() == nil {
		if need := l.classBytes(); need > float64(l.s.MaxBytes) {
			return a, l.memoryError(need, "")
		}
	}
	a.measures, err = l.method.measure(ctx, l)
	if err == nil && total {
		a.total, err = l.method.total(ctx, l)
	}
	if err != nil || l.rows == nil {
		return a, err
	}
	rows, err := l.rows.measure(ctx, l)
	a.classesByElimination, a.failed = rows.classesByElimination, rows.failed
	return a, err
}

// add adds the results for one component.
func (t *rowMeasures) add(ctx context.Context, m *cluster.Model, l *plan, a attempt) (err error) {
	c := l.component
	t.normalization = t.normalization.Mul(a.normalization)
	for i, list := range c.Classes {
		total := c.Model.Classes[i].ArrivalRate
		for _, row := range list {
			t.jobs[row] = a.jobs[i]
			if len(list) > 1 {
				share := new(big.Rat).Quo(m.Classes[row].ArrivalRate, total)
				t.jobs[row] = t.one.Rational(share).Mul(a.jobs[i])
			}
		}
	}
	for i, list := range c.Servers {
		for _, row := range list {
			t.busy[row] = a.busy[i]
		}
	}
	switch {
	case a.total == nil: // not requested, or the part was eliminated
		t.distribution = nil
	case t.parts != nil:
		if t.distribution, err = recursion.Convolve(ctx, t.distribution, a.total, l.s.MaxJobs); err != nil {
			return err
		}
	default:
		t.distribution = a.total
	}
	if t.byClass != nil {
		if err := t.addByClass(ctx, m, l, a.measures); err != nil {
			return err
		}
	}
	part := Part{Lattice: l.lattice, States: int(l.states), Why: l.why, bytes: l.memory(),
		Classes: slices.Concat(c.Classes...), Servers: slices.Concat(c.Servers...)}
	for _, row := range part.Classes {
		part.ClassNames = append(part.ClassNames, m.Classes[row].Name)
	}
	for _, row := range part.Servers {
		part.ServerNames = append(part.ServerNames, m.Servers[row].Name)
	}
	if e := l.elimination(); e != nil {
		part.eliminated = true
		if l.rows == nil {
			part.Width = e.Width
		} else {
			part.Why += "; distributions of single classes by elimination"
		}
	}
	t.parts = append(t.parts, part)
	return nil
}

// memory estimates the memory of the plan, including its selection.
func (l *plan) memory() float64 {
	return max(l.method.bytes(l, l.s.MaxJobs), bytesPerTerm*l.connectedTerms)
}

// addByClass adds the distributions by class of one component, given its measures.
func (t *rowMeasures) addByClass(ctx context.Context, m *cluster.Model, l *plan, r measures) error {
	c := l.component
	if r.classesByElimination != nil {
		for k, row := range slices.Concat(c.Classes...) {
			t.byClass[row] = r.classesByElimination[k]
		}
		return nil
	}
	if err := l.build(ctx); err != nil {
		return err
	}
	for i, list := range c.Classes {
		for _, row := range list {
			share := new(big.Rat).Quo(m.Classes[row].ArrivalRate, c.Model.Classes[i].ArrivalRate)
			law, err := recursion.OfClass(ctx, l.problem, l.graph, i, share, l.s.MaxJobs, t.one, l.s.MaxBytes)
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

// idleServer returns the probability that at least one job present could use a server of the given
// row, of capacity 0, in a model of one mean size. It is 1 - Z'/Z, where Z' excludes the jobs that
// chose the server.
func idleServer(ctx context.Context, m *cluster.Model, g rung, row int, t *rowMeasures) (arithmetic.Number, error) {
	g.s.MaxJobs = 0
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
		return t.one.Rational(new(big.Rat)), nil
	}
	p, err := prepare(ctx, without)
	if err != nil {
		return arithmetic.Number{}, err
	}
	r, err := p.solveRows(ctx, g)
	if err != nil {
		return arithmetic.Number{}, err
	}
	return r.normalization.Quo(t.normalization).OneMinus(), nil
}
