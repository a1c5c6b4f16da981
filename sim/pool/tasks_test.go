package pool

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// twoJobs returns the pool of 9 CPUs and 18 GB of Ghodsi et al.: tasks of <1 CPU, 4 GB> and of <3
// CPUs, 1 GB>.
func twoJobs(policy fluid.Policy) Tasks {
	return Tasks{
		Resources: []string{"cpu", "ram"},
		Machines:  []Machine{{Capacity: simtest.Rationals("9", "18")}},
		Jobs: []TaskClass{
			{Name: "a", Demand: simtest.Rationals("1", "4")}, {Name: "b", Demand: simtest.Rationals("3", "1")},
		},
		Policy: policy,
	}
}

// finer returns the pool with finer tasks.
func finer(t testing.TB, f Tasks, smaller, shorter int) Tasks {
	t.Helper()
	f, err := Finer(f, smaller, shorter)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Three tasks of a and two of b equalize the dominant shares at 2/3 and fill the CPUs: whenever a
// task ends, another task of the same job is launched.
func TestStandingTwoJobs(t *testing.T) {
	for _, wait := range []bool{false, true} {
		f := twoJobs(fluid.DRF)
		f.Wait = wait
		r := simtest.Run(t, f, sim.Settings{Runs: 10, Jumps: 3e3})
		for k, want := range []float64{3, 2} {
			if c := r.Classes[k]; r.Class(k, RunningTasks).Mean != want || r.Class(k, RunningTasks).StdError != 0 ||
				r.Class(k, sim.ServiceRate).Mean != want || r.Class(k, sim.MeanJobs).Mean != 1 ||
				r.Class(k, sim.MeanDelay) != nil {
				t.Errorf("class %s: %+v", c.Name, c)
			}
		}
		for j, want := range []float64{1, 14.0 / 18} {
			if u := r.Estimate(OfResource, j, sim.Utilization).Mean; !(math.Abs(u-want) < 1e-12) {
				t.Errorf("%s is used to %v, want %v", f.Resources[j], u, want)
			}
		}
		if len(r.Warnings) > 0 {
			t.Error(r.Warnings)
		}
	}
}

// As tasks get smaller, standing jobs approach the numbers of tasks that the policy gives them in a
// divisible pool. If jobs do not overtake the most deprived one, a few tasks are missing: those of
// the jobs that are ahead.
func TestStandingTasksBecomeFluid(t *testing.T) {
	for _, c := range []struct {
		policy fluid.Policy
		a, b   float64
	}{
		{fluid.PF, 45.0 / 11, 18.0 / 11}, // both resources are full: a + 3b = 9, 4a + b = 18
		{fluid.DRF, 3, 2},
		{fluid.MaxMin, 9.0 / 4, 9.0 / 4},
	} {
		for _, g := range []int{3, 10, 100} {
			f := finer(t, twoJobs(c.policy), g, 1)
			f.Wait = true
			r := simtest.Run(t, f, sim.Settings{Runs: 4, Jumps: 3e3})
			for k, want := range []float64{c.a, c.b} {
				if got := r.Class(k, RunningTasks).Mean / float64(g); !(math.Abs(got-want) <= 3/float64(g)) {
					t.Errorf("%s, %d times as small: class %d: %v tasks, divisible %v", c.policy, g, k, got, want)
				}
			}
		}
	}
}

// A standing population of one class always runs as many tasks as fit on each machine.
func TestStandingOneClass(t *testing.T) {
	f := Tasks{
		Resources: []string{"cpu", "gpu"},
		Machines: []Machine{
			{Capacity: simtest.Rationals("10/3"), Count: 2}, {Capacity: simtest.Rationals("1", "1")},
			{Capacity: simtest.Rationals("1/2")},
		},
		Jobs: []TaskClass{{
			Name:      "a",
			Demand:    simtest.Rationals("2/3"),
			Count:     4,
			Durations: simtest.Sizes(t, "lognormal:2", 1),
		}},
		Policy: fluid.PF,
	}
	r := simtest.Run(t, f, sim.Settings{Runs: 4, Jumps: 3e3, Distribution: 12})
	if got := r.Class(0, RunningTasks).Mean; !(math.Abs(got-11) < 1e-12) { // 5 + 5 + 1
		t.Errorf("%v tasks run", got)
	}
	if got := r.Class(0, sim.ServiceRate).Mean; !(math.Abs(got-11.0/4) < 1e-12) || r.All(sim.MeanJobs).Mean != 4 ||
		r.Class(0, sim.MeanJobs).Mean != 4 {
		t.Errorf("%v tasks of each job run", got)
	}
	if got := r.Estimate(OfResource, 0, sim.Utilization).Mean; !(math.Abs(got-22/24.5) < 1e-12) ||
		r.Estimate(OfResource, 1, sim.Utilization).Mean != 0 {
		t.Errorf("%v of the first resource is used", got)
	}
	if got := r.Distribution[11].Mean; !(math.Abs(got-1) < 1e-12) {
		t.Errorf("11 tasks run for %v of the time", got)
	}
}

// Jobs of one task with equal needs form an M/M/c queue under every policy: E[X] = cρ + C(c, ρ)
// ρ/(1-ρ).
func TestSingleTasksMatchErlangC(t *testing.T) {
	for _, c := range []struct {
		machines []Machine
		servers  int
		load     float64
	}{
		{[]Machine{{Capacity: simtest.Rationals("3/4")}}, 1, 0.5},
		{[]Machine{{Capacity: simtest.Rationals("5/2")}}, 5, 0.8},
		{[]Machine{
			{Capacity: simtest.Rationals("1"), Count: 3}, {Capacity: simtest.Rationals("5/2")},
			{Capacity: simtest.Rationals("2/5")},
		}, 11, 0.7},
	} {
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			half := new(big.Rat).SetFloat64(c.load * float64(c.servers) / 4) // tasks of mean 2, two classes
			f := Tasks{Resources: []string{"cpu"}, Machines: c.machines, Policy: policy}
			for _, name := range []string{"a", "b"} {
				f.Jobs = append(f.Jobs, TaskClass{
					Name:         name,
					Demand:       simtest.Rationals("1/2"),
					ArrivalRate:  half,
					MeanDuration: big.NewRat(2, 1),
				})
			}
			r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 4})
			work := new(big.Rat).SetFloat64(float64(c.servers) * c.load)
			p := oracle.Must(loss.ErlangC(t.Context(), c.servers, work, loss.FormulaSettings{})).Float
			at := fmt.Sprintf("%d servers, %s: ", c.servers, policy)
			simtest.Near(t, at+"jobs", r.All(sim.MeanJobs), float64(c.servers)*c.load+p*c.load/(1-c.load))
			simtest.Near(t, at+"tasks", r.Class(0, RunningTasks), float64(c.servers)*c.load/2)
			whole, _ := f.resources()[0].Capacity.Float64()
			simtest.Near(
				t, at+"utilization", r.Estimate(OfResource, 0, sim.Utilization), float64(c.servers)*c.load/2/whole,
			)
		}
	}
}

