package pool

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// someTasks returns a pool of two kinds of machines in random traffic.
func someTasks() Tasks {
	return Tasks{
		Resources: []string{"cpu", "ram"},
		Machines: []Machine{
			{Capacity: simtest.Rationals("4", "6"), Count: 2}, {Capacity: simtest.Rationals("8", "8")},
		},
		Jobs: []TaskClass{
			{
				Name:        "a",
				Demand:      simtest.Rationals("1", "5/2"),
				ArrivalRate: big.NewRat(1, 4),
				MeanTasks:   big.NewRat(5, 2),
				Geometric:   true,
			},
			{
				Name:        "b",
				Demand:      simtest.Rationals("3", "1"),
				ArrivalRate: big.NewRat(1, 2),
				MeanTasks:   big.NewRat(2, 1),
			},
		},
		Policy: fluid.PF,
	}
}

// standingTasks returns the same pool with a standing population.
func standingTasks() Tasks {
	f := someTasks()
	for k := range f.Jobs {
		f.Jobs[k].ArrivalRate, f.Jobs[k].MeanTasks, f.Jobs[k].Geometric, f.Jobs[k].Count = nil, nil, false, k+2
	}
	return f
}

func TestTasksConform(t *testing.T) {
	simtest.Conforms(t, someTasks())
	simtest.Conforms(t, standingTasks())
}

// The digits of version 1 are reproduced.
func TestPoolGolden(t *testing.T) {
	simtest.Golden(t, someTasks(), 1.259255991182886)
	simtest.Golden(t, Divisible{Traffic: trafficReferences(t)[3].traffic(), Policy: fluid.PF}, 0.73875153906663937)
}

