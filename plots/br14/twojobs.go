package br14

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/fluid"
	"productform/plots"
)

// twoJobsPool returns the example of Ghodsi et al. (2011), section 4.1: 9 processors and 18 GB,
// tasks of <1 processor, 4 GB> and <3 processors, 1 GB>.
func twoJobsPool() *fluid.Pool {
	return &fluid.Pool{
		Resources: []fluid.Resource{{Name: "processors", Capacity: big.NewRat(9, 1)},
			{Name: "memory", Capacity: big.NewRat(18, 1)}},
		Jobs: []fluid.Job{{Name: "job 1", Demand: rats("1", "4")}, {Name: "job 2", Demand: rats("3", "1")}},
	}
}

// A shared is an allocation with the policies that choose it.
type shared struct {
	policies []fluid.Policy
	tasks    []float64
	result   *fluid.Allocation
}

func (s shared) label() string {
	var words []string
	for _, p := range s.policies {
		words = append(words, policyShort(p))
	}
	return strings.Join(words, " and ")
}

// look returns the look of the first policy.
func (s shared) look() int { return policyLook(s.policies[0]) }

// used states the utilization of the resources.
func (s shared) used() string {
	r := s.result.Resources
	return fmt.Sprintf("%s %% of the processors and %s %% of the memory", plots.Short(100*r[0].Utilization.Float),
		plots.Short(100*r[1].Utilization.Float))
}

// allocations returns the allocations of all policies, merging those that agree to nine digits.
func allocations(ctx context.Context, p *fluid.Pool) ([]shared, error) {
	var all []shared
	for _, policy := range fluid.Policies() {
		r, err := fluid.Allocate(ctx, p, policy, fluid.Settings{})
		if err != nil {
			return nil, err
		}
		one := shared{policies: []fluid.Policy{policy}, result: r}
		for _, j := range r.Jobs {
			one.tasks = append(one.tasks, j.Tasks.Float)
		}
		same := func(o shared) bool {
			for i, v := range o.tasks {
				if math.Abs(v-one.tasks[i]) > 1e-9*v {
					return false
				}
			}
			return true
		}
		if k := slices.IndexFunc(all, same); k >= 0 {
			all[k].policies = append(all[k].policies, policy)
			continue
		}
		all = append(all, one)
	}
	return all, nil
}

// allocationWords holds the data for texts about an allocation.
type allocationWords struct {
	Policies                string
	First, Second           float64 // tasks
	FirstShare, SecondShare float64 // dominant shares
	Used                    string
}

