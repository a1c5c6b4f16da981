// Package plan finds what to buy for a cluster, a network or a system with losses to meet targets,
// and proves that nothing cheaper suffices: which upgrade, how many servers?
//
// The input is a [plan.Problem]. A plan buys steps of capacity for servers, new servers, and
// edges that let a class use one more server. Targets are upper bounds on mean delays, percentiles
// of delay and utilizations, and lower bounds on load factor and margin of stability.
//
// For example:
//
//	p, err := plan.Read(strings.NewReader(`
//	model:
//	  servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
//	  classes:
//	  - {name: web, arrival_rate: 1.5, servers: [big, small]}
//	  - {name: reports, arrival_rate: 0.6, servers: [small]}
//	targets: [{class: reports, mean_delay: 2}]
//	upgrades: [{server: small, step: 0.5, cost: 2, most: 4}, {server: big, step: 1, cost: 3, most: 2}]
//	`), "")
//	if err != nil {
//		log.Fatal(err)
//	}
//	a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("buy %s for %s: reports take %.4f\n",
//		p.Words(a.Plan.Choice), a.Plan.Cost.RatString(), a.Plan.Targets[0].Value.Float)
//	fmt.Println("checked:", plan.Verify(context.Background(), p, a, plan.Settings{}))
//	// Output:
//	// buy small=1 for 2: reports take 1.4806
//	// checked: <nil>
//
// The cluster may have any service of package cluster. With one server per job there are also
// targets on waits, service levels and jobs that give up, by packages oneserver and
// [productform/network/loss]; with gangs on waits and waste, by package gang. The model may also be
// a network of stations, with targets on throughputs and response times, or a system with losses,
// with targets on blocking. See the reasons, such as [ReasonWaits], for what is proved about them,
// and the theory for the proofs.
//
// With all servers per job and a fixed set of edges, all measures are monotone in the steps that
// are bought:
//
// Theorem. The numbers of jobs X = (X_1..X_N) decrease in the strong stochastic order in every
// capacity C_s and increase in every arrival rate λ_j. Under first come, first served with
// exponential sizes, the same holds for the delays.
//
// Proof. By Theorem 2 of Bonald and Comte, "Balanced fair resource sharing in computer clusters"
// (Performance Evaluation 116, 2017), X has the distribution of the FCFS queue in which server s
// completes, at the points of a Poisson process of rate C_s, the first job that it can serve. Let
// two queues have the same arrivals and points, except that the second one has additional points of
// server s. If the second queue is a subsequence of the first, it remains one: an arrival joins
// both. At a common point of server t the first queue loses its first job j that t can serve. If j
// is in the second queue, it is also the first such job there, and both lose it; otherwise the
// second loses another job or none. At an additional point only the second loses a job. So it never
// has more jobs of any class, and a job in both queues leaves it no later. For additional arrivals,
// exchange the queues. A new server with given classes is one whose capacity grows from 0, and a
// class that chooses servers of a group stands for its combinations. ∎
//
// So if a plan fails a target, all plans with at most its steps fail: the plan is a corner.
// [LeastCost] searches boxes of plans, the cheapest first. Given a known corner, only the plans of
// a box that have more steps of some option remain. If no known corner covers the cheapest plan of
// a box, and that plan fails, steps are added to it until any further step would succeed, which
// gives a new corner. The corners that cover all cheaper plans are the proof, which [Verify] checks
// by a separate routine. Neither costs nor the mean number of jobs are convex in the capacities, so
// a local search would prove nothing.
//
// Capacity that is available in any amount can be modelled as an upgrade in small steps. If the
// best plan is rounded up to whole steps, it still meets the targets. So the cheapest plan in steps
// costs at most one more step of each option.
//
// Edges are not monotone: an additional edge may lengthen the delays of other classes and of all
// jobs together. So all sets of edges are tried, the cheapest first. Only load factor, margin, and
// the bound
//
//	E[Σ_A X] >= λ(A) / (μ(A) - λ(A))
//
// for a set A of classes, whose jobs leave at a rate of at most μ(A), improve with every edge. A
// plan that fails by them also fails with fewer edges.
//
// Numbers are compared by proved bounds: double precision, then enclosures, then fractions. So a
// measure exactly at its limit meets the target. Percentiles are not fractions: they are reported
// as undecided if their bounds straddle the target.
package plan
