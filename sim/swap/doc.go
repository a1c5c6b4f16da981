// Package swap simulates the pass-and-swap queues of package network/swap job by job: how long do
// jobs take? Each server works on the first job that it can serve, and a finished job moves along
// the queue and takes the place of the first job that it can swap with. The simulation shares no
// formula with the solver.
//
// For example:
//
//	m, err := swap.Read(strings.NewReader(`
//	servers: [{name: left, capacity: 1}, {name: both, capacity: 1}, {name: right, capacity: 2}]
//	classes: [{name: a, arrival_rate: 0.9, servers: [left, both]},
//	  {name: b, arrival_rate: 3/2, servers: [both, right]}]
//	swaps: [[a, b]]
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	exact, err := swap.Solve(context.Background(), m, swap.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := sim.Run(context.Background(), simswap.Queue{Model: m}, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 3})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for i, c := range exact.Classes {
//		fmt.Printf("%s: mean delay %.2f ± %.2f, exactly %.4f\n",
//			m.Classes[i].Name, r.Class(i, sim.MeanDelay).Mean, r.Class(i, sim.MeanDelay).HalfWidth, c.MeanDelay.Float)
//	}
//	// Output:
//	// a: mean delay 1.16 ± 0.05, exactly 1.1231
//	// b: mean delay 0.80 ± 0.03, exactly 0.8259
package swap
