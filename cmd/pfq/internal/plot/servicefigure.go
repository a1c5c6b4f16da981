package plot

import (
	"fmt"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/plots"
	"productform/sim"
)

// leastDrawn is the smallest fraction of the largest mean waiting time, or number of waiting jobs,
// that is drawn.
const leastDrawn = 1e-6

// figure returns the figure.
func (c *serviceCurves) figure(q command.Query) *plots.Figure {
	f := &plots.Figure{
		Title: "measures against " + c.x.Quantity, Caption: c.caption(q.File), Confidence: c.flags.settings.Confidence,
	}
	for _, q := range c.quantities() {
		f.Panels = append(f.Panels, c.panels(q)...)
	}
	if slices.Contains(c.flags.show, servedBy) {
		f.Panels = append(f.Panels, c.served())
	}
	return f
}

// quantities returns the quantities with curves, in order.
func (c *serviceCurves) quantities() (all []quantity) {
	classes, _ := c.names()
	for _, word := range c.flags.show {
		if word == servedBy {
			continue
		}
		q := c.quantity(word)
		switch word {
		case waste:
			q.name, q.rows, q.drawn = "fraction of capacity wasted", []string{"first come, first served"}, nil
			q.theory = func(k, _ int) *float64 { return c.waste[k] }
		case waiting, queue:
			c.omitSmall(&q)
		}
		all = append(all, q)
	}
	for n, p := range c.flags.percentiles {
		all = append(all, c.percentile(n, p, classes))
	}
	for n := range c.flags.within {
		all = append(all, c.serviceLevel(n, classes))
	}
	return all
}

// omitSmall omits numbers far below the largest one from a picture: waiting vanishes at low load.
func (c *serviceCurves) omitSmall(q *quantity) {
	if c.table {
		return
	}
	theory, most := q.theory, 0.0
	for k := range c.results {
		for _, row := range c.classes {
			if v := theory(k, row); v != nil {
				most = max(most, *v)
			}
		}
	}
	q.theory = func(k, row int) *float64 {
		if v := theory(k, row); v != nil && *v >= leastDrawn*most {
			return v
		}
		return nil
	}
}

// percentile returns percentile n of the waiting time as a quantity.
func (c *serviceCurves) percentile(n int, p command.Percentile, classes []string) quantity {
	return quantity{
		name: p.Name + " of the waiting time", unit: "units of time", rows: classes, drawn: c.classes, grows: true,
		theory: func(k, row int) *float64 { return c.number(k, "classes", row, "waiting", p.Name) },
		simulated: func(p point, row int) *estimate {
			if q := p.result.Quantile(sim.OfVisit, row, c.flags.settings.Levels[n]); q != nil {
				return &estimate{q.Value, q.Low, q.High}
			}
			return nil
		},
	}
}

// serviceLevel returns the probability that jobs wait at most time n, and are served if some give
// up.
func (c *serviceCurves) serviceLevel(n int, classes []string) quantity {
	field, name := "waiting", "probability of waiting at most "
	if c.kind == patienceFile {
		field, name = "served", "probability of service within "
	}
	return quantity{
		name: name + plots.Short(float(c.flags.within[n])), rows: classes, drawn: c.classes, part: true,
		theory: func(k, row int) *float64 {
			within, _ := c.results[k].Get("classes").([]render.Record)[row].Get("within").([]render.Record)
			if n >= len(within) {
				return nil
			}
			return known(within[n].Get(field))
		},
		simulated: func(point, int) *estimate { return nil },
	}
}

// served returns the panel of the servers that serve the jobs of each class, at the point nearest
// to the rates of the file: stacked bars.
func (c *serviceCurves) served() plots.Panel {
	k := c.nearest()
	panel := plots.Panel{
		Title: fmt.Sprintf("who serves whom at %s %s", c.x.Quantity, plots.Short(float(c.factors[k]))),
		X:     plots.Axis{Quantity: "class"}, Y: plots.Axis{Quantity: "fraction of the jobs of the class", Max: 1},
	}
	for _, i := range c.classes {
		panel.X.Categories = append(panel.X.Categories, c.model.Classes[i].Name)
	}
	total := make([]float64, len(c.classes))
	for look, server := range c.model.Servers {
		s := plots.Series{Label: server.Name, Kind: plots.Band, Look: look}
		for at, i := range c.classes {
			low := total[at]
			rows, _ := c.results[k].Get("classes").([]render.Record)[i].Get("served_by").([]render.Record)
			for _, row := range rows {
				if share := known(row.Get("share")); row.Get("server") == server.Name && share != nil {
					total[at] += *share
				}
			}
			switch x := float64(at + 1); {
			case c.table:
				s.Kind, s.X, s.Y = plots.Points, append(s.X, x), append(s.Y, total[at]-low)
			case total[at] > low:
				bar(&s, x, low, total[at])
			}
		}
		if s.X != nil {
			panel.Series = append(panel.Series, s)
		}
	}
	return panel
}

// bar adds a bar to a band, which has no height elsewhere.
func bar(s *plots.Series, x, low, high float64) {
	const half, thin = 0.35, 1e-6 // half the width of the bar, and that of its edges
	s.X = append(s.X, x-half-thin, x-half, x+half, x+half+thin)
	s.Low, s.High = append(s.Low, 0, low, low, 0), append(s.High, 0, high, high, 0)
}

// nearest returns the index of the last point that is at most 1, or the first one, on an axis of
// loads; the last one otherwise.
func (c *serviceCurves) nearest() int {
	if c.flags.count.sizes != nil {
		return len(c.factors) - 1
	}
	for k := len(c.factors) - 1; k > 0; k-- {
		if float(c.factors[k]) <= 1 {
			return k
		}
	}
	return 0
}

// caption describes the picture.
func (c *serviceCurves) caption(file string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, against the %s.", inFile(file, "cluster"), c.x.Quantity)
	switch {
	case c.critical != nil && !c.table:
		fmt.Fprintf(&text, " It is stable below load %s.", plots.Short(float(c.critical)))
	case c.kind == timeoutFile || c.kind == patienceFile:
		text.WriteString(" Jobs leave when their time is up.")
	}
	switch c.kind {
	case gangFile:
		text.WriteString(
			" A job holds several servers; jobs start in their order of arrival, and sizes are exponential.",
		)
	case timeoutFile:
		text.WriteString(" Means are exact under first come, first served with exponential sizes.")
	default:
		text.WriteString(" A job runs on one server: the one that has been idle longest; a free server takes the job " +
			"that arrived first. Sizes are exponential.")
	}
	return text.String() + c.flags.classes.caption(len(c.classes), len(c.model.Classes), c.factors[len(c.factors)-1]) +
		c.flags.simulationCaption(c.points)
}
