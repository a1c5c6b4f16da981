package tags

import (
	"math"
	"sort"

	"productform/sizes"
)

// A SITAHost tells what host i sees of the jobs.
type SITAHost struct {
	Load       float64 // ρ_i
	Slack      float64 // 1 - ρ_i
	SlackError float64 // Slack is within so much of 1 - ρ_i; a slack that is not larger may be 0 in truth
	Fraction   float64 // p_i = P(s_{i-1} < X <= s_i), the part of the jobs that comes to it
	Size       float64 // E[X | s_{i-1} < X <= s_i], work; 0 if no job comes
	Waiting    float64 // W_i, seconds; 0 if no job comes
	Slowdown   float64 // E[S_i] = W_i E[1/X | s_{i-1} < X <= s_i]; 0 if no job comes, or E[1/X] is infinite there
	Response   float64 // E[T_i] = W_i + E[X | s_{i-1} < X <= s_i]/v_i, seconds; 0 if no job comes
}

// A SITAResult holds the stationary means of task assignment by size.
type SITAResult struct {
	Cutoffs     []float64 // s_1 <= ... <= s_{h-1}, work
	ArrivalRate float64   // λ, jobs a second

	MeanWaiting  float64 // E[W], seconds
	MeanSlowdown float64 // E[S] = E[W/X], seconds a unit of work; 0 if NoSlowdown
	MeanResponse float64 // E[T], seconds from arrival to end
	NoSlowdown   bool    // E[1/X] is infinite, or beyond float64, and with it E[S] and that of the first host with jobs
	Hosts        []SITAHost
}

// SITA returns the stationary means of task assignment by size, for jobs whose size is known when they come: host i
// gets the jobs of size s_{i-1} < X <= s_i, s_0 = 0 and s_h = ∞, and serves them first come, first served. Poisson
// processes split so are Poisson processes, so every host is an M/G/1 queue, and the formula of Pollaczek and Khinchine
// is exact:
//
//	ρ_i = λ E[X; s_{i-1} < X <= s_i]/v_i,  W_i = λ E[X²; s_{i-1} < X <= s_i] / (2 v_i² (1-ρ_i)),
//	E[W] = Σ_i p_i W_i,  E[S] = Σ_i E[1/X; s_{i-1} < X <= s_i] W_i
//
// (M. Harchol-Balter, M. Crovella and C. Murta, "On choosing a task assignment policy for a distributed server system",
// Journal of Parallel and Distributed Computing 59, 1999, 204–228). The h-1 cutoffs are finite, at least 0, and do not
// fall. A host between equal cutoffs, or outside the range of the sizes, is idle.
//
// The error is that of [Analyze]: with an *[UnstableError], the loads, slacks and fractions in the result hold.
func SITA(m Model, cutoffs []float64) (SITAResult, error) {
	if err := m.Validate(); err != nil {
		return SITAResult{}, err
	}
	if err := m.CheckCutoffs(cutoffs); err != nil {
		return SITAResult{}, err
	}
	l, err := newLaw(m)
	if err != nil {
		return SITAResult{}, err
	}
	if err := l.setCutoffs(m, cutoffs); err != nil {
		return SITAResult{}, err
	}
	return m.sita(l, cutoffs)
}

// SITAE returns the means of SITA-E, task assignment by size with equal loads: cutoff s_j is the smallest size such
// that hosts 1 to j get the part (v_1 + ... + v_j)/Σ_i v_i of all work, so that every host has load ρ, whatever its
// speed. If the law of the sizes is [sizes.Atomic], a size goes to one host whole: s_j is then one of the sizes, or 0,
// the one that comes nearest to that part. A host can be idle or overloaded so.
//
// The error is that of [SITA].
func SITAE(m Model) (SITAResult, error) {
	if err := m.Validate(); err != nil {
		return SITAResult{}, err
	}
	l, err := newLaw(m)
	if err != nil {
		return SITAResult{}, err
	}
	cutoffs := make([]float64, m.Hosts-1)
	atoms := atomsFromZero(l)
	var below float64
	for j := range cutoffs {
		below += m.speed(j)
		part, above := below/m.capacity(), 0.0
		for i := m.Hosts - 1; i > j; i-- {
			above += m.speed(i)
		}
		if rest := above / m.capacity(); atoms != nil {
			cutoffs[j] = l.nearestWork(atoms, part, rest)
		} else {
			cutoffs[j] = l.workQuantile(part, rest)
		}
	}
	if l.err != nil {
		return SITAResult{}, l.err
	}
	return m.sita(l, cutoffs)
}

// workQuantile returns the smallest x such that the jobs up to x have the given part of the work, those above the rest:
// of the two the smaller is compared.
func (l *law) workQuantile(part, rest float64) float64 {
	return firstGood(l.low, min(l.high, math.MaxFloat64), func(x float64) bool {
		if part < rest {
			return l.partial(1, 0, x) >= part*l.mean
		}
		return l.partial(1, x, math.Inf(1)) <= rest*l.mean
	})
}

// nearestWork returns the atom x, or 0, for which the work of the jobs up to x is nearest to the given part.
func (l *law) nearestWork(atoms []float64, part, rest float64) float64 {
	excess := func(i int) float64 { // of work up to the atom
		if part < rest {
			return l.partial(1, 0, atoms[i]) - part*l.mean
		}
		return rest*l.mean - l.partial(1, atoms[i], math.Inf(1))
	}
	i := min(sort.Search(len(atoms), func(i int) bool { return excess(i) >= 0 }), len(atoms)-1)
	if i > 0 && -excess(i-1) <= excess(i) {
		i--
	}
	return atoms[i]
}

