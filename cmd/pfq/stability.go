package main

import (
	"context"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

func newStability() *cobra.Command {
	var byClass bool
	cmd := command.New("stability MODEL", func(q command.Query) (a render.Answer, stable bool, err error) {
		m, err := command.ReadModel(q)
		switch {
		case err != nil:
			return a, false, err
		case m.Service == cluster.Gang && byClass:
			return a, false, cli.FlagError{Err: input.Errorf("--by-class", true, "a model with another service; "+
				"limit_derivatives name the class that costs most")}
		case m.Service == cluster.Gang:
			return answerGangStability(q, m)
		}
		leave := m.RequireNoTimeouts() != nil || m.RequireEndlessPatience("") != nil
		if leave && byClass {
			return a, false, cli.FlagError{Err: input.Errorf("--by-class", true,
				"a model without mean_patience and mean_timeout, whose classes have no limit")}
		}
		m = m.WithoutTimed().WithoutImpatient()
		r, err := command.WithProgress(q, func(ctx context.Context) (*stability.Result, error) {
			r, err := stability.Cluster(ctx, m)
			if err != nil {
				return nil, err
			}
			return r, stability.Verify(ctx, m, r)
		})
		if err != nil {
			return a, false, command.InFile(q.File, err)
		}
		body := append(render.Record{{
			Key:   "verdict",
			Value: map[bool]string{true: "stable", false: "unstable"}[r.Stable],
		}},
			command.Limits(m, r, num.Exact)...)
		whole := render.Section{Columns: "-"}
		if byClass {
			whole.Kind = "cluster"
		}
		if byClass && r.Stable {
			rooms, err := command.WithProgress(q, func(ctx context.Context) ([]stability.Room, error) {
				return stability.Rooms(ctx, m)
			})
			if err != nil {
				return a, false, command.InFile(q.File, err)
			}
			body = body.Set("classes", roomRows(m, rooms), "")
		}
		point := render.Point{Body: body, Sections: []render.Section{whole, {Kind: "class", Of: "classes"}}}
		a = render.Points([]render.Point{point}, false, nil,
			func(t *render.Text) {
				if leave && r.CriticalScale == nil {
					t.Line("stable: all jobs leave when they give up or time out")
					return
				}
				command.WriteLimits(t, m, r, num.Exact)
				if leave {
					t.Line("jobs that give up or time out cannot overload a cluster: these limits are for the others")
				}
			})
		if byClass && !r.Stable {
			a.JSON = body.Set("classes", nil, "") // not a column of CSV
		}
		return a, r.Stable, nil
	})
	cli.AddSwitch(cmd, &byClass, "by-class", "also report how far the arrival rate of each class alone can grow")
	cli.AddGone(cmd, "exact", "fractions are always given")
	return cmd
}

// roomRows returns the limit to which the rate of each class alone may grow. Below the limit the
// cluster is stable; at the limit the classes of the set offer as much work as their servers can
// do.
func roomRows(m *cluster.Model, rooms []stability.Room) []render.Record {
	style := render.Style{Engine: num.Exact}
	rows := style.Rows(rooms)
	for i, room := range rooms {
		rows[i].Set("arrival_rate_limit", style.Beside(room.Limit, room.ArrivalRate), "")
		if room.Set != nil {
			rows[i].Set("limit_set", m.NamesOf(room.Set), "")
		}
	}
	return rows
}
