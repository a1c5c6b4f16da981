package demands

import "math/big"

// A System is a network. Its numbers are not to be changed.
type System struct {
	Chains   []Chain
	Closed   []int     // the chains that are closed, in order; places in this list are called k
	Stations []Station // in step with those of the model
}

// A Chain is a set of classes that jobs change between.
type Chain struct {
	Classes     []int // rows of the model's classes, increasing
	Closed      bool
	Population  int      // closed: N_k >= 1, jobs in the chain
	ArrivalRate *big.Rat // open: jobs per unit of time from outside; nil if closed
}

// A Station is one as the lattice of populations sees it: exactly one of Totals and Shared is set.
type Station struct {
	Visits []Visit    // by class
	Demand []*big.Rat // D_k = Σ w over the visits of the closed chain k
	Load   *big.Rat   // ρ = Σ w over the visits of open chains
	Totals *Totals    // stations with Delay, Sharing, FCFS, LCFS
	Shared *Shared    // stations with Order, Balanced
}

// A Visit is one of the model's, with what it contributes.
type Visit struct {
	Class, Visit int      // Model.Classes[Class].Visits[Visit]
	Chain        int      // of System.Chains
	K            int      // place of the chain in System.Closed, -1 for an open one
	Ratio        *big.Rat // v: visits per cycle (closed) or per unit of time (open)
	Work         *big.Rat // w = v σ
}

// Visiting returns the jobs of all closed chains that visit station i.
func (s *System) Visiting(i int) int {
	sum := 0
	for k, d := range s.Stations[i].Demand {
		if d.Sign() > 0 {
			sum += s.Chains[s.Closed[k]].Population
		}
	}
	return sum
}
