package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sizes"
	"productform/stability"
)

// A Policy determines how a cluster serves its jobs.
type Policy string

// The policies of clusters in which a job runs on all its servers ([cluster.AllServers]). The zero
// value of Policy means FCFS.
const (
	FCFS Policy = "fcfs" // each server serves the oldest job that it can serve
	// as FCFS, but jobs are interrupted and move to the end of the queue ([BC17], Algorithm 1)
	Interrupt        Policy = "interrupt"
	ProcessorSharing Policy = "ps" // balanced fairness, the limit of many interruptions
)

// A Cluster is the cluster of [BC17], section 4, with a distribution of job sizes and a policy.
type Cluster struct {
	Model *cluster.Model
	// distribution of the work of a job, with mean Model.MeanSize to 1e-12; nil means exponential.
	// It is scaled for classes with another mean
	Sizes sizes.Distribution
	// "" means FCFS, whose means depend on the sizes; the means of ProcessorSharing are those of
	// [bf.Solve] for all sizes
	Policy Policy
	// mean number of interruptions per job: m = σ/θ > 0 with policy Interrupt, 0 otherwise. σ is
	// the mean size over all jobs
	Interruptions float64
	Calendar      bool // always simulate on a calendar of events, even if a Markov chain is possible
	// how long jobs of each class wait before they give up, or nil for no limit; jobs that have been
	// in service stay. A nil list means the patience of the model
	Patience []sizes.Distribution
	// requested times, which the policies EASY and Conservative use; zero means the exact durations.
	// Random factors depend on the seed of the run, not on Requests.Seed, which must be 0
	Requests rigid.Requests
}

// Limits on a simulated cluster.
const (
	maxServers    = 1 << 20 // single servers
	maxCompatible = 1 << 24 // maximum of the sum over the classes of their numbers of servers
	maxMeanPhases = 50      // mean phases per job above which a calendar is faster than a Markov chain
	// steps per jump above which a calendar is also faster, since most steps are at idle servers
	maxIdle = 200
)

// Describe implements [sim.System]. It picks an engine. Sizes of few exponential phases use class
// queues or server queues. Other sizes, classes with different mean sizes, horizons and quantiles
// of delays use a calendar of events. Processor sharing uses a Whittle network.
func (c Cluster) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	if c.Model == nil {
		return nil, input.Errorf("Model", "", "a cluster model")
	}
	if err := c.Model.Check(); err != nil {
		return nil, err
	}
	c.Policy = cmp.Or(c.Policy, Policy(PolicyNames(c.Model.Service)[0]))
	if err := cmp.Or(c.checkPolicy(), c.checkPatience(), c.checkTimeouts(), c.checkGang()); err != nil {
		return nil, err
	}
	jobSizes, _, err := sim.SizesOf(c.Sizes, c.Model.MeanSize, "Sizes", "Model.MeanSize")
	if err != nil {
		return nil, err
	}
	c.Sizes = jobSizes
	if c.Model.Service == cluster.Gang {
		return c.describeGang(o)
	}
	if c.Patience, err = c.patience(); err != nil {
		return nil, err
	}
	compared, rows, err := c.Compared()
	if err != nil {
		return nil, err
	}
	verdict, err := stability.Cluster(ctx, compared)
	if err != nil {
		return nil, err
	}
	if !verdict.Stable && !o.OverHorizon {
		return nil, unstable(compared, rows, verdict, c.Model)
	}
	f, err := c.flatten()
	if err != nil {
		return nil, err
	}
	if err := f.addTimeouts(c.Model); err != nil {
		return nil, err
	}
	var d *sim.Description
	switch {
	case c.Model.Service == cluster.OneServer:
		d, err = c.describeOne(f, o)
	case c.Policy == ProcessorSharing:
		d, err = c.describeSharing(ctx, f)
	default:
		d, err = c.describeQueues(f, o)
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Stable {
		d.Unstable = "cluster"
	}
	return d, nil
}

// checkPolicy checks the policy and the number of interruptions.
func (c Cluster) checkPolicy() error {
	if err := c.Policy.Check(c.Model.Service); err != nil {
		return err
	}
	switch interrupts := c.Policy == Interrupt; {
	case interrupts && !(c.Interruptions >= 1e-6 && c.Interruptions <= 1e6):
		return input.Errorf("Interruptions", c.Interruptions, "a number in [1e-6, 1e6] with the policy interrupt")
	case !interrupts && c.Interruptions != 0:
		return input.Errorf("Interruptions", c.Interruptions, "0 with the policy %s", c.Policy)
	}
	return nil
}

// unstable returns the error for an unstable model, in jobs per unit of time. Its class k belongs
// to class rows[k] of the original model.
func unstable(m *cluster.Model, rows []int, v *stability.Result, original *cluster.Model) error {
	size := num.OrOne(m.EqualSizes().MeanSize)
	perJob := func(work *big.Rat) *big.Rat { return new(big.Rat).Quo(work, size) }
	var classes []int
	for _, k := range v.Bottleneck {
		classes = append(classes, rows[k])
	}
	classes = slices.Compact(classes)
	return &cluster.UnstableError{
		Classes:     classes,
		Names:       original.NamesOf(classes),
		ArrivalRate: perJob(v.Arrival),
		Capacity:    perJob(v.Capacity),
	}
}

