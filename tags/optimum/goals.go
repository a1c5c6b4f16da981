package optimum

import (
	"fmt"
	"math"
	"productform/sizes/exact"
	"productform/tags"

	"productform/internal/input"

	"productform/num"
)

// A goal defines the cutoff below a host: e^log, or the cutoff that gives the host the slack. If
// both are given, the larger cutoff applies. Either may be nil.
type goal struct{ log, slack num.Interval }

// startGoals returns the initial cutoffs. A cutoff below an overloaded host must be raised until
// the host has as much slack as it now lacks.
func (p *search) startGoals(start []float64) ([]goal, error) {
	n := len(p.Speeds) - 1
	if len(start) != n {
		return nil, input.Errorf("start", fmt.Sprintf("%d cutoffs", len(start)), "%d, one fewer than hosts", n)
	}
	at := []exact.Point{p.start()}
	for i, s := range start {
		path := fmt.Sprintf("start[%d]", i)
		if !(s > 0 && s <= math.MaxFloat64) {
			return nil, idleStart(path, s, "a number in the range of the sizes")
		}
		x := num.FromFloat64(s, p.Prec)
		if x.Low.Cmp(at[i].X.High) <= 0 || p.High.X.Low != nil && x.High.Cmp(p.High.X.Low) >= 0 {
			return nil, idleStart(path, s, "a number in the range of the sizes, above the previous cutoff")
		}
		b, err := p.point(x)
		if err != nil {
			return nil, err
		}
		at = append(at, b)
	}
	at = append(at, p.High)
	goals := make([]goal, n+1)
	for i := range goals {
		s, _ := p.stage(i, at[i], at[i+1])
		slack := num.Interval{Low: s.slack.Abs(), High: s.slack.Abs()}
		if most := num.FromFloat64(0.5, p.Prec); slack.Low.Cmp(most.Low) > 0 {
			slack = most
		}
		if least := num.FromFloat64(1e-40, p.Prec); slack.Low.Cmp(least.Low) < 0 {
			slack = least
		}
		goals[i] = goal{log: at[i].Log, slack: slack}
	}
	return goals, nil
}

func idleStart(path string, s float64, want string) error {
	return fmt.Errorf("%w: %w", ErrIdleStart, input.Errorf(path, s, "%s", want))
}

// enter returns the state that meets the goals. If that fails, it divides the slacks by a power of
// 2, or prescribes only the slacks of hosts 2 to h. As these go to 0, the cutoffs fall to the
// smallest that do not overload these hosts, which is best for the first host.
func (p *search) enter(goals []goal) (state, error) {
	try := append([]goal{}, goals...)
	for n := range 250 {
		s, ok, err := p.recover(try)
		if ok || err != nil {
			return s, err
		}
		for i := range try {
			if try[i].slack.Low == nil {
				return s, exact.ErrMoreBits
			}
			try[i].slack = try[i].slack.Scale2(-1)
			if n == 50 {
				try[i] = goal{slack: goals[i].slack}
			}
		}
	}
	return state{}, fmt.Errorf("tags: near the initial cutoffs: %w", tags.ErrInfeasible)
}

// recover returns the state that meets the goals of hosts 2 to h, from the last to the second. It
// returns false if no such state gives all hosts a positive slack.
func (p *search) recover(goals []goal) (state, bool, error) {
	at := make([]exact.Point, len(p.Speeds)+1)
	at[0], at[len(at)-1] = p.start(), p.High
	for i := len(p.Speeds) - 1; i > 0; i-- {
		ok := goals[i].log.Low != nil
		if ok {
			var err error
			if at[i], err = p.pointAtLog(goals[i].log); err != nil {
				return state{}, false, err
			}
			if goals[i].slack.Low != nil {
				s, _ := p.stage(i, at[i], at[i+1])
				ok = s.slack.Low.Cmp(goals[i].slack.Low) >= 0
			}
		}
		if !ok {
			var err error
			if at[i], ok, err = p.withSlack(i, at[i+1], goals[i].slack); !ok || err != nil {
				return state{}, false, err
			}
		}
		if at[i].X.Low.Cmp(at[0].X.High) <= 0 || at[i+1].X.Low != nil && at[i].X.High.Cmp(at[i+1].X.Low) >= 0 {
			return state{}, false, nil
		}
	}
	stages, ok := p.farm.stages(at)
	return state{at, stages}, ok, nil
}

