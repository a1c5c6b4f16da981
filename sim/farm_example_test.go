package sim_test

import (
	"context"
	"fmt"
	"log"

	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// Sizes that vary over three orders of magnitude, unknown to the farm: it pays to kill the few long jobs at host 1
// and start them again at host 2.
func ExampleFarm() {
	jobSizes, err := sizes.Parse("bounded-pareto:1.1:1000", 1)
	if err != nil {
		log.Fatal(err)
	}
	model := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}
	for _, f := range []sim.Farm{
		{Model: model, Policy: sim.Random},
		{Model: model, Policy: sim.CentralQueue},
		{Model: model, Policy: sim.TAGS, Cutoffs: []float64{3}},
	} {
		r, err := sim.Run(context.Background(), f, sim.Settings{Runs: 10, Jumps: 1e5, Seed: 1}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean slowdown %.1f ± %.2f\n", f.Policy, r.All(sim.MeanSlowdown).Mean, r.All(sim.MeanSlowdown).HalfWidth)
	}
	// Output:
	// random: mean slowdown 29.0 ± 2.99
	// central-queue: mean slowdown 6.9 ± 0.92
	// tags: mean slowdown 3.5 ± 0.08
}
