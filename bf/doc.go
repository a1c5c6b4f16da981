// Package bf computes stationary measures of computer clusters that share their servers under
// balanced fairness: how many jobs of each class are there, and how long do they take?
//
// Class-i jobs arrive as a Poisson process of rate λ_i. A job may be served by any of the servers
// in S_i, and by several at once. Let μ(A) be the capacity, in jobs per unit of time, of the
// servers that can serve at least one class of A, and x_i the number of class-i jobs present. The
// stationary distribution is
//
//	π(x) = Φ(x) Π_i λ_i^x_i / Z,  Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ({i: x_i>0}),
//
// if Σ_{i∈A} λ_i < μ(A) for every non-empty A. This is the distribution of the Whittle network with
// balance function Φ, for any distribution of job sizes, and of the first-come first-served
// multi-server queue with exponential sizes (Bonald and Comte, "Balanced fair resource sharing in
// computer clusters", Performance Evaluation, 2017, Theorem 2; [BC17] below).
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
//	r, err := bf.Solve(context.Background(), m, bf.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for i, c := range r.Classes {
//		fmt.Printf("%s: %.4f jobs, each for %.4f\n", m.Classes[i].Name, c.MeanJobs.Float, c.MeanDelay.Float)
//	}
//	fmt.Println("proved to twelve digits:", r.RelativeErrorBound < 1e-12)
//	// Output:
//	// web: 0.6250 jobs, each for 0.6250
//	// reports: 0.7628 jobs, each for 1.9071
//	// proved to twelve digits: true
//
// [Solve] sums over all states at once. It uses one of five lattices and picks the cheapest that
// applies. In the formulas, λ(·) is the total rate of the classes inside a set and M(·) the
// capacity of its servers:
//
//	class      G(A) = Σ_{i∈A} λ_i G(A∖{i}) / (μ(A) - λ(A)) over the sets A of classes, Z = Σ_A G(A);
//	server     Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K)) over the sets K of servers, Z = Z(all);
//	connected  the same over sets of servers linked by classes; the value of any other set is a product of these;
//	symmetric  the same over the number of servers taken from each group of equal servers;
//	elimination Z = E[exp(Σ_i λ_i min_{s∈S_i} T_s)] over independent exponential T_s of rates C_s, integrated out
//	           one server at a time: for trees, lines and ladders, where each server shares classes with few others.
//
// One sweep down the lattice gives the derivatives of log Z, and with them the mean numbers of
// jobs.
//
// Three engines compute the same quantities with independent arithmetic: float64 with a proved
// bound on the relative error of every number, enclosures with directed rounding and as many bits
// as the tolerance needs, and exact rationals. All recursions only add, multiply and divide
// positive numbers; the differences μ(A) - λ(A) are exact.
//
// Models are passed by pointer and never modified. Long-running calls return promptly once their
// context is cancelled, and leave no goroutine behind.
//
// [ClassDelays] describes the distribution of individual delays in the multi-server queue, computed
// on the same lattices.
//
// [ThreeServers] and [RandomAssignment] are closed forms for two special clusters.
package bf
