package bf

import (
	"context"
	"math/big"

	"productform/bf/internal/elimination"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/num"
)

// planElimination returns the plan of elimination for the delays of a component. The error is a
// [*num.InputError] if there is no such plan.
func (q *query) planElimination(ctx context.Context) (*plan, error) {
	if q.s.Moments > 0 {
		return nil, input.Errorf("Moments", q.s.Moments,
			"0 for the elimination lattice, which has percentiles and tails")
	}
	ask := *q
	ask.s.Lattice, ask.s.MaxJobs = EliminationLattice, 0
	l, err := newPlan(ctx, &ask)
	if err != nil {
		return nil, err
	}
	if l.elimination().expansion != nil {
		return nil, input.Errorf("Lattice", EliminationLattice, "%q, for delays of jobs that draw servers of a group",
			SymmetricLattice)
	}
	return l, checkStable(ctx, &q.component.Model)
}

// eliminateDelays answers a question for the classes of a component: T_i is distributed as
// min_{S_i} T (see [elimination.Law]).
func (l *plan) eliminateDelays(ctx context.Context, q delays.Question) ([]delays.Answer, error) {
	if l.problem.Bits > exactBits {
		return nil, num.ErrDigits
	}
	ask := l.delaySettings(q.Tails)
	for {
		r, err := l.eliminate(ctx, l.problem, ask, true)
		if err != nil {
			return nil, err
		}
		answers, rarest := make([]delays.Answer, len(l.problem.Classes)), ask.Rarest
		for i, law := range r.Laws {
			if law == nil { // a class without arrivals
				continue
			}
			d := &delays.Lookup{Law: law, Unit: new(big.Rat).SetInt(l.problem.Scale),
				Mean: r.Jobs[i].Double() / arithmetic.Scaled(l.problem.Classes[i].Rate, 0), Rarest: rarest}
			var ok bool
			if answers[i], ok = d.Answer(q.Tails, q.Times[i]); !ok {
				return nil, num.ErrDigits
			}
			ask.Rarest = min(ask.Rarest, d.Rarest)
		}
		switch {
		case ask.Rarest == rarest:
			return answers, nil
		case rarest <= minProbability:
			return nil, num.ErrFloatRange
		}
		ask.Rarest = max(minProbability, min(ask.Rarest/16, rarest/256))
	}
}

// delaySettings returns the settings of elimination for the times at which the tails of delays fall
// to the given probabilities.
func (l *plan) delaySettings(tails []*big.Rat) elimination.Settings {
	s := l.s
	ask := elimination.Settings{Tolerance: max(1e-13, s.RelTol/8), Rarest: 1e-3}
	for _, p := range tails {
		below, above := arithmetic.Around(p)
		ask.Rarest = min(ask.Rarest, below)
		// The relative error of a quantile near 0 grows as its tail approaches 1.
		ask.Tolerance = max(1e-13, min(ask.Tolerance, s.RelTol/8*(1-above)))
	}
	if l.elimination().Width > 1 {
		ask.Tolerance = max(ask.Tolerance, s.RelTol/8)
	}
	return ask
}

const minProbability = 0x1p-1000 // smallest probability that is computed
