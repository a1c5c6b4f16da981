package pool_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/sim"
	"productform/sim/pool"
)

func Example() {
	m, err := traffic.Read(strings.NewReader(`
resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
jobs: [{name: a, demand: {cpu: 1, ram: 4}, arrival_rate: 2}, {name: b, demand: {cpu: 3, ram: 1}, arrival_rate: 1}]
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
		r, err := sim.Run(context.Background(), pool.Divisible{Traffic: *m, Policy: policy},
			sim.Settings{Runs: 5, Jumps: 1e4, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
	}
	// Output:
	// pf: mean delay 0.57 ± 0.05
	// drf: mean delay 0.62 ± 0.02
}
