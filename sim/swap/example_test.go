package swap_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/network/swap"
	"productform/sim"
	simswap "productform/sim/swap"
)

func Example() {
	m, err := swap.Read(strings.NewReader(`
servers: [{name: left, capacity: 1}, {name: both, capacity: 1}, {name: right, capacity: 2}]
classes: [{name: a, arrival_rate: 0.9, servers: [left, both]},
  {name: b, arrival_rate: 3/2, servers: [both, right]}]
swaps: [[a, b]]
`))
	if err != nil {
		log.Fatal(err)
	}
	exact, err := swap.Solve(context.Background(), m, swap.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(context.Background(), simswap.Queue{Model: m}, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 3})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range exact.Classes {
		fmt.Printf("%s: mean delay %.2f ± %.2f, exactly %.4f\n",
			m.Classes[i].Name, r.Class(i, sim.MeanDelay).Mean, r.Class(i, sim.MeanDelay).HalfWidth, c.MeanDelay.Float)
	}
	// Output:
	// a: mean delay 1.16 ± 0.05, exactly 1.1231
	// b: mean delay 0.80 ± 0.03, exactly 0.8259
}

// In a closed queue, class a is placed before class b: jobs of b depart and return, jobs of a never
// do.
func ExampleQueue() {
	m, err := swap.Read(strings.NewReader(`
servers: [{name: left, capacity: 1}, {name: right, capacity: 1}]
classes: [{name: a, population: 2, servers: [left]}, {name: b, population: 3, servers: [right]}]
swaps: [[a, b]]
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(context.Background(), simswap.Queue{Model: m}, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range m.Classes {
		fmt.Printf("%s: %.2f leave per unit of time\n", c.Name, r.Class(i, sim.Throughput).Mean)
	}
	// Output:
	// a: 0.00 leave per unit of time
	// b: 2.00 leave per unit of time
}
