// Package sim simulates queueing systems by Monte-Carlo: do the exact answers hold, and what
// happens where theory does not reach?
//
// Simulation checks the theory by a method that shares none of its mathematics, and covers cases
// that theory does not: sizes that are not exponential, or a finite number of interruptions. This
// package knows no particular system: each subpackage describes one as a [System], with an [Engine]
// that advances it and a list of its measures.
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
//		r, err := sim.Run(context.Background(), simcluster.Cluster{Model: model, Sizes: jobSizes, Policy: policy},
//			sim.Settings{Runs: 20, Jumps: 1e5, Seed: 1})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
//	}
//	// Output:
//	// fcfs: mean delay 1.50 ± 0.01
//	// ps: mean delay 1.99 ± 0.01
//
// To add a system, write a new subpackage; no other package needs to change. It contains a type
// with the parameters, whose method Describe checks them and returns rates, classes and servers. It
// also contains an engine, in which a [Population] counts the jobs. If it measures more than jobs
// and busy servers, it needs the methods of an [Observer] and a function that lists its measures.
// The example of [System] is a template.
//
// A run consists of independent replications that start empty, warm up and are then observed for
// the same time. Each replication of each seed has its own random stream, so all digits depend only
// on the model, the settings and the seed, not on the number of cores. Estimates are means over the
// replications with Student confidence intervals. A [Result] is a list of named measures; its
// Warnings list reasons not to trust them yet. With Settings.Levels it also has quantiles of the
// delays, with their own intervals ([Quantile]).
//
// [BC17] is T. Bonald and C. Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation 116 (2017), 70–83.
package sim
