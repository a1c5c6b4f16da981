package audit

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

// LieSettings tunes [BestLie]. The zero value computes at most 5000 allocations.
type LieSettings struct {
	Evaluations int // maximum number of allocations that the search computes; 0 means 5000

	// MaxFactor, in [1, 1e9], is the largest factor by which a whole profile may be overstated
	// under max-min fairness; 0 means 1000. Under other policies it must be 0.
	MaxFactor float64
}

// A Lie is a profile that a job declares instead of its own, with the resulting number of tasks.
type Lie struct {
	// Declared holds the demand to declare of each resource, at least the true one; nil if no lie
	// was found that pays.
	Declared []*big.Rat

	Truthful num.Value // tasks that the job runs if it is truthful
	Tasks    num.Value // tasks that it really runs with the lie; Truthful if there is no lie
	Gain     num.Value // Tasks/Truthful, 1 if there is no lie

	Evaluations int // number of allocations computed by the search
}

// BestLie searches for the profile with which one job of row job runs the most tasks while all
// others are truthful. If it declares A', its bundle φ' A' lets it run φ' min_j A'_j/A_ij tasks,
// over the resources j that it needs.
//
// Under dominant resource fairness and balanced fairness no lie gains, so there is no search. Pools
// with limits on tasks are rejected.
//
// A lying job here uses everything that it gets: if everything is declared twice as large, each
// declared task holds what two tasks need, and nothing is lost. In package traffic, classes that
// declare too much do not use the excess: each declared task does the work of one.
//
// The search tries profiles on lines, profiles spread over the box, and profiles around the best of
// these, in float64. It is the same in each call. It rounds the best profile to the shortest
// fractions that keep all but a ten-thousandth of the gain, and computes both allocations by
// [fluid.Allocate]. The gain of a returned Lie is therefore real: exact if the policy is rational,
// and enclosed to 1e-12 under proportional fairness (with the engine Float, which Allocate takes
// for very many rows, up to rounding). It is not proved to be the largest: under bottleneck max
// fairness the best lies may be in narrow corners that only more evaluations find. A gain below one
// part in a billion counts as none.
//
// The search skips a profile for which float64 finds no allocation, as can happen under bottleneck
// max fairness.
//
// The error is that of [fluid.Allocate] for the truth or of [fluid.NewAllocator], or an
// *[num.InputError] for the row or a setting.
func BestLie(ctx context.Context, p *fluid.Pool, policy fluid.Policy, job int, s LieSettings) (*Lie, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := policy.Check("policy"); err != nil {
		return nil, err
	}
	for i, other := range p.Jobs {
		if other.MaxTasks != nil {
			return nil, input.Errorf(
				input.Index("jobs", i)+".max_tasks", other.MaxTasks.RatString(),
				"none: lies are looked for only without limits",
			)
		}
	}
	if job < 0 || job >= len(p.Jobs) {
		return nil, input.Errorf("job", job, "a row of jobs, 0 to %d", len(p.Jobs)-1)
	}
	if s.Evaluations < 0 {
		return nil, input.Errorf("Evaluations", s.Evaluations, "a positive integer, or 0 for 5000")
	}
	if s.MaxFactor != 0 && policy != fluid.MaxMin {
		return nil, input.Errorf(
			"MaxFactor", s.MaxFactor, "0: the size of a profile matters under max-min fairness only",
		)
	}
	s.Evaluations, s.MaxFactor = cmp.Or(s.Evaluations, 5000), cmp.Or(s.MaxFactor, 1000)
	if !(s.MaxFactor >= 1 && s.MaxFactor <= 1e9) {
		return nil, input.Errorf("MaxFactor", s.MaxFactor, "a number in [1, 1e9]")
	}
	truth, err := lieTasks(ctx, p, policy, job)
	if err != nil {
		return nil, err
	}
	none := &Lie{Truthful: truth, Tasks: truth, Gain: num.Value{Float: 1}}
	switch {
	case truth.Exact != nil:
		none.Gain.Exact = big.NewRat(1, 1)
	case truth.Low != nil:
		none.Gain.Low, none.Gain.High = big.NewFloat(1), big.NewFloat(1)
	}
	if policy == fluid.DRF || policy == fluid.BF {
		return none, nil
	}
	l, err := newLiar(ctx, p, policy, job, truth, s)
	if err != nil {
		return nil, err
	}
	found := l.search(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	none.Evaluations = l.evaluations
	if found.runs <= l.tasks {
		return none, nil
	}
	best := l.bestOf(ctx, l.profiles(l.profile(found.at)), none)
	if err := ctx.Err(); err != nil { // bestOf mistakes it for a profile without an allocation
		return nil, err
	}
	return best, nil
}

// bestOf returns the lie with the largest gain among these declared profiles, the first of nearly
// equal ones, or none if no lie gains.
func (l *liar) bestOf(ctx context.Context, profiles [][]*big.Rat, none *Lie) *Lie {
	best := none
	for _, declared := range profiles {
		long := func(d *big.Rat) bool { return max(d.Num().BitLen(), d.Denom().BitLen()) > input.MaxBits }
		if slices.ContainsFunc(declared, long) {
			continue // no pool accepts these numbers
		}
		pool, row := l.pool(declared)
		tasks, err := lieTasks(ctx, pool, l.policy, row)
		if err != nil {
			continue // the gain of this lie is unknown
		}
		lie := &Lie{Declared: declared, Truthful: none.Truthful, Evaluations: l.evaluations}
		lie.Tasks = tasks.Times(l.unit(declared))
		lie.Gain = lie.Tasks.Quo(lie.Truthful)
		if provedAbove(lie.Gain, 1+1e-9) && lie.Gain.Float-1 > (best.Gain.Float-1)*(1+1e-4) {
			best = lie
		}
	}
	return best
}

// lieTasks returns the number of tasks of one job of a row.
func lieTasks(ctx context.Context, p *fluid.Pool, policy fluid.Policy, row int) (num.Value, error) {
	a, err := fluid.Allocate(ctx, p, policy, fluid.Settings{RelTol: 1e-12})
	if err != nil {
		return num.Value{}, err
	}
	return a.Jobs[row].Tasks, nil
}

// provedAbove reports whether x > least is proved by what is known of x.
func provedAbove(x num.Value, least float64) bool {
	if x.Low != nil {
		return x.Low.Cmp(big.NewFloat(least)) > 0
	}
	return x.Float > least
}

// A liar is a job with a separate row, whose profile is changed.
type liar struct {
	honest    *fluid.Pool
	job       int
	policy    fluid.Policy
	limit     int     // maximum number of evaluations
	maxFactor float64 // 1, except for max-min fairness

	allocator   *fluid.Allocator // the liar is in row at
	at          int
	count       []float64
	tasksOf     []float64
	truth       []float64 // a_ij
	tasks       float64   // φ_i
	evaluations int
}

// newLiar returns the liar in a pool, given the number of tasks that it runs if it is truthful.
func newLiar(
	ctx context.Context, p *fluid.Pool, policy fluid.Policy, job int, truth num.Value, s LieSettings,
) (*liar, error) {
	l := &liar{honest: p, job: job, policy: policy, limit: s.Evaluations, maxFactor: 1}
	if policy == fluid.MaxMin {
		l.maxFactor = s.MaxFactor
	}
	var pool *fluid.Pool
	pool, l.at = l.pool(p.Jobs[job].Demand)
	var err error
	if l.allocator, err = fluid.NewAllocator(pool, policy); err != nil {
		return nil, err
	}
	l.tasksOf = make([]float64, len(pool.Jobs))
	for _, other := range pool.Jobs {
		l.count = append(l.count, float64(other.Size()))
	}
	l.truth = l.allocator.Profile(l.at)
	if l.tasks = l.runs(ctx, l.truth); l.tasks == 0 { // float64 failed: the exact truth is just as good a start
		l.tasks = truth.Float
	}
	return l, nil
}

// pool returns the pool in which one job of the row declares a profile, and the row of that job.
func (l *liar) pool(declared []*big.Rat) (*fluid.Pool, int) {
	p := &fluid.Pool{Resources: l.honest.Resources, Jobs: slices.Clone(l.honest.Jobs)}
	one := p.Jobs[l.job]
	if one.Size() == 1 {
		p.Jobs[l.job].Demand = declared
		return p, l.job
	}
	p.Jobs[l.job].Count--
	one.Demand, one.Count = declared, 1
	for taken := true; taken; {
		one.Name += "'"
		taken = slices.ContainsFunc(p.Jobs, func(other fluid.Job) bool { return other.Name == one.Name })
	}
	p.Jobs = append(p.Jobs, one)
	return p, len(p.Jobs) - 1
}

// runs returns the number of tasks that the liar really runs if it declares these fractions of the
// capacities, not all 0; it returns 0 if float64 does not find the allocation.
func (l *liar) runs(ctx context.Context, declared []float64) float64 {
	l.evaluations++
	unit := math.Inf(1)
	for j, a := range declared {
		if l.truth[j] > 0 {
			unit = min(unit, a/l.truth[j])
		}
	}
	l.allocator.SetProfile(l.at, declared)
	if err := l.allocator.Tasks(ctx, l.count, l.tasksOf); err != nil {
		return 0
	}
	return l.tasksOf[l.at] * unit
}

// unit returns min_j A'_j/A_ij over the resources that the job needs.
func (l *liar) unit(declared []*big.Rat) *big.Rat {
	var least *big.Rat
	for j, a := range l.honest.Jobs[l.job].Demand {
		if a == nil || a.Sign() == 0 {
			continue
		}
		if m := new(big.Rat).Quo(declared[j], a); least == nil || m.Cmp(least) < 0 {
			least = m
		}
	}
	return least
}

// profiles returns the demands to declare, in units of the resources, for a profile in fractions of
// the capacities that is m times too large: first with short fractions nearby, then with the exact
// numbers.
func (l *liar) profiles(parts []float64, m float64) [][]*big.Rat {
	truth := make([]*big.Rat, len(parts))
	for j := range truth {
		truth[j] = l.honest.Jobs[l.job].Demand.Of(j)
	}
	var all [][]*big.Rat
	for _, width := range []float64{1e-4, 1e-7, 0} {
		declared := make([]*big.Rat, len(parts))
		for j, a := range parts {
			declared[j] = new(big.Rat).SetFloat64(a / m)
			declared[j].Mul(declared[j], l.honest.Resources[j].Capacity)
			declared[j] = shortFraction(declared[j], width, width)
			if declared[j].Cmp(truth[j]) < 0 {
				declared[j].Set(truth[j])
			}
		}
		unit := l.unit(declared)
		for j, a := range truth { // rounding moved the smallest ratio away from 1
			if a.Sign() > 0 && new(big.Rat).Quo(declared[j], a).Cmp(unit) == 0 {
				declared[j].Set(a)
			}
		}
		times := shortFraction(new(big.Rat).SetFloat64(m), width, 0)
		for _, d := range declared {
			d.Mul(d, times)
		}
		all = append(all, declared)
	}
	return all
}
