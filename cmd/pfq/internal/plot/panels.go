package plot

import (
	"fmt"
	"math"
	"math/big"

	"productform/cmd/pfq/internal/command"
	"productform/num"
	"productform/plots"
	"productform/sim"
)

// The means that can be drawn.
const (
	delay       = "delay"
	jobs        = "jobs"
	rate        = "rate"
	utilization = "utilization"
	none        = "none"
)

const (
	mostCurves = 7  // of a panel, which are told apart at a glance
	mostPanels = 26 // of a picture, which have letters

	estimateLook = 7 // dark grey
)

// A quantity is what some panels show.
type quantity struct {
	name, unit string
	rows       []string                               // what has curves: classes or servers
	theory     func(load, row int) *num.Value         // nil for a class without arrivals
	simulated  func(r *sim.Result, row int) *estimate // nil where there are too few jobs for one
	grows      bool                                   // beyond all bounds near the limit of stability
}

// An estimate is a simulated number with its interval.
type estimate struct{ value, low, high float64 }

func mean(e *sim.Estimate) *estimate {
	if e == nil {
		return nil
	}
	return &estimate{e.Mean, e.Mean - e.HalfWidth, e.Mean + e.HalfWidth}
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
	class := func(measure string) func(*sim.Result, int) *estimate {
		return func(r *sim.Result, i int) *estimate { return mean(r.Class(i, measure)) }
	}
	for _, word := range c.flags.show {
		switch word {
		case delay:
			all = append(all, quantity{"mean delay", "units of time", classes,
				func(k, i int) *num.Value { return c.results[k].Classes[i].MeanDelay }, class(sim.MeanDelay), true})
		case jobs:
			all = append(all, quantity{"mean jobs", "", classes,
				func(k, i int) *num.Value { return &c.results[k].Classes[i].MeanJobs }, class(sim.MeanJobs), true})
		case rate:
			all = append(all, quantity{"service rate", "work per unit of time", classes,
				func(k, i int) *num.Value { return c.results[k].Classes[i].ServiceRate }, class(sim.ServiceRate), false})
		case utilization:
			all = append(all, quantity{"utilization", "", servers,
				func(k, s int) *num.Value { return &c.results[k].Servers[s].Utilization },
				func(r *sim.Result, s int) *estimate { return mean(r.Server(s, sim.Utilization)) }, false})
		}
	}
	for n, p := range c.flags.percentiles {
		all = append(all, c.percentile(n, p, classes))
	}
	return all
}

// percentile returns percentile n of the delay as a quantity.
func (c *curves) percentile(n int, p command.Percentile, classes []string) quantity {
	return quantity{p.Name + " of the delay", "units of time", classes,
		func(k, i int) *num.Value {
			if q := c.delays[k].Classes[i].Quantiles; q != nil {
				return &q[n]
			}
			return nil
		},
		func(r *sim.Result, i int) *estimate {
			if q := r.Quantile(sim.OfClass, i, c.flags.settings.Levels[n]); q != nil {
				return &estimate{q.Value, q.Low, q.High}
			}
			return nil
		}, true}
}

// panels returns the panels of a quantity: one, or as many as it takes for all to have few curves, with the same axes.
func (c *curves) panels(q quantity) (panels []plots.Panel) {
	var rows []int
	for row := range q.rows {
		if q.theory(0, row) != nil { // a class without arrivals has no delay
			rows = append(rows, row)
		}
	}
	count := panelsOf(len(rows))
	y := c.axis(q, rows)
	for k := range count {
		part := rows[k*len(rows)/count : (k+1)*len(rows)/count]
		panel := plots.Panel{Title: q.name, X: c.loadAxis(), Y: y}
		if count > 1 {
			panel.Title = fmt.Sprintf("%s, %d of %d", q.name, k+1, count)
		}
		for look, row := range part {
			panel.Series = append(panel.Series, c.curve(q, row, look))
		}
		panel.Series = append(panel.Series, c.estimates(q, part)...)
		panels = append(panels, panel)
	}
	return panels
}

