package plan

import (
	"math/big"

	"productform/cluster"
	"productform/plan/problem"
)

// LeastPossibleDelay is the bound on mean delays that looks at capacities only, for tests.
var LeastPossibleDelay = leastDelay

// Apply returns the model of a problem with a plan carried out, for tests.
func Apply(p *problem.Problem, c problem.Choice) (*cluster.Model, error) {
	in, edges, steps, err := resolve(p, c)
	if err != nil {
		return nil, err
	}
	return in.model(edges, steps), nil
}

// Cost returns what a plan costs, for tests.
func Cost(p *problem.Problem, c problem.Choice) (*big.Rat, error) {
	in, edges, steps, err := resolve(p, c)
	if err != nil {
		return nil, err
	}
	return in.rat(in.cost(edges, steps)), nil
}

func resolve(p *problem.Problem, c problem.Choice) (in *instance, edges bits, steps []int, err error) {
	if in, err = newInstance(p); err == nil {
		edges, steps, err = in.resolve(c)
	}
	return in, edges, steps, err
}
