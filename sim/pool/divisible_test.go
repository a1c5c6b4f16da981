package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// A trafficReference holds two classes with sizes of mean 1 on two resources of capacity 1, and
// E[x_k] by policy.
type trafficReference struct {
	Name        string
	A           [2][2]float64
	Load        float64
	Lambda      [2]float64
	PF, DRF, BF [2]float64
}

func trafficReferences(t testing.TB) (list []trafficReference) {
	t.Helper()
	data, err := os.ReadFile("../../fluid/traffic/testdata/dynamic.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (r trafficReference) traffic() traffic.Model {
	t := traffic.Model{Resources: []fluid.Resource{
		{Name: "cpu", Capacity: big.NewRat(1, 1)}, {Name: "ram", Capacity: big.NewRat(1, 1)},
	}}
	for k, a := range r.A {
		c := traffic.Class{Name: fmt.Sprint(k + 1), ArrivalRate: new(big.Rat).SetFloat64(r.Lambda[k])}
		for _, v := range a {
			c.Demand = append(c.Demand, new(big.Rat).SetFloat64(v))
		}
		t.Classes = append(t.Classes, c)
	}
	return t
}

// The numbers of jobs match those of the Markov chain truncated at 90 jobs of each class, solved by
// an independent program; its error and the effect of truncation are below 1e-10.
func TestFluidSharingAgainstChain(t *testing.T) {
	for _, ref := range trafficReferences(t) {
		for policy, want := range map[fluid.Policy][2]float64{fluid.PF: ref.PF, fluid.DRF: ref.DRF, fluid.BF: ref.BF} {
			r := simtest.Run(t, Divisible{Traffic: ref.traffic(), Policy: policy}, sim.Settings{
				Runs:   20,
				Jumps:  5e3,
				WarmUp: 1e3,
				Seed:   1,
			})
			for k, c := range r.Classes {
				at := fmt.Sprintf("%s, load %g, %s: class %s: ", ref.Name, ref.Load, policy, c.Name)
				simtest.Near(t, at+"jobs", r.Class(k, sim.MeanJobs), want[k])
				simtest.Near(t, at+"delay", r.Class(k, sim.MeanDelay), want[k]/ref.Lambda[k])
				simtest.Near(t, at+"measured delay", r.Class(k, sim.MeasuredDelay), want[k]/ref.Lambda[k])
				simtest.Near(t, at+"service rate", r.Class(k, sim.ServiceRate), ref.Lambda[k]/want[k])
			}
		}
	}
}

// Under every policy the numbers of jobs match [traffic.Solve], also with three classes, weights,
// limits on tasks, and classes that lie.
func TestFluidSharingAgainstSolve(t *testing.T) {
	load := traffic.Model{
		Resources: []fluid.Resource{
			{Name: "cpu", Capacity: big.NewRat(9, 1)}, {Name: "ram", Capacity: big.NewRat(18, 1)},
		},
		Classes: []traffic.Class{
			{Name: "a", Demand: simtest.Rationals("1", "4"), ArrivalRate: big.NewRat(1, 1), MeanSize: big.NewRat(3, 2)},
			{Name: "b", Demand: simtest.Rationals("3", "1"), ArrivalRate: big.NewRat(1, 2)},
			{
				Name:        "c",
				Demand:      simtest.Rationals("2", "2"),
				Declared:    simtest.Rationals("2", "3"),
				ArrivalRate: big.NewRat(1, 4),
				MeanSize:    big.NewRat(2, 1),
			},
		},
	}
	for _, policy := range fluid.Policies() {
		if policy != fluid.BF {
			load.Classes[1].Weight = big.NewRat(2, 1)
		} else {
			load.Classes[1].Weight = nil
		}
		load.Classes[0].MaxTasks = nil
		if policy != fluid.DRF && policy != fluid.MaxMin {
			load.Classes[0].MaxTasks = big.NewRat(3, 4)
		}
		exact, err := traffic.Solve(context.Background(), &load, policy, traffic.Settings{TruncationTol: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		r := simtest.Run(t, Divisible{Traffic: load, Policy: policy}, sim.Settings{
			Runs:   30,
			Jumps:  6e3,
			WarmUp: 1e3,
			Seed:   6,
		})
		for k, c := range r.Classes {
			simtest.Near(
				t, fmt.Sprintf("%s: class %s: jobs", policy, c.Name), r.Class(k, sim.MeanJobs),
				exact.Classes[k].MeanJobs,
			)
			simtest.Near(
				t, fmt.Sprintf("%s: class %s: delay", policy, c.Name), r.Class(k, sim.MeanDelay),
				*exact.Classes[k].MeanDelay,
			)
			simtest.Near(
				t, fmt.Sprintf("%s: class %s: service rate", policy, c.Name), r.Class(k, sim.ServiceRate),
				*exact.Classes[k].ServiceRate,
			)
		}
	}
}

// Under balanced fairness only the means of the sizes matter.
func TestBalancedFairnessIsInsensitive(t *testing.T) {
	for _, ref := range trafficReferences(t) {
		if ref.Load != 0.6 {
			continue
		}
		for _, shapes := range [][2]string{
			{"deterministic", "hyperexponential:4"}, {"bounded-pareto:1.5:1000", "erlang:3"},
		} {
			f := Divisible{Traffic: ref.traffic(), Policy: fluid.BF}
			for k, shape := range shapes { // means 2 and 1/2, with equal work
				mean := []float64{2, 0.5}[k]
				c := &f.Traffic.Classes[k]
				c.MeanSize = new(big.Rat).SetFloat64(mean)
				c.ArrivalRate = new(big.Rat).Quo(c.ArrivalRate, c.MeanSize)
				f.Sizes = append(f.Sizes, simtest.Sizes(t, shape, mean))
			}
			r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 2})
			for k, c := range r.Classes {
				at := fmt.Sprintf("%s, %v: class %s: ", ref.Name, shapes, c.Name)
				simtest.Near(t, at+"jobs", r.Class(k, sim.MeanJobs), ref.BF[k])
				simtest.Near(t, at+"service rate", r.Class(k, sim.ServiceRate), ref.Lambda[k]/ref.BF[k])
			}
		}
	}
}

// Proportional fairness is almost insensitive: here constant sizes change the numbers by less than
// 5 %. As in simtest.Near, a correct value fails once in 1.7 million times.
func TestProportionalFairnessIsNearlyInsensitive(t *testing.T) {
	for _, ref := range trafficReferences(t) {
		if ref.Load != 0.6 {
			continue
		}
		distribution := simtest.Sizes(t, "deterministic", 1)
		f := Divisible{
			Traffic: ref.traffic(),
			Policy:  fluid.PF,
			Sizes:   []sizes.Distribution{distribution, distribution},
		}
		r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 6e3, WarmUp: 1e3, Seed: 3})
		for k, c := range r.Classes {
			if got, want := *r.Class(k, sim.MeanJobs), ref.PF[k]; !(got.Z(0.95*want) > -5 && got.Z(1.05*want) < 5) {
				t.Errorf("%s: class %s: %v ± %v jobs, exponential %v", ref.Name, c.Name, got.Mean, got.StdError, want)
			}
		}
	}
}

