// Package network solves closed, open and mixed queueing networks of product form with several
// classes of jobs: how many jobs get through, how long do they take, and where do they wait?
//
// Jobs move from station to station. A class of jobs visits some of the stations; after each visit
// its jobs move, with fixed probabilities, to another visit of their class or of another class, or
// leave. Classes that jobs can change between form a chain. A closed chain has a fixed number of
// jobs; in an open chain, jobs arrive as a Poisson process and leave. Let v_ic be the visits of
// class c to station i per cycle (closed) or per unit of time (open), σ_ic the mean work of a
// visit, and w_ic = v_ic σ_ic. The state in which station i holds x_ic jobs of class c has the
// probability
//
//	π(x) = (1/G) Π_i Φ_i(x_i) Π_c w_ic^x_ic,
//
// where Φ_i is the balance function of station i alone,
//
//	Φ_i(x) = (Σ_c x_c)! / Π_c x_c! / Π_{n <= Σ_c x_c} α_i(n)   with total rate α_i(n) for n jobs (Baskett and others),
//	Φ_i(x) = Σ_{c: x_c > 0} Φ_i(x - e_c) / μ_i(x)              with an order-independent total rate μ_i(x),
//
// and G is the sum over all states with the populations of the closed chains. All results are
// computed from the exact numbers of a [Model], by sums of positive terms.
//
// For example:
//
//	m, err := network.Read(strings.NewReader(`
//	stations: [{name: think, discipline: delay}, {name: cpu, discipline: sharing, servers: 4},
//	    {name: disk, discipline: fcfs}]
//	classes:
//	- name: user
//	  population: 100
//	  visits:
//	  - {station: think, mean_size: 5, next: {cpu: 1}}
//	  - {station: cpu, mean_size: 0.02, next: {disk: 0.6, think: 0.4}}
//	  - {station: disk, mean_size: 0.03, next: {cpu: 1}}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := network.Solve(context.Background(), m, network.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("%.4f requests a second, %.4f of them at the disk\n",
//		r.Chains[0].Throughput.Float, r.Stations[2].MeanJobs.Float)
//	// Output: 18.8936 requests a second, 4.5826 of them at the disk
//
// F. Baskett, K. M. Chandy, R. R. Muntz and F. G. Palacios, "Open, closed, and mixed networks of
// queues with different classes of customers", Journal of the ACM 22(2) (1975), 248–260,
// https://doi.org/10.1145/321879.321887; A. E. Krzesinski, "Order independent queues", in Queueing
// Networks (Boucherie and van Dijk, editors), Springer, 2011, 85–120.
package network
