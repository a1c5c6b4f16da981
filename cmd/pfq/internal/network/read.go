package network

import (
	"math/big"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/network"
	"productform/network/line"
	"productform/network/loss"
	"productform/network/swap"
)

// A model is what a file holds: one of them is set.
type model struct {
	network *network.Model // with stations
	swap    *swap.Model    // with swaps
	loss    *loss.Model    // without either

	uneven error // why a network that can be simulated has no formulas; nil if it has
}

// isOpen reports whether some jobs arrive from outside or from sources.
func (m model) isOpen() bool {
	switch {
	case m.network != nil:
		return slices.ContainsFunc(m.network.Classes, func(c network.Class) bool { return c.ArrivalRate != nil })
	case m.swap != nil:
		return slices.ContainsFunc(m.swap.Classes, func(c swap.Class) bool { return c.ArrivalRate != nil })
	}
	return true
}

// scale returns the model with all arrival rates multiplied by factor >= 0.
func (m model) scale(factor *big.Rat) model {
	switch {
	case m.network != nil:
		return model{network: m.network.Scale(factor), uneven: m.uneven}
	case m.swap != nil:
		return model{swap: m.swap.Scale(factor)}
	}
	return model{loss: m.loss.Scale(factor)}
}

// read reads the file that the question is about. Which model it holds is told by whether it has stations, the format of LINE, or swaps.
func read(q command.Query) (m model, err error) {
	root, q, err := command.Look(q, "a network with stations, or a system with losses")
	if err != nil {
		return m, err
	}
	switch {
	case slices.Contains(root.Keys, "stations"):
		m.network, err = command.Read(q, network.Read, network.ReadFile, "solve", "servers", "mean_size")
		if err == nil {
			m.uneven = root.Locate(root.AsWritten(m.network.CheckSizes()))
		}
	case slices.Contains(root.Keys, "format"):
		m.network, err = command.Read(q, line.Read, line.ReadFile, "solve")
	case slices.Contains(root.Keys, "swaps"):
		m.swap, err = command.Read(q, swap.Read, swap.ReadFile, "")
	case slices.Contains(root.Keys, "resources"):
		m.loss, err = command.Read(q, loss.Read, loss.ReadFile, "")
		err = command.MeantForPool(err)
	default:
		m.loss, err = command.Read(q, loss.Read, loss.ReadFile, "solve", "mean_size", "servers.count")
		err = command.MeantForPlan(err)
	}
	return m, err
}
