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

// A solution is the answer of solve.
type solution struct {
	*command.Scaled
	Stable             bool               `json:"stable"`
	Service            command.Service    `json:"service"`
	Engine             num.Engine         `json:"engine"`
	Lattice            *bf.Lattice        `json:"lattice"` // of the part with most states
	States             int                `json:"states"`
	Normalization      render.Number      `json:"normalization"`
	EmptyProbability   render.Number      `json:"empty_probability"`
	MeanJobs           render.Number      `json:"mean_jobs"`
	MeanDelay          render.Number      `json:"mean_delay"`
	RelativeErrorBound float64            `json:"relative_error_bound"`
	Classes            []solutionClass    `json:"classes"`
	Servers            []solutionServer   `json:"servers"`
	JobsDistribution   []render.Number    `json:"jobs_distribution,omitempty"`
	Delays             *solutionDelays    `json:"delays,omitempty"` // how the percentiles were computed; nil if none were asked for
	Gradients          []solutionGradient `json:"gradients,omitempty"`
	Parts              []solutionPart     `json:"parts"`
	Note               string             `json:"note,omitempty"`

	digits int // decimal digits of the bounds that the engine enclose gives
	width  float64
}

type solutionClass struct {
	Name        string         `json:"name" title:"class"`
	ArrivalRate render.Number  `json:"arrival_rate"`
	MeanSize    *render.Number `json:"mean_size,omitempty"` // nil if no class has one of its own
	Load        render.Number  `json:"load"`
	MeanJobs    render.Number  `json:"mean_jobs"`
	MeanDelay   render.Number  `json:"mean_delay"`
	ServiceRate render.Number  `json:"service_rate"`
	Delay       render.Record  `json:"delay,omitempty"` // the percentiles asked for

	JobsDistribution []render.Number `json:"jobs_distribution,omitempty"`
}

// solutionDelays says when the percentiles of delay hold, and how far to trust them.
type solutionDelays struct {
	Hold               string     `json:"hold"`
	Engine             num.Engine `json:"engine"`
	RelativeErrorBound float64    `json:"relative_error_bound"`
}

type solutionServer struct {
	Name        string        `json:"name" title:"server"`
	Count       int           `json:"count,omitempty"`
	Utilization render.Number `json:"utilization"`
}

type solutionPart struct {
	Lattice bf.Lattice `json:"lattice"`
	States  int        `json:"states"`
	Width   int        `json:"width,omitempty"` // of the elimination lattice
	Why     string     `json:"why"`
}

// A jobsProbability is the probability of a number of jobs in all.
type jobsProbability struct {
	Jobs        int           `json:"jobs"`
	Probability render.Number `json:"probability"`
}

// solutionColumns are the first columns of CSV.
var solutionColumns = []string{"kind", "name", "count", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate", "utilization",
	"service", "engine", "lattice", "states", "normalization", "empty_probability", "relative_error_bound", "jobs",
	"probability"}

func newSolution(m *cluster.Model, r *bf.Result, digits int) *solution {
	proof := command.ProofOf(r.Engine)
	value := func(v *num.Value) render.Number { return render.Value(v, proof, digits) }
	part := func(v *num.Value) render.Number { // below 1 in a stable cluster
		n := value(v)
		n.BelowOne = true
		return n
	}
	values := func(list []num.Value) (numbers []render.Number) {
		for n := range list {
			numbers = append(numbers, value(&list[n]))
		}
		return numbers
	}
	s := &solution{
		Stable: true, Service: command.AllServers, Engine: r.Engine,
		Normalization: value(r.Normalization), EmptyProbability: value(r.EmptyProbability),
		MeanJobs: value(&r.MeanJobs), MeanDelay: value(r.MeanDelay), RelativeErrorBound: r.RelativeErrorBound,
		Classes: []solutionClass{}, Servers: []solutionServer{}, Parts: []solutionPart{},
		digits: digits, width: widest(r),
	}
	most := -1
	for _, p := range r.Parts {
		s.States += p.States
		if p.States > most {
			s.Lattice, most = &p.Lattice, p.States
		}
		s.Parts = append(s.Parts, solutionPart{p.Lattice, p.States, p.Width, p.Why})
	}
	if _, err := m.OneMeanSize(); err != nil {
		s.Note = "mean sizes differ by class: the answer is that of balanced fairness, not that of service in order of arrival"
	}
	if drawsOne(m) {
		s.Note = strings.TrimPrefix(s.Note+"; choose: 1 gives each job a server at random, with a queue of its own; for servers with one queue see pfq example ten-servers", "; ")
	}
	if r.JobsDistribution == nil && slices.ContainsFunc(r.Classes, func(c bf.ClassResult) bool { return c.JobsDistribution != nil }) {
		s.Note = strings.TrimPrefix(s.Note+"; the elimination lattice has the distribution of the jobs of each class, and not that of all jobs together", "; ")
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		s.Classes = append(s.Classes, solutionClass{m.Classes[i].Name, render.Rat(c.ArrivalRate, command.GivenProof(r.Engine)),
			command.OwnMeanSize(m, i, command.GivenProof(r.Engine)), part(&c.Load), value(&c.MeanJobs), value(c.MeanDelay), value(c.ServiceRate), nil, values(c.JobsDistribution)})
	}
	for i, server := range m.Servers {
		s.Servers = append(s.Servers, solutionServer{server.Name, command.GroupSize(server), part(&r.Servers[i].Utilization)})
	}
	s.JobsDistribution = values(r.JobsDistribution)
	return s
}

