// This file gives pfq plot the answers of pfq solve.

package main

import (
	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/plot"
	"productform/internal/render"
	"productform/num"
)

// newPlot returns the command plot, with the pictures of hosts that guess job sizes.
func newPlot() *cobra.Command {
	cmd := plot.New(solvedFields)
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
