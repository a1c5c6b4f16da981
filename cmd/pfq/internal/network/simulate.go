package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
	"productform/sim"
	simloss "productform/sim/loss"
	simnetwork "productform/sim/network"
	simswap "productform/sim/swap"
)

// plan checks what is to be simulated.
func (f *networkFlags) plan(ctx context.Context, m model) (*sim.Plan, error) {
	var system sim.System
	switch {
	case m.network != nil:
		system = simnetwork.Network{Model: m.network, Shape: m.shape}
	case m.swap != nil:
		system = simswap.Queue{Model: m.swap, Sizes: m.shape}
	default:
		system = simloss.System{Model: m.loss, Shape: m.shape}
	}
	plan, err := sim.NewPlan(ctx, system, f.simulation)
	if err != nil {
		return nil, command.SimulationError(err, f.simulation.Folder)
	}
	return plan, nil
}

// plans returns the plans of what answer simulates, at every factor. A model that is unstable has none.
func (f *networkFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	m, err := f.read(q)
	if err != nil {
		return nil, err
	}
	all := []model{m}
	if f.factors != nil {
		all = nil
	}
	for _, factor := range f.factors {
		all = append(all, m.scale(factor))
	}
	for _, one := range all {
		plan, err := f.plan(q.Ctx, one)
		if errors.Is(err, num.ErrUnstable) {
			fmt.Fprintln(q.Stderr, "pfq: note: what is unstable has no runs; without --part and --tasks the command says why")
			continue
		}
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// A simulated is what a simulation estimates, in tables.
type simulated struct {
	found  *sim.Result
	speed  *float64
	sizes  string
	known  bool // theory has exact values for these sizes
	flags  *networkFlags
	tables []table

	comparisons command.Comparisons // in all tables
}

// A table has a row of estimates for each part of one kind of a model.
type table struct {
	key, kind string // of the list in JSON, of the lines of CSV
	rows      []render.Record
}

// A part is a list in an answer of which a simulation estimates some measures.
type part struct {
	key, title string
	kind       sim.Kind
	rows       []int // of the simulated system, in the order of the list; nil if they are its own
	measures   []string
}

// A solution is what theory says of a model.
type solution struct {
	body     render.Record // without the fields stable and note
	note     string
	lines    []string // of text, before the tables; "" for none
	digits   int
	sections []render.Section
	columns  []string // the first ones of CSV
	parts    []part
}

// simulate answers with a solution, beside which are estimates if there is a plan.
func (f *networkFlags) simulate(q command.Query, m model, plan *sim.Plan, s solution) (a render.Answer, found bool, err error) {
	estimates, err := f.run(q, m, plan, func(found *simulated) {
		for _, p := range s.parts {
			rows, _ := s.body.Get(p.key).([]render.Record)
			found.add(p, rows)
		}
	})
	if err != nil {
		return a, false, err
	}
	body := append(render.Record{{Key: "stable", Value: true}}, s.body...)
	if s.note != "" {
		body = body.Set("note", s.note, "")
	}
	a = render.Points([]render.Point{{Body: body, Sections: s.sections}}, false, s.columns, func(t *render.Text) {
		t.Digits = s.digits
		for _, l := range s.lines {
			if l != "" {
				t.Line("%s", l)
			}
		}
	})
	return estimates.beside(a), true, nil
}

// add estimates what a list in an answer is about, beside its rows if their exact values hold for the
// simulated sizes.
func (s *simulated) add(p part, exact []render.Record) {
	var names []string // by row of the simulated system
	for _, m := range s.found.Measures {
		if m.Kind == p.kind && m.Index == len(names) {
			names = append(names, m.Of)
		}
	}
	t := table{key: p.key, kind: "simulated_" + p.title}
	if p.rows == nil {
		p.rows = indices(len(names))
	}
	for i, index := range p.rows {
		var of render.Record
		if s.known && i < len(exact) {
			of = exact[i]
		}
		row := render.Record{{Key: "name", Value: names[index], Title: p.title}}
		for _, name := range p.measures {
			beside := name
			if name == sim.MeasuredDelay {
				beside = sim.MeanDelay
			}
			var value any
			if e := s.comparisons.Estimated(s.found.Estimate(p.kind, index, name), exactValue(of.Get(beside))); e != nil {
				value = render.Fields(*e)
			}
			row = append(row, render.Field{Key: name, Value: value})
		}
		if len(s.flags.percentiles) > 0 && (p.kind == sim.OfClass || p.kind == sim.OfVisit) {
			row = append(row, render.Field{Key: "delay", Value: s.comparisons.Quantiles(s.flags.percentiles,
				s.flags.simulation.Levels, s.found, p.kind, index, exactValues(of.Get("delay")))})
		}
		t.rows = append(t.rows, row)
	}
	s.tables = append(s.tables, t)
}

// exactValue returns a number of an answer, nil if it does not exist.
func exactValue(v any) *num.Value {
	n, _ := v.(render.Number)
	if n.Float == nil {
		return nil
	}
	x, _ := n.Float.(float64) // 0 beyond the range of float64
	return &num.Value{Float: x}
}

// exactValues returns the percentiles in an answer, nil if they are not known.
func exactValues(delay any) (all []num.Value) {
	fields, _ := delay.(render.Record)
	for _, f := range fields {
		if v := exactValue(f.Value); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// indices returns 0, ..., n - 1.
func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// A measure is an estimate with its name, beside its exact value if there is one.
type measure struct {
	name  string
	found *sim.Estimate
	exact *num.Value
}

// row returns the estimates of one part of the model, and the percentiles of its delays that were asked for, beside exact ones unless delays is nil.
func (s *simulated) row(title, name string, kind sim.Kind, index int, delays []num.Value, measures ...measure) render.Record {
	row := render.Record{{Key: "name", Value: name, Title: title}}
	for _, m := range measures {
		field := render.Field{Key: m.name}
		if e := s.comparisons.Estimated(m.found, m.exact); e != nil {
			field.Value = render.Fields(*e)
		}
		row = append(row, field)
	}
	if len(s.flags.percentiles) > 0 && kind != sim.OfServer && kind != simnetwork.OfStation {
		row = append(row, render.Field{Key: "delay", Value: s.comparisons.Quantiles(s.flags.percentiles,
			s.flags.simulation.Levels, s.found, kind, index, delays)})
	}
	return row
}

// exact returns an exact value if it holds for the simulated sizes, otherwise nil.
func (s *simulated) exact(v *num.Value) *num.Value {
	if !s.known {
		return nil
	}
	return v
}

// run runs a plan and compares the estimates with exact values; nil without a plan.
func (f *networkFlags) run(q command.Query, m model, plan *sim.Plan, beside func(*simulated)) (*simulated, error) {
	if plan == nil {
		return nil, nil
	}
	s := &simulated{sizes: cmp.Or(f.sizes, "exponential"), known: f.isExponential() || !m.needsExponential(), flags: f}
	var err error
	if s.found, s.speed, err = command.Replicate(q.Ctx, plan, f.simulation, q.Stderr); err != nil {
		return nil, err
	}
	beside(s)
	return s, nil
}

// isExponential reports whether the sizes that are simulated are.
func (f *networkFlags) isExponential() bool { return f.sizes == "" || f.sizes == "exponential" }

// besideStations compares the estimates with the result, nil if there is none.
func (s *simulated) besideStations(m *network.Model, r *network.Result, delays visitDelays) {
	if s.known = s.known && r != nil; !s.known {
		r = &network.Result{Chains: make([]network.ChainResult, len(s.found.Classes)), Stations: make([]network.StationResult, len(m.Stations))}
	}
	chains, stations, visits := table{key: "chains", kind: "simulated_chain"}, table{key: "stations", kind: "simulated_station"}, table{key: "visits", kind: "simulated_visit"}
	for k, c := range s.found.Classes {
		of := &r.Chains[k]
		chains.rows = append(chains.rows, s.row("chain", c.Name, sim.OfClass, k, nil,
			measure{"throughput", s.found.Class(k, sim.Throughput), s.exact(&of.Throughput)},
			measure{"mean_jobs", s.found.Class(k, sim.MeanJobs), s.exact(&of.MeanJobs)},
			measure{"measured_delay", s.found.Class(k, sim.MeasuredDelay), s.exact(of.MeanDelay)}))
	}
	ofVisit, exactDelays := make([]network.VisitResult, len(s.found.Visits)), make([][]num.Value, len(s.found.Visits)) // in the order of classes and their visits
	for i := range m.Stations {
		of := &r.Stations[i]
		for _, v := range of.Visits {
			row := visitRow(m, v.Class, v.Visit)
			ofVisit[row], exactDelays[row] = v, delays[[2]int{v.Class, v.Visit}]
		}
		at := func(name string) *sim.Estimate { return s.found.Estimate(simnetwork.OfStation, i, name) }
		stations.rows = append(stations.rows, s.row("station", m.Stations[i].Name, simnetwork.OfStation, i, nil,
			measure{"mean_jobs", at(sim.MeanJobs), s.exact(&of.MeanJobs)},
			measure{"utilization", at(sim.Utilization), s.exact(of.Utilization)},
			measure{"empty_probability", at(simnetwork.EmptyProbability), s.exact(&of.ProbEmpty)}))
	}
	for _, k := range visitsByStation(m) {
		at := func(name string) *sim.Estimate { return s.found.Estimate(sim.OfVisit, k, name) }
		visits.rows = append(visits.rows, s.row("visit", s.found.Visits[k].Name, sim.OfVisit, k, exactDelays[k],
			measure{"throughput", at(sim.Throughput), s.exact(&ofVisit[k].Throughput)},
			measure{"mean_jobs", at(sim.MeanJobs), s.exact(&ofVisit[k].MeanJobs)},
			measure{"measured_delay", at(sim.MeasuredDelay), s.exact(ofVisit[k].MeanDelay)}))
	}
	s.tables = []table{chains, stations, visits}
}

// visitsByStation returns the rows of all visits, by station and then by class, as in a [network.Result].
func visitsByStation(m *network.Model) (rows []int) {
	for i := range m.Stations {
		for c, class := range m.Classes {
			for v := range class.Visits {
				if class.Visits[v].Station == i {
					rows = append(rows, visitRow(m, c, v))
				}
			}
		}
	}
	return rows
}

// visitRow returns the place of a visit in the order of classes and their visits.
func visitRow(m *network.Model, class, visit int) int {
	for _, c := range m.Classes[:class] {
		visit += len(c.Visits)
	}
	return visit
}

// head returns what all estimates have in common.
func (s *simulated) head() render.Record {
	r := s.found
	return render.Fields(struct {
		Method   string         `json:"method"`
		Sizes    string         `json:"sizes"`
		Runs     int            `json:"runs"`
		Jumps    float64        `json:"jumps"`
		Time     float64        `json:"time"`
		WarmUp   float64        `json:"warm_up"`
		Seed     uint64         `json:"seed"`
		Joint    *command.Joint `json:"joint"`
		Warnings []string       `json:"warnings"`
	}{r.Method, s.sizes, r.Runs, r.Jumps, r.Time, r.WarmUp, s.flags.simulation.Seed, s.comparisons.Joint(),
		append([]string{}, r.Warnings...)})
}

// beside adds the estimates to an answer, if something was simulated.
func (s *simulated) beside(a render.Answer) render.Answer {
	if s == nil {
		return a
	}
	exact := a.Text
	a.JSON = append(a.JSON.(render.Record), render.Field{Key: "simulated", Value: s.record()})
	a.Lines = append(a.Lines, s.lines()...)
	a.Text = func(t *render.Text) {
		exact(t)
		s.text(t)
	}
	return a
}

// record returns the part of the answer in JSON, nil if nothing was simulated.
func (s *simulated) record() render.Record {
	if s == nil {
		return nil
	}
	all := s.head()
	var speed any
	if s.speed != nil {
		speed = *s.speed
	}
	for _, t := range s.tables {
		if len(t.rows) > 0 {
			all = append(all, render.Field{Key: t.key, Value: t.rows})
		}
	}
	return append(all, render.Field{Key: "jumps_per_second", Value: speed})
}

// lines returns the lines of CSV.
func (s *simulated) lines() (lines []render.Lines) {
	if s == nil {
		return nil
	}
	lines = []render.Lines{{Kind: "simulation", Of: s.head()}}
	for _, t := range s.tables {
		lines = append(lines, render.Lines{Kind: t.kind, Of: t.rows})
	}
	return lines
}

func (s *simulated) text(t *render.Text) {
	if s == nil {
		return
	}
	t.Blank()
	t.Line("%s; sizes %s", s.found.Method, s.sizes)
	t.Line("%s, observed for a time of %s after a warm-up of %s; seed %d; ± at confidence %v",
		render.Counted(s.found.Runs, "run"), render.Six(s.found.Time), render.Six(s.found.WarmUp), s.flags.simulation.Seed, s.flags.simulation.Confidence)
	s.comparisons.Joint().Text(t)
	t.Line("")
	for _, one := range s.tables {
		if len(one.rows) == 0 {
			continue
		}
		var columns []string
		for _, f := range one.rows[0] {
			if f.Key != "delay" {
				columns = append(columns, f.Key)
			}
		}
		for some := range slices.Chunk(columns[1:], 3) {
			t.Table(one.rows, append(columns[:1:1], some...)...)
		}
		command.QuantileTables(t, one.rows, "delay")
	}
}
