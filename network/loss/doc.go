// Package loss solves systems in which arrivals that do not fit are lost: how many jobs are lost?
// It covers Erlang's and Engset's formulas, queues whose jobs give up (Erlang A), links that
// classes share (Kaufman and Roberts), limits on sets of classes, finite waiting rooms,
// order-independent loss queues, and load balancing with tokens.
//
// Class-k jobs arrive as a Poisson process of rate λ_k, or each of N_k sources generates one at
// rate λ_k while it has none in the system (Engset). They bring work of mean σ_k and take b_k
// units. A limit L is a set of classes of which n_L units fit:
//
//	Σ_{k∈L} b_k x_k <= n_L,
//
// with x_k jobs of class k. A job whose arrival would break a limit is lost, and a source whose job
// is lost starts again. With each x that fits, every smaller state fits, and
//
//	π(x) = Φ(x) Π_k s_k(x_k) / G,  s_k(x) = w_k^x, or w_k^x N_k!/(N_k-x)! with sources,  w_k = λ_k σ_k,
//
// where G is the sum over the x that fit, and Φ describes the service, Φ(0) = 1:
//
//	Φ(x) = Π_k 1/x_k!                          each job at rate 1 since its arrival (a loss system),
//	min(c, Σ x) Φ(x) = Σ_{k: x_k>0} Φ(x-e_k)   c equal servers of rate 1, one for each job; the others wait,
//	μ(A(x)) Φ(x) = Σ_{k: x_k>0} Φ(x-e_k)       servers of a compatibility graph, or any rank function μ.
//
// In a compatibility graph μ(A(x)) is the capacity of all servers that can serve a class of the set
// A(x) present.
//
// The first holds for any distribution of sizes. The others do as well if jobs share: c servers
// equally, sets of classes by balanced fairness (a Whittle network). Under FCFS they hold for
// exponential sizes of one mean (order-independent queues). Truncation preserves the measure
// because every class is in balance with its own arrivals in every state (Kelly, Reversibility and
// Stochastic Networks, 1979; Berezner and Krzesinski, "Order independent loss queues", 1996; Bonald
// and Comte, [BC17] of docs/equations.md for the measure without limits).
//
// For example:
//
//	m, err := loss.Read(strings.NewReader(`
//	room: 30
//	classes:
//	- {name: call, arrival_rate: 12}
//	- {name: conference, arrival_rate: 2, units: 6}
//	limits:
//	- {classes: [conference], most: 18}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := loss.Solve(context.Background(), m, loss.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for k, c := range r.Classes {
//		fmt.Printf("%s: %.4f lost, %.3f in the system\n", m.Classes[k].Name, c.Blocking.Float, c.MeanJobs.Float)
//	}
//	fmt.Printf("channels in use: %.3f\n", r.Room.MeanUnits.Float)
//	// Output:
//	// call: 0.0360 lost, 11.567 in the system
//	// conference: 0.2838 lost, 1.432 in the system
//	// channels in use: 20.162
//
// A Poisson arrival sees π. An arrival from a source sees the states weighted by N_k - x_k, which
// is π with one fewer source.
//
// # Recursions
//
// All numbers are sums, products and quotients of positive ones. Only exact fractions of the input
// are subtracted.
//
// Erlang's B(n) and its relatives obey 1/B(n) = 1 + n/a 1/B(n-1).
//
// If each job is served as soon as it arrives and any two limits are nested or disjoint, the
// weights W(j) of j units in use are the weights of a tree of limits: at each limit the Poisson
// classes follow
//
//	j W(j) = Σ_k b_k w_k W(j - b_k)
//
// (Kaufman, "Blocking in a shared resource environment", IEEE Trans. Comm. 29, 1981; Roberts,
// 1981), and everything below it is added by convolution, truncated at n_L. The same convolutions
// down the tree give the weight of all states in which a class is blocked, by its own limit or one
// above.
//
// In all other systems the recursion runs over a table of the units used of each limit, the set of
// classes present and the number of busy servers, to the extent that rates and limits depend on
// them. Summing μ(x) Φ(x) = Σ Φ(x-e_k) over the states behind an entry s gives
//
//	(μ(s) - Σ_{k free} w_k) W(s) = Σ_k w_k Σ_{s': s'+e_k = s ≠ s'} W(s'),
//
// where a class k is free if no limit binds it and one more job does not change s. With free
// classes the system has a stationary distribution if and only if these differences are positive.
// The adjoint of the recursion, one reverse sweep, gives E[X_k] = w_k ∂ log G/∂w_k for all classes
// and, split by whether all servers are busy, the number of waiting jobs.
//
// # Tokens
//
// If servers have tokens, a job is served by one of the servers of its class: it takes the token,
// among the free tokens of these servers, that was released first, and returns it when it leaves.
// Jobs that find none are lost. With y_s tokens free at server s, of l_s,
//
//	π(y) = Λ(y) Π_s (C_s/σ)^y_s / G,  ν(A(y)) Λ(y) = Σ_{s: y_s>0} Λ(y-e_s),  y <= l,
//
// with ν(A) the rate of the classes that can use a server of A. The free tokens are an
// order-independent loss queue, in which busy servers are arrivals and arriving jobs are
// departures; a class is blocked while its servers have no token in it. Servers of the same classes
// are combined, because arrivals treat their free tokens equally (Comte, "Dynamic load balancing
// with tokens", Computer Communications 144, 2019, 76–88). With one token per server, a server has
// one job at a time, and arrivals go to the server that has been idle longest. With processor
// sharing at each server, sizes may have any distribution of one mean; under FCFS they are
// exponential.
package loss
