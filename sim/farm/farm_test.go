package farm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/tags"
)

// boundedPareto returns the distribution of [HB02] with the given mean.
func boundedPareto(t testing.TB, alpha, high, mean float64) sizes.Distribution {
	t.Helper()
	d, err := sizes.NewBoundedParetoOfMean(alpha, high, mean)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// partOf returns E[X^order; a < X <= b].
func partOf(t *testing.T, d sizes.Distribution, order, a, b float64) float64 {
	t.Helper()
	v, err := d.PartialMoment(order, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// waitingTime returns the mean waiting time of an M/G/1 queue at arrival rate λ with service times
// of the given moments (Pollaczek and Khinchine).
func waitingTime(lambda, mean, square float64) float64 {
	return lambda * square / 2 / (1 - lambda*mean)
}

// arrivalRate returns λ of a farm.
func arrivalRate(t *testing.T, m tags.Model) float64 {
	t.Helper()
	capacity := float64(m.Hosts)
	if m.Speeds != nil {
		capacity = sim.Sum(m.Speeds)
	}
	return m.Load * capacity / partOf(t, m.Sizes, 1, 0, math.Inf(1))
}

// farmRun simulates about 200,000 jobs.
var farmRun = sim.Settings{Runs: 20, Jumps: 2e4, WarmUp: 2e3, Seed: 3}

// One host is an M/G/1 queue with every policy. The slowdown is E[W] E[1/X], since a job waits only
// for earlier jobs.
func TestFarmOfOneHost(t *testing.T) {
	policies := []tags.Policy{
		tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom,
	}
	for k, shape := range []string{
		"exponential", "deterministic", "erlang:3", "hyperexponential:4", "bounded-pareto:1.5:200", "deterministic",
	} {
		jobSizes := simtest.Sizes(t, shape, 3)
		f := Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 1, Load: 0.6, Speeds: []float64{2}}, Policy: policies[k]}
		lambda := arrivalRate(t, f.Model)
		v := waitingTime(lambda, 3./2, partOf(t, jobSizes, 2, 0, math.Inf(1))/4)
		r := simtest.Run(t, f, farmRun)
		at := shape + ": "
		simtest.Near(t, at+"waiting", r.All(MeanWaiting), v)
		simtest.Near(t, at+"waiting of the class", r.Class(0, MeanWaiting), v)
		simtest.Near(t, at+"waiting of the host", r.Estimate(OfHost, 0, VisitWaiting), v)
		simtest.Near(t, at+"delay", r.All(sim.MeanDelay), v+1.5)
		simtest.Near(t, at+"measured delay", r.All(sim.MeasuredDelay), v+1.5)
		simtest.Near(t, at+"jobs", r.All(sim.MeanJobs), lambda*(v+1.5))
		simtest.Near(t, at+"utilization", r.Estimate(OfHost, 0, sim.Utilization), 0.6)
		if policies[k] != tags.PolicyCentral {
			simtest.Near(t, at+"SCV of Poisson arrivals", r.Estimate(OfHost, 0, InterarrivalSCV), 1)
		}
		inverse, err := jobSizes.Moment(-1)
		if errors.Is(err, sizes.ErrInfinite) {
			if r.All(MeanSlowdown) != nil || r.Class(0, MeanSlowdown) != nil {
				t.Errorf("%s: slowdown %+v, but E[1/X] is infinite", shape, r.All(MeanSlowdown))
			}
		} else {
			simtest.Near(t, at+"slowdown", r.All(MeanSlowdown), v*inverse)
			simtest.Near(t, at+"slowdown of the class", r.Class(0, MeanSlowdown), v*inverse)
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %q", shape, r.Warnings)
		}
	}
}

// A central queue with exponential sizes is M/M/h: E[W] = C/(hμ - λ), with C from Erlang's formula.
func TestCentralQueueMatchesErlangC(t *testing.T) {
	for _, hosts := range []int{2, 3, 8} {
		const load, mean, speed = 0.7, 5.0, 10.0
		m := tags.Model{Sizes: simtest.Sizes(t, "exponential", mean), Hosts: hosts, Load: load}
		for range hosts {
			m.Speeds = append(m.Speeds, speed)
		}
		lambda := arrivalRate(t, m)
		offered, blocked := load*float64(hosts), 1.0
		for n := 1; n <= hosts; n++ {
			blocked = offered * blocked / (float64(n) + offered*blocked)
		}
		wait := blocked / (1 - load*(1-blocked)) / (float64(hosts)*speed/mean - lambda)
		r := simtest.Run(t, Farm{Model: m, Policy: tags.PolicyCentral}, farmRun)
		at := fmt.Sprintf("%d hosts: ", hosts)
		simtest.Near(t, at+"waiting", r.All(MeanWaiting), wait)
		simtest.Near(t, at+"delay", r.All(sim.MeanDelay), wait+mean/speed)
		used := sim.Estimate{Runs: farmRun.Runs}
		for i := range r.Servers {
			used.Mean += r.Estimate(OfHost, i, sim.Utilization).Mean
			used.StdError += r.Estimate(OfHost, i, sim.Utilization).StdError // upper bound
			if scv := r.Estimate(OfHost, i, InterarrivalSCV); scv != nil {
				t.Errorf("jobs arrive at hosts of a central queue: %+v", scv)
			}
		}
		simtest.Near(t, at+"busy hosts", &used, offered)
	}
}

// With two hosts of unequal speeds and exponential sizes, the states are empty, fast or slow host
// busy, and n >= 2 jobs, which have probability p_2 ρ^(n-2).
func TestCentralQueueTakesTheFastestIdleHost(t *testing.T) {
	const fast, slow, load = 3.0, 1.0, 0.6
	const lambda = load * (fast + slow)
	second := 1.0
	onlySlow := fast * second / (lambda + slow)
	onlyFast := (fast+slow)*second/lambda - onlySlow
	empty := (fast*onlyFast + slow*onlySlow) / lambda
	rest := second / (1 - load)
	whole := empty + onlyFast + onlySlow + rest
	jobs := (onlyFast + onlySlow + rest*(2+load/(1-load))) / whole
	m := tags.Model{Sizes: simtest.Sizes(t, "exponential", 1), Hosts: 2, Load: load, Speeds: []float64{slow, fast}}
	r := simtest.Run(t, Farm{Model: m, Policy: tags.PolicyCentral}, farmRun)
	simtest.Near(t, "jobs", r.All(sim.MeanJobs), jobs)
	simtest.Near(t, "slow host", r.Estimate(OfHost, 0, sim.Utilization), (onlySlow+rest)/whole)
	simtest.Near(t, "fast host", r.Estimate(OfHost, 1, sim.Utilization), (onlyFast+rest)/whole)
}

// Each host is an M/G/1 queue: random assignment gives it a fraction of the jobs proportional to
// its speed.
func TestRandomFarm(t *testing.T) {
	for _, shape := range []string{
		"exponential", "deterministic", "erlang:4", "hyperexponential:3", "bounded-pareto:1.2:1000",
	} {
		m := tags.Model{Sizes: simtest.Sizes(t, shape, 2), Hosts: 3, Load: 0.6, Speeds: []float64{1, 0.5, 4}}
		lambda, square := arrivalRate(t, m), partOf(t, m.Sizes, 2, 0, math.Inf(1))
		r := simtest.Run(t, Farm{Model: m, Policy: tags.PolicyRandom}, farmRun)
		all := 0.0
		for i, v := range m.Speeds {
			at := fmt.Sprintf("%s: host %d: ", shape, i+1)
			part := v / sim.Sum(m.Speeds)
			wait := waitingTime(lambda*part, 2/v, square/v/v)
			all += part * wait
			simtest.Near(t, at+"waiting", r.Estimate(OfHost, i, VisitWaiting), wait)
			simtest.Near(t, at+"load", r.Estimate(OfHost, i, sim.Utilization), 0.6)
			simtest.Near(t, at+"SCV", r.Estimate(OfHost, i, InterarrivalSCV), 1)
		}
		simtest.Near(t, shape+": waiting", r.All(MeanWaiting), all)
	}
}

// If jobs are sent to hosts by size, each host is an M/G/1 queue with sizes from an interval.
func TestSITAFarm(t *testing.T) {
	for _, c := range []struct {
		shape   string
		cutoffs []float64
		speeds  []float64
		load    float64
	}{
		{"bounded-pareto:1.2:1e4", []float64{3}, nil, 0.6},
		{"bounded-pareto:1.2:1e4", []float64{1.5, 20}, []float64{1, 1, 2}, 0.5},
		{"erlang:2", []float64{2, 4}, []float64{1, 1, 2}, 0.6},
	} {
		m := tags.Model{Sizes: simtest.Sizes(t, c.shape, 3), Hosts: len(c.cutoffs) + 1, Load: c.load, Speeds: c.speeds}
		lambda := arrivalRate(t, m)
		r := simtest.Run(t, Farm{Model: m, Policy: tags.PolicySITA, Cutoffs: c.cutoffs}, farmRun)
		waiting, slowdown := 0.0, 0.0
		a := 0.0
		for i := range m.Hosts {
			at := fmt.Sprintf("%s, host %d: ", c.shape, i+1)
			b, v := math.Inf(1), 1.0
			if i < len(c.cutoffs) {
				b = c.cutoffs[i]
			}
			if c.speeds != nil {
				v = c.speeds[i]
			}
			part, work := partOf(t, m.Sizes, 0, a, b), partOf(t, m.Sizes, 1, a, b)
			wait := waitingTime(lambda*part, work/part/v, partOf(t, m.Sizes, 2, a, b)/part/v/v)
			inverse := partOf(t, m.Sizes, -1, a, b)
			waiting += part * wait
			slowdown += inverse * wait
			simtest.Near(t, at+"waiting", r.Class(i, MeanWaiting), wait)
			simtest.Near(t, at+"waiting of visits", r.Estimate(OfHost, i, VisitWaiting), wait)
			simtest.Near(t, at+"slowdown", r.Class(i, MeanSlowdown), wait*inverse/part)
			simtest.Near(t, at+"measured delay", r.Class(i, sim.MeasuredDelay), wait+work/part/v)
			simtest.Near(t, at+"delay", r.Class(i, sim.MeanDelay), wait+work/part/v)
			simtest.Near(t, at+"load", r.Estimate(OfHost, i, sim.Utilization), lambda*work/v)
			simtest.Near(t, at+"SCV", r.Estimate(OfHost, i, InterarrivalSCV), 1)
			a = b
		}
		simtest.Near(t, c.shape+": waiting", r.All(MeanWaiting), waiting)
		simtest.Near(t, c.shape+": slowdown", r.All(MeanSlowdown), slowdown)
	}
}

// With TAGS the loads of all hosts, and everything at host 1, are exact. At other hosts arrivals
// are, in all known cases, more regular than a Poisson process, so the formula of Pollaczek and
// Khinchine is an upper bound.
func TestTAGSFarm(t *testing.T) {
	for _, c := range []struct {
		shape   string
		cutoffs []float64
		speeds  []float64
		load    float64
	}{
		{"bounded-pareto:1.2:1e4", []float64{5}, nil, 0.5},
		{"bounded-pareto:1.5:1e3", []float64{2, 20}, nil, 0.35},
		{"bounded-pareto:1.1:1e3", []float64{3, 15}, []float64{2, 1, 1.5}, 0.4},
		{"erlang:2", []float64{4}, []float64{1.5, 1}, 0.5},
		{"lognormal:4", []float64{2, 6}, nil, 0.35},
	} {
		m := tags.Model{Sizes: simtest.Sizes(t, c.shape, 3), Hosts: len(c.cutoffs) + 1, Load: c.load, Speeds: c.speeds}
		lambda := arrivalRate(t, m)
		r := simtest.Run(t, Farm{Model: m, Cutoffs: c.cutoffs}, sim.Settings{
			Runs:   24,
			Jumps:  5e4,
			WarmUp: 5e3,
			Seed:   4,
		})
		a, lost, bound := 0.0, 0.0, 0.0
		visits := 0.0 // mean waiting time computed from the measured visits
		for i := range m.Hosts {
			at := fmt.Sprintf("%s, host %d: ", c.shape, i+1)
			b, v := math.Inf(1), 1.0
			tail := 0.0 // work on jobs that are killed
			square := 0.0
			if i < len(c.cutoffs) {
				b = c.cutoffs[i]
				tail, square = b*m.Sizes.Survival(b), b*b*m.Sizes.Survival(b)
			}
			if c.speeds != nil {
				v = c.speeds[i]
			}
			come, ended := m.Sizes.Survival(a), partOf(t, m.Sizes, 0, a, b)
			own := partOf(t, m.Sizes, 1, a, b)
			work := own + tail
			square += partOf(t, m.Sizes, 2, a, b)
			wait := waitingTime(lambda*come, work/come/v, square/come/v/v)
			class := r.Classes[i]
			bound += come * wait
			visits += come * r.Estimate(OfHost, i, VisitWaiting).Mean
			simtest.Near(t, at+"load", r.Estimate(OfHost, i, sim.Utilization), lambda*work/v)
			simtest.Near(
				t, at+"rate", &sim.Estimate{Mean: class.ArrivalRate, StdError: 1e-12 * lambda, Runs: 9}, lambda*ended,
			)
			if i == 0 {
				simtest.Near(t, at+"waiting of visits", r.Estimate(OfHost, i, VisitWaiting), wait)
				simtest.Near(t, at+"waiting", r.Class(i, MeanWaiting), wait)
				simtest.Near(t, at+"slowdown", r.Class(i, MeanSlowdown), wait*partOf(t, m.Sizes, -1, a, b)/ended)
				simtest.Near(t, at+"delay", r.Class(i, sim.MeanDelay), wait+own/ended/v)
				simtest.Near(t, at+"measured delay", r.Class(i, sim.MeasuredDelay), wait+own/ended/v)
				simtest.Near(t, at+"SCV", r.Estimate(OfHost, i, InterarrivalSCV), 1)
			} else {
				if z := r.Estimate(OfHost, i, VisitWaiting).Z(wait); !(z < 5) {
					t.Errorf("%swaiting %+v, above that of Poisson arrivals, %v",
						at, *r.Estimate(OfHost, i, VisitWaiting), wait)
				}
				if scv := r.Estimate(OfHost, i, InterarrivalSCV); !(scv.Z(1) < 5 && scv.Mean > 0.4) {
					t.Errorf("%sSCV %+v", at, scv)
				}
				// Little's law and the sojourn times are two estimates with equal means from the
				// same jobs.
				simtest.Near(t, at+"delay", &sim.Estimate{
					Mean:     r.Class(i, sim.MeanDelay).Mean - r.Class(i, sim.MeasuredDelay).Mean,
					StdError: r.Class(i, sim.MeanDelay).StdError,
					Runs:     24,
				}, 0)
			}
			lost += tail / v
			a = b
		}
		if z := r.All(MeanWaiting).Z(bound); !(z < 5) {
			t.Errorf("%s: waiting %+v, above the formula, %v", c.shape, *r.All(MeanWaiting), bound)
		}
		// At both ends of the observed time, some visits count but their jobs do not.
		if w := r.All(MeanWaiting); !(math.Abs(w.Mean-visits) < w.StdError) {
			t.Errorf("%s: waiting %+v, %v from the visits", c.shape, *w, visits)
		}
	}
}

// With checkpoints, loads and the waiting at host 1 match the formulas, hosts without waiting have
// none, and elsewhere the formula is too high.
func TestCheckpointFarm(t *testing.T) {
	m := tags.Model{Sizes: simtest.Sizes(t, "exponential", 1), Hosts: 3, Load: 0.6}
	for _, c := range []struct {
		resume  tags.Resume
		cutoffs []float64
	}{
		{tags.Resume{Rule: tags.ResumeCut}, []float64{0.5, 1}},
		{tags.Resume{Rule: tags.ResumeCut, Overhead: 0.1}, []float64{0.4, 1.2}},
		{tags.Resume{Rule: tags.ResumeEvery, Overhead: 0.05, Every: 0.3}, []float64{0.4, 1.2}},
		{tags.Resume{Rule: tags.ResumeCut}, []float64{0.7}},
	} {
		m.Resume, m.Hosts = c.resume, len(c.cutoffs)+1
		want, err := tags.Evaluate(t.Context(), m, tags.PolicyTAGS, c.cutoffs)
		if err != nil {
			t.Fatal(err)
		}
		r := simtest.Run(t, Farm{Model: m, Cutoffs: c.cutoffs},
			sim.Settings{Runs: 20, Jumps: 1.5e4, WarmUp: 2e3, Seed: 5})
		for i, h := range want.Hosts {
			at := fmt.Sprintf("%+v, host %d: ", c.resume, i+1)
			simtest.Near(t, at+"load", r.Estimate(OfHost, i, sim.Utilization), h.Load.Float)
			wait := r.Estimate(OfHost, i, VisitWaiting)
			switch {
			case i == 0:
				simtest.Near(t, at+"waiting", wait, h.VisitWait.Float)
			case h.NoWait:
				if wait.Mean > 1e-12 { // rounding of times of about 1e4
					t.Errorf("%s%v waiting, want none", at, wait.Mean)
				}
			case !(wait.Z(h.VisitWait.Float) < 5 && wait.Mean > 0.4*h.VisitWait.Float):
				t.Errorf("%swaiting %+v, formula %v", at, *wait, h.VisitWait.Float)
			}
		}
	}
}

// Jobs skip a host with cutoff 0, so host 2 is an M/G/1 queue. All jobs are killed at a host whose
// cutoff equals the previous one.
func TestTAGSFarmOfHostsWithoutJobs(t *testing.T) {
	m := tags.Model{Sizes: simtest.Sizes(t, "erlang:2", 3), Hosts: 4, Load: 0.3, Speeds: []float64{0.1, 1, 0.5, 2}}
	cutoffs := []float64{0, 4, 4}
	want, err := tags.Evaluate(context.Background(), m, tags.PolicyTAGS, cutoffs)
	if err != nil {
		t.Fatal(err)
	}
	r := simtest.Run(t, Farm{Model: m, Cutoffs: cutoffs}, sim.Settings{Runs: 24, Jumps: 2e4, WarmUp: 2e3, Seed: 4})
	for i, h := range want.Hosts {
		simtest.Near(t, fmt.Sprintf("host %d: load", i+1), r.Estimate(OfHost, i, sim.Utilization), h.Load.Float)
	}
	simtest.Near(t, "waiting at host 2", r.Estimate(OfHost, 1, VisitWaiting), want.Hosts[1].VisitWait.Float)
	simtest.Near(t, "slowdown at host 2", r.Class(1, MeanSlowdown), want.Hosts[1].Slowdown.Float)
}

// Round-robin sends every h-th job of a Poisson process to a host: with exponential sizes this is
// E_h/M/1, in which a job waits σ/(μ(1-σ)) with σ = (λ/(λ + μ(1-σ)))^h; between arrivals the
// squared coefficient of variation is 1/h.
func TestRoundRobinFarm(t *testing.T) {
	for _, hosts := range []int{2, 20} {
		m := tags.Model{Sizes: simtest.Sizes(t, "exponential", 2), Hosts: hosts, Load: 0.7}
		lambda, mu := arrivalRate(t, m), 0.5
		sigma := 0.0
		for range 1000 { // converges at loads below 1
			sigma = math.Pow(lambda/(lambda+mu*(1-sigma)), float64(hosts))
		}
		r := simtest.Run(t, Farm{Model: m, Policy: tags.PolicyRoundRobin}, farmRun)
		wait := sigma / mu / (1 - sigma)
		simtest.Near(t, fmt.Sprint(hosts, " hosts: waiting"), r.All(MeanWaiting), wait)
		simtest.Near(t, fmt.Sprint(hosts, " hosts: delay"), r.All(sim.MeanDelay), wait+2)
		for i := range r.Servers {
			at := fmt.Sprintf("host %d of %d: ", i+1, hosts)
			simtest.Near(t, at+"waiting", r.Estimate(OfHost, i, VisitWaiting), wait)
			simtest.Near(t, at+"load", r.Estimate(OfHost, i, sim.Utilization), 0.7)
			simtest.Near(t, at+"SCV", r.Estimate(OfHost, i, InterarrivalSCV), 1/float64(hosts))
		}
	}
}

// Joining the shortest of two queues with exponential sizes matches the balance equations of the
// numbers of jobs (i, j), truncated below 30. The truncated states have a probability of 1e-9: the
// longer queue has length n with a probability of the order of 0.49^n.
func TestShortestQueueFarm(t *testing.T) {
	const n, load = 30, 0.7
	const lambda = 2 * load
	var p [n][n]float64
	for i := range n {
		for j := range n {
			p[i][j] = 1
		}
	}
	at := func(i, j int) float64 {
		if i < 0 || j < 0 || i == n || j == n {
			return 0
		}
		return p[i][j]
	}
	first := func(i, j int) float64 { // probability to join queue 1 from (i, j)
		switch {
		case i < j:
			return 1
		case i == j:
			return 0.5
		}
		return 0
	}
	for range 1500 { // Gauss-Seidel; twice as many sweeps change no digit
		total := 0.0
		for i := range n {
			for j := range n {
				out := 0.0
				if i < n-1 || j < n-1 {
					out = lambda // jobs are lost at (n-1, n-1)
				}
				if i > 0 {
					out++
				}
				if j > 0 {
					out++
				}
				p[i][j] = (at(i+1, j) + at(i, j+1) + lambda*first(i-1, j)*at(i-1, j) + lambda*(1-first(i, j-1))*at(i,
					j-1)) / out
				total += p[i][j]
			}
		}
		for i := range n {
			for j := range n {
				p[i][j] /= total
			}
		}
	}
	jobs := 0.0
	for i := range n {
		for j := range n {
			jobs += float64(i+j) * p[i][j]
		}
	}
	m := tags.Model{Sizes: simtest.Sizes(t, "exponential", 1), Hosts: 2, Load: load}
	r := simtest.Run(t, Farm{Model: m, Policy: ShortestQueue}, sim.Settings{
		Runs:         20,
		Jumps:        5e4,
		WarmUp:       1e4,
		Seed:         3,
		Distribution: 1,
	})
	simtest.Near(t, "jobs", r.All(sim.MeanJobs), jobs)
	simtest.Near(t, "waiting", r.All(MeanWaiting), jobs/lambda-1)
	simtest.Near(t, "P(empty)", &r.Distribution[0], p[0][0])
	simtest.Near(t, "P(one job)", &r.Distribution[1], p[0][1]+p[1][0])
	for i := range r.Servers { // by symmetry, since ties are broken at random
		simtest.Near(t, "load", r.Estimate(OfHost, i, sim.Utilization), load)
		simtest.Near(t, "waiting of a host", r.Estimate(OfHost, i, VisitWaiting), jobs/lambda-1)
	}
}

// With exponential sizes, the more a policy knows about the hosts, the shorter the queues.
func TestPoliciesInOrder(t *testing.T) {
	var last *sim.Result
	for _, policy := range []tags.Policy{tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom} {
		m := tags.Model{Sizes: simtest.Sizes(t, "exponential", 1), Hosts: 3, Load: 0.8}
		r := simtest.Run(t, Farm{Model: m, Policy: policy}, farmRun)
		if last != nil {
			if z := (r.All(MeanWaiting).Mean - last.All(MeanWaiting).Mean) / math.Hypot(r.All(MeanWaiting).StdError,
				last.All(MeanWaiting).StdError); !(z > 5) {
				t.Errorf("waiting %+v with %s, %+v with the policy before",
					*r.All(MeanWaiting), policy, *last.All(MeanWaiting))
			}
		}
		last = r
	}
}

// A literalVisit is a visit of a job to a host.
type literalVisit struct {
	host       int
	born, size float64 // arrival time and size of the job
	waited     float64 // waiting time of the job so far, in the queues of all hosts
	from       float64 // arrival time at the host
	start, end float64 // service times there
	last       bool    // whether the job is not killed
}

// serve sets the service, which starts when the host is free.
func (v *literalVisit) serve(free, time float64) {
	v.start = max(v.from, free)
	v.waited += v.start - v.from
	v.end = v.start + time
}

// simulateVisits returns the visits of the jobs of a farm that arrive up to time t, by Lindley's
// recursions over jobs in order of arrival at each host. It draws the random numbers of
// newCalendar.
func simulateVisits(f Farm, lambda, t float64, r *sim.Stream) (visits []literalVisit) {
	draws, speeds := rand.New(r), f.Model.Speeds
	free := make([]float64, len(speeds))
	for at := draws.ExpFloat64() / lambda; at <= t; at += draws.ExpFloat64() / lambda {
		v := literalVisit{born: at, from: at, size: f.Model.Sizes.Sample(draws), last: true}
		if f.Policy != tags.PolicyTAGS {
			v.host = literalHost(f, v, visits, free, r)
			v.serve(free[v.host], v.size/speeds[v.host])
			free[v.host] = v.end
		}
		visits = append(visits, v)
	}
	if f.Policy != tags.PolicyTAGS {
		return visits
	}
	coming := visits
	visits = nil
	for i, speed := range speeds {
		limit := math.Inf(1)
		if i < len(f.Cutoffs) {
			limit = f.Cutoffs[i]
		}
		var killed []literalVisit
		free, spared := 0.0, 0.0
		if i > 0 && f.Model.Resume.Rule != "" {
			a := f.Cutoffs[i-1]
			spared = a - f.Model.Resume.Redone(a)
		}
		for _, v := range coming {
			v.host, v.last = i, v.size <= limit
			v.serve(free, (min(v.size, limit)-spared)/speed)
			free = v.end
			visits = append(visits, v)
			if !v.last {
				v.from = v.end
				killed = append(killed, v)
			}
		}
		coming = killed
	}
	return visits
}

// literalHost returns the host of a job, given all previous visits.
func literalHost(f Farm, job literalVisit, visits []literalVisit, free []float64, r *sim.Stream) int {
	hosts, speeds := f.Model.Hosts, f.Model.Speeds
	switch f.Policy {
	case tags.PolicySITA:
		host, _ := slices.BinarySearch(f.Cutoffs, job.size)
		return host
	case tags.PolicyRoundRobin:
		return len(visits) % hosts
	case tags.PolicyRandom:
		var codes []uint32
		for i := range hosts {
			codes = append(codes, uint32(i))
		}
		return int(sizes.NewAliasTable(speeds, codes).Pick(r.Uint64()))
	case ShortestQueue:
		present := make([]int, hosts)
		for _, v := range visits {
			if v.end > job.born {
				present[v.host]++
			}
		}
		var shortest []int
		for i, n := range present {
			if n == slices.Min(present) {
				shortest = append(shortest, i)
			}
		}
		if len(shortest) == 1 {
			return shortest[0]
		}
		return shortest[int(float64(r.Uint64()>>11)/(1<<53)*float64(len(shortest)))]
	}
	best := 0 // CentralQueue: the host that is free first; among idle hosts, the fastest
	for i := range hosts {
		x, y := max(free[i], job.born), max(free[best], job.born)
		if x < y || x == y && x == job.born && speeds[i] > speeds[best] {
			best = i
		}
	}
	return best
}

// drawFarm draws a farm, which may be overloaded.
func drawFarm(t *rapid.T) Farm {
	jobSizes, err := sizes.NewEmpirical([]float64{0.5, 1, 1, 2.5})
	if shape := rapid.SampledFrom([]string{
		"exponential", "deterministic", "pareto:1.5", "bounded-pareto:1:1e4", "lognormal:4", "empirical",
	}).Draw(t, "sizes"); shape != "empirical" {
		jobSizes, err = sizes.Parse(shape, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := Farm{
		Model: tags.Model{
			Sizes: jobSizes,
			Hosts: rapid.IntRange(1, 5).Draw(t, "hosts"),
			Load:  rapid.SampledFrom([]float64{0.2, 0.6, 0.95}).Draw(t, "load"),
		},
		Policy: rapid.SampledFrom([]tags.Policy{
			tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin,
			tags.PolicyRandom,
		}).Draw(t, "policy"),
	}
	for range f.Model.Hosts {
		f.Model.Speeds = append(f.Model.Speeds, rapid.SampledFrom([]float64{0.3, 1, 1, 2}).Draw(t, "speed"))
	}
	if f.Policy != tags.PolicyTAGS && f.Policy != tags.PolicySITA {
		return f
	}
	for range f.Model.Hosts - 1 {
		s, err := jobSizes.Quantile(rapid.Float64Range(0.01, 0.99).Draw(t, "cutoff"))
		if err != nil {
			t.Fatal(err)
		}
		f.Cutoffs = append(f.Cutoffs, s)
	}
	slices.Sort(f.Cutoffs)
	f.Cutoffs = slices.Compact(f.Cutoffs)
	if low, high, bounded := jobSizes.Support(); bounded { // atoms at the ends of the support
		f.Cutoffs = slices.DeleteFunc(f.Cutoffs, func(s float64) bool {
			return s >= high || s <= low && jobSizes.CDF(low) == 0
		})
	}
	f.Model.Hosts = len(f.Cutoffs) + 1
	f.Model.Speeds = f.Model.Speeds[:f.Model.Hosts]
	f.Model.Resume = rapid.SampledFrom([]tags.Resume{
		{}, {}, {Rule: tags.ResumeCut}, {Rule: tags.ResumeCut, Overhead: 0.3},
		{Rule: tags.ResumeEvery, Overhead: 0.1, Every: 0.75},
	}).Draw(t, "resume")
	return f
}

// The calendar agrees with the recursions for each departing job.
func TestFarmCalendarMatchesLindley(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compareLiterally(
			t, drawFarm(t), rapid.Float64Range(1, 500).Draw(t, "jobs"), [32]byte{rapid.Byte().Draw(t, "key")},
		)
	})
}

// Over a longer time, queues get long.
func TestFarmCalendarMatchesLindleyLong(t *testing.T) {
	for k, policy := range []tags.Policy{
		tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom,
	} {
		for _, shape := range []string{"exponential", "bounded-pareto:1.1:1e4"} {
			f := Farm{Model: tags.Model{
				Sizes:  simtest.Sizes(t, shape, 2),
				Hosts:  3,
				Load:   0.9,
				Speeds: []float64{1.5, 1, 1},
			}, Policy: policy}
			if policy == tags.PolicyTAGS || policy == tags.PolicySITA {
				f.Cutoffs = []float64{1.5, 4}
			}
			compareLiterally(t, f, 3000, [32]byte{byte(k)})
		}
	}
}

// compareLiterally compares the calendar with the recursions, job by job and in total. The
// tolerance 1e-9 is far above the rounding of about 1000 events.
func compareLiterally(t interface {
	Context() context.Context
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}, f Farm, jobs float64, key [32]byte) {
	p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := p.Start(t.Context(), sim.NewStream(key)).(*calendar)
	until := jobs / q.rate
	visits := simulateVisits(f, q.rate, until, sim.NewStream(key))

	ends := make([][]literalVisit, q.classes)
	class := func(v literalVisit) int {
		if q.classes == 1 {
			return 0
		}
		return v.host
	}
	slices.SortStableFunc(visits, func(a, b literalVisit) int { return cmp.Compare(a.end, b.end) })
	for _, v := range visits {
		if v.last {
			ends[class(v)] = append(ends[class(v)], v)
		}
	}
	near := func(what string, got, want, unit float64) {
		if !(math.Abs(got-want) <= 1e-9*max(unit, want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for now := 0.0; ; { // from event to event; each becomes time 0
		next := min(q.arrival, slices.Min(q.done))
		if now+next > until {
			break
		}
		y := sim.NewTotals(q.classes, len(q.speed))
		q.Restart()
		if err := q.Advance(next, y); err != nil {
			t.Fatal(err)
		}
		now += next
		for i, c := range q.byClass {
			var sojourn, waiting, slowdown, smallest float64
			smallest = math.Inf(1)
			n := int(y.Left[i])
			if n > len(ends[i]) {
				t.Fatalf("class %d: more jobs departed than arrived", i)
			}
			for _, v := range ends[i][:n] {
				sojourn += v.end - v.born
				waiting += v.waited
				slowdown += v.waited / v.size
				smallest = min(smallest, v.size)
			}
			ends[i] = ends[i][n:]
			near("sojourn", y.Sojourn[i], sojourn, 1/q.rate)
			near("waiting", c.waiting, waiting, 1/q.rate)
			near("slowdown", c.slowdown, slowdown, 1/q.rate/smallest)
		}
	}
	for i := range ends {
		if len(ends[i]) > 0 && ends[i][0].end < until*(1-1e-9) {
			t.Errorf("class %d: %+v has not left at time %v", i, ends[i][0], until)
		}
	}

	// Compare all totals after one advance.
	y, want := sim.NewTotals(q.classes, len(q.speed)), sim.NewTotals(q.classes, len(q.speed))
	q = p.Start(t.Context(), sim.NewStream(key)).(*calendar)
	if err := q.Advance(until, y); err != nil {
		t.Fatal(err)
	}
	byClass, byHost := make([]classTotals, q.classes), make([]hostTotals, len(q.speed))
	want.Time = until
	last := make([]float64, len(q.speed))
	slices.SortStableFunc(visits, func(a, b literalVisit) int { return cmp.Compare(a.from, b.from) })
	for _, v := range visits {
		if v.from > until {
			continue
		}
		h := &byHost[v.host]
		if last[v.host] > 0 && f.Policy != tags.PolicyCentral {
			gap := (v.from - last[v.host]) * q.rate
			h.gaps++
			h.gap += gap
			h.gapSquare += gap * gap
		}
		last[v.host] = v.from
		if v.start <= until {
			h.visits++
			h.wait += v.start - v.from
		}
		want.Busy[v.host] += max(0, min(v.end, until)-v.start)
		if v.from == v.born {
			want.Jumps++
		}
		if v.end <= until {
			want.Jumps++
		}
		in := 0
		if q.classes > 1 {
			in = q.interval(v.size)
		}
		want.Jobs[in] += min(v.end, until) - v.from
		if v.last && v.end <= until {
			want.Left[in]++
			want.Sojourn[in] += v.end - v.born
			byClass[in].waiting += v.waited
			byClass[in].slowdown += v.waited / v.size
		}
	}
	want.Count, want.Square = y.Count, y.Square // copied: tests of other calendars cover the population
	simtest.CompareTotals(t, y, want)
	for i, h := range byHost {
		got := q.byHost[i]
		near("visits", got.visits, h.visits, 0)
		near("waiting of visits", got.wait, h.wait, 1/q.rate)
		near("gaps", got.gaps, h.gaps, 0)
		near("gap", got.gap, h.gap, 1)
		near("squares of gaps", got.gapSquare, h.gapSquare, 1)
	}
	for i, c := range byClass {
		near("waiting", q.byClass[i].waiting, c.waiting, 1/q.rate)
		near("slowdown", q.byClass[i].slowdown, c.slowdown, 0)
	}
}

// jumps/s counts arrivals, kills and ends of jobs.
func BenchmarkFarm(b *testing.B) {
	cutoffs := func(d sizes.Distribution, hosts int) (list []float64) { // equal loads without kills
		mean, err := sizes.Mean(d)
		if err != nil {
			b.Fatal(err)
		}
		for i := 1; i < hosts; i++ {
			low, high, _ := d.Support()
			for high > low*(1+1e-9) {
				mid := (low + high) / 2
				part, err := d.PartialMoment(1, 0, mid)
				if err != nil {
					b.Fatal(err)
				}
				if part < mean*float64(i)/float64(hosts) {
					low = mid
				} else {
					high = mid
				}
			}
			list = append(list, high)
		}
		return list
	}
	jobSizes := boundedPareto(b, 1.1, 1e7, 3000)
	for _, hosts := range []int{2, 8, 64} {
		for _, policy := range []tags.Policy{
			tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin,
			tags.PolicyRandom,
		} {
			f := Farm{Model: tags.Model{Sizes: jobSizes, Hosts: hosts, Load: 0.5}, Policy: policy}
			if policy == tags.PolicyTAGS {
				f.Model.Load = 0.5 / float64(hosts)
			}
			if policy == tags.PolicyTAGS || policy == tags.PolicySITA {
				f.Cutoffs = cutoffs(jobSizes, hosts)
			}
			b.Run(fmt.Sprintf("hosts=%d/policy=%s", hosts, policy), func(b *testing.B) { simtest.Benchmark(b, f) })
		}
	}
}