// pointAtLog returns a point near e^log, without proof.
func (p *search) pointAtLog(log num.Interval) (exact.Point, error) {
	middle := num.FromBig(log.Middle(), p.Prec)
	if p.cut != nil {
		x, err := middle.Exp()
		if err != nil {
			return exact.Point{}, err
		}
		return p.point(x.Point())
	}
	return p.AtLog(middle)
}

// withSlack returns a point a that leaves host i, which serves sizes from a to b, approximately the
// slack σ; it returns false if there is none. E[X; a < X <= b] = (1 - σ) v/λ - b P(X > b) falls in
// a, by a² f(a) in ln a. Without a closed form, bisection in few bits finds a start for Newton's
// method.
func (p *search) withSlack(i int, b exact.Point, slack num.Interval) (exact.Point, bool, error) {
	if p.cut != nil { // the search starts without overloaded hosts, and stays there
		return exact.Point{}, false, nil
	}
	one := num.FromInt(1, p.Prec)
	work := one.Sub(num.FromBig(slack.Middle(), p.Prec)).Mul(p.Speeds[i]).Quo(p.Rate)
	if b.X.Low != nil {
		work = work.Sub(b.X.Mul(b.Tail()))
	}
	work = work.Point()
	if work.Sign() <= 0 || p.Low.Part(1, b).Low.Cmp(work.High) <= 0 {
		return exact.Point{}, false, nil
	}
	if a, ok, err := p.WithWork(work.Add(b.Above[2])); ok || err != nil {
		return a, ok, err
	}
	u, err := p.startLog(b, work)
	if err != nil {
		return exact.Point{}, false, err
	}
	for range 20 {
		a, err := p.pointAtLog(u)
		if err != nil {
			return a, false, err
		}
		fall := a.X.Square().Mul(a.Density)
		if fall.Sign() <= 0 {
			return a, false, exact.ErrMoreBits
		}
		step := a.Part(1, b).Sub(work).Quo(fall).Point()
		if step.Sign() == 0 || step.Low.MantExp(nil) < u.Low.MantExp(nil)-int(p.Prec)*3/4 {
			return a, true, nil
		}
		u = u.Add(step).Point()
	}
	return exact.Point{}, false, exact.ErrMoreBits
}

// startLog returns ln a for E[X; a < X <= b] = work to about 60 bits.
func (p *search) startLog(b exact.Point, work num.Interval) (num.Interval, error) {
	end := p.rough.High
	if b.X.Low != nil && !b.Same(p.High) {
		var err error
		if end, err = p.rough.Inside(num.FromBig(b.X.Middle(), p.rough.Prec)); err != nil {
			return work, err
		}
	}
	logOf := func(x num.Interval) (num.Interval, error) { return num.FromBig(x.Middle(), p.rough.Prec).Log() }
	more := func(u num.Interval) (bool, error) { // whether more work lies above e^u
		x, err := u.Exp()
		if err != nil {
			return false, err
		}
		if p.Low.X.Low.Sign() > 0 && x.Low.Cmp(p.rough.Low.X.Low) < 0 {
			return true, nil
		}
		a, err := p.rough.Inside(x.Point())
		return err == nil && a.Part(1, end).Middle().Cmp(work.Low) > 0, err
	}
	low, err := logOf(p.rough.Mean())
	if err != nil {
		return work, err
	}
	high := low
	for k := range 2100 { // downwards, and upwards if the sizes are unbounded
		wide := num.FromInt(int64(k), p.rough.Prec)
		if p.Low.X.Low.Sign() > 0 {
			if low, err = logOf(p.rough.Low.X); err != nil {
				return work, err
			}
			break
		}
		if ok, err := more(low.Sub(wide)); ok || err != nil {
			low = low.Sub(wide)
			break
		}
	}
	if end.X.Low != nil {
		if high, err = logOf(end.X); err != nil {
			return work, err
		}
	} else {
		for range 2100 {
			if ok, err := more(high); !ok || err != nil {
				break
			}
			high = high.Add(num.FromInt(1, p.rough.Prec))
		}
	}
	for range 80 {
		mid := low.Add(high).Scale2(-1).Point()
		ok, err := more(mid)
		if err != nil {
			return mid, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return num.FromBig(low.Middle(), p.Prec), nil
}
