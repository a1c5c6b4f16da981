package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
)

// A solution is a result of solve, and what was asked for beside the means.
type solution struct {
	model  *cluster.Model
	result *bf.Result
	more   extra
	note   string // what holds for the answer
	style  render.Style
	at     *command.Scaled // nil without --scale
}

// solutionColumns are the first columns of CSV.
var solutionColumns = []string{"kind", "name", "count", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate",
	"utilization", "service", "engine", "lattice", "states", "normalization", "empty_probability", "relative_error_bound",
	"jobs", "probability"}

// solutionSections are the lines of CSV and the tables of text.
var solutionSections = []render.Section{
	{Kind: "cluster", Columns: "normalization empty_probability mean_jobs mean_delay"},
	{Kind: "class", Of: "classes", Columns: "name arrival_rate mean_size? load mean_jobs mean_delay service_rate"},
	{Of: "classes.delay"},
	{Kind: "server", Of: "servers", Columns: "name count? utilization"},
	{Kind: "gradient", Of: "gradients", Columns: "class by of mean_jobs_change mean_delay_change", Rows: perServer},
	{Kind: "distribution", Of: "jobs_distribution"},
	{Kind: "distribution", Of: "classes.jobs_distribution"},
	{Kind: "part", Of: "parts", Columns: "-"},
}

// newSolution returns the answer of a result for a model, whose rates are those before any scaling.
func newSolution(m *cluster.Model, r *bf.Result, more extra, digits int, at *command.Scaled) *solution {
	return &solution{m, r, more, noteOn(m, r), render.Style{Engine: r.Engine, Digits: digits}, at}
}

// noteOn says what holds for a result, "" for nothing special.
func noteOn(m *cluster.Model, r *bf.Result) string {
	var notes []string
	if _, err := m.OneMeanSize(); err != nil {
		notes = append(notes, command.DifferentSizes)
	}
	if drawsOne(m) {
		notes = append(notes, "choose: 1 gives each job a server at random, with a queue of its own; "+
			"for servers with one queue see pfq example ten-servers")
	}
	hasLaw := func(c bf.ClassResult) bool { return c.JobsDistribution != nil }
	if r.JobsDistribution == nil && slices.ContainsFunc(r.Classes, hasLaw) {
		notes = append(notes, "the elimination lattice has the distribution of the jobs of each class, and not that of all jobs together")
	}
	return strings.Join(notes, "; ")
}

// drawsOne reports whether jobs of a class draw one of several equal servers.
func drawsOne(m *cluster.Model) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
		return len(c.Servers) == 1 && c.Servers[0].Choose == 1 && m.Servers[c.Servers[0].Server].Size() > 1
	})
}

// point returns the fields of the answer.
func (s *solution) point() render.Point {
	body := append(command.AllServers.Head(true), s.style.Record(s.result)...)
	if r := s.more.delays; r != nil {
		body = body.Set("delays", solutionDelays{whenDelaysHold, r.Engine, r.RelativeErrorBound}, "parts")
		s.setDelays(body.Get("classes").([]render.Record))
	}
	if g := s.more.gradients; g != nil {
		body = body.Set("gradients", s.gradients(g), "parts")
	}
	if s.note != "" {
		body = body.Set("note", s.note, "")
	}
	return render.Point{Head: headOf(s.at), Body: body, Sections: solutionSections}
}

// headOf returns the fields of an answer at a factor, none without one.
func headOf(at *command.Scaled) render.Record {
	if at == nil {
		return nil
	}
	return render.Fields(at)
}

const whenDelaysHold = "in order of arrival with exponential sizes"

// solutionDelays says when the percentiles of delay hold, and how far to trust them.
type solutionDelays struct {
	Hold               string     `json:"hold"`
	Engine             num.Engine `json:"engine"`
	RelativeErrorBound float64    `json:"relative_error_bound"`
}

// setDelays adds the percentiles to the classes. A class without arrivals has some that do not exist.
func (s *solution) setDelays(classes []render.Record) {
	r := s.more.delays
	style := render.Style{Engine: r.Engine, Digits: s.style.Digits}
	for i := range classes {
		delay := command.PercentileFields(s.more.percentiles, r.Classes[i].Quantiles, style)
		classes[i] = classes[i].Set("delay", delay, "jobs_distribution")
	}
}

// heading writes how the numbers were computed.
func (s *solution) heading(t *render.Text, before string) {
	r, digits := s.result, s.style.Digits
	t.Digits = digits
	trust := "within " + render.OneDigitUp(r.RelativeErrorBound) + " of exact (relative)"
	if r.RelativeErrorBound == 0 {
		trust = "exactly"
	}
	shown := "to six digits"
	const doubles = 16 // digits that the bound of the doubles speaks of
	switch {
	case r.Engine == num.Exact:
		shown = "as short fractions and to six digits"
	case r.Engine == num.Enclose && digits > 6:
		shown = fmt.Sprintf("to %d digits", digits-1)
		if digits-1 > doubles {
			trust = "between bounds " + render.OneDigitUp(widest(r)) + " apart (relative)"
		}
	}
	t.Line("%sstable; %s engine, computed %s, shown %s", before, r.Engine, trust, shown)
}

// partsText writes how the parts of the model were solved, and what holds for the answer.
func (s *solution) partsText(t *render.Text) {
	const most = 8
	parts := s.result.Parts
	for i, p := range parts {
		if i == most && len(parts) > most+1 {
			t.Line("and %d parts more", len(parts)-most)
			break
		}
		what := ""
		if len(parts) > 1 {
			what = fmt.Sprintf("part %d of %d: ", i+1, len(parts))
		}
		t.Line("%s%s lattice, %d states: %s", what, p.Lattice, p.States, p.Why)
	}
	if s.note != "" {
		t.Line("%s", s.note)
	}
	if d := s.more.delays; d != nil {
		t.Line("means hold for any sizes, percentiles %s; these by the %s engine, within %s of exact",
			whenDelaysHold, d.Engine, render.OneDigitUp(d.RelativeErrorBound))
	}
}

// isAlike reports whether the same was said of the parts of another answer.
func (s *solution) isAlike(other *solution) bool {
	return other != nil && slices.EqualFunc(s.result.Parts, other.result.Parts, func(p, q bf.Part) bool {
		return p.Lattice == q.Lattice && p.States == q.States && p.Width == q.Width && p.Why == q.Why
	})
}

// widest returns the largest relative width of the bounds in a result.
func widest(r *bf.Result) float64 {
	values := []*num.Value{r.Normalization, r.EmptyProbability, &r.MeanJobs, r.MeanDelay}
	for i := range r.Classes {
		c := &r.Classes[i]
		values = append(values, &c.MeanJobs, c.MeanDelay, c.ServiceRate)
	}
	for i := range r.Servers {
		values = append(values, &r.Servers[i].Utilization)
	}
	width := 0.0
	for _, v := range values {
		if v == nil {
			continue
		}
		if e, ok := v.Interval(); ok {
			width = max(width, e.RelWidth())
		}
	}
	return width
}
