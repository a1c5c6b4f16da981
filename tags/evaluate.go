package tags

import (
	"context"
	"fmt"
	"math"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
)

// Evaluate returns the stationary means of a policy. [PolicyTAGS] and [PolicySITA] take h-1
// cutoffs, finite, at least 0 and nondecreasing. The other policies take nil.
//
// TAGS: the formulas of the package comment ([HB02], Appendix), in h evaluations of a few partial
// moments each. The means that include killed runs are described but not given in the paper: with
// them E[T] is the time from arrival to completion.
//
// SITA: host i gets the jobs of size s_{i-1} < X <= s_i, s_0 = 0 and s_h = ∞, and serves them first
// come, first served. A Poisson process split in this way gives Poisson processes, so every host is
// an M/G/1 queue, and the formula of Pollaczek and Khinchine is exact:
//
//	ρ_i = λ E[X; s_{i-1} < X <= s_i]/v_i,  W_i = λ E[X²; s_{i-1} < X <= s_i] / (2 v_i² (1-ρ_i)),
//	E[W] = Σ_i p_i W_i,  E[S] = Σ_i E[1/X; s_{i-1} < X <= s_i] W_i
//
// (M. Harchol-Balter, M. Crovella and C. Murta, "On choosing a task assignment policy for a
// distributed server system", Journal of Parallel and Distributed Computing 59, 1999, 204–228). A
// host between equal cutoffs, or outside the range of the sizes, is idle.
//
// SITA-E: cutoff s_j is the smallest size for which hosts 1 to j get at least the fraction (v_1 +
// ... + v_j)/Σ_i v_i of all work, so every host has load ρ, whatever its speed. If the sizes are
// [sizes.Atomic], all jobs of one size go to the same host. The cutoffs are then sizes or 0 with
// the smallest Σ_i (ρ_i - ρ)², and the smallest such s_{h-1}, then s_{h-2} and so on. A host can
// then be idle or overloaded. For n sizes this takes O(h n log n) time.
//
// Random: every job goes to a host drawn at random, host i with probability v_i/v, v = Σ_i v_i.
// Every host is an M/G/1 queue with load ρ, so the following is exact:
//
//	E[W] = h ρ E[X²]/(2 v (1-ρ) E[X]),  E[T] = E[W] + h E[X]/v.
//
// The waiting time of a job does not depend on its size, so E[S] = E[W] E[1/X]. The same holds for
// all policies that do not know sizes and serve first come, first served.
//
// Round robin: hosts of one speed take the jobs in turn. A host then gets every h-th job of a
// Poisson process, so it is an E_h/G/1 queue. With the service time s = X/v of a job, a = λ E[s] =
// h ρ and n = ⌊a⌋,
//
//	(λ E[s²] - (h-1) E[s])^+ / (2(h-a)) <= E[W] <= (λ E[s²] - E[s] n(2a-n-1)/a) / (2(h-a)).
//
// The upper bound is at most E[W] of Random. The bounds differ by at most E[s]/2, and they are
// equal for h = 1. The relative rounding error is about h 1e-16.
//
// Least work remaining: jobs wait in one queue for the first of h hosts of one speed, an M/G/h
// queue. A dispatcher that sends every job to the host with the least work left gives every job the
// same waiting time without a shared queue ([HB02], section 1). With the probability C of waiting
// in the M/M/h queue, by Erlang's formula,
//
//	E[W] = C E[s]/(h(1-ρ)) · E[X²]/(2 E[X]²),
//
// the waiting time of the M/M/h queue times (1 + squared coefficient of variation)/2 (A. M. Lee and
// P. A. Longton, "Queueing processes associated with airline passenger check-in", Operational
// Research Quarterly 10, 1959, 56–71; S. A. Nozaki and S. M. Ross, "Approximations in
// finite-capacity multi-server queues with Poisson arrivals", Journal of Applied Probability 15,
// 1978, 826–834). It is exact for exponential sizes and for h = 1, where it is the formula of
// Pollaczek and Khinchine. For sizes that vary widely, and enough hosts to keep the largest jobs
// separate, the true waiting time may be several times smaller; see [LowLoadFactor]. The formula
// takes O(h) time. The formula as printed in [HB02], section 5.1, lacks the factor 1/2; the figures
// of the paper include it.
//
// Foreground-background and shortest remaining processing time: one host with the speed v of all
// hosts may interrupt jobs, and resumes them at no cost. FB serves the jobs with the smallest
// attained service, which share the host; it does not know sizes. SRPT knows them, and serves the
// job with the smallest remaining work. With g = λ/v and ρ(t) = g E[X; X <= t], a job of size x is
// delayed by
//
//	FB:    (g E[min(X, x)²]/(2 (1 - g E[min(X, x)])²) + x/(1 - g E[min(X, x)]))/v,
//	SRPT:  (g E[min(X, x)²]/(2 (1 - ρ(x))²) + ∫_0^x dt/(1 - ρ(t)))/v
//
// (L. E. Schrage, "The queue M/G/1 with feedback to lower priority queues", Management Science
// 13(7), 1967, 466–474; L. E. Schrage and L. W. Miller, "The queue M/G/1 with the shortest
// remaining processing time discipline", Operations Research 14(4), 1966, 670–684). The waiting
// time is the delay minus x/v. Means over x are integrals to about 1e-12, or sums over a list.
//
// The error names the field of m, the policy or the cutoff that is out of range, or wraps
// [sizes.ErrInfinite] or [sizes.ErrOverflow] if E[X²] or a requested mean is infinite or beyond
// float64. If a host is overloaded, the error is an *[UnstableError]: the loads, slacks and visits
// in the result are then valid, and the waiting times are 0. Once ctx is done, Evaluate returns
// ctx.Err().
func Evaluate(ctx context.Context, m Model, p Policy, cutoffs []float64) (Result, error) {
	switch p {
	case PolicyTAGS, PolicySITA:
	case PolicySITAE, PolicyRandom, PolicyRoundRobin, PolicyCentral, PolicyCentralPrinted, PolicyFB, PolicySRPT:
		if cutoffs != nil {
			return Result{}, input.Errorf("Cutoffs",
				fmt.Sprintf("%d cutoffs", len(cutoffs)), "none under the policy %s",
				p)
		}
		switch p {
		case PolicySITAE:
		case PolicyFB, PolicySRPT:
			return m.preemptive(ctx, p)
		default:
			return m.queue(ctx, p)
		}
	default:
		return Result{}, checkPolicy(p)
	}
	if err := m.Validate(); err != nil {
		return Result{}, err
	}
	if p != PolicyTAGS {
		m.Resume = Resume{}
	}
	if p != PolicySITAE {
		if err := m.CheckCutoffs(cutoffs); err != nil {
			return Result{}, err
		}
	}
	l, err := newMoments(ctx, m)
	if err != nil {
		return Result{}, err
	}
	if p == PolicySITAE {
		cutoffs = m.equalLoads(l)
	} else if err := l.setCutoffs(m, cutoffs); err != nil {
		return Result{}, err
	}
	return m.evaluate(l, p, cutoffs)
}

