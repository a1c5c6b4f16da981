package main

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	simnetwork "productform/sim/network"
)

// A networkSolution is an exact answer, with the parts that a simulation also estimates.
type networkSolution struct {
	points      []render.Point // one, or one per population if list is true
	list        bool
	lines       []string // lines of text before the tables; "" for none
	digits      int
	columns     []string // the first columns of CSV
	parts       []part
	exponential bool // the exact numbers hold for exponential sizes only
}

// setBody makes the fields of an answer the only point, with a note ("" for none) that text also
// shows.
func (f *networkQuestion) setBody(s *networkSolution, body render.Record, note string, tables []render.Section) {
	if f.simulation.Runs > 0 && !f.isExponential() && s.exponential {
		note = joined(note, "the exact numbers hold for exponential sizes only; the simulated sizes are "+f.sizes)
	}
	s.points = []render.Point{{Body: stable(body, note), Sections: tables}}
	s.lines = append(s.lines, note)
}

// joined appends text to a note, which may be empty.
func joined(note, more string) string {
	if note == "" {
		return more
	}
	return note + "; " + more
}

// A part is a list in an answer, some measures of which a simulation estimates.
type part struct {
	key, title string
	kind       sim.Kind
	rows       []int // row of the simulation for each row of the list; nil if both have the same rows
	measures   []string
}

// stable returns the fields of an answer, with a note unless note is "".
func stable(body render.Record, note string) render.Record {
	body = slices.Insert(body, 0, render.Field{Key: "stable", Value: true})
	if note != "" {
		body = body.Set("note", note, "")
	}
	return body
}

func (s networkSolution) answer() render.Answer {
	return render.Points(s.points, s.list, s.columns, func(t *render.Text) {
		t.Digits = s.digits
		for _, l := range s.lines {
			if l != "" {
				t.Line("%s", l)
			}
		}
	})
}

// An unstable is the answer for an overloaded model.
type unstable struct {
	Stable bool `json:"stable"` // false
	*critical
	Bottleneck         []string `json:"bottleneck"`
	BottleneckWork     *big.Rat `json:"bottleneck_work"`
	BottleneckCapacity *big.Rat `json:"bottleneck_capacity"`
}

// A critical is the overloaded station of a network.
type critical struct {
	Scale   *big.Rat `json:"critical_scale" beside:"1"`
	Station string   `json:"station"`
}

// names returns the names of rows.
func names(rows []int, name func(int) string) []string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = name(r)
	}
	return list
}

func (u *unstable) answer(engine num.Engine) render.Answer {
	r := render.Style{Engine: engine}.Record(u)
	return render.Answer{JSON: r, Lines: []render.Lines{{Of: r}}, Text: u.text}
}

// A simulated holds the estimates of a simulation, in tables.
type simulated struct {
	found  *sim.Result
	speed  *float64
	sizes  string
	known  bool // theory has exact values for these sizes
	flags  *networkQuestion
	tables []table

	comparisons command.Comparisons // in all tables
}

// A table has a row of estimates for each part of one kind of a model.
type table struct {
	key, kind string // key of the list in JSON, kind of the lines of CSV
	rows      []render.Record
}

// simulate runs a plan and adds the estimates to the answer of a solution.
func (f *networkQuestion) simulate(
	q command.Query, plan *sim.Plan, s networkSolution, a render.Answer,
) (_ render.Answer, err error) {
	estimates := &simulated{sizes: cmp.Or(f.sizes, "exponential"), known: f.isExponential() || !s.exponential, flags: f}
	estimates.found, estimates.speed, err = command.Replicate(q.Ctx, plan, f.simulation, q.Stderr)
	if err != nil {
		return a, err
	}
	body := s.points[0].Body
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
	return a, nil
}

// add adds a table of estimates, with the exact values from a list in the answer if these hold for
// the simulated sizes.
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
		if p.kind == sim.OfClass {
			row = s.addResponse(row, names[index], of)
		}
		t.rows = append(t.rows, row)
	}
	s.tables = append(s.tables, t)
}

// addResponse adds percentiles of the response time to the row of a chain, null if it has none, unless
// no chain has one.
func (s *simulated) addResponse(row render.Record, chain string, exact render.Record) render.Record {
	hasResponse := func(m sim.Measure) bool { return strings.HasSuffix(m.Of, simnetwork.ResponseTime("")) }
	if !slices.ContainsFunc(s.found.Measures, hasResponse) {
		return row
	}
	name := simnetwork.ResponseTime(chain)
	index := slices.IndexFunc(s.found.Visits, func(v sim.Class) bool { return v.Name == name })
	return row.Set("response_time", s.comparisons.Quantiles(s.flags.percentiles, s.flags.simulation.Levels,
		s.found, sim.OfVisit, index, exactValues(exact.Get("response_time"))), "")
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

// isExponential reports whether the simulated sizes are exponential.
func (f *networkQuestion) isExponential() bool { return f.sizes == "" || f.sizes == "exponential" }

// head returns the common part of all estimates.
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

// record returns the estimates as part of the answer in JSON.
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