// Everything that affects a sample changes its key; missing values mean 1, exponential or 0.
func TestTasksKeys(t *testing.T) {
	key := func(f Tasks) string {
		t.Helper()
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key(0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	keys := map[string]string{key(standingTasks()): "standing"}
	for what, change := range map[string]func(f *Tasks){
		"nothing":      func(*Tasks) {},
		"policy":       func(f *Tasks) { f.Policy = fluid.DRF },
		"wait":         func(f *Tasks) { f.Wait = true },
		"capacity":     func(f *Tasks) { f.Machines[1].Capacity[0] = big.NewRat(9, 1) },
		"machines":     func(f *Tasks) { f.Machines[1].Count = 2 },
		"demand":       func(f *Tasks) { f.Jobs[0].Demand[1] = big.NewRat(2, 1) },
		"weight":       func(f *Tasks) { f.Jobs[0].Weight = big.NewRat(2, 1) },
		"rate":         func(f *Tasks) { f.Jobs[0].ArrivalRate = big.NewRat(1, 5) },
		"tasks":        func(f *Tasks) { f.Jobs[0].MeanTasks = big.NewRat(3, 1) },
		"geometric":    func(f *Tasks) { f.Jobs[1].Geometric = true },
		"duration":     func(f *Tasks) { f.Jobs[1].MeanDuration = big.NewRat(1, 2) },
		"distribution": func(f *Tasks) { f.Jobs[1].Durations = simtest.Sizes(t, "deterministic", 1) },
	} {
		f := someTasks()
		change(&f)
		k := key(f)
		if other, known := keys[k]; known {
			t.Errorf("%s and %s have the same key", what, other)
		}
		keys[k] = what
	}
	f := someTasks()
	f.Machines[1].Count, f.Jobs[0].Weight, f.Jobs[0].MeanDuration = 1, big.NewRat(1, 1), big.NewRat(1, 1)
	f.Jobs[0].Durations = simtest.Sizes(t, "exponential", 1)
	if what := keys[key(f)]; what != "nothing" {
		t.Errorf("explicit defaults have the key of %q", what)
	}
}

func TestBadTasks(t *testing.T) {
	for _, c := range []struct {
		path  string
		spoil func(f *Tasks)
	}{
		{"resources", func(f *Tasks) { f.Resources = nil }},
		{"resources[1].name", func(f *Tasks) { f.Resources[1] = "cpu" }},
		{"resources[2].capacity", func(f *Tasks) { f.Resources = append(f.Resources, "gpu") }},
		{"resources[0]", func(f *Tasks) { f.Jobs[0].Demand[0] = power10(-20) }},
		{"resources[0]", func(f *Tasks) { f.Machines[0].Capacity[0] = power10(20) }},
		{"machines", func(f *Tasks) { f.Machines = nil }},
		{"machines[0].count", func(f *Tasks) { f.Machines[0].Count = -1 }},
		{"machines[1].count", func(f *Tasks) { f.Machines[1].Count = maxMachines - 1 }},
		{"machines[0].capacity.ram", func(f *Tasks) { f.Machines[0].Capacity[1] = big.NewRat(-1, 1) }},
		{"machines[0].capacity.ram", func(f *Tasks) { f.Machines[0].Capacity[1] = power10(5000) }},
		{"machines[0].capacity.ram", func(f *Tasks) { f.Machines[0].Capacity[1] = power10(-5000) }},
		{"resources[1]", func(f *Tasks) { f.Machines = manyDenominators(400) }},
		{"machines[0].capacity", func(f *Tasks) { f.Machines[0].Capacity = simtest.Rationals("1", "2", "3") }},
		{"jobs", func(f *Tasks) { f.Jobs = nil }},
		{"jobs", func(f *Tasks) { f.Jobs[0].ArrivalRate, f.Jobs[1].ArrivalRate = new(big.Rat), new(big.Rat) }},
		{"jobs[1].name", func(f *Tasks) { f.Jobs[1].Name = "" }},
		{"jobs[1].demand", func(f *Tasks) { f.Jobs[1].Demand = nil }},
		{"jobs[1].demand.cpu", func(f *Tasks) { f.Jobs[1].Demand[0] = big.NewRat(-1, 1) }},
		{"jobs[1].demand", func(f *Tasks) { f.Jobs[1].Demand[0] = big.NewRat(17, 1) }}, // more than all machines have
		{"jobs[1].demand", func(f *Tasks) { f.Jobs[1].Demand[0] = big.NewRat(9, 1) }},  // more than each machine has
		{"jobs[1].demand", func(f *Tasks) { f.Jobs[1].Demand = []*big.Rat{nil, power10(-7)} }},
		{"jobs[1].weight", func(f *Tasks) { f.Jobs[1].Weight = new(big.Rat) }},
		{"jobs[1].arrival_rate", func(f *Tasks) { f.Jobs[1].ArrivalRate = nil }},
		{"jobs[1].arrival_rate", func(f *Tasks) { f.Jobs[1].ArrivalRate = big.NewRat(-1, 1) }},
		{"jobs[1].count", func(f *Tasks) { f.Jobs[1].Count = 1 }},
		{"jobs[1].mean_tasks", func(f *Tasks) { f.Jobs[1].MeanTasks = big.NewRat(5, 2) }},
		{"jobs[0].mean_tasks", func(f *Tasks) { f.Jobs[0].MeanTasks = big.NewRat(1, 2) }},
		{"jobs[0].mean_tasks", func(f *Tasks) { f.Jobs[0].MeanTasks = power10(10) }},
		{"jobs[0].mean_duration", func(f *Tasks) { f.Jobs[0].MeanDuration = new(big.Rat) }},
		{"jobs[0].mean_duration", func(f *Tasks) { f.Jobs[0].MeanDuration = power10(-101) }},
		{"jobs[0].durations", func(f *Tasks) { f.Jobs[0].Durations = simtest.Sizes(t, "exponential", 2) }},
		{"jobs[0].count", func(f *Tasks) { *f = standingTasks(); f.Jobs[0].Count = -1 }},
		{"jobs[1].count", func(f *Tasks) { *f = standingTasks(); f.Jobs[1].Count = maxStandingJobs }},
		{"jobs[1].mean_tasks", func(f *Tasks) { *f = standingTasks(); f.Jobs[1].MeanTasks = big.NewRat(1, 1) }},
		{"jobs[1].weight", func(f *Tasks) { f.Policy, f.Jobs[1].Weight = fluid.BF, big.NewRat(2, 1) }},
		{
			"jobs[1].weight",
			func(f *Tasks) { *f = standingTasks(); f.Policy, f.Jobs[1].Weight = fluid.BF, big.NewRat(2, 1) },
		},
		{"policy", func(f *Tasks) { f.Policy = "" }},
	} {
		f := someTasks()
		c.spoil(&f)
		var bad *input.Error
		if _, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1}); !errors.As(err, &bad) ||
			bad.Path != c.path {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	f := standingTasks()
	f.Policy, f.Jobs[0].Count, f.Jobs[1].Count = fluid.BF, 3000, 3000
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); !errors.Is(err, sim.ErrTooManyStates) {
		t.Error(err)
	}
	f = someTasks()
	f.Jobs[1].Demand[0] = big.NewRat(9, 1)
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "task of b") {
		t.Error(err)
	}
	f = someTasks()
	f.Jobs[0].Durations = simtest.InfiniteMean(t)
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); !errors.Is(err, sizes.ErrInfinite) {
		t.Error(err)
	}
}

