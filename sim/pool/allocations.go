package pool

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"

	"productform/fluid"
	"productform/internal/input"
	"productform/sim"
)

// allocations caches the allocations of a policy by the numbers of jobs, since states recur. Each
// is computed from scratch, so its digits depend only on the state. Each replication has its own
// cache.
type allocations struct {
	ctx       context.Context // once it is done, no further states are computed
	allocator *fluid.Allocator
	profile   []int          // profile of each class under balanced fairness; nil otherwise
	jobs      []float64      // number of jobs of each profile
	count     []float64      // numbers of jobs of the requested state
	key       []byte         // encoding of that state
	known     map[string]int // indices of states in tasks
	tasks     []float64
}

// maxKnown is the number of values at which the cache is emptied.
const maxKnown = 1 << 18

// maxLattice limits the states below a state whose allocation is computed under balanced fairness,
// Π (x+1) over the profiles with x jobs. With two resources this many states take 0.1 s, or up to 0.6
// s with many profiles. With this limit, a run that reaches ever larger states ends, and a
// cancelled run stops promptly.
const maxLattice = 1 << 22

// newAllocations returns an empty cache for a pool and a policy that [fluid.NewAllocator] accepts.
func newAllocations(ctx context.Context, p *fluid.Pool, policy fluid.Policy) *allocations {
	a, err := fluid.NewAllocator(p, policy)
	if err != nil {
		panic(err)
	}
	m := &allocations{ctx: ctx, allocator: a, count: make([]float64, len(p.Jobs)), known: make(map[string]int)}
	if policy == fluid.BF {
		var profiles int
		m.profile, profiles = profilesOf(p)
		m.jobs = make([]float64, profiles)
	}
	return m
}

// profilesOf numbers the profiles of the rows of jobs, counting proportional ones as one, and
// returns their number.
func profilesOf(p *fluid.Pool) (profile []int, profiles int) {
	places := make(map[string]int)
	for _, job := range p.Jobs {
		parts := make([]*big.Rat, len(p.Resources)) // amounts relative to the first nonzero amount
		var first *big.Rat
		for j := range parts {
			parts[j] = new(big.Rat).Set(amount(job.Demand, j))
			if first == nil && parts[j].Sign() > 0 {
				first = new(big.Rat).Set(parts[j])
			}
			if first != nil {
				parts[j].Quo(parts[j], first)
			}
		}
		key := strings.Join(texts(parts, len(parts)), " ")
		if job.MaxTasks != nil { // limit in units of the first nonzero amount
			key += " at most " + new(big.Rat).Mul(job.MaxTasks, first).RatString()
		}
		place, known := places[key]
		if !known {
			place = len(places)
			places[key] = place
		}
		profile = append(profile, place)
	}
	return profile, len(places)
}

// equalWeights rejects different weights, which balanced fairness does not support, except for rows
// that never arrive; it then sets all weights to 1. A row without an arrival rate is always
// present.
func equalWeights(p *fluid.Pool, arrivalRate func(row int) *big.Rat) error {
	var common *big.Rat
	for k, job := range p.Jobs {
		if rate := arrivalRate(k); rate != nil && rate.Sign() == 0 {
			continue
		}
		weight := job.WeightOf()
		if common == nil {
			common = weight
		}
		if weight.Cmp(common) != 0 {
			return input.Errorf(
				input.Index("jobs", k)+".weight", weight.RatString(), "the same weight for all under the policy bf",
			)
		}
	}
	for k := range p.Jobs {
		p.Jobs[k].Weight = nil
	}
	return nil
}

// allocationCost returns the cost of an allocation that a step may need, in units of a fast step,
// for prompt cancellation. It is about one unit per row and resource: 40 µs with 1000
// rows and 2 resources. States of few rows recur and are cached; but balanced fairness needs all
// states below, 1000 of them for 30 jobs of each of two classes.
func allocationCost(policy fluid.Policy, rows, resources int) float64 {
	switch {
	case policy == fluid.BF:
		return 1000
	case rows < 8:
		return 0
	}
	return float64(rows * resources)
}

// of returns the number of tasks that one job of each class runs while x[k] jobs of class k are
// present. The slice is valid until the next call. It returns the error of the context or the
// allocator, or an error that wraps [sim.ErrTooManyStates].
func (a *allocations) of(x []int) ([]float64, error) {
	a.key = a.key[:0]
	for _, n := range x {
		a.key = binary.AppendUvarint(a.key, uint64(n))
	}
	if at, ok := a.known[string(a.key)]; ok {
		return a.tasks[at : at+len(x)], nil
	}
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	if err := a.checkLattice(x); err != nil {
		return nil, err
	}
	if len(a.tasks)+len(x) > maxKnown {
		clear(a.known)
		a.tasks = a.tasks[:0]
	}
	for k, n := range x {
		a.count[k] = float64(n)
	}
	at := len(a.tasks)
	a.tasks = append(a.tasks, a.count...)
	a.allocator.Forget()
	if err := a.allocator.Tasks(a.ctx, a.count, a.tasks[at:]); err != nil {
		a.tasks = a.tasks[:at]
		return nil, fmt.Errorf("with %v jobs: %w", x, err)
	}
	a.known[string(a.key)] = at
	return a.tasks[at:], nil
}

// checkLattice returns an error that wraps [sim.ErrTooManyStates] if the allocation takes more
// states than maxLattice.
func (a *allocations) checkLattice(x []int) error {
	clear(a.jobs)
	for k, p := range a.profile {
		a.jobs[p] += float64(x[k])
	}
	states, present := 1.0, 0
	for _, n := range a.jobs {
		states *= n + 1
		if n > 0 {
			present++
		}
	}
	if present <= 1 || states <= maxLattice { // a single profile needs no states for any number of jobs
		return nil
	}
	return fmt.Errorf("%w: balanced fairness of this many jobs of %d profiles takes more than %d states: "+
		// the error omits the numbers of jobs, which depend on the run that hits the limit first
		"lower the load or, with a horizon, shorten it", sim.ErrTooManyStates, len(a.jobs), maxLattice)
}
