package scale

import (
	"context"
	"fmt"

	"productform/bf"
	"productform/bf/gibbs"
	"productform/cluster"
)

// A Case is a model of a given size in a family, solved by one method.
type Case struct {
	Family string // name in the figure
	Size   int    // number of servers
	model  func() *cluster.Model
	way    bf.Lattice // lattice, or sampling
}

// sampling is the method of package gibbs.
const sampling bf.Lattice = "sampling"

// Run solves the case: all means, with bounds below 1e-6, or to 0.5 % by sampling.
func (c Case) Run(ctx context.Context) error {
	m := c.model()
	if c.way == sampling {
		r, err := gibbs.Run(ctx, m, gibbs.Settings{Seed: 1}, func(gibbs.Progress) {})
		if err == nil && !r.PrecisionMet {
			err = fmt.Errorf("%s %d: the precision was not reached", c.Family, c.Size)
		}
		return err
	}
	r, err := bf.Solve(ctx, m, bf.Settings{Lattice: c.way, RelTol: 1e-6})
	if err == nil && r.RelativeErrorBound > 1e-6 {
		err = fmt.Errorf("%s %d: a bound of %g", c.Family, c.Size, r.RelativeErrorBound)
	}
	return err
}

// Cases returns the measured cases, family by family.
func Cases() []Case {
	var all []Case
	add := func(family string, way bf.Lattice, model func(size int) *cluster.Model, sizes ...int) {
		for _, n := range sizes {
			all = append(all, Case{family, n, func() *cluster.Model { return model(n) }, way})
		}
	}
	add(
		"dense, 1 class per server", bf.ClassLattice, func(n int) *cluster.Model { return random(n, n, 3, 700) },
		8, 12, 16, 20, 22, 24, 26,
	)
	add(
		"dense, 5 classes per server", bf.ServerLattice, func(n int) *cluster.Model { return random(5*n, n, 3, 700) },
		8, 12, 16, 20, 22, 24,
	)
	add(
		"line, 10 in a row", bf.ConnectedLattice, func(n int) *cluster.Model { return line(n, 10) },
		25, 50, 100, 200, 400, 800, 1600,
	)
	add("pool, any pair", bf.SymmetricLattice, pool, 10, 100, 1000, 10000, 100000)
	add("tree, linked pairs", bf.EliminationLattice, tree, 15, 31, 63, 127, 255, 511, 1023, 2047)
	add(
		"ladder, linked pairs", bf.EliminationLattice, func(n int) *cluster.Model { return grid(2, n/2) },
		10, 20, 40, 80, 160, 400,
	)
	add(
		"dense, 2 classes per server, estimated", sampling,
		func(n int) *cluster.Model { return random(2*n, n, 3, 800) },
		25, 50, 100, 200, 400, 800,
	)
	return all
}
