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

// An EnclosedHost is a [Host] of proved bounds.
type EnclosedHost struct {
	Load        num.Interval // ρ_i
	Slack       num.Interval // 1 - ρ_i, as narrow as the rest
	Visit       num.Interval // P(X > s_{i-1}), the part of the jobs that come to it
	Final       num.Interval // p_i = P(s_{i-1} < X <= s_i), the part that ends at it
	VisitMean   num.Interval // E[min(X, s_i) | X > s_{i-1}], work
	VisitSquare num.Interval // E[min(X, s_i)² | X > s_{i-1}], work²
	VisitWait   num.Interval // V_i, seconds a visit waits
	Waiting     num.Interval // W_i = V_1 + ... + V_i, seconds
	Slowdown    num.Interval // E[S_i] = W_i E[1/X_i]
	Response    num.Interval // E[T_i], seconds from arrival to end, with the runs that were killed
}

// An EnclosedResult is a [Result] of proved bounds: every number lies in its enclosure.
type EnclosedResult struct {
	Cutoffs     []*big.Rat   // s_1, ..., s_{h-1}, work, exact
	Low         num.Interval // k, work
	ArrivalRate num.Interval // λ, jobs a second

	MeanWaiting  num.Interval // E[W], seconds in queues, all visits of a job together
	MeanSlowdown num.Interval // E[S] = E[W/X], seconds a unit of work
	MeanResponse num.Interval // E[T] = E[W] + E[time in service, lost runs too], seconds
	MeanStretch  num.Interval // E[T/X] = E[S] + E[time in service/X], lost runs too, seconds a unit of work
	Lost         num.Interval // Σ_{i<h} s_i P(X > s_i), the mean work a job loses to kills
	Excess       num.Interval // λ Σ_{i<h} s_i P(X > s_i)/v_i, the load that lost work adds
	Hosts        []EnclosedHost

	Width     float64 // relative width of the widest enclosure
	Precision uint    // bits that it took
}

// Enclose returns what [Analyze] returns, with proved bounds: every number is enclosed to a relative width of at most
// tolerance, in [1e-290, 1), which is 1e-15 if 0. All steps are done on intervals with their ends rounded outward
// and with the exponentials and logarithms of [num], a logarithm and an exponential a cutoff; the number of bits is
// doubled until all widths are met. So near-equal cutoffs, loads next to 1 or α next to 1 or 2 take time, not digits.
//
// The error names the field of m, the cutoff or tolerance that is out of range, is an *[UnstableError] if a load is
// proved to be at least 1, wraps [ErrPrecision] where bits do not help (a load is 1, and α no integer above 1 for which
// it is a fraction, or k follows from the mean and is a cutoff), or is [num.ErrRange] for powers beyond e^±2e8.
func Enclose(m ExactModel, cutoffs []*big.Rat, tolerance float64) (EnclosedResult, error) {
	return m.enclose(cutoffs, tolerance, false)
}

