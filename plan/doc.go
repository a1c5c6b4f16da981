// Package plan finds what to buy for a cluster so that it meets targets, and proves that nothing cheaper does: which upgrade, how many
// servers?
//
// What is asked is a [problem.Problem]. A plan buys steps of capacity for servers, new servers, and edges that let a class use one more server. Targets are upper bounds
// on mean delays, percentiles of delay and utilizations, and lower bounds on load factor and margin of stability.
//
// For example:
//
//	p, err := problem.Read(strings.NewReader(`
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
//	fmt.Printf("buy %s for %s: reports take %.4f\n", p.Words(a.Plan.Choice), a.Plan.Cost.RatString(), a.Plan.Targets[0].Value.Float)
//	fmt.Println("checked:", plan.Verify(context.Background(), p, a, plan.Settings{}))
//	// Output:
//	// buy small=1 for 2: reports take 1.4806
//	// checked: <nil>
//
// With x the steps that are bought and the set of edges fixed, all of these are monotone:
//
// Theorem. The numbers of jobs X = (X_1..X_N) decrease in the strong stochastic order in every capacity C_s and increase in every
// arrival rate λ_j; in order of arrival with exponential sizes so do the delays.
//
// Proof. By Theorem 2 of Bonald and Comte, "Balanced fair resource sharing in computer clusters" (Performance Evaluation 116, 2017)
// X has the distribution of the queue in order of arrival in which server s ends, at the points of a Poisson process of rate C_s,
// the first job that it can serve. Let two queues have the same arrivals and points, the second one more points of server s. If the
// second queue is a subsequence of the first, it remains one: an arrival joins both. At a common point of server t the first
// queue loses its first job j that t can serve; if j is in the second it is the first such job there, too, and both lose it; else
// the second loses another job or none. At an additional point only the second loses a job. So it has no more jobs of any class,
// and a job in both leaves it no later. More arrivals are the same with the queues exchanged. A new server with given classes is one
// whose capacity grows from 0, and a class that chooses servers of a group stands for its combinations. ∎
//
// So a plan that fails a target shows that all plans with at most its steps do: it is a corner. [LeastCost] goes through boxes of
// plans, the cheapest first. What a known corner leaves of a box are the plans with more steps than it of one option or another; if
// none is known around the cheapest plan of a box, and that fails, steps are added to it until none can be added without success,
// which gives one. The corners that cover all cheaper plans are the proof, which [Verify] checks by a routine of its own. Costs are not convex in the capacities, nor is the mean number of jobs,
// so that no local search would prove anything.
//
// Capacity that can be had in any amount is an upgrade in small steps. Rounded up to whole steps, the best plan still meets the targets,
// so that the cheapest one in steps costs less than one step of each option more.
//
// Edges are not monotone: one more may make delays longer, of other classes and of all jobs together. All sets of them are looked at,
// those first that cost least. Only load factor, margin, and the bound
//
//	E[Σ_A X] >= λ(A) / (μ(A) - λ(A))
//
// for a set A of classes, whose jobs leave at the rate μ(A) at most, get better with every edge: what fails by them fails with fewer
// edges too.
//
// Numbers are compared by proved bounds: double precision, then enclosures, then fractions, so that a target which is met with
// equality is met. Percentiles, which are no fractions, are said to be undecided where the bounds straddle the target.
package plan