// A flat cluster holds the numbers for engines: single servers, in float64.
type flat struct {
	classes    []sim.Class
	rows       []sim.Server
	capacity   []float64 // capacity of each single server
	row        []int32   // row of each single server
	chosen     [][]chosenServers
	random     bool // whether some jobs draw their servers
	degree     int  // largest number of servers of a job
	system     []any
	sizes      []sizes.Distribution // by class
	oneSize    sizes.Distribution   // sizes of all arriving jobs; nil if they differ
	sizeOfJob  float64              // σ, the mean over all arriving jobs
	totalRates float64              // Σ λ_i
	timeouts   []float64            // mean timeout by class, 0 for none; nil if no jobs time out
}

// flatten lists the single servers, and the servers of each class among them.
func (c Cluster) flatten() (*flat, error) {
	f := &flat{system: []any{"cluster", canonical(c.Model), c.Sizes.String(), c.Policy, c.Interruptions}}
	first := make([]int, len(c.Model.Servers))
	for k, row := range c.Model.Servers {
		first[k] = len(f.capacity)
		if row.Size() > maxServers-len(f.capacity) {
			return nil, input.Errorf(fmt.Sprintf("Model.servers[%d].count", k),
				row.Size(), "at most %d servers in total",
				maxServers)
		}
		v, err := sim.RateOf(fmt.Sprintf("Model.servers[%d].capacity", k), row.Capacity)
		if err != nil {
			return nil, err
		}
		f.rows = append(f.rows, sim.Server{Name: row.Name, Size: row.Size()})
		for range row.Size() {
			f.capacity = append(f.capacity, v)
			f.row = append(f.row, int32(k))
		}
	}
	if err := c.addClasses(f); err != nil {
		return nil, err
	}
	links := 0
	for i, row := range c.Model.Classes {
		var list []chosenServers
		degree := 0
		for _, choice := range row.Servers {
			degree += choice.Choose
			size := c.Model.Servers[choice.Server].Size()
			links += size
			if links > maxCompatible {
				return nil, input.Errorf(fmt.Sprintf("Model.classes[%d].servers", i),
					fmt.Sprintf("%d servers in this class and previous ones", links), "at most %d in all classes",
					maxCompatible)
			}
			order := make([]uint32, size)
			for k := range order {
				order[k] = uint32(first[choice.Server] + k)
			}
			list = append(list, chosenServers{order, choice.Choose})
			f.random = f.random || choice.Choose < size
		}
		f.chosen = append(f.chosen, list)
		f.degree = max(f.degree, degree)
	}
	return f, nil
}

// addClasses sets the classes and their sizes.
func (c Cluster) addClasses(f *flat) error {
	for i, row := range c.Model.Classes {
		v, err := sim.RateOf(fmt.Sprintf("Model.classes[%d].arrival_rate", i), row.ArrivalRate)
		if err != nil {
			return err
		}
		jobSizes, err := c.sizesOf(i)
		if err != nil {
			return err
		}
		mean, err := sizes.Mean(jobSizes) // includes its rounding
		if err != nil {
			return err
		}
		f.sizes = append(f.sizes, jobSizes)
		f.classes = append(f.classes, sim.Class{Name: row.Name, ArrivalRate: v, MeanSize: mean})
		f.totalRates += v
	}
	if f.totalRates == 0 {
		return input.Errorf("Model.classes", "arrival rates that are all 0", "a class with an arrival rate > 0")
	}
	f.findMeanSize()
	return nil
}

// sizesOf returns the distribution of the sizes of the jobs of a class.
func (c Cluster) sizesOf(class int) (sizes.Distribution, error) {
	own := c.Model.Classes[class].MeanSize
	if own == nil {
		return c.Sizes, nil
	}
	path := input.Index("Model.classes", class) + ".mean_size"
	if _, _, err := sim.SizesOf(nil, own, "", path); err != nil {
		return nil, err
	}
	factor, _ := new(big.Rat).Quo(own, num.OrOne(c.Model.MeanSize)).Float64()
	if factor == 1 {
		return c.Sizes, nil
	}
	d, err := c.Sizes.Scaled(factor)
	if err != nil {
		return nil, input.Errorf(path, own.RatString(), "a mean to which %v can be scaled", c.Sizes)
	}
	return d, nil
}

// findMeanSize sets oneSize and sizeOfJob.
func (f *flat) findMeanSize() {
	work, same := 0.0, true
	for i, class := range f.classes {
		if class.ArrivalRate > 0 {
			if f.oneSize == nil {
				f.oneSize, f.sizeOfJob = f.sizes[i], class.MeanSize
			}
			same = same && f.sizes[i].String() == f.oneSize.String()
			work += class.ArrivalRate / f.totalRates * class.MeanSize
		}
	}
	if !same {
		f.oneSize, f.sizeOfJob = nil, work
	}
}

