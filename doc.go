// Package productform is an overview of this module: which package answers which question? The
// module computes how jobs share servers.
//
//	cluster, sizes, num   models of clusters, sizes of jobs, numbers with proved bounds
//	bf                    means and delays of jobs that share servers
//	oneserver             waiting times and delays if each job runs on one server
//	gang                  load limit and mean waits if jobs hold several servers at once
//	stability, plan       how much load a cluster can carry, and what to buy to meet targets
//	network               jobs that go from station to station; network/loss, jobs that may be lost
//	oiqueue, whittle      order-independent queues and Whittle networks
//	tags                  time limits for jobs of unknown size
//	fluid, dispatch       sharing of several resources; which job gets which worker
//	sim                   simulation of all these, to check theory, and to replace it where it has no answer
//	plots                 the figures of the papers
//
// For example, on two servers, jobs of class 1 run on both, and jobs of class 2 on the second only:
//
//	m, err := cluster.New([]float64{2, 1}, []float64{1, 0.4}, [][]int{{0, 1}, {1}})
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := bf.Solve(context.Background(), m, bf.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, c := range r.Classes {
//		fmt.Printf("%s: %.4f jobs, each for %.4f\n", c.Name, c.MeanJobs.Float, c.MeanDelay.Float)
//	}
//	// Output:
//	// class 1: 0.6250 jobs, each for 0.6250
//	// class 2: 0.7628 jobs, each for 1.9071
//
// A model is plain data, made in Go or read from a file. A solver is a function; with the zero
// value of its Settings it computes nine digits. A result has a bound on its error. The program
// cmd/pfq answers the same questions without Go code.
package productform
