// Package bf computes stationary measures of computer clusters that share their servers by balanced fairness: how many jobs are there of each
// class, and how long do they take?
//
// Class-i jobs arrive as a Poisson process of rate λ_i and may be served by the servers of S_i,
// at any number of them at once. With μ(A) the capacity of the servers that can serve some class of A, in
// jobs per unit of time, and x_i the number of class-i jobs present, the stationary distribution is
//
//	π(x) = Φ(x) Π_i λ_i^x_i / Z,  Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ({i: x_i>0}),
//
// if Σ_{i∈A} λ_i < μ(A) for every non-empty A. It is that of the Whittle network with these
// balance functions for any distribution of the job sizes, and that of the multi-server queue in order of arrival for
// exponential sizes (Bonald and Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation, 2017, Theorem 2; [BC17] below).
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
// [Solve] sums over all states at once, on one of five lattices, the
// cheapest that applies (λ(·) and M(·) are the rates of the classes and the capacity of the servers inside a set):
//
//	class      G(A) = Σ_{i∈A} λ_i G(A∖{i}) / (μ(A) - λ(A)) over the sets A of classes, Z = Σ_A G(A);
//	server     Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K)) over the sets K of servers, Z = Z(all);
//	connected  the same over the sets that classes link, as the others are products of these;
//	symmetric  the same over the numbers of servers taken from each group of equal ones;
//	elimination Z = E[exp(Σ_i λ_i min_{s∈S_i} T_s)] over independent exponential T_s of rates C_s, integrated out one after the
//	           other: servers in trees, lines and ladders, where few have a class in common with many.
//
// One sweep down the lattice gives the derivatives of log Z, and so the mean numbers of jobs.
//
// Three engines give the same meaning to numbers and share no arithmetic: float64 with a proved
// bound on the relative error of every number, enclosures by directed rounding of as many bits as a tolerance
// takes, and exact rationals. All recursions add, multiply and divide positive numbers; the
// differences μ(A) - λ(A) are exact.
//
// A model is passed by its pointer and never modified. What may take long stops soon after its context ends; no
// goroutine goes on after a call has returned.
//
// [Delays] gives the distribution of the delay of single jobs in the multi-server queue, by the same lattices.
//
// Two kinds of clusters have formulas of their own, [ThreeServers] and [RandomAssignment].
package bf
