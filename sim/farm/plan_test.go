package farm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/tags"
)

// exampleFarm is a farm with a good cutoff.
func exampleFarm(t testing.TB) Farm {
	t.Helper()
	return Farm{
		Model:   tags.Model{Sizes: simtest.Sizes(t, "bounded-pareto:1.1:1000", 1), Hosts: 2, Load: 0.5},
		Cutoffs: []float64{1},
	}
}

func TestFarmConforms(t *testing.T) {
	for _, policy := range []tags.Policy{tags.PolicyTAGS, ShortestQueue, tags.PolicyCentral} {
		f := exampleFarm(t)
		if f.Policy = policy; policy != tags.PolicyTAGS {
			f.Cutoffs = nil
		}
		simtest.Conforms(t, f)
	}
}

// The digits of version 1 are reproduced.
func TestFarmGolden(t *testing.T) { simtest.Golden(t, exampleFarm(t), 1.5276261025869413) }

// Everything that affects a sample changes its key; speeds of 1 may be omitted.
func TestFarmKeys(t *testing.T) {
	key := func(f Farm) string {
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
	keys := map[string]string{}
	for what, change := range map[string]func(f *Farm){
		"nothing": func(*Farm) {},
		"policy":  func(f *Farm) { f.Policy = tags.PolicySITA },
		"cutoff":  func(f *Farm) { f.Cutoffs = []float64{1.5} },
		"load":    func(f *Farm) { f.Model.Load = 0.6 },
		"speeds":  func(f *Farm) { f.Model.Speeds = []float64{1, 2} },
		"hosts":   func(f *Farm) { f.Model.Hosts, f.Cutoffs = 3, []float64{1, 2} },
		"sizes":   func(f *Farm) { f.Model.Sizes = simtest.Sizes(t, "bounded-pareto:1.1:999", 1) },
		"central": func(f *Farm) { f.Policy, f.Cutoffs = tags.PolicyCentral, nil },
		"random":  func(f *Farm) { f.Policy, f.Cutoffs = tags.PolicyRandom, nil },
	} {
		f := exampleFarm(t)
		change(&f)
		k := key(f)
		if other, known := keys[k]; known {
			t.Errorf("%s has the key of %s", what, other)
		}
		keys[k] = what
	}
	ones := exampleFarm(t)
	ones.Policy, ones.Model.Speeds = tags.PolicyTAGS, []float64{1, 1}
	if keys[key(ones)] != "nothing" {
		t.Error("speeds of 1, or the policy tags by its name, change the key")
	}
}

// A valid farm is accepted, and each invalid field gives its own error.
func TestBadFarms(t *testing.T) {
	if _, err := sim.NewPlan(t.Context(), exampleFarm(t), sim.Settings{}); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(f *Farm){
		"Sizes = nil":           func(f *Farm) { f.Model.Sizes = nil },
		"Hosts = 0":             func(f *Farm) { f.Model.Hosts = 0 },
		"Load = 1":              func(f *Farm) { f.Model.Load = 1 },
		"Load = NaN":            func(f *Farm) { f.Model.Load = math.NaN() },
		"Speeds = 1 speeds":     func(f *Farm) { f.Model.Speeds = []float64{1} },
		"Speeds[1] = 0":         func(f *Farm) { f.Model.Speeds = []float64{1, 0} },
		"Policy = lifo: want":   func(f *Farm) { f.Policy = "lifo" },
		"Cutoffs = 0 cutoffs":   func(f *Farm) { f.Cutoffs = nil },
		"Cutoffs[0] = -1":       func(f *Farm) { f.Cutoffs = []float64{-1} },
		"Cutoffs[0] = NaN":      func(f *Farm) { f.Cutoffs, f.Policy = []float64{math.NaN()}, tags.PolicySITA },
		"Cutoffs = [1]: want":   func(f *Farm) { f.Policy = tags.PolicyRandom },
		"Model.Sizes = Pareto ": func(f *Farm) { f.Model.Sizes, f.Cutoffs[0] = simtest.InfiniteMean(t), 2 },
		"Model.Sizes = determi": func(f *Farm) { // λ is 1e-301
			f.Model.Sizes, f.Model.Hosts, f.Cutoffs, f.Policy = simtest.Sizes(t, "deterministic", 1e90),
				1, nil, tags.PolicyRandom
			f.Model.Load, f.Model.Speeds = 1e-150, []float64{1e-61}
		},
	} {
		f := exampleFarm(t)
		spoil(&f)
		if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The error names a host with more work than it can do; over a horizon, it is simulated.
func TestUnstableFarms(t *testing.T) {
	jobSizes := simtest.Sizes(t, "exponential", 1)
	for _, c := range []struct {
		f    Farm
		host int
		load float64
	}{
		{
			Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.8}, Cutoffs: []float64{5}}, 0,
			1.6 * (1 - math.Exp(-5)),
		},
		{
			Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.8}, Cutoffs: []float64{0.2}},
			1, 1.6 * 1.2 * math.Exp(-0.2),
		},
		{Farm{
			Model:   tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.8},
			Cutoffs: []float64{0.2},
			Policy:  tags.PolicySITA,
		}, 1, 1.6 * 1.2 * math.Exp(-0.2)},
		{Farm{
			Model:  tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.8, Speeds: []float64{1.5, 0.5}},
			Policy: tags.PolicyRoundRobin,
		}, 1, 0.8 / 0.5},
	} {
		var u *tags.UnstableError
		if _, err := sim.NewPlan(t.Context(), c.f, sim.Settings{}); !errors.Is(err, num.ErrUnstable) ||
			!errors.As(err, &u) || u.Host != c.host || math.Abs(u.Load-c.load) > 1e-12 {
			t.Errorf("%+v: %v, want load %v", c.f, err, c.load)
		}
		r := simtest.Run(t, c.f, sim.Settings{Runs: 4, Horizon: 1000})
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "the farm is unstable") || r.All(sim.MeanJobs).Mean < 20 {
			t.Errorf("%v jobs, warnings %q", r.All(sim.MeanJobs).Mean, r.Warnings)
		}
		if r.All(sim.MeanDelay) != nil || r.All(sim.MeasuredDelay) == nil || r.All(MeanWaiting) == nil {
			t.Errorf("over a horizon Little's law does not hold: %+v", r)
		}
	}
	// unequal speeds are allowed
	for _, policy := range []tags.Policy{tags.PolicyCentral, ShortestQueue, tags.PolicyRandom} {
		f := Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.8, Speeds: []float64{1.5, 0.5}}, Policy: policy}
		if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// Results warn about events that are too rare to be observed often enough in any run.
