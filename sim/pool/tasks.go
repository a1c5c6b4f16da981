package pool

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// Tasks is a pool of machines that share their resources task by task: a task takes A_kj units of
// each resource j of one machine until it ends, and cannot be split. The population is standing if
// no class has an arrival rate: there are Count jobs of each class, with an endless supply of
// tasks. Otherwise it varies: class-k jobs arrive at rate λ_k with a number of tasks, and depart
// when all are done.
//
// When a job arrives or tasks end, after all tasks that end at the same time, the scheduler
// launches tasks one at a time as long as possible. Each is a task of the most deprived job that
// has tasks to launch and that fits on a machine, on the first machine where it fits (Bonald and
// Roberts, "Enhanced cluster computing performance through proportional fairness", Performance
// Evaluation 79, 2014, 134–145, [BR14]; Ghodsi et al., NSDI 2011). The smaller n_i/φ_i, the more
// deprived is a job i that runs n_i tasks, where φ_i is the number of tasks that the policy gives
// it in a single divisible machine of the total capacity with the jobs present. Under dominant
// resource fairness the criterion is the dominant share divided by the weight, n_i d_i/w_i, where
// d_i is the largest fraction that a task takes of a resource of all machines together. Values that
// agree to 1e-9 are a tie; then the job with the fewest tasks precedes, then the oldest.
//
// A pool that cannot be stable is an error, except over a horizon: a *[traffic.UnstableError] for
// an overloaded resource, or an error that wraps [num.ErrUnstable] for a class that needs more
// concurrent tasks than fit on empty machines. A pool without an error may still be unstable, since
// tasks may be unable to fill it. A run with more than 10,000,000 jobs present at a time ends with
// an error that wraps [sim.ErrTooManyJobs]. See [Divisible] for the requirements of balanced
// fairness.
type Tasks struct {
	Resources []string // names
	Machines  []Machine
	Jobs      []TaskClass
	Policy    fluid.Policy

	// Wait keeps jobs from overtaking the most deprived one that has tasks to launch: while its
	// tasks fit nowhere, nothing is launched. Without Wait, the next most deprived job is served
	// instead. That uses more of the machines, but deviates from the policy even for very small
	// tasks: the space that a task frees fits another task of its size, so jobs with large tasks
	// may wait as long as there are small ones.
	Wait bool
}

// A Machine is a machine, or a number of equal machines.
type Machine struct {
	Capacity []*big.Rat // C_j >= 0, in the order of Tasks.Resources; nil means 0
	Count    int        // 0 means 1
}

// A TaskClass is a kind of job.
type TaskClass struct {
	Name string // nonempty and unique
	// A_kj >= 0, of resource j for each task, in the order of Tasks.Resources; nil means 0; at
	// least one > 0
	Demand []*big.Rat
	Weight *big.Rat // w_k > 0; nil means 1

	Count       int      // number of jobs of a standing population; 0 means 1
	ArrivalRate *big.Rat // λ_k >= 0, jobs per second; nil for all classes of a standing population
	MeanTasks   *big.Rat // mean number of tasks of an arriving job, 1 to 10^9; nil means 1
	// whether P(N > n) = (1-1/m)^n for the number N of tasks, m = MeanTasks; otherwise N is the
	// integer m
	Geometric bool

	MeanDuration *big.Rat           // seconds per task; nil means 1
	Durations    sizes.Distribution // distribution with this mean to 1e-12; nil means exponential
}

// Limits of task-by-task sharing.
const (
	maxMachines     = 1 << 16
	maxStandingJobs = 1_000_000
	maxMeanTasks    = 1_000_000_000
)

// Standing reports whether the population is standing: no class has an arrival rate. When a task
// ends, the next one is then of the same job, which is the most deprived of those that fit; only
// with several machines may another job take the slot. So the numbers of running tasks become
// constant, immediately or after a short time, unless tasks end together.
func (t Tasks) Standing() bool {
	for _, c := range t.Jobs {
		if c.ArrivalRate != nil {
			return false
		}
	}
	return true
}

