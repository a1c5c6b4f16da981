// Package windows bounds mean delays of computer clusters that share their servers by balanced
// fairness, of any size: between which two numbers do they surely lie, by models of a few servers
// each?
//
// Let a window W be a set of servers. The mean delay of a class with all its servers in W is
//
//   - at least that of the cluster of the servers of W with the classes that have no server
//     outside;
//   - at most that of the cluster of the servers of W in which all classes with a server in W are
//     served by those only, if it is stable.
//
// For example:
//
//	m := &cluster.Model{}
//	for i := range 60 { // servers in a ring, each of which has a class in common with its neighbour
//		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(1, 1)})
//		m.Classes = append(m.Classes, cluster.Class{
//			Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(i, (i+1)%60),
//		})
//	}
//	bounds, err := windows.Delays(context.Background(), m, 6, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("mean delay of class 0: between %.4f and %.4f\n", bounds[0].Low, *bounds[0].High)
//	// Output: mean delay of class 0: between 0.8603 and 0.8915
//
// With T_s the life of server s, as in package productform/bf/gibbs, x the lives in W and y those
// outside, the density of x is q(x) = a(x) f(x). The factor a(x) = exp(-Σ_{s∈W} C_s x_s + Σ λ_j
// min_{S_j} x), with the classes inside W, belongs to the first cluster; f is due to the classes
// that have servers in W and outside,
//
//	f(x) = ∫ b(y) exp(Σ_j λ_j min(m_j(x), n_j(y))) dy,  m_j(x) = min_{S_j∩W} x,  n_j(y) = min_{S_j∖W} y,  b > 0,
//
// and increases in each x_s. The second cluster has the density r(x) ∝ a(x) exp(Σ_j λ_j m_j(x)),
// and
//
//	q(x)/r(x) ∝ ∫ b(y) exp(-Σ_j λ_j max(m_j(x) - n_j(y), 0)) dy
//
// decreases in each. Both a and r are multivariate totally positive of order two, under which
// increasing functions are positively correlated (Fortuin, Kasteleyn and Ginibre, 1971): so q,
// which is a times an increasing function and r times a decreasing one, has at least the mean of
// min_{S_i} x that a has, and at most that of r. Larger windows have closer bounds: the first
// cluster of a part of W is that of W with classes left out, the second is the second of the second
// of W.
package windows