// checkPolicy rejects an unknown policy.
func checkPolicy(p Policy) error {
	return input.Errorf("Policy", string(p), "%q, %q, %q, %q, %q, %q, %q, %q or %q", PolicyTAGS, PolicyRandom,
		PolicyRoundRobin, PolicyCentral, PolicyCentralPrinted, PolicySITAE, PolicySITA, PolicyFB, PolicySRPT)
}

// evaluate returns the means for valid cutoffs.
func (m Model) evaluate(l *moments, p Policy, cutoffs []float64) (Result, error) {
	f := hostsOf(m, l, Objective{Waiting: 1})
	var visits []visit[double]
	if p == PolicyTAGS {
		visits = f.visits(cutoffs)
	} else {
		visits = f.sita().visits(cutoffs)
	}
	r := f.loads(p, cutoffs, visits)
	if l.err != nil {
		return Result{}, l.err
	}
	for i, host := range r.Hosts {
		if !(host.Slack.Float > 0) {
			return r, &UnstableError{i, host.Load.Float, host.Slack.Float > -host.SlackError}
		}
	}
	return f.waits(r, visits)
}

// formulas returns the formulas in double precision.
func (f *tagsCost) formulas() formulas[double] {
	return formulas[double]{rate: double(f.rate), value: func(v double) num.Value { return value(float64(v)) }}
}

