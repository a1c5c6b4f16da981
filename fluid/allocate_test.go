package fluid

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
)

// The error names each invalid entry.
func TestAllocateBadInput(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   Policy
		settings Settings
		spoil    func(*Pool)
		path     string
	}{
		{"pool", DRF, Settings{}, func(p *Pool) { p.Jobs[1].Demand[0].SetInt64(-1) }, "jobs[1].demand.r0"},
		{"policy", "dfr", Settings{}, nil, "policy"},
		{"no policy", "", Settings{}, nil, "policy"},
		{"tolerance of 1", PF, Settings{RelTol: 1}, nil, "RelTol"},
		{"tolerance below 1e-300", PF, Settings{RelTol: 1e-301}, nil, "RelTol"},
		{"negative tolerance", PF, Settings{RelTol: -1e-9}, nil, "RelTol"},
		{"no tolerance", PF, Settings{RelTol: math.NaN()}, nil, "RelTol"},
		{"fractions of pf", PF, Settings{Engine: num.Exact}, nil, "Engine"},
		{"bounds of drf", DRF, Settings{Engine: num.Enclose}, nil, "Engine"},
		{"engine", DRF, Settings{Engine: "double"}, nil, "Engine"},
		{"weights", BF, Settings{}, func(p *Pool) { p.Jobs[1].Weight = big.NewRat(2, 1) }, "jobs[1].weight"},
	} {
		p := poolOf("1 1/2", "1/3 1")
		if test.spoil != nil {
			test.spoil(p)
		}
		a, err := Allocate(context.Background(), p, test.policy, test.settings)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != test.path || a != nil {
			t.Errorf("%s: %v, want an error at %s", test.name, err, test.path)
		}
		_, err = NewAllocator(p, test.policy) // it reads neither the settings nor the counts
		if named := test.path == "policy" ||
			test.name == "pool"; errors.As(err, &bad) != named || named && bad.Path != test.path {
			t.Errorf("allocator, %s: %v", test.name, err)
		}
	}
}

// Errors about numbers out of the range of float64 kernels name them, and recommend the engine
// exact if it needs no kernel.
func TestFloatRange(t *testing.T) {
	for _, test := range []struct {
		demand, weight string
		path           string
	}{
		{"1e-301 1", "1", "jobs[1].demand"},
		{"1e-125 1e-125", "1", "jobs[1].demand"},
		{"1e125 1", "1", "jobs[1].demand"},
		{"1 1", "1e-125", "jobs[1].weight"},
		{"1 1", "1e125", "jobs[1].weight"},
	} {
		p := poolOf("1 1", test.demand)
		p.Jobs[1].Weight = num.Rat(test.weight)
		check := func(what string, err error, exact bool) {
			t.Helper()
			var bad *input.Error
			if !errors.As(err, &bad) || bad.Path != test.path ||
				strings.Contains(err.Error(), "engine exact") != exact {
				t.Errorf("%s, demand %s, weight %s: %v", what, test.demand, test.weight, err)
			}
		}
		for _, policy := range Policies() {
			_, err := Allocate(context.Background(), p, policy, Settings{Engine: num.Float})
			check(string(policy), err, policy != PF && policy != BMF)
			_, err = NewAllocator(p, policy)
			check("allocator", err, false)
		}
		_, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Exact})
		check("exact bmf", err, false)
		_, err = Allocate(context.Background(), p, PF, Settings{})
		check("enclosed pf", err, false)
		if _, err = Allocate(context.Background(), p, DRF, Settings{Engine: num.Exact}); err != nil {
			t.Errorf("exact drf: %v", err)
		}
	}
}

// The 3001² states below the counts are too many for fractions but not for float64. By symmetry the
// jobs of both classes get the same.
func TestAutoBalancedManyStates(t *testing.T) {
	p := poolOf("1 1/3", "1/3 1")
	p.Jobs[0].Count, p.Jobs[1].Count = 3000, 3000
	a := mustAllocate(t, p, BF)
	if a.Engine != num.Float {
		t.Errorf("engine %s, want float", a.Engine)
	}
	x, y := a.Jobs[0].Tasks.Float, a.Jobs[1].Tasks.Float
	if !(math.Abs(x-y) <= 1e-10*x && math.Abs(3000*x*4/3-1) <= 0.05) { // near 1/(1 + 1/3), the limit for many jobs
		t.Errorf("tasks %v and %v", x, y)
	}
	if _, err := Allocate(context.Background(), p, BF, Settings{Engine: num.Exact}); err == nil {
		t.Error("the engine exact accepted too many states")
	}
}

// Rows have the names and counts of the pool, also under limits, and a task uses no larger fraction
// of any resource than of the dominant one.
func TestAllocationNamesRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLimited(t, false)
		a := mustAllocate(t, p, rapid.SampledFrom(Policies()).Draw(t, "policy"))
		several := slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Count > 1 })
		for j, r := range p.Resources {
			if a.Resources[j].Name != r.Name {
				t.Fatalf("resource %d is called %q", j, a.Resources[j].Name)
			}
		}
		for i, job := range a.Jobs {
			demand := p.Jobs[i].Demand
			part := func(j int) *big.Rat { return new(big.Rat).Quo(demand.Of(j), p.Resources[j].Capacity) }
			top := slices.IndexFunc(p.Resources, func(r Resource) bool { return r.Name == job.DominantResource })
			for j := range p.Resources {
				if c := part(j).Cmp(part(top)); c > 0 || c == 0 && j < top {
					t.Fatalf("row %d: dominant resource %q of %v", i, job.DominantResource, demand)
				}
			}
			if job.Name != p.Jobs[i].Name || (job.Count > 0) != several || several && job.Count != p.Jobs[i].Count {
				t.Fatalf("row %d: %d of %q", i, job.Count, job.Name)
			}
		}
	})
}

func mustAllocate(t rapid.TB, p *Pool, policy Policy) *Allocation {
	t.Helper()
	a, err := Allocate(context.Background(), p, policy, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
