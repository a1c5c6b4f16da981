// Package fluid shares divisible resources among jobs: how many tasks can each job run if all need
// the same processors and memory?
//
// A pool has J resources of capacities C_j. Each task of job i takes A_ij units of resource j;
// a_ij = A_ij/C_j is the fraction of the resource. Tasks are infinitely small: job i runs φ_i >= 0
// of them, any real number, and
//
//	Σ_i φ_i a_ij <= 1  for every resource j.     (1)
//
// The dominant resource of a job is the one of which its tasks take the largest fraction, d_i =
// max_j a_ij, and φ_i d_i its dominant share. A resource is saturated if (1) holds with equality.
// The policy selects one of the feasible allocations; w_i is the weight of a job:
//
//	proportional fairness       maximizes Σ_i w_i log φ_i: φ_i = w_i / Σ_j p_j a_ij for prices p_j >= 0, zero
//	                            unless j is saturated
//	dominant resource fairness  raises all φ_i d_i / w_i together; a job that needs a saturated resource stops,
//	                            the others continue
//	max-min fairness            does the same with φ_i / w_i
//	bottleneck max fairness     gives every job a saturated resource of which no other has a larger fraction by weight
//	balanced fairness           lets each of x_k equal jobs of class k run φ_k tasks, x_k φ_k = Φ(x-e_k)/Φ(x),
//	                            where Φ(0) = 1, Φ(x) = max_j Σ_k a_kj Φ(x-e_k)
//
// For example:
//
//	pool, err := fluid.ReadPool(strings.NewReader(`
//	resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
//	jobs:
//	- {name: a, demand: {cpu: 1, ram: 4}}
//	- {name: b, demand: {cpu: 3, ram: 1}}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, policy := range []fluid.Policy{fluid.DRF, fluid.PF} {
//		a, err := fluid.Allocate(context.Background(), pool, policy, fluid.Settings{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: %.4f tasks of a, %.4f of b\n", policy, a.Jobs[0].Tasks.Float, a.Jobs[1].Tasks.Float)
//	}
//	// Output:
//	// drf: 3.0000 tasks of a, 2.0000 of b
//	// pf: 4.0909 tasks of a, 1.6364 of b
//
// A job may have a limit L_i: then φ_i <= L_i under every policy, as if it had a separate resource
// of that capacity, which cannot be its dominant one. The others share the rest.
//
// Equal jobs are one row of the pool with a count. [Allocate] computes one allocation, [Allocator]
// many in succession. Package audit finds faults of an allocation, and package traffic computes the
// delays of jobs that arrive at random.
//
// The model, (1) and the comparison of proportional with dominant resource fairness are those of T.
// Bonald and J. Roberts, "Enhanced cluster computing performance through proportional fairness",
// Performance Evaluation 79, 2014, 134–145, cited as [BR14]; dominant resource fairness is due to
// A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker and I. Stoica, "Dominant resource
// fairness: fair allocation of multiple resource types", NSDI 2011; bottleneck max fairness to T.
// Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
// SIGMETRICS 2015; balanced fairness to T. Bonald and A. Proutière, "Insensitive bandwidth sharing
// in data networks", Queueing Systems 44, 2003, 69–100.
package fluid
