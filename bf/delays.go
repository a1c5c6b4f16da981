package bf

import (
	"context"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// ClassDelays holds the requested measures of the delay T_i of a class, from arrival to departure,
// in the first-come first-served multi-server queue with exponential sizes ([BC17], Section 3):
// each server works on the first job that it can serve. All fields are nil for a class without
// arrivals. The means are those of balanced fairness, whatever the size distribution; the
// distributions are not. With e_i the i-th unit vector,
//
//	E[exp(-s T_i)] = Z(λ - s e_i)/Z(λ).
//
// This is the distributional form of Little's law, since the jobs of one class leave in order of
// arrival. The distribution is a mixture over the points of a Poisson process, computed from
// positive numbers only ([productform/internal/delays]). A quantile lies between two times at which
// the tail has been bounded from either side. Times and sizes have the units of the model: with
// capacities in units of work per second and a mean size in units of work, delays are in seconds.
//
// Quantiles and tails lie between Low and High, whatever the engine. Every number is within
// Result.Delays.RelativeErrorBound of the exact value. With the engine Float, a tail below 2^-900
// may be off by another 2^-1000, and Float of a tail below 2^-1022 is the nearest double.
//
// A component of the reduced model takes q t steps for the time t, plus a few times √(q t), where q
// is the largest rate μ(A) - λ(A). Each step takes N 2^N products on the class lattice of N
// classes, or as many for each server on the lattices of servers. Elimination takes over if its
// width allows and if it needs fewer operations, by an estimate: T_i is distributed as min_{S_i} T
// (see [EliminationLattice]). It has no moments.
type ClassDelays struct {
	// Quantiles holds the times t with P(T_i > t) = 1 - level, in the model's unit of time, in the
	// order of Question.Levels.
	Quantiles []num.Value

	Tails   []num.Value // P(T_i > t), in the order of Question.Times
	Moments []num.Value // E[T_i^k], k = 1, 2, ..., in units of time to the power of k
}

// A delayResult holds the requested measures of the delays of each class.
type delayResult struct {
	Precision
	classes []ClassDelays

	width       float64 // relative width of the widest enclosure
	outOfRange  bool    // float64 cannot represent a quantile or a moment
	missedBound float64 // bound on the error of an eliminated component, if above the tolerance
	steps       float64 // products of all steps over tables in float64
}

// A TailQuestion requests P(T_i > Time) of one class.
type TailQuestion struct {
	Class int      // row of a class with arrivals
	Time  *big.Rat // >= 0
}

// Tails returns P(T_i > t) for a separate class and time t per question, in the order of the
// questions. [Prepared.Answer] returns it for all classes at all times. Each value lies between Low
// and High.
//
// Tails solves only the components of the reduced model that contain a class of a question; the
// others may be unstable. With the engine Float and a Settings.RelTol of at least 1e-3, the
// relative width of the bounds is about RelTol; this takes fewer steps than bounds in full double
// precision.
//
// Tails returns the errors of [Prepared.Answer].
func Tails(ctx context.Context, m *cluster.Model, questions []TailQuestion, s Settings) ([]num.Value, error) {
	p, err := Prepare(ctx, m)
	if err == nil {
		s, err = s.validate()
	}
	if err == nil {
		err = s.checkDelays(m, len(questions) > 0)
	}
	if err != nil {
		return nil, err
	}
	ask := request{Settings: s, classTimes: make([][]*big.Rat, len(m.Classes)),
		rough: s.Engine == num.Float && s.RelTol >= roughTol}
	for k, q := range questions {
		path := input.Index("questions", k)
		if q.Class < 0 || q.Class >= len(m.Classes) || m.Classes[q.Class].ArrivalRate.Sign() == 0 {
			return nil, input.Errorf(path+".Class", q.Class, "the row of a class with arrivals")
		}
		if err := checkNonnegative(path+".Time", q.Time); err != nil {
			return nil, err
		}
		ask.classTimes[q.Class] = append(ask.classTimes[q.Class], q.Time)
	}
	r, err := p.delaysByEngines(ctx, ask)
	if err != nil {
		return nil, err
	}
	values := make([]num.Value, len(questions))
	for k, q := range questions {
		tails := &r.classes[q.Class].Tails
		values[k], *tails = (*tails)[0], (*tails)[1:]
	}
	return values, nil
}

// roughTol is the smallest Settings.RelTol for which [Tails] takes fewer steps.
const roughTol = 1e-3

// timesOf returns the times at which the tails of the delays of some identical rows of classes are
// requested.
func (s *request) timesOf(rows []int) (all []*big.Rat) {
	if s.classTimes == nil {
		return s.Times
	}
	for _, row := range rows {
		all = append(all, s.classTimes[row]...)
	}
	return all
}

// delaysByEngines answers a request with the first engine that meets the tolerance.
func (p *Prepared) delaysByEngines(ctx context.Context, s request) (*delayResult, error) {
	return climb(s, isBeyondFloat, func(g rung) (*delayResult, float64, error) {
		r, err := p.delaysWith(ctx, g)
		if g.engine == num.Float && s.Engine != num.Float &&
			(err == nil && !(r.RelativeErrorBound <= s.RelTol) || isBeyondFloat(err)) {
			switch {
			case err == nil && r.missedBound > 0:
				err = errMissed(s, r.missedBound)
			case s.Lattice == EliminationLattice:
				err = errBeyondFloat(s, err)
			}
		}
		switch {
		case err != nil:
			return nil, 0, err
		case g.engine == num.Float:
			return r, r.RelativeErrorBound, nil
		}
		return r, r.width, nil
	})
}

var minTail = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 900)) // never modified