// One class with one resource is an M/M/1 queue, for all policies, weights and units; declaring
// twice the profile means bringing twice the work.
func TestFluidSharingOfOneClass(t *testing.T) {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.MaxMin} {
		f := Divisible{Policy: policy, Traffic: traffic.Model{
			Resources: []fluid.Resource{
				{Name: "cpu", Capacity: big.NewRat(12, 1)}, {Name: "ram", Capacity: big.NewRat(1, 1)},
			},
			Classes: []traffic.Class{
				{
					Name:        "a",
					Demand:      simtest.Rationals("3/2"),
					Declared:    simtest.Rationals("3"),
					Weight:      big.NewRat(5, 1),
					ArrivalRate: big.NewRat(1, 5),
					MeanSize:    big.NewRat(10, 1),
				},
				{Name: "never", Demand: simtest.Rationals("1", "1"), ArrivalRate: new(big.Rat)},
			},
		}}
		r := simtest.Run(t, f, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 1e3}) // load is 1/5 10 3/12
		simtest.Near(t, string(policy)+": jobs", r.Class(0, sim.MeanJobs), 1)
		simtest.Near(t, string(policy)+": service rate", r.Class(0, sim.ServiceRate), 2)
		if c := r.Classes[1]; r.Class(1, sim.MeanJobs).Mean != 0 || r.Class(1, sim.ServiceRate) != nil {
			t.Errorf("a class that never arrives: %+v", c)
		}
	}
}