// If jobs have a geometric number of tasks that all start on arrival, X is M/G/∞, and a job lasts
// as long as its longest task. With m = 2 and exponential durations, P(done by t) = Σ_n 2^-n F^n =
// F/(2-F) for F = 1 - e^-t, and the mean is ∫ 2e^-t/(1+e^-t) dt = 2 log 2.
func TestParallelTasks(t *testing.T) {
	f := Tasks{Resources: []string{"cpu"}, Machines: []Machine{{Capacity: simtest.Rationals("1000")}}, Policy: fluid.PF,
		Jobs: []TaskClass{{
			Name:        "a",
			Demand:      simtest.Rationals("1"),
			ArrivalRate: big.NewRat(3, 1),
			MeanTasks:   big.NewRat(2, 1),
			Geometric:   true,
		}}}
	r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 1.5e4, WarmUp: 1.5e3})
	simtest.Near(t, "delay", r.All(sim.MeanDelay), 2*math.Ln2)
	simtest.Near(t, "measured delay", r.All(sim.MeasuredDelay), 2*math.Ln2)
	simtest.Near(t, "tasks", r.Class(0, RunningTasks), 6)
	simtest.Near(t, "service rate", r.Class(0, sim.ServiceRate), 1/math.Ln2)
	f.Jobs[0].Geometric, f.Jobs[0].MeanTasks = false, big.NewRat(3, 1) // the longest of three tasks: 1 + 1/2 + 1/3
	r = simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 1.5e4, WarmUp: 1.5e3})
	simtest.Near(t, "delay of three tasks", r.All(sim.MeasuredDelay), 11.0/6)
}

// coarse converts a reference in random traffic into tasks whose demands are in hundredths of the
// resources.
func coarse(ref trafficReference, policy fluid.Policy) Tasks {
	f := Tasks{
		Resources: []string{"cpu", "ram"},
		Machines:  []Machine{{Capacity: simtest.Rationals("1", "1")}},
		Policy:    policy,
		Wait:      true,
	}
	for k, c := range ref.traffic().Classes {
		row := TaskClass{Name: c.Name, ArrivalRate: c.ArrivalRate, Geometric: true}
		for _, a := range ref.A[k] {
			row.Demand = append(row.Demand, big.NewRat(int64(math.Round(100*a)), 100))
		}
		f.Jobs = append(f.Jobs, row)
	}
	return f
}

