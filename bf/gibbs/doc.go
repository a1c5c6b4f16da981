// Package gibbs estimates stationary measures of computer clusters of any size that share their
// servers under balanced fairness: how long do jobs take on hundreds of servers with hundreds of
// classes, too many for the lattices of package bf?
//
// Let the lifetime T_s of server s be exponential with rate C_s. With λ_i the rate of class i and
// S_i its servers,
//
//	Z = E[exp(Σ_i λ_i min_{s∈S_i} T_s)],  mean delay of class i = E~[min_{s∈S_i} T_s],
//
// where E~ is the mean under the density p(T) proportional to exp(-Σ_s C_s T_s + Σ_i λ_i
// min_{s∈S_i} T_s). Given the lifetimes, the numbers of jobs X_i are independent, each Poisson with
// mean λ_i min_{s∈S_i} T_s. [Run] draws lifetimes from p by a Gibbs sampler. A sweep has two steps,
// neither of which changes the distribution p:
//
//   - each T_s is drawn given the others: its density falls or rises exponentially between the
//     times at which classes lose another of their servers, at the rate C_s - λ(classes with s
//     whose other servers are all alive);
//   - all lifetimes are drawn given the order in which the servers die. With K_1 ⊃ K_2 ⊃ ... the
//     sets alive before each death, M(K) their capacity and λ(K) the rate of the classes inside,
//     the times between deaths are independent and exponential of the rates M(K_k) - λ(K_k).
//
// If some set of servers has much less slack than the sets next to it in an order, sweeps also
// exchange blocks of the order before the second step, by the rule of Metropolis and Hastings.
// Otherwise two sets short of capacity, weakly linked, would keep their order for a long time.
//
// The second step makes large moves where load is near capacity: servers that are short of capacity
// die last, and together. Estimates average conditional means given the order, so the second step
// adds no noise. Given the order, the mean delay of class i is the sum of 1/(M(K_k) - λ(K_k)) over
// the sets that contain all of S_i, and the total number of jobs is a sum of independent geometric
// variables with parameters λ(K_k)/M(K_k). The probability that a server is idle is estimated by
// the mean of p_s(0)/C_s, its value given the other lifetimes.
//
// For example:
//
//	m := &cluster.Model{}
//	for i := range 60 { // servers, each of which has a class in common with its neighbour, and with the seventh
//		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(1, 1)})
//		m.Classes = append(m.Classes, cluster.Class{
//			Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(4, 5), Servers: cluster.On(i, (i+1)%60, (i+7)%60),
//		})
//	}
//	r, err := gibbs.Run(context.Background(), m, gibbs.Settings{Precision: 0.01, Seed: 1}, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("mean delay %.2f, within %.2f at confidence %g\n",
//		r.MeanDelay.Mean, r.MeanDelay.HalfWidth, r.MeanDelay.Confidence)
//	// Output: mean delay 0.92, within 0.01 at confidence 0.95
//
// Chains start at very different orders, in which different groups of servers short of capacity die
// last. They sweep until the starts are forgotten. Then the means of long batches of sweeps of all
// chains give intervals by Student's distribution. Intervals are estimates: each contains the true
// value with about its stated probability, and none is a bound. Package bf proves bounds on smaller
// models.
package gibbs
