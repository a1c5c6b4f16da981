package main

import (
	"context"
	"math/big"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/stability"
)

func newStability() *cobra.Command {
	var byClass bool
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
		if !byClass {
			return render.Answer{JSON: v, Lines: []render.Lines{{Of: v}}, Text: v.Write}, r.Stable, nil
		}
		all := verdictByClass{verdict: v}
		if r.Stable {
			rooms, err := command.WithProgress(q, func(ctx context.Context) ([]stability.Room, error) { return stability.Rooms(ctx, m) })
			if err != nil {
				return render.Answer{}, false, command.InFile(q.File, err)
			}
			all.Classes = growths(m, rooms)
		}
		return render.Answer{JSON: all, Lines: []render.Lines{{Kind: "cluster", Of: v}, {Kind: "class", Of: all.Classes}}, Text: all.text}, r.Stable, nil
	})
	cli.AddSwitch(cmd, &byClass, "by-class", "also say how far the arrival rate of each class alone may grow")
	cli.AddGone(cmd, "exact", "fractions are always given")
	return cmd
}

// A verdict is the answer of stability.
type verdict struct {
	Verdict string `json:"verdict"`
	Stable  bool   `json:"stable"`
	command.Limits
}

// A verdictByClass also says how far each class alone may grow; null where the cluster is unstable.
type verdictByClass struct {
	verdict
	Classes []growth `json:"classes" zero:"null"`
}

// A growth is how far a class alone may grow: with a rate below the limit the cluster is stable, at the limit the classes of the set
// bring as much work as their servers can do.
type growth struct {
	Name        string        `json:"name" title:"class"`
	ArrivalRate render.Number `json:"arrival_rate"`
	Limit       render.Number `json:"arrival_rate_limit" title:"stable below"`
	Scale       render.Number `json:"critical_scale" title:"times"` // null without arrivals
	Set         []string      `json:"limit_set" title:"full then"`  // null if it has more than stability.MostInSet classes
}

func growths(m *cluster.Model, rooms []stability.Room) []growth {
	list := make([]growth, len(rooms))
	for i, room := range rooms {
		rate := m.Classes[i].ArrivalRate
		limit := new(big.Rat).Quo(room.Work, m.MeanSizeOf(i))
		limit.Add(limit, rate)
		var scale *big.Rat
		if rate.Sign() > 0 {
			scale = new(big.Rat).Quo(limit, rate)
		}
		list[i] = growth{m.Classes[i].Name, render.Rat(rate, render.Fraction), render.RatBeside(limit, rate, render.Fraction), render.RatBeside(scale, big.NewRat(1, 1), render.Fraction), nil}
		if room.Set != nil {
			list[i].Set = m.NamesOf(room.Set)
		}
	}
	return list
}

func (v verdictByClass) text(t *render.Text) {
	v.Write(t)
	if v.Classes != nil {
		t.Line("")
		t.Table(v.Classes, "name", "arrival_rate", "arrival_rate_limit", "critical_scale", "limit_set")
	}
}
