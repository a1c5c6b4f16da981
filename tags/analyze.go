package tags

import (
	"fmt"
	"math"
)

// Analyze returns the stationary means of TAGS with the given cutoffs, by the formulas of the package comment ([HB02],
// Appendix), in h evaluations of a few partial moments each. The means that count killed runs are those that the paper
// describes but leaves out: with them E[T] is the time from arrival to end.
//
// The error names the field of m or the cutoff that is out of range, wraps [sizes.ErrInfinite] or [sizes.ErrOverflow] if
// E[X²] or a mean asked for is infinite or beyond float64, or is an *[UnstableError] if a host is overloaded: then the
// loads, slacks and visits in the result hold, the waiting times are 0.
func Analyze(m Model, cutoffs []float64) (Result, error) {
	if err := m.Validate(); err != nil {
		return Result{}, err
	}
	if err := m.CheckCutoffs(cutoffs); err != nil {
		return Result{}, err
	}
	l, err := newLaw(m)
	if err != nil {
		return Result{}, err
	}
	if err := l.setCutoffs(m, cutoffs); err != nil {
		return Result{}, err
	}
	r := hostsOf(m, l, Objective{Waiting: 1}).visits(cutoffs)
	if l.err != nil {
		return Result{}, l.err
	}
	for i, host := range r.Hosts {
		if !(host.Slack > 0) {
			return r, &UnstableError{i, host.Load, host.Slack > -host.SlackError}
		}
	}
	m.waits(l, &r)
	if l.err != nil {
		return Result{}, l.err
	}
	if err := r.finite(); err != nil {
		return Result{}, err
	}
	return r, nil
}

// ArrivalRate returns λ = ρ Σ_i v_i/E[X], jobs a second. The error is that of [Model.Validate], or that of E[X].
func (m Model) ArrivalRate() (float64, error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	mean, err := m.Sizes.Moment(1)
	if err != nil {
		return 0, fmt.Errorf("tags: E[X] of %v: %w", m.Sizes, err)
	}
	rate := m.Load * m.capacity() / mean
	if err := checkFinite(rate); err != nil {
		return 0, err
	}
	return rate, nil
}

// rate returns λ.
func (m Model) rate(l *law) float64 { return m.Load * m.capacity() / l.mean }

// between returns the cutoffs below and above host i: s_{i-1} and s_i, of which the last is +Inf.
func between(cutoffs []float64, i int) (a, b float64) {
	if i > 0 {
		a = cutoffs[i-1]
	}
	if i == len(cutoffs) {
		return a, math.Inf(1)
	}
	return a, cutoffs[i]
}

// visits returns what does not depend on the queues.
func (f *killFarm) visits(cutoffs []float64) Result {
	l, rate := f.l, f.rate
	r := Result{Cutoffs: append([]float64{}, cutoffs...), ArrivalRate: rate, NoSlowdown: l.noInverse}
	for i, v := range f.speed {
		a, b := between(cutoffs, i)
		p, q := f.work(a), f.work(b)
		visit := p.tail
		if b == 0 { // the host is skipped
			visit = 0
		}
		host := Host{Visit: visit, Final: l.partial(0, a, b)}
		host.Slack, host.SlackError = f.slack(i, &p, &q)
		m1 := l.capped(1, a, b)
		host.Load = rate * m1 / v
		if visit > 0 {
			host.VisitMean, host.VisitSquare = m1/visit, l.capped(2, a, b)/visit
			if host.VisitSquare < leastSquare && l.err == nil {
				l.err = fmt.Errorf("tags: the mean square of visits of host %d is below float64", i+1)
			}
		}
		if tail := l.tail(b); tail > 0 {
			lost := b * tail
			r.Lost += lost
			r.Excess += rate * lost / v
		}
		r.Hosts = append(r.Hosts, host)
	}
	return r
}

// spare returns 1 - λE[X]/v_i, the slack of a host that does all the work without kills.
func (m Model) spare(i int) float64 { return math.FMA(-m.Load, m.capacity()/m.speed(i), 1) }

// waits adds the waiting times, slowdowns and responses. Formally it does so for overloaded hosts too.
func (m Model) waits(l *law, r *Result) {
	var waited, spent float64 // by the jobs that come to host i, before it
	var work float64
	for i := range r.Hosts {
		host := &r.Hosts[i]
		a, b := between(r.Cutoffs, i)
		v := m.speed(i)
		host.VisitWait = r.ArrivalRate * l.capped(2, a, b) / (v * v) / (2 * host.Slack)
		waited += host.VisitWait
		host.Waiting = waited
		work += host.Load / r.ArrivalRate
		r.MeanWaiting += host.Visit * host.VisitWait
		if a > 0 || !l.noInverse {
			r.MeanSlowdown += l.partial(-1, a, math.Inf(1)) * host.VisitWait
			if host.Final > 0 {
				host.Slowdown = waited * (l.partial(-1, a, b) / host.Final)
			}
		}
		if host.Final > 0 {
			host.Response = waited + spent + l.partial(1, a, b)/host.Final/v
		}
		r.MeanStretch += host.Final / v
		if host.Visit > 0 && l.tail(b) > 0 { // b > 0
			spent += b / v
			r.MeanStretch += b / v * l.partial(-1, b, math.Inf(1))
		}
	}
	r.MeanStretch += r.MeanSlowdown
	r.MeanResponse = r.MeanWaiting + work
	if l.noInverse {
		r.MeanSlowdown, r.MeanStretch = 0, 0
	}
}

// finite returns an error if a mean is beyond float64.
func (r *Result) finite() error {
	means := []float64{r.MeanWaiting, r.MeanSlowdown, r.MeanResponse, r.MeanStretch, r.Lost, r.Excess}
	for _, h := range r.Hosts {
		means = append(means, h.Load, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting, h.Slowdown, h.Response)
	}
	return checkFinite(means...)
}
