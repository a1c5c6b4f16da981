// Package farm simulates hosts with one queue each: how long do jobs wait under the policies of M.
// Harchol-Balter, "Task assignment with unknown duration", Journal of the ACM 49(2), 2002, 260–288
// ([HB02])? [Farm] lists these policies, of which TAGS is one.
//
// For example:
//
//	jobSizes, err := sizes.Parse("bounded-pareto:1.1:1000", 1)
//	if err != nil {
//		log.Fatal(err)
//	}
//	f := farm.Farm{
//		Model: tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}, Policy: tags.PolicyTAGS, Cutoffs: []float64{3},
//	}
//	r, err := sim.Run(context.Background(), f, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("mean slowdown %.1f ± %.1f\n", r.All(farm.MeanSlowdown).Mean, r.All(farm.MeanSlowdown).HalfWidth)
//	// Output: mean slowdown 3.5 ± 0.2
package farm
