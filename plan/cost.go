package plan

import (
	"context"
	"errors"
	"math"

	"productform/bf"
	"productform/num"
)

// LeastCost returns the cheapest plan that meets the targets, is no worse for any class if the
// problem requires that, and leaves the cluster stable. The corners of the proof cover all cheaper
// plans, or all plans if none meets the targets. Problem.Budget does not end a search: a plan
// beyond the budget is reported as such.
//
// After SearchSettings.Limit solves, the search stops with the best plan so far. The proof then
// covers the plans that cost less than Proof.Below, which is less than the cost of the plan.
//
// The errors are those of [Evaluate].
func LeastCost(ctx context.Context, p *Problem, s SearchSettings) (*Answer, error) {
	in, s, err := beginSearch(ctx, p, s)
	if err != nil {
		return nil, err
	}
	return in.leastCost(ctx, s, question{below: math.MaxInt64})
}

// A question asks for the cheapest plan that includes from, costs less than below and, unless
// delay is nil, has a mean delay below delay.
type question struct {
	from  Choice
	below int64
	delay *float64
}

// leastCost answers a question.
func (in *instance) leastCost(ctx context.Context, s SearchSettings, q question) (*Answer, error) {
	j, err := in.newJudge(ctx, s.Settings)
	if err != nil {
		return nil, err
	}
	j.delays = q.delay != nil
	search := newSearch(in, j, s, q.from, q.below, false)
	search.delay = q.delay
	if err := search.run(ctx); err != nil {
		return nil, err
	}
	least, limited := search.leastCost()
	corners, err := search.proof(ctx, math.Inf(1))
	if err != nil {
		return nil, err
	}
	proof := Proof{From: q.from, Delay: q.delay, Corners: corners, RestsOn: in.reasons(q.delay != nil)}
	if limited && least < q.below {
		proof.Below = in.rat(least)
	}
	a, err := search.answer(ctx, s.Settings, proof)
	if err != nil {
		return nil, err
	}
	a.Complete = search.best == nil && least == q.below || search.best != nil && least == search.best.cost
	a.WithinBudget = a.Plan != nil && (in.Budget == nil || a.Plan.Cost.Cmp(in.Budget) <= 0)
	return a, nil
}

// newJudge returns a judge. If the cluster is unstable now, any stable plan is no worse for every
// class.
func (in *instance) newJudge(ctx context.Context, s Settings) (*judge, error) {
	j := &judge{in: in, s: s, targets: in.targets, noWorse: in.NoWorse, base: map[num.Engine]*Solution{}}
	if !in.NoWorse {
		return j, nil
	}
	_, err := bf.Solve(ctx, in.base.cluster, bf.Settings{MaxBytes: s.MaxBytes})
	if errors.Is(err, num.ErrUnstable) {
		j.noWorse, err = false, nil
	}
	return j, err
}

// answer assembles an answer.
func (s *search) answer(ctx context.Context, settings Settings, proof Proof) (*Answer, error) {
	a := &Answer{Proof: proof, Solves: s.judge.solves}
	for _, b := range s.pending {
		a.Undecided = append(a.Undecided, s.in.choice(b.edges, b.lower))
	}
	var err error
	if a.Now, err = s.in.outcome(ctx, 0, make([]int, len(s.in.options)), settings); err != nil {
		return nil, err
	}
	if s.best != nil {
		a.Plan, err = s.in.outcome(ctx, s.best.edges, s.in.useful(s.best.lower), settings)
	} else {
		a.Most, err = s.in.outcome(ctx, bits(1)<<len(s.in.edges)-1, s.in.maxSteps(), settings)
	}
	return a, err
}

// proof returns the corners in the terms of the problem.
func (s *search) proof(ctx context.Context, delay float64) ([]Corner, error) {
	list, err := s.corners(ctx, delay)
	if err != nil {
		return nil, err
	}
	corners := []Corner{}
	fewer := len(s.fewer)
	for i, c := range list {
		out := Corner{Choice: s.in.choice(c.edges, c.steps), Fewer: i < fewer, Alone: c.fails.alone}
		switch c.fails.fails {
		case failsStability:
			out.Fails = FailsStability
		case failsNoWorse:
			out.Fails, out.Class = FailsNoWorse, s.in.Model.Classes[c.fails.class].Name
		case failsDelay:
			out.Fails = FailsDelay
		default:
			out.Fails = FailsTarget(c.fails.fails)
		}
		corners = append(corners, out)
	}
	return corners, nil
}
