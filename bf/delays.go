package bf

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/doubles"
	"productform/internal/enclosures"
	"productform/internal/input"
	"productform/num"
)

// ClassDelays holds what was asked of the delay T_i of a class, arrival to end, in the multi-server queue of the model
// in order of arrival with exponential sizes ([BC17], Section 3): each server works on the first job that it can serve.
// All are nil for a class without arrivals. Means are those of balanced fairness, whatever the sizes; distributions are
// not. With e_i the i-th unit vector,
//
//	E[exp(-s T_i)] = Z(λ - s e_i)/Z(λ),
//
// the distributional form of Little's law, as the jobs of one class leave in order of arrival. The distribution is a mixture
// over the points of a Poisson process, of positive numbers only ([productform/internal/delays]); a quantile lies between two
// times at which the tail has been bounded from either side. Times and sizes are those of the model: with capacities in units
// of work a second and a mean size in units of work, delays are in seconds.
//
// Quantiles and tails lie between Low and High, whatever the engine. Every number is within Result.Delays.RelativeErrorBound
// of the exact value; a tail below 2^-900 of the engine Float is only known to be within 2^-1000 more, and Float of one below
// 2^-1022 is the nearest double.
//
// A component of the reduced model takes q t steps for the time t, plus a few times √(q t), where q
// is the largest rate μ(A) - λ(A). Each step takes N 2^N products on the class lattice of N classes,
// or as many for each server on the lattices of servers. Elimination takes over if its width allows
// and if it needs fewer operations, by an estimate: T_i is distributed as min_{S_i} T (see
// [EliminationLattice]). It has no moments.
type ClassDelays struct {
	Quantiles []num.Value // the time t with P(T_i > t) = 1 - level, in units of time of the model, in the order of Question.Levels
	Tails     []num.Value // P(T_i > t), in the order of Question.Times
	Moments   []num.Value // E[T_i^k], k = 1, 2, ..., in units of time to the power of k
}

// A delayResult holds what was asked of the delay of each class.
type delayResult struct {
	Precision
	classes []ClassDelays

	width  float64 // relative width of the widest enclosure
	beyond bool    // float64 cannot hold a quantile or a moment
	missed float64 // bound on the error of an eliminated component, if above the tolerance
	steps  float64 // products of all steps over tables in float64
}

// A TailQuestion asks for P(T_i > Time) of one class.
type TailQuestion struct {
	Class int      // row of a class with arrivals
	Time  *big.Rat // >= 0
}