// loads returns the parts of the means that do not depend on the queues.
func (f *tagsCost) loads(p Policy, cutoffs []float64, visits []visit[double]) Result {
	r := f.formulas().loads(visits)
	r.Policy, r.Kind, r.NoSlowdown = p, p.kind(len(visits)), f.l.noInverse
	r.Cutoffs = append([]float64{}, cutoffs...)
	return r
}

// kind returns the accuracy of the means of a policy with cutoffs. At host 1 of TAGS, arrivals are
// a Poisson process.
func (p Policy) kind(hosts int) Kind {
	if p == PolicyTAGS && hosts > 1 {
		return Approximation
	}
	return Exact
}

// waits completes the result of loads.
func (f *tagsCost) waits(r Result, visits []visit[double]) (Result, error) {
	f.inverses(r.Policy, r.Cutoffs, visits)
	f.formulas().waits(&r, visits)
	f.setNoWaits(&r, visits)
	if f.l.err != nil {
		return Result{}, f.l.err
	}
	return r, r.finite()
}

// ArrivalRate returns λ = ρ Σ_i v_i/E[X], jobs per second. The error is that of [Model.Validate],
// or that of E[X].
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
func (m Model) rate(l *moments) float64 { return m.Load * m.capacity() / l.mean }

// hostCutoffs returns the cutoffs below and above host i: s_{i-1} and s_i, which is +Inf for the
// last host.
func hostCutoffs(cutoffs []float64, i int) (a, b float64) {
	if i > 0 {
		a = cutoffs[i-1]
	}
	if i == len(cutoffs) {
		return a, math.Inf(1)
	}
	return a, cutoffs[i]
}

// visits returns the moments of TAGS hosts, except those of 1/X.
func (f *tagsCost) visits(cutoffs []float64) []visit[double] {
	l := f.l
	visits := make([]visit[double], 0, len(f.speed))
	q := f.work(0)
	for i, speed := range f.speed {
		a, b := hostCutoffs(cutoffs, i)
		p := q
		q = f.work(b)
		v := visit[double]{
			speed: double(speed), part: double(p.Tail), end: double(l.partial(0, a, b)),
		}
		first, second := l.work(f.m.Resume, a, b)
		v.first, v.second = double(first), double(second)
		v.load = double(f.rate) * v.first / v.speed
		if b == 0 { // the host is skipped
			v.part = 0
		}
		slack, off := f.slack(i, &p, &q)
		v.slack, v.slackError = double(slack), off
		v.comes, v.ends, v.kills = v.part > 0, v.end > 0, v.part > 0 && q.Tail > 0
		if v.kills {
			v.run = double(runLength(&p, &q))
		}
		switch {
		case !f.m.Resume.restarts():
			v.lost = double(p.Redone * p.Tail)
		case v.kills:
			v.lost = double(b * q.Tail)
		}
		idle := a == b && p.Redone == 0 // jobs pass without any work
		if v.comes && !idle && v.second/v.part < leastSquare && l.err == nil {
			l.err = fmt.Errorf("tags: the mean square of visits of host %d is below the range of float64", i+1)
		}
		visits = append(visits, v)
	}
	return visits
}

