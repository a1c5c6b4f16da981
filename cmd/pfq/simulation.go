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
	"productform/sim"
)

// A simulation is the answer of simulate.
type simulation struct {
	Stable        bool               `json:"stable"`
	Service       command.Service    `json:"service"`
	Policy        string             `json:"policy"`
	Sizes         string             `json:"sizes"`
	ScaledFrom    *float64           `json:"scaled_from,omitempty"` // mean of sizes that have their own before they were scaled to that of the model
	Interruptions *float64           `json:"interruptions"`
	Method        string             `json:"method"`
	Classes       []simulationClass  `json:"classes"`
	Servers       []simulationServer `json:"servers"`
	simulationMeans
	JobsDistribution []*render.Estimate `json:"jobs_distribution,omitempty"`
	Runs             int                `json:"runs"`
	Jumps            float64            `json:"jumps"`
	JumpsPerSecond   *float64           `json:"jumps_per_second"` // null if all runs were found
	Time             float64            `json:"time"`
	WarmUp           float64            `json:"warm_up"`
	Seed             uint64             `json:"seed"`
	Joint            *command.Joint     `json:"joint"`
	EffectiveSamples float64            `json:"effective_samples"`
	Warnings         []string           `json:"warnings"`
	Note             string             `json:"note,omitempty"`

	confidence float64
}

// The simulationMeans are of all jobs.
type simulationMeans struct {
	MeanJobs  *render.Estimate `json:"mean_jobs"`
	MeanDelay *render.Estimate `json:"mean_delay"`
	Delay     render.Record    `json:"delay,omitempty"` // the percentiles asked for
}

type simulationClass struct {
	Name          string           `json:"name" title:"class"`
	ArrivalRate   render.Number    `json:"arrival_rate"`
	MeanSize      *render.Number   `json:"mean_size,omitempty"` // nil if no class has one of its own
	MeanJobs      *render.Estimate `json:"mean_jobs"`
	MeanDelay     *render.Estimate `json:"mean_delay"`
	MeasuredDelay *render.Estimate `json:"measured_delay"`
	ServiceRate   *render.Estimate `json:"service_rate"`
	Delay         render.Record    `json:"delay,omitempty"`
}

type simulationServer struct {
	Name        string           `json:"name" title:"server"`
	Count       int              `json:"count,omitempty"`
	Utilization *render.Estimate `json:"utilization"`
}

// newSimulation turns what was simulated into an answer; the note says why it has no exact values.
func (f *simulateFlags) newSimulation(m *cluster.Model, stable bool, jobs jobSizes, r *sim.Result, known theory, speed *float64) *simulation {
	s := &simulation{
		Stable: stable, Service: command.AllServers, Policy: f.policy, Sizes: f.sizes, ScaledFrom: jobs.scaledFrom,
		Method: r.Method, Classes: []simulationClass{}, Servers: []simulationServer{},
		Runs: r.Runs, Jumps: r.Jumps, JumpsPerSecond: speed, Time: r.Time, WarmUp: r.WarmUp, Seed: f.settings.Seed,
		EffectiveSamples: r.EffectiveSamples, Warnings: append([]string{}, r.Warnings...),
		confidence: f.settings.Confidence,
	}
	if f.interruptions > 0 {
		s.Interruptions = &f.interruptions
	}
	if _, err := m.OneMeanSize(); err != nil {
		s.Note = "mean sizes differ by class: the sizes of each are scaled to its own"
	}
	if known.missing != "" {
		s.Note = strings.TrimPrefix(s.Note+", and "+known.missing, ", and ")
	}
	theory, delays := known.means, known.delays
	if theory == nil {
		theory = &bf.Result{Classes: make([]bf.ClassResult, len(m.Classes)), Servers: make([]bf.ServerResult, len(m.Servers))}
	}
	value := func(v *num.Value) *num.Value {
		if known.means != nil {
			return v
		}
		return nil
	}
	var c command.Comparisons
	s.simulationMeans = simulationMeans{c.Estimated(r.All(sim.MeanJobs), value(&theory.MeanJobs)),
		c.Estimated(r.All(sim.MeanDelay), theory.MeanDelay),
		c.Quantiles(f.percentiles, f.settings.Levels, r, sim.OfAll, 0, delays.all)}
	for i, class := range r.Classes {
		t := &theory.Classes[i]
		s.Classes = append(s.Classes, simulationClass{class.Name,
			render.Rat(m.Classes[i].ArrivalRate, render.Unproved), command.OwnMeanSize(m, i, render.Unproved),
			c.Estimated(r.Class(i, sim.MeanJobs), value(&t.MeanJobs)),
			c.Estimated(r.Class(i, sim.MeanDelay), t.MeanDelay),
			c.Estimated(r.Class(i, sim.MeasuredDelay), t.MeanDelay),
			c.Estimated(r.Class(i, sim.ServiceRate), t.ServiceRate),
			c.Quantiles(f.percentiles, f.settings.Levels, r, sim.OfClass, i, delays.of(i))})
	}
	for i, server := range m.Servers {
		busy := c.Estimated(r.Server(i, sim.Utilization), value(&theory.Servers[i].Utilization))
		if busy != nil && !serves(m, i) {
			busy.HalfWidth = new(float64) // it is idle for ever
		}
		s.Servers = append(s.Servers, simulationServer{server.Name, server.GroupSize(), busy})
	}
	for n := range r.Distribution {
		var exact *num.Value
		if n < len(theory.JobsDistribution) {
			exact = &theory.JobsDistribution[n]
		}
		s.JobsDistribution = append(s.JobsDistribution, c.Estimated(&r.Distribution[n], exact))
	}
	s.Joint = c.Joint()
	return s
}

