package plan

import (
	"context"
	"math"

	"productform/internal/input"
)

// LeastDelay returns the plan with the smallest mean delay of the class Problem.Minimize, or of all
// jobs. It considers the plans that cost at most Problem.Budget (if there is one), meet the
// targets, leave the cluster stable and, with Problem.NoWorse, are no worse for any class. The mean
// delay of any other plan is smaller by at most a fraction Settings.RelTol: the proof has a lower
// bound on the mean delays of all plans.
//
// After SearchSettings.Limit solves, the search stops with the best plan so far. Proof.Delay is
// then a lower bound on the mean delays of all plans, or 0 if nothing is known about some. The
// errors are those of [Evaluate], and a *[num.InputError] for a model in which a purchase may
// lengthen delays.
func LeastDelay(ctx context.Context, p *Problem, s SearchSettings) (*Answer, error) {
	in, s, err := beginSearch(ctx, p, s)
	if err == nil {
		err = in.requireShorter()
	}
	if err != nil {
		return nil, err
	}
	a, err := in.leastDelay(ctx, s, in.belowBudget())
	if err != nil {
		return nil, err
	}
	a.Proof.AtMost = p.Budget
	return a, nil
}

// aimedTarget returns a target on the mean delay that is minimized.
func (in *instance) aimedTarget() target { return target{measure: MeanDelay, row: in.aim} }

// requireShorter rejects problems in which a purchase may lengthen the mean delay that is
// minimized, or make a measure with a target worse.
func (in *instance) requireShorter() error {
	const why = "find the smallest cost for limits on times"
	aim := in.aimedTarget()
	switch {
	case in.Service() == serviceAll:
		return nil
	case in.Loss != nil:
		return in.requireAll("delays of jobs that are not lost may grow with a purchase; " + why)
	case in.Network != nil && in.checkStationTarget("", Target{Measure: MeanDelay, Class: in.Minimize}, form{}) != nil:
		return input.Errorf("minimize", input.Quote(in.Minimize), "a class of a chain whose jobs all move; only one "+
			"chain needs no class")
	case in.Service() == serviceGang && !in.needsWaits():
		return input.Errorf(
			"targets", "", "a limit on mean_waiting or mean_delay, as delays of gangs take long to solve",
		)
	case isImpatient(in.base.cluster):
		return input.Errorf("model.mean_patience", "", "none: jobs that give up depart early; "+why)
	case in.Network != nil && !in.extends(aim):
		return input.Errorf(
			"model", "a network", "one closed chain, or no closed chain, at stations whose rates do not "+
				"fall: otherwise a purchase may make delays longer; "+why,
		)
	case !in.extends(aim):
		return input.Errorf(
			"model.service", in.Service(), "all, or servers of one speed: otherwise a purchase may make "+
				"delays longer; "+why,
		)
	}
	for row, t := range in.targets {
		if !in.extends(t) {
			return input.Errorf(input.Index("targets", row), in.Targets[row].limitText(),
				"a target that no purchase can make worse; "+why)
		}
	}
	return nil
}

// belowBudget returns a cost above that of every plan within the budget.
func (in *instance) belowBudget() int64 {
	if in.Budget == nil {
		return math.MaxInt64
	}
	return in.inUnits(in.Budget) + 1
}

// leastDelay returns the plan with the smallest mean delay among those that cost less than below.
func (in *instance) leastDelay(ctx context.Context, s SearchSettings, below int64) (*Answer, error) {
	j, err := in.newJudge(ctx, s.Settings)
	if err != nil {
		return nil, err
	}
	j.delays = true
	search := newSearch(in, j, s, Choice{}, below, true)
	if err := search.run(ctx); err != nil {
		return nil, err
	}
	least, limited := search.leastDelay()
	corners, err := search.proof(ctx, least)
	if err != nil {
		return nil, err
	}
	proof := Proof{Corners: corners, RestsOn: in.reasons(limited)}
	if limited {
		proof.Delay = &least
	}
	a, err := search.answer(ctx, s.Settings, proof)
	if err != nil {
		return nil, err
	}
	a.Complete = search.best == nil && !limited || search.best != nil && least == *search.delay
	a.WithinBudget = a.Plan != nil
	return a, nil
}

// Frontier returns the plans that are best for their cost: starting with the cheapest plan that
// meets the targets, each has the smallest mean delay of all plans that cost less than the next
// one. The last plan costs at most Problem.Budget, if there is one.
//
// The proof of each shows that no plan that costs less than the next one (for the last: no plan
// within the budget) has a mean delay below Proof.Delay. The limit on solves applies to all
// searches together. If a search reaches it, the frontier ends there and its last answer is
// incomplete; if there is no earlier answer, it is that of [LeastCost]. Answer.Cheaper of the first
// answer proves that it is the cheapest. If no plan meets the targets, or only one beyond the
// budget, the only answer is that of [LeastCost].
//
// The errors are those of [Evaluate].
func Frontier(ctx context.Context, p *Problem, s SearchSettings) ([]*Answer, error) {
	in, s, err := beginSearch(ctx, p, s)
	if err == nil {
		err = in.requireShorter()
	}
	if err != nil {
		return nil, err
	}
	first, err := in.leastCost(ctx, s, question{below: math.MaxInt64})
	if err != nil || first.Plan == nil || !first.Complete || !first.WithinBudget {
		return []*Answer{first}, err
	}
	below := in.belowBudget()
	var points []*Answer
	limit, left := s.Limit, s.Limit-first.Solves
	if tell := s.Progress; tell != nil { // report the progress of all searches together
		s.Progress = func(p Progress) {
			p.Solves, p.Cost = p.Solves+limit-left, nil
			if len(points) > 0 {
				p.Cost = points[len(points)-1].Plan.Cost
			}
			tell(p)
		}
	}
	for next := first; next.Plan != nil && next.Complete; {
		// First find the best plan of at most this cost, then the cheapest plan that is better.
		s.Limit = max(left, 1)
		best, err := in.leastDelay(ctx, s, in.inUnits(next.Plan.Cost)+1)
		if err != nil {
			return nil, err
		}
		left -= best.Solves
		// the limit ended the search before it found a new plan
		if best.Plan == nil || !best.Complete && best.Plan.Cost.Cmp(next.Plan.Cost) < 0 {
			last := first
			if len(points) > 0 {
				last = points[len(points)-1]
			}
			last.Complete = false
			last.Solves += best.Solves
			break
		}
		s.Limit = max(left, 1)
		if next, err = in.leastCost(ctx, s, question{below: below, delay: best.Proof.Delay}); err != nil {
			return nil, err
		}
		left -= next.Solves
		point := *best
		if next.Proof.Below == nil {
			next.Proof.AtMost = p.Budget
		}
		point.Proof, point.Solves = next.Proof, best.Solves+next.Solves
		point.Complete = best.Complete && next.Complete
		if points = append(points, &point); !point.Complete {
			break
		}
	}
	if points == nil {
		return []*Answer{first}, nil
	}
	points[0].Solves += first.Solves
	points[0].Cheaper = &first.Proof
	return points, nil
}
