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
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	return in.model(edges, steps), nil
}

// Cost returns what a plan costs, for tests.
func Cost(p *problem.Problem, c problem.Choice) (*big.Rat, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	return in.rat(in.cost(edges, steps)), nil
}