// As tasks get smaller and shorter, jobs in random traffic approach the policy in a divisible pool.
// The error at least halves from step to step, up to noise that is exceeded once in 1.7 million
// times. It is about log(smaller)/shorter, the time by which the last tasks of a job outlast the
// first.
func TestTrafficOfTasksBecomesFluid(t *testing.T) {
	ref := trafficReferences(t)[0]
	for policy, want := range map[fluid.Policy][2]float64{fluid.PF: ref.PF, fluid.DRF: ref.DRF} {
		last := math.Inf(1)
		for _, g := range [][2]int{{4, 4}, {4, 16}, {8, 64}} {
			r := simtest.Run(t, finer(t, coarse(ref, policy), g[0], g[1]), sim.Settings{
				Runs:   20,
				Jumps:  1e4,
				WarmUp: 2e3,
				Seed:   1,
			})
			ideal := want[0] + want[1]
			off := r.All(sim.MeanJobs).Mean/ideal - 1
			if !(r.All(sim.MeanJobs).Z(ideal*(1+last/2)) < 5 && r.All(sim.MeanJobs).Z(ideal) > -5) {
				t.Errorf("%s, %v times as fine: %.3g more jobs than in a divisible pool, %.3g before",
					policy, g, off, last)
			}
			last = off
		}
	}
}

