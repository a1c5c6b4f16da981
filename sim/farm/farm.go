package farm

import (
	"context"
	"math"
	"slices"
	"strconv"

	"productform/internal/input"
	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// ShortestQueue sends a job to the host with the fewest jobs, breaking ties at random. Package tags
// does not cover it.
const ShortestQueue tags.Policy = "shortest-queue"

// A Farm is a farm of hosts. Each serves one job at a time, first come, first served, until it ends
// or is killed. Jobs arrive as a Poisson process of rate λ = ρ Σ_i v_i/E[X] with independent sizes
// X, which SITA knows and TAGS does not. Host i does v_i units of work per second, and ρ is the
// load of the model.
//
// The policies are:
//
//   - [tags.PolicyTAGS], the zero value: jobs start at host 1; after s_i units of work at host i a
//     job is killed and restarts at host i+1, or continues there by the rule [tags.Resume] of the
//     model.
//   - [tags.PolicySITA]: a job of a size in (s_{i-1}, s_i] goes to host i.
//   - [tags.PolicyCentral]: jobs wait in a central queue.
//   - [ShortestQueue].
//   - [tags.PolicyRoundRobin]: job n goes to host n modulo h.
//   - [tags.PolicyRandom]: a job goes to host i with probability v_i/Σ_j v_j.
//
// With the central queue a job that finds idle hosts takes the fastest, the first of equally fast
// ones; otherwise it waits for the first host to become free. So each job starts as early as the
// jobs before it permit, as if it went to the host that becomes free first: this is
// Least-Work-Remaining, with work measured in time. With exponential sizes and equal speeds it is
// M/M/h.
//
// Under TAGS and SITA, the classes of the result are the jobs that end at each host, with sizes in
// (s_{i-1}, s_i]; otherwise there is one class. The servers of the result are the hosts, and their
// utilization is their load. In addition to the measures of all systems, a result has [MeanWaiting]
// and [MeanSlowdown] of all jobs and of each class, and [VisitWaiting] and [InterarrivalSCV] of
// each host. A jump is an arrival, the end of a job, or a kill.
//
// A farm is stable if the load of each host is below 1: λ E[min(X, s_i) - o_i; X > s_{i-1}]/v_i with
// TAGS, where o_i is 0 or, if jobs resume, s_{i-1} less the work redone and the overhead, λ E[X;
// s_{i-1} < X <= s_i]/v_i with SITA, λ E[X]/(h v_i) with round-robin, and ρ with the others. An
// unstable farm is an error that wraps [num.ErrUnstable], except over a horizon. Sizes
// need a finite mean. If E[X²] is infinite, there is a warning. Mean slowdowns are nil if E[1/X] is
// infinite, as for exponential sizes.
type Farm struct {
	Model  tags.Model
	Policy tags.Policy
	// s_1 < ... < s_{h-1} in units of work, within the range of the sizes, with TAGS and SITA;
	// otherwise empty
	Cutoffs []float64
}

// A farm is a checked Farm in the form that its engine uses.
type farm struct {
	sizes    sizes.Distribution
	rate     float64   // λ
	speed    []float64 // v_i
	cutoffs  []float64
	spared   []float64        // work that host i does not do again: 0 if jobs restart from scratch
	limit    []float64        // work after which host i kills a job: s_i with TAGS, otherwise +Inf
	bySize   bool             // whether classes are by size: TAGS, SITA
	central  bool             // whether all jobs wait in one queue
	fastest  []int            // hosts, fastest first
	table    sizes.AliasTable // random choice of a host, with Random
	classes  int
	slowdown []bool // by class: whether the mean slowdown is finite

	// assign returns the host of a job, or -1 if it waits in the central queue.
	assign func(q *calendar, size float64) int
}

// Describe implements [sim.System].
func (f Farm) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	if err := f.Model.Validate(); err != nil {
		return nil, err
	}
	if f.Policy == "" {
		f.Policy = tags.PolicyTAGS
	}
	if err := f.checkCutoffs(); err != nil {
		return nil, err
	}
	m := f.Model
	mean, err := sizes.Mean(m.Sizes)
	if err != nil || !(mean >= 1e-300) {
		return nil, input.Errorf("Model.Sizes", m.Sizes, "a distribution with a mean in [1e-300, 1e300]")
	}
	g := &farm{sizes: m.Sizes, speed: slices.Clone(m.Speeds), cutoffs: append([]float64{}, f.Cutoffs...), classes: 1}
	if m.Speeds == nil {
		g.speed = slices.Repeat([]float64{1}, m.Hosts)
	}
	g.rate = m.Load * (sim.Sum(g.speed) / mean)
	if !(g.rate >= 1e-300 && g.rate <= 1e300) {
		return nil, input.Errorf("Model.Sizes", m.Sizes,
			"sizes for which λ = Load Σ_i Speeds[i]/E[X], here %v, is in [1e-300, 1e300]",
			g.rate)
	}
	g.spared = make([]float64, m.Hosts)
	if f.Policy == tags.PolicyTAGS {
		for i, s := range g.cutoffs {
			g.spared[i+1] = s - m.Resume.Redone(s)
		}
	}
	g.prepare(f.Policy)
	name := string(f.Policy)
	if f.Policy == tags.PolicyCentral {
		name = "central-queue" // random numbers derive from this name
	}
	d := &sim.Description{
		Method: "calendar of events of a farm", StepCost: float64(m.Hosts) / 8,
		Identity: []any{"farm", name, m.Sizes.String(), m.Load, g.speed, g.cutoffs},
		Measures: g.measures, Warnings: g.warnings,
		Start: func(_ context.Context, r *sim.Stream) sim.Engine { return newCalendar(g, r) },
	}
	if slices.ContainsFunc(g.spared, func(w float64) bool { return w != 0 }) {
		d.Identity = append(d.Identity, m.Resume)
	}
	for i := range m.Hosts {
		d.Servers = append(d.Servers, sim.Server{Name: strconv.Itoa(i + 1), Size: 1})
	}
	if err := g.addClasses(d, mean); err != nil {
		return nil, err
	}
	orders := []float64{2}
	if g.hasSlowdown() {
		orders = append(orders, -1)
	}
	d.Moments = []sim.Moment{{Sizes: m.Sizes, Orders: orders}}
	visits, host, load, err := g.visits(f.Policy, m.Load, mean)
	if err != nil {
		return nil, err
	}
	if host >= 0 {
		if !o.OverHorizon {
			return nil, &tags.UnstableError{Host: host, Load: load}
		}
		d.Unstable = "farm"
	}
	d.JumpRate = g.rate * (1 + visits)
	return d, nil
}