// manyDenominators returns machines whose capacities have distinct denominators of 16,001 bits. The
// denominator of their sum has millions of bits and takes very long to compute.
func manyDenominators(machines int) []Machine {
	list := make([]Machine, machines)
	for m := range list {
		half := new(big.Int).Lsh(big.NewInt(1), 16000)
		denominator := new(big.Int).Add(half, big.NewInt(int64(2*m+1)))
		list[m].Capacity = []*big.Rat{big.NewRat(8, 1), new(big.Rat).SetFrac(half, denominator)}
	}
	return list
}

// The error names an overloaded resource, or a class of which too few tasks fit; over a horizon the
// result has a warning.
func TestUnstableTasks(t *testing.T) {
	f := someTasks()
	f.Jobs[1].ArrivalRate = big.NewRat(9, 4) // 5/8 tasks of 1 CPU and 9/2 tasks of 3 CPUs
	f.Jobs[0].Demand[1] = big.NewRat(1, 1)
	f.Machines[1].Capacity[0] = big.NewRat(6, 1)
	var u *traffic.UnstableError
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); !errors.As(err, &u) || u.Resource != 0 ||
		u.Load.Cmp(big.NewRat(113, 112)) != 0 {
		t.Errorf("%v", err)
	}
	f.Machines[1].Capacity[0] = big.NewRat(8, 1) // 4 tasks of b fit, and they need 9/2
	_, err := sim.NewPlan(t.Context(), f, sim.Settings{})
	if errors.As(err, &u) || !errors.Is(err, num.ErrUnstable) ||
		!strings.Contains(err.Error(), "class b needs to run 9/2 tasks at a time, but only 4 fit") {
		t.Errorf("%v", err)
	}
	r := simtest.Run(t, f, sim.Settings{Runs: 4, Horizon: 1000})
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "the pool is unstable") ||
		r.Class(0, sim.ServiceRate) != nil || !(r.All(sim.MeanJobs).Mean > 10) {
		t.Errorf("%+v", r)
	}
}

// In random traffic the arriving work determines the number of running tasks and the resources that
// they hold. Measured times agree with Little's law, and runs have the requested number of jumps.
func TestTasksDoTheWork(t *testing.T) {
	for _, policy := range fluid.Policies() {
		for _, wait := range []bool{false, true} {
			f := someTasks()
			f.Policy, f.Wait = policy, wait
			r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 5e3, WarmUp: 1e3, Seed: 3})
			traffic := f.Traffic()
			for k, volume := range traffic.Volume() {
				at := fmt.Sprintf("%s, %v: class %d: ", policy, wait, k)
				tasks, _ := volume.Float64()
				simtest.Near(t, at+"tasks", r.Class(k, RunningTasks), tasks)
				simtest.Near(t, at+"delay", &sim.Estimate{
					Mean:     r.Class(k, sim.MeanDelay).Mean - r.Class(k, sim.MeasuredDelay).Mean,
					StdError: r.Class(k, sim.MeanDelay).StdError,
					Runs:     20,
				}, 0)
				simtest.Near(t, at+"service rate", &sim.Estimate{
					Mean:     r.Class(k, sim.ServiceRate).Mean*r.Class(k, sim.MeanJobs).Mean - tasks,
					StdError: 1e-12,
					Runs:     20,
				}, 0)
			}
			for j, load := range traffic.Loads() {
				u, _ := load.Float64()
				simtest.Near(
					t, fmt.Sprintf("%s, %v: %s", policy, wait, f.Resources[j]),
					r.Estimate(OfResource, j, sim.Utilization), u,
				)
			}
			if !(math.Abs(r.Jumps/1e5-1) < 0.05) {
				t.Errorf("%v jumps", r.Jumps)
			}
		}
	}
}