// The contract of package sim holds, and digits do not depend on how the model is written.
func TestDivisibleConforms(t *testing.T) {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
		f := Divisible{Traffic: trafficReferences(t)[3].traffic(), Policy: policy}
		simtest.Conforms(t, f)
		s := sim.Settings{Runs: 6, Jumps: 5e3, Seed: 9, Distribution: 3}
		first := simtest.Run(t, f, s)
		f.Traffic.Classes[0].Weight, f.Traffic.Classes[1].MeanSize = big.NewRat(1, 1), big.NewRat(2, 2)
		f.Sizes = []sizes.Distribution{nil, simtest.Sizes(t, "exponential", 1)}
		if diff := cmp.Diff(first, simtest.Run(t, f, s)); diff != "" {
			t.Errorf("explicit defaults change the result: %s", diff)
		}
	}
}

// An emptied cache gives the same numbers.
func TestAllocationsForget(t *testing.T) {
	load := trafficReferences(t)[3].traffic()
	a, b := newAllocations(t.Context(), load.Pool(), fluid.PF), newAllocations(t.Context(), load.Pool(), fluid.PF)
	for i := range 60 {
		x := []int{i % 11, i % 7}
		got, err := a.of(x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.of(x)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", x, diff)
		}
		if i%5 == 0 {
			for len(b.tasks) < maxKnown {
				b.tasks = append(b.tasks, 0)
			}
		}
	}
	if len(b.known) > 10 {
		t.Errorf("%d states are kept", len(b.known))
	}
}

// Balanced fairness rejects different weights; the weight of a class that never arrives is ignored.
func TestBalancedFairnessWeights(t *testing.T) {
	three := big.NewRat(3, 1)
	f := Divisible{Traffic: trafficReferences(t)[0].traffic(), Policy: fluid.BF}
	never := traffic.Class{Name: "never", Demand: simtest.Rationals("1"), ArrivalRate: new(big.Rat)}
	f.Traffic.Classes = append([]traffic.Class{never}, f.Traffic.Classes...)
	f.Traffic.Classes[1].Weight, f.Traffic.Classes[2].Weight = three, three
	simtest.Run(t, f, sim.Settings{Runs: 2, Jumps: 1e3})
	if f.Traffic.Classes[1].Weight != three {
		t.Error("weights were changed")
	}

	tasks := someTasks()
	tasks.Policy = fluid.BF
	tasks.Jobs[0].ArrivalRate, tasks.Jobs[1].Weight = new(big.Rat), three
	simtest.Run(t, tasks, sim.Settings{Runs: 2, Jumps: 1e3})
	tasks = standingTasks()
	tasks.Policy = fluid.BF
	tasks.Jobs[0].Weight, tasks.Jobs[1].Weight = three, three
	simtest.Run(t, tasks, sim.Settings{Runs: 2, Jumps: 1e3})
}