// panelsOf returns how many panels so many curves take.
func panelsOf(curves int) int { return (curves + mostCurves - 1) / mostCurves }

// curve returns what theory says of a row.
func (c *curves) curve(q quantity, row, look int) plots.Series {
	s := plots.Series{Label: label(q.rows, row), Look: look}
	for k, factor := range c.factors {
		s.X, s.Y = append(s.X, float(factor)), append(s.Y, q.theory(k, row).Float)
	}
	return s
}

// estimates returns what simulation says of some rows: series of their own in a table, one for all in a picture, where each point lies on
// the curve that it is about.
func (c *curves) estimates(q quantity, rows []int) (all []plots.Series) {
	var together plots.Series
	for _, p := range c.points {
		for _, row := range rows {
			if v := q.simulated(p.result, row); v != nil {
				add(&together, float(c.factors[p.load]), v)
			}
		}
	}
	if len(together.X) == 0 {
		return nil
	}
	together.Label, together.Kind, together.Look = "simulated", plots.Points, estimateLook
	if !c.table {
		return []plots.Series{together}
	}
	for _, row := range rows {
		s := plots.Series{Label: label(q.rows, row), Group: together.Label, Kind: plots.Points}
		for _, p := range c.points {
			if v := q.simulated(p.result, row); v != nil {
				add(&s, float(c.factors[p.load]), v)
			}
		}
		if len(s.X) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// add adds a point.
func add(s *plots.Series, x float64, v *estimate) {
	s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, v.value), append(s.Low, v.low), append(s.High, v.high)
}

// loadAxis returns the horizontal axis, which ends where the cluster becomes unstable unless there are loads given.
func (c *curves) loadAxis() plots.Axis {
	a := plots.Axis{Quantity: "load", Unit: "times the arrival rates"}
	if !c.table {
		a.Unit += "; stable below " + plots.Short(float(c.critical))
	}
	first, last := float(c.factors[0]), float(c.factors[len(c.factors)-1])
	switch {
	case c.flags.factors == nil:
		a.Max = float(c.critical)
	case first < last/2:
		a.Max = last
	case first < last:
		a.Min, a.Max = first, last
	}
	return a
}

// axis returns the vertical axis of a quantity, from 0, or logarithmic where values differ by far.
func (c *curves) axis(q quantity, rows []int) plots.Axis {
	least, most := math.Inf(1), 0.0
	for _, row := range rows {
		for k := range c.factors {
			v := q.theory(k, row).Float
			least, most = min(least, v), max(most, v)
		}
		for _, p := range c.points {
			if v := q.simulated(p.result, row); v != nil {
				least, most = min(least, v.low), max(most, v.high)
			}
		}
	}
	a := plots.Axis{Quantity: q.name, Unit: q.unit}
	const far = 20
	if q.grows && least > 0 && most > far*least {
		a.Scale, a.Min, a.Max = plots.Log, least/1.2, most*1.2
		return a
	}
	if a.Max = 1.05 * most; q.name == utilization {
		a.Max = max(1, most) // an interval may reach above 1
	}
	a.Min = min(0, least) // an interval may reach below 0
	return a
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

// label returns a name that fits beside a curve, and differs from those of other rows.
func label(names []string, row int) string {
	const most = 24
	name := []rune(names[row])
	if len(name) <= most {
		return names[row]
	}
	return fmt.Sprintf("%s… (%d)", string(name[:most-6]), row+1)
}

// caption says what is drawn.
func (c *curves) caption(name string) string {
	text := fmt.Sprintf("Measures of the cluster %s by theory, against the factor by which all its arrival rates are multiplied; it is stable below %s.",
		name, plots.Short(float(c.critical)))
	if s := c.flags.settings; c.points != nil {
		text += fmt.Sprintf(" Points: simulation, %d runs of %g jumps, seed %d; bars are intervals at confidence %g.", s.Runs, s.Jumps, s.Seed, s.Confidence)
	}
	return text
}

func float(v *big.Rat) float64 {
	f, _ := v.Float64()
	return f
}
