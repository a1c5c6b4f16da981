package main

import (
	"context"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/stability"
)

func newStability() *cobra.Command {
	cmd := command.New("stability MODEL", func(q command.Query) (render.Answer, bool, error) {
		m, err := command.ReadModel(q)
		if err != nil {
			return render.Answer{}, false, err
		}
		r, err := command.WithProgress(q, func(ctx context.Context) (*stability.Result, error) {
			r, err := stability.Cluster(ctx, m)
			if err != nil {
				return nil, err
			}
			return r, stability.Verify(ctx, m, r)
		})
		if err != nil {
			return render.Answer{}, false, command.InFile(q.File, err)
		}
		v := verdict{Verdict: map[bool]string{true: "stable", false: "unstable"}[r.Stable], Stable: r.Stable, Limits: command.NewLimits(m, r, render.Fraction)}
		return render.Answer{JSON: v, Lines: []render.Lines{{Of: v}}, Text: v.Write}, r.Stable, nil
	})
	cli.AddGone(cmd, "exact", "fractions are always given")
	return cmd
}

// A verdict is the answer of stability.
type verdict struct {
	Verdict string `json:"verdict"`
	Stable  bool   `json:"stable"`
	command.Limits
}