// Finer returns the pool with smaller and shorter tasks. Capacities are multiplied by smaller, so a
// task takes a smaller fraction of a machine; durations are divided by shorter. The number of tasks
// of an arriving job is multiplied by smaller and by shorter, so its work is the same.
//
// As both grow, the number of running tasks divided by smaller, and the numbers of jobs, approach
// those of a divisible pool, [Tasks.Pool] and [Tasks.Traffic], if jobs do not overtake the most
// deprived one (Wait). Small tasks alone are not enough: with exponential durations the last of n
// tasks that run concurrently lasts log n times as long as the mean, so delays are off by about
// log(smaller)/shorter.
func Finer(t Tasks, smaller, shorter int) (Tasks, error) {
	if smaller < 1 || smaller > 1e6 {
		return t, input.Errorf("smaller", smaller, "an integer in 1..1000000")
	}
	if shorter < 1 || shorter > 1e6 {
		return t, input.Errorf("shorter", shorter, "an integer in 1..1000000")
	}
	size, length := big.NewRat(int64(smaller), 1), big.NewRat(int64(shorter), 1)
	machines := make([]Machine, len(t.Machines))
	for m, one := range t.Machines {
		machines[m] = Machine{Capacity: make([]*big.Rat, len(one.Capacity)), Count: one.Count}
		for j, c := range one.Capacity {
			if c != nil {
				machines[m].Capacity[j] = new(big.Rat).Mul(c, size)
			}
		}
	}
	jobs := make([]TaskClass, len(t.Jobs))
	for k, c := range t.Jobs {
		c.MeanDuration = new(big.Rat).Quo(num.OrOne(c.MeanDuration), length)
		if c.Durations != nil {
			var err error
			if c.Durations, err = c.Durations.Scaled(1 / float64(shorter)); err != nil {
				return t, fmt.Errorf("jobs[%d].durations: %w", k, err)
			}
		}
		if c.ArrivalRate != nil {
			c.MeanTasks = new(big.Rat).Mul(num.OrOne(c.MeanTasks), new(big.Rat).Mul(size, length))
		}
		jobs[k] = c
	}
	t.Machines, t.Jobs = machines, jobs
	return t, nil
}

// amount returns entry j of a list of amounts, or 0 if it is missing.
func amount(list []*big.Rat, j int) *big.Rat {
	if j >= len(list) || list[j] == nil {
		return new(big.Rat)
	}
	return list[j]
}

// resources returns the total resources of all machines.
func (t Tasks) resources() []fluid.Resource {
	list := make([]fluid.Resource, len(t.Resources))
	for j, name := range t.Resources {
		whole := new(big.Rat)
		for _, m := range t.Machines {
			whole.Add(whole, new(big.Rat).Mul(amount(m.Capacity, j), big.NewRat(int64(max(m.Count, 1)), 1)))
		}
		list[j] = fluid.Resource{Name: name, Capacity: whole}
	}
	return list
}

// Pool returns the single divisible machine of the total capacity, with one row of Count jobs per
// class.
func (t Tasks) Pool() *fluid.Pool {
	p := &fluid.Pool{Resources: t.resources()}
	for _, c := range t.Jobs {
		p.Jobs = append(p.Jobs, fluid.Job{Name: c.Name, Demand: c.Demand, Weight: c.Weight, Count: c.Count})
	}
	return p
}

// Traffic returns the single divisible machine of the total capacity, with arriving jobs of mean
// sizes MeanTasks times MeanDuration.
func (t Tasks) Traffic() *traffic.Model {
	f := &traffic.Model{Resources: t.resources()}
	for _, c := range t.Jobs {
		size := new(big.Rat).Mul(num.OrOne(c.MeanTasks), num.OrOne(c.MeanDuration))
		f.Classes = append(f.Classes, traffic.Class{
			Name: c.Name, Demand: c.Demand, Weight: c.Weight, ArrivalRate: c.ArrivalRate, MeanSize: size,
		})
	}
	return f
}

