package bf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/bf/internal/elimination"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
	"productform/stability"
)

// exactBits is the number of bits of the integers that float64 represents exactly.
const exactBits = 53

// An eliminator eliminates the servers of a component one at a time.
type eliminator struct {
	*elimination.Order
	operations    float64 // estimated operations in this order
	maxOperations float64 // operations above which tables are tried instead; 0 for no such limit
	expansion     *expansion
}

func (e *eliminator) bytes(*plan, int) float64 { return 0 } // messages of one variable are small

func (e *eliminator) work(*plan, int) float64 { return e.operations }

func (e *eliminator) total(context.Context, *plan) ([]arithmetic.Number, error) { return nil, nil }

// elimination returns how the plan eliminates servers, for all measures or only for the
// distributions by class. It is nil if the plan does not use elimination.
func (l *plan) elimination() *eliminator {
	if e, ok := l.method.(*eliminator); ok {
		return e
	}
	return l.rows
}

// findOrder finds an order in which to eliminate the servers of a component and estimates the work.
// The error is a [*num.TooLargeError] with the width if the width is too large.
func (q *query) findOrder() (*eliminator, error) {
	p := eliminationProblem(q.problem)
	for s := range p.Capacities {
		p.Capacities[s] = 1
	}
	for i := range p.Classes {
		p.Classes[i].Rate = 1 // the order does not depend on rates
	}
	order, err := elimination.NewOrder(p)
	var wide *num.TooLargeError
	switch {
	case errors.As(err, &wide):
		return nil, &num.TooLargeError{Input: input.Errorf("model",
			fmt.Sprintf("a width of %s or more", wide.Input.Value),
			"servers that are eliminated one by one in a width of at most %d: trees and lines have 1, ladders 2",
			elimination.MaxWidth)}
	case err != nil:
		return nil, err
	}
	e := &eliminator{Order: order}
	e.operations = q.estimate(e, elimination.Settings{Tolerance: q.s.RelTol})
	return e, nil
}

// checkElimination finds the order and rejects requests that elimination does not support.
func (q *query) checkElimination() (*eliminator, error) {
	if q.s.MaxJobs > 0 && !q.s.ByClass {
		return nil, input.Errorf("MaxJobs", q.s.MaxJobs,
			"distributions by class: the elimination lattice has none for all jobs together")
	}
	return q.findOrder()
}

// offerElimination eliminates the servers if tables of sets take longer, or more memory or work
// than allowed. For groups it offers to eliminate their expanded servers.
func offerElimination(_ context.Context, q *query, best *plan) (*plan, error) {
	switch {
	case q.engine != num.Float:
		return nil, nil
	case !q.problem.Whole:
		return q.offerExpanded(best), nil
	}
	cost := best.termsToBeat()
	minTerms, gain := float64(eliminationTerms), 2.0
	if q.s.MaxJobs > 0 {
		minTerms, gain = eliminationRowTerms, 1
	}
	if cost <= minTerms {
		return nil, nil
	}
	e, err := q.checkElimination()
	if err != nil || !math.IsInf(cost, 1) && gain*e.operations >= cost {
		return nil, nil
	}
	if q.s.MaxJobs == 0 && !math.IsInf(cost, 1) {
		e.maxOperations = cost
	}
	servers := len(q.problem.Groups)
	return &plan{query: *q, lattice: EliminationLattice, method: e, states: float64(servers), sets: best,
		why: fmt.Sprintf("%d servers, eliminated one at a time with width %d, %s",
			servers, e.Width, q.avoidedSets())}, nil
}

func requireElimination(_ context.Context, q *query) (*plan, error) {
	if !q.problem.Whole {
		l, err := q.expandGroups()
		if err == nil {
			l.why = fmt.Sprintf("requested; %.0f servers with groups expanded, eliminated one at a time with width %d",
				l.states, l.elimination().Width)
		}
		return l, err
	}
	e, err := q.checkElimination()
	if err != nil {
		return nil, err
	}
	servers := len(q.problem.Groups)
	return &plan{query: *q, lattice: EliminationLattice, method: e, states: float64(servers),
		why: fmt.Sprintf("requested; %d servers, eliminated one at a time with width %d", servers, e.Width)}, nil
}

