// Package whittle computes stationary measures of Whittle networks: how many jobs are there if
// classes are served at balanced rates, whatever the sizes?
//
// A Whittle network is a network of N processor-sharing queues. Class-i jobs arrive at
// queue i as a Poisson process of rate λ_i, and in state x, with x_i jobs at queue i,
// queue i serves at rate φ_i(x). The rates satisfy the balance property
//
//	φ_i(x) φ_j(x-e_i) = φ_i(x-e_j) φ_j(x)  if x_i > 0 and x_j > 0,     (6)
//
// which holds if and only if there is a balance function Φ with Φ(0) = 1 and
//
//	φ_i(x) = Φ(x-e_i)/Φ(x)  if x_i > 0, and 0 otherwise.               (7)
//
// The stationary distribution is then insensitive to job sizes beyond their mean,
//
//	π(x) = π(0) Φ(x) Π_i λ_i^x_i,                                      (3)
//
// provided the sum Z = 1/π(0) of Φ(x) Π_i λ_i^x_i over all states is finite. A rank function μ, the
// total rate while A is the set of queues that are not empty, defines the network of balanced
// fairness,
//
//	Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ({i: x_i>0}),                      (4)
//
// which is stable if and only if
//
//	Σ_{i∈A} λ_i < μ(A)  for every non-empty A.                         (5)
//
// For example:
//
//	n := &whittle.Network{
//		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)},
//		// μ of {0}, {1} and {0, 1}
//		Rank: []*big.Rat{nil, big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(3, 1)},
//	}
//	r, err := whittle.Stationary(context.Background(), n, whittle.Box(8, 12), whittle.Settings{Engine: num.Exact})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("E[X] =", r.MeanJobs[0].Exact, "and", r.MeanJobs[1].Exact)
//	fmt.Printf("P(outside the table) = %.1e\n", r.MassLeftOut.Float)
//	// Output:
//	// E[X] = 17/39 and 44/39
//	// P(outside the table) = 1.8e-04
//
// Numbers of equations are those of Bonald and Comte, "Balanced fair resource sharing in
// computer clusters", Performance Evaluation 116, 2017, 70–83, cited as [BC17]; see also
// Serfozo, Introduction to Stochastic Networks, Springer, 1999, chapter 1.
//
// # Truncation
//
// Tables run over a [Lattice], a box x_i ≤ L_i or a simplex Σ x_i ≤ n. The network itself has no
// limits: jobs are never blocked or lost, and states outside the lattice have positive probability.
// A lattice is a truncation of the infinite sum for Z, and every result says how much lies outside.
// For a rank function that part is known exactly. Put in (3), (4) reads μ(A) w(x) = Σ_{i∈A} λ_i
// w(x-e_i) for the weights w(x) = Φ(x) Π_i λ_i^x_i, so the weight that crosses the border of the
// lattice into the active set A spreads, per unit, over
//
//	V(A) = (1 + Σ_{i∉A} λ_i V(A∪{i})) / (μ(A) - Σ_{i∈A} λ_i)
//
// of weight outside, whatever the state; jobs outside are counted likewise. For other balance
// functions the caller promises a floor on the rates beyond the box, and sums outside are bounded
// by geometric sums.
//
// # Engines
//
// [Stationary] works in float64, up to [MaxStates] states, with a proved bound on its rounding, or
// in fractions, each formula at its most literal; [StationaryOfBalance] returns bounds, computed in
// fractions. [FromCluster] takes the rank function of a cluster. Total rates that depend on the
// numbers of jobs, as those of M/M/c, are for package oiqueue: oiqueue.Stationary with Saturation,
// and oiqueue.Truncated. Closed networks, with a population instead of arrivals,
// are for network.Solve: a station Balanced with a Table. A [Network] is passed by its pointer and
// never modified.
package whittle
