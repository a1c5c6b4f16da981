package plan

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/network"
	"productform/network/loss"
	"productform/num"
)

// A system is a model of one of three kinds. The fields of the other kinds are nil.
type system struct {
	cluster *cluster.Model
	network *network.Model
	loss    *loss.Model
}

// system returns the model of a problem.
func (p *Problem) system() system { return system{p.Model, p.Network, p.Loss} }

// scale returns a model with all arrival rates multiplied by a factor.
func (s system) scale(factor *big.Rat) system {
	switch {
	case s.network != nil:
		return system{network: s.network.Scale(factor)}
	case s.loss != nil:
		return system{loss: s.loss.Scale(factor)}
	}
	return system{cluster: s.cluster.Scale(factor)}
}

// model returns the model with a plan.
func (in *instance) model(edges bits, steps []int) system {
	switch {
	case in.base.network != nil:
		return system{network: in.network(steps)}
	case in.base.loss != nil:
		return system{loss: in.loss(steps)}
	}
	return system{cluster: in.cluster(edges, steps)}
}

// ClassNames returns the names of the classes of the model.
func (p *Problem) ClassNames() (names []string) {
	switch {
	case p.Network != nil:
		return namesOf(p.Network.Classes, func(c network.Class) string { return c.Name })
	case p.Loss != nil:
		return namesOf(p.Loss.Classes, func(c loss.Class) string { return c.Name })
	}
	return namesOf(p.Model.Classes, func(c cluster.Class) string { return c.Name })
}

// ServerNames returns the names of what an upgrade may add to: servers of a cluster, stations of a
// network, or the numbers of a system with losses.
func (p *Problem) ServerNames() (names []string) {
	switch {
	case p.Network != nil:
		return namesOf(p.Network.Stations, func(s network.Station) string { return s.Name })
	case p.Loss != nil:
		return lossNumbers(p.Loss)
	}
	return namesOf(p.Model.Servers, func(s cluster.Server) string { return s.Name })
}

// SizeOf returns the number of servers of a server, group or station of the model, and the capacity
// of each. The capacity is nil for a system with losses.
func (p *Problem) SizeOf(name string) (size int, each *big.Rat) {
	switch row := p.ServerRow(name); {
	case p.Network != nil:
		s := p.Network.Stations[row]
		return max(s.Servers, 1), num.OrOne(s.Rate)
	case p.Loss != nil:
		return 1, nil
	default:
		s := p.Model.Servers[row]
		return s.Size(), num.OrOne(s.Capacity)
	}
}

func namesOf[Row any](rows []Row, name func(Row) string) []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = name(r)
	}
	return names
}

// ClassRow returns the row of a class of the model, or -1 if no class has this name.
func (p *Problem) ClassRow(name string) int { return slices.Index(p.ClassNames(), name) }

// ServerRow returns the row of a name in [Problem.ServerNames], or -1 if it is not there.
func (p *Problem) ServerRow(name string) int { return slices.Index(p.ServerNames(), name) }
