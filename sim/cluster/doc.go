// Package cluster simulates the cluster of T. Bonald and C. Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation 116 (2017), 70–83 ([BC17]): class-i jobs arrive at rate λ_i with independent sizes of mean
// σ, or σ_i, a job may be served by the servers of its class, all at once, and server s does C_s units of work per unit of
// time on the oldest job it can serve (policy [FCFS]). Algorithm 1 of [BC17] interrupts the job in service
// at server s at rate C_s/θ and moves it to the end of the queue; m = σ/θ, with σ the mean size over all jobs, is the
// mean number of interruptions of a job (policy [Interrupt]). With many interruptions the servers are shared as under
// balanced fairness (policy [ProcessorSharing]).
package cluster
