package main

import (
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/stability"
)

// A simulation holds the system simulated under a policy, the estimates, and the exact values.
type simulation struct {
	*simulateQuestion
	model    *cluster.Model
	compared *cluster.Model    // decides stability: model, unless jobs compare some of their servers
	verdict  *stability.Result // of compared
	gang     *gangVerdict      // in place of both for jobs that hold several servers at once
	jobs     jobSizes
	policy   string
	system   simcluster.Cluster
	plan     *sim.Plan   // nil if the model is unstable and there is no horizon
	result   *sim.Result // nil without a plan
	speed    *float64    // in jumps per second; nil if all runs were found
	known    theory

	comparisons command.Comparisons
	joint       *command.Joint // verdict on them
}

// simulateColumns are the first columns of CSV.
var simulateColumns = []string{"kind", "name", "quantity", "mean", "half_width", "confidence", "exact", "z"}

// answer returns the answer about a single policy.
func (s *simulation) answer() render.Answer {
	body, all := s.body()
	point := render.Point{Body: body, Sections: s.sections(all)}
	a := render.Points([]render.Point{point}, false, simulateColumns, func(t *render.Text) {
		s.heading(t)
		s.joint.Text(t)
		if note := s.note(); note != "" {
			t.Line("\n%s", note)
		}
	})
	a.Lines = quantities(body, all)
	return a
}

// comparePolicies returns the answer about several policies.
func comparePolicies(list []*simulation) render.Answer {
	var points []render.Point
	var lines []render.Lines
	for _, s := range list {
		head := render.Record{{Key: "policy", Value: s.policy}}
		if s.result == nil {
			body := s.unstable()
			points = append(points, render.Point{Head: head, Body: body})
			lines = append(lines, render.Lines{Kind: "unstable", Head: head, Of: body})
			continue
		}
		body, all := s.body()
		body = slices.DeleteFunc(body, func(f render.Field) bool { return f.Key == "policy" })
		points = append(points, render.Point{Head: head, Body: body, Sections: s.sections(all)})
		for _, l := range quantities(body, all) {
			lines = append(lines, render.Lines{Kind: l.Kind, Head: head, Of: l.Of})
		}
	}
	a := render.Points(points, true, append([]string{"policy"}, simulateColumns...), func(t *render.Text) {
		compareHeading(t, list)
	})
	a.JSON, a.Lines = render.Record{{Key: "policies", Value: a.JSON}}, lines
	return a
}

// unstable returns the fields that explain why there are no estimates.
func (s *simulation) unstable() render.Record {
	if s.gang != nil {
		return slices.DeleteFunc(s.gang.unstable(s.policy), func(f render.Field) bool { return f.Key == "policy" })
	}
	return command.Unstable(s.compared, s.verdict, num.Float)
}

// body returns the fields of the answer about a policy, and separately the fields about all jobs.
func (s *simulation) body() (body, all render.Record) {
	exact, measures := s.exact(), s.measures()
	classes, servers := make([]render.Record, len(s.model.Classes)), make([]render.Record, len(s.model.Servers))
	if exact != nil {
		classes, servers = exact.Get("classes").([]render.Record), exact.Get("servers").([]render.Record)
	}
	all = s.add(nil, sim.OfAll, 0, exact, measures.all...)
	all = s.addTimes(all, sim.OfAll, 0)
	body = s.given().Set("classes", s.classes(classes, measures.class), "runs")
	body = body.Set("servers", s.servers(servers), "runs")
	for _, f := range all {
		body = body.Set(f.Key, f.Value, "runs")
	}
	if law := s.distribution(); law != nil {
		body = body.Set("jobs_distribution", law, "runs")
	}
	s.joint = s.comparisons.Joint()
	body = body.Set("joint", s.joint, "effective_samples")
	if note := s.note(); note != "" {
		body = body.Set("note", note, "")
	}
	return body, all
}

// measureNames lists the measures of an answer.
type measureNames struct{ all, class []string }

