package network

import (
	"math/big"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/tree"
	"productform/network"
	"productform/network/line"
	"productform/network/loss"
	"productform/network/swap"
	"productform/sizes"
)

// A model is what a file holds: one of them is set.
type model struct {
	network *network.Model // with stations
	swap    *swap.Model    // with swaps
	loss    *loss.Model    // without either

	uneven error // why a network that can be simulated has no formulas; nil if it has

	isLINE bool // the file is one of LINE

	shape sizes.Distribution // simulated sizes; nil for exponential ones
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

// needsExponential reports whether the exact numbers hold only for exponential sizes.
func (m model) needsExponential() bool {
	switch {
	case m.network != nil:
		return slices.ContainsFunc(m.network.Stations, func(s network.Station) bool { return s.NeedsExponential() })
	case m.swap != nil:
		return true
	}
	return m.loss.Count > 0 || len(m.loss.Servers) > 0
}

// scale returns the model with all arrival rates multiplied by factor >= 0.
func (m model) scale(factor *big.Rat) model {
	switch {
	case m.network != nil:
		m.network = m.network.Scale(factor)
	case m.swap != nil:
		m.swap = m.swap.Scale(factor)
	default:
		m.loss = m.loss.Scale(factor)
	}
	return m
}

// read reads the model, and the sizes that are simulated.
func (f *networkFlags) read(q command.Query) (m model, err error) {
	if m, err = read(q); err != nil || f.sizes == "" {
		return m, err
	}
	mean := 1.0 // each class scales it
	if m.swap != nil {
		if mean, err = command.MeanOfSizes(m.swap.MeanSize); err != nil {
			return m, command.InFile(q.File, err)
		}
	}
	m.shape, _, err = command.ReadSizes(q, f.sizes, mean)
	return m, err
}

// read reads the file that the question is about. Which model it holds is told by whether it has stations, the format of LINE, or swaps.
func read(q command.Query) (m model, err error) {
	const want = "a network with stations, or a system with losses"
	root, q, err := command.Look(q, want)
	if err != nil {
		return m, err
	}
	if root.Kind != tree.Object {
		return m, command.InFile(q.File, root.Locate(input.Errorf("", root, want)))
	}
	switch {
	case slices.Contains(root.Keys, "stations"):
		m.network, err = command.Read(q, network.Read, network.ReadFile, "solve", "servers", "mean_size")
		if err == nil {
			m.uneven = root.Locate(root.AsWritten(m.network.CheckSizes()))
		}
	case slices.Contains(root.Keys, "format"):
		m.isLINE = true
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