// twoJobs draws the example: the set of allocations and the choices of the policies.
func twoJobs(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	all, err := allocations(ctx, twoJobsPool())
	if err != nil {
		return err
	}
	const most1, most2 = 4.5, 3.0 // number of tasks of a job alone: 18/4 and 9/3
	byProcessors := func(x float64) float64 { return (9 - x) / 3 }
	byMemory := func(x float64) float64 { return 18 - 4*x }
	corner := chosen(all, fluid.BMF).tasks[0] // both resources are full there
	grid := []float64{0, corner, most1}
	for k := 1; k <= 50; k++ {
		if k != 45 {
			grid = append(grid, float64(k)/10)
		}
	}
	slices.Sort(grid)
	line := func(label string, look int, y func(float64) float64, from, to float64) plots.Series {
		s := plots.Series{Label: label, Look: look}
		for _, x := range grid {
			if v := y(x); x >= from && x <= to && v <= 4 {
				s.X, s.Y = append(s.X, x), append(s.Y, max(0, v))
			}
		}
		return s
	}
	edge := func(x float64) float64 { return min(byProcessors(x), byMemory(x)) }
	feasible := line("feasible", 7, edge, 0, most1)
	feasible.Kind = plots.Band
	feasible.Y, feasible.High, feasible.Low = nil, feasible.Y, make([]float64, len(feasible.X))
	pf := all[0]
	level := func(part float64) func(float64) float64 {
		return func(x float64) float64 { return part * pf.tasks[0] * pf.tasks[1] / x }
	}
	best := line("same product of tasks as PF", 7, level(1), 0.1, 5)
	best.Thin = true
	axis := plots.Axis{Quantity: "tasks of job 1", Symbol: "φ₁", Max: 5}
	tasks := plots.Panel{Title: "Allocations", X: axis, Y: plots.Axis{Quantity: "tasks of job 2", Symbol: "φ₂", Max: 4},
		Series: []plots.Series{feasible, line("processors full", 3, byProcessors, 0, 5),
			line("memory full", 5, byMemory, 3.5, most1), best}}
	shares := plots.Panel{Title: "Dominant shares where a resource is full", X: axis,
		Y: plots.Axis{Quantity: "dominant share", Max: 1}}
	first := line("job 1 (memory)", 5, func(x float64) float64 { return x / most1 }, 0, most1)
	second := line("job 2 (processors)", 3, func(x float64) float64 { return edge(x) / most2 }, 0, most1)
	shares.Series = []plots.Series{first, second}
	var words []allocationWords
	for _, one := range all {
		x, y := one.tasks[0], one.tasks[1]
		tasks.Series = append(tasks.Series,
			plots.Series{Label: one.label(), Kind: plots.Points, Look: one.look(), X: []float64{x}, Y: []float64{y}})
		shares.Series = append(shares.Series,
			plots.Series{Label: one.label(), Kind: plots.Points, Look: one.look(), X: []float64{x, x},
				Y: []float64{x / most1, y / most2}})
		words = append(words, allocationWords{one.label(), x, y, x / most1, y / most2, one.used()})
	}
	f.Panels, f.OneLegend = []plots.Panel{tasks, shares}, true
	data := map[string]any{"PF": chosen(all, fluid.PF).used(), "DRF": chosen(all, fluid.DRF).used(),
		"Allocations": words}
	if err := texts.Describe(f, data, nil); err != nil {
		return err
	}
	staticChecks(f, all)
	staticClaims(f, all)
	return nil
}

// chosen returns the allocation of a policy.
func chosen(all []shared, p fluid.Policy) shared {
	for _, one := range all {
		if slices.Contains(one.policies, p) {
			return one
		}
	}
	panic("plots: a policy without an allocation")
}

// staticChecks compares with solutions by hand.
func staticChecks(f *plots.Figure, all []shared) {
	full, drf, maxMin, balanced := GhodsiTasks()
	for _, c := range []struct {
		policy fluid.Policy
		how    string
		want   [2]float64
	}{
		{fluid.PF, "where both resources are full", full},
		{fluid.DRF, "where dominant shares are equal and processors full", drf},
		{fluid.MaxMin, "where tasks are equal and processors full", maxMin},
		{fluid.BMF, "where both resources are full", full},
		{fluid.BF, "from Φ by hand", balanced},
	} {
		one := chosen(all, c.policy)
		tolerance := 0x1p-50
		if b := one.result.RelativeErrorBound; b != nil {
			tolerance += *b
		}
		for i, v := range one.tasks {
			f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"a",
				fmt.Sprintf("tasks of job %d, %s, %s", i+1, policyShort(c.policy), c.how), v, c.want[i], tolerance))
		}
	}
}

func staticClaims(f *plots.Figure, all []shared) {
	drf, pf := chosen(all, fluid.DRF), chosen(all, fluid.PF)
	f.Claims = append(f.Claims,
		plots.Finding(f.ID+"a", "(Ghodsi et al. 2011, section 4.1) DRF gives the first user three tasks and the "+
			"second two, 12 GB and 6 processors: equal dominant shares of 2/3.", "These are the numbers.",
			fmt.Sprintf("φ₁ = %s, φ₂ = %s, dominant shares %s and %s.", plots.Short(drf.tasks[0]),
				plots.Short(drf.tasks[1]), plots.Short(drf.result.Jobs[0].DominantShare.Float),
				plots.Short(drf.result.Jobs[1].DominantShare.Float)),
			drf.tasks[0] == 3 && drf.tasks[1] == 2),
		plots.Finding(f.ID+"a", "PF uses the resources more fully than DRF in the example.",
			"No resource is used less, and one is used more.",
			fmt.Sprintf("PF uses %s, DRF %s.", pf.used(), drf.used()),
			pf.result.Resources[0].Utilization.Float >= drf.result.Resources[0].Utilization.Float-1e-9 &&
				pf.result.Resources[1].Utilization.Float > drf.result.Resources[1].Utilization.Float))
}
