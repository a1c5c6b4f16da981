// This file gives pfq plot the answers of pfq solve.

package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/plot"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/num"
)

// newPlot returns the command plot, with the pictures of hosts that guess job sizes.
func newPlot() *cobra.Command {
	cmd := plot.New(solvedFields, networkAnswers)
	cmd.AddCommand(newTagsPlot(plot.NewPicture))
	return cmd
}

// solvedFields returns the fields of the answer of pfq solve about a cluster that it does not solve
// by balanced fairness, nil if the cluster is unstable.
func solvedFields(q command.Query, m *cluster.Model, t plot.Times) (render.Record, error) {
	f := solveQuestion{percentiles: t.Percentiles, within: t.Within, binding: t.Binding}
	f.settings.Engine, f.settings.RelTol = num.Auto, num.DefaultRelTol
	if m.Service == cluster.Gang {
		f.settings.RelTol = 1e-6 // near the limit bounds are wider than the default, but narrower than a line
	}
	for _, p := range t.Percentiles {
		f.asked.Levels = append(f.asked.Levels, p.Level)
	}
	kind, err := f.kindOf(m)
	if err != nil {
		return nil, err
	}
	s, err := kind.solve(&f, q, m)
	if err != nil || !s.stable {
		return nil, err
	}
	return s.body, nil
}

// networkAnswers returns the fields of answers of pfq network.
func networkAnswers(q command.Query, ask plot.NetworkAsk) (list []render.Record, err error) {
	f := networkQuestion{binding: ask.Binding, factors: ask.Factors, bounds: ask.Bounds}
	f.settings.Engine, f.settings.RelTol = num.Auto, num.DefaultRelTol
	m, err := f.read(q)
	if err != nil {
		return nil, err
	}
	n, hasStations := m.(stations)
	models := []networkModel{m}
	switch {
	case ask.Populations != nil && !hasStations:
		return nil, cli.FlagError{Err: errors.New("--population needs a network with stations")}
	case ask.Factors != nil && !m.isOpen():
		return nil, cli.FlagError{Err: errors.New("--scale needs arrivals: it multiplies their rates")}
	case hasStations && n.uneven != nil:
		return nil, refused(n.uneven)
	case ask.Factors != nil:
		models = nil
		for _, factor := range ask.Factors {
			models = append(models, m.scale(factor))
		}
	case ask.Populations != nil:
		at := populations{class: ask.Class}
		if err := at.find(n.Model); err != nil {
			return nil, err
		}
		models = nil
		for _, size := range ask.Populations {
			models = append(models, n.withPopulation(at.row, int(size.Num().Int64())))
		}
	}
	for k, m := range models {
		a, _, err := f.answerOne(q.Of("point").Part(k, len(models)), m)
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		list = append(list, render.Fields(a.JSON))
	}
	return list, nil
}

// withPopulation returns the network with another population of a closed class.
func (n stations) withPopulation(row, jobs int) stations {
	m := *n.Model
	m.Classes = slices.Clone(m.Classes)
	m.Classes[row].Population = jobs
	n.Model = &m
	return n
}
