package convolution

import "math/big"

// A System is a network. Its numbers must not be modified.
type System struct {
	Chains   []Chain
	Closed   []int     // closed chains, in order; indices in this list are called k
	Stations []Station // in the order of the model's stations
}

// A Chain is a set of classes that jobs change between.
type Chain struct {
	Classes     []int // rows of the model's classes, increasing
	Closed      bool
	Population  int      // closed: N_k >= 1, jobs in the chain
	ArrivalRate *big.Rat // open: jobs per unit of time from outside; nil if closed
}

// A Station describes one station on the lattice of populations: exactly one of Totals and Shared
// is set.
type Station struct {
	Visits []Visit    // by class
	Demand []*big.Rat // D_k = Σ w over the visits of the closed chain k
	Load   *big.Rat   // ρ = Σ w over the visits of open chains
	Totals *Totals    // stations with Delay, Sharing, FCFS, LCFS
	Shared *Shared    // stations with Order, Balanced
}

// A Visit is a visit of the model with its ratio and work.
type Visit struct {
	Class, Visit int      // the visit Model.Classes[Class].Visits[Visit]
	Chain        int      // index in System.Chains
	K            int      // index of the chain in System.Closed, -1 for an open chain
	Ratio        *big.Rat // v: visits per cycle (closed) or per unit of time (open)
	Work         *big.Rat // w = v σ
}

// Visiting returns the number of jobs of all closed chains that visit station i.
func (s *System) Visiting(i int) int {
	sum := 0
	for k, d := range s.Stations[i].Demand {
		if d.Sign() > 0 {
			sum += s.Chains[s.Closed[k]].Population
		}
	}
	return sum
}
