package network_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/network"
	"productform/sim"
	simnetwork "productform/sim/network"
	"productform/sizes"
)

func Example() {
	m, err := network.Read(strings.NewReader(`
stations: [{name: think, discipline: delay}, {name: cpu, discipline: sharing, servers: 2}]
classes:
- name: user
  population: 20
  visits: [{station: think, mean_size: 5, next: {cpu: 1}}, {station: cpu, mean_size: 0.6, next: {think: 1}}]
`))
	if err != nil {
		log.Fatal(err)
	}
	varied, err := sizes.Parse("lognormal:4", 1)
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(context.Background(), simnetwork.Network{Model: m, Shape: varied},
		sim.Settings{Runs: 10, Jumps: 1e4, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	x := r.Class(0, sim.Throughput)
	fmt.Printf("%.2f ± %.2f requests a second\n", x.Mean, x.HalfWidth)
	// Output: 3.04 ± 0.04 requests a second
}

// Twenty users think for five seconds and then need two processors, which they share: only the
// means of the times matter.
func ExampleNetwork() {
	m, err := network.Read(strings.NewReader(`
stations:
  - {name: think, discipline: delay}
  - {name: processors, discipline: sharing, servers: 2}
classes:
  - name: user
    population: 20
    visits:
      - {station: think, mean_size: 5, next: {processors: 1}}
      - {station: processors, mean_size: 0.6, next: {think: 1}}
`))
	if err != nil {
		log.Fatal(err)
	}
	shape, err := sizes.Parse("lognormal:4", 1)
	if err != nil {
		log.Fatal(err)
	}
	exact, err := network.Solve(context.Background(), m, network.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(
		context.Background(), simnetwork.Network{Model: m, Shape: shape},
		sim.Settings{Runs: 20, Jumps: 1e4, Seed: 1, Levels: []float64{0.95}},
	)
	if err != nil {
		log.Fatal(err)
	}
	x := r.Class(0, sim.Throughput)
	fmt.Printf("%.3f ± %.3f cycles per second, exactly %.3f\n", x.Mean, x.HalfWidth, exact.Chains[0].Throughput.Float)
	use := r.Estimate(simnetwork.OfStation, 1, sim.Utilization)
	fmt.Printf("processors work %.3f ± %.3f of the time, exactly %.3f\n",
		use.Mean, use.HalfWidth, exact.Stations[1].Utilization.Float)
	fmt.Printf("95 %% of the visits to them take less than %.2f s\n", r.Quantile(sim.OfVisit, 1, 0.95).Value)
	// Output:
	// 3.033 ± 0.031 cycles per second, exactly 3.034
	// processors work 0.910 ± 0.007 of the time, exactly 0.910
	// 95 % of the visits to them take less than 6.11 s
}
