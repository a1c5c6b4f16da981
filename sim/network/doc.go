// Package network simulates the networks of stations of package network job by job: how long do
// jobs take for sizes of any distribution? Each station serves its jobs by its own rule, and each
// job draws its work and its route. The simulation shares no formula with the solvers.
//
// For example:
//
//	m, err := network.Read(strings.NewReader(`
//	stations: [{name: think, discipline: delay}, {name: cpu, discipline: sharing, servers: 2}]
//	classes:
//	- name: user
//	  population: 20
//	  visits: [{station: think, mean_size: 5, next: {cpu: 1}}, {station: cpu, mean_size: 0.6, next: {think: 1}}]
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	varied, err := sizes.Parse("lognormal:4", 1)
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := sim.Run(context.Background(), simnetwork.Network{Model: m, Shape: varied},
//		sim.Settings{Runs: 10, Jumps: 1e4, Seed: 1})
//	if err != nil {
//		log.Fatal(err)
//	}
//	x := r.Class(0, sim.Throughput)
//	fmt.Printf("%.2f ± %.2f requests a second\n", x.Mean, x.HalfWidth)
//	// Output: 3.04 ± 0.04 requests a second
package network
