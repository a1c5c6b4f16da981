package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"productform/internal/render"
	"productform/live/client"
	"productform/live/wire"
)

// A profileRow is a worker's speed at a kind of task in an answer.
type profileRow struct {
	Kind     string  `json:"kind"`
	Worker   string  `json:"worker"`
	Speed    float64 `json:"speed"`
	Declared float64 `json:"declared"`
	Tasks    int     `json:"tasks"`
	Seconds  float64 `json:"seconds" title:"s a task"`
}

func newProfiles() *cobra.Command {
	var url string
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "profiles", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				profiles, err := c.Profiles(ctx)
				if err != nil {
					return err
				}
				rows := profileRows(profiles)
				return f.write(cmd, render.Answer{
					JSON:  rows,
					Lines: []render.Lines{{Of: rows}},
					Text: func(t *render.Text) {
						t.Table(rows, "kind", "worker", "speed", "declared", "tasks", "seconds")
					},
				})
			})
		},
	})
	addURL(cmd, &url)
	f.add(cmd)
	return cmd
}

// profileRows returns the rows sorted by kind, then by worker.
func profileRows(profiles []wire.ProfileView) []profileRow {
	rows := []profileRow{}
	for _, p := range profiles {
		for _, w := range p.Workers {
			rows = append(rows, profileRow{p.Kind, w.Name, w.Speed, w.Declared, w.Tasks, w.Seconds})
		}
	}
	slices.SortFunc(rows, func(a, b profileRow) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Worker, b.Worker))
	})
	return rows
}
