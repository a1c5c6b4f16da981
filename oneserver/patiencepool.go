package oneserver

import (
	"cmp"
	"context"
	"errors"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/num"
)

// isErlangA reports whether a part is the queue M/M/n+M: a pool whose classes have the same
// patience, which is exponential, endless or 0.
func isErlangA(m *cluster.Model, p *part, byClass []patience) bool {
	first, _ := m.PatienceOf(p.classes[0].row)
	for i, c := range p.classes {
		mean, _ := m.PatienceOf(c.row)
		own := &byClass[i]
		same := (mean == nil) == (first == nil) && (mean == nil || mean.Cmp(first) == 0)
		if !same || !(own.endless() || own.none() || own.exponential) {
			return false
		}
	}
	return p.isPool()
}

// A poolAnswer holds the measures of a pool, which are the same for all its classes.
type poolAnswer struct {
	class       PatienceClass
	served      float64 // fraction of the jobs
	utilization float64
	bound       float64 // on all relative errors
}

// addPool solves a part that is one pool by the series of package delays, and adds its measures.
func (b *patienceBuilder) addPool(ctx context.Context, p *part) error {
	group := &p.groups[0]
	mean, _ := b.m.PatienceOf(p.classes[0].row)
	q := delays.Queue{
		Servers: group.n, ArrivalRate: new(big.Rat), MeanDuration: new(big.Rat).Inv(group.capacity), MeanPatience: mean,
	}
	for _, c := range p.classes {
		q.ArrivalRate.Add(q.ArrivalRate, c.rate)
	}
	ladder := arithmetic.Ladder{RelTol: b.settings.RelTol, MaxPrec: 1 << 14}
	a, err := arithmetic.Climb(ladder, func(engine num.Engine, prec uint) (*poolAnswer, float64, error) {
		l, err := delays.NewLine(ctx, q, engine, prec)
		if err != nil {
			return nil, 0, err
		}
		return b.answerPool(l, q.MeanDuration)
	})
	var large *num.TooLargeError
	if errors.As(err, &large) { // by its patience
		in := *large.Input
		in.Path = patiencePath(b.m, p.classes[0].row) + "mean_patience"
		return &num.TooLargeError{States: large.States, Input: &in}
	}
	if errors.Is(err, num.ErrDigits) { // times beyond float64
		return cmp.Or(checkRate(group.capacity, 1e300), checkRate(q.ArrivalRate, 1e300), err)
	}
	if err != nil {
		return err
	}
	b.bound = max(b.bound, a.bound)
	b.addGroup(p, 0, a.utilization)
	for _, x := range p.classes {
		c := &b.result.Classes[x.row]
		name, rate := c.Name, c.ArrivalRate
		*c = a.class
		c.Name, c.ArrivalRate = name, rate
		b.addServing(c, p, 0, a.served)
		b.addClass(x)
	}
	return nil
}

// answerPool returns the measures of a pool, and a bound on their errors, for jobs of this mean
// duration.
func (b *patienceBuilder) answerPool(l *delays.Line, duration *big.Rat) (*poolAnswer, float64, error) {
	var o arithmetic.Output
	m := l.Measures()
	value := func(x arithmetic.Number) float64 { return o.Value(x).Float }
	a := &poolAnswer{served: value(m.Served), utilization: value(m.Utilization)}
	c := &a.class
	c.WaitProbability, c.AbandonProbability = pointer(value(m.Wait)), pointer(value(m.Abandon))
	c.MeanWaiting, c.MeanWaitingServed = pointer(value(m.Waiting)), pointer(value(m.WaitingServed))
	if m.WaitingAbandoned != nil {
		c.MeanWaitingAbandoned = pointer(value(*m.WaitingAbandoned))
	}
	c.MeanDelay = pointer(value(m.Waiting.Add(m.Served.Mul(m.Served.Rational(duration)))))
	if len(b.settings.Times)+len(b.settings.Levels) > 0 {
		var err error
		if l, err = l.Whole(); err != nil {
			return nil, 0, err
		}
	}
	for _, t := range b.settings.Times {
		w, err := l.Within(t)
		if err != nil {
			return nil, 0, err
		}
		c.Within = append(c.Within, PatienceWithin{t, value(w.All), value(w.Served), value(w.IfServed)})
	}
	for _, level := range b.settings.Levels {
		for _, of := range []delays.Jobs{delays.AllJobs, delays.ServedJobs} {
			v, width, err := l.Percentile(of, level, b.settings.RelTol)
			if err != nil {
				return nil, 0, err
			}
			o.Width, o.Bound = max(o.Width, width), max(o.Bound, width)
			if of == delays.AllJobs {
				c.Waiting = append(c.Waiting, v)
			} else {
				c.WaitingServed = append(c.WaitingServed, v)
			}
		}
	}
	a.bound = o.Bound
	return a, o.Width, o.Check()
}
