package main

import (
	"context"
	"fmt"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
)

// An estimateGradientRow has the derivative of the mean number of jobs with respect to one rate or
// capacity.
type estimateGradientRow struct {
	By       string          `json:"by" title:"for each unit of"` // arrival_rate or capacity
	Of       string          `json:"of"`                          // a class or a server
	MeanJobs *gibbs.Estimate `json:"mean_jobs_change"`
}

const byRate, byCapacity = "arrival_rate", "capacity"

// estimateColumns are the first columns of CSV.
var estimateColumns = []string{
	"kind", "name", "count", "arrival_rate", "mean_jobs", "mean_jobs_half_width", "mean_delay",
	"mean_delay_half_width", "service_rate", "service_rate_half_width", "utilization", "utilization_half_width",
	"jobs", "probability", "probability_half_width",
}

// answer returns the answer for a result, with proved bounds on the mean delays of the classes
// unless bounds is nil.
func answer(m *cluster.Model, r *gibbs.Result, s gibbs.Settings, bounds []*windows.Bounds) render.Answer {
	body := append(command.ServiceHead(m, true), render.Fields(r)...).Set("seed", s.Seed, "warnings")
	if s.Sweeps > 0 {
		body = body.Set("precision_met", nil, "")
	}
	note := ""
	if _, err := m.OneMeanSize(); err != nil {
		note = command.DifferentSizes
		body = body.Set("note", note, "")
	}
	sections := []render.Section{
		{Kind: "cluster", Columns: "mean_jobs mean_delay empty_probability"},
		{Kind: "class", Of: "classes", Columns: "name arrival_rate mean_size? mean_jobs mean_delay service_rate"},
	}
	if bounds != nil {
		setBounds(body.Get("classes").([]render.Record), bounds)
		sections = append(sections, render.Section{Of: "classes", Columns: "name mean_delay_low mean_delay_high",
			Before: "proved bounds on the mean delays, not estimates; a delay is exact if its bounds coincide:"})
	}
	sections = append(sections, render.Section{Kind: "server", Of: "servers", Columns: "name count? utilization"})
	if r.Gradient != nil {
		rows := gradientRows(m, r.Gradient)
		body = body.Set("gradients", rows, "chains")
		sections = append(sections, gradientSection(rows))
	}
	sections = append(sections, render.Section{Kind: "distribution", Of: "jobs_distribution"},
		render.Section{Kind: "distribution", Of: "classes.jobs_distribution"})
	return render.Points([]render.Point{{Body: body, Sections: sections}}, false, estimateColumns,
		func(t *render.Text) { heading(t, m, r, s, note) })
}

// setBounds adds bounds to the classes, null for those that have none.
func setBounds(classes []render.Record, bounds []*windows.Bounds) {
	for i, b := range bounds {
		var low, high *float64
		if b != nil {
			low, high = &b.Low, b.High
		}
		classes[i] = classes[i].Set("mean_delay_low", low, "service_rate").Set("mean_delay_high", high, "service_rate")
	}
}

// gradientRows returns the derivatives in the order of the model.
func gradientRows(m *cluster.Model, g *gibbs.Gradient) (rows []estimateGradientRow) {
	for i, x := range g.ArrivalRates {
		rows = append(rows, estimateGradientRow{byRate, m.Classes[i].Name, x})
	}
	for i, x := range g.Capacities {
		rows = append(rows, estimateGradientRow{byCapacity, m.Servers[i].Name, x})
	}
	return rows
}

// farOutside is the distance of an estimate from its proved bounds, in half-widths, above which a
// warning names it. About one correct estimate in a million is that far away.
const farOutside = 2.5

// easyRows is the largest number of classes or servers in a component that pfq solve handles within
// a second.
const easyRows = 20

// warnings returns the reasons not to trust a result, and what to do about them.
func warnings(ctx context.Context, m *cluster.Model, r *gibbs.Result, bounds []*windows.Bounds) ([]string, error) {
	list := append([]string{}, r.Warnings...)
	if w := boundsWarning(m, r, bounds); w != "" {
		list = append(list, w)
	}
	if len(list) == 0 {
		return list, nil
	}
	components, err := m.EqualSizes().Reduce(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		servers := 0
		for _, s := range c.Model.Servers {
			servers += s.Size()
		}
		if min(len(c.Model.Classes), servers) > easyRows {
			return list, nil
		}
	}
	return append(list, "this model is small enough for pfq solve, which has exact values"), nil
}

// boundsWarning names the class whose estimate is farthest outside its proved bounds, if any
// estimate is far outside.
func boundsWarning(m *cluster.Model, r *gibbs.Result, bounds []*windows.Bounds) string {
	worst, most, count := 0, 0.0, 0
	for i, b := range bounds {
		e := r.Classes[i].MeanDelay
		if b == nil || e == nil {
			continue
		}
		off := b.Low - e.Mean
		if b.High != nil {
			off = max(off, e.Mean-*b.High)
		}
		if off <= farOutside*e.HalfWidth {
			continue
		}
		if count++; off/e.HalfWidth > most {
			worst, most = i, off/e.HalfWidth
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d estimates contradict their proved bounds, the mean delay of class %s by %.3g half-widths",
		count, m.Classes[worst].Name, most)
}
