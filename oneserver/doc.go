// Package oneserver answers: how long do jobs wait, and which servers serve them, if each job runs
// on one server at a time?
//
// Class-i jobs arrive as a Poisson process of rate λ_i and may run on any server of the set S_i.
// Sizes are exponential with one mean, and server s ends the job that it runs at rate μ_s. A job
// takes the server of S_i that has been idle longest. If none is idle it waits in one queue, and a
// server that becomes free takes the job that has waited longest among those it may run. The same
// queue results if a job joins the server of S_i with the least work, or all queues of S_i until
// its first copy starts (U. Ayesta, T. Bodas, I. M. Verloop, "On a unifying product form framework
// for redundancy models", Performance Evaluation 127-128, 2018, 93-119).
//
// For example:
//
//	m, err := cluster.Read(strings.NewReader(`
//	service: one
//	servers: [{name: new, count: 8, capacity: 3}, {name: old, count: 16, capacity: 1}]
//	classes:
//	- {name: vision, arrival_rate: 14, servers: [new]}
//	- {name: text, arrival_rate: 20, servers: [new, old]}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := oneserver.Solve(context.Background(), m, oneserver.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, c := range r.Classes {
//		fmt.Printf("%s: %.3f wait, %.4f on average\n", c.Name, c.WaitProbability.Float, c.MeanWaiting.Float)
//	}
//	text := r.Classes[1].ServedBy
//	fmt.Printf("%s serves %.2f of text\n", text[1].Server, text[1].Share.Float)
//	// Output:
//	// vision: 0.503 wait, 0.0917 on average
//	// text: 0.323 wait, 0.0538 on average
//	// old serves 0.70 of text
//
// Let λ(K) be the rate of the classes whose servers are all in the set K, λ = λ(S) for the set S of
// all servers, and μ(K) the capacity of K. The cluster is stable if λ(K) < μ(K) for every non-empty
// K. Then the busy servers are the set K with probability F(K) H(K) / Z (J. Visschers, I. Adan, G.
// Weiss, "A product form solution to a system with multi-type jobs and multi-type servers",
// Queueing Systems 70, 2012, 269-298; I. Adan, G. Weiss, "A skill based parallel service system
// under FCFS-ALIS", Stochastic Systems 4(1), 2014, 250-299). Their sums over all orders of servers
// are sums over sets here:
//
//	F(∅) = 1,  F(K) = Σ_{s∈K} F(K∖s) / d(K),          d(K) = μ(K) - λ(K),
//	H(S) = 1,  H(K) = Σ_{s∉K} H(K∪s) / (λ - λ(K)),    Z = Σ_K F(K) H(K).
//
// F sums over the orders of the busy servers and the jobs that wait behind them, H over the orders
// of the idle servers. Given that K are busy, the waiting jobs have the distribution of all jobs of
// package bf in the cluster of K with the classes inside. So E[Q_i] = λ_i ∂ log Z/∂λ_i with H held
// fixed. With the adjoints A of F and B of H,
//
//	A(K) = H(K) + Σ_{s∉K} A(K∪s) / d(K∪s),  B(K) = F(K) + Σ_{s∈K} B(K∖s) / (λ - λ(K∖s)),
//
// the means are sums over the sets that contain S_i:
//
//	P(W_i > 0) = Σ_K F(K) H(K) / Z,  E[Q_i] = λ_i Σ_K A(K) F(K) / (d(K) Z),  E[W_i] = E[Q_i]/λ_i,
//	r_is = λ_i/Z (Σ_K H(K) B(K∖s) / (λ - λ(K∖s)) + Σ_K F(K∖s) A(K) / d(K)),
//
// where r_is is the rate at which jobs of class i start on server s, first those that do not wait.
// Then Σ_s r_is = λ_i, the mean delay is E[W_i] + Σ_s r_is/(λ_i μ_s), and server s is busy with
// probability Σ_i r_is/μ_s.
//
// Later arrivals never change when a waiting job starts, so E[z^{Q_i}] is the transform of W_i at
// λ_i(1-z). With V(0) = H and V' = Q V, that is
//
//	V_K'(t) = -d(K) V_K(t) + Σ_{s∉K} V_{K∪s}(t),
//
// a waiting job of class i starts on server s at time t with density Σ_{K⊇S_i} F(K∖s) V_K(t) / Z,
// and departs after a further time of rate μ_s. Both times are mixtures over the points of a
// Poisson process, as in [productform/internal/delays].
//
// If waiting jobs give up, F depends on the time after which they would start: see [SolvePatience].
//
// Servers of equal capacity that the same classes use form a group, and the functions of K depend
// on the numbers k_g of busy servers of each group only: Π_g (n_g + 1) states in place of 2^n. F is
// divided by Π_g k_g! and H by Π_g (n_g - k_g)!, after which a sum over s is a sum over g, and F H
// includes the number of sets. A class may draw d servers of a group at random and use the first
// that is free: it waits in a fraction q_i(k) of the sets.
//
// All sums are of positive numbers; the differences μ(K) - λ(K) and λ - λ(K) are exact. So the
// three engines of [num.Engine] prove their bounds as in package bf.
package oneserver