// classElimination returns the elimination that finds the distribution of the jobs of each class.
// It is nil if the distributions are not requested or elimination cannot find them.
func (q *query) classElimination() *eliminator {
	isPossible := q.engine == num.Float && q.s.ByClass && q.problem.Whole && q.problem.Bits <= exactBits
	if !isPossible || slices.Contains(q.excluded, EliminationLattice) {
		return nil
	}
	e, err := q.findOrder()
	if err != nil {
		return nil
	}
	return e
}

// classEliminationOps estimates the operations that elimination takes for the distributions by
// class. In functions of several times, each probability is one integral.
func (e *eliminator) classEliminationOps(jobs int) float64 {
	if e.Width > 1 {
		return e.operations * (1 + float64(jobs)/5)
	}
	return e.operations * (1 + opsPerRowSweep*float64(jobs))
}

// preferClassElimination selects elimination for the distributions by class if it takes less time
// than the lattice of the plan.
func (l *plan) preferClassElimination() {
	if !l.s.ByClass || l.s.Lattice != "" || l.elimination() != nil {
		return
	}
	work := l.rowOps(l.states, l.graphTerms())
	if work <= minCompared {
		return
	}
	if e := l.classElimination(); e != nil && e.classEliminationOps(l.s.MaxJobs) < work/2 {
		l.rows = e
	}
}

// eliminationProblem returns a problem of single servers in integers, exact up to exactBits.
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

// estimate returns approximately how many operations elimination takes: twice those of one problem
// if its numbers are rounded both ways. It is +Inf for an unstable component.
func (q *query) estimate(e *eliminator, ask elimination.Settings) float64 {
	work := elimination.Estimate(eliminationProblem(q.problem), e.Order, ask)
	if q.problem.Bits > exactBits {
		work *= 2
	}
	return work
}

// measure solves the component by elimination. Other lattices may solve it if elimination fails.
func (e *eliminator) measure(ctx context.Context, l *plan) (measures, error) {
	r, err := e.solve(ctx, l)
	var overload *recursion.Overload
	var missed *elimination.ToleranceError
	switch {
	case err == nil || ctx.Err() != nil || errors.As(err, &overload):
		return r, err
	case errors.As(err, &missed):
		r.failed = errMissed(l.s, missed.Bound)
	case l.s.Lattice == EliminationLattice && l.s.Engine != num.Float && errors.Is(err, num.ErrDigits):
		r.failed = errBeyondFloat(l.s, err)
	default:
		r.failed = err
	}
	return r, nil
}

// solve solves the component. It returns an error if there is no answer or no bound.
func (e *eliminator) solve(ctx context.Context, l *plan) (measures, error) {
	if err := checkStable(ctx, &l.component.Model); err != nil {
		return measures{}, err
	}
	r, err := e.solveStable(ctx, l)
	unknown := func(x arithmetic.Number) bool { return math.IsInf(x.Bound, 1) }
	switch {
	case ctx.Err() != nil:
		return r, err
	case err == nil && (unknown(r.normalization) || slices.ContainsFunc(r.jobs, unknown) ||
		slices.ContainsFunc(r.busy, unknown)):
		err = num.ErrDigits
	}
	if err != nil {
		return r, err
	}
	if e.expansion != nil {
		r = e.expansion.merge(r, len(l.component.Model.Classes), len(l.component.Model.Servers))
	}
	return r, nil
}

