package main

import (
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// A simulation holds the simulated system, the estimates, and the exact values.
type simulation struct {
	*simulateQuestion
	model  *cluster.Model
	stable bool
	jobs   jobSizes
	result *sim.Result
	speed  *float64 // in jumps per second; nil if all runs were found
	known  theory

	comparisons command.Comparisons
}

// simulateColumns are the first columns of CSV.
var simulateColumns = []string{"kind", "name", "quantity", "mean", "half_width", "confidence", "exact", "z"}

func (s *simulation) answer() render.Answer {
	var exact render.Record
	classes, servers := make([]render.Record, len(s.model.Classes)), make([]render.Record, len(s.model.Servers))
	if s.known.means != nil {
		exact = render.Fields(s.known.means)
		classes, servers = exact.Get("classes").([]render.Record), exact.Get("servers").([]render.Record)
	}
	all := s.add(nil, sim.OfAll, 0, exact, s.known.delays.all, sim.MeanJobs, sim.MeanDelay)
	body := s.given().Set("classes", s.classes(classes), "runs").Set("servers", s.servers(servers), "runs")
	for _, f := range all {
		body = body.Set(f.Key, f.Value, "runs")
	}
	if law := s.distribution(); law != nil {
		body = body.Set("jobs_distribution", law, "runs")
	}
	joint := s.comparisons.Joint()
	body = body.Set("joint", joint, "effective_samples")
	note := s.note()
	if note != "" {
		body = body.Set("note", note, "")
	}
	point := render.Point{Body: body, Sections: s.sections(all)}
	a := render.Points([]render.Point{point}, false, simulateColumns, func(t *render.Text) {
		s.heading(t)
		joint.Text(t)
		if note != "" {
			t.Line("\n%s", note)
		}
	})
	a.Lines = quantities(body, all)
	return a
}

// given returns the fields that describe the system and the runs.
func (s *simulation) given() render.Record {
	r := append(command.ServiceHead(s.model, s.stable), render.Fields(s.result)...)
	r = r.Set("policy", s.policy, "method").Set("sizes", s.sizes, "method")
	if s.jobs.scaledFrom != nil {
		r = r.Set("scaled_from", s.jobs.scaledFrom, "method")
	}
	r = r.Set("interruptions", nil, "method")
	if s.interruptions > 0 {
		r = r.Set("interruptions", s.interruptions, "")
	}
	return r.Set("jumps_per_second", s.speed, "time").Set("seed", s.settings.Seed, "effective_samples")
}

// note explains different mean sizes and missing exact values; it is "" if there are neither.
func (s *simulation) note() string {
	var notes []string
	if _, err := s.model.OneMeanSize(); err != nil {
		notes = append(notes, "mean sizes differ by class: the sizes of each are scaled to its own")
	}
	if s.known.missing != "" {
		notes = append(notes, s.known.missing)
	}
	return strings.Join(notes, ", and ")
}

// add appends the estimates for one part of the system to its row.
func (s *simulation) add(row render.Record, kind sim.Kind, i int, exact render.Record, delays []num.Value,
	names ...string) render.Record {
	row = append(row, s.comparisons.Estimates(s.result, kind, i, exact, names...)...)
	if len(s.percentiles) > 0 && kind != sim.OfServer {
		delay := s.comparisons.Quantiles(s.percentiles, s.settings.Levels, s.result, kind, i, delays)
		row = row.Set("delay", delay, "")
	}
	return row
}

func (s *simulation) classes(exact []render.Record) []render.Record {
	rows := make([]render.Record, len(exact))
	ownSizes := s.model.HasOwnMeanSizes()
	for i, class := range s.model.Classes {
		row := render.Record{{Key: "name", Value: class.Name, Title: "class"}}
		row = row.Set("arrival_rate", class.ArrivalRate, "")
		if ownSizes {
			row = row.Set("mean_size", s.model.MeanSizeOf(i), "")
		}
		rows[i] = s.add(row, sim.OfClass, i, exact[i], s.known.delays.of(i),
			sim.MeanJobs, sim.MeanDelay, sim.MeasuredDelay, sim.ServiceRate)
	}
	return rows
}

func (s *simulation) servers(exact []render.Record) []render.Record {
	rows := make([]render.Record, len(exact))
	for i, server := range s.model.Servers {
		row := render.Record{{Key: "name", Value: server.Name, Title: "server"}}
		if n := server.GroupSize(); n > 0 {
			row = row.Set("count", n, "")
		}
		rows[i] = s.add(row, sim.OfServer, i, exact[i], nil, sim.Utilization)
		if busy, ok := rows[i].Get(sim.Utilization).(render.Record); ok && !serves(s.model, i) {
			busy.Set("half_width", 0., "") // this server is never busy
		}
	}
	return rows
}

// serves reports whether arriving jobs can use the servers of a row.
func serves(m *cluster.Model, row int) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
		onRow := func(s cluster.Choice) bool { return s.Server == row }
		return c.ArrivalRate.Sign() > 0 && slices.ContainsFunc(c.Servers, onRow)
	})
}