// Under balanced fairness a run ends at a state that requires too many other states; jobs with a
// single profile require none.
func TestFluidSharingTooLarge(t *testing.T) {
	load := trafficReferences(t)[3].traffic()
	twin := load.Classes[0]
	twin.Name, twin.Demand = "twin", nil
	for _, a := range load.Classes[0].Demand {
		twin.Demand = append(twin.Demand, new(big.Rat).Mul(a, big.NewRat(7, 3)))
	}
	load.Classes = append(load.Classes, twin)
	for _, c := range []struct {
		x  []int
		ok bool
	}{
		{[]int{1e6, 0, 1e6}, true},
		{[]int{0, 1e9, 0}, true},
		{[]int{500, 1, 500}, true},
		{[]int{1 << 20, 1, 1<<20 - 1}, true}, // just within the limit
		{[]int{1 << 20, 1, 1 << 20}, false},
		{[]int{3000, 3000, 0}, false},
	} {
		_, err := newAllocations(t.Context(), load.Pool(), fluid.BF).of(c.x)
		if c.ok && err != nil ||
			!c.ok && (!errors.Is(err, sim.ErrTooManyStates) || !strings.Contains(err.Error(), "of 2 profiles")) {
			t.Errorf("%v: %v", c.x, err)
		}
	}
	if _, err := newAllocations(t.Context(), load.Pool(), fluid.PF).of([]int{3000, 3000, 3000}); err != nil {
		t.Error(err)
	}
}

// A run can be stopped at every new state, since each may take long.
func TestFluidSharingStops(t *testing.T) {
	f := Divisible{Traffic: trafficReferences(t)[3].traffic(), Policy: fluid.BF}
	tasks := someTasks()
	tasks.Policy = fluid.BF
	for _, system := range []sim.System{f, tasks} {
		p, err := sim.NewPlan(t.Context(), system, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		e, y := p.Start(ctx, sim.NewStream([32]byte{})), sim.NewTotals(len(p.Classes), 0)
		if err := e.Advance(10/p.JumpRate, y); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := e.Advance(1e5/p.JumpRate, y); err != context.Canceled || y.Jumps > 1e4 {
			t.Errorf("%T: %v after %v jumps", system, err, y.Jumps)
		}
	}
}

// Everything that affects a sample changes its key.
func TestFluidSharingKeys(t *testing.T) {
	keys := map[string]string{}
	for what, change := range map[string]func(f *Divisible){
		"nothing":  func(*Divisible) {},
		"policy":   func(f *Divisible) { f.Policy = fluid.DRF },
		"capacity": func(f *Divisible) { f.Traffic.Resources[1].Capacity = big.NewRat(2, 1) },
		"demand":   func(f *Divisible) { f.Traffic.Classes[0].Demand[1] = big.NewRat(1, 3) },
		"declared": func(f *Divisible) { f.Traffic.Classes[0].Declared = simtest.Rationals("1", "1") },
		"weight":   func(f *Divisible) { f.Traffic.Classes[0].Weight = big.NewRat(2, 1) },
		"rate":     func(f *Divisible) { f.Traffic.Classes[0].ArrivalRate = big.NewRat(1, 7) },
		"size":     func(f *Divisible) { f.Traffic.Classes[0].MeanSize = big.NewRat(1, 2) },
		"distribution": func(f *Divisible) {
			f.Sizes = []sizes.Distribution{
				simtest.Sizes(t, "deterministic", 1), nil,
			}
		},
	} {
		f := Divisible{Traffic: trafficReferences(t)[0].traffic(), Policy: fluid.PF}
		change(&f)
		p, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key(0)
		if err != nil {
			t.Fatal(err)
		}
		if other, known := keys[k]; known {
			t.Errorf("%s and %s have the same key", what, other)
		}
		keys[k] = what
	}
}

func TestBadFluidSharing(t *testing.T) {
	for _, c := range []struct {
		path  string
		spoil func(f *Divisible)
	}{
		{"resources", func(f *Divisible) { f.Traffic.Resources = nil }},
		{"resources[0].capacity", func(f *Divisible) { f.Traffic.Resources[0].Capacity = new(big.Rat) }},
		{"jobs[1].name", func(f *Divisible) { f.Traffic.Classes[1].Name = "1" }},
		{"jobs[1].arrival_rate", func(f *Divisible) { f.Traffic.Classes[1].ArrivalRate = nil }},
		{"jobs[1].arrival_rate", func(f *Divisible) { f.Traffic.Classes[1].ArrivalRate = power10(-310) }},
		{"jobs[1].mean_size", func(f *Divisible) { f.Traffic.Classes[1].MeanSize = power10(-101) }},
		{"jobs[0].demand", func(f *Divisible) { f.Traffic.Classes[0].Demand = simtest.Rationals("0") }},
		{"jobs[1].weight", func(f *Divisible) { f.Policy, f.Traffic.Classes[1].Weight = fluid.BF, big.NewRat(2, 1) }},
		{"policy", func(f *Divisible) { f.Policy = "fair" }},
		{"policy", func(f *Divisible) { f.Policy = "" }},
		{"jobs", func(f *Divisible) {
			for k := range f.Traffic.Classes {
				f.Traffic.Classes[k].ArrivalRate = new(big.Rat)
			}
		}},
		{"Sizes", func(f *Divisible) { f.Sizes = []sizes.Distribution{simtest.Sizes(t, "exponential", 1)} }},
		{"Sizes[1]", func(f *Divisible) { f.Sizes = []sizes.Distribution{nil, simtest.Sizes(t, "exponential", 2)} }},
		{"Horizon", func(f *Divisible) { f.Traffic.Classes[0].ArrivalRate = power10(100) }},
	} {
		f := Divisible{Traffic: trafficReferences(t)[0].traffic(), Policy: fluid.PF}
		c.spoil(&f)
		var bad *input.Error
		if _, err := sim.NewPlan(t.Context(), f, sim.Settings{Horizon: 1}); !errors.As(err, &bad) ||
			bad.Path != c.path {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	f := Divisible{
		Traffic: trafficReferences(t)[0].traffic(),
		Policy:  fluid.PF,
		Sizes:   []sizes.Distribution{simtest.InfiniteMean(t), nil},
	}
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); !errors.Is(err, sizes.ErrInfinite) ||
		!strings.Contains(err.Error(), "Sizes[0]") {
		t.Error(err)
	}
}

// power10 returns 10^k.
func power10(k int64) *big.Rat {
	x := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(k, -k)), nil))
	if k < 0 {
		x.Inv(x)
	}
	return x
}