// drawsOne reports whether jobs of a class draw one of several equal servers.
func drawsOne(m *cluster.Model) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
		return len(c.Servers) == 1 && c.Servers[0].Choose == 1 && m.Servers[c.Servers[0].Server].Size() > 1
	})
}

// setDelays adds the percentiles to the classes, unless r is nil. A class without arrivals has some that do not exist.
func (s *solution) setDelays(r *bf.DelayResult, percentiles []command.Percentile) {
	if r == nil {
		return
	}
	s.Delays = &solutionDelays{"in order of arrival with exponential sizes", r.Engine, r.RelativeErrorBound}
	for i := range s.Classes {
		for j, p := range percentiles {
			var v *num.Value
			if q := r.Classes[i].Quantiles; q != nil {
				v = &q[j]
			}
			s.Classes[i].Delay = append(s.Classes[i].Delay, render.Field{Key: p.Name, Value: render.Value(v, command.ProofOf(r.Engine), s.digits)})
		}
	}
}

// delayTable writes the percentiles of delay of classes, as flat records; the table begins with some columns more.
func delayTable(t *render.Text, classes []render.Record, before ...string) {
	columns := append(before, "name")
	if len(classes) == 0 {
		return
	}
	for _, f := range classes[0] {
		if strings.HasPrefix(f.Key, "delay_") {
			columns = append(columns, f.Key)
		}
	}
	if len(columns) > len(before)+1 {
		t.Table(classes, columns...)
	}
}

func (s *solution) distribution() (rows []jobsProbability) {
	for n, p := range s.JobsDistribution {
		rows = append(rows, jobsProbability{n, p})
	}
	return rows
}

// A classProbability is the probability of a number of jobs of a class.
type classProbability struct {
	Name string `json:"name" title:"class"`
	jobsProbability
}

func (s *solution) classDistribution() (rows []classProbability) {
	for _, c := range s.Classes {
		for n, p := range c.JobsDistribution {
			rows = append(rows, classProbability{c.Name, jobsProbability{n, p}})
		}
	}
	return rows
}

// lines returns the lines of CSV.
func (s *solution) lines(at *command.Scaled) []render.Lines {
	whole := *s
	whole.Scaled = nil
	lines := []render.Lines{{Kind: "cluster", Of: whole}, {Kind: "class", Of: s.Classes}, {Kind: "server", Of: s.Servers},
		{Kind: "gradient", Of: s.Gradients}, {Kind: "distribution", Of: s.distribution()}, {Kind: "distribution", Of: s.classDistribution()}, {Kind: "part", Of: s.Parts}}
	for i := range lines {
		if at != nil {
			lines[i].Head = at
		}
	}
	return lines
}

// heading writes how the numbers were computed.
func (s *solution) heading(t *render.Text, before string) {
	trust := "within " + render.OneDigitUp(s.RelativeErrorBound) + " of exact (relative)"
	if s.RelativeErrorBound == 0 {
		trust = "exactly"
	}
	shown := "to six digits"
	const doubles = 16 // digits that the bound of the doubles speaks of
	switch {
	case s.Engine == num.Exact:
		shown = "as short fractions and to six digits"
	case s.Engine == num.Enclose && s.digits > 6:
		shown = fmt.Sprintf("to %d digits", s.digits-1)
		if s.digits-1 > doubles {
			trust = "between bounds " + render.OneDigitUp(s.width) + " apart (relative)"
		}
	}
	t.Line("%sstable; %s engine, computed %s, shown %s", before, s.Engine, trust, shown)
}

// partsText writes how the parts of the model were solved, and what holds for the answer.
func (s *solution) partsText(t *render.Text) {
	const most = 8
	for i, p := range s.Parts {
		if i == most && len(s.Parts) > most+1 {
			t.Line("and %d parts more", len(s.Parts)-most)
			break
		}
		what := ""
		if len(s.Parts) > 1 {
			what = fmt.Sprintf("part %d of %d: ", i+1, len(s.Parts))
		}
		t.Line("%s%s lattice, %d states: %s", what, p.Lattice, p.States, p.Why)
	}
	if s.Note != "" {
		t.Line("%s", s.Note)
	}
	if s.Delays != nil {
		t.Line("means hold for any sizes, percentiles %s; these by the %s engine, within %s of exact",
			s.Delays.Hold, s.Delays.Engine, render.OneDigitUp(s.Delays.RelativeErrorBound))
	}
}

func (s *solution) text(t *render.Text) {
	t.Digits = s.digits
	s.Service.Write(t)
	s.heading(t, "")
	s.partsText(t)
	t.Line("")
	t.Table(s, "normalization", "empty_probability", "mean_jobs", "mean_delay")
	t.Table(s.Classes, classColumns(s.Classes)...)
	var classes []render.Record
	for _, c := range s.Classes {
		classes = append(classes, render.Fields(c).Flat())
	}
	delayTable(t, classes)
	t.Table(s.Servers, serverColumns(s.Servers)...)
	t.Table(gradientRows(s.Gradients), gradientColumns...)
	t.Table(s.distribution(), "jobs", "probability")
	t.Table(s.classDistribution(), "name", "jobs", "probability")
}

func classColumns(classes []solutionClass) []string {
	columns := []string{"name", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate"}
	if len(classes) > 0 && classes[0].MeanSize != nil {
		columns = slices.Insert(columns, 2, "mean_size")
	}
	return columns
}

func serverColumns(servers []solutionServer) []string {
	if slices.ContainsFunc(servers, func(s solutionServer) bool { return s.Count > 1 }) {
		return []string{"name", "count", "utilization"}
	}
	return []string{"name", "utilization"}
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
