// Package swap solves pass-and-swap queues, which are FCFS queues in which the job that completes
// is not always the one that leaves: how long do jobs take, and which jobs leave?
//
// The state is c = (c_1, ..., c_n), the classes of the jobs from the oldest to the newest. Servers
// of a compatibility graph each serve the first job that they can. The queue thus works at rate
// μ(A) of all servers that can serve a class of the set A present, and the job in position p
// receives
//
//	μ(c_1..c_p) - μ(c_1..c_{p-1});
//
// and sizes are exponential with one mean. A swap graph joins classes. When a job completes, it
// moves back to the first job behind it of a class that is joined to its own, and takes its place.
// The displaced job does the same, and so on; the job that finds no place leaves the queue. Without
// edges this is FCFS.
//
// For example:
//
//	m, err := swap.Read(strings.NewReader(`
//	servers: [{name: left, capacity: 1}, {name: right, capacity: 1}]
//	classes:
//	- {name: a, population: 2, servers: [left]}
//	- {name: b, population: 3, servers: [right]}
//	swaps: [[a, b]]
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := swap.Solve(context.Background(), m, swap.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for i, c := range r.Classes {
//		fmt.Printf("%s: %.3f leave a second, %.3f end\n", m.Classes[i].Name, c.Throughput.Float, c.Completions.Float)
//	}
//	// Output:
//	// a: 0.000 leave a second, 1.000 end
//	// b: 2.000 leave a second, 1.000 end
//
// Class-i jobs arrive as a Poisson process of rate λ_i. For every swap graph, the stationary
// measure is the FCFS measure,
//
//	π(c) = π(∅) Π_p λ_{c_p} / μ(c_1..c_p),
//
// and the queue is stable if and only if Σ_{i∈A} λ_i < μ(A) for every non-empty A (Comte and
// Dorsman, "Pass-and-swap queues", Queueing Systems 98, 2021, 275–331,
// https://doi.org/10.1007/s11134-021-09700-3). Normalization, mean jobs and delays are therefore
// the same as under FCFS. With x_i jobs of each class in any order, class i leaves at the rate
// φ_i(x) = Φ(x-e_i)/Φ(x) in both, since π(c) λ_i is the rate at which departures of class i lead to
// c. The difference is which job leaves in a state c: compare [Departures] with [Completions].
//
// # Closed queues
//
// In a closed queue the job that leaves returns to the end, as the newest. Π_p 1/μ(c_1..c_p) is a
// stationary measure of all orders of the jobs, by the same balance. It is positive, so no order is
// transient: every order that can be reached from another can also reach it, and the measure is
// unique on the orders that the start can reach. [Solve] either enumerates these or characterizes
// them:
//
// An order places the classes if, of any two joined classes, all jobs of one are before all jobs of
// the other (none joined to itself, unless it has one job). Every later order then has the same
// placement. To see this, let a job of class i take the place of the first job behind it of a
// joined class k. All joined classes behind i are behind that place or at it, and all before i are
// before all jobs of i. The same holds for the displaced job of k, and so on up to the last, which
// is joined to no class behind it.
//
// Some jobs of a class may never leave: each time they complete, they find a place further back.
// If every job counts as a separate class, the queue is still a pass-and-swap queue, so none of its
// states is transient. A job j that leaves once therefore leaves repeatedly, at a rate X_j, and its
// mean time from one departure to the next is 1/X_j. A fraction X_j/Σ_j X_j of the departures of
// its class belongs to job j, and the mean over these departures is
//
//	Σ_j (X_j/Σ_j X_j) (1/X_j) = (number of jobs of the class that ever leave)/(rate at which its jobs leave).
//
// [Solve] follows the jobs through the orders to find which of them leave.
//
// Theorem. If, in addition, each class has its own server, all orders with the same placement can
// be reached.
//
// Proof. As no order is transient, it suffices to reach one order from all others. Number the
// classes so that in each pair of joined classes the one placed first has the smaller number, and
// let B_k be all jobs of class k in a row. By induction on m from above, the jobs of classes up to
// m can be left in their order, with B_{m+1}..B_n behind them. For m = n there is nothing to do.
// From such an order for m, let the oldest job of class m complete on its own server. It skips the
// rest of the classes up to m, since joined classes among them are before it, and ends up behind
// them, like all jobs that it displaces, which are of classes above m. By the hypothesis these can
// be sorted with the jobs of classes up to m in their order and that job behind them. After all
// jobs of class m have done so, oldest first, they are B_m, behind the classes below. ∎
//
// The sum over these orders is a sum over numbers of jobs: a job of class i may follow x jobs if
// all jobs of the classes placed before it are there,
//
//	μ(A(x)) Φ(x) = Σ_{i may follow x-e_i} Φ(x-e_i),  G = Φ(ℓ),
//
// for ℓ_i jobs of class i. Class i leaves at rate Φ(ℓ-e_i)/G if it may be last, and otherwise
// never: its jobs complete but move to places further back. If it may be last, all its jobs leave:
// its own server lets the oldest of them complete, and no job behind that one is of a joined class.
package swap
