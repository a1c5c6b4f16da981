package plan

import (
	"math/big"

	"productform/cluster"
	"productform/network/loss"
	"productform/num"
)

// LeastPossibleDelay is the bound on mean delays that only uses capacities, for tests.
var LeastPossibleDelay = leastDelay

// Apply returns the model of a problem with a plan carried out, for tests.
func Apply(p *Problem, c Choice) (*cluster.Model, error) {
	in, edges, steps, err := resolve(p, c)
	if err != nil {
		return nil, err
	}
	return in.model(edges, steps).cluster, nil
}

// Cost returns the cost of a plan, for tests.
func Cost(p *Problem, c Choice) (*big.Rat, error) {
	in, edges, steps, err := resolve(p, c)
	if err != nil {
		return nil, err
	}
	return in.rat(in.cost(edges, steps)), nil
}

func resolve(p *Problem, c Choice) (in *instance, edges bits, steps []int, err error) {
	if in, err = newInstance(p); err == nil {
		edges, steps, err = in.resolve(c)
	}
	return in, edges, steps, err
}

// SolveCrowded returns the numbers of an overloaded pool, or nil, for tests: means, utilization and
// service levels.
func SolveCrowded(pool *loss.Queue, times []*big.Rat) (list []num.Value) {
	p := solveCrowded(pool, times)
	if p == nil {
		return nil
	}
	list = []num.Value{*p.class.MeanDelay, *p.class.MeanWaiting, *p.class.Abandon, *p.utilization}
	for _, l := range p.class.within {
		list = append(list, *l.waiting, *l.served, *l.servedShare)
	}
	return list
}