// Tails returns P(T_i > t) of classes at times of their own, in the order of the questions, between Low and High, as [Prepared.Answer] does
// for all classes at all times. Only what is asked is computed: nothing is said of components of the reduced model without a class
// that is asked about, which may be unstable. With the engine Float and a Settings.RelTol of at least 1e-3 bounds are that close
// relatively, which takes fewer steps than those that are as close as double precision tells.
//
// The errors are those of [Prepared.Answer].
func Tails(ctx context.Context, m *cluster.Model, questions []TailQuestion, s Settings) ([]num.Value, error) {
	p, err := Prepare(ctx, m)
	if err == nil {
		s, err = s.checked()
	}
	if err == nil {
		err = s.checkDelays(m, len(questions) > 0)
	}
	if err != nil {
		return nil, err
	}
	ask := delayQuestion{times: make([][]*big.Rat, len(m.Classes)), rough: s.Engine == num.Float && s.RelTol >= roughTol}
	for k, q := range questions {
		path := input.Index("questions", k)
		if q.Class < 0 || q.Class >= len(m.Classes) || m.Classes[q.Class].ArrivalRate.Sign() == 0 {
			return nil, input.Errorf(path+".Class", q.Class, "the row of a class with arrivals")
		}
		if err := nonnegative(path+".Time", q.Time); err != nil {
			return nil, err
		}
		ask.times[q.Class] = append(ask.times[q.Class], q.Time)
	}
	r, err := p.delaysByEngines(ctx, ask, request{Settings: s})
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

// roughTol is the least Settings.RelTol for which [Tails] takes fewer steps.
const roughTol = 1e-3

// A delayQuestion is what [Tails] asks of the delays of a model; the zero value adds nothing to a request.
type delayQuestion struct {
	times [][]*big.Rat // of each class; nil for those of the request
	rough bool         // bounds of tails may be [roughTol] apart
}

// timesOf returns the times at which tails of the delays of some rows of classes, which are alike, are asked for.
func (q *delayQuestion) timesOf(rows []int, s request) (all []*big.Rat) {
	if q.times == nil {
		return s.Times
	}
	for _, row := range rows {
		all = append(all, q.times[row]...)
	}
	return all
}

// delaysByEngines answers a question that has been checked.
func (p *Prepared) delaysByEngines(ctx context.Context, q delayQuestion, s request) (*delayResult, error) {
	return arithmetic.Climb(s.ladder(), func(engine num.Engine, prec uint) (*delayResult, float64, error) {
		r, err := p.delaysWith(ctx, q, s, engine, prec)
		if engine != num.Float {
			if err != nil {
				return nil, 0, err
			}
			return r, r.width, nil
		}
		if s.Engine != num.Float && (err == nil && !(r.RelativeErrorBound <= s.RelTol) || isBeyondFloat(err)) {
			switch {
			case err == nil && r.missed > 0:
				err = errMissed(s, r.missed)
			case s.Lattice == EliminationLattice:
				err = errBeyondFloat(s, err)
			}
		}
		if err != nil {
			return nil, 0, err
		}
		return r, r.RelativeErrorBound, nil
	})
}

var minTail = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 900)) // never changed

func errNoFraction(s Settings) error {
	return input.Errorf("Engine", s.Engine, "auto, float or enclose for percentiles and tails of delays: these are transcendental numbers")
}

// delaysWith answers with one engine.
func (p *Prepared) delaysWith(ctx context.Context, q delayQuestion, s request, engine num.Engine, prec uint) (*delayResult, error) {
	r := &delayResult{Precision: Precision{Engine: engine}, classes: make([]ClassDelays, len(p.model.Classes))}
	for k := range p.components {
		c := &p.components[k]
		if q.times != nil && len(q.timesOf(slices.Concat(c.Classes...), s)) == 0 {
			continue
		}
		ask, err := newQuery(p.equal, c, engine, prec, s)
		switch {
		case err != nil:
		case engine == num.Float && s.Lattice == "":
			err = r.addFastest(ctx, ask, q)
		default:
			err = r.addBy(ctx, ask, q)
		}
		if err != nil {
			return nil, errorInRows(err, p.model, c)
		}
	}
	switch {
	case engine == num.Float && !(r.RelativeErrorBound < 1):
		return nil, ErrDigits
	case engine == num.Float && r.beyond:
		return nil, ErrRange
	case engine == num.Enclose && r.width > s.RelTol: // more bits are due, and say what the answers are
	case r.beyond:
		return nil, rangeError()
	}
	return r, nil
}

// addBy adds the delays of the classes of one component by the requested lattice, or by the smaller
// table of sets.
func (r *delayResult) addBy(ctx context.Context, ask *query, q delayQuestion) (err error) {
	var l *plan
	if ask.s.Lattice == EliminationLattice {
		l, err = ask.planElimination(ctx)
	} else {
		l, err = ask.planTable(ctx)
	}
	if err == nil {
		_, err = r.add(ctx, l, q, 0)
	}
	return stepsError(l, err)
}

// stepsError returns the error of a component; it explains an error of too many steps.
func stepsError(l *plan, err error) error {
	var long *delays.StepsError
	if !errors.As(err, &long) {
		return err
	}
	large := l.sizeError(0, "delays that take fewer steps than %.3g of %.3g operations each, over %d states: "+
		"near the limit of stability delays are long", long.Steps, long.Each, long.States)
	large.Limit = 0
	return large
}

