package plot

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots"
)

// A NetworkAsk selects answers of pfq network: one for each factor of the arrival rates, or for
// each population of a closed class. Without either there is one answer, for the model as it is.
type NetworkAsk struct {
	Factors     []*big.Rat
	Class       string // whose population changes; "" for the only closed class
	Populations []*big.Rat
	Bounds      bool         // proved bounds on throughputs and delays in place of a solution
	Binding     *cli.Binding // names the flags in errors
}

// A NetworkSolver returns the fields of answers of pfq network.
type NetworkSolver func(command.Query, NetworkAsk) ([]render.Record, error)

// networkCurves holds the numbers of the picture of a network, or of a system with losses.
type networkCurves struct {
	chart
	flags   *question
	answers []render.Record
	bounds  []render.Record // of closed networks; nil for others
}

// network draws a network. If there is nothing to draw, the figure is nil, and the standard error
// gives the reason.
func (f *question) network(q command.Query, s source) (*plots.Figure, error) {
	solve := func(ask NetworkAsk) ([]render.Record, error) {
		if in, ok := s.query.Stdin.(io.Seeker); ok && s.query.File == "-" {
			if _, err := in.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
		}
		ask.Binding = f.binding
		return f.networks(s.query, ask)
	}
	one, err := solve(NetworkAsk{})
	if err != nil {
		return nil, err
	}
	c := &networkCurves{flags: f, chart: chart{beyond: "unstable", table: f.table}}
	ask := NetworkAsk{Factors: f.scaling.Factors, Class: f.population.group, Populations: f.population.sizes}
	if chains := listOf(one[0], "chains"); ask.Factors == nil && ask.Populations == nil && len(chains) == 1 {
		if jobs, ok := chains[0].Get("population").(int); ok {
			ask.Populations = steps(2 * int64(jobs))
		}
	}
	c.x = plots.Axis{Quantity: "number of jobs"}
	if ask.Class != "" {
		c.x.Quantity += " of " + ask.Class
	}
	if ask.Populations == nil && ask.Factors == nil && isClosed(one[0]) {
		return nil, cli.FlagError{Err: &input.Error{Path: "--population",
			Want: "CLASS=FROM:TO, the class whose number of jobs changes, since several classes are closed"}}
	}
	if ask.Populations == nil {
		c.x = plots.Axis{Quantity: "load", Unit: "times the arrival rates"}
		if ask.Factors == nil {
			ask.Factors = factorsOf(one[0])
		}
	}
	if c.answers, err = solve(ask); err != nil {
		return nil, err
	}
	if ask.Populations != nil {
		ask.Bounds = true
		if c.bounds, err = solve(ask); err != nil {
			return nil, err
		}
	}
	c.asked = slices.Concat(ask.Factors, ask.Populations)
	c.keepStable(q)
	return c.figure(q.File)
}

// isClosed reports whether no jobs arrive at the network of an answer.
func isClosed(answer render.Record) bool {
	chains := listOf(answer, "chains")
	return len(chains) > 0 &&
		!slices.ContainsFunc(chains, func(row render.Record) bool { return row.Get("population") == nil })
}

// steps returns at most forty evenly spaced integers from 1 to most.
func steps(most int64) (list []*big.Rat) {
	count := min(most, fortieths)
	for k := int64(1); k <= count; k++ {
		list = append(list, big.NewRat(k*most/count, 1))
	}
	return list
}

// factorsOf returns the loads of a picture: up to the critical one, or to twice the arrival rates.
func factorsOf(answer render.Record) (list []*big.Rat) {
	last := big.NewRat(2, 1)
	if critical := known(answer.Get("critical_scale")); critical != nil {
		last.SetFloat64(*critical)
	}
	for k := int64(1); k < fortieths; k++ {
		list = append(list, new(big.Rat).Mul(last, big.NewRat(k, fortieths)))
	}
	return list
}

// keepStable drops the points at which the network is unstable, and marks them.
func (c *networkCurves) keepStable(q command.Query) {
	var stable []render.Record
	for k, a := range c.answers {
		if a.Get("stable") == true {
			stable, c.factors = append(stable, a), append(c.factors, c.asked[k])
		}
	}
	if omitted := len(c.asked) - len(stable); omitted > 0 {
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d points are not drawn: the network is unstable there\n", omitted,
			len(c.asked))
	}
	c.answers = stable
	c.markUnstable(c.factors)
}

// listOf returns a list of an answer, nil if it does not exist.
func listOf(answer render.Record, list string) (rows []render.Record) {
	rows, _ = answer.Get(list).([]render.Record)
	return rows
}