// Two jobs have tasks of 2 and 3 CPUs. At first the second job, four times as important, fits on
// the first machine only once. When the task of the other job there ends, it fits again, and stays.
// The time until then is exponential with mean 1.
func TestStandingTasksSettle(t *testing.T) {
	f := Tasks{
		Resources: []string{"cpu"}, Policy: fluid.DRF,
		Machines: []Machine{{Capacity: simtest.Rationals("6")}, {Capacity: simtest.Rationals("2")}},
		Jobs: []TaskClass{
			{Name: "a", Demand: simtest.Rationals("2")},
			{Name: "b", Demand: simtest.Rationals("3"), Weight: big.NewRat(4, 1)},
		},
	}
	r := simtest.Run(t, f, sim.Settings{Runs: 4, Jumps: 3e3, Distribution: 4})
	if a, b := r.Class(0, RunningTasks), r.Class(1, RunningTasks); a.Mean != 1 || b.Mean != 2 ||
		a.StdError != 0 || b.StdError != 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	if u := *r.Estimate(OfResource, 0, sim.Utilization); !(math.Abs(u.Mean-1) < 1e-15) || len(r.Warnings) > 0 ||
		math.Abs(r.Distribution[3].Mean-1) > 1e-12 {
		t.Errorf("%+v", r)
	}
	r = simtest.Run(t, f, sim.Settings{Runs: 3000, Horizon: 2})
	late := (1 - math.Exp(-2)) / 2 // mean over the observed time
	simtest.Near(t, "tasks of a", r.Class(0, RunningTasks), 1+late)
	simtest.Near(t, "tasks of b", r.Class(1, RunningTasks), 2-late)
	simtest.Near(t, "use", r.Estimate(OfResource, 0, sim.Utilization), 1-late/8)
	r = simtest.Run(t, f, sim.Settings{Runs: 4, Jumps: 1000, WarmUp: sim.NoWarmUp, Precision: 1e-6, Distribution: 4})
	if r.PrecisionMet ||
		!slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "precision") }) {
		t.Errorf("%+v", r)
	}
}

// On one machine, a finished task is followed by a task of the same job, so the first assignment
// persists.
func TestStandingTasksLast(t *testing.T) {
	found := 0
	for seed := range 200 {
		f := rapid.Custom(drawTasks).Example(seed)
		f.Machines = f.Machines[len(f.Machines)-1:]
		if !f.Standing() {
			continue
		}
		found++
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, first := simulateTasks(
			f, p.Start(t.Context(), sim.NewStream([32]byte{})).(*calendar).taskPool, 1e-9,
			sim.NewStream([32]byte{}), t.Errorf,
		)
		r := simtest.Run(t, f, sim.Settings{Runs: 2, Jumps: 1000})
		for k, c := range r.Classes {
			n := max(f.Jobs[k].Count, 1)
			if want := math.Round(first[k] * 1e9); r.Class(k, RunningTasks).Mean != want ||
				r.Class(k, RunningTasks).StdError != 0 || r.Class(k, sim.ServiceRate).Mean != want*(1/float64(n)) ||
				r.Class(k, sim.MeanJobs).Mean != float64(n) {
				t.Errorf("seed %d: class %d: %+v, %v tasks at first", seed, k, c, want)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d standing populations", found)
	}
}

// Once there is space for jobs and the allocations are cached, nothing is allocated.
func TestTasksAllocateNothing(t *testing.T) {
	for _, f := range []Tasks{someTasks(), standingTasks()} {
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, y := p.Start(t.Context(), sim.NewStream([32]byte{1})), sim.NewTotals(len(p.Classes), 0)
		if err := e.Advance(1e6/p.JumpRate, y); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() {
			if err := e.Advance(1e3/p.JumpRate, y); err != nil {
				t.Fatal(err)
			}
		}); n > 1 {
			t.Errorf("%v allocations in 1000 jumps", n)
		}
	}
}

// jumps/s counts arrivals and ends of tasks.
func BenchmarkTasks(b *testing.B) {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
		for _, fine := range []int{1, 30} {
			f, err := Finer(someTasks(), fine, 1)
			if err != nil {
				b.Fatal(err)
			}
			f.Policy, f.Wait = policy, true
			b.Run(fmt.Sprintf("machines=3/smaller=%d/policy=%s", fine, policy), func(b *testing.B) {
				simtest.Benchmark(b, f)
			})
		}
		f := standingTasks()
		f.Policy, f.Machines[0].Count = policy, 1000
		b.Run(fmt.Sprintf("machines=1001/standing/policy=%s", policy), func(b *testing.B) { simtest.Benchmark(b, f) })
	}
}
