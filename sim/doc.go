// Package sim simulates queueing systems by Monte-Carlo: do the exact answers hold, and what happens where theory does not reach?
//
// It confirms the theory with a witness that shares none of its mathematics, and goes where theory does not: sizes that are not exponential, a
// finite number of interruptions. It knows no system: a package below it describes each as a [System], with an [Engine] that moves it and a
// list of the measures that it has.
//
// For example:
//
//	model := &cluster.Model{
//		Servers: []cluster.Server{{Name: "server", Capacity: big.NewRat(1, 1)}},
//		Classes: []cluster.Class{{Name: "job", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
//	}
//	jobSizes, err := sizes.NewDeterministic(1)
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, policy := range []simcluster.Policy{simcluster.FCFS, simcluster.ProcessorSharing} {
//		r, err := sim.Run(context.Background(), simcluster.Cluster{Model: model, Sizes: jobSizes, Policy: policy}, sim.Settings{Runs: 20, Jumps: 1e5, Seed: 1}, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
//	}
//	// Output:
//	// fcfs: mean delay 1.50 ± 0.01
//	// ps: mean delay 1.99 ± 0.01
//
// A new system is a package of its own below this one, and touches no other: a type with the parameters, whose method Describe
// checks them and gives rates, classes and servers; an engine, in which a [Population] counts the jobs; and where it sees more
// than jobs and busy servers, the methods of an [Observer] and a function for the list of its measures. The example of
// [System] is one to copy.
//
// A run is a number of independent replications that start empty, warm up and are then observed for the same time.
// Replication r of seed k draws from a random stream of its own, so that all digits depend on the model, the
// settings and the seed, not on the number of cores. Estimates are means over the replications with Student
// confidence intervals; a [Result] is a list of named measures, and says in Warnings when they should not be trusted yet. With
// Settings.Levels there are quantiles of the delays, too, with intervals of their own ([Quantile]).
//
// [BC17] is T. Bonald and C. Comte, "Balanced fair resource sharing in computer clusters", Performance Evaluation 116
// (2017), 70–83.
package sim
