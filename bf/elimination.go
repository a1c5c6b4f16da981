package bf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/bf/internal/derivatives"
	"productform/bf/internal/integers"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/elimination"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
	"productform/stability"
)

// exactBits is the length of whole numbers that float64 holds.
const exactBits = 53

// findOrder finds an order in which the servers of a component are eliminated, one after the other,
// and estimates the work. The error is a [*num.TooLargeError] that names the width, if that is too
// large.
func (l *plan) findOrder(s Settings) (err error) {
	e := eliminationProblem(l.problem)
	for s := range e.Capacities {
		e.Capacities[s] = 1
	}
	for i := range e.Classes {
		e.Classes[i].Rate = 1 // the order is for any
	}
	var wide *num.TooLargeError
	if l.order, err = elimination.NewOrder(e); !errors.As(err, &wide) {
		if err == nil {
			l.toOrder = l.estimate(elimination.Settings{Tolerance: s.RelTol})
		}
		return err
	}
	return &num.TooLargeError{Input: input.Errorf("model", fmt.Sprintf("a width of %s or more", wide.Input.Value),
		"servers that are eliminated one by one in a width of at most %d: trees and lines have 1, ladders 2",
		elimination.MaxWidth)}
}

const mostProducts = 1e11 // of an elimination without a limit of work

// checkElimination finds the order, and refuses what elimination does not give.
func (l *plan) checkElimination(s Settings) error {
	if s.MaxJobs > 0 && !s.ByClass {
		return input.Errorf("MaxJobs", s.MaxJobs, "distributions by class beside it: the elimination lattice has these, and not that of all jobs together")
	}
	return l.findOrder(s)
}

// eliminationProblem returns a problem of single servers in whole numbers, exact up to exactBits.
func eliminationProblem(p *recursion.Problem) *elimination.Problem {
	e := &elimination.Problem{}
	for _, g := range p.Groups {
		e.Capacities = append(e.Capacities, arithmetic.Scaled(g.Capacity, 0))
	}
	for _, k := range p.Classes {
		c := elimination.Class{Rate: arithmetic.Scaled(k.Rate, 0)}
		for _, choice := range k.Choose {
			c.Servers = append(c.Servers, choice.Group)
		}
		e.Classes = append(e.Classes, c)
	}
	return e
}

// estimate returns about how many operations elimination takes for the plan: twice those of one
// problem if its numbers are rounded both ways. It is +Inf for an unstable component.
func (l *plan) estimate(ask elimination.Settings) float64 {
	work := elimination.Estimate(eliminationProblem(l.problem), l.order, ask)
	if l.problem.Bits > exactBits {
		work *= 2
	}
	return work
}

// An eliminationError is the error of a stable component for which elimination takes too much, or has not enough digits.
type eliminationError struct{ err error }

func (e *eliminationError) Error() string { return e.err.Error() }
func (e *eliminationError) Unwrap() error { return e.err }

// eliminated returns what eliminate does, and an [eliminationError] where that has no answer, or no bounds.
func (l *plan) eliminated(ctx context.Context, m *cluster.Model, s Settings) (measures, error) {
	if err := checkStable(ctx, &l.component.Model); err != nil {
		return measures{}, err
	}
	r, err := l.eliminate(ctx, m, s)
	unknown := func(x arithmetic.Number) bool { return math.IsInf(x.Bound, 1) }
	switch {
	case ctx.Err() != nil:
		return r, err
	case err == nil && (unknown(r.normalization) || slices.ContainsFunc(r.jobs, unknown) || slices.ContainsFunc(r.busy, unknown)):
		err = ErrDigits
	}
	if err != nil {
		return r, &eliminationError{err}
	}
	if l.written != nil {
		r = l.written.merge(r, len(l.component.Model.Classes), len(l.component.Model.Servers))
	}
	return r, nil
}

// eliminate solves a stable component of the model m by elimination. Where rates and capacities are longer than float64 holds they are rounded to
// either side: as the normalization, the mean numbers of jobs and the utilizations grow with every rate and fall with every capacity,
// theirs lie between those of a component with less load and of one with more.
func (l *plan) eliminate(ctx context.Context, m *cluster.Model, s Settings) (measures, error) {
	switch {
	case s.MaxJobs > 0 && s.ByClass:
		return l.eliminateRows(ctx, m, s)
	case l.problem.Bits <= exactBits:
		return l.eliminateOf(ctx, l.problem, s)
	case s.MaxJobs > 0: // probabilities do not grow with rates
		return measures{}, ErrDigits
	}
	c := l.component
	if l.written != nil {
		c = l.written.component
	}
	less, more := integers.Rounded(c, exactBits, true), integers.Rounded(c, exactBits, false)
	err := checkStable(ctx, &more.Model)
	if ctx.Err() != nil {
		return measures{}, err
	}
	if err != nil || slices.ContainsFunc(more.Model.Servers, func(s cluster.Server) bool { return s.Capacity.Sign() == 0 }) {
		return measures{}, ErrDigits
	}
	low, err := l.eliminateOf(ctx, integers.New(less, false), s)
	if err != nil {
		return measures{}, err
	}
	high, err := l.eliminateOf(ctx, integers.New(more, false), s)
	if err != nil {
		return measures{}, err
	}
	low.normalization = between(low.normalization, high.normalization)
	for i := range low.jobs {
		low.jobs[i] = between(low.jobs[i], high.jobs[i])
	}
	for s := range low.busy {
		low.busy[s] = between(low.busy[s], high.busy[s])
	}
	return low, nil
}