// delaysWith answers with one engine.
func (p *Prepared) delaysWith(ctx context.Context, g rung) (*delayResult, error) {
	r := &delayResult{Precision: Precision{Engine: g.engine}, classes: make([]ClassDelays, len(p.model.Classes))}
	for k := range p.components {
		c := &p.components[k]
		if g.s.classTimes != nil && len(g.s.timesOf(slices.Concat(c.Classes...))) == 0 {
			continue
		}
		q, err := newQuery(p.equal, c, g)
		switch {
		case err != nil:
		case g.engine == num.Float && g.s.Lattice == "":
			err = r.addFastest(ctx, q)
		default:
			err = r.addSelected(ctx, q)
		}
		if err != nil {
			return nil, errorInRows(err, p.model, c)
		}
	}
	switch {
	case g.engine == num.Float && !(r.RelativeErrorBound < 1):
		return nil, num.ErrDigits
	case g.engine == num.Float && r.outOfRange:
		return nil, num.ErrFloatRange
	case g.engine == num.Enclose && r.width > g.s.RelTol: // more bits follow, and they decide
	case r.outOfRange:
		return nil, arithmetic.BeyondFloat()
	}
	return r, nil
}

// addSelected adds the delays of the classes of one component on the requested lattice, or on the
// smaller table of sets.
func (r *delayResult) addSelected(ctx context.Context, q *query) (err error) {
	var l *plan
	if q.s.Lattice == EliminationLattice {
		l, err = q.planElimination(ctx)
	} else {
		l, err = q.planTable(ctx)
	}
	if err == nil {
		_, err = r.add(ctx, l, 0)
	}
	return stepsError(l, err)
}

// planTable selects the lattice of sets for the delays of a component.
func (q *query) planTable(ctx context.Context) (*plan, error) {
	l, err := choose(ctx, setLattices, q)
	if err != nil {
		return nil, err
	}
	perNumber := 8.
	if q.engine != num.Float {
		perNumber = 2 * bigFloatBytes(q.prec)
	}
	// A graph, the initial values of every class, and a few numbers per state.
	entries := l.states * float64(len(l.problem.Classes))
	enclosed := l.withEngine(num.Enclose)
	need := enclosed.method.bytes(enclosed, 0) + entries*(4+perNumber) + 8*l.states*perNumber
	if need > float64(q.s.MaxBytes) || entries >= maxEntries {
		tables := ""
		if q.s.Moments > 0 {
			tables = "moments of delays"
		}
		return nil, l.memoryError(need, tables)
	}
	return l, nil
}

