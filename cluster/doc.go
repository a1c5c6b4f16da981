// Package cluster defines the model of a computer cluster that all solvers use: which servers are
// there, which jobs arrive, and which servers can serve them? It defines how a model is read from a
// file, when it is valid, and how it is reduced without changing any answer.
//
// A cluster has servers s = 1..S and classes of jobs i = 1..N. Class-i jobs arrive as a Poisson
// process of rate λ_i, bring work of mean σ_i each (one mean σ for all classes without their own),
// and can be served jointly by the servers of the set S_i. Server s does C_s units of work per unit
// of time. While A is the set of classes that have jobs, the cluster works at the rate
//
//	μ(A) = Σ_{s ∈ ∪_{i∈A} S_i} C_s,
//
// the sum of the capacities of the servers that can serve some class of A: its rank
// function, nondecreasing and submodular. The graph between classes and servers is the
// compatibility graph (Bonald and Comte, "Balanced fair resource sharing in computer
// clusters", Performance Evaluation, 2017, https://doi.org/10.1016/j.peva.2017.08.006).
//
// For example:
//
//	m := &cluster.Model{
//		Servers: []cluster.Server{
//			{Name: "big", Capacity: big.NewRat(2, 1)}, {Name: "small", Capacity: big.NewRat(1, 1)},
//		},
//		Classes: []cluster.Class{
//			{Name: "web", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0, 1)},
//			{Name: "reports", ArrivalRate: big.NewRat(2, 5), Servers: cluster.On(1)},
//		},
//	}
//	if err := m.Check(); err != nil {
//		log.Fatal(err)
//	}
//	mu, err := m.Rank(context.Background())
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("reports alone are served at rate", mu[1<<1].RatString(), "and both classes at",
//		mu[1<<0|1<<1].RatString())
//	// Output: reports alone are served at rate 1 and both classes at 3
//
// A row of servers may be a group of equal servers. Each job of a class then gets some number d of
// them, drawn uniformly at random and independently of the other jobs and groups. Groups keep large
// symmetric clusters short; [Model.Expand] expands them.
//
// All numbers are rational and exactly as in the file: 0.1 is one tenth.
package cluster
