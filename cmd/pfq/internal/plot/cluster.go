package plot

import (
	"context"
	"errors"
	"fmt"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// curves holds the numbers of the picture of a cluster: theory at each load, and simulations at
// some.
type curves struct {
	clusterChart
	delays []*bf.Result // nil without percentiles or if uneven
	uneven bool         // whether mean sizes differ, in which case percentiles are only simulated
	jobs   *bf.Result   // at the rates of the model; nil without distribution
}

// A clusterChart is the common part of pictures of clusters: answers in which classes and servers
// have rows.
type clusterChart struct {
	chart
	flags   *question
	model   *cluster.Model // as in the file
	classes []int          // rows to draw
	results []render.Record
}

// names returns the names of the classes and of the servers.
func (c *clusterChart) names() (classes, servers []string) {
	for _, k := range c.model.Classes {
		classes = append(classes, k.Name)
	}
	for _, s := range c.model.Servers {
		servers = append(servers, s.Name)
	}
	return classes, servers
}

// quantity returns the quantity that a word of --show selects.
func (c *clusterChart) quantity(word string) quantity {
	q, field := quantityOf(word)
	classes, servers := c.names()
	list := "classes"
	q.rows, q.drawn = classes, c.classes
	if word == utilization {
		list, q.rows, q.drawn = "servers", servers, c.flags.classes.serversOf(c.model, c.classes)
	}
	q.theory = func(k, row int) *float64 { return c.number(k, list, row, field) }
	return q
}

// number returns a number of a row of an answer, nil if it does not exist. Further keys lead into
// records.
func (c *clusterChart) number(k int, list string, row int, key string, further ...string) *float64 {
	v := c.results[k].Get(list).([]render.Record)[row].Get(key)
	for _, key := range further {
		inner, _ := v.(render.Record)
		v = inner.Get(key)
	}
	return known(v)
}

// chooseWorst keeps only the classes with the longest mean delays at the last point, if the flag
// limits their number.
func (c *clusterChart) chooseWorst() {
	c.classes = c.flags.classes.longest(c.classes, func(i int) *float64 {
		return c.number(len(c.results)-1, "classes", i, sim.MeanDelay)
	})
}

// cluster draws a cluster. If there is nothing to draw, the figure is nil, and the standard error
// gives the reason.
func (f *question) cluster(q command.Query, s source) (*plots.Figure, error) {
	m, err := command.ReadModelOfAll(s.query)
	if err != nil {
		return nil, err
	}
	rows, err := f.classes.rows(m)
	if err != nil {
		return nil, err
	}
	if f.classes.worst == 0 { // the worst classes are known only later
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
		plan := func(k int) (*sim.Plan, error) { return f.plan(q, m.Scale(c.factors[k])) }
		if c.points, err = f.simulate(q, c.factors, plan); err != nil {
			return nil, command.InFile(q.File, err)
		}
	}
	return c.figure(q.File), nil
}

// curves solves the model at all loads. If no load is stable, it returns nil and reports that on
// the standard error.
func (f *question) curves(q command.Query, m *cluster.Model, rows []int) (*curves, error) {
	verdict, err := command.Decide(q, m)
	if err != nil {
		return nil, err
	}
	if verdict.CriticalScale == nil {
		return nil, input.Errorf("classes", "no arrivals", "a class with an arrival_rate > 0")
	}
	if err := checkCritical(verdict.CriticalScale); err != nil {
		return nil, err
	}
	c := &curves{clusterChart: clusterChart{
		chart: f.chart(verdict.CriticalScale, fortieths), flags: f, model: m, classes: rows,
	}}
	_, err = m.OneMeanSize()
	if c.uneven = err != nil; c.uneven && len(f.percentiles) > 0 && f.settings.Runs == 0 {
		return nil, percentilesByRuns(err)
	}
	bound := fmt.Sprintf("with its arrival rates multiplied by %s or more", verdict.CriticalScale.RatString())
	switch asked := len(f.scaling.Factors); {
	case len(c.factors) == 0:
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: the cluster is unstable %s\n", bound)
		return nil, nil
	case f.asked.MaxJobs > 0 && !verdict.Stable:
		fmt.Fprintf(q.Stderr, "pfq: there is no distribution to draw: the cluster is unstable %s\n", bound)
		return nil, nil
	case asked > len(c.factors):
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d loads are not drawn: the cluster is unstable %s\n",
			asked-len(c.factors), asked, bound)
	}
	_, err = command.WithProgress(q, func(ctx context.Context) (*curves, error) { return c, c.solve(ctx) })
	if err != nil {
		return nil, err
	}
	return c, c.solveDelays(q)
}

// percentilesByRuns extends the error about several mean sizes: it explains how to draw percentiles
// anyway.
func percentilesByRuns(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	told := *bad
	told.Want += "; with --runs percentiles are simulated, under balanced fairness with exponential sizes"
	return &told
}

// solve computes the exact values but percentiles.
func (c *curves) solve(ctx context.Context) (err error) {
	model, err := bf.Prepare(ctx, c.model)
	if err != nil {
		return err
	}
	results, err := model.Sweep(ctx, c.factors, bf.Question{}, bf.Settings{})
	if err != nil {
		return c.flags.withoutFactor(err)
	}
	c.results = render.Rows(results)
	c.chooseWorst()
	if err := c.flags.checkPanels(c.model, c.classes); err != nil {
		return err
	}
	if c.flags.asked.MaxJobs > 0 {
		if c.jobs, err = model.Answer(ctx, c.flags.asked, bf.Settings{}); err != nil {
			return err
		}
	}
	return nil
}