// checkCutoffs checks the cutoffs, which only some policies need.
func (f Farm) checkCutoffs() error {
	switch f.Policy {
	case tags.PolicyTAGS, tags.PolicySITA:
		return f.Model.CheckCutoffs(f.Cutoffs)
	case tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom:
		if len(f.Cutoffs) > 0 {
			return input.Errorf("Cutoffs", f.Cutoffs, "none with the policy %s", f.Policy)
		}
		return nil
	}
	return input.Errorf("Policy", string(f.Policy), "%s, %s, %s, %s, %s or %s",
		tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom)
}

// prepare sets the fields that depend on the policy.
func (g *farm) prepare(policy tags.Policy) {
	hosts := len(g.speed)
	g.limit = slices.Repeat([]float64{math.Inf(1)}, hosts)
	switch policy {
	case tags.PolicyTAGS:
		copy(g.limit, g.cutoffs)
		g.bySize, g.classes = true, hosts
		first := 0 // first host with a cutoff above 0
		for first < hosts-1 && g.limit[first] == 0 {
			first++
		}
		g.assign = func(*calendar, float64) int { return first }
	case tags.PolicySITA:
		g.bySize, g.classes = true, hosts
		g.assign = func(q *calendar, size float64) int { return q.interval(size) }
	case tags.PolicyCentral:
		g.central = true
		for i := range g.speed {
			g.fastest = append(g.fastest, i)
		}
		slices.SortStableFunc(g.fastest, func(a, b int) int {
			switch {
			case g.speed[a] > g.speed[b]:
				return -1
			case g.speed[a] < g.speed[b]:
				return 1
			}
			return 0
		})
		g.assign = func(q *calendar, _ float64) int { return q.fastestIdle() }
	case ShortestQueue:
		g.assign = func(q *calendar, _ float64) int { return q.shortest() }
	case tags.PolicyRoundRobin:
		g.assign = func(q *calendar, _ float64) int { return q.nextHost() }
	case tags.PolicyRandom:
		g.table = sizes.NewAliasTable(g.speed, nil)
		g.assign = func(q *calendar, _ float64) int { return int(q.table.Pick(q.random.Uint64())) }
	}
}

// interval returns the i for which the size is in (s_i, s_{i+1}], where s_0 = 0.
func (g *farm) interval(size float64) int {
	i := 0
	for i < len(g.cutoffs) && size > g.cutoffs[i] {
		i++
	}
	return i
}

// ends returns the interval (a, b] of the sizes of a class.
func (g *farm) ends(class int) (a, b float64) {
	b = math.Inf(1)
	if class > 0 {
		a = g.cutoffs[class-1]
	}
	if class < len(g.cutoffs) {
		b = g.cutoffs[class]
	}
	return a, b
}

// addClasses adds the classes, and determines for each whether its E[1/X], and so its mean
// slowdown, is finite.
func (g *farm) addClasses(d *sim.Description, mean float64) error {
	for i := range g.classes {
		a, b := g.ends(i)
		part, err := g.sizes.PartialMoment(0, a, b)
		if err != nil {
			return err
		}
		work, err := g.sizes.PartialMoment(1, a, b)
		if err != nil {
			return err
		}
		c := sim.Class{Name: strconv.Itoa(i + 1), ArrivalRate: g.rate * part}
		if g.classes == 1 {
			c.ArrivalRate, work, part = g.rate, mean, 1
		}
		if part > 0 {
			c.MeanSize = work / part
		}
		d.Classes = append(d.Classes, c)
		inverse, err := g.sizes.PartialMoment(-1, a, b)
		g.slowdown = append(g.slowdown, err == nil && inverse <= math.MaxFloat64)
	}
	return nil
}

// visits returns the mean number of visits of a job to hosts, and the first host whose load is not
// below 1, with its load, or -1.
func (g *farm) visits(policy tags.Policy, systemLoad, mean float64) (
	visits float64, host int, load float64, err error,
) {
	host, visits = -1, 1
	if policy == tags.PolicyTAGS {
		visits = 0
	}
	for i, v := range g.speed {
		rho := systemLoad
		switch policy {
		case tags.PolicyTAGS, tags.PolicySITA:
			a, b := g.ends(i)
			work, err := g.sizes.PartialMoment(1, a, b)
			if err != nil {
				return 0, 0, 0, err
			}
			if policy == tags.PolicyTAGS && b > 0 {
				visits += g.sizes.Survival(a)
				if i < len(g.cutoffs) {
					work += b * g.sizes.Survival(b)
				}
				work -= g.spared[i] * g.sizes.Survival(a)
			}
			rho = g.rate * (work / v)
		case tags.PolicyRoundRobin:
			rho = g.rate * (mean / v) / float64(len(g.speed))
		}
		if host < 0 && !(rho < 1) {
			host, load = i, rho
		}
	}
	return visits, host, load, nil
}