// solveStable solves a stable component. Rates and capacities that do not fit a float64 are rounded
// both ways. The normalization, the mean numbers of jobs and the utilizations grow with every rate
// and fall with every capacity, so they lie between those of a component with a lower load and one
// with a higher load.
func (e *eliminator) solveStable(ctx context.Context, l *plan) (measures, error) {
	switch {
	case l.s.ByClass:
		return e.solveRows(ctx, l)
	case l.problem.Bits <= exactBits:
		return e.solveProblem(ctx, l, l.problem)
	case l.s.MaxJobs > 0: // probabilities do not grow with rates
		return measures{}, num.ErrDigits
	}
	c := l.component
	if e.expansion != nil {
		c = e.expansion.component
	}
	less, more := roundedComponent(c, exactBits, true), roundedComponent(c, exactBits, false)
	err := checkStable(ctx, &more.Model)
	if ctx.Err() != nil {
		return measures{}, err
	}
	if err != nil || slices.ContainsFunc(more.Model.Servers,
		func(s cluster.Server) bool { return s.Capacity.Sign() == 0 }) {
		return measures{}, num.ErrDigits
	}
	low, err := e.solveProblem(ctx, l, newProblem(less, false))
	if err != nil {
		return measures{}, err
	}
	high, err := e.solveProblem(ctx, l, newProblem(more, false))
	if err != nil {
		return measures{}, err
	}
	low.normalization = quotientBounds(low.normalization, high.normalization)
	for i := range low.jobs {
		low.jobs[i] = quotientBounds(low.jobs[i], high.jobs[i])
	}
	for s := range low.busy {
		low.busy[s] = quotientBounds(low.busy[s], high.busy[s])
	}
	return low, nil
}

