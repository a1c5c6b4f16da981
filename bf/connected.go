package bf

import (
	"context"
	"fmt"
	"math"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/intervals"
	"productform/internal/recursion"
	"productform/num"
)

// chain is the recursion over the intervals of servers in a line or a ring, the connected sets of these, which need no
// graph; float64 only.
type chain struct{ *intervals.Chain }

func (c chain) bytes(_ *plan, jobs int) float64 { return c.Bytes(jobs) }
func (c chain) work(_ *plan, jobs int) float64  { return c.Work(jobs) }

func (c chain) measure(ctx context.Context, _ *plan) (measures, error) {
	x, err := c.Solve(ctx)
	return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
}

func (c chain) total(ctx context.Context, l *plan) ([]arithmetic.Number, error) {
	return c.Total(ctx, l.s.MaxJobs)
}

// onSets returns the plan on sets of classes or servers that a plan is better than, or this one.
func (l *plan) onSets() *plan {
	if l.sets != nil {
		return l.sets
	}
	return l
}

// replaceable returns the terms over all sets of the plan, infinitely many if they take more memory or work than allowed.
func (l *plan) replaceable() float64 {
	if l.fits() != nil {
		return math.Inf(1)
	}
	return l.terms()
}

// instead says of which sets a plan is instead.
func (q *query) instead() string {
	return fmt.Sprintf("instead of 2^%d sets of servers or 2^%d of classes", len(q.problem.Groups), len(q.problem.Classes))
}

func offerIntervals(_ context.Context, q *query, best *plan) (*plan, error) {
	if !q.problem.Whole {
		return nil, nil
	}
	cost := best.onSets().replaceable()
	if cost <= manyToLineUp {
		return nil, nil
	}
	if isOn[*eliminating](best) {
		cost = best.method.work(best, 0)
	}
	return q.lineUp(cost, q.instead()), nil
}

func askIntervals(_ context.Context, q *query) (*plan, error) {
	if !q.problem.Whole {
		return nil, errGroups(q)
	}
	return q.lineUp(math.Inf(1), "asked for"), nil
}

// lineUp returns the plan of servers in a line or a ring, if they are, with less work than that, if it fits. A graph of few
// sets, where all classes are long, takes less.
func (q *query) lineUp(cost float64, why string) *plan {
	if q.engine != num.Float {
		return nil
	}
	l := &plan{query: *q, lattice: ConnectedLattice}
	if q.s.ByClass && q.s.MaxJobs > 0 {
		if l.rows = q.rowsByElimination(); l.rows == nil || q.s.Lattice != "" {
			return nil
		}
	}
	c := intervals.New(q.problem)
	if c == nil || c.Work(q.s.MaxJobs) >= cost || c.GraphTerms()*graphWork < c.Work(0) {
		return nil
	}
	l.method, l.states = chain{c}, c.Intervals()
	if l.fits() != nil {
		return nil
	}
	shape := "a line"
	if c.Ring {
		shape = "a ring"
	}
	l.why = fmt.Sprintf("%.0f intervals of %d servers in %s, %s", l.states, len(q.problem.Groups), shape, why)
	return l
}

// offerConnected counts connected sets where that may pay. A model without an answer is refused before.
func offerConnected(ctx context.Context, q *query, best *plan) (*plan, error) {
	if !q.problem.Whole || isOn[chain](best) {
		return nil, nil
	}
	sets := best.onSets()
	cost := sets.replaceable()
	many, gain := sets.connectedGain()
	order, eliminates := best.method.(*eliminating)
	if cost <= many && !eliminates {
		return nil, nil
	}
	if cost > manyToCheck {
		if err := checkStable(ctx, &q.component.Model); err != nil {
			return nil, err
		}
	}
	limit := cost / gain
	switch {
	case eliminates && q.s.MaxJobs > 0: // connected sets have the distribution of all jobs, too
		limit = min(limit, 10*aSecond/distributionWork(ConnectedLattice, q.s.MaxJobs))
	case eliminates:
		limit = min(limit, order.toOrder/graphWork)
	}
	l, tooMany, err := q.connect(ctx, limit)
	switch {
	case err == nil:
		l.why = fmt.Sprintf("%.0f connected sets of %d servers, %s", l.states, len(q.problem.Groups), q.instead())
		return l, nil
	case !isInput(err):
		return nil, err
	case !eliminates:
		best.tooMany = tooMany
	}
	return nil, nil
}

func askConnected(ctx context.Context, q *query) (*plan, error) {
	l, _, err := q.connect(ctx, math.Inf(1))
	if err != nil {
		return nil, err
	}
	l.why = fmt.Sprintf("asked for; connected sets of %d servers", len(q.problem.Groups))
	return l, nil
}

// connect returns the plan over the graph of connected sets, if it has at most limit terms and fits into memory. They are
// counted before. If there are more, it returns the limit that was kept, too.
func (q *query) connect(ctx context.Context, limit float64) (l *plan, tooMany float64, err error) {
	limit = math.Floor(min(limit, float64(q.s.MaxBytes)/bytesPerTerm, mostConnectedTerms))
	if q.s.MaxWork > 0 {
		limit = math.Floor(min(limit, q.s.MaxWork/graphWork))
	}
	g, used, err := recursion.ConnectedGraph(ctx, q.problem, int(limit))
	if err != nil {
		return nil, 0, err
	}
	if g == nil {
		return nil, limit, &num.TooLargeError{States: float64(used), Bytes: bytesPerTerm * float64(used), Limit: q.s.MaxBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d classes on %d servers", len(q.problem.Classes), len(q.problem.Groups)),
			"at most %s terms over the connected sets of servers of the connected lattice", thousands(limit))}
	}
	return &plan{query: *q, lattice: ConnectedLattice, method: graph{}, graph: g, states: float64(g.States()), counted: float64(used)}, 0, nil
}
