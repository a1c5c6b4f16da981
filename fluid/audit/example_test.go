package audit_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/fluid"
	"productform/fluid/audit"
	"productform/num"
)

func Example() {
	pool, err := fluid.ReadPool(strings.NewReader(`
resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
jobs: [{name: a, demand: {cpu: 1, ram: 4}}, {name: b, demand: {cpu: 3, ram: 1}}]
`))
	if err != nil {
		log.Fatal(err)
	}
	a, err := fluid.Allocate(context.Background(), pool, fluid.DRF, fluid.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := audit.Audit(context.Background(), pool, a.TaskFractions(), a.Tolerance())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("feasible:", r.Overload == nil, "no envy:", r.Envy == nil, "no shortfall:", r.Shortfall == nil)
	lie, err := audit.BestLie(context.Background(), pool, fluid.PF, 1, audit.LieSettings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("under PF, b gains by declaring %v: %.3f times the tasks\n", lie.Declared, lie.Gain.Float)
	// Output:
	// feasible: true no envy: true no shortfall: true
	// under PF, b gains by declaring [3/1 4/1]: 1.375 times the tasks
}

// demands reads demands.
func demands(text ...string) []*big.Rat {
	var x []*big.Rat
	for _, s := range text {
		x = append(x, num.Rat(s))
	}
	return x
}

// twoJobs is the example of Ghodsi et al.: 9 processors and 18 GB for tasks of 1 processor and 4
// GB, and of 3 processors and 1 GB.
func twoJobs() *fluid.Pool {
	return &fluid.Pool{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: num.Rat("9")}, {Name: "ram", Capacity: num.Rat("18")}},
		Jobs:      []fluid.Job{{Name: "a", Demand: demands("1", "4")}, {Name: "b", Demand: demands("3", "1")}},
	}
}

// In an allocation made by hand, job a runs 2 tasks and job b 7/3.
func ExampleAudit() {
	r, err := audit.Audit(context.Background(), twoJobs(), demands("2", "7/3"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("feasible:", r.Overload == nil, "Pareto efficient:", r.Growth == nil, "envy-free:", r.Envy == nil)
	s := r.Shortfall
	fmt.Printf("job %d has a dominant share of %v, less than %v by a split\n", s.Job, s.Share, s.Split)
	// Output:
	// feasible: true Pareto efficient: true envy-free: true
	// job 0 has a dominant share of 4/9, less than 1/2 by a split
}

// Proportional fairness is computed in enclosures, so comparisons need a tolerance.
func ExampleAllocation_TaskFractions() {
	p := twoJobs()
	a, err := fluid.Allocate(context.Background(), p, fluid.PF, fluid.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := audit.Audit(context.Background(), p, a.TaskFractions(), a.Tolerance())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("saturated:", r.Saturated, "bottlenecks:", r.Bottlenecks, "nothing held against it:",
		r.Overload == nil && r.Growth == nil && r.Shortfall == nil && r.Envy == nil)
	// Output:
	// saturated: [0 1] bottlenecks: [[1] [0]] nothing held against it: true
}

// Dominant resource fairness gives equal shares, but a smaller total than possible.
func ExampleIndices() {
	x, err := audit.Indices(context.Background(), twoJobs(), demands("3", "2"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("mean utilization", x.MeanUtilization.Exact)
	fmt.Println("dominant shares", x.TotalDominantShare.Exact, "of", x.MaxDominantShare.Exact)
	fmt.Println("Jain index", x.JainIndex.Exact)
	// Output:
	// mean utilization 8/9
	// dominant shares 4/3 of 16/11
	// Jain index 1/1
}

// Under proportional fairness the best lie of job b is to declare 4 GB per task, although it
// needs 1: it then runs 9/4 tasks, not 18/11.
func ExampleBestLie() {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
		lie, err := audit.BestLie(context.Background(), twoJobs(), policy, 1, audit.LieSettings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: declare %v, run %.4f times as many tasks\n", policy, lie.Declared, lie.Gain.Float)
	}
	// Output:
	// pf: declare [3/1 4/1], run 1.3750 times as many tasks
	// drf: declare [], run 1.0000 times as many tasks
}