// Finer tasks bring the same work to pools with the same loads.
func TestFiner(t *testing.T) {
	f := coarse(trafficReferences(t)[3], fluid.PF)
	f.Jobs[0].Durations = simtest.Sizes(t, "erlang:3", 1)
	g := finer(t, f, 4, 3)
	before, after := f.Traffic(), g.Traffic()
	for j, load := range before.Loads() {
		if after.Loads()[j].Cmp(load) != 0 {
			t.Errorf("load %v, was %v", after.Loads()[j], load)
		}
	}
	if c := g.Jobs[0]; c.MeanTasks.Cmp(big.NewRat(12, 1)) != 0 || c.MeanDuration.Cmp(big.NewRat(1, 3)) != 0 ||
		g.Machines[0].Capacity[1].Cmp(big.NewRat(4, 1)) != 0 {
		t.Errorf("%+v", g)
	}
	if f.Jobs[0].MeanTasks != nil || f.Machines[0].Capacity[1].Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("changed: %+v", f)
	}
	if _, err := sim.NewPlan(t.Context(), g, sim.Settings{}); err != nil {
		t.Error(err)
	}
	for _, bad := range [][2]int{{0, 1}, {1, 0}, {-1, 1}, {1, 1e6 + 1}} {
		if _, err := Finer(f, bad[0], bad[1]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// A literalTask runs on a machine until its end.
type literalTask struct {
	machine int
	end     float64
}

type literalTasksJob struct {
	class, asked, launched, done int
	born                         float64
	tasks                        []literalTask
}

// literalTasks shares task by task as the comment on [Tasks] specifies, with fractions and without
// tables.
type literalTasks struct {
	Tasks
	machines []Machine // one entry per machine
	jobs     []*literalTasksJob
	ideal    *fluid.Allocator
	draws    *rand.Rand
	now      float64
	pool     *taskPool
	running  []float64 // ∫ running tasks dt, by class
}

// used returns the amount of a resource that tasks hold on a machine.
func (q *literalTasks) used(machine, j int) *big.Rat {
	tasks := make([]int64, len(q.Jobs)) // by class
	for _, job := range q.jobs {
		for _, task := range job.tasks {
			if task.machine == machine {
				tasks[job.class]++
			}
		}
	}
	sum := new(big.Rat)
	for class, n := range tasks {
		if n > 0 {
			held := big.NewRat(n, 1)
			sum.Add(sum, held.Mul(held, amount(q.Jobs[class].Demand, j)))
		}
	}
	return sum
}

// place returns the first machine with room for a task.
func (q *literalTasks) place(class int) int {
	return slices.IndexFunc(q.machines, func(m Machine) bool {
		i := slices.IndexFunc(q.machines, func(n Machine) bool { return &n.Capacity[0] == &m.Capacity[0] })
		for j := range q.Resources {
			if sum := q.used(i, j); sum.Add(sum, amount(q.Jobs[class].Demand, j)).Cmp(m.Capacity[j]) > 0 {
				return false
			}
		}
		return true
	})
}

// deprived returns n_i d_i/w_i or n_i/φ_i of each job.
func (q *literalTasks) deprived() []float64 {
	count, phi := make([]float64, len(q.Jobs)), make([]float64, len(q.Jobs))
	for _, job := range q.jobs {
		count[job.class]++
	}
	q.ideal.Forget()
	if err := q.ideal.Tasks(context.Background(), count, phi); err != nil {
		panic(err)
	}
	resources := q.resources()
	var list []float64
	for _, job := range q.jobs {
		c := q.Jobs[job.class]
		n := float64(len(job.tasks))
		if q.Policy != fluid.DRF {
			list = append(list, n/phi[job.class])
			continue
		}
		dominant := 0.0
		for j, r := range resources {
			part, _ := new(big.Rat).Quo(amount(c.Demand, j), r.Capacity).Float64()
			dominant = max(dominant, part)
		}
		w, _ := num.OrOne(c.Weight).Float64()
		list = append(list, n*dominant/w)
	}
	return list
}

// launch launches all tasks that may start.
func (q *literalTasks) launch() {
	for {
		list := q.deprived()
		var order []int
		for i, job := range q.jobs {
			if q.Standing() || job.launched < job.asked {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { // older jobs come first
			if math.Abs(list[a]-list[b]) > 1e-9*max(list[a], list[b]) {
				return int(math.Copysign(1, list[a]-list[b]))
			}
			return len(q.jobs[a].tasks) - len(q.jobs[b].tasks)
		})
		launched := false
		for _, i := range order {
			job := q.jobs[i]
			if m := q.place(job.class); m >= 0 {
				job.launched++
				job.tasks = append(job.tasks, literalTask{m, q.now + q.pool.durations[job.class].Sample(q.draws)})
				launched = true
				break
			}
			if q.Wait {
				break
			}
		}
		if !launched {
			return
		}
	}
}

// count counts from now until at.
func (q *literalTasks) count(at float64, y *sim.Totals) {
	tasks := 0
	for _, job := range q.jobs {
		y.Jobs[job.class] += at - q.now
		q.running[job.class] += float64(len(job.tasks)) * (at - q.now)
		tasks += len(job.tasks)
	}
	if q.Standing() {
		y.Add(tasks, at-q.now)
	} else {
		y.Add(len(q.jobs), at-q.now)
	}
	q.now = at
}

// simulateTasks runs the pool for a time t and checks that no machine exceeds its capacity.
func simulateTasks(f Tasks, g *taskPool, t float64, r *sim.Stream, report func(format string, args ...any)) (
	seen *sim.Totals, running []float64,
) {
	ideal, err := fluid.NewAllocator(f.Pool(), f.Policy)
	if err != nil {
		panic(err)
	}
	q := &literalTasks{Tasks: f, ideal: ideal, draws: rand.New(r), pool: g, running: make([]float64, len(f.Jobs))}
	for _, m := range f.Machines {
		for range max(m.Count, 1) {
			var one Machine
			for j := range f.Resources {
				one.Capacity = append(one.Capacity, amount(m.Capacity, j))
			}
			q.machines = append(q.machines, one)
		}
	}
	y := sim.NewTotals(len(f.Jobs), 0)
	arrival := math.Inf(1)
	if f.Standing() {
		for k, c := range f.Jobs {
			for range max(c.Count, 1) {
				q.jobs = append(q.jobs, &literalTasksJob{class: k})
			}
		}
		q.launch()
	} else {
		arrival = q.draws.ExpFloat64() / g.rate
	}
	for {
		next := arrival
		for _, job := range q.jobs {
			for _, task := range job.tasks {
				next = min(next, task.end)
			}
		}
		q.count(min(next, t), y)
		if next > t {
			y.Time = t
			return y, q.running
		}
		ended := false
		for _, job := range q.jobs {
			before := len(job.tasks)
			job.tasks = slices.DeleteFunc(job.tasks, func(task literalTask) bool { return task.end == next })
			job.done += before - len(job.tasks)
			y.Jumps += float64(before - len(job.tasks))
			ended = ended || before > len(job.tasks)
		}
		q.jobs = slices.DeleteFunc(q.jobs, func(job *literalTasksJob) bool {
			if f.Standing() || job.done < job.asked {
				return false
			}
			if job.done != job.asked || job.launched != job.asked {
				report("a job of %d tasks had %d launched and %d done", job.asked, job.launched, job.done)
			}
			y.Left[job.class]++
			y.Sojourn[job.class] += q.now - job.born
			return true
		})
		if !ended {
			y.Jumps++
			code := g.table.Pick(q.draws.Uint64())
			c := f.Jobs[code]
			asked, _ := num.OrOne(c.MeanTasks).Float64()
			if c.Geometric {
				asked = 1 + math.Floor(q.draws.ExpFloat64()*(-1/math.Log1p(-1/asked)))
			}
			arrival = q.now + q.draws.ExpFloat64()/g.rate
			q.jobs = append(q.jobs, &literalTasksJob{class: int(code), asked: int(asked), born: q.now})
		}
		q.launch()
		for i, m := range q.machines {
			for j, c := range m.Capacity {
				if q.used(i, j).Cmp(c) > 0 {
					report("machine %d is overloaded", i)
				}
			}
		}
	}
}

// drawTasks draws a pool with some room for each class.
func drawTasks(t *rapid.T) Tasks {
	resources := rapid.IntRange(1, 3).Draw(t, "resources")
	policies := []fluid.Policy{fluid.PF, fluid.DRF, fluid.MaxMin, fluid.BF}
	f := Tasks{Policy: rapid.SampledFrom(policies).Draw(t, "policy"), Wait: rapid.Bool().Draw(t, "wait")}
	for j := range resources {
		f.Resources = append(f.Resources, fmt.Sprint("r", j))
	}
	amounts := func(low, high int, what string) (list []*big.Rat) {
		for range resources {
			list = append(list, big.NewRat(
				int64(rapid.IntRange(low, high).Draw(t, what)), int64(rapid.IntRange(1, 3).Draw(t, what)),
			))
		}
		return list
	}
	for range rapid.IntRange(1, 3).Draw(t, "machines") {
		f.Machines = append(f.Machines, Machine{
			Capacity: amounts(1, 9, "capacity"),
			Count:    rapid.IntRange(0, 2).Draw(t, "count"),
		})
	}
	f.Machines = append(f.Machines, Machine{Capacity: amounts(18, 20, "capacity")})
	standing := rapid.Bool().Draw(t, "standing")
	for k := range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := TaskClass{
			Name:         fmt.Sprint(k),
			Demand:       amounts(0, 5, "demand"),
			MeanDuration: []*big.Rat{big.NewRat(1, 1), big.NewRat(7, 5), big.NewRat(13, 9)}[k],
		}
		c.Demand[0].Add(c.Demand[0], big.NewRat(1, 4))
		if f.Policy != fluid.BF {
			c.Weight = big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "weight")), 2)
		}
		mean, _ := c.MeanDuration.Float64()
		distribution := rapid.SampledFrom([]string{
			"exponential", "deterministic", "lognormal:4",
		}).Draw(t, "distribution")
		var err error
		if c.Durations, err = sizes.Parse(distribution, mean); err != nil {
			t.Fatal(err)
		}
		if standing {
			c.Count = rapid.IntRange(0, 4).Draw(t, "jobs")
		} else {
			c.ArrivalRate = big.NewRat(int64(rapid.IntRange(0, 3).Draw(t, "rate")+1-min(k, 1)), 4)
			c.MeanTasks = big.NewRat(int64(rapid.IntRange(1, 5).Draw(t, "tasks")), 1)
			c.Geometric = rapid.Bool().Draw(t, "geometric")
		}
		f.Jobs = append(f.Jobs, c)
	}
	return f
}

// The engine does what the comment on [Tasks] specifies, up to rounding.
func TestTasksMatchLiteral(t *testing.T) {
	for seed := range 150 {
		f := rapid.Custom(drawTasks).Example(seed)
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		key := [32]byte{byte(seed)}
		e := p.Start(t.Context(), sim.NewStream(key)).(*calendar)
		length := 150 / p.JumpRate
		got := sim.NewTotals(len(p.Classes), 0)
		for range 3 {
			if err := e.Advance(length/3, got); err != nil {
				t.Fatal(err)
			}
		}
		got.Number = 0 // numbers are compared as running tasks
		running := make([]float64, len(e.base))
		for k, n := range e.base {
			running[k] = e.excess[k] + float64(n)*got.Time
		}
		want, wantRunning := simulateTasks(f, e.taskPool, length, sim.NewStream(key), t.Errorf)
		// Times have a relative error of about 2^-52, and errors of sums over 300 events add up.
		equal := cmp.Comparer(func(a, b float64) bool {
			return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), length)
		})
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sim.Totals{}), equal) +
			cmp.Diff(wantRunning, running, equal); diff != "" {
			t.Fatalf("seed %d, %+v: %s", seed, f, diff)
		}
	}
}
