package main

import (
	"math/big"
	"slices"
	"strings"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

// A solveResult is a solved model with everything that its answer needs.
type solveResult struct {
	*solveQuestion
	model  *cluster.Model
	result *bf.Result
	note   string // "" for none
	style  render.Style
	at     *command.Scaled // nil without --scale
}

// solveColumns are the first columns of CSV.
var solveColumns = []string{"kind", "name", "count", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate",
	"utilization", "service", "engine", "lattice", "states", "normalization", "empty_probability",
	"relative_error_bound", "jobs", "probability"}

// solveSections are the lines of CSV and the tables of text.
var solveSections = []render.Section{
	{Kind: "cluster", Columns: "normalization empty_probability mean_jobs mean_delay"},
	{Kind: "class", Of: "classes",
		Columns: "name arrival_rate mean_size? load mean_jobs mean_delay service_rate"},
	{Of: "classes.delay"},
	{Kind: "server", Of: "servers", Columns: "name count? utilization"},
	{Kind: "gradient", Of: "gradients", Columns: "class by of mean_jobs_change mean_delay_change", Rows: perServer},
	{Kind: "distribution", Of: "jobs_distribution"},
	{Kind: "distribution", Of: "classes.jobs_distribution"},
	{Kind: "part", Of: "parts", Columns: "-"},
}

// newSolveResult returns the answer for a result. The rates of the model are those before scaling.
func (f *solveQuestion) newSolveResult(m *cluster.Model, r *bf.Result, at *command.Scaled) *solveResult {
	return &solveResult{f, m, r, noteOn(m, r), f.style(r.Engine), at}
}

// style returns how numbers of an engine are written.
func (f *solveQuestion) style(engine num.Engine) render.Style {
	return render.Style{Engine: engine, Digits: command.Digits(f.settings.RelTol)}
}

// noteOn returns the note on a result, "" for none.
func noteOn(m *cluster.Model, r *bf.Result) string {
	var notes []string
	if _, err := m.OneMeanSize(); err != nil {
		notes = append(notes, command.DifferentSizes)
	}
	if drawsOne(m) {
		notes = append(notes, "choose: 1 gives each job a server at random, with its own queue; "+
			"for servers with one queue see pfq example ten-servers")
	}
	hasLaw := func(c bf.ClassResult) bool { return c.JobsDistribution != nil }
	if r.JobsDistribution == nil && slices.ContainsFunc(r.Classes, hasLaw) {
		notes = append(notes, "the elimination lattice has the distribution of the jobs of each class, "+
			"and not that of all jobs together")
	}
	return strings.Join(notes, "; ")
}

// drawsOne reports whether the jobs of some class draw one of several equal servers.
func drawsOne(m *cluster.Model) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
		return len(c.Servers) == 1 && c.Servers[0].Choose == 1 && m.Servers[c.Servers[0].Server].Size() > 1
	})
}

// singleAnswer returns the answer without a sweep.
func (s *solveResult) singleAnswer() render.Answer {
	return render.Points([]render.Point{s.point()}, false, solveColumns, s.text)
}

// point returns the fields of the answer.
func (s *solveResult) point() render.Point {
	body := append(command.ServiceHead(s.model, true), s.style.Record(s.result)...)
	if d := s.result.Delays; len(s.percentiles) > 0 {
		body = body.Set("delays", delays{whenDelaysHold, d.Engine, d.RelativeErrorBound}, "parts")
		s.setDelays(body.Get("classes").([]render.Record))
	}
	if g := s.result.Gradients; g != nil {
		body = body.Set("gradients", s.gradients(g), "parts")
	}
	if s.note != "" {
		body = body.Set("note", s.note, "")
	}
	return render.Point{Head: headOf(s.at), Body: body, Sections: solveSections}
}

// headOf returns the leading fields of the answer at a factor, or nil if there is no factor.
func headOf(at *command.Scaled) render.Record {
	if at == nil {
		return nil
	}
	return render.Fields(at)
}

const whenDelaysHold = "under first come, first served with exponential sizes"

