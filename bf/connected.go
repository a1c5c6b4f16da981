package bf

import (
	"context"
	"fmt"
	"math"

	"productform/bf/internal/consecutive"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// chain is the recursion over the intervals of servers in a line or a ring, in float64. The
// intervals are the connected sets, so no graph is needed.
type chain struct{ *consecutive.Chain }

func (c chain) bytes(_ *plan, jobs int) float64 { return c.Bytes(jobs) }
func (c chain) work(_ *plan, jobs int) float64  { return c.Work(jobs) }

func (c chain) measure(ctx context.Context, _ *plan) (measures, error) {
	x, err := c.Solve(ctx)
	return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
}

func (c chain) total(ctx context.Context, l *plan) ([]arithmetic.Number, error) {
	return c.Total(ctx, l.s.MaxJobs)
}

// connected is the recursion over the graph of the connected sets of servers.
type connected struct{ graph }

func (connected) work(l *plan, jobs int) float64 {
	if l.engine == num.Float {
		return l.terms() * connectedOps(jobs)
	}
	n := float64(jobs)
	return l.terms() * opsPerBigTerm * (1 + n*max(1, n/2))
}

func (connected) bytes(l *plan, jobs int) float64 {
	perJob := 64.
	if l.engine != num.Float {
		perJob += 2 * bigFloatBytes(l.prec)
	}
	return l.graphBytes(perJob * float64(jobs))
}

func (connected) total(ctx context.Context, l *plan) ([]arithmetic.Number, error) {
	return l.total(ctx, true)
}

// avoidedSets names the sets that a plan avoids.
func (q *query) avoidedSets() string {
	servers, classes := len(q.problem.Groups), len(q.problem.Classes)
	return fmt.Sprintf("instead of 2^%d sets of servers or 2^%d of classes", servers, classes)
}

// tryIntervals returns a plan on intervals if the servers are in a line or a ring and the plan
// takes less work than cost and meets the limits; otherwise nil. A graph takes less work if all
// classes are long, so there are few sets, or if it has few terms for the distributions by class.
func (q *query) tryIntervals(cost float64, why string) *plan {
	if q.engine != num.Float {
		return nil
	}
	c := consecutive.New(q.problem)
	if c == nil || c.Work(q.s.MaxJobs) >= cost || c.GraphTerms()*opsPerTerm < c.Work(0) {
		return nil
	}
	l := &plan{query: *q, lattice: ConnectedLattice}
	if q.s.ByClass {
		if l.rows = q.classElimination(); l.rows == nil || q.s.Lattice != "" {
			return nil
		}
		jobs, terms := q.s.MaxJobs, c.GraphTerms()
		onGraph := terms*connectedOps(jobs) + q.rowOps(c.Intervals(), terms)
		if onGraph < c.Work(jobs)+l.rows.classEliminationOps(jobs) {
			return nil
		}
	}
	l.method, l.states = chain{c}, c.Intervals()
	if l.checkLimits() != nil {
		return nil
	}
	shape := "a line"
	if c.Ring {
		shape = "a ring"
	}
	l.why = fmt.Sprintf("%.0f intervals of %d servers in %s, %s", l.states, len(q.problem.Groups), shape, why)
	return l
}

// offerConnected tries intervals, and then counts connected sets if they may take less work. It
// rejects unstable models first.
func offerConnected(ctx context.Context, q *query, best *plan) (*plan, error) {
	if !q.problem.Whole {
		return nil, nil
	}
	sets := best.allSets()
	cost := sets.termsToBeat()
	order, eliminates := best.method.(*eliminator)
	if cost > intervalTerms {
		most := cost
		if eliminates {
			most = order.operations
		}
		if l := q.tryIntervals(most, q.avoidedSets()); l != nil {
			return l, nil
		}
	}
	many, gain := sets.connectedGain()
	if cost <= many && !eliminates {
		return nil, nil
	}
	if cost > stabilityTerms {
		if err := checkStable(ctx, &q.component.Model); err != nil {
			return nil, err
		}
	}
	limit := cost / gain
	switch {
	case eliminates && q.s.MaxJobs > 0: // connected sets also give the distribution of all jobs
		limit = min(limit, 10*opsPerSecond/connectedOps(q.s.MaxJobs))
	case eliminates:
		limit = min(limit, order.operations/opsPerTerm)
	}
	l, termLimit, err := q.connect(ctx, limit)
	switch {
	case err == nil:
		l.why = fmt.Sprintf("%.0f connected sets of %d servers, %s", l.states, len(q.problem.Groups), q.avoidedSets())
		return l, nil
	case !isInput(err):
		return nil, err
	case !eliminates:
		best.termLimit = termLimit
	}
	return nil, nil
}

func requireConnected(ctx context.Context, q *query) (*plan, error) {
	if !q.problem.Whole {
		return nil, errGroups(q)
	}
	if l := q.tryIntervals(math.Inf(1), "requested"); l != nil {
		return l, nil
	}
	l, _, err := q.connect(ctx, math.Inf(1))
	if err != nil {
		return nil, err
	}
	l.why = fmt.Sprintf("requested; connected sets of %d servers", len(q.problem.Groups))
	return l, nil
}

// connect returns a plan on connected sets if their graph has at most limit terms and fits into
// memory. It counts the terms first. If there are more, it also returns the limit that applied.
func (q *query) connect(ctx context.Context, limit float64) (l *plan, termLimit float64, err error) {
	limit = math.Floor(min(limit, float64(q.s.MaxBytes)/bytesPerTerm, maxConnectedTerms))
	if q.maxTerms > 0 {
		limit = math.Floor(min(limit, q.maxTerms))
	}
	if q.s.MaxWork > 0 {
		limit = math.Floor(min(limit, q.s.MaxWork/opsPerTerm))
	}
	g, used, err := recursion.ConnectedGraph(ctx, q.problem, int(limit))
	if err != nil {
		return nil, 0, err
	}
	if g == nil {
		size := fmt.Sprintf("%d classes on %d servers", len(q.problem.Classes), len(q.problem.Groups))
		return nil, limit, &num.TooLargeError{States: float64(used), Bytes: bytesPerTerm * float64(used),
			Limit: q.s.MaxBytes,
			Input: input.Errorf("model", size,
				"at most %s terms over the connected sets of servers of the connected lattice",
				thousands(limit))}
	}
	l = &plan{query: *q, lattice: ConnectedLattice, method: connected{}, graph: g, states: float64(g.States())}
	l.connectedTerms = float64(used)
	return l, 0, nil
}
