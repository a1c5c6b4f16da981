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
		return nil, command.SimulationError(f.binding, err, f.simulation.Folder)
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
	rows       []int // in the simulation of each row of the list; nil if both have the same rows
	measures   []string
}

// A solution is an exact answer, and the parts of it that a simulation estimates.
type solution struct {
	body     render.Record // without the fields stable and note
	note     string
	lines    []string // of text, before the tables; "" for none
	digits   int
	sections []render.Section
	columns  []string // the first ones of CSV
	parts    []part
}

// stable returns the fields of an answer, with a note unless it is "".
func stable(body render.Record, note string) render.Record {
	body = slices.Insert(body, 0, render.Field{Key: "stable", Value: true})
	if note != "" {
		body = body.Set("note", note, "")
	}
	return body
}

// simulate answers with a solution. If there is a plan, it runs it and adds the estimates.
func (f *networkFlags) simulate(q command.Query, m model, plan *sim.Plan, s solution) (
	a render.Answer, found bool, err error) {
	body := stable(s.body, s.note)
	a = render.Points([]render.Point{{Body: body, Sections: s.sections}}, false, s.columns, func(t *render.Text) {
		t.Digits = s.digits
		for _, l := range s.lines {
			if l != "" {
				t.Line("%s", l)
			}
		}
	})
	if plan == nil {
		return a, true, nil
	}
	known := f.isExponential() || !m.needsExponential()
	estimates := &simulated{sizes: cmp.Or(f.sizes, "exponential"), known: known, flags: f}
	estimates.found, estimates.speed, err = command.Replicate(q.Ctx, plan, f.simulation, q.Stderr)
	if err != nil {
		return a, false, err
	}
	for _, p := range s.parts {
		estimates.add(p, body.Get(p.key).([]render.Record))
	}
	exact := a.Text
	a.JSON = append(body, render.Field{Key: "simulated", Value: estimates.record()})
	a.Lines = append(a.Lines, estimates.lines()...)
	a.Text = func(t *render.Text) {
		exact(t)
		estimates.text(t)
	}
	return a, true, nil
}

// add adds a table of estimates, with the exact values from a list in the answer if these hold for the
// simulated sizes.
func (s *simulated) add(p part, exact []render.Record) {
	var names []string // by row of the simulated system
	for _, m := range s.found.Measures {
		if m.Kind == p.kind && m.Index == len(names) {
			names = append(names, m.Of)
		}
	}
	t := table{key: p.key, kind: "simulated_" + p.title}
	for i := range cmp.Or(len(p.rows), len(names)) {
		index, of := i, render.Record(nil)
		if p.rows != nil {
			index = p.rows[i]
		}
		if s.known && i < len(exact) {
			of = exact[i]
		}
		row := render.Record{{Key: "name", Value: names[index], Title: p.title}}
		row = append(row, s.comparisons.Estimates(s.found, p.kind, index, of, p.measures...)...)
		if len(s.flags.percentiles) > 0 && (p.kind == sim.OfClass || p.kind == sim.OfVisit) {
			row = row.Set("delay", s.comparisons.Quantiles(s.flags.percentiles, s.flags.simulation.Levels,
				s.found, p.kind, index, exactValues(of.Get("delay"))), "")
		}
		t.rows = append(t.rows, row)
	}
	s.tables = append(s.tables, t)
}

// exactValues returns the percentiles in an answer, nil if they are not known.
func exactValues(delay any) (all []num.Value) {
	fields, _ := delay.(render.Record)
	for _, f := range fields {
		if v := command.ExactValue(f.Value); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// isExponential reports whether the sizes that are simulated are.
func (f *networkFlags) isExponential() bool { return f.sizes == "" || f.sizes == "exponential" }

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

// record returns the part of the answer in JSON.
func (s *simulated) record() render.Record {
	all := s.head()
	for _, t := range s.tables {
		if len(t.rows) > 0 {
			all = all.Set(t.key, t.rows, "")
		}
	}
	return all.Set("jumps_per_second", s.speed, "")
}

// lines returns the lines of CSV.
func (s *simulated) lines() (lines []render.Lines) {
	lines = []render.Lines{{Kind: "simulation", Of: s.head()}}
	for _, t := range s.tables {
		lines = append(lines, render.Lines{Kind: t.kind, Of: t.rows})
	}
	return lines
}

func (s *simulated) text(t *render.Text) {
	t.Blank()
	t.Line("%s; sizes %s", s.found.Method, s.sizes)
	t.Line("%s, observed for a time of %s after a warm-up of %s; seed %d; ± at confidence %v",
		render.Counted(s.found.Runs, "run"), render.Six(s.found.Time), render.Six(s.found.WarmUp),
		s.flags.simulation.Seed, s.flags.simulation.Confidence)
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
