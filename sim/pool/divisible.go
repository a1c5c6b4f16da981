package pool

import (
	"context"
	"fmt"
	"math/big"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
)

// A Divisible is a pool of divisible resources in random traffic, as in package fluid, with any
// distribution of sizes. While x_k jobs of class k are present, each runs the φ_k(x) tasks that the
// policy gives it, and departs once it has completed its size, in task-seconds. With exponential
// sizes, and under balanced fairness with all sizes of the same means, the numbers of jobs are
// those of [traffic.Solve].
//
// Classes that lie are served according to the profiles that they declare. An overloaded resource
// is an error, a *[traffic.UnstableError], except over a horizon. A run with more than 10,000,000
// jobs present at a time ends with an error that wraps [sim.ErrTooManyJobs].
//
// Each replication computes the allocation of a state when it first reaches it. Balanced fairness
// needs the same weight for all classes that arrive, and the allocation of a state requires all
// states below it: Π_k (x_k+1) of them, where classes with proportional profiles count as one. A
// run that reaches a state with more than 4,194,304 ends with an error that wraps
// [sim.ErrTooManyStates].
type Divisible struct {
	Traffic traffic.Model
	Policy  fluid.Policy
	// sizes of each class, with its mean size to 1e-12; nil, for one class or all, means
	// exponential
	Sizes []sizes.Distribution
}

// Describe implements [sim.System].
func (f Divisible) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	t := &f.Traffic
	if err := t.Check(); err != nil {
		return nil, err
	}
	pool := t.Pool()
	if _, err := fluid.NewAllocator(pool, f.Policy); err != nil {
		return nil, err
	}
	if f.Policy == fluid.BF {
		if err := equalWeights(pool, func(k int) *big.Rat { return t.Classes[k].ArrivalRate }); err != nil {
			return nil, err
		}
	}
	d := &sim.Description{
		Method:   "processor-sharing queues on a calendar of events",
		StepCost: float64(len(t.Classes))/2 + allocationCost(f.Policy, len(t.Classes), len(t.Resources)),
	}
	if err := t.Stable(); err != nil {
		if !o.OverHorizon {
			return nil, err
		}
		d.Unstable = "pool"
	}
	if f.Sizes != nil && len(f.Sizes) != len(t.Classes) {
		return nil, input.Errorf("Sizes", fmt.Sprintf("%d distributions", len(f.Sizes)),
			"one for each of the %d classes", len(t.Classes))
	}
	net := stations.Network{Rows: len(t.Classes), PartOf: make([]int, len(t.Classes))}
	var rates []float64
	var classes []any
	for k, c := range t.Classes {
		rate, err := sim.RateOf(fmt.Sprintf("jobs[%d].arrival_rate", k), c.ArrivalRate)
		if err != nil {
			return nil, err
		}
		var given sizes.Distribution
		if f.Sizes != nil {
			given = f.Sizes[k]
		}
		jobSizes, mean, err := sim.SizesOf(
			given, c.MeanSize, fmt.Sprintf("Sizes[%d]", k), fmt.Sprintf("jobs[%d].mean_size", k),
		)
		if err != nil {
			return nil, err
		}
		d.Classes = append(d.Classes, sim.Class{Name: c.Name, ArrivalRate: rate, MeanSize: mean})
		d.Moments = append(d.Moments, sim.Moment{Sizes: jobSizes, Orders: []float64{1}, Of: "class " + c.Name})
		net.MeanSize = append(net.MeanSize, mean)
		net.Sources = append(net.Sources, stations.Source{Row: k, Queue: k, Sizes: jobSizes})
		rates = append(rates, rate)
		classes = append(classes, []any{
			c.ArrivalRate.RatString(), jobSizes.String(), texts(c.Profile(), len(t.Resources)),
			num.OrOne(c.Weight).RatString(),
		})
	}
	net.Table, net.Rate = sizes.NewAliasTable(rates, nil), sim.Sum(rates)
	if net.Rate == 0 {
		return nil, input.Errorf("jobs", "arrival rates that are all 0", "a class with an arrival rate > 0")
	}
	d.JumpRate = 2 * net.Rate
	d.Identity = []any{"sharing", f.Policy, capacities(t.Resources), classes}
	if limits, limited := limitsOf(t); limited {
		d.Identity = append(d.Identity, limits)
	}
	d.Start = func(ctx context.Context, r *sim.Stream) sim.Engine {
		own, known := net, newAllocations(ctx, pool, f.Policy)
		own.Parts = []stations.Part{{From: 0, To: len(own.PartOf), Rates: known.rates}}
		return stations.New(&own, r)
	}
	return d, nil
}

// limitsOf returns the limits on the tasks of the classes as text, and reports whether there are
// any.
func limitsOf(t *traffic.Model) (limits []string, limited bool) {
	for _, c := range t.Classes {
		limit := ""
		if c.MaxTasks != nil {
			limit, limited = c.MaxTasks.RatString(), true
		}
		limits = append(limits, limit)
	}
	return limits, limited
}

// rates writes the rates x_k φ_k(x) of all jobs of each class.
func (a *allocations) rates(x []int, phi []float64) error {
	tasks, err := a.of(x)
	if err != nil {
		return err
	}
	for k, n := range x {
		phi[k] = float64(n) * tasks[k]
	}
	return nil
}

// texts returns n numbers as text; missing numbers are 0.
func texts(numbers []*big.Rat, n int) []string {
	list := make([]string, n)
	for j := range list {
		list[j] = amount(numbers, j).RatString()
	}
	return list
}

func capacities(resources []fluid.Resource) []string {
	list := make([]string, len(resources))
	for j, r := range resources {
		list[j] = r.Capacity.RatString()
	}
	return list
}