// add adds the delays of the classes of one component. It takes at most maxWork products of steps
// in time; 0 means the limit of [delays.New]. It returns the products that it took in float64.
func (r *delayResult) add(ctx context.Context, l *plan, maxWork float64) (work float64, err error) {
	s := &l.s
	question := delays.Question{Rough: s.rough, Tails: tailsOf(s.Levels)}
	for _, rows := range l.component.Classes {
		question.Times = append(question.Times, s.timesOf(rows))
	}
	var answers []delays.Answer
	var moments [][]arithmetic.Number
	if l.lattice == EliminationLattice {
		answers, err = l.eliminateDelays(ctx, question)
	} else if err = l.build(ctx); err == nil {
		chain := delays.New(l.problem, l.graph, s.MaxBytes, maxWork)
		defer func() { work = chain.Work }()
		if len(s.Levels)+len(s.Times) > 0 || s.classTimes != nil {
			answers, err = l.distribution(ctx, chain, question)
		}
		if err == nil && s.Moments > 0 {
			moments, err = delays.Moments(ctx, chain, arithmetic.One(l.engine, l.prec), s.Moments)
		}
	}
	if err != nil {
		return 0, err
	}
	for i, rows := range l.component.Classes {
		var d ClassDelays
		if answers != nil {
			for _, e := range answers[i].Quantiles {
				d.Quantiles = append(d.Quantiles, r.exportTime(arithmetic.Number{Interval: e}))
			}
			for _, e := range answers[i].Tails {
				d.Tails = append(d.Tails, r.exportTail(e))
			}
		}
		if moments != nil {
			for _, x := range moments[i] {
				d.Moments = append(d.Moments, r.exportTime(x))
			}
		}
		tails := d.Tails
		for _, row := range rows {
			if s.classTimes != nil {
				n := len(s.classTimes[row])
				d.Tails, tails = tails[:n:n], tails[n:]
			}
			r.classes[row] = d
		}
	}
	return 0, nil
}

// tailsOf returns 1 - level for each level.
func tailsOf(levels []*big.Rat) (tails []*big.Rat) {
	for _, x := range levels {
		tails = append(tails, new(big.Rat).Sub(big.NewRat(1, 1), x))
	}
	return tails
}

// distribution answers a question about the distribution of the delays, with the engine Float or
// Enclose.
func (l *plan) distribution(ctx context.Context, chain *delays.Chain, q delays.Question) ([]delays.Answer, error) {
	if l.engine == num.Enclose {
		low, high, err := recursion.EncloseValues(ctx, l.problem, l.graph, l.prec)
		if err != nil {
			return nil, err
		}
		return delays.Enclose(ctx, chain, low, high, l.prec, q)
	}
	v, e, err := recursion.Values(ctx, l.graph)
	if err != nil {
		return nil, err
	}
	return delays.Float(ctx, chain, v, slices.Max(e), q)
}

// export returns the public form of a number and updates the bound on the errors. ok is false if
// float64 cannot represent the number.
func (r *delayResult) export(x arithmetic.Number) (v num.Value, ok bool) {
	r.RelativeErrorBound = max(r.RelativeErrorBound, x.RelativeError())
	r.width = max(r.width, x.Width())
	return x.Value()
}

// exportTime returns a quantile or a moment, which float64 must represent.
func (r *delayResult) exportTime(x arithmetic.Number) num.Value {
	v, ok := r.export(x)
	r.outOfRange = r.outOfRange || !ok
	return v
}

// exportTail returns a probability. It counts towards the error bound unless it is near the
// subnormal range.
func (r *delayResult) exportTail(e num.Interval) num.Value {
	x := arithmetic.Number{Interval: e}
	if r.Engine == num.Float && e.High.Cmp(smallTail) < 0 {
		v, _ := x.Value()
		return v
	}
	v, _ := r.export(x) // the nearest double, even with a large relative error
	return v
}

var smallTail = big.NewFloat(0x1p-900) // never modified