func TestFarmWarnings(t *testing.T) {
	s := sim.Settings{Runs: 10, Jumps: 2e4, WarmUp: 5e3, Seed: 1}
	for _, c := range []struct {
		sizes   string
		policy  tags.Policy
		cutoffs []float64
		want    string
	}{
		{"exponential", tags.PolicyRoundRobin, nil, ""},
		{"bounded-pareto:1.5:100", tags.PolicyTAGS, []float64{1}, ""},
		{"deterministic", ShortestQueue, nil, ""},
		{"pareto:1.5", tags.PolicyTAGS, []float64{2}, "the mean square of the sizes is infinite"},
		{"pareto:2.1", tags.PolicySITA, []float64{2}, "% of the mean square of the sizes"},
		{"lognormal:1000", tags.PolicyRandom, nil, "% of the mean of 1/size, on which slowdowns depend"},
		{"exponential", tags.PolicyTAGS, []float64{15}, "class 2: only"},
	} {
		f := Farm{
			Model:   tags.Model{Sizes: simtest.Sizes(t, c.sizes, 1), Hosts: 2, Load: 0.45},
			Policy:  c.policy,
			Cutoffs: c.cutoffs,
		}
		r := simtest.Run(t, f, s)
		said := strings.Join(r.Warnings, "\n")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s, %s: warnings %q, want %q", c.sizes, c.policy, said, c.want)
		}
		if c.want == "class 2: only" && (r.Class(1, MeanWaiting) != nil || r.All(MeanWaiting) == nil ||
			r.Estimate(OfHost, 1, InterarrivalSCV) != nil) {
			t.Errorf("a class that was not seen in all runs has a waiting time: %+v", r)
		}
	}
}