// measures returns the names of the measures of all jobs and of each class.
func (s *simulation) measures() measureNames {
	if s.hasWaiting() {
		return s.oneMeasures()
	}
	if timesOut(s.model) {
		list := []string{sim.MeanJobs, simcluster.TimeoutProbability, sim.MeanDelay, sim.MeasuredDelay}
		return measureNames{all: list, class: list}
	}
	return measureNames{
		all:   []string{sim.MeanJobs, sim.MeanDelay},
		class: []string{sim.MeanJobs, sim.MeanDelay, sim.MeasuredDelay, sim.ServiceRate},
	}
}

// hasWaiting reports whether jobs wait for a server or for several, rather than share them.
func (s *simulation) hasWaiting() bool { return s.model.RequireService(cluster.AllServers) != nil }

// timesOut reports whether some jobs of a model time out.
func timesOut(m *cluster.Model) bool { return m.RequireNoTimeouts() != nil }

// given returns the fields that describe the system and the runs.
func (s *simulation) given() render.Record {
	r := append(command.ServiceHead(s.model, true).Set("stable", s.isStable(), ""), render.Fields(s.result)...)
	r = r.Set("policy", s.policy, "method").Set("sizes", s.sizes, "method")
	if s.jobs.scaledFrom != nil {
		r = r.Set("scaled_from", s.jobs.scaledFrom, "method")
	}
	if !s.hasWaiting() {
		r = r.Set("interruptions", nil, "method")
	}
	if s.patience != "" {
		r = r.Set("patience", s.patience, "method")
	}
	if s.gang != nil && s.system.Policy.HasRequests() {
		r = r.Set("requests", cli.FactorsText(s.requests), "method")
	}
	if s.interruptions > 0 {
		r = r.Set("interruptions", s.interruptions, "")
	}
	return r.Set("jumps_per_second", s.speed, "time").Set("seed", s.settings.Seed, "effective_samples")
}

// note explains different mean sizes, missing exact values and priorities without effect; it is ""
// if there are none of these.
func (s *simulation) note() string {
	var notes []string
	if _, err := s.model.OneMeanSize(); err != nil {
		notes = append(notes, "mean sizes differ by class: the sizes of each are scaled to its own")
	}
	if s.known.missing != "" {
		notes = append(notes, s.known.missing)
	}
	if note := command.PrioritiesIgnored(s.model, " under the policy "+s.policy); note != "" &&
		!s.system.Policy.HasPriorities() {
		notes = append(notes, note)
	}
	if s.gang != nil {
		notes = append(notes, gangNote)
	}
	return strings.Join(notes, ", and ")
}

// add appends the estimates for one part of the system to its row.
func (s *simulation) add(row render.Record, kind sim.Kind, i int, exact render.Record, names ...string) render.Record {
	return append(row, s.comparisons.Estimates(s.result, kind, i, exact, names...)...)
}

// addTimes appends the percentiles of times of all jobs or of a class to their row.
func (s *simulation) addTimes(row render.Record, kind sim.Kind, i int) render.Record {
	if len(s.percentiles) == 0 {
		return row
	}
	times := func(kind sim.Kind, index int, exact []num.Value) render.Record {
		return s.comparisons.Quantiles(s.percentiles, s.settings.Levels, s.result, kind, index, exact)
	}
	delay, waiting := s.known.delays.all, []num.Value(nil)
	if kind == sim.OfClass {
		delay, waiting = s.known.delays.of(i), s.known.waiting.of(i)
	}
	if s.hasWaiting() {
		visit := i // waiting of the class; the waiting of all jobs is last
		if kind == sim.OfAll {
			visit = len(s.model.Classes)
		}
		row = row.Set("waiting", times(sim.OfVisit, visit, waiting), "")
	}
	return row.Set("delay", times(kind, i, delay), "")
}

