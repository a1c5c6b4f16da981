package tags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// Enclose returns what [Evaluate] returns for TAGS, with proved bounds: every number is enclosed to a relative width of at most
// tolerance, in [1e-290, 1), which is 1e-15 if 0. All steps are done on intervals with their ends rounded outward
// and with the exponentials and logarithms of [num], a logarithm and an exponential a cutoff; the number of bits is
// doubled until all widths are met. So near-equal cutoffs, loads next to 1 or α next to 1 or 2 take time, not digits.
//
// The error names the field of m, the cutoff or tolerance that is out of range, is an *[UnstableError] if a load is
// proved to be at least 1, wraps [ErrPrecision] where bits do not help (a load is 1, and α no integer above 1 for which
// it is a fraction, or k follows from the mean and is a cutoff), or is [num.ErrRange] for powers beyond e^±2e8.
func Enclose(m ExactModel, cutoffs []*big.Rat, tolerance float64) (Result, error) {
	return m.enclose(cutoffs, tolerance, false)
}

// enclose is [Enclose], and with formal set evaluates the formulas for overloaded hosts, too.
func (m ExactModel) enclose(cutoffs []*big.Rat, tolerance float64, formal bool) (Result, error) {
	if err := m.Validate(); err != nil {
		return Result{}, err
	}
	if err := m.checkCutoffs(cutoffs); err != nil {
		return Result{}, err
	}
	tolerance = cmp.Or(tolerance, 1e-15)
	if !(tolerance >= 1e-290 && tolerance < 1) {
		return Result{}, input.Errorf("tolerance", tolerance, "a number in [1e-290, 1)")
	}
	if !formal {
		for i, load := range m.fractions(cutoffs) {
			if load.Cmp(big.NewRat(1, 1)) >= 0 {
				v, _ := load.Float64()
				return Result{}, &UnstableError{Host: i, Load: v}
			}
		}
	}
	var r Result
	undecided := -1 // host whose load may be 1
	err := settle(72-uint(math.Floor(math.Log2(tolerance))), maxPrec, func(prec uint) error {
		f, err := m.farm(prec)
		if err != nil {
			return err
		}
		at, err := f.points(cutoffs)
		if err != nil {
			return err
		}
		if r, undecided, err = f.evaluate(at, formal); err != nil {
			return err
		}
		r.Cutoffs, r.ExactCutoffs = make([]float64, len(cutoffs)), make([]*big.Rat, len(cutoffs))
		for i, s := range cutoffs {
			r.Cutoffs[i], _ = s.Float64()
			r.ExactCutoffs[i] = new(big.Rat).Set(s)
		}
		r.Precision = prec
		return r.measure(tolerance)
	})
	if errors.Is(err, ErrPrecision) && undecided >= 0 {
		err = &PrecisionError{Host: undecided}
	}
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// checkCutoffs accepts h-1 cutoffs that are at least 0 and do not fall.
func (m ExactModel) checkCutoffs(cutoffs []*big.Rat) error {
	if len(cutoffs) != m.Hosts-1 {
		return input.Errorf("Cutoffs", fmt.Sprintf("%d cutoffs", len(cutoffs)), "%d, one fewer than hosts", m.Hosts-1)
	}
	before := new(big.Rat)
	for i, s := range cutoffs {
		if s == nil || s.Cmp(before) < 0 {
			return input.Errorf(fmt.Sprintf("Cutoffs[%d]", i), ratText(s), "a number >= %s", ratText(before))
		}
		before = s
	}
	return nil
}

// measure sets Width, and returns errUndecided if it is above tolerance.
func (r *Result) measure(tolerance float64) error {
	values := []num.Value{r.ArrivalRate, r.MeanWaiting, r.MeanSlowdown, r.MeanDelay, r.MeanStretch, r.Lost, r.Excess}
	for _, h := range r.Hosts {
		values = append(values, h.Load, h.Slack, h.Visit, h.Final, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting, h.Slowdown, h.Delay)
	}
	for _, v := range values {
		e, _ := v.Interval()
		if err := narrowEnough(e, tolerance); err != nil {
			return err
		}
		r.Width = max(r.Width, e.RelWidth())
	}
	return nil
}

// A bigFarm is an [ExactModel] to a number of bits.
type bigFarm struct {
	bigLaw
	rate   num.Interval   // λ
	speeds []num.Interval // v_i
}

func (m ExactModel) farm(prec uint) (bigFarm, error) {
	l, err := m.law(prec)
	if err != nil {
		return bigFarm{}, err
	}
	f := bigFarm{bigLaw: l}
	total := new(big.Rat).SetInt64(int64(m.Hosts))
	if m.Speeds != nil {
		total.SetInt64(0)
	}
	for i := range m.Hosts {
		v := big.NewRat(1, 1)
		if m.Speeds != nil {
			v = m.Speeds[i]
			total.Add(total, v)
		}
		f.speeds = append(f.speeds, num.FromRat(v, prec))
	}
	mean := l.part(1, l.low, l.high)
	if m.Mean != nil {
		mean = num.FromRat(m.Mean, prec)
	}
	if mean.Sign() <= 0 {
		return bigFarm{}, errUndecided
	}
	f.rate = num.FromRat(total.Mul(total, m.Load), prec).Quo(mean)
	return f, nil
}

// points returns k, the cutoffs and p.
func (f *bigFarm) points(cutoffs []*big.Rat) ([]bigPoint, error) {
	at := []bigPoint{f.low}
	for i, s := range cutoffs {
		if i > 0 && s.Cmp(cutoffs[i-1]) == 0 {
			at = append(at, at[i])
			continue
		}
		b, err := f.point(s)
		if err != nil {
			return nil, err
		}
		at = append(at, b)
	}
	return append(at, f.high), nil
}

// point returns the point of a cutoff: one at or below k has the powers of k, and one at or above p those of p.
func (f *bigFarm) point(s *big.Rat) (bigPoint, error) {
	x := num.FromRat(s, f.prec)
	low := f.low.x
	switch {
	case s.Cmp(f.exactHigh) >= 0:
		b := f.high
		b.x = x
		return b, nil
	case f.exactLow != nil && s.Cmp(f.exactLow) <= 0, f.exactLow == nil && x.High.Cmp(low.Low) <= 0:
		b := f.low
		b.x = x
		return b, nil
	case f.exactLow == nil && x.Low.Cmp(low.High) <= 0:
		return bigPoint{}, errUndecided
	}
	return f.at(x)
}

// noneBetween reports whether two points share their powers, those of k, of p or of one cutoff, so that no size is
// between them: it compares where the numbers stand, as two intervals of one value are not known to be equal.
func noneBetween(a, b bigPoint) bool { return a.log.Low == b.log.Low }

// visit returns M_1 and M_2 of the host that serves sizes from a to b: M_r = E[X^r; a < X <= b] + b^r P(X > b).
func (f *bigFarm) visit(a, b bigPoint) (m1, m2 num.Interval) {
	lost := b.x.Mul(b.tail)
	if noneBetween(a, b) {
		return lost, b.x.Mul(lost)
	}
	return f.part(1, a, b).Add(lost), f.part(2, a, b).Add(b.x.Mul(lost))
}

// enclosed returns an interval as a value; its double is 0 if none is near, which [Result.finite] tells from a 0.
func enclosed(e num.Interval) num.Value {
	f, _ := e.Float64()
	return num.Value{Float: f, Low: e.Low, High: e.High}
}

// evaluate returns all means for the points k, s_1, ..., s_{h-1}, p. If an interval that ought to be positive is not,
// the error is errUndecided, or an *[UnstableError] if a load is proved to be at least 1. undecided is the host whose
// slack may be 0, or -1.
func (f *bigFarm) evaluate(at []bigPoint, formal bool) (r Result, undecided int, err error) {
	zero, one := num.FromInt(0, f.prec), num.FromInt(1, f.prec)
	var visits []visit[num.Interval]
	for i, speed := range f.speeds {
		a, b := at[i], at[i+1]
		v := visit[num.Interval]{speed: speed, part: zero, end: zero, first: zero, second: zero, whole: zero, inverse: zero,
			weight: zero, slack: one, cutoff: b.x, killed: zero, killedInverse: zero, hasInverse: true}
		if b.x.High.Sign() == 0 || noneBetween(a, f.high) { // idle
			visits = append(visits, v)
			continue
		}
		v.comes, v.ends, v.kills = true, !noneBetween(a, b), !noneBetween(b, f.high)
		v.first, v.second = f.visit(a, b)
		v.part, v.weight = a.tail, f.part(-1, a, f.high)
		if v.ends {
			v.end, v.whole, v.inverse = f.part(0, a, b), f.part(1, a, b), f.part(-1, a, b)
		}
		if v.kills {
			v.killed, v.killedInverse = b.tail, f.part(-1, b, f.high)
		}
		if v.part.Sign() <= 0 || v.ends && v.end.Sign() <= 0 {
			return r, -1, errUndecided
		}
		load := f.rate.Mul(v.first).Quo(speed)
		v.slack = one.Sub(load)
		switch {
		case v.slack.Sign() == 0 && !(v.slack.High.Sign() == 0 && !formal):
			return r, i, errUndecided
		case v.slack.High.Sign() <= 0 && !formal:
			l, _ := load.Middle().Float64()
			return r, i, &UnstableError{Host: i, Load: l}
		}
		visits = append(visits, v)
	}
	formulas := formulas[num.Interval]{rate: f.rate, zero: zero, value: enclosed}
	r = formulas.loads(visits)
	r.Policy, r.Kind = PolicyTAGS, PolicyTAGS.kind(len(visits))
	formulas.waits(&r, visits)
	return r, -1, nil
}
