// Package gang answers: how much load does a cluster carry, and how long do jobs wait, if jobs hold
// several servers at once, strictly first come, first served?
//
// There are n equal servers. Class-k jobs arrive as a Poisson process of rate λ_k. Each holds w_k
// servers, all from its start to its end, for an exponential time of mean 1/μ_k. Jobs start in the
// order of their arrival: those in service are the longest prefix of the line that fits, and a job
// that does not fit blocks all jobs behind it. So servers idle while jobs wait.
//
// For example:
//
//	m, err := cluster.Read(strings.NewReader(`
//	service: gang
//	servers: [{name: gpu, count: 16}]
//	classes:
//	- {name: small, arrival_rate: 2, servers: [gpu], needs: 1}
//	- {name: large, arrival_rate: 0.2, servers: [gpu], needs: 16}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := gang.Solve(context.Background(), m, gang.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	s := r.Stability
//	fmt.Printf("limit %.3f jobs per unit of time, %.0f %% lost to blocking\n",
//		s.ThroughputLimit.Float, 100*s.FIFOWaste.Float)
//	for _, c := range r.Classes {
//		fmt.Printf("%s: %.2f wait, %.2f on average\n", c.Name, c.WaitProbability.Float, c.MeanWaiting.Float)
//	}
//	// Output:
//	// limit 3.194 jobs per unit of time, 53 % lost to blocking
//	// small: 0.53 wait, 2.14 on average
//	// large: 0.95 wait, 3.77 on average
//
// Let λ = Σ λ_k and p_k = λ_k/λ. The queue is stable if and only if λ < λ*, the throughput of a
// line that never ends (F. Baccelli and S. Foss, "On the saturation rule for the stability of
// queues", Journal of Applied Probability 32, 1995, 494-507).
//
// If all means are 1/μ, let N be the number of independent draws of needs that fit before the first
// one that does not. Then
//
//	λ* = μ / E[1/N],
//
// by one convolution, and needs may be vectors of amounts of several resources.
//
// Otherwise the state of this line is x, the numbers of jobs in service. Let f = n - w·x. The job
// at the head is only known not to fit, so it has class k with probability p_k / T(x), w_k > f,
// where T(x) = Σ_{w_k > f} p_k. For two classes of one resource, x has a product form (see I.
// Grosof, M. Harchol-Balter and A. Scheller-Wolf, "Stability for two-class multiserver-job
// systems", 2020, https://arxiv.org/abs/2010.00631). For others, λ* is enclosed: with r(x) = Σ x_k
// μ_k and the generator Q of the chain,
//
//	min_x (r + Qv)(x) <= λ* <= max_x (r + Qv)(x)  for every v,
//
// and value iteration finds a v for which the two are close. A policy that never idles servers
// while jobs wait could carry λ_max = n / Σ p_k w_k/μ_k, so first come, first served wastes the
// fraction 1 - λ*/λ_max.
//
// Mean waits are those of a quasi-birth-death process, whose level is the number ℓ of jobs present
// and whose phase is x. With q = ℓ - Σ x_k > 0 jobs waiting, the head is as above, and the other
// q - 1 have shares p:
//
//	E[Q_k] = Σ π (q - 1) p_k + P(the head has class k),  E[W_k] = E[Q_k] / λ_k,
//	P(W_k = 0) = Σ π over q = 0, w_k <= f.
//
// One more server, shorter jobs, or fewer jobs of any class delay no start, whatever the
// distribution of sizes. The limit and the waits do depend on it. docs/theory.md has the proofs.
package gang