// serves reports whether jobs that arrive can use the servers of a row.
func serves(m *cluster.Model, row int) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
		return c.ArrivalRate.Sign() > 0 && slices.ContainsFunc(c.Servers, func(s cluster.Choice) bool { return s.Server == row })
	})
}

func (s *simulation) answer() render.Answer {
	return render.Answer{JSON: s, Lines: s.lines(), Columns: simulationColumns, Text: s.text}
}

// A jobsEstimate is the estimated probability of a number of jobs in all.
type jobsEstimate struct {
	Jobs        int              `json:"jobs"`
	Probability *render.Estimate `json:"probability"`
}

func (s *simulation) distribution() (rows []jobsEstimate) {
	for n, p := range s.JobsDistribution {
		rows = append(rows, jobsEstimate{n, p})
	}
	return rows
}

var simulationColumns = []string{"kind", "name", "quantity", "mean", "half_width", "confidence", "exact", "z"}

// lines returns a line of CSV for each quantity: an estimate, a number as its mean, or a word. The speed is left out, since it
// is never twice the same.
func (s *simulation) lines() (lines []render.Lines) {
	add := func(kind string, row render.Record) {
		var name any
		if kind == "class" || kind == "server" || kind == "distribution" {
			name, row = row[0].Value, row[1:]
		}
		for _, f := range row {
			line := render.Record{{Key: "name", Value: name}, {Key: "quantity", Value: f.Key}}
			switch v := f.Value.(type) {
			case render.Record:
				if f.Key == "delay" {
					lines = append(lines, delayLines(kind, name, v)...)
					continue
				}
				line = append(line, v...)
			case string, bool, []any:
				line = append(line, render.Field{Key: "word", Value: v})
			default:
				line = append(line, render.Field{Key: "mean", Value: v})
			}
			lines = append(lines, render.Lines{Kind: kind, Of: line})
		}
	}
	add("cluster", render.Fields(s.simulationMeans))
	for _, c := range s.Classes {
		add("class", render.Fields(c))
	}
	for _, server := range s.Servers {
		add("server", render.Fields(server))
	}
	for _, d := range s.distribution() {
		add("distribution", render.Fields(d))
	}
	if s.Joint != nil {
		add("joint", render.Fields(s.Joint))
	}
	elsewhere := []string{"joint", "classes", "servers", "mean_jobs", "mean_delay", "delay", "jobs_distribution",
		"jumps_per_second"}
	add("simulation", slices.DeleteFunc(render.Fields(s), func(f render.Field) bool { return slices.Contains(elsewhere, f.Key) }))
	return lines
}

// delayLines returns a line of CSV for each percentile.
func delayLines(kind string, name any, delay render.Record) (lines []render.Lines) {
	for _, f := range delay {
		line := render.Record{{Key: "name", Value: name}, {Key: "quantity", Value: "delay_" + f.Key}}
		if q, ok := f.Value.(render.Record); ok {
			line = append(line, render.Field{Key: "mean", Value: q.Get("estimate")})
			line = append(line, q[1:]...)
		}
		lines = append(lines, render.Lines{Kind: kind, Of: line})
	}
	return lines
}

func (s *simulation) text(t *render.Text) {
	verdict, policy, of := "stable", s.Policy, s.Sizes
	if !s.Stable {
		verdict = "unstable"
	}
	if s.Interruptions != nil {
		policy = fmt.Sprintf("%s, %.6g a job on average", policy, *s.Interruptions)
	}
	if s.ScaledFrom != nil {
		of += fmt.Sprintf(", scaled from the mean %.6g to that of the model", *s.ScaledFrom)
	}
	s.Service.Write(t)
	t.Line("%s; policy %s; sizes %s; %s", verdict, policy, of, s.Method)
	from := fmt.Sprintf("after a warm-up of %.6g", s.WarmUp)
	if s.WarmUp == 0 {
		from = "from the empty start"
	}
	t.Line("%d runs of %.0f jumps, observed for a time of %.6g %s; seed %d; ± at confidence %g",
		s.Runs, s.Jumps/float64(s.Runs), s.Time, from, s.Seed, s.confidence)
	s.Joint.Text(t)
	t.Line("")
	if s.Note != "" {
		t.Line("%s\n", s.Note)
	}
	classes := []render.Record{append(render.Record{{Key: "name", Value: "all classes"}}, render.Fields(s.simulationMeans)...)}
	classes = append(classes, render.Rows(s.Classes)...)
	columns := []string{"name", "arrival_rate", "mean_jobs", "service_rate"}
	if len(s.Classes) > 0 && s.Classes[0].MeanSize != nil {
		columns = slices.Insert(columns, 2, "mean_size")
	}
	t.Table(classes, columns...)
	t.Table(classes, "name", "mean_delay", "measured_delay")
	command.QuantileTables(t, classes, "delay")
	if slices.ContainsFunc(s.Servers, func(s simulationServer) bool { return s.Count > 1 }) {
		t.Table(s.Servers, "name", "count", "utilization")
	} else {
		t.Table(s.Servers, "name", "utilization")
	}
	t.Table(s.distribution(), "jobs", "probability")
}
