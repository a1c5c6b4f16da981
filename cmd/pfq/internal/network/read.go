package network

import (
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/network"
	"productform/network/line"
	"productform/network/loss"
)

// A model is what a file holds: one of them is set.
type model struct {
	network *network.Model // with stations
	loss    *loss.Model    // without
}

// read reads the file that the question is about. Which model it holds is told by whether it has stations, or the format of LINE.
func read(q command.Query) (m model, err error) {
	root, q, err := command.Look(q, "a network with stations, or a system with losses")
	if err != nil {
		return m, err
	}
	switch {
	case slices.Contains(root.Keys, "stations"):
		m.network, err = command.Read(q, network.Read, network.ReadFile, "solve", "servers", "mean_size")
	case slices.Contains(root.Keys, "format"):
		m.network, err = command.Read(q, line.Read, line.ReadFile, "solve")
	default:
		m.loss, err = command.Read(q, loss.Read, loss.ReadFile, "solve", "mean_size")
	}
	return m, err
}
