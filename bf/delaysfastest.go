package bf

import (
	"context"
	"errors"
	"math"

	"productform/cluster"
	"productform/internal/delays"
	"productform/internal/recursion"
	"productform/num"
)

// A delayAttempt answers a question about the delays of one component in float64.
type delayAttempt struct {
	l      *plan
	answer *delayResult // nil without an answer
	err    error
	work   float64 // products of the steps of all runs over a table
}

// run answers with at most maxWork products of steps over a table; 0 means the limit of
// [delays.New].
func (a *delayAttempt) run(ctx context.Context, maxWork float64) {
	r := &delayResult{Precision: Precision{Engine: num.Float}, classes: make([]ClassDelays, rowsOf(a.l.component))}
	a.answer = nil
	work, err := r.add(ctx, a.l, maxWork)
	if a.work, a.err = a.work+work, err; err == nil {
		a.answer = r
	}
}

// rowsOf returns the number of rows of classes up to the last of a component.
func rowsOf(c *cluster.Component) (rows int) {
	for _, list := range c.Classes {
		for _, row := range list {
			rows = max(rows, row+1)
		}
	}
	return rows
}

// isGood reports whether there is an answer within the tolerance; any bound suffices for the engine
// Float.
func (a *delayAttempt) isGood() bool {
	if a.answer == nil {
		return false
	}
	s, bound := &a.l.s, a.answer.RelativeErrorBound
	return bound <= s.RelTol || s.Engine == num.Float && bound < 1
}

// needsSteps reports whether a table could answer with more steps.
func (a *delayAttempt) needsSteps() bool {
	var steps *delays.StepsError
	return errors.As(a.err, &steps)
}

// isFinal reports whether the error comes from the component or the context, not from the method.
func (a *delayAttempt) isFinal() bool {
	return a.err != nil && !a.needsSteps() && !isInput(a.err) && !errors.Is(a.err, num.ErrDigits) &&
		!errors.Is(a.err, num.ErrFloatRange)
}

// An enclosed step takes as long as enclosureGain products in float64, for each of its products.
const enclosureGain = 2 * recursion.BigSteps

// addFastest adds the delays of the classes of one component in float64, by steps over a table of
// sets or by elimination. Steps are counted, and the work of elimination is estimated. The table
// answers if its steps take less than the estimate, or if elimination has no answer within the
// tolerance.
func (r *delayResult) addFastest(ctx context.Context, q *query) error {
	var table, other delayAttempt
	start := math.Inf(1) // work of the graph and the first steps of the table
	if table.l, table.err = q.planTable(ctx); table.err == nil {
		start, table.err = table.l.firstSteps(), &delays.StepsError{}
	}
	defer func() { r.steps += table.work }()
	if start <= minCounted {
		if table.run(ctx, minCounted); table.isGood() || table.isFinal() {
			return r.adopt(&table)
		}
	}
	if other.l, other.err = q.planElimination(ctx); other.isFinal() {
		return other.err
	}
	if other.err == nil && other.l.problem.Bits <= exactBits {
		work := other.l.estimate(other.l.elimination(), other.l.delaySettings(tailsOf(q.s.Levels)))
		if table.needsSteps() && start < work {
			if table.run(ctx, work); table.isGood() || table.isFinal() {
				return r.adopt(&table)
			}
		}
		if table.answer == nil || work < enclosureGain*table.work {
			if other.run(ctx, 0); other.isGood() || other.isFinal() {
				return r.adopt(&other)
			}
		}
	}
	if table.needsSteps() {
		table.run(ctx, 0)
	}
	if table.answer == nil && (other.answer != nil || table.l == nil && other.l != nil) {
		return r.adopt(&other)
	}
	return r.adopt(&table)
}

// firstSteps estimates the work of the graph of a table and of the first steps over it.
func (l *plan) firstSteps() float64 {
	return opsPerFirstStep * l.states * float64(l.elements())
}

// adopt adds the answer of an attempt, or returns its error.
func (r *delayResult) adopt(a *delayAttempt) error {
	if a.err != nil {
		return stepsError(a.l, a.err)
	}
	for _, list := range a.l.component.Classes {
		for _, row := range list {
			r.classes[row] = a.answer.classes[row]
		}
	}
	r.RelativeErrorBound = max(r.RelativeErrorBound, a.answer.RelativeErrorBound)
	r.width = max(r.width, a.answer.width)
	r.outOfRange = r.outOfRange || a.answer.outOfRange
	if a.l.lattice == EliminationLattice && !a.isGood() {
		r.missedBound = max(r.missedBound, a.answer.RelativeErrorBound)
	}
	return nil
}