// solveRows solves the component with each row of the model as a separate class. Each row then has
// its own distribution.
func (e *eliminator) solveRows(ctx context.Context, l *plan) (measures, error) {
	c := &cluster.Component{Model: cluster.Model{Servers: l.component.Model.Servers}, Servers: l.component.Servers}
	for i, list := range l.component.Classes {
		for _, row := range list {
			k := l.component.Model.Classes[i]
			k.ArrivalRate = l.model.Classes[row].ArrivalRate
			c.Model.Classes = append(c.Model.Classes, k)
		}
	}
	p := newProblem(c, false)
	if p.Bits > exactBits {
		return measures{}, num.ErrDigits
	}
	rows, err := e.solveProblem(ctx, l, p)
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

// solveProblem solves a problem for the component of a plan.
func (e *eliminator) solveProblem(ctx context.Context, l *plan, p *recursion.Problem) (measures, error) {
	ask := elimination.Settings{Tolerance: l.tol}
	if e.maxOperations > 0 {
		ask.MaxWork = min(cmp.Or(l.s.MaxWork, maxProducts), e.maxOperations)
	}
	if l.s.ByClass {
		ask.ByClass = l.s.MaxJobs
	}
	r, err := l.eliminate(ctx, p, ask, l.s.Engine == num.Float)
	if err != nil {
		return measures{}, err
	}
	return measures{r.Normalization, r.Jobs, r.Busy, r.ClassJobs, nil}, nil
}

// eliminate solves a problem for the component of the plan, within the limits of its settings. If
// it misses the tolerance and anyBound is set, it returns the result with the bounds it reached.
func (l *plan) eliminate(ctx context.Context, p *recursion.Problem, ask elimination.Settings,
	anyBound bool) (*elimination.Result, error) {
	e := eliminationProblem(p)
	ask.MaxBytes, ask.MaxWork = l.s.MaxBytes, cmp.Or(ask.MaxWork, l.s.MaxWork, maxProducts)
	r, err := elimination.Solve(ctx, e, l.elimination().Order, ask)
	var large *num.TooLargeError
	if errors.As(err, &large) {
		return nil, l.workError(large, ask)
	}
	var missed *elimination.ToleranceError
	if !errors.As(err, &missed) {
		return r, err
	}
	if !(missed.Bound < 0.5) {
		return nil, num.ErrDigits
	}
	if anyBound {
		ask.Tolerance = 1.01 * missed.Bound
		return elimination.Solve(ctx, e, l.elimination().Order, ask)
	}
	return nil, err
}

// eliminateDerivatives returns the derivatives of the mean number of jobs with respect to the rates
// and capacities of the problem. Each is a difference of terms with bounds below Settings.RelTol,
// if float64 has these terms.
func (l *plan) eliminateDerivatives(ctx context.Context) (recursion.Slopes, error) {
	r, err := l.solveDerivatives(ctx, elimination.Settings{Gradients: true})
	if err != nil {
		return recursion.Slopes{}, err
	}
	return recursion.Slopes{Rates: r.Gradients.Rates, Capacities: r.Gradients.Capacities}, nil
}

// eliminateEachClass returns the derivatives of h_i = ∂ log Z/∂λ_i for each class i. Since E[X_i] =
// λ_i h_i, its derivative with respect to λ_j is λ_i ∂h_i/∂λ_j, plus h_i if j = i. The derivatives
// of h_i of a class without arrivals are not needed, and are 0 here.
func (l *plan) eliminateEachClass(ctx context.Context) ([]recursion.Slopes, error) {
	var ask elimination.Settings
	for i, k := range l.problem.Classes {
		if k.Rate.Sign() > 0 {
			ask.Of = append(ask.Of, i)
		}
	}
	ask.Gradients = ask.Of == nil // the result needs the times
	r, err := l.solveDerivatives(ctx, ask)
	if err != nil {
		return nil, err
	}
	all := make([]recursion.Slopes, len(l.problem.Classes))
	for i := range all {
		all[i] = recursion.Slopes{Mean: r.Times[i], Rates: make([]recursion.Difference, len(all)),
			Capacities: make([]recursion.Difference, len(l.problem.Groups))}
	}
	for k, i := range ask.Of {
		g := r.ClassGradients[k]
		d := recursion.Slopes{Mean: r.Times[i], Rates: g.Rates, Capacities: g.Capacities}
		d.Rates[i].Minus = d.Rates[i].Minus.Add(r.Times[i])
		rate := arithmetic.FromFloat(arithmetic.Scaled(l.problem.Classes[i].Rate, 0), 0)
		for _, list := range [][]recursion.Difference{d.Rates, d.Capacities} {
			for j := range list {
				list[j].Plus, list[j].Minus = list[j].Plus.Quo(rate), list[j].Minus.Quo(rate)
			}
		}
		all[i] = d
	}
	return all, nil
}

// solveDerivatives computes derivatives by elimination.
func (l *plan) solveDerivatives(ctx context.Context, ask elimination.Settings) (*elimination.Result, error) {
	if err := checkStable(ctx, &l.component.Model); err != nil {
		return nil, err
	}
	if !l.canDerive() || l.elimination().expansion != nil {
		return nil, input.Errorf("Lattice", EliminationLattice,
			"another lattice: derivatives by elimination need classes without draws, capacities > 0, and "+
				"numbers of at most %d bits over a common denominator", exactBits)
	}
	e, most := l.elimination(), cmp.Or(l.s.MaxWork, maxProducts)
	ask.Tolerance = l.s.RelTol / 64
	if e.Width > 1 {
		ask.Tolerance = l.s.RelTol / 2
	}
	if e.Width == 1 && e.operations*float64(len(ask.Of)) > most {
		return nil, l.workError(&num.TooLargeError{States: l.states}, elimination.Settings{Tolerance: 1, MaxWork: most})
	}
	r, err := l.eliminate(ctx, l.problem, ask, e.Width == 1 || l.s.Engine == num.Float)
	var missed *elimination.ToleranceError
	if errors.As(err, &missed) {
		err = errMissed(l.s, missed.Bound)
	}
	return r, err
}

// canDerive reports whether elimination can compute derivatives of this problem.
func (q *query) canDerive() bool {
	return q.problem.Whole && q.problem.Bits <= exactBits &&
		!slices.ContainsFunc(q.problem.Groups, func(g recursion.Group) bool { return g.Capacity.Sign() == 0 })
}

// quotientBounds returns a with an error bound that covers every number from x to y, where a =
// x(1+ε) and b = y(1+δ). For each such number v, (1-δ) v a/b <= a <= (1+ε) v.
func quotientBounds(a, b arithmetic.Number) arithmetic.Number {
	distance := max(0, 1-a.Wide.Over(b.Wide).Double()) + arithmetic.Roundoff
	return arithmetic.FromWide(a.Wide, max(a.Bound, arithmetic.Compound(distance, b.Bound, 0)))
}

// checkStable returns an error with a witness set of classes if a component is unstable.
func checkStable(ctx context.Context, m *cluster.Model) error {
	u, err := stability.Overload(ctx, m)
	if u != nil {
		return &recursion.Overload{Classes: u.Classes, ArrivalRate: u.ArrivalRate, Capacity: u.Capacity}
	}
	return err
}

// usesElimination reports whether elimination solved a part or its distributions by class.
func (r *Result) usesElimination() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.eliminated })
}
