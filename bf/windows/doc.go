// Package windows proves bounds on mean delays in computer clusters of any size that share their
// servers under balanced fairness: between which two numbers do the delays lie? The bounds come
// from models of a few servers each.
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
// With T_s the lifetime of server s, as in package productform/bf/gibbs, x the lifetimes in W and y
// those outside, the density of x is q(x) = a(x) f(x). The factor a(x) = exp(-Σ_{s∈W} C_s x_s + Σ
// λ_j min_{S_j} x), with the classes inside W, belongs to the first cluster; f is due to the
// classes that have servers in W and outside,
//
//	f(x) = ∫ b(y) exp(Σ_j λ_j min(m_j(x), n_j(y))) dy,  m_j(x) = min_{S_j∩W} x,  n_j(y) = min_{S_j∖W} y,  b > 0,
//
// and increases in each x_s. The second cluster has the density r(x) ∝ a(x) exp(Σ_j λ_j m_j(x)),
// and
//
//	q(x)/r(x) ∝ ∫ b(y) exp(-Σ_j λ_j max(m_j(x) - n_j(y), 0)) dy
//
// decreases in each. Both a and r are multivariate totally positive of order two, so increasing
// functions are positively correlated under them (Fortuin, Kasteleyn and Ginibre, 1971). As q is a
// times an increasing function, and r times a decreasing one, its mean of min_{S_i} x is at least
// the mean under a and at most the mean under r. Larger windows give closer bounds. For V ⊂ W, the
// first cluster of V is the first cluster of W with classes removed, and the second cluster of V is
// the second cluster of V within the second cluster of W.
package windows
