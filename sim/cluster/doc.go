// Package cluster simulates the cluster of T. Bonald and C. Comte, "Balanced fair resource sharing
// in computer clusters", Performance Evaluation 116 (2017), 70–83 ([BC17]): how long do jobs take
// under FCFS, with interruptions, or under balanced fairness, for any distribution of sizes?
//
// Class-i jobs arrive at rate λ_i with independent sizes of mean σ, or σ_i. A job may be served by
// all servers of its class at once, and server s does C_s units of work per unit of time on the
// oldest job that it can serve (policy [FCFS]). Algorithm 1 of [BC17] interrupts the job in service
// at server s at rate C_s/θ and moves it to the end of the queue; m = σ/θ, with σ the mean size
// over all jobs, is the mean number of interruptions of a job (policy [Interrupt]). With many
// interruptions the servers are shared as under balanced fairness (policy [ProcessorSharing]).
//
// In a model with the service [cluster.OneServer] a job runs on one of its servers instead. The
// policies from [LongestIdle] to [PreemptivePriority], and [Power], say which server a job takes
// and which job a server takes; some use the priorities of the classes. Waiting jobs may give up
// ([Cluster].Patience). Such a run also has the measures [MeanWaiting], [MeasuredWaiting],
// [WaitProbability], [MeanQueue] and [ServedBy], and quantiles of waiting times.
//
// In a model with the service [cluster.Gang] a job holds several servers at once, from its start to
// its end. The policies are [FCFS] and those from [FirstFit] to [ServerFilling]; [Cluster].Requests
// sets the requested times of [EASY] and [Conservative]. Such a run has the same measures of waiting,
// and [MeanBusy].
//
// With the other services jobs may time out, in service or not, except under [ProcessorSharing]; see
// [TimeoutProbability].
//
// For example:
//
//	m, err := cluster.Read(strings.NewReader(`
//	servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
//	classes:
//	- {name: web, arrival_rate: 1, servers: [big, small]}
//	- {name: reports, arrival_rate: 0.4, servers: [small]}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	varied, err := sizes.Parse("lognormal:4", 1)
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, policy := range []simcluster.Policy{simcluster.FCFS, simcluster.ProcessorSharing} {
//		system := simcluster.Cluster{Model: m, Sizes: varied, Policy: policy}
//		r, err := sim.Run(context.Background(), system, sim.Settings{Runs: 5, Jumps: 2e4, Seed: 1})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
//	}
//	// Output:
//	// fcfs: mean delay 1.44 ± 0.17
//	// ps: mean delay 0.99 ± 0.05
package cluster
