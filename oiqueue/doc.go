// Package oiqueue computes stationary measures of order-independent (OI) queues: how many jobs wait
// if the rate of service depends on which jobs are present but not on their order?
//
// Class-i jobs arrive as a Poisson process of rate λ_i and wait in the order of their
// arrival; their sizes are exponential with mean 1. The state is c = (c_1, ..., c_n), the
// classes of the jobs from the oldest to the newest, and |c| = x counts them by class. The
// queue works at total rate μ(c), of which the job in position k receives
//
//	μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}).
//
// The queue is order independent if μ(∅) = 0, μ(c) > 0 for c ≠ ∅, μ never falls when a job
// arrives, and μ(c) does not depend on the order of the jobs: μ(c) = μ(x). It is then
// quasi-reversible, with stationary measure
//
//	π(c) = π(∅) Π_k λ_{c_k} / μ(c_1, ..., c_k),    π̄(x) = Σ_{c: |c|=x} π(c) = π̄(0) Φ(x) Π_i λ_i^x_i,
//	Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ(x),
//
// and stays so when jobs change class or come back after service, with λ_i the effective
// arrival rates. When μ depends only on the set A of classes present, its rank function
// μ(A), the queue is stable if and only if Σ_{i∈A} λ_i < μ(A) for every non-empty A.
//
// For example:
//
//	rat := big.NewRat
//	q, err := oiqueue.FromGraph(context.Background(),
//		[]*big.Rat{rat(1, 2), rat(1, 1)},            // arrival rates of two classes
//		[]*big.Rat{rat(1, 1), rat(1, 1), rat(1, 1)}, // capacities of three servers
//		[][]int{{0, 2}, {1, 2}})                     // each class can use two of them
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := oiqueue.Stationary(context.Background(), q, oiqueue.Settings{Engine: num.Exact})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("P(empty) =", r.EmptyProbability.Exact, "E[X] =", r.MeanJobs[0].Exact, r.MeanJobs[1].Exact)
//	// Output: P(empty) = 9/26 E[X] = 17/39 44/39
//
// Sources: A. E. Krzesinski, "Order independent queues", in Queueing Networks: A Fundamental
// Approach (Springer, 2011), 85–120; T. Bonald and C. Comte, "Balanced fair resource sharing in
// computer clusters", Performance Evaluation 116 (2017), 70–83,
// https://doi.org/10.1016/j.peva.2017.08.006, cited as [BC17] with the numbers of its equations.
//
// [Stationary] and [TrafficEquations] work in float64 with proved bounds, or in fractions, by
// [Settings]. [SolveTimeouts] solves clusters in which jobs may time out, in float64 or between
// bounds. [Truncated] returns bounds. Everything else is exact in big.Rat, with the
// formulas in their most literal form. Package bf solves much larger clusters. Functions with a
// context return its error promptly after it is done. Functions of a queue q call q.TotalRate and
// q.OrderedRate with separate slices, never modify q, and may run concurrently if these functions
// may.
package oiqueue