// eliminateRows solves the component with each row of the model m as a class of its own, so that each has its distribution.
func (l *plan) eliminateRows(ctx context.Context, m *cluster.Model, s Settings) (measures, error) {
	c := &cluster.Component{Model: cluster.Model{Servers: l.component.Model.Servers}, Servers: l.component.Servers}
	for i, list := range l.component.Classes {
		for _, row := range list {
			k := l.component.Model.Classes[i]
			k.ArrivalRate = m.Classes[row].ArrivalRate
			c.Model.Classes = append(c.Model.Classes, k)
		}
	}
	p := integers.New(c, false)
	if p.Bits > exactBits {
		return measures{}, ErrDigits
	}
	rows, err := l.eliminateOf(ctx, p, s)
	if err != nil {
		return measures{}, err
	}
	merged := rows
	merged.jobs = nil
	for _, list := range l.component.Classes {
		sum := rows.jobs[0]
		for _, x := range rows.jobs[1:len(list)] {
			sum = sum.Add(x)
		}
		rows.jobs = rows.jobs[len(list):]
		merged.jobs = append(merged.jobs, sum)
	}
	return merged, nil
}

// eliminateOf solves a problem of the component of the plan.
func (l *plan) eliminateOf(ctx context.Context, p *recursion.Problem, s Settings) (measures, error) {
	ask := elimination.Settings{Tolerance: l.tol, MaxBytes: s.MaxBytes, MaxWork: s.MaxWork}
	if l.maxOrder > 0 {
		ask.MaxWork = min(cmp.Or(s.MaxWork, mostProducts), l.maxOrder)
	}
	if s.ByClass {
		ask.ByClass = s.MaxJobs
	}
	r, err := l.solveElimination(ctx, p, ask, s.Engine == num.Float)
	if err != nil {
		return measures{}, err
	}
	return measures{r.Normalization, r.Jobs, r.Busy, r.ClassJobs}, nil
}

// solveElimination solves a problem of the component of the plan; if the tolerance is missed, with the bounds that there are, where those will do.
func (l *plan) solveElimination(ctx context.Context, p *recursion.Problem, ask elimination.Settings, anyBound bool) (*elimination.Result, error) {
	e := eliminationProblem(p)
	ask.MaxWork = cmp.Or(ask.MaxWork, mostProducts)
	r, err := elimination.Solve(ctx, e, l.order, ask)
	var large *num.TooLargeError
	if errors.As(err, &large) {
		return nil, l.tooMuch(large, ask)
	}
	var missed *elimination.ToleranceError
	if !errors.As(err, &missed) {
		return r, err
	}
	if !(missed.Bound < 0.5) {
		return nil, ErrDigits
	}
	if anyBound {
		ask.Tolerance = 1.01 * missed.Bound
		return elimination.Solve(ctx, e, l.order, ask)
	}
	return nil, err
}

// tooMuch says in words that elimination takes too much work, or memory, and whether a larger tolerance takes less: by as many times as
// there are fewer nodes of shorter times, to a power of one more than the width.
func (l *plan) tooMuch(large *num.TooLargeError, s elimination.Settings) error {
	much, help := fmt.Sprintf("more than %.0e products", s.MaxWork), ""
	if large.Limit > 0 && large.Bytes > float64(large.Limit) {
		much = fmt.Sprintf("%.3g MiB, more than the limit of %.3g", large.Bytes/(1<<20), float64(large.Limit)/(1<<20))
	}
	switch {
	case s.Tolerance > 1e-5:
	case s.Tolerance > 1e-8:
		help = "; or a tolerance of 1e-3, which takes about a third to a fifth"
	default:
		help = "; or a tolerance of 1e-6, which takes about a third to a tenth, or of 1e-3, a tenth to a fiftieth"
	}
	return &num.TooLargeError{States: large.States, Bytes: large.Bytes, Limit: large.Limit, Input: input.Errorf("model",
		fmt.Sprintf("%d classes on %d rows of servers", len(l.problem.Classes), len(l.problem.Groups)),
		"less work: eliminating servers one by one in a width of %d takes %s%s", l.order.Width, much, help)}
}