// A cutoff between two adjacent sizes leaves a class without jobs, which is harmless.
func TestFarmWithEmptyClass(t *testing.T) {
	jobSizes, err := sizes.NewEmpirical([]float64{1, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	r := simtest.Run(
		t, Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 3, Load: 0.3}, Cutoffs: []float64{1, 2}},
		sim.Settings{Runs: 10, Jumps: 2e4, WarmUp: 5e3, Seed: 1},
	)
	if c := r.Classes[1]; c.ArrivalRate != 0 || r.Class(1, sim.MeanJobs).Mean != 0 ||
		r.Class(1, sim.MeanDelay) != nil || r.Class(1, MeanWaiting) != nil || r.Class(1, MeanSlowdown) != nil {
		t.Errorf("%+v", c)
	}
	if len(r.Warnings) > 0 || r.All(MeanSlowdown) == nil {
		t.Errorf("%q, slowdown %v", r.Warnings, r.All(MeanSlowdown))
	}
	// λ/3 visits of 2 units of work each
	simtest.Near(t, "load of host 2", r.Estimate(OfHost, 1, sim.Utilization), 0.3*3/2/3*2)
}

// Units do not matter: times scale with the mean size and inversely with the speed, and slowdowns
// inversely with the speed.
func TestFarmUnits(t *testing.T) {
	s := sim.Settings{Runs: 10, Jumps: 1e4, WarmUp: 2e3, Seed: 1}
	base := simtest.Run(t, exampleFarm(t), s)
	for _, c := range []struct{ size, speed float64 }{{1e80, 1}, {1e-80, 1}, {1, 1e90}, {1, 1e-90}, {1e80, 1e-90}} {
		f := exampleFarm(t)
		var err error
		if f.Model.Sizes, err = f.Model.Sizes.Scaled(c.size); err != nil {
			t.Fatal(err)
		}
		f.Cutoffs, f.Model.Speeds = []float64{c.size}, []float64{c.speed, c.speed}
		r := simtest.Run(t, f, s)
		for what, e := range map[string][2]*sim.Estimate{
			"waiting":  {r.All(MeanWaiting).Scaled(c.speed / c.size), base.All(MeanWaiting)},
			"slowdown": {r.All(MeanSlowdown).Scaled(c.speed), base.All(MeanSlowdown)},
			"delay":    {r.All(sim.MeanDelay).Scaled(c.speed / c.size), base.All(sim.MeanDelay)},
			"visits to 2": {
				r.Estimate(OfHost, 1, VisitWaiting).Scaled(c.speed / c.size), base.Estimate(OfHost, 1, VisitWaiting),
			},
			"SCV at 2":     {r.Estimate(OfHost, 1, InterarrivalSCV), base.Estimate(OfHost, 1, InterarrivalSCV)},
			"class 2":      {r.Class(1, MeanSlowdown).Scaled(c.speed), base.Class(1, MeanSlowdown)},
			"mean of jobs": {r.All(sim.MeanJobs), base.All(sim.MeanJobs)},
		} {
			got, want := e[0], e[1] // the key differs, so random numbers do too
			if d := got.Mean - want.Mean; !(math.Abs(d) < 6*math.Hypot(got.StdError, want.StdError) &&
				got.HalfWidth > want.HalfWidth/4 && got.HalfWidth < 4*want.HalfWidth) {
				t.Errorf("%+v: %s %+v, want about %+v", c, what, *got, *want)
			}
		}
	}
}