// Describe implements [sim.System].
func (t Tasks) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	g, err := t.measure()
	if err != nil {
		return nil, err
	}
	g.fluid, g.policy, g.wait, g.standing = t.Pool(), t.Policy, t.Wait, t.Standing()
	if _, err := fluid.NewAllocator(g.fluid, t.Policy); err != nil {
		return nil, err
	}
	if t.Policy == fluid.BF {
		if err := equalWeights(g.fluid, func(k int) *big.Rat { return t.Jobs[k].ArrivalRate }); err != nil {
			return nil, err
		}
	}
	d := &sim.Description{
		Measures: g.measures,
		Method:   "calendar of events of tasks",
		StepCost: 1 + float64(len(t.Jobs))/4 + allocationCost(t.Policy, len(t.Jobs), len(t.Resources)),
		Start:    func(ctx context.Context, r *sim.Stream) sim.Engine { return newCalendar(ctx, g, r) },
	}
	var machines, jobs []any
	for _, m := range t.Machines {
		machines = append(machines, max(m.Count, 1), texts(m.Capacity, len(t.Resources)))
	}
	for k := range t.Jobs {
		about, err := t.addClass(d, g, k)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, about...)
	}
	d.Identity = []any{"tasks", t.Policy, t.Wait, machines, jobs}
	if err := g.addKeys(); err != nil {
		return nil, err
	}
	if g.standing {
		d.Counted = sim.Counted{List: RunningTasks, Words: "tasks that run"}
		err = g.expect(ctx, d)
	} else {
		err = t.arrivals(d, g, o.OverHorizon)
	}
	if err != nil {
		return nil, err
	}
	d.SizeRate = d.JumpRate // durations are drawn per task
	return d, sim.CheckRate("jobs", d.JumpRate)
}

// addClass adds class k and returns its identity.
func (t Tasks) addClass(d *sim.Description, g *taskPool, k int) ([]any, error) {
	c := t.Jobs[k]
	path := fmt.Sprintf("jobs[%d]", k)
	durations, mean, err := sim.SizesOf(c.Durations, c.MeanDuration, path+".durations", path+".mean_duration")
	if err != nil {
		return nil, err
	}
	order := 2.0
	if g.standing {
		order = 1 // the mean suffices for numbers of running tasks
	}
	d.Moments = append(d.Moments, sim.Moment{Sizes: durations, Orders: []float64{order}, Of: "class " + c.Name})
	g.durations, g.counts = append(g.durations, durations), append(g.counts, max(c.Count, 1))
	row := sim.Class{Name: c.Name, MeanSize: mean}
	about := []any{"standing", max(c.Count, 1)}
	if !g.standing {
		if row.ArrivalRate, err = sim.RateOf(path+".arrival_rate", c.ArrivalRate); err != nil {
			return nil, err
		}
		tasks, _ := num.OrOne(c.MeanTasks).Float64()
		number := taskNumber{fixed: int64(tasks)}
		if c.Geometric {
			number = taskNumber{scale: -1 / math.Log1p(-1/tasks)}
		}
		g.numbers = append(g.numbers, number)
		row.MeanSize = tasks * mean
		d.JumpRate += row.ArrivalRate * (1 + tasks)
		about = []any{c.ArrivalRate.RatString(), num.OrOne(c.MeanTasks).RatString(), c.Geometric}
	}
	d.Classes = append(d.Classes, row)
	return []any{about, durations.String(), texts(c.Demand, len(t.Resources)), num.OrOne(c.Weight).RatString()}, nil
}