// delays states the assumptions of the percentiles of delay, and their accuracy.
type delays struct {
	Hold               string     `json:"hold"`
	Engine             num.Engine `json:"engine"`
	RelativeErrorBound float64    `json:"relative_error_bound"`
}

// setDelays adds the percentiles of delay to the classes. For a class without arrivals they are
// null.
func (s *solveResult) setDelays(classes []render.Record) {
	style := render.Style{Engine: s.result.Delays.Engine, Digits: s.style.Digits}
	for i := range classes {
		delay := command.PercentileFields(s.percentiles, s.result.Classes[i].Quantiles, style)
		classes[i] = classes[i].Set("delay", delay, "jobs_distribution")
	}
}

// changedBy names a class, and the rate or capacity that changes its means.
type changedBy struct {
	Class string `json:"class"`
	By    string `json:"by" title:"for each unit of"` // arrival_rate or capacity
	Of    string `json:"of"`                          // a class or a server
	// number of servers that each grow by one unit; nil for a rate
	Count *int `json:"count"`
}

// A gradient holds the derivatives of the means of a class with respect to one rate or capacity.
type gradient struct {
	changedBy
	MeanJobs  render.Number `json:"mean_jobs_change"`
	MeanDelay render.Number `json:"mean_delay_change"`
}

// gradients returns the derivatives that are not 0.
func (s *solveResult) gradients(g *bf.Gradients) []gradient {
	m, list := s.model, []gradient{}
	for i, c := range g.Classes {
		add := func(by, of string, count *int, values func(*bf.Partials) *num.Value) {
			jobs := values(&c.MeanJobs)
			var delay *num.Value
			if c.MeanDelay != nil {
				delay = values(c.MeanDelay)
			}
			if isZeroValue(jobs) && (delay == nil || isZeroValue(delay)) {
				return
			}
			list = append(list, gradient{changedBy{m.Classes[i].Name, by, of, count},
				s.bounded(jobs, g.Engine), s.bounded(delay, g.Engine)})
		}
		for j, of := range m.Classes {
			add("arrival_rate", of.Name, nil, func(p *bf.Partials) *num.Value { return &p.ArrivalRates[j] })
		}
		for k, of := range m.Servers {
			size := of.Size()
			add("capacity", of.Name, &size, func(p *bf.Partials) *num.Value { return &p.Capacities[k] })
		}
	}
	return list
}

func isZeroValue(v *num.Value) bool {
	return v.Exact != nil && v.Exact.Sign() == 0 || v.Exact == nil && v.Low.Sign() == 0 && v.High.Sign() == 0
}

// bounded returns a derivative with its bounds, as decimals for every engine; float64 bounds have
// 17 digits.
func (s *solveResult) bounded(v *num.Value, engine num.Engine) render.Number {
	return bounded(v, engine, s.style.Digits)
}

func bounded(v *num.Value, engine num.Engine, digits int) render.Number {
	switch engine {
	case num.Exact:
		return render.Value(v, render.Fraction, digits)
	case num.Float:
		n := render.Value(v, render.Bounds, 17)
		n.Double = true
		return n
	}
	return render.Value(v, render.Bounds, digits)
}

// A point is the answer for one factor of the arrival rates.
type point struct {
	factor   *big.Rat
	at       *command.Scaled
	unstable *stability.Result // nil if there is a solution
	solution *solveResult
}

// sweepAnswer returns the answer at all points.
func (f *solveQuestion) sweepAnswer(m *cluster.Model, points []point) render.Answer {
	all := make([]render.Point, len(points))
	for i, p := range points {
		if p.unstable == nil {
			all[i] = p.solution.point()
			continue
		}
		all[i] = render.Point{Head: headOf(p.at), Body: command.Unstable(m, p.unstable, f.settings.Engine),
			Sections: []render.Section{{Kind: "unstable", Columns: "-"}}}
	}
	return render.Points(all, true, append([]string{"scale"}, solveColumns...),
		func(t *render.Text) { f.sweepText(t, m, points) })
}
