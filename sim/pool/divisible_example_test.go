package pool_test

import (
	"context"
	"fmt"
	"math/big"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/sim"
	"productform/sim/pool"
	"productform/sizes"
)

// Jobs that need much of one resource and little of the other arrive as often as jobs with the
// opposite needs. Fewer jobs are present under proportional than under dominant resource fairness,
// even though all jobs bring the same work.
func ExampleDivisible() {
	one, load := big.NewRat(1, 1), big.NewRat(2, 5)
	traffic := traffic.Model{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: one}, {Name: "ram", Capacity: one}},
		Classes: []traffic.Class{
			{Name: "a", Demand: []*big.Rat{one, big.NewRat(1, 10)}, ArrivalRate: load},
			{Name: "b", Demand: []*big.Rat{big.NewRat(1, 5), one}, ArrivalRate: load},
		},
	}
	equal, err := sizes.NewDeterministic(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, jobSizes := range [][]sizes.Distribution{nil, {equal, equal}} {
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			system := pool.Divisible{Traffic: traffic, Policy: policy, Sizes: jobSizes}
			r, err := sim.Run(context.Background(), system, sim.Settings{Runs: 20, Jumps: 8e3, Seed: 1})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%s: %.1f jobs\n", policy, r.All(sim.MeanJobs).Mean)
		}
	}
	// Output:
	// pf: 1.5 jobs
	// drf: 1.7 jobs
	// pf: 1.5 jobs
	// drf: 1.7 jobs
}
