package tags

import (
	"fmt"
	"math"

	"productform/internal/input"

	"productform/num"
)

// A bigGoal says what the cutoff below a host is to be: e^log, or the one that leaves the host the slack; or if both
// are given, the greater of these. Either is nil if not.
type bigGoal struct{ log, slack num.Interval }

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
			return nil, idleStart(path, s, "a number in the range of the sizes")
		}
		x := num.FromFloat64(s, p.prec)
		if x.Low.Cmp(at[i].x.High) <= 0 || x.High.Cmp(p.high.x.Low) >= 0 {
			return nil, idleStart(path, s, "a number in the range of the sizes, above the cutoff before")
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
		slack := num.Interval{Low: s.slack.Abs(), High: s.slack.Abs()}
		if most := num.FromFloat64(0.5, p.prec); slack.Low.Cmp(most.Low) > 0 {
			slack = most
		}
		if least := num.FromFloat64(1e-40, p.prec); slack.Low.Cmp(least.Low) < 0 {
			slack = least
		}
		goals[i] = bigGoal{log: at[i].log, slack: slack}
	}
	return goals, nil
}

func idleStart(path string, s float64, want string) error {
	return fmt.Errorf("%w: %w", ErrIdleStart, input.Errorf(path, s, "%s", want))
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
			if try[i].slack.Low == nil {
				return s, errUndecided
			}
			try[i].slack = try[i].slack.Scale2(-1)
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
		ok := goals[i].log.Low != nil
		if ok {
			var err error
			if at[i], err = p.atLog(goals[i].log); err != nil {
				return bigState{}, false, err
			}
			if goals[i].slack.Low != nil {
				s, _ := p.stage(i, at[i], at[i+1])
				ok = s.slack.Low.Cmp(goals[i].slack.Low) >= 0
			}
		}
		if !ok {
			var err error
			if at[i], ok, err = p.withSlack(i, at[i+1], goals[i].slack); !ok || err != nil {
				return bigState{}, false, err
			}
		}
		if at[i].log.Low.Cmp(p.low.log.High) <= 0 || at[i].log.High.Cmp(at[i+1].log.Low) >= 0 {
			return bigState{}, false, nil
		}
		at[i].tail = p.part(0, at[i], p.high).Point()
	}
	stages, ok := p.bigFarm.stages(at)
	return bigState{at, stages}, ok, nil
}

// atLog returns the point e^log, near enough but not proved, without its tail.
func (p *bigSearch) atLog(log num.Interval) (bigPoint, error) {
	log = num.FromBig(log.Middle(), p.prec)
	x, err := log.Exp()
	if err != nil {
		return bigPoint{}, err
	}
	q, err := p.a.Mul(log).Neg().Exp()
	return p.raise(x.Point(), log, q.Point()), err
}

// withSlack returns the point a that leaves host i, which serves sizes from a to b, the slack σ, and false if there is
// none; near enough but not proved, without its tail. E[X; a < X <= b] = (1 - σ) v/λ - b P(X > b) gives a^(1-α), or ln
// a where α = 1.
func (p *bigSearch) withSlack(i int, b bigPoint, slack num.Interval) (bigPoint, bool, error) {
	one := num.FromInt(1, p.prec)
	part := one.Sub(num.FromBig(slack.Middle(), p.prec)).Mul(p.speeds[i]).Quo(p.rate).Sub(b.x.Mul(b.tail))
	if part.Sign() <= 0 {
		return bigPoint{}, false, nil
	}
	var log, power num.Interval
	if p.isAlpha(1) {
		log = b.log.Sub(part.Mul(p.mass)).Point()
	} else {
		power = b.power[2].Sub(part.Mul(p.mass).Quo(p.coefficient[2])).Point()
		if power.Sign() <= 0 {
			return bigPoint{}, false, nil
		}
		l, err := power.Log()
		if err != nil {
			return bigPoint{}, false, err
		}
		log = l.Quo(p.aLess1).Neg().Point()
	}
	x, err := log.Exp()
	if err != nil {
		return bigPoint{}, false, err
	}
	x = x.Point()
	q := one.Quo(x)
	if !p.isAlpha(1) {
		q = power.Quo(x)
	}
	return p.raise(x, log, q.Point()), true, nil
}