// check checks everything that package fluid and the distributions of durations do not check.
func (t Tasks) check() error {
	if len(t.Resources) == 0 {
		return input.Errorf("resources", "[]", "at least one resource")
	}
	if len(t.Machines) == 0 {
		return input.Errorf("machines", "[]", "at least one machine")
	}
	machines := 0
	for m, row := range t.Machines {
		path := fmt.Sprintf("machines[%d]", m)
		if row.Count < 0 || row.Count > maxMachines-machines {
			return input.Errorf(path+".count", row.Count, "1 to %d machines in total", maxMachines)
		}
		machines += max(row.Count, 1)
		if len(row.Capacity) > len(t.Resources) {
			return input.Errorf(path+".capacity", fmt.Sprintf("%d numbers", len(row.Capacity)),
				"at most one for each of the %d resources", len(t.Resources))
		}
		for j, c := range row.Capacity {
			if c == nil {
				continue
			}
			if err := input.CheckNumber(
				input.Field(path+".capacity", t.Resources[j]), c, input.Nonnegative,
			); err != nil {
				return err
			}
		}
	}
	for j := range t.Resources { // before sums, whose denominators may be as long as all denominators together
		if (Tasks{Machines: t.Machines}).unit(j).BitLen() > mostUnitBits {
			return t.fineError(j)
		}
	}
	standing := 0
	for k, c := range t.Jobs {
		path := fmt.Sprintf("jobs[%d]", k)
		switch tasks := num.OrOne(c.MeanTasks); {
		case t.Standing():
			if standing += max(c.Count, 1); standing > maxStandingJobs {
				return input.Errorf(path+".count", c.Count, "at most %d jobs in total", maxStandingJobs)
			}
			if c.MeanTasks != nil || c.Geometric {
				return input.Errorf(path+".mean_tasks", tasks.RatString(),
					"none in a standing population, whose jobs never run out of tasks")
			}
		case c.Count != 0:
			return input.Errorf(path+".count", c.Count, "none for jobs that arrive")
		case tasks.Cmp(big.NewRat(1, 1)) < 0 || tasks.Cmp(big.NewRat(maxMeanTasks, 1)) > 0:
			return input.Errorf(path+".mean_tasks", tasks.RatString(), "a number in [1, %d]", maxMeanTasks)
		case !c.Geometric && !tasks.IsInt():
			return input.Errorf(
				path+".mean_tasks", tasks.RatString(), "an integer, unless the number of tasks is geometric",
			)
		}
		if c.MeanDuration != nil && c.MeanDuration.Sign() <= 0 {
			return input.Errorf(path+".mean_duration", c.MeanDuration.RatString(), "a number > 0")
		}
	}
	if t.Standing() {
		return t.Pool().Check()
	}
	return t.Traffic().Check()
}

// expect sets the rate at which tasks of a standing population would end if the resources were
// divisible.
func (g *taskPool) expect(ctx context.Context, d *sim.Description) error {
	tasks, err := newAllocations(ctx, g.fluid, g.policy).of(g.counts)
	if err != nil {
		return err
	}
	for k, n := range g.counts {
		d.JumpRate += float64(n) * tasks[k] / d.Classes[k].MeanSize
	}
	return nil
}

// arrivals prepares the arrivals. It returns an error if the pool cannot be stable, except over a
// horizon.
func (t Tasks) arrivals(d *sim.Description, g *taskPool, overHorizon bool) error {
	rates := make([]float64, len(t.Jobs))
	for k, c := range d.Classes {
		rates[k] = c.ArrivalRate
	}
	g.table, g.rate = sizes.NewAliasTable(rates, nil), sim.Sum(rates)
	if g.rate == 0 {
		return input.Errorf("jobs", "arrival rates that are all 0", "a class with an arrival rate > 0")
	}
	err := t.stable(g.most)
	if err != nil && overHorizon {
		d.Unstable = "pool"
		return nil
	}
	return err
}

// stable returns an error if the pool cannot be stable; most is the number of tasks of each class
// that fit on empty machines.
func (t Tasks) stable(most []int64) error {
	f := t.Traffic()
	if err := f.Stable(); err != nil {
		return err
	}
	for k, volume := range f.Volume() {
		if volume.Cmp(big.NewRat(most[k], 1)) >= 0 {
			return fmt.Errorf("%w: class %s needs to run %s tasks at a time, but only %d fit on the machines",
				num.ErrUnstable, t.Jobs[k].Name, volume.RatString(), most[k])
		}
	}
	return nil
}