// planTable chooses the lattice of sets for the delays of a component.
func (q *query) planTable(ctx context.Context) (*plan, error) {
	l, err := choose(ctx, setLattices, q)
	if err != nil {
		return nil, err
	}
	perNumber := 8.
	if q.engine != num.Float {
		perNumber = 2 * bigFloatBytes(q.prec)
	}
	// A graph, the initial values of every class, and some numbers a state.
	entries := l.states * float64(len(l.problem.Classes))
	enclosed := l.with(num.Enclose)
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

// add adds the delays of the classes of one component, with at most maxWork products of steps in
// time; 0 means the limit of [delays.New]. It returns the products that it took in float64.
func (r *delayResult) add(ctx context.Context, l *plan, q delayQuestion, maxWork float64) (work float64, err error) {
	var chain *delays.Chain
	if l.lattice != EliminationLattice {
		if err := l.build(ctx); err != nil {
			return 0, err
		}
		chain = delays.New(l.problem, l.graph, l.s.MaxBytes, maxWork)
		defer func() { work = chain.Work }()
	}
	var answers []delays.Answer
	if len(l.s.Levels)+len(l.s.Times) > 0 || q.times != nil {
		question := delays.Question{Rough: q.rough, Tails: tailsOf(l.s.Levels)}
		for _, rows := range l.component.Classes {
			question.Times = append(question.Times, q.timesOf(rows, l.s))
		}
		if chain == nil {
			answers, err = l.eliminateDelays(ctx, question)
		} else {
			answers, err = l.distribution(ctx, chain, question)
		}
		if err != nil {
			return 0, err
		}
	}
	var moments [][]arithmetic.Number
	if l.s.Moments > 0 {
		if moments, err = delays.Moments(ctx, chain, arithmetic.One(l.engine, l.prec), l.s.Moments); err != nil {
			return 0, err
		}
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
			if q.times != nil {
				n := len(q.times[row])
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

// distribution answers what is asked of the distribution of the delays, with the engine Float or Enclose.
func (l *plan) distribution(ctx context.Context, chain *delays.Chain, q delays.Question) ([]delays.Answer, error) {
	if l.engine == num.Enclose {
		low, high, err := enclosures.Values(ctx, l.problem, l.graph, l.prec)
		if err != nil {
			return nil, err
		}
		return delays.Enclose(ctx, chain, low, high, l.prec, q)
	}
	v, e, err := doubles.Values(ctx, l.graph)
	if err != nil {
		return nil, err
	}
	answers, err := delays.Float(ctx, chain, v, slices.Max(e), q)
	if errors.Is(err, delays.ErrRange) {
		err = ErrRange
	}
	return answers, err
}

// export returns a number as results show it, and takes its error into account. ok is false if float64 cannot hold it.
func (r *delayResult) export(x arithmetic.Number) (v num.Value, ok bool) {
	r.RelativeErrorBound = max(r.RelativeErrorBound, x.RelativeError())
	r.width = max(r.width, x.Width())
	return x.Value()
}

// exportTime returns a quantile or a moment, which float64 has to hold.
func (r *delayResult) exportTime(x arithmetic.Number) num.Value {
	v, ok := r.export(x)
	r.beyond = r.beyond || !ok
	return v
}

// exportTail returns a probability, which counts for the error unless it is so small that float64 thins out.
func (r *delayResult) exportTail(e num.Interval) num.Value {
	x := arithmetic.Number{Interval: e}
	if r.Engine == num.Float && e.High.Cmp(smallTail) < 0 {
		v, _ := x.Value()
		return v
	}
	v, _ := r.export(x) // the nearest double, even where none is near in relative terms
	return v
}

var smallTail = big.NewFloat(0x1p-900) // never changed