// solveDelays computes the exact percentiles at each load, if there are some.
func (c *curves) solveDelays(q command.Query) error {
	if len(c.flags.percentiles) == 0 || c.uneven {
		return nil
	}
	var delays bf.Question
	for _, p := range c.flags.percentiles {
		delays.Levels = append(delays.Levels, p.Level)
	}
	for k, factor := range c.factors {
		part := q.Of("load").Part(k, len(c.factors))
		r, err := command.WithProgress(part, func(ctx context.Context) (*bf.Result, error) {
			return bf.Answer(ctx, c.model.Scale(factor), delays, bf.Settings{})
		})
		if err != nil {
			return c.flags.binding.Translate(err, "or pfq simulate --percentiles, which estimates them")
		}
		c.delays = append(c.delays, r)
	}
	return nil
}

// withoutFactor translates the error of a sweep and omits the number of the factor.
func (f *question) withoutFactor(err error) error {
	if cause := errors.Unwrap(err); cause != nil && !errors.Is(err, command.ErrInterrupted) {
		err = cause
	}
	return f.binding.Translate(err, "or pfq estimate --scale 0.1:0.9:0.1 --format csv, whose numbers are curves with "+
		"intervals: pictures are of exact means")
}

// checkPanels rejects a model if these classes have more to draw than fits a picture.
func (f *question) checkPanels(m *cluster.Model, rows []int) error {
	classes, servers := 0, len(f.classes.serversOf(m, rows))
	for _, i := range rows {
		if m.Classes[i].ArrivalRate.Sign() > 0 { // other classes have no delay
			classes++
		}
	}
	of := func(word string) int {
		switch word {
		case jobs:
			return plots.PanelsOf(len(rows))
		case utilization:
			return plots.PanelsOf(servers)
		}
		return plots.PanelsOf(classes)
	}
	count := len(f.percentiles) * plots.PanelsOf(classes)
	for _, word := range f.show {
		count += of(word)
	}
	if f.asked.MaxJobs > 0 {
		count++
	}
	var instead []string
	if count > plots.MostPanels {
		instead = append(instead, "--classes NAMES or worst:10")
		if len(f.show) > 1 {
			instead = append(instead, "--show "+f.show[0])
		}
	}
	return checkPanels("classes", fmt.Sprintf("%d, and %d rows of servers", len(rows), servers), count, instead...)
}

// plan returns the simulation of a cluster under the first policy of its service. If jobs run on all
// servers and classes differ in mean size, theory is balanced fairness.
func (f *question) plan(q command.Query, m *cluster.Model) (*sim.Plan, error) {
	system := simcluster.Cluster{Model: m, Policy: simcluster.Policy(simcluster.PolicyNames(m.Service)[0])}
	if _, err := m.OneMeanSize(); err != nil && m.RequireService(cluster.AllServers) == nil {
		system.Policy = simcluster.ProcessorSharing
	}
	return command.WithProgress(q, func(ctx context.Context) (*sim.Plan, error) {
		return command.NewPlan(ctx, f.binding, system, &f.settings)
	})
}

// figure returns the figure.
func (c *curves) figure(file string) *plots.Figure {
	f := &plots.Figure{
		Title:      "measures against load",
		Caption:    c.caption(file),
		Confidence: c.flags.settings.Confidence,
	}
	for _, q := range c.quantities() {
		f.Panels = append(f.Panels, c.panels(q)...)
	}
	if c.jobs != nil {
		f.Panels = append(f.Panels, c.distribution())
	}
	return f
}

// quantities returns the quantities drawn against the load, in order.
func (c *curves) quantities() (all []quantity) {
	classes, _ := c.names()
	for _, word := range c.flags.show {
		all = append(all, c.quantity(word))
	}
	for n, p := range c.flags.percentiles {
		all = append(all, c.percentile(n, p, classes))
	}
	return all
}

// percentile returns percentile n of the delay as a quantity.
func (c *curves) percentile(n int, p command.Percentile, classes []string) quantity {
	return quantity{name: p.Name + " of the delay", unit: "units of time", rows: classes, drawn: c.classes, grows: true,
		apart: c.uneven,
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
	return plots.Panel{Title: "number of jobs at load 1", Y: plots.Axis{Quantity: "probability"},
		X:      plots.Axis{Quantity: "jobs present", Max: float64(len(s.X) - 1)},
		Series: []plots.Series{s}}
}

// caption describes the picture.
func (c *curves) caption(file string) string {
	text := fmt.Sprintf("%s, against its load, a factor of all arrival rates. It is stable below load %s. "+
		"Means are exact under balanced fairness", inFile(file, "cluster"), plots.Short(float(c.critical)))
	if !c.uneven {
		text += ", and under first come, first served with exponential sizes"
	}
	switch {
	case len(c.flags.percentiles) == 0:
	case c.uneven:
		text += "; percentiles are simulated, with exponential sizes"
	default:
		text += "; percentiles are exact under first come, first served"
	}
	last := c.factors[len(c.factors)-1]
	return text + "." + c.flags.classes.caption(len(c.classes), len(c.model.Classes), last) +
		c.flags.simulationCaption(c.points)
}
