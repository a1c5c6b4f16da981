// Package sim simulates queueing systems by Monte-Carlo, to confirm the exact answers of the theory with a
// witness that shares none of its mathematics, and to go where theory does not: sizes that are not exponential, a
// finite number of interruptions.
//
// The main system is the cluster of Bonald and Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation 116 (2017), 70–83 ([BC17]): class-i jobs arrive at rate λ_i with independent sizes of mean
// σ, a job may be served by the servers of its class, all at once, and server s does C_s units of work per unit of
// time on the oldest job it can serve ([Cluster], policy [FCFS]). Algorithm 1 of [BC17] interrupts the job in service
// at server s at rate C_s/θ and moves it to the end of the queue; m = σ/θ is the mean number of interruptions of a
// job (policy [Interrupt]). With many interruptions the servers are shared as under balanced fairness (policy
// [ProcessorSharing]). Other systems are a Whittle network of processor-sharing queues ([Network]), an
// order-independent queue with any rate function and returning jobs ([Queue]), and a farm of hosts with a queue each,
// to which jobs are assigned by one of the policies of M. Harchol-Balter, "Task assignment with unknown duration",
// Journal of the ACM 49(2), 2002, 260–288 ([HB02]): TAGS and its rivals ([Farm]). Resources that jobs share by one of the
// policies of package fluid are a [Sharing] if they are divisible, [Tasks] if they come in machines and tasks that cannot be cut.
//
// A run is a number of independent replications that start empty, warm up and are then observed for the same time.
// Replication r of seed k draws from a random stream of its own, so that all digits depend on the model, the
// settings and the seed, not on the number of cores. Estimates are means over the replications with Student
// confidence intervals; a [Result] says in Warnings when they should not be trusted yet.
package sim
