package main

import (
	"cmp"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

// A farmAnswer holds the answer of tags, in the same form whether there are cutoffs or not. The
// means of [tags.Result] are inserted before the optimality gap.
type farmAnswer struct {
	Feasible bool `json:"feasible"`
	*infeasible
	Engine    string        `json:"engine"`
	Objective string        `json:"objective"`
	Value     render.Number `json:"objective_value"`
	*resumeAnswer
	Cutoffs []float64 `json:"cutoffs"`
	*provedCutoffs
	OptimalityGap *float64           `json:"optimality_gap"`
	Unfairness    *float64           `json:"unfairness"`
	MaxLoad       float64            `json:"max_load"`
	Load          float64            `json:"load"`
	ArrivalRate   render.Number      `json:"arrival_rate"`
	Distribution  sizesAnswer        `json:"distribution"`
	Hosts         []render.Record    `json:"hosts"`
	Policies      []render.Record    `json:"policies"`
	Expansion     []render.Record    `json:"expansion,omitempty"`
	Simulation    *simulatedSettings `json:"simulation,omitempty"`
	Warnings      []string           `json:"warnings"`
}

// farmMeans lists the means over all jobs.
var farmMeans = []string{"mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "excess", "lost_work"}

type infeasible struct {
	Reason     string `json:"reason"`
	Overloaded *int   `json:"overloaded_host"` // 1-based, for the given cutoffs

	// MaxLoadOfTwo is the largest load of two hosts of equal speed, nil if it was not computed.
	MaxLoadOfTwo *float64 `json:"max_load_of_two"`
}

// provedCutoffs holds the cutoffs for which means are enclosed, and a bound on their relative
// distance from the best ones.
type provedCutoffs struct {
	Exact  []string `json:"cutoffs_exact"`
	Radius *float64 `json:"cutoff_radius"`
}

type sizesAnswer struct {
	Name        string   `json:"name"`
	Mean        *float64 `json:"mean"`
	SCV         *float64 `json:"scv"`
	MeanInverse *float64 `json:"mean_inverse"`
	Min         float64  `json:"min"`
	Max         *float64 `json:"max"`
}

type simulatedHost struct {
	Load            *render.Estimate `json:"load"`
	VisitWaiting    *render.Estimate `json:"visit_waiting"`
	Waiting         *render.Estimate `json:"waiting"`
	Slowdown        *render.Estimate `json:"slowdown"`
	Delay           *render.Estimate `json:"delay"`
	InterarrivalSCV *render.Estimate `json:"interarrival_scv"`
	Percentiles     render.Record    `json:"delay_percentiles,omitempty"` // percentiles of the jobs that complete there
}

type simulatedMeans struct {
	MeanSlowdown *render.Estimate `json:"mean_slowdown"`
	MeanWaiting  *render.Estimate `json:"mean_waiting"`
	MeanDelay    *render.Estimate `json:"mean_delay"`
	Percentiles  render.Record    `json:"delay_percentiles,omitempty"`
}

type simulatedSettings struct {
	Runs       int            `json:"runs"`
	Jumps      float64        `json:"jumps"`
	Seed       uint64         `json:"seed"`
	Confidence float64        `json:"confidence"`
	Joint      *command.Joint `json:"joint"`
}

// record returns the fields of a result of TAGS, null for numbers beyond the range of float64.
func (a *tagsAnswer) record(result any) render.Record {
	style := render.Style{Digits: command.Digits(a.flags.tol)}
	if a.enclosed != nil {
		style.Engine = num.Enclose
	}
	r := style.Record(result)
	for i, f := range r {
		if n, ok := f.Value.(render.Number); ok && isBeyondDoubles(n) {
			r[i].Value = nil
		}
	}
	return r
}

func isBeyondDoubles(n render.Number) bool {
	v, ok := n.Float.(float64)
	return ok && given(false, v) == nil
}

// number returns a number of TAGS, with its bounds if there are any.
func (a *tagsAnswer) number(v *num.Value) render.Number {
	style := render.Style{Digits: command.Digits(a.flags.tol)}
	if v != nil && v.Low != nil {
		style.Engine = num.Enclose
	}
	if n := style.Computed(v); !isBeyondDoubles(n) {
		return n
	}
	return render.Number{}
}

// isZero reports whether a number is exactly 0, not just rounded to 0 in float64.
func isZero(v num.Value) bool { return render.Nearest(v) == 0.0 }

// unset makes fields null.
func unset(r render.Record, when bool, keys ...string) {
	for _, key := range keys {
		if when {
			r.Set(key, nil, "")
		}
	}
}

// farm returns the answer, and collects the comparisons of its estimates.
func (a *tagsAnswer) farm(c *command.Comparisons) render.Record {
	r, none := a.result, !a.feasible()
	f := farmAnswer{
		Feasible: a.feasible(), Engine: floatEngine, Objective: a.flags.objectiveText, Value: a.number(a.value),
		Cutoffs: r.Cutoffs, OptimalityGap: a.gap, Unfairness: a.unfairness, MaxLoad: a.maxLoad, Load: a.model.Load,
		ArrivalRate: a.rate(), Distribution: sizesOf(a.model.Sizes), Hosts: a.hosts(c), Policies: a.policyRows(c),
		Expansion: a.expansionRows(), Warnings: a.warnings,
	}
	if none {
		f.infeasible = &infeasible{Reason: a.reason, MaxLoadOfTwo: given(a.pairs == 0, a.pairs)}
		if a.overloaded > 0 {
			f.Overloaded = &a.overloaded
		}
	}
	f.resumeAnswer = a.flags.resume.answer()
	if e := a.enclosed; e != nil {
		f.Engine = encloseEngine
		f.provedCutoffs = &provedCutoffs{e.texts, given(e.radius == 0, e.radius)}
	}
	if s := a.flags.settings; a.isSimulated {
		f.Simulation = &simulatedSettings{s.Runs, a.flags.jumps(), s.Seed, s.Confidence, c.Joint()}
	}
	means := a.record(r).Pick(farmMeans...)
	unset(means, none, farmMeans[:4]...)
	unset(means, r.NoSlowdown, "mean_slowdown", "mean_stretch")
	unset(means, r.Hosts == nil, "excess", "lost_work") // also known for overloaded hosts
	return render.Fields(f).Insert("optimality_gap", means...)
}

// rate returns the arrival rate.
func (a *tagsAnswer) rate() render.Number {
	if a.enclosed != nil {
		return a.number(&a.result.ArrivalRate)
	}
	rate, err := a.model.ArrivalRate()
	if err != nil {
		return render.Number{}
	}
	return a.number(&num.Value{Float: rate})
}

func sizesOf(d sizes.Distribution) sizesAnswer {
	known := func(v float64, err error) *float64 { return given(err != nil, v) }
	low, high, bounded := d.Support()
	return sizesAnswer{d.String(), known(sizes.Mean(d)), known(sizes.SCV(d)), known(d.Moment(-1)), low,
		given(!bounded, high)}
}

// hosts returns a row for each host of TAGS.
func (a *tagsAnswer) hosts(c *command.Comparisons) []render.Record {
	var rows []render.Record
	for i, h := range a.result.Hosts {
		speed, cutoff := 1.0, any(nil)
		if a.model.Speeds != nil {
			speed = a.model.Speeds[i]
		}
		if i < len(a.result.Cutoffs) {
			cutoff = a.result.Cutoffs[i]
		}
		row := render.Record{{Key: "host", Value: i + 1}, {Key: "speed", Value: speed}, {Key: "cutoff", Value: cutoff}}
		row = append(row, a.record(h)...)
		unset(row, !a.feasible() || isZero(h.Visit), "visit_waiting")
		unset(row, !a.feasible() || isZero(h.Final), "waiting", "slowdown", "delay")
		unset(row, a.result.NoSlowdown && (i == 0 || a.result.Cutoffs[i-1] == 0), "slowdown")
		row = a.resumedHost(row, i)
		if a.simulated != nil {
			row = row.Set("simulated", a.simulatedHost(c, i, row), "")
		}
		rows = append(rows, row)
	}
	return rows
}

// simulatedHost returns the estimates of a host of TAGS. Loads are exact, and so is everything at
// host 1.
func (a *tagsAnswer) simulatedHost(c *command.Comparisons, i int, theory render.Record) *simulatedHost {
	exact := func(key string, known bool) *num.Value {
		n, _ := theory.Get(key).(render.Number)
		v, ok := n.Float.(float64)
		if !ok || !known {
			return nil
		}
		return &num.Value{Float: v}
	}
	r, first := a.simulated, i == 0
	return &simulatedHost{
		c.Estimated(r.Estimate(farm.OfHost, i, sim.Utilization), exact("load", true)),
		c.Estimated(r.Estimate(farm.OfHost, i, farm.VisitWaiting), exact("visit_waiting", first)),
		c.Estimated(r.Class(i, farm.MeanWaiting), exact("waiting", first)),
		c.Estimated(r.Class(i, farm.MeanSlowdown), exact("slowdown", first)),
		c.Estimated(r.Class(i, sim.MeasuredDelay), exact("delay", first)),
		c.Estimated(r.Estimate(farm.OfHost, i, farm.InterarrivalSCV), nil),
		c.Quantiles(a.flags.percentiles, a.flags.settings.Levels, r, sim.OfClass, i, nil),
	}
}

// policyRows returns a row for each policy.
func (a *tagsAnswer) policyRows(c *command.Comparisons) []render.Record {
	var rows []render.Record
	for _, p := range a.policies {
		row := render.Record{{Key: "name", Value: string(p.name), Title: "policy"}}
		if r := p.means; r != nil {
			row = render.Style{Range: r.Kind == tags.Bounds}.Record(r)
			unset(row, r.NoSlowdown, "mean_slowdown")
		}
		row = row.Pick("name", "accuracy", "mean_slowdown", "mean_waiting", "mean_delay", "cutoffs")
		row = row.Set("host_loads", p.loads, "").Set("optimality_gap", p.gap, "")
		if s := p.simulated; s != nil {
			theory := cmp.Or(p.means, &tags.Result{})
			exact := func(v num.Value) *num.Value { // if theory has a value
				if theory.Kind != tags.Exact {
					return nil
				}
				return &num.Value{Float: v.Float}
			}
			row = row.Set("simulated", &simulatedMeans{
				c.Estimated(s.All(farm.MeanSlowdown), exact(theory.MeanSlowdown)),
				c.Estimated(s.All(farm.MeanWaiting), exact(theory.MeanWaiting)),
				c.Estimated(s.All(sim.MeasuredDelay), exact(theory.MeanDelay)),
				c.Quantiles(a.flags.percentiles, a.flags.settings.Levels, s, sim.OfAll, 0, nil),
			}, "")
		}
		rows = append(rows, withNote(row, p.note))
	}
	return rows
}

// withNote returns a row with a note, unless the note is empty.
func withNote(row render.Record, note string) render.Record {
	if note == "" {
		return row
	}
	return row.Set("note", note, "")
}

// expansionRows returns a row for each server expansion.
func (a *tagsAnswer) expansionRows() (rows []render.Record) {
	for _, e := range a.expansions {
		row := render.Style{Range: e.Kind == tags.Bounds}.Record(e)
		unset(row, !e.Within, "extra_hosts", "mean_slowdown")
		note := ""
		switch {
		case !e.Within:
			note = noHosts(e.Policy)
		case isFormula(e.Policy, e.Kind) && a.lowLoad >= 1+factorTol:
			note = "by the approximation, which is too high: fewer may do"
		case isFormula(e.Policy, e.Kind) && a.lowLoad <= 1-factorTol:
			note = "by the approximation, which is too low: more may be needed"
		}
		rows = append(rows, withNote(row, note))
	}
	return rows
}

// answer returns the answer in its three forms. CSV has a line for the farm, each host, each policy
// and each expansion.
func (a *tagsAnswer) answer() render.Answer {
	var c command.Comparisons
	f := a.farm(&c)
	var hosts []render.Record
	for _, row := range tagsRows(f, "hosts") {
		named := slices.Clone(row)
		named[0].Key = "name"
		hosts = append(hosts, named)
	}
	return render.Answer{
		JSON: f, Columns: []string{"kind", "name"}, Text: func(t *render.Text) { a.text(t, f, c.Joint()) },
		Lines: []render.Lines{{Kind: "farm", Of: f}, {Kind: "host", Of: hosts},
			{Kind: "policy", Of: tagsRows(f, "policies")}, {Kind: "expansion", Of: tagsRows(f, "expansion")}},
	}
}

// tagsRows returns a list in an answer.
func tagsRows(f render.Record, key string) []render.Record {
	list, _ := f.Get(key).([]render.Record)
	return list
}