// The error names a barely overloaded resource; over a horizon the result has a warning.
func TestUnstableFluidSharing(t *testing.T) {
	f := Divisible{Traffic: trafficReferences(t)[0].traffic(), Policy: fluid.PF}
	f.Traffic.Classes[0].ArrivalRate, f.Traffic.Classes[1].ArrivalRate = big.NewRat(1, 2), big.NewRat(3, 4)
	var u *traffic.UnstableError
	if _, err := sim.NewPlan(t.Context(), f, sim.Settings{}); !errors.Is(err, num.ErrUnstable) ||
		!errors.As(err, &u) || u.Resource != 1 || u.Load.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("%v", err)
	}
	r := simtest.Run(t, f, sim.Settings{Runs: 10, Horizon: 1000})
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "the pool is unstable") ||
		r.Class(0, sim.ServiceRate) != nil {
		t.Errorf("%+v", r)
	}
	if n := r.All(sim.MeanJobs).Mean; !(n > 10) {
		t.Errorf("%v jobs", n)
	}
}

// jumps/s counts arrivals and departures.
func BenchmarkFluidSharing(b *testing.B) {
	for _, ref := range trafficReferences(b) {
		if ref.Name != "skew" || ref.Load == 0.3 {
			continue
		}
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
			b.Run(fmt.Sprintf("classes=2/load=%g/policy=%s", ref.Load, policy), func(b *testing.B) {
				simtest.Benchmark(b, Divisible{Traffic: ref.traffic(), Policy: policy})
			})
		}
	}
}
