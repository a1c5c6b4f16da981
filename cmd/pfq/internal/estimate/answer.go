package estimate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
)

// A gradientRow says by how much the mean number of jobs changes with one rate or capacity.
type gradientRow struct {
	By       string          `json:"by" title:"for each unit of"` // arrival_rate or capacity
	Of       string          `json:"of"`                          // a class or a server
	MeanJobs *gibbs.Estimate `json:"mean_jobs_change"`
}

const byRate, byCapacity = "arrival_rate", "capacity"

// columns are the first columns of CSV.
var columns = []string{"kind", "name", "count", "arrival_rate", "mean_jobs", "mean_jobs_half_width", "mean_delay",
	"mean_delay_half_width", "service_rate", "service_rate_half_width", "utilization", "utilization_half_width",
	"jobs", "probability", "probability_half_width"}

// answer returns the answer for a result, with proved bounds on the mean delays of the classes unless
// they are nil.
func answer(m *cluster.Model, r *gibbs.Result, s gibbs.Settings, bounds []*windows.Bounds) render.Answer {
	body := append(command.AllServers.Head(true), render.Fields(r)...).Set("seed", s.Seed, "warnings")
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
	return render.Points([]render.Point{{Body: body, Sections: sections}}, false, columns, func(t *render.Text) {
		command.AllServers.Write(t)
		t.Line("stable; estimates, not bounds: ± at confidence %g", s.Confidence)
		t.Line("%d chains of %d sweeps, after a warm-up of %d each; autocorrelation time %.3g sweeps; "+
			"split R-hat %.4g; seed %d", r.Chains, r.Sweeps, r.BurnIn, r.Autocorrelation, r.RHat, s.Seed)
		if note != "" {
			t.Line("%s", note)
		}
	})
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
func gradientRows(m *cluster.Model, g *gibbs.Gradient) (rows []gradientRow) {
	for i, x := range g.ArrivalRates {
		rows = append(rows, gradientRow{byRate, m.Classes[i].Name, x})
	}
	for i, x := range g.Capacities {
		rows = append(rows, gradientRow{byCapacity, m.Servers[i].Name, x})
	}
	return rows
}

// gradientSection returns the section of the derivatives. In text those of rates come first, the largest
// at the top, and a line counts the capacities that cannot be told from the one that is worth most.
func gradientSection(rows []gradientRow) render.Section {
	s := render.Section{Kind: "gradient", Of: "gradients", Columns: "by of mean_jobs_change"}
	shown := slices.SortedStableFunc(slices.Values(rows), func(x, y gradientRow) int {
		return cmp.Or(cmp.Compare(x.By, y.By), cmp.Compare(y.size(), x.size()))
	})
	s.Rows = func([]render.Record) []render.Record { return render.Rows(shown) }
	first := slices.IndexFunc(shown, func(g gradientRow) bool { return g.By == byCapacity })
	if first < 0 {
		return s
	}
	alike := 0
	for _, g := range shown[first:] {
		if g.isLike(shown[first]) {
			alike++
		}
	}
	if alike > 1 {
		s.After = fmt.Sprintf("the %d capacities that are worth most cannot be told apart", alike)
	}
	return s
}

// size returns the absolute value of a derivative, -1 if there is none.
func (g gradientRow) size() float64 {
	if g.MeanJobs == nil {
		return -1
	}
	return math.Abs(g.MeanJobs.Mean)
}

// isLike reports whether two derivatives differ by no more than the interval of their difference, as if they were
// independent.
func (g gradientRow) isLike(other gradientRow) bool {
	x, y := g.MeanJobs, other.MeanJobs
	return x != nil && y != nil && math.Abs(x.Mean-y.Mean) <= math.Hypot(x.HalfWidth, y.HalfWidth)
}
