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
	"productform/internal/input"
	"productform/internal/render"
	"productform/internal/tree"
	"productform/network"
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
		return 0, command.FlagError{Err: input.Errorf("--population", p.class, "the name of a class%s", tree.DidYouMean(p.class, slices.Values(names), input.Quote))}
	case len(closed) == 1:
		return closed[0], nil
	case len(closed) == 0:
		return 0, command.FlagError{Err: errors.New("--population needs a class with a population")}
	}
	return 0, command.FlagError{Err: input.Errorf("--population", "", "CLASS= before the list, one of %s", strings.Join(names, ", "))}
}

// A populated says of which population of the class an answer is.
type populated struct {
	Class      string `json:"varied_class"`
	Population int    `json:"varied_population"`
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
		return network.Sweep(ctx, m, network.Change{Parameter: network.Population, Class: class, Values: f.populations.list}, f.settings())
	})
	var bad *input.Error
	if errors.As(err, &bad) && bad.Path == input.Index("classes", class)+".population" {
		return a, false, command.FlagError{Err: &input.Error{Path: "--population", Value: cmp.Or(bad.Value, "0"),
			Want: bad.Want}}
	}
	if err != nil {
		return a, false, f.translate(err)
	}
	var objects []any
	var points []*stationSolution
	for i, r := range results {
		s := newSolution(m, r, limits, nil, command.Digits(f.tol))
		head := render.Fields(populated{m.Classes[class].Name, int(f.populations.list[i].Num().Int64())})
		points = append(points, s)
		objects = append(objects, slices.Concat(head, render.Fields(s)))
		for _, l := range s.lines() {
			a.Lines = append(a.Lines, render.Lines{Kind: l.Kind, Head: head, Of: l.Of})
		}
	}
	a.JSON, a.Columns = objects, append([]string{"varied_class", "varied_population"}, columns...)
	a.Text = func(t *render.Text) { f.sweepText(t, m.Classes[class].Name, points) }
	return a, true, nil
}

// sweepText writes one table for chains and one for stations, with a line for each population.
func (f *networkFlags) sweepText(t *render.Text, class string, points []*stationSolution) {
	worst := points[0]
	var chains, stations []render.Record
	for i, s := range points {
		if *s.RelativeErrorBound > *worst.RelativeErrorBound {
			worst = s
		}
		of := render.Record{{Key: "of", Value: f.populations.list[i].RatString(), Title: "jobs of " + class}}
		for _, c := range s.Chains {
			chains = append(chains, slices.Concat(of, render.Fields(c)))
		}
		for _, c := range s.Stations {
			stations = append(stations, slices.Concat(of, render.Fields(c)))
		}
	}
	t.Digits = worst.digits
	heading(t, *worst.Engine, *worst.RelativeErrorBound)
	t.Line("%d populations of %s; %s", len(points), class, *worst.Method)
	t.Line("")
	t.Table(chains, append([]string{"of"}, chainColumns(worst.Chains)...)...)
	t.Table(stations, "of", "name", "mean_jobs", "utilization", "empty_probability")
}

// A chainBounds is what is proved of a closed chain without solving the network.
type chainBounds struct {
	Classes       []string      `json:"classes" title:"chain"`
	Population    int           `json:"population"`
	Throughput    between       `json:"throughput"`
	MeanDelay     between       `json:"mean_delay"`
	Limit         render.Number `json:"throughput_limit"`
	LimitStation  *string       `json:"limit_station"`
	ThroughputOne render.Number `json:"throughput_of_one"`
}

// A between is a number of which bounds are known.
type between struct {
	Low  render.Number `json:"low"`
	High render.Number `json:"high"`
}

// A bounded is the answer of bounds.
type bounded struct {
	Stable bool          `json:"stable"`
	Bounds []chainBounds `json:"bounds"`

	passesLimit bool // some throughput may exceed its limit, since rates fall with more jobs
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
	b := bounded{Stable: true, Bounds: []chainBounds{}}
	for k, c := range chains {
		row := chainBounds{Classes: classNames(m, c.Classes), Population: c.Population,
			Throughput: between{render.Rat(c.Throughput[0], render.Fraction), render.Rat(c.Throughput[1], render.Fraction)},
			MeanDelay:  between{render.Rat(c.MeanDelay[0], render.Fraction), render.Rat(c.MeanDelay[1], render.Fraction)}}
		if limit := limits.Chains[k]; limit.Throughput != nil {
			b.passesLimit = b.passesLimit || c.Throughput[1].Cmp(limit.Throughput) > 0
			row.Limit, row.LimitStation = render.Rat(limit.Throughput, render.Fraction), &m.Stations[limit.Station].Name
		}
		row.ThroughputOne = render.Rat(c.EmptyThroughput, render.Fraction)
		b.Bounds = append(b.Bounds, row)
	}
	return render.Answer{JSON: b, Lines: []render.Lines{{Kind: "network", Of: b}, {Kind: "chain", Of: b.Bounds}}, Text: b.text}, true, nil
}

func (b bounded) text(t *render.Text) {
	if len(b.Bounds) == 0 {
		t.Line("stable; no chain is closed, and bounds are for closed chains: without --bounds the network is solved")
		return
	}
	t.Line("stable; proved bounds, computed exactly, shown to six digits")
	t.Line("")
	lines := [][]string{{"chain", "population", "throughput", "mean delay", "throughput limit", "limit station"}}
	for _, c := range b.Bounds {
		limit, station := "-", "-"
		if c.LimitStation != nil {
			limit, station = render.Six(c.Limit.Float), *c.LimitStation
		}
		lines = append(lines, []string{strings.Join(c.Classes, ", "), fmt.Sprint(c.Population), span(c.Throughput), span(c.MeanDelay), limit, station})
	}
	t.Columns(lines)
	if b.passesLimit {
		t.Blank()
		t.Line("a throughput limit is for a growing population; a smaller one may exceed it, since rates fall with " +
			"more jobs")
	}
}

func span(b between) string { return render.Six(b.Low.Float) + " to " + render.Six(b.High.Float) }