// atomsFromZero returns the sizes of a law that has finitely many, after 0, or nil: the cutoffs that matter.
func atomsFromZero(l *law) []float64 {
	if d, ok := l.d.(sizes.Atomic); ok && l.atoms == nil {
		l.atoms = append([]float64{0}, d.Atoms()...)
	}
	return l.atoms
}

// sita returns the means for nondecreasing cutoffs.
func (m Model) sita(l *law, cutoffs []float64) (SITAResult, error) {
	rate, f := m.rate(l), sitaFarm{hostsOf(m, l, Objective{Waiting: 1})}
	r := SITAResult{Cutoffs: append([]float64{}, cutoffs...), ArrivalRate: rate, NoSlowdown: l.noInverse}
	overloaded := -1
	for i := range m.Hosts {
		a, b := between(cutoffs, i)
		fraction, work := l.partial(0, a, b), l.partial(1, a, b)
		host := SITAHost{Load: rate * work / m.speed(i), Fraction: fraction}
		p, q := f.work(a), f.work(b)
		host.Slack, host.SlackError = f.slack(i, &p, &q)
		switch {
		case fraction == 0:
			host.Slack, host.SlackError = 1, 0
		default:
			host.Size = work / fraction
		}
		if !(host.Slack > 0) && overloaded < 0 {
			overloaded = i
		}
		r.Hosts = append(r.Hosts, host)
	}
	if l.err != nil {
		return SITAResult{}, l.err
	}
	if overloaded >= 0 {
		host := r.Hosts[overloaded]
		return r, &UnstableError{overloaded, host.Load, host.Slack > -host.SlackError}
	}
	for i := range r.Hosts {
		host := &r.Hosts[i]
		if host.Fraction == 0 {
			continue
		}
		a, b := between(cutoffs, i)
		v := m.speed(i)
		host.Waiting = rate * (l.partial(2, a, b) / v / v) / (2 * host.Slack)
		host.Response = host.Waiting + host.Size/v
		r.MeanWaiting += host.Fraction * host.Waiting
		r.MeanResponse += host.Fraction * host.Response
		if a > l.low || !l.noInverse {
			inverse := l.partial(-1, a, b)
			host.Slowdown = host.Waiting * (inverse / host.Fraction)
			r.MeanSlowdown += inverse * host.Waiting
		}
		if err := checkFinite(host.Load, host.Waiting, host.Slowdown, host.Response); err != nil {
			return SITAResult{}, err
		}
	}
	if l.noInverse {
		r.MeanSlowdown = 0
	}
	if l.err != nil {
		return SITAResult{}, l.err
	}
	if err := checkFinite(r.MeanWaiting, r.MeanSlowdown, r.MeanResponse); err != nil {
		return SITAResult{}, err
	}
	return r, nil
}

// Rival returns the means of r in the form of those of other policies, under the name of one of those by size.
func (r SITAResult) Rival(name Policy) Rival {
	return Rival{
		Name: name, Kind: Exact, NoSlowdown: r.NoSlowdown,
		MeanWaiting:  Range{r.MeanWaiting, r.MeanWaiting},
		MeanSlowdown: Range{r.MeanSlowdown, r.MeanSlowdown},
		MeanResponse: Range{r.MeanResponse, r.MeanResponse},
	}
}

// A SITAOptimum is the result for the best cutoffs.
type SITAOptimum struct {
	SITAResult
	Objective float64 // the smallest value
	Gap       float64 // no cutoffs have a value below (1 - Gap) Objective
}

// OptimizeSITA returns the cutoffs of [SITA] that minimise the objective, with a proof, as [Optimize] does for TAGS.
// Gap is as there, but larger if the proof takes too many cells: 1e-3 where several hosts are loaded to within 1e-6 of
// 1, and some per cent for 64 hosts. The smallest jobs go to host 1 and the largest to host h, also if the speeds
// differ; another order of the hosts is another model. If the law of the sizes is [sizes.Atomic], the cutoffs are sizes,
// or 0.
//
// Equal cutoffs, a first cutoff of 0, or a last one at the high end of the sizes mean that hosts are better left idle.
//
// Some cutoffs overload no host at every load below 1, as those of [SITAE], unless sizes have atoms. The error is that
// of [SITA], or an *[InfeasibleError], or names a weight that is out of range.
func OptimizeSITA(m Model, o Objective) (SITAOptimum, error) {
	l, err := m.lawFor(o)
	if err != nil {
		return SITAOptimum{}, err
	}
	f := newSITAFarm(m, l, o)
	low, high, ok := f.ranges()
	best := optimum{cutoffs: []float64{}}
	if ok && m.Hosts > 1 {
		best = f.search(low, high).run()
	}
	if l.err != nil {
		return SITAOptimum{}, l.err
	}
	if !ok || best.cutoffs == nil {
		return SITAOptimum{}, &InfeasibleError{m.Load, m.sitaMaxLoad(l)}
	}
	r, err := m.sita(l, best.cutoffs)
	if err != nil {
		return SITAOptimum{}, err
	}
	return SITAOptimum{r, o.value(r.MeanSlowdown, r.MeanWaiting), best.gap()}, nil
}

// sitaMaxLoad returns the load below which there are cutoffs that overload no host.
func (m Model) sitaMaxLoad(l *law) float64 {
	return m.greatestLoad(func(m Model) bool {
		_, _, ok := newSITAFarm(m, l, Objective{Waiting: 1}).ranges()
		return ok
	})
}
