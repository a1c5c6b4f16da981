package plot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots"
	"productform/sim"
	"productform/stability"
)

// A curves holds the numbers of the picture of a cluster: what theory says at each load, and simulation at some.
type curves struct {
	chart
	flags   *plotFlags
	model   *cluster.Model
	classes []int // rows that are drawn
	results []render.Record
	delays  []*bf.DelayResult // nil without percentiles, and if uneven
	uneven  bool              // whether mean sizes differ, so that percentiles are simulated only
	jobs    *bf.Result        // at the rates of the model; nil without distribution
}

// cluster draws a cluster. The figure is nil where there is nothing to draw, which the standard error says.
func (f *plotFlags) cluster(q command.Query, s source) (*plots.Figure, error) {
	m, err := command.ReadModel(s.query)
	if err != nil {
		return nil, err
	}
	rows, err := f.classes.rows(m)
	if err != nil {
		return nil, err
	}
	if f.classes.worst == 0 { // which ones these are is known later
		err = f.checkPanels(m, rows)
	}
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	c, err := f.curves(q, m, rows)
	if err != nil || c == nil {
		return nil, command.InFile(q.File, err)
	}
	if f.settings.Runs > 0 {
		if c.points, err = f.simulate(q, c.factors, func(k int) (*sim.Plan, error) { return f.plan(q, m.Scale(c.factors[k])) }); err != nil {
			return nil, command.InFile(q.File, err)
		}
	}
	return c.figure(q.File), nil
}

// curves solves the model at all loads. It is nil where none of them is stable, which the standard error says.
func (f *plotFlags) curves(q command.Query, m *cluster.Model, rows []int) (*curves, error) {
	verdict, err := command.WithProgress(q, func(ctx context.Context) (*stability.Result, error) { return stability.Cluster(ctx, m) })
	if err != nil {
		return nil, err
	}
	if verdict.CriticalScale == nil {
		return nil, input.Errorf("classes", "no arrivals", "a class with an arrival_rate > 0")
	}
	if err := checkCritical(verdict.CriticalScale); err != nil {
		return nil, err
	}
	c := &curves{chart: f.chart(verdict.CriticalScale, fortieths), flags: f, model: m, classes: rows}
	_, err = m.OneMeanSize()
	if c.uneven = err != nil; c.uneven && len(f.percentiles) > 0 && f.settings.Runs == 0 {
		return nil, percentilesByRuns(err)
	}
	bound := verdict.CriticalScale.RatString()
	switch asked := len(f.factors); {
	case len(c.factors) == 0:
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: the cluster is unstable with its arrival rates multiplied by %s or more\n", bound)
		return nil, nil
	case f.jobs.MaxJobs > 0 && !verdict.Stable:
		fmt.Fprintf(q.Stderr, "pfq: there is no distribution to draw: the cluster is unstable with its arrival rates multiplied by %s or more\n", bound)
		return nil, nil
	case asked > len(c.factors):
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d loads are not drawn: the cluster is unstable with its arrival rates multiplied by %s or more\n",
			asked-len(c.factors), asked, bound)
	}
	return command.WithProgress(q, func(ctx context.Context) (*curves, error) { return c, c.solve(ctx) })
}

// percentilesByRuns adds to the error that classes have several mean sizes what draws their percentiles.
func percentilesByRuns(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	told := *bad
	told.Want += "; with --runs percentiles are simulated, under balanced fairness with exponential sizes"
	return &told
}

// fortieths are the parts of the critical factor at which clusters are drawn, and other things as far as numbers are known.
const fortieths = 40

// chart returns what is drawn against load: at the factors asked for below the critical one, or at its n-ths.
func (f *plotFlags) chart(critical *big.Rat, n int64) chart {
	c := chart{x: plots.Axis{Quantity: "load", Unit: "times the arrival rates"}, asked: f.factors, critical: critical, beyond: "unstable", table: f.table,
		factors: f.loads(critical, n)}
	if !f.table {
		c.x.Unit += "; stable below " + plots.Short(float(critical))
	}
	return c
}

// checkCritical returns an error if the critical factor is beyond the range of float64, in which loads are drawn.
func checkCritical(critical *big.Rat) error {
	if v := float(critical); v == 0 || math.IsInf(v, 0) {
		return input.Errorf("model", "a critical load beyond 1e±308",
			"a load within the range of float64: count time, or work, in other units")
	}
	return nil
}

// loads returns the factors below the critical one that are drawn.
func (f *plotFlags) loads(critical *big.Rat, n int64) (factors []*big.Rat) {
	if f.factors == nil {
		for k := int64(1); k < n; k++ {
			factors = append(factors, new(big.Rat).Mul(critical, big.NewRat(k, n)))
		}
		return factors
	}
	for _, factor := range f.factors {
		if factor.Cmp(critical) < 0 {
			factors = append(factors, factor)
		}
	}
	return factors
}