// enclose is [Enclose], and with formal set evaluates the formulas for overloaded hosts, too.
func (m ExactModel) enclose(cutoffs []*big.Rat, tolerance float64, formal bool) (EnclosedResult, error) {
	if err := m.Validate(); err != nil {
		return EnclosedResult{}, err
	}
	if err := m.checkCutoffs(cutoffs); err != nil {
		return EnclosedResult{}, err
	}
	tolerance = cmp.Or(tolerance, 1e-15)
	if !(tolerance >= 1e-290 && tolerance < 1) {
		return EnclosedResult{}, input.Errorf("tolerance", tolerance, "a number in [1e-290, 1)")
	}
	if !formal {
		for i, load := range m.fractions(cutoffs) {
			if load.Cmp(big.NewRat(1, 1)) >= 0 {
				v, _ := load.Float64()
				return EnclosedResult{}, &UnstableError{Host: i, Load: v}
			}
		}
	}
	var r EnclosedResult
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
		r.Cutoffs = make([]*big.Rat, len(cutoffs))
		for i, s := range cutoffs {
			r.Cutoffs[i] = new(big.Rat).Set(s)
		}
		r.Precision = prec
		return r.measure(tolerance)
	})
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, ErrPrecision) && undecided >= 0:
		err = fmt.Errorf("%w: whether the load of host %d is below 1", err, undecided+1)
	}
	return EnclosedResult{}, err
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
func (r *EnclosedResult) measure(tolerance float64) error {
	r.Width = 0
	check := func(all ...num.Interval) error {
		for _, e := range all {
			if err := narrowEnough(e, tolerance); err != nil {
				return err
			}
			r.Width = max(r.Width, e.RelWidth())
		}
		return nil
	}
	for _, h := range r.Hosts {
		if err := check(h.Load, h.Slack, h.Visit, h.Final, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting,
			h.Slowdown, h.Response); err != nil {
			return err
		}
	}
	return check(r.Low, r.ArrivalRate, r.MeanWaiting, r.MeanSlowdown, r.MeanResponse, r.MeanStretch, r.Lost, r.Excess)
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

// idleHost is a host that gets no jobs.
func idleHost(prec uint) EnclosedHost {
	zero := num.FromInt(0, prec)
	return EnclosedHost{Load: zero, Slack: num.FromInt(1, prec), Visit: zero, Final: zero, VisitMean: zero, VisitSquare: zero,
		VisitWait: zero, Waiting: zero, Slowdown: zero, Response: zero}
}

// evaluate returns all means for the points k, s_1, ..., s_{h-1}, p. If an interval that ought to be positive is not,
// the error is errUndecided, or an *[UnstableError] if a load is proved to be at least 1. undecided is the host whose
// slack may be 0, or -1.
func (f *bigFarm) evaluate(at []bigPoint, formal bool) (r EnclosedResult, undecided int, err error) {
	zero := num.FromInt(0, f.prec)
	waiting, meanWaiting, meanSlowdown, work, lost, excess, runs := zero, zero, zero, zero, zero, zero, zero
	stretch := zero // E[time in service/X]
	for i, speed := range f.speeds {
		a, b := at[i], at[i+1]
		if b.x.High.Sign() == 0 || noneBetween(a, f.high) { // idle
			idle := idleHost(f.prec)
			idle.Waiting = waiting
			r.Hosts = append(r.Hosts, idle)
			continue
		}
		m1, m2 := f.visit(a, b)
		none := noneBetween(a, b)
		final := zero
		if !none {
			final = f.part(0, a, b)
		}
		if a.tail.Sign() <= 0 || !none && final.Sign() <= 0 {
			return r, -1, errUndecided
		}
		load := f.rate.Mul(m1).Quo(speed)
		slack := num.FromInt(1, f.prec).Sub(load)
		switch {
		case slack.Sign() == 0 && !(slack.High.Sign() == 0 && !formal):
			return r, i, errUndecided
		case slack.High.Sign() <= 0 && !formal:
			l, _ := load.Middle().Float64()
			return r, i, &UnstableError{Host: i, Load: l}
		}
		wait := f.rate.Mul(m2).Quo(speed.Square().Mul(slack)).Scale2(-1)
		waiting = waiting.Add(wait)
		meanWaiting = meanWaiting.Add(a.tail.Mul(wait))
		meanSlowdown = meanSlowdown.Add(f.part(-1, a, f.high).Mul(wait))
		work = work.Add(m1.Quo(speed))
		host := EnclosedHost{
			Load:        load,
			Slack:       slack,
			Visit:       a.tail,
			Final:       final,
			VisitMean:   m1.Quo(a.tail),
			VisitSquare: m2.Quo(a.tail),
			VisitWait:   wait,
			Waiting:     waiting,
			Slowdown:    zero,
			Response:    zero,
		}
		if !none {
			host.Slowdown = waiting.Mul(f.part(-1, a, b)).Quo(final)
			host.Response = waiting.Add(runs).Add(f.part(1, a, b).Quo(final).Quo(speed))
		}
		r.Hosts = append(r.Hosts, host)
		stretch = stretch.Add(final.Quo(speed))
		if !noneBetween(b, f.high) {
			stretch = stretch.Add(b.x.Quo(speed).Mul(f.part(-1, b, f.high)))
			runs = runs.Add(b.x.Quo(speed))
			kills := b.x.Mul(b.tail)
			lost = lost.Add(kills)
			excess = excess.Add(f.rate.Mul(kills).Quo(speed))
		}
	}
	r.Low, r.ArrivalRate = f.low.x, f.rate
	r.MeanWaiting, r.MeanSlowdown = meanWaiting, meanSlowdown
	r.MeanResponse = meanWaiting.Add(work)
	r.MeanStretch = meanSlowdown.Add(stretch)
	r.Lost, r.Excess = lost, excess
	return r, -1, nil
}