// distribution returns the estimated probabilities of 0, 1, ... jobs, nil without --distribution.
func (s *simulation) distribution() (law []*render.Estimate) {
	for n := range s.result.Distribution {
		var exact *num.Value
		if s.known.means != nil && n < len(s.known.means.JobsDistribution) {
			exact = &s.known.means.JobsDistribution[n]
		}
		law = append(law, s.comparisons.Estimated(&s.result.Distribution[n], exact))
	}
	return law
}

// quantities returns a line of CSV for each quantity: an estimate, a number as its mean, or a word.
// The speed is omitted because it differs from run to run.
func quantities(body, all render.Record) (lines []render.Lines) {
	add := func(kind string, name any, row render.Record) {
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
	add("cluster", nil, all)
	for _, list := range []struct{ kind, key string }{{"class", "classes"}, {"server", "servers"}} {
		for _, row := range body.Get(list.key).([]render.Record) {
			add(list.kind, row[0].Value, row[1:])
		}
	}
	law, _ := body.Get("jobs_distribution").([]render.Record)
	for n, p := range law {
		add("distribution", n, render.Record{{Key: "probability", Value: p}})
	}
	if joint, ok := body.Get("joint").(render.Record); ok {
		add("joint", nil, joint)
	}
	elsewhere := []string{"joint", "classes", "servers", "mean_jobs", "mean_delay", "delay", "jobs_distribution",
		"jumps_per_second"}
	add("simulation", nil, slices.DeleteFunc(slices.Clone(body), func(f render.Field) bool {
		return slices.Contains(elsewhere, f.Key)
	}))
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

// sections are the tables of text. Those of the classes begin with all jobs.
func (s *simulation) sections(all render.Record) (sections []render.Section) {
	withAll := func(classes []render.Record) []render.Record {
		first := slices.Concat(render.Record{{Key: "name", Value: "all classes"}}, all)
		rows := append([]render.Record{first}, classes...)
		for i, row := range rows {
			delay, _ := row.Get("delay").(render.Record)
			for _, f := range delay {
				rows[i] = rows[i].Set("delay_"+f.Key, f.Value, "")
			}
		}
		return rows
	}
	tables := []string{"name arrival_rate mean_size? mean_jobs service_rate", "name mean_delay measured_delay"}
	for some := range slices.Chunk(s.percentiles, 3) {
		columns := "name"
		for _, p := range some {
			columns += " delay_" + p.Name
		}
		tables = append(tables, columns)
	}
	for _, columns := range tables {
		sections = append(sections, render.Section{Of: "classes", Columns: columns, Rows: withAll})
	}
	return append(sections, render.Section{Of: "servers", Columns: "name count? utilization"},
		render.Section{Of: "jobs_distribution"})
}