// moments returns the moments of the given order of the sizes of all jobs, one entry per
// distribution, with the first class that has it.
func (f *flat) moments(order float64) (list []sim.Moment) {
	if f.oneSize != nil {
		return []sim.Moment{{Sizes: f.oneSize, Orders: []float64{order}}}
	}
	places := make(map[string]int)
	for i, class := range f.classes {
		if class.ArrivalRate == 0 {
			continue
		}
		name := f.sizes[i].String()
		k, known := places[name]
		if !known {
			k = len(list)
			places[name] = k
			list = append(list, sim.Moment{
				Sizes:  f.sizes[i],
				Orders: []float64{order},
				Words:  fmt.Sprintf("sizes of mean %.6g", class.MeanSize),
				Class:  class.Name,
			})
		}
		list[k].Rate += class.ArrivalRate
	}
	return list
}

// canonical returns the relevant part of a model, exactly.
func canonical(m *cluster.Model) []any {
	out := []any{"mean size " + num.OrOne(m.MeanSize).RatString()}
	for _, s := range m.Servers {
		out = append(out, []any{"server", s.Size(), s.Capacity.RatString()})
	}
	for _, c := range m.Classes {
		class := []any{"class", c.ArrivalRate.RatString(), c.Servers}
		if c.MeanSize != nil {
			class = append(class, "mean size "+c.MeanSize.RatString())
		}
		if c.Priority != 0 {
			class = append(class, "priority", c.Priority)
		}
		out = append(out, class)
	}
	return out
}

// describeQueues describes clusters under FCFS and with interruptions.
func (c Cluster) describeQueues(f *flat, o sim.Observation) (*sim.Description, error) {
	d := &sim.Description{
		Classes: f.classes, Servers: f.rows, Identity: f.system, StepCost: float64(f.degree) / 4,
		Moments: f.moments(2),
	}
	phased, ok := f.oneSize.(sizes.Phased)
	var phases sizes.Phases
	if ok {
		phases = phased.Phases()
	}
	capacity := sim.Sum(f.capacity)
	idle := capacity/phases.Mean > maxIdle*f.totalRates*(1+phases.MeanCount)
	if f.timeouts != nil {
		d.Measures = f.timeoutMeasures
	}
	if !ok || idle || f.timeouts != nil || c.Calendar || o.OverHorizon || o.Delays || phases.MeanCount > maxMeanPhases {
		d.Method = "calendar of events"
		d.JumpRate = f.totalRates * (2 + c.Interruptions)
		d.StepRate = 2*f.totalRates + capacity*c.Interruptions/f.sizeOfJob
		d.Start = func(_ context.Context, r *sim.Stream) sim.Engine { return newCalendar(f, c, r) }
		return d, sim.CheckRate("Model", d.StepRate)
	}
	d.JumpRate = f.totalRates * (1 + phases.MeanCount + c.Interruptions)
	d.StepRate = f.totalRates + capacity/phases.Mean + capacity*c.Interruptions/f.sizeOfJob
	if err := sim.CheckRate("Model", d.StepRate); err != nil {
		return nil, err
	}
	chain := &jumpChain{
		rate:    d.StepRate,
		phases:  phaseCount{phases.Fixed, phases.Draw},
		classes: len(f.classes),
		rows:    f.row,
	}
	serves, width := []uint8(nil), 1 // a service code is the server number times the width
	few := len(f.classes) <= maxClassQueues && !f.random
	if few {
		serves, width = f.serves()
	}
	var weights []float64
	var codes []uint32
	for k, capacity := range f.capacity {
		weights = append(weights, capacity/phases.Mean, capacity*c.Interruptions/f.sizeOfJob)
		codes = append(codes, uint32(2*k*width), uint32(2*k*width+1))
	}
	for i, class := range f.classes {
		weights = append(weights, class.ArrivalRate)
		codes = append(codes, arrivals+uint32(i))
	}
	chain.table = sizes.NewAliasTable(weights, codes)
	if few {
		d.Method = "jump chain with a queue for each class"
		d.Start = func(_ context.Context, r *sim.Stream) sim.Engine { return newClassQueues(chain, serves, width, r) }
		return d, nil
	}
	d.Method = "jump chain with a queue for each server"
	d.Start = func(_ context.Context, r *sim.Stream) sim.Engine { return newServerQueues(chain, f.chosen, r) }
	return d, nil
}

// serves lists the classes that each server may serve, width entries each, padded with an entry
// that means none.
func (f *flat) serves() (list []uint8, width int) {
	lists := make([][]uint8, len(f.capacity))
	for i, chosen := range f.chosen {
		for _, c := range chosen {
			for _, s := range c.order {
				lists[s] = append(lists[s], uint8(i))
				width = max(width, len(lists[s]))
			}
		}
	}
	for _, l := range lists {
		for len(l) < width {
			l = append(l, maxClassQueues)
		}
		list = append(list, l...)
	}
	return list, width
}