// eliminateDerivatives returns the derivatives of the mean number of jobs in the rates and capacities of the problem, each a difference of terms that
// have bounds of less than Settings.RelTol, where float64 has these.
func (l *plan) eliminateDerivatives(ctx context.Context, s Settings) (derivatives.Slopes, error) {
	r, err := l.derive(ctx, elimination.Settings{Gradients: true}, s)
	if err != nil {
		return derivatives.Slopes{}, err
	}
	return slopesOf(*r.Gradients), nil
}

// eliminateEachClass returns those of h_i = ∂ log Z/∂λ_i of each class: as E[X_i] = λ_i h_i, its derivative in λ_j is λ_i ∂h_i/∂λ_j, and h_i more for j = i. Nothing is
// made of the derivatives of h_i of a class without arrivals, which are 0 here.
func (l *plan) eliminateEachClass(ctx context.Context, s Settings) ([]derivatives.Slopes, error) {
	var ask elimination.Settings
	for i, k := range l.problem.Classes {
		if k.Rate.Sign() > 0 {
			ask.Of = append(ask.Of, i)
		}
	}
	ask.Gradients = ask.Of == nil // so that there are times
	r, err := l.derive(ctx, ask, s)
	if err != nil {
		return nil, err
	}
	all := make([]derivatives.Slopes, len(l.problem.Classes))
	for i := range all {
		all[i] = derivatives.Slopes{Mean: r.Times[i], Rates: make([]derivatives.Difference, len(all)), Capacities: make([]derivatives.Difference, len(l.problem.Groups))}
	}
	for k, i := range ask.Of {
		d := slopesOf(r.ClassGradients[k])
		d.Mean, d.Rates[i].Minus = r.Times[i], d.Rates[i].Minus.Add(r.Times[i])
		rate := arithmetic.FromFloat(arithmetic.Scaled(l.problem.Classes[i].Rate, 0), 0)
		for _, list := range [][]derivatives.Difference{d.Rates, d.Capacities} {
			for j := range list {
				list[j].Plus, list[j].Minus = list[j].Plus.Quo(rate), list[j].Minus.Quo(rate)
			}
		}
		all[i] = d
	}
	return all, nil
}

// derive asks elimination for derivatives.
func (l *plan) derive(ctx context.Context, ask elimination.Settings, s Settings) (*elimination.Result, error) {
	if err := checkStable(ctx, &l.component.Model); err != nil {
		return nil, err
	}
	if !l.canDerive() {
		return nil, input.Errorf("Lattice", EliminationLattice, "another one, for derivatives of classes that draw servers, in a capacity of 0, or of numbers of more than %d bits over a common denominator", exactBits)
	}
	ask.Tolerance, ask.MaxBytes, ask.MaxWork = s.RelTol/64, s.MaxBytes, s.MaxWork
	if l.order.Width > 1 {
		ask.Tolerance = s.RelTol / 2
	}
	if work := l.toOrder * float64(len(ask.Of)); l.order.Width == 1 && work > cmp.Or(s.MaxWork, mostProducts) {
		return nil, l.tooMuch(&num.TooLargeError{States: l.states}, elimination.Settings{Tolerance: 1, MaxWork: cmp.Or(s.MaxWork, mostProducts)})
	}
	r, err := l.solveElimination(ctx, l.problem, ask, l.order.Width == 1 || s.Engine == num.Float)
	var missed *elimination.ToleranceError
	if errors.As(err, &missed) {
		err = errMissed(s, missed.Bound)
	}
	return r, err
}

// canDerive reports whether the numbers of the problem are such that elimination has derivatives.
func (l *plan) canDerive() bool {
	return l.problem.Whole && l.written == nil && l.problem.Bits <= exactBits && !slices.ContainsFunc(l.problem.Groups, func(g recursion.Group) bool { return g.Capacity.Sign() == 0 })
}

func slopesOf(g elimination.Gradients) (d derivatives.Slopes) {
	for _, x := range g.Rates {
		d.Rates = append(d.Rates, derivatives.Difference(x))
	}
	for _, x := range g.Capacities {
		d.Capacities = append(d.Capacities, derivatives.Difference(x))
	}
	return d
}

// between returns the first of two numbers as what is known of one from x to y, where a = x(1+ε) and b = y(1+δ): a is at most 1+ε times
// that one, and at least 1-δ times a/b of it.
func between(a, b arithmetic.Number) arithmetic.Number {
	apart := max(0, 1-a.Wide.Over(b.Wide).Double()) + arithmetic.Roundoff
	return arithmetic.FromWide(a.Wide, max(a.Bound, arithmetic.Compound(apart, b.Bound, 0)))
}

// checkStable returns the error for a component that is unstable, with classes that show it.
func checkStable(ctx context.Context, m *cluster.Model) error {
	u, err := stability.Overload(ctx, m)
	if u != nil {
		return &recursion.Overload{Classes: u.Classes, ArrivalRate: u.ArrivalRate, Capacity: u.Capacity}
	}
	return err
}

// eliminated reports whether a part was solved by elimination, or its distributions of single classes were.
func (r *Result) eliminated() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Lattice == EliminationLattice || p.byRows })
}
