package farm_test

import (
	"context"
	"fmt"
	"log"

	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

func Example() {
	jobSizes, err := sizes.Parse("bounded-pareto:1.1:1000", 1)
	if err != nil {
		log.Fatal(err)
	}
	f := farm.Farm{
		Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}, Policy: tags.PolicyTAGS, Cutoffs: []float64{3},
	}
	r, err := sim.Run(context.Background(), f, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean slowdown %.1f ± %.1f\n", r.All(farm.MeanSlowdown).Mean, r.All(farm.MeanSlowdown).HalfWidth)
	// Output: mean slowdown 3.5 ± 0.2
}

// Sizes vary over three orders of magnitude and are unknown to the farm: it pays to kill the few
// long jobs at host 1 and restart them at host 2.
func ExampleFarm() {
	jobSizes, err := sizes.Parse("bounded-pareto:1.1:1000", 1)
	if err != nil {
		log.Fatal(err)
	}
	model := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}
	for _, f := range []farm.Farm{
		{Model: model, Policy: tags.PolicyRandom},
		{Model: model, Policy: tags.PolicyCentral},
		{Model: model, Policy: tags.PolicyTAGS, Cutoffs: []float64{3}},
	} {
		r, err := sim.Run(context.Background(), f, sim.Settings{Runs: 10, Jumps: 1e5, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean slowdown %.1f ± %.2f\n",
			f.Policy, r.All(farm.MeanSlowdown).Mean, r.All(farm.MeanSlowdown).HalfWidth)
	}
	// Output:
	// random: mean slowdown 29.0 ± 2.99
	// least-work-remaining: mean slowdown 6.9 ± 0.92
	// tags: mean slowdown 3.5 ± 0.08
}
