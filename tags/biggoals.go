package tags

import (
	"fmt"
	"math"

	"productform/internal/input"
)

// A bigGoal says what the cutoff below a host is to be: e^log, or the one that leaves the host the slack; or if both
// are given, the greater of these. Either is nil if not.
type bigGoal struct{ log, slack ends }

// startGoals returns the cutoffs to start from. A cutoff below an overloaded host is to be raised until the host
// has as much slack as it lacks now.
func (p *bigSearch) startGoals(start []float64) ([]bigGoal, error) {
	n := len(p.speeds) - 1
	if len(start) != n {
		return nil, input.Errorf("start", fmt.Sprintf("%d cutoffs", len(start)), "%d, one fewer than hosts", n)
	}
	at := []bigPoint{p.low}
	for i, s := range start {
		path := fmt.Sprintf("start[%d]", i)
		if !(s > 0 && s <= math.MaxFloat64) {
			return nil, input.Errorf(path, s, "a number in the range of the sizes")
		}
		x := endsOfFloat(s, p.prec)
		if x.lo.Cmp(at[i].x.hi) <= 0 || x.hi.Cmp(p.high.x.lo) >= 0 {
			return nil, input.Errorf(path, s, "a number in the range of the sizes, above the cutoff before")
		}
		b, err := p.at(x)
		if err != nil {
			return nil, err
		}
		at = append(at, b)
	}
	at = append(at, p.high)
	goals := make([]bigGoal, n+1)
	for i := range goals {
		s, _ := p.stage(i, at[i], at[i+1])
		slack := ends{s.slack.size(), s.slack.size()}
		if most := endsOfFloat(0.5, p.prec); slack.lo.Cmp(most.lo) > 0 {
			slack = most
		}
		if least := endsOfFloat(1e-40, p.prec); slack.lo.Cmp(least.lo) < 0 {
			slack = least
		}
		goals[i] = bigGoal{log: at[i].log, slack: slack}
	}
	return goals, nil
}

// enter returns the state that meets the goals, or one with slacks divided by a power of 2, or one in which the
// slacks of hosts 2 to h alone are given: as they go to 0, the cutoffs fall to the least for which these hosts are
// not overloaded, and the first host is off best.
func (p *bigSearch) enter(goals []bigGoal) (bigState, error) {
	try := append([]bigGoal{}, goals...)
	for n := range 250 {
		s, ok, err := p.recover(try)
		if ok || err != nil {
			return s, err
		}
		for i := range try {
			if try[i].slack.lo == nil {
				return s, errUndecided
			}
			try[i].slack = try[i].slack.times2(-1)
			if n == 50 {
				try[i] = bigGoal{slack: goals[i].slack}
			}
		}
	}
	return bigState{}, fmt.Errorf("tags: near the cutoffs to start from: %w", ErrInfeasible)
}

// recover returns the state that meets the goals of hosts 2 to h, from the last to the second, and false if there is
// none in which all hosts have a slack.
func (p *bigSearch) recover(goals []bigGoal) (bigState, bool, error) {
	at := make([]bigPoint, len(p.speeds)+1)
	at[0], at[len(at)-1] = p.low, p.high
	for i := len(p.speeds) - 1; i > 0; i-- {
		ok := goals[i].log.lo != nil
		if ok {
			var err error
			if at[i], err = p.atLog(goals[i].log); err != nil {
				return bigState{}, false, err
			}
			if goals[i].slack.lo != nil {
				s, _ := p.stage(i, at[i], at[i+1])
				ok = s.slack.lo.Cmp(goals[i].slack.lo) >= 0
			}
		}
		if !ok {
			var err error
			if at[i], ok, err = p.withSlack(i, at[i+1], goals[i].slack); !ok || err != nil {
				return bigState{}, false, err
			}
		}
		if at[i].log.lo.Cmp(p.low.log.hi) <= 0 || at[i].log.hi.Cmp(at[i+1].log.lo) >= 0 {
			return bigState{}, false, nil
		}
		at[i].tail = p.part(0, at[i], p.high).point()
	}
	stages, ok := p.bigFarm.stages(at)
	return bigState{at, stages}, ok, nil
}

// atLog returns the point e^log, near enough but not proved, without its tail.
func (p *bigSearch) atLog(log ends) (bigPoint, error) {
	log = endsOfBig(log.middle(), p.prec)
	x, err := log.exp()
	if err != nil {
		return bigPoint{}, err
	}
	q, err := p.a.mul(log).neg().exp()
	return p.raise(x.point(), log, q.point()), err
}

// withSlack returns the point a that leaves host i, which serves sizes from a to b, the slack σ, and false if there is
// none; near enough but not proved, without its tail. E[X; a < X <= b] = (1 - σ) v/λ - b P(X > b) gives a^(1-α), or ln
// a where α = 1.
func (p *bigSearch) withSlack(i int, b bigPoint, slack ends) (bigPoint, bool, error) {
	one := endsOfInt(1, p.prec)
	part := one.sub(endsOfBig(slack.middle(), p.prec)).mul(p.speeds[i]).quo(p.rate).sub(b.x.mul(b.tail))
	if part.sign() <= 0 {
		return bigPoint{}, false, nil
	}
	var log, power ends
	if p.isAlpha(1) {
		log = b.log.sub(part.mul(p.mass)).point()
	} else {
		power = b.power[2].sub(part.mul(p.mass).quo(p.coefficient[2])).point()
		if power.sign() <= 0 {
			return bigPoint{}, false, nil
		}
		l, err := power.log()
		if err != nil {
			return bigPoint{}, false, err
		}
		log = l.quo(p.aLess1).neg().point()
	}
	x, err := log.exp()
	if err != nil {
		return bigPoint{}, false, err
	}
	x = x.point()
	q := one.quo(x)
	if !p.isAlpha(1) {
		q = power.quo(x)
	}
	return p.raise(x, log, q.point()), true, nil
}
