package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/internal/tree"
	"productform/network"
	"productform/num"
)

// A populations says which class is to have which populations.
type populations struct {
	class string // "" for the only one that is closed
	list  []*big.Rat
}

const mostPopulations = 10_000

// parsePopulations reads [CLASS=]LIST.
func parsePopulations(text string) (p populations, ok bool) {
	list := text
	if at := strings.LastIndex(text, "="); at >= 0 {
		p.class, list = text[:at], text[at+1:]
	}
	for word := range strings.SplitSeq(list, ",") {
		values, ok := command.ParseFactors(word)
		if !ok {
			return p, false
		}
		p.list = append(p.list, values...)
	}
	return p, len(p.list) <= mostPopulations && !slices.ContainsFunc(p.list, func(v *big.Rat) bool { return !v.IsInt() })
}

// find returns the row of the class.
func (p populations) find(m *network.Model) (int, error) {
	var closed []int
	var names []string
	for c := range m.Classes {
		if m.Classes[c].Population > 0 {
			closed, names = append(closed, c), append(names, m.Classes[c].Name)
		}
		if m.Classes[c].Name == p.class {
			return c, nil
		}
	}
	switch {
	case p.class != "":
		return 0, cli.FlagError{Err: input.Errorf("--population", p.class, "the name of a class%s", tree.DidYouMean(p.class, slices.Values(names), input.Quote))}
	case len(closed) == 1:
		return closed[0], nil
	case len(closed) == 0:
		return 0, cli.FlagError{Err: errors.New("--population needs a class with a population")}
	}
	return 0, cli.FlagError{Err: input.Errorf("--population", "", "CLASS= before the list, one of %s", strings.Join(names, ", "))}
}

// sweep solves a network for all populations.
func (f *networkFlags) sweep(q command.Query, m *network.Model) (a render.Answer, found bool, err error) {
	class, err := f.populations.find(m)
	if err != nil {
		return a, false, err
	}
	limits, err := network.CheckStability(q.Ctx, m)
	if err != nil {
		return a, false, f.translate(err)
	}
	if !limits.Stable {
		return f.unstable(m, limits), false, nil
	}
	results, err := command.WithProgress(q, func(ctx context.Context) ([]*network.Result, error) {
		return network.Sweep(ctx, m, network.Change{Parameter: network.Population, Class: class, Values: f.populations.list}, f.settings)
	})
	var bad *input.Error
	if errors.As(err, &bad) && bad.Path == input.Index("classes", class)+".population" {
		return a, false, cli.FlagError{Err: &input.Error{Path: "--population", Value: cmp.Or(bad.Value, "0"),
			Want: bad.Want}}
	}
	if err != nil {
		return a, false, f.translate(err)
	}
	worst, digits, name := results[0], command.Digits(f.settings.RelTol), m.Classes[class].Name
	var points []render.Point
	for i, r := range results {
		if r.RelativeErrorBound > worst.RelativeErrorBound {
			worst = r
		}
		head := render.Record{{Key: "varied_class", Value: name},
			{Key: "varied_population", Value: int(f.populations.list[i].Num().Int64()), Title: "jobs of " + name}}
		body := stable(bodyOf(m, r, limits, digits), noteResting(m, r))
		points = append(points, render.Point{Head: head, Body: body, Sections: sweepSections})
	}
	first := append([]string{"varied_class", "varied_population"}, columns...)
	return render.Points(points, true, first, func(t *render.Text) {
		t.Digits = digits
		t.Line("%s", trust(worst.Engine, worst.RelativeErrorBound))
		t.Line("%d populations of %s; %s", len(points), name, worst.Method)
	}), true, nil
}

// sweepSections are the [sections] of a sweep, which has tables of chains and of stations.
var sweepSections = []render.Section{
	{Kind: "network", Columns: "-"},
	{Kind: "chain", Of: "chains", Columns: chainColumns},
	{Kind: "station", Of: "stations", Columns: "name mean_jobs utilization empty_probability"},
	{Kind: "visit", Of: "visits", Columns: "-"},
	{Kind: "node", Of: "nodes", Columns: "-"},
	{Kind: "distribution", Of: "stations.jobs_distribution", Columns: "-"},
}

// bound gives bounds of a network.
func (f *networkFlags) bound(q command.Query, m *network.Model) (a render.Answer, found bool, err error) {
	limits, err := network.CheckStability(q.Ctx, m)
	if err != nil {
		return a, false, f.translate(err)
	}
	if !limits.Stable {
		return f.unstable(m, limits), false, nil
	}
	chains, err := network.Bounds(q.Ctx, m)
	if err != nil {
		return a, false, f.translate(err)
	}
	style := render.Style{Engine: num.Exact}
	rows, past := style.Rows(chains), "" // what to say of a throughput that may exceed its limit
	for k, c := range limits.Chains {
		var limit, station any
		if c.Throughput != nil {
			limit, station = style.Given(c.Throughput), m.Stations[c.Station].Name
			if chains[k].Throughput.High.Cmp(c.Throughput) > 0 {
				past = "a throughput limit is for a growing population; a smaller one may exceed it, since rates " +
					"fall with more jobs"
			}
		}
		rows[k] = rows[k].Set("throughput_limit", limit, "throughput_of_one")
		rows[k] = rows[k].Set("limit_station", station, "throughput_of_one")
	}
	about := "proved bounds, computed exactly, shown to six digits"
	if len(rows) == 0 {
		about = "no chain is closed, and bounds are for closed chains: without --bounds the network is solved"
	}
	p := render.Point{Body: stable(render.Record{{Key: "bounds", Value: rows}}, ""), Sections: []render.Section{
		{Kind: "network", Columns: "-"},
		{Kind: "chain", Of: "bounds", Rows: spans, After: past,
			Columns: "classes population throughput mean_delay throughput_limit limit_station"},
	}}
	return render.Points([]render.Point{p}, false, nil, func(t *render.Text) {
		t.Line("stable; %s", about)
	}), true, nil
}

// spans returns bounds as text shows them: to six digits, without fractions.
func spans(rows []render.Record) (all []render.Record) {
	six := func(v any) any {
		n, ok := v.(render.Number)
		if !ok {
			return nil
		}
		return render.Six(n.Float)
	}
	for _, r := range rows {
		r = slices.Clone(r)
		for _, key := range []string{"throughput", "mean_delay"} {
			of := r.Get(key).(render.Record)
			r.Set(key, fmt.Sprintf("%s to %s", six(of.Get("low")), six(of.Get("high"))), "")
		}
		all = append(all, r.Set("throughput_limit", six(r.Get("throughput_limit")), ""))
	}
	return all
}