// At extreme speeds, a job that never ends causes neither a crash nor NaN.
func TestFarmExtremes(t *testing.T) {
	for _, policy := range []tags.Policy{tags.PolicyCentral, ShortestQueue, tags.PolicyRandom, tags.PolicyRoundRobin} {
		f := Farm{Model: tags.Model{
			Sizes:  simtest.Sizes(t, "pareto:1.01", 1e90),
			Hosts:  3,
			Load:   0.5,
			Speeds: []float64{1e-100, 1, 1e100},
		}, Policy: policy}
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{Jumps: 1000, Horizon: 0})
		if policy == tags.PolicyRoundRobin {
			if !errors.Is(err, num.ErrUnstable) {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		e, y := p.Start(t.Context(), sim.NewStream([32]byte{1})).(*calendar), sim.NewTotals(1, 3)
		for range 10 {
			if err := e.Advance(1000/p.JumpRate, y); err != nil {
				t.Fatal(err)
			}
		}
		own, err := e.Observed(y)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range append([]float64{sim.Sum(y.Jobs)}, y.Busy...) {
			if !(v >= 0 && v <= math.MaxFloat64) {
				t.Errorf("%s: %+v", policy, y)
			}
		}
		for name, list := range own {
			for _, v := range list {
				if v != nil && !(*v >= 0 && *v <= math.MaxFloat64) {
					t.Errorf("%s: %s: %v", policy, name, *v)
				}
			}
		}
	}
}

// Slowdowns beyond float64 are an error, unless their mean is infinite.
func TestSlowdownsBeyondFloat64(t *testing.T) {
	q := &calendar{farm: &farm{slowdown: []bool{true}}, byClass: []classTotals{{1, math.Inf(1)}}}
	y := sim.NewTotals(1, 1)
	y.Left[0] = 1
	if _, err := q.Observed(y); !errors.Is(err, errSlowdown) {
		t.Error(err)
	}
	q.slowdown[0] = false
	if own, err := q.Observed(y); err != nil || own["slowdown"][0] != nil {
		t.Errorf("%+v, %v", own, err)
	}
}

// A run in which jobs accumulate without limit ends with a clear error.
func TestFarmTooManyJobs(t *testing.T) {
	f := Farm{
		Model:   tags.Model{Sizes: simtest.Sizes(t, "exponential", 1), Hosts: 2, Load: 0.99},
		Cutoffs: []float64{20},
	}
	p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := p.Start(t.Context(), sim.NewStream([32]byte{})).(*calendar)
	q.Total = sim.MaxJobs - 3 // pretend that they are present
	if err := q.Advance(100, sim.NewTotals(2, 2)); !errors.Is(err, sim.ErrTooManyJobs) || q.Total != sim.MaxJobs {
		t.Errorf("%v with %d jobs", err, q.Total)
	}
}

// Once there is space for all jobs, Advance does not allocate.
func TestFarmAllocatesNothing(t *testing.T) {
	for _, policy := range []tags.Policy{
		tags.PolicyTAGS, tags.PolicySITA, tags.PolicyCentral, ShortestQueue, tags.PolicyRoundRobin, tags.PolicyRandom,
	} {
		f := Farm{
			Model:  tags.Model{Sizes: simtest.Sizes(t, "bounded-pareto:1.5:100", 1), Hosts: 2, Load: 0.3},
			Policy: policy,
		}
		if policy == tags.PolicyTAGS || policy == tags.PolicySITA {
			f.Cutoffs = []float64{1}
		}
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, y := p.Start(t.Context(), sim.NewStream([32]byte{1})), sim.NewTotals(len(p.Classes), 2)
		advance := func() {
			if err := e.Advance(1e4/p.JumpRate, y); err != nil {
				t.Fatal(err)
			}
		}
		for range 40 {
			advance()
		}
		if n := testing.AllocsPerRun(10, advance); n != 0 {
			t.Errorf("%s: %v allocations in 10,000 events, want 0", policy, n)
		}
	}
}

// A run has the requested number of jumps.
func TestFarmJumps(t *testing.T) {
	for _, f := range []Farm{
		exampleFarm(t),
		{Model: tags.Model{Sizes: simtest.Sizes(t, "erlang:2", 1), Hosts: 3, Load: 0.3, Speeds: []float64{1, 1, 2}},
			Cutoffs: []float64{0.5, 1}},
		{Model: tags.Model{Sizes: simtest.Sizes(t, "erlang:2", 1), Hosts: 3, Load: 0.5}, Policy: tags.PolicyRoundRobin},
	} {
		r := simtest.Run(t, f, sim.Settings{Runs: 10, Jumps: 2e4, WarmUp: 5e3, Seed: 1})
		if perRun := r.Jumps / 10; math.Abs(perRun-2e4) > 0.02*2e4 {
			t.Errorf("%s: %g jumps per run, want 20000", fmt.Sprint(f), perRun)
		}
	}
}

// At a load near 0 no job waits in any run, and the interval of width 0 causes a warning.
func TestWarningWithoutWaiting(t *testing.T) {
	jobSizes, err := sizes.NewBoundedPareto(1, 1e3, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(
		t.Context(), Farm{Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 1e-9}, Cutoffs: []float64{3}},
		sim.Settings{Runs: 2, Jumps: 1e4, WarmUp: 2e3, Seed: 1},
	)
	if err != nil || r.All(MeanWaiting).Mean != 0 ||
		!slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "no job waited") }) {
		t.Errorf("mean waiting %v, warnings %q, %v", r.All(MeanWaiting), r.Warnings, err)
	}
}