// A networkQuantity is a field of the rows of a list that has a panel.
type networkQuantity struct {
	word, list, field string
	name              string // "" for that of the field
	unit              string
	grows, part       bool
}

// networkQuantities returns what can be drawn of networks and of systems with losses, in order.
func networkQuantities() []networkQuantity {
	const perTime, time = "jobs per unit of time", "units of time"
	return []networkQuantity{
		{word: throughput, list: "chains", field: "throughput", unit: perTime},
		{word: response, list: "chains", field: "mean_response_time", unit: time, grows: true},
		{word: delay, list: "chains", field: "mean_delay", unit: time, grows: true},
		{word: blocking, list: "classes", field: "blocking", name: "blocking probability", part: true},
		{word: throughput, list: "classes", field: "throughput", unit: perTime},
		{word: delay, list: "classes", field: "mean_delay", unit: time},
		{word: waiting, list: "classes", field: "mean_waiting", unit: time},
		{word: utilization, list: "stations", field: "utilization", part: true},
		{word: utilization, list: "servers", field: "utilization", part: true},
		{word: jobs, list: "stations", field: "mean_jobs", grows: true},
	}
}

// figure returns the figure, or an error if the answers have none of the quantities.
func (c *networkCurves) figure(file string) (*plots.Figure, error) {
	if len(c.answers) == 0 {
		return nil, nil
	}
	f := &plots.Figure{Title: "measures against " + c.x.Quantity, Caption: c.caption(file)}
	for _, n := range networkQuantities() {
		if slices.Contains(c.flags.show, n.word) {
			f.Panels = append(f.Panels, c.networkPanels(n)...)
		}
	}
	count := len(f.Panels)
	if count == 0 {
		return nil, cli.FlagError{Err: fmt.Errorf("--show %s: the answer about %s has none of these",
			strings.Join(c.flags.show, ","), cli.Source(file))}
	}
	return f, checkPanels("stations", fmt.Sprint(len(listOf(c.answers[0], "stations"))), count, "--show "+throughput)
}

// networkPanels returns the panels of a quantity, none if no answer has it.
func (c *networkCurves) networkPanels(n networkQuantity) []plots.Panel {
	q := quantity{
		name: cmp.Or(n.name, strings.ReplaceAll(n.field, "_", " ")), unit: n.unit, grows: n.grows, part: n.part,
		theory:    func(k, row int) *float64 { return known(listOf(c.answers[k], n.list)[row].Get(n.field)) },
		simulated: func(point, int) *estimate { return nil },
	}
	for _, row := range listOf(c.answers[0], n.list) {
		q.rows = append(q.rows, rowName(row))
	}
	panels := c.panels(q)
	if len(panels) == 1 && len(panels[0].Series) == 1 {
		panels[0].Series = append(panels[0].Series, c.bound(n)...)
	}
	return panels
}

// rowName returns the name of a row: of a chain, its classes.
func rowName(row render.Record) string {
	if name, ok := row.Get("name").(string); ok {
		return name
	}
	var names []string
	classes, _ := row.Get("classes").([]any)
	for _, c := range classes {
		names = append(names, fmt.Sprint(c))
	}
	return strings.Join(names, ", ")
}

// bound returns the bounds on the only chain of a closed network.
func (c *networkCurves) bound(n networkQuantity) []plots.Series {
	low := plots.Series{Label: "lower bound", Look: estimateLook, Thin: true}
	high := plots.Series{Label: "upper bound", Look: estimateLook, Thin: true}
	for k, a := range c.bounds {
		rows := listOf(a, "bounds")
		if n.list != "chains" || len(rows) != 1 {
			return nil
		}
		v, ok := rows[0].Get(n.field).(render.Record)
		if !ok {
			return nil
		}
		for end, s := range map[string]*plots.Series{"low": &low, "high": &high} {
			if y := known(v.Get(end)); y != nil {
				s.X, s.Y = append(s.X, float(c.asked[k])), append(s.Y, *y)
			}
		}
	}
	if low.X == nil {
		return nil
	}
	return []plots.Series{low, high}
}

// caption describes the picture.
func (c *networkCurves) caption(file string) string {
	text := fmt.Sprintf("%s, against the %s. Means are exact", inFile(file, "network"), c.x.Quantity)
	if c.bounds != nil && len(listOf(c.bounds[0], "bounds")) == 1 {
		text += "; bounds are proved, and need no solution"
	}
	return text + "."
}
