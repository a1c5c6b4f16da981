// Package traffic computes the delays of jobs that arrive at random and share divisible resources:
// which policy serves them best? Policies and symbols are those of package fluid.
//
// Class-k jobs arrive as a Poisson process of rate λ_k, have exponential sizes of mean σ_k, in
// tasks times time, and leave when they are done: x_k jobs of class k leave at rate x_k φ_k(x)/σ_k.
// Under every policy the numbers of jobs grow without limit if the load Σ_k λ_k σ_k a_kj of some
// resource is 1 or more. [Solve] computes the mean numbers E[x_k], and from them the mean service
// rate γ_k = λ_k σ_k / E[x_k] of a job and its mean delay E[x_k]/λ_k: for balanced fairness from
// its stationary distribution Φ(x) Π_k (λ_k σ_k)^x_k / Z, for the others from the balance equations
// of a truncated Markov chain.
//
// For example:
//
//	m, err := traffic.Read(strings.NewReader(`
//	resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
//	jobs:
//	- {name: a, demand: {cpu: 1, ram: 4}, arrival_rate: 2}
//	- {name: b, demand: {cpu: 3, ram: 1}, arrival_rate: 1}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
//		r, err := traffic.Solve(context.Background(), m, policy, traffic.Settings{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: mean delays %.4f and %.4f\n", policy, *r.Classes[0].MeanDelay, *r.Classes[1].MeanDelay)
//	}
//	// Output:
//	// pf: mean delays 0.4661 and 0.7689
//	// drf: mean delays 0.5379 and 0.7927
//	// bf: mean delays 0.5165 and 0.7543
package traffic