// visits returns the moments of hosts that get the sizes between two cutoffs.
func (f sitaCost) visits(cutoffs []float64) []visit[double] {
	l := f.l
	visits := make([]visit[double], 0, len(f.speed))
	for i, speed := range f.speed {
		a, b := hostCutoffs(cutoffs, i)
		part, work := double(l.partial(0, a, b)), double(l.partial(1, a, b))
		v := visit[double]{
			speed:  double(speed),
			part:   part,
			end:    part,
			first:  work,
			second: double(l.partial(2, a, b)),
			slack:  1,
		}
		v.load = double(f.rate) * v.first / v.speed
		if v.comes = part > 0; v.comes {
			p, q := f.work(a), f.work(b)
			slack, off := f.slack(i, &p, &q)
			v.slack, v.slackError = double(slack), off
		}
		v.ends = v.comes
		visits = append(visits, v)
	}
	return visits
}

// inverses adds the moments that only waiting times and slowdowns need.
func (f *tagsCost) inverses(p Policy, cutoffs []float64, visits []visit[double]) {
	l := f.l
	for i := range visits {
		v := &visits[i]
		a, b := hostCutoffs(cutoffs, i)
		v.hasInverse = a > 0 && (p == PolicyTAGS || a > l.low) || !l.noInverse
		v.whole, v.share = double(l.partial(1, a, b)), v.end
		if v.hasInverse {
			v.inverse = double(l.partial(-1, a, b))
			v.weight = v.inverse
			if p == PolicyTAGS && i > 0 && visits[i-1].kills {
				v.weight = visits[i-1].killedInverse
			} else if p == PolicyTAGS {
				v.weight = double(l.partial(-1, a, math.Inf(1)))
			}
		}
		if o := double(f.m.Resume.offset(a)); p == PolicyTAGS && o != 0 {
			v.whole -= o * v.end
			v.share -= o * v.inverse
		}
		if v.kills {
			v.killedInverse = double(l.partial(-1, b, math.Inf(1)))
		}
	}
}

// finite returns an error if a mean exceeds the range of float64.
func (r *Result) finite() error {
	err := checkFinite(r.MeanWaiting.Float, r.MeanSlowdown.Float, r.MeanDelay.Float, r.MeanStretch.Float, r.Lost.Float,
		r.Excess.Float)
	for i := 0; i < len(r.Hosts) && err == nil; i++ {
		h := &r.Hosts[i]
		err = checkFinite(h.Load.Float, h.VisitMean.Float, h.VisitSquare.Float, h.VisitWait.Float, h.Waiting.Float,
			h.Slowdown.Float, h.Delay.Float)
	}
	return err
}

// equalLoads returns the cutoffs of SITA-E.
func (m Model) equalLoads(l *moments) []float64 {
	if atoms := atomsFromZero(l); atoms != nil {
		return m.nearlyEqualLoads(l, atoms)
	}
	cutoffs := make([]float64, m.Hosts-1)
	var below float64
	for j := range cutoffs {
		below += m.speed(j)
		part, above := below/m.capacity(), 0.0
		for i := m.Hosts - 1; i > j; i-- {
			above += m.speed(i)
		}
		cutoffs[j] = l.workQuantile(part, above/m.capacity())
	}
	return cutoffs
}

// workQuantile returns the smallest x such that the jobs up to x have the given fraction of the
// work, and those above the rest. It compares the smaller of the two fractions.
func (l *moments) workQuantile(part, rest float64) float64 {
	return num.FirstGood(l.low, min(l.high, math.MaxFloat64), func(x float64) bool {
		if part < rest {
			return l.partial(1, 0, x) >= part*l.mean
		}
		return l.partial(1, x, math.Inf(1)) <= rest*l.mean
	})
}

// atomsFromZero returns 0 followed by the sizes of a distribution with finitely many, which are the
// only cutoffs that matter. It returns nil for other distributions.
func atomsFromZero(l *moments) []float64 {
	if d, ok := l.d.(sizes.Atomic); ok && l.atoms == nil {
		l.atoms = append([]float64{0}, d.Atoms()...)
	}
	return l.atoms
}