func (s *simulation) classes(exact []render.Record, names []string) []render.Record {
	rows := make([]render.Record, len(exact))
	ownSizes := s.model.HasOwnMeanSizes()
	for i, class := range s.model.Classes {
		row := render.Record{{Key: "name", Value: class.Name, Title: "class"}}
		row = row.Set("arrival_rate", class.ArrivalRate, "")
		if ownSizes {
			row = row.Set("mean_size", s.model.MeanSizeOf(i), "")
		}
		if command.HasPriorities(s.model) {
			row = row.Set("priority", class.Priority, "")
		}
		row = s.add(row, sim.OfClass, i, exact[i], names...)
		if s.model.Service == cluster.OneServer {
			row = row.Set("served_by", s.servedBy(i, exact[i]), "")
		}
		rows[i] = s.addTimes(row, sim.OfClass, i)
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
		names := []string{sim.Utilization}
		if s.gang != nil {
			names = append(names, simcluster.MeanBusy)
		}
		rows[i] = s.add(row, sim.OfServer, i, exact[i], names...)
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
		return c.ArrivalRate.Sign() > 0 && slices.ContainsFunc(slices.Concat(c.Servers, c.Needs), onRow)
	})
}

// distribution returns the estimated probabilities of 0, 1, ... jobs, nil without --distribution.
func (s *simulation) distribution() (law []*render.Estimate) {
	for n := range s.result.Distribution {
		var exact *num.Value
		if n < len(s.known.distribution) {
			exact = &s.known.distribution[n]
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
				if f.Key == "delay" || f.Key == "waiting" {
					lines = append(lines, timeLines(kind, name, f.Key, v)...)
					continue
				}
				line = append(line, v...)
			case []render.Record:
				lines = append(lines, servingLines(name, v)...)
				continue
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
	elsewhere := []string{"joint", "classes", "servers", "jobs_distribution", "jumps_per_second"}
	add("simulation", nil, slices.DeleteFunc(slices.Clone(body), func(f render.Field) bool {
		isOfAll := slices.ContainsFunc(all, func(x render.Field) bool { return x.Key == f.Key })
		return isOfAll || slices.Contains(elsewhere, f.Key)
	}))
	return lines
}

// timeLines returns a line of CSV for each percentile of a time.
func timeLines(kind string, name any, key string, percentiles render.Record) (lines []render.Lines) {
	for _, f := range percentiles {
		line := render.Record{{Key: "name", Value: name}, {Key: "quantity", Value: key + "_" + f.Key}}
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
	times := []string{"delay"}
	tables := []string{"name arrival_rate mean_size? mean_jobs service_rate", "name mean_delay measured_delay"}
	if timesOut(s.model) {
		tables[0] = "name arrival_rate mean_size? mean_jobs timeout_probability"
	}
	one := s.model.Service == cluster.OneServer
	if s.hasWaiting() {
		times, tables = []string{"waiting", "delay"}, s.oneTables()
	}
	several := len(s.policies) > 1
	withAll := func(classes []render.Record) []render.Record {
		first := slices.Concat(render.Record{{Key: "name", Value: "all classes"}}, all)
		rows := append([]render.Record{first}, classes...)
		for i, row := range rows {
			for _, time := range times {
				percentiles, _ := row.Get(time).(render.Record)
				for _, f := range percentiles {
					rows[i] = rows[i].Set(time+"_"+f.Key, f.Value, "")
				}
			}
		}
		if several {
			return withoutTheory(rows)
		}
		return rows
	}
	for _, time := range times {
		for some := range slices.Chunk(s.percentiles, 3) {
			columns := "name"
			for _, p := range some {
				columns += " " + time + "_" + p.Name
			}
			tables = append(tables, columns)
		}
	}
	for _, columns := range tables {
		sections = append(sections, render.Section{Of: "classes", Columns: columns, Rows: withAll})
	}
	servers := render.Section{Of: "servers", Columns: "name count? utilization mean_busy?"}
	switch {
	case several:
		servers.Rows = withoutTheory
	case one:
		sections = append(sections, render.Section{Of: "classes.served_by", Columns: "name server share"})
	}
	return append(sections, servers, render.Section{Of: "jobs_distribution"})
}