// solve asks theory.
func (c *curves) solve(ctx context.Context) (err error) {
	results, err := bf.LoadSweep(ctx, c.model, c.factors, bf.Settings{})
	if err != nil {
		return c.flags.withoutFactor(err)
	}
	c.results = render.Rows(results)
	c.choose()
	if err := c.flags.checkPanels(c.model, c.classes); err != nil {
		return err
	}
	if c.flags.jobs.MaxJobs > 0 {
		if c.jobs, err = bf.Solve(ctx, c.model, c.flags.jobs); err != nil {
			return err
		}
	}
	if len(c.flags.percentiles) == 0 || c.uneven {
		return nil
	}
	var question bf.DelayQuestion
	for _, p := range c.flags.percentiles {
		question.Levels = append(question.Levels, p.Level)
	}
	for _, factor := range c.factors {
		r, err := bf.Delays(ctx, c.model.Scale(factor), question, bf.Settings{})
		if err != nil {
			return c.flags.binding.Translate(err, "or pfq simulate --percentiles, which estimates them")
		}
		c.delays = append(c.delays, r)
	}
	return nil
}

// figure returns what is drawn.
func (c *curves) figure(file string) *plots.Figure {
	f := &plots.Figure{Title: "measures against load", Caption: c.caption(file), Confidence: c.flags.settings.Confidence}
	for _, q := range c.quantities() {
		f.Panels = append(f.Panels, c.panels(q)...)
	}
	if c.jobs != nil {
		f.Panels = append(f.Panels, c.distribution())
	}
	return f
}

// quantities returns what is drawn against the load, in order.
func (c *curves) quantities() (all []quantity) {
	var classes, servers []string
	for _, k := range c.model.Classes {
		classes = append(classes, k.Name)
	}
	for _, s := range c.model.Servers {
		servers = append(servers, s.Name)
	}
	for _, word := range c.flags.show {
		q, field := quantityOf(word)
		list := "classes"
		q.rows, q.drawn = classes, c.classes
		if word == utilization {
			list = "servers"
			q.rows, q.drawn = servers, c.flags.classes.serversOf(c.model, c.classes)
		}
		q.theory = func(k, row int) *float64 { return c.number(k, list, row, field) }
		all = append(all, q)
	}
	for n, p := range c.flags.percentiles {
		all = append(all, c.percentile(n, p, classes))
	}
	return all
}

// number returns a number in a row of a result, nil if it does not exist.
func (c *curves) number(k int, list string, row int, field string) *float64 {
	return known(c.results[k].Get(list).([]render.Record)[row].Get(field))
}

// percentile returns percentile n of the delay as a quantity.
func (c *curves) percentile(n int, p command.Percentile, classes []string) quantity {
	return quantity{name: p.Name + " of the delay", unit: "units of time", rows: classes, drawn: c.classes, grows: true, apart: c.uneven,
		theory: func(k, i int) *float64 {
			if c.uneven {
				return nil
			}
			if q := c.delays[k].Classes[i].Quantiles; q != nil {
				return &q[n].Float
			}
			return nil
		},
		simulated: func(p point, i int) *estimate {
			if q := p.result.Quantile(sim.OfClass, i, c.flags.settings.Levels[n]); q != nil {
				return &estimate{q.Value, q.Low, q.High}
			}
			return nil
		}}
}

// distribution returns the panel of the number of jobs.
func (c *curves) distribution() plots.Panel {
	s := plots.Series{Label: "all jobs", Marked: len(c.jobs.JobsDistribution) <= 40}
	for n, p := range c.jobs.JobsDistribution {
		s.X, s.Y = append(s.X, float64(n)), append(s.Y, p.Float)
	}
	return plots.Panel{Title: "number of jobs at load 1", X: plots.Axis{Quantity: "jobs present", Max: float64(len(s.X) - 1)}, Y: plots.Axis{Quantity: "probability"},
		Series: []plots.Series{s}}
}

// caption describes the picture.
func (c *curves) caption(file string) string {
	text := fmt.Sprintf("%s, against its load, a factor of all arrival rates. It is stable below load %s. "+
		"Means are exact under balanced fairness", inFile(file, "cluster"), plots.Short(float(c.critical)))
	if !c.uneven {
		text += ", and in order of arrival with exponential sizes"
	}
	switch {
	case len(c.flags.percentiles) == 0:
	case c.uneven:
		text += "; percentiles are simulated, with exponential sizes"
	default:
		text += "; percentiles are exact in order of arrival"
	}
	return text + "." + c.flags.classes.caption(len(c.classes), len(c.model.Classes), c.factors[len(c.factors)-1]) + c.flags.simulationCaption(c.points)
}

// tooMany refuses what takes more panels than a picture has room for.
func tooMany(field, value string, count int, instead ...string) error {
	if count <= plots.MostPanels {
		return nil
	}
	want := fmt.Sprintf("less to draw: at most %d panels of %d curves, not %d", plots.MostPanels, plots.MostCurves, count)
	if len(instead) > 0 {
		want += "; with " + strings.Join(instead, " and ") + " there is less"
	}
	return &input.Error{Path: field, Value: value, Want: want}
}
