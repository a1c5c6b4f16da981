package main

import (
	"context"
	"fmt"
	"math/big"
	"strings"

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
		if leave {
			r.HeavyTraffic = nil // jobs that give up or time out change it
		}
		body := append(render.Record{{
			Key:   "verdict",
			Value: map[bool]string{true: "stable", false: "unstable"}[r.Stable],
		}},
			command.Limits(m, r, num.Exact)...)
		classes := render.Section{Kind: "class", Of: "classes", Columns: "-"}
		var rooms []stability.Room
		if byClass && r.Stable {
			classes.Columns = "name arrival_rate arrival_rate_limit critical_scale limit_set"
			rooms, err = command.WithProgress(q, func(ctx context.Context) ([]stability.Room, error) {
				return stability.Rooms(ctx, m)
			})
			if err != nil {
				return a, false, command.InFile(q.File, err)
			}
		}
		body = body.Set("classes", classRows(m, r, rooms, byClass), "")
		note := command.PrioritiesIgnored(m, ": the verdict is that of first come, first served; under policies with "+
			"priorities the limits can be lower")
		if note != "" && r.CriticalScale != nil {
			body = body.Set("note", note, "")
		}
		point := render.Point{Body: body, Sections: []render.Section{{Kind: "cluster", Columns: "-"}, classes}}
		a = render.Points([]render.Point{point}, false, nil,
			func(t *render.Text) {
				if leave && r.CriticalScale == nil {
					t.Line("stable: all jobs leave when they give up or time out")
					return
				}
				command.WriteLimits(t, m, r, num.Exact)
				writeHeavyTraffic(t, m, r)
				if leave {
					t.Line("jobs that give up or time out cannot overload a cluster: these limits are for the others")
				}
				if note != "" {
					t.Line("%s", note)
				}
			})
		return a, r.Stable, nil
	})
	cli.AddSwitch(cmd, &byClass, "by-class", "also report how far the arrival rate of each class alone can grow")
	cli.AddGone(cmd, "exact", "fractions are always given")
	return cmd
}

// classLimits holds the limits of a class.
type classLimits struct {
	Name         string   `json:"name" title:"class"`
	HeavyTraffic *big.Rat `json:"heavy_traffic_jobs"`
}

// classRows returns a row for each class: its mean jobs in heavy traffic and, by class, the limit to
// which its arrival rate alone may grow, null if the cluster is unstable. Below the limit the
// cluster is stable; at the limit the classes of the set offer as much work as their servers can do.
func classRows(m *cluster.Model, r *stability.Result, rooms []stability.Room, byClass bool) []render.Record {
	style := render.Style{Engine: num.Exact}
	limits := make([]classLimits, len(m.Classes))
	for i, c := range m.Classes {
		limits[i].Name = c.Name
		if r.HeavyTraffic != nil {
			limits[i].HeavyTraffic = r.HeavyTraffic[i]
		}
	}
	rows := style.Rows(limits)
	if !byClass {
		return rows
	}
	if rooms == nil {
		rooms = make([]stability.Room, len(m.Classes))
		for i, c := range m.Classes {
			rooms[i].Name, rooms[i].ArrivalRate = c.Name, c.ArrivalRate
		}
	}
	for i, row := range style.Rows(rooms) {
		if room := rooms[i]; room.Limit != nil {
			row.Set("arrival_rate_limit", style.Beside(room.Limit, room.ArrivalRate), "")
			if room.Set != nil {
				row.Set("limit_set", m.NamesOf(room.Set), "")
			}
		}
		rows[i] = append(row, rows[i][1:]...)
	}
	return rows
}

// writeHeavyTraffic writes how the mean jobs of the bottleneck grow, if this is known.
func writeHeavyTraffic(t *render.Text, m *cluster.Model, r *stability.Result) {
	if r.HeavyTraffic == nil || !r.Stable {
		return
	}
	const most = 6
	var parts []string
	for _, i := range r.Bottleneck[:min(most, len(r.Bottleneck))] {
		parts = append(parts, fmt.Sprintf("%s of %s", render.SixRat(r.HeavyTraffic[i]), m.Classes[i].Name))
	}
	if len(r.Bottleneck) > most {
		parts = append(parts, fmt.Sprintf("... (%d classes)", len(r.Bottleneck)))
	}
	t.Line("mean jobs   near the limit about 1/(1 - load) times %s", strings.Join(parts, ", "))
}
