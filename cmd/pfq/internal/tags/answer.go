package tags

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

// A farmAnswer is the answer of tags, in the same form whether there are cutoffs or not.
type farmAnswer struct {
	Feasible bool `json:"feasible"`
	*infeasible
	Engine    string        `json:"engine"`
	Objective string        `json:"objective"`
	Value     render.Number `json:"objective_value"`
	Cutoffs   []float64     `json:"cutoffs"`
	*provedCutoffs
	MeanSlowdown  render.Number      `json:"mean_slowdown"` // means over all jobs
	MeanWaiting   render.Number      `json:"mean_waiting"`
	MeanDelay     render.Number      `json:"mean_delay"`
	MeanStretch   render.Number      `json:"mean_stretch"`
	Excess        render.Number      `json:"excess"`
	LostWork      render.Number      `json:"lost_work"`
	OptimalityGap *float64           `json:"optimality_gap"`
	Unfairness    *float64           `json:"unfairness"`
	MaxLoad       float64            `json:"max_load"`
	Load          float64            `json:"load"`
	ArrivalRate   render.Number      `json:"arrival_rate"`
	Distribution  sizesAnswer        `json:"distribution"`
	Hosts         []hostRow          `json:"hosts"`
	Policies      []policyRow        `json:"policies"`
	Expansion     []expansionRow     `json:"expansion,omitempty"`
	Simulation    *simulatedSettings `json:"simulation,omitempty"`
	Warnings      []string           `json:"warnings"`
}

type infeasible struct {
	Reason     string `json:"reason"`
	Overloaded *int   `json:"overloaded_host"` // 1-based, by the cutoffs given

	MaxLoadOfTwo *float64 `json:"max_load_of_two"` // the largest load of two hosts of one speed; null if it was not looked for
}

// The provedCutoffs are those for which means are enclosed, and how far from them the best can be, relatively.
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

type hostRow struct {
	Host          int            `json:"host"`
	Speed         float64        `json:"speed"`
	Cutoff        *float64       `json:"cutoff"`
	Load          render.Number  `json:"load"`
	Slack         render.Number  `json:"slack"`
	Visit         render.Number  `json:"visit_fraction"`
	Final         render.Number  `json:"final_fraction"`
	VisitWaiting  render.Number  `json:"visit_waiting"`
	Waiting       render.Number  `json:"waiting"`
	Slowdown      render.Number  `json:"slowdown"`
	Delay         render.Number  `json:"delay"`
	SimulatedHost *simulatedHost `json:"simulated,omitempty"`
}

type simulatedHost struct {
	Load            *render.Estimate `json:"load"`
	VisitWaiting    *render.Estimate `json:"visit_waiting"`
	Waiting         *render.Estimate `json:"waiting"`
	Slowdown        *render.Estimate `json:"slowdown"`
	Delay           *render.Estimate `json:"delay"`
	InterarrivalSCV *render.Estimate `json:"interarrival_scv"`
	Percentiles     render.Record    `json:"delay_percentiles,omitempty"` // of the jobs that end there
}

type policyRow struct {
	Name          tags.Policy     `json:"name" title:"policy"`
	Accuracy      *tags.Kind      `json:"accuracy"`
	MeanSlowdown  render.Number   `json:"mean_slowdown"`
	MeanWaiting   render.Number   `json:"mean_waiting"`
	MeanDelay     render.Number   `json:"mean_delay"`
	Cutoffs       []float64       `json:"cutoffs"`
	HostLoads     []float64       `json:"host_loads"`
	OptimalityGap *float64        `json:"optimality_gap"`
	Simulated     *simulatedMeans `json:"simulated,omitempty"`
	Note          string          `json:"note,omitempty"`
}

type simulatedMeans struct {
	MeanSlowdown *render.Estimate `json:"mean_slowdown"`
	MeanWaiting  *render.Estimate `json:"mean_waiting"`
	MeanDelay    *render.Estimate `json:"mean_delay"`
	Percentiles  render.Record    `json:"delay_percentiles,omitempty"`
}

type expansionRow struct {
	Name         tags.Policy   `json:"name" title:"policy"`
	Accuracy     tags.Kind     `json:"accuracy"`
	Target       float64       `json:"target"`
	ExtraHosts   render.Number `json:"extra_hosts"`
	MeanSlowdown render.Number `json:"mean_slowdown"`
	Note         string        `json:"note,omitempty"`
}

type simulatedSettings struct {
	Runs       int            `json:"runs"`
	Jumps      float64        `json:"jumps"`
	Seed       uint64         `json:"seed"`
	Confidence float64        `json:"confidence"`
	Joint      *command.Joint `json:"joint"`
}

// number returns a number of TAGS, with its bounds if it is enclosed.
func (a *tagsAnswer) number(none bool, v num.Value) render.Number {
	if none || given(false, v.Float) == nil {
		return render.Number{}
	}
	if _, ok := v.Interval(); ok {
		return render.Value(&v, render.Bounds, command.Digits(a.flags.tol))
	}
	return render.Number{Float: v.Float}
}

// isZero reports whether a number is 0, not only beyond the range of doubles.
func isZero(v num.Value) bool { return render.Nearest(v) == 0.0 }

// numberOf returns a number of a policy, or its bounds.
func numberOf(v num.Value, kind tags.Kind, none bool) render.Number {
	switch {
	case none:
		return render.Number{}
	case kind == tags.Bounds:
		low, high := v.Bounds()
		return render.Number{Proof: render.Bounds, Low: low, High: high}
	}
	return render.Number{Float: render.Nearest(v)}
}

func (a *tagsAnswer) farm() farmAnswer {
	r, none := a.result, !a.feasible()
	var c command.Comparisons
	f := farmAnswer{
		Feasible: a.feasible(), Engine: floatEngine, Objective: a.flags.objectiveText, Cutoffs: r.Cutoffs,
		MeanSlowdown: a.number(none || r.NoSlowdown, r.MeanSlowdown), MeanWaiting: a.number(none, r.MeanWaiting),
		MeanDelay: a.number(none, r.MeanDelay), MeanStretch: a.number(none || r.NoSlowdown, r.MeanStretch),
		Excess: a.number(r.Hosts == nil, r.Excess), LostWork: a.number(r.Hosts == nil, r.Lost), // known for overloaded hosts, too
		OptimalityGap: a.gap, Unfairness: a.unfairness, MaxLoad: a.maxLoad, Load: a.model.Load, ArrivalRate: a.rate(),
		Distribution: sizesOf(a.model.Sizes), Hosts: a.hosts(&c), Policies: a.policyRows(&c),
		Expansion: a.expansionRows(), Warnings: a.warnings,
	}
	if none {
		f.infeasible = &infeasible{Reason: a.reason, MaxLoadOfTwo: given(a.pairs == 0, a.pairs)}
		if a.overloaded > 0 {
			f.Overloaded = &a.overloaded
		}
	}
	if a.value != nil {
		f.Value = render.Number{Float: *a.value}
	}
	if e := a.enclosed; e != nil {
		f.Engine = encloseEngine
		f.provedCutoffs = &provedCutoffs{e.texts, given(e.radius == 0, e.radius)}
		if e.value != nil {
			f.Value = a.number(false, *e.value)
		}
	}
	if s := a.flags.settings; s.Runs > 0 {
		f.Simulation = &simulatedSettings{s.Runs, a.flags.jumps(), s.Seed, s.Confidence, c.Joint()}
	}
	return f
}

// rate returns the arrival rate.
func (a *tagsAnswer) rate() render.Number {
	if a.enclosed != nil {
		return a.number(false, a.result.ArrivalRate)
	}
	rate, err := a.model.ArrivalRate()
	return a.number(err != nil, num.Value{Float: rate})
}

func sizesOf(d sizes.Distribution) sizesAnswer {
	known := func(v float64, err error) *float64 { return given(err != nil, v) }
	low, high, bounded := d.Support()
	return sizesAnswer{d.String(), known(sizes.Mean(d)), known(sizes.SCV(d)), known(d.Moment(-1)), low, given(!bounded, high)}
}

// hosts returns a row for each host of TAGS.
func (a *tagsAnswer) hosts(c *command.Comparisons) []hostRow {
	rows := []hostRow{}
	for i, h := range a.result.Hosts {
		idle, none := !a.feasible() || isZero(h.Visit), !a.feasible() || isZero(h.Final)
		row := hostRow{
			Host: i + 1, Speed: 1, Load: a.number(false, h.Load), Slack: a.number(false, h.Slack),
			Visit: a.number(false, h.Visit), Final: a.number(false, h.Final),
			VisitWaiting: a.number(idle, h.VisitWait), Waiting: a.number(none, h.Waiting),
			Slowdown: a.number(none || a.result.NoSlowdown && (i == 0 || a.result.Cutoffs[i-1] == 0), h.Slowdown),
			Delay:    a.number(none, h.Delay),
		}
		if a.model.Speeds != nil {
			row.Speed = a.model.Speeds[i]
		}
		if i < len(a.result.Cutoffs) {
			row.Cutoff = &a.result.Cutoffs[i]
		}
		if a.simulated != nil {
			row.SimulatedHost = a.simulatedHost(c, i, row)
		}
		rows = append(rows, row)
	}
	return rows
}

// simulatedHost returns the estimates of a host of TAGS. Loads are exact, and all else at host 1.
func (a *tagsAnswer) simulatedHost(c *command.Comparisons, i int, theory hostRow) *simulatedHost {
	exact := func(n render.Number, known bool) *num.Value {
		v, ok := n.Float.(float64)
		if !ok || !known {
			return nil
		}
		return &num.Value{Float: v}
	}
	r, first := a.simulated, i == 0
	return &simulatedHost{
		c.Estimated(r.Estimate(farm.OfHost, i, sim.Utilization), exact(theory.Load, true)),
		c.Estimated(r.Estimate(farm.OfHost, i, farm.VisitWaiting), exact(theory.VisitWaiting, first)),
		c.Estimated(r.Class(i, farm.MeanWaiting), exact(theory.Waiting, first)),
		c.Estimated(r.Class(i, farm.MeanSlowdown), exact(theory.Slowdown, first)),
		c.Estimated(r.Class(i, sim.MeasuredDelay), exact(theory.Delay, first)),
		c.Estimated(r.Estimate(farm.OfHost, i, farm.InterarrivalSCV), nil),
		c.Quantiles(a.flags.percentiles, a.flags.settings.Levels, r, sim.OfClass, i, nil),
	}
}

func (a *tagsAnswer) policyRows(c *command.Comparisons) []policyRow {
	rows := []policyRow{}
	for _, p := range a.policies {
		row := policyRow{Name: p.name, Cutoffs: p.cutoffs, HostLoads: p.loads, OptimalityGap: p.gap, Note: p.note}
		if r := p.means; r != nil {
			row.Accuracy = &r.Kind
			row.MeanSlowdown = numberOf(r.MeanSlowdown, r.Kind, r.NoSlowdown)
			row.MeanWaiting, row.MeanDelay = numberOf(r.MeanWaiting, r.Kind, false), numberOf(r.MeanDelay, r.Kind, false)
		}
		if s := p.simulated; s != nil {
			theory := cmp.Or(p.means, &tags.Result{})
			exact := func(v num.Value) *num.Value { // where theory has it
				if theory.Kind != tags.Exact {
					return nil
				}
				return &num.Value{Float: v.Float}
			}
			row.Simulated = &simulatedMeans{
				c.Estimated(s.All(farm.MeanSlowdown), exact(theory.MeanSlowdown)),
				c.Estimated(s.All(farm.MeanWaiting), exact(theory.MeanWaiting)),
				c.Estimated(s.All(sim.MeasuredDelay), exact(theory.MeanDelay)),
				c.Quantiles(a.flags.percentiles, a.flags.settings.Levels, s, sim.OfAll, 0, nil),
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (a *tagsAnswer) expansionRows() (rows []expansionRow) {
	for _, e := range a.expansions {
		row := expansionRow{e.Policy, e.Kind, e.Target, numberOf(e.Extra, e.Kind, !e.Within), numberOf(e.MeanSlowdown, e.Kind, !e.Within), ""}
		switch {
		case !e.Within:
			row.Note = beyond(e.Policy)
		case isFormula(e.Policy, e.Kind) && a.lowLoad >= 1+muchFrom1:
			row.Note = "by the approximation, which is too high: fewer may do"
		case isFormula(e.Policy, e.Kind) && a.lowLoad <= 1-muchFrom1:
			row.Note = "by the approximation, which is too low: more may be needed"
		}
		rows = append(rows, row)
	}
	return rows
}

// answer returns the answer in its three forms. CSV has a line for the farm, each host, each policy and each expansion.
func (a *tagsAnswer) answer() render.Answer {
	f := a.farm()
	hosts := render.Rows(f.Hosts)
	for i := range hosts {
		hosts[i][0].Key = "name"
	}
	return render.Answer{JSON: f, Columns: []string{"kind", "name"}, Text: func(t *render.Text) { a.text(t, f) },
		Lines: []render.Lines{{Kind: "farm", Of: f}, {Kind: "host", Of: hosts}, {Kind: "policy", Of: f.Policies}, {Kind: "expansion", Of: f.Expansion}}}
}

func (a *tagsAnswer) text(t *render.Text, f farmAnswer) {
	a.headline(t, f)
	columns := []string{"host", "cutoff", "load", "visit_fraction", "final_fraction", "visit_waiting", "waiting", "slowdown", "delay"}
	if a.model.Speeds != nil {
		columns = slices.Insert(columns, 1, "speed")
	}
	if !a.feasible() {
		columns = columns[:len(columns)-4]
	}
	t.Table(a.readable(render.Rows(f.Hosts)), columns...)
	t.Table(a.readable(render.Rows(f.Policies)), "name", "accuracy", "mean_slowdown", "mean_waiting", "mean_delay", "cutoffs")
	t.Line("slowdown: waiting / size; stretch: delay / size (of pfq dispatch, slowdown is delay / least time)")
	for _, p := range f.Policies {
		if p.Note != "" {
			t.Line("%s: %s", p.Name, p.Note)
		}
	}
	t.Line("")
	a.writeExpansion(t, f.Expansion)
	if s := f.Simulation; s != nil {
		t.Line("simulated: %d runs of %g jumps; seed %d; ± at confidence %g", s.Runs, s.Jumps, s.Seed, s.Confidence)
		s.Joint.Text(t)
		t.Line("")
		hosts, policies := simulatedOnly(render.Rows(f.Hosts)), simulatedOnly(render.Rows(f.Policies))
		t.Table(policies, "name", "mean_slowdown", "mean_waiting", "mean_delay")
		command.QuantileTables(t, policies, "delay_percentiles")
		t.Table(hosts, "host", "load", "visit_waiting", "waiting")
		t.Table(hosts, "host", "slowdown", "delay", "interarrival_scv")
		command.QuantileTables(t, hosts, "delay_percentiles")
	}
}

// writeExpansion writes the hosts to be added, if they are asked for.
func (a *tagsAnswer) writeExpansion(t *render.Text, rows []expansionRow) {
	if a.flags.target == 0 {
		return
	}
	t.Line("hosts to add for a mean slowdown of at most %s:", render.Six(a.flags.target))
	t.Table(a.expansionLines(), "name", "accuracy", "extra_hosts", "mean_slowdown")
	noted := false
	for k, r := range rows {
		if a.expansions[k].Within && r.Note != "" { // where none is within reach, the table says so
			t.Line("%s: %s", r.Name, r.Note)
			noted = true
		}
	}
	if noted {
		t.Line("")
	}
}

// simulatedOnly returns what was simulated, after the first column.
func simulatedOnly(rows []render.Record) (out []render.Record) {
	for _, row := range rows {
		if simulated, ok := row.Get("simulated").(render.Record); ok {
			out = append(out, slices.Concat(row[:1], simulated))
		}
	}
	return out
}

// readable writes the cutoffs in rows for people, and loads that read 1 and are not.
func (a *tagsAnswer) readable(rows []render.Record) []render.Record {
	const most = 4
	for _, row := range rows {
		for i, f := range row {
			switch v := f.Value.(type) {
			case render.Number:
				if f.Key == "load" && a.feasible() && render.Six(v.Float) == "1" {
					row[i].Value = "<1"
				}
			case float64:
				if f.Key == "cutoff" {
					row[i].Value = a.cutoff(v)
				}
			case []any:
				if f.Key != "cutoffs" {
					continue
				}
				var words []any
				for _, s := range v[:min(most, len(v))] {
					words = append(words, a.cutoff(s.(float64)))
				}
				if len(v) > most {
					words = append(words, "...")
				}
				row[i].Value = words
			}
		}
	}
	return rows
}

// headline writes what is known of the farm as a whole.
func (a *tagsAnswer) headline(t *render.Text, f farmAnswer) {
	switch {
	case a.feasible():
		t.Line("feasible: cutoffs keep every host below load 1 at system loads below %s", render.Six(a.maxLoad))
	case a.maxLoad > a.model.Load:
		t.Line("infeasible: %s", a.reason)
	default:
		t.Line("infeasible: %s; there are such cutoffs at system loads below %s", a.reason, render.Six(a.maxLoad))
	}
	a.hint(t)
	t.Line("%s at system load %s, %s jobs a second", render.Counted(a.model.Hosts, "host"), render.Six(a.model.Load), render.Six(f.ArrivalRate.Float))
	a.flags.sizes.describe(t, a.model.Sizes)
	if !a.feasible() {
		t.Line("")
		return
	}
	t.Line("%s", a.aim())
	if a.enclosed != nil {
		t.Line("engine enclose: numbers of TAGS are proved to %g, relatively", a.flags.tol)
		if a.enclosed.radius > 0 {
			t.Line("the best cutoffs are within a part %s of those here, %s", render.OneDigitUp(a.enclosed.radius), strings.Join(a.enclosed.texts, ", "))
		}
	}
	t.Line("")
	columns := []string{"mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "excess", "lost_work"}
	if a.enclosed == nil || a.flags.tol > 1e-6 {
		t.Table(f, columns...)
		return
	}
	t.Digits = command.Digits(a.flags.tol)
	means := render.Fields(f)
	for _, c := range columns {
		if n := means.Get(c).(render.Number); n.Low != nil {
			t.Line("%-13s  %s", strings.ReplaceAll(c, "_", " "), t.Cell(n))
		}
	}
	t.Digits = 0
	t.Line("")
}

// hint tells how an infeasible farm could do.
func (a *tagsAnswer) hint(t *render.Text) {
	pair := "2 hosts"
	if a.model.Speeds != nil {
		pair += " of one speed"
	}
	switch {
	case a.feasible() || a.pairs == 0:
	case a.pairs > a.model.Load:
		t.Line("hint: fewer hosts in a chain bear more load; split the farm into pairs: with %s cutoffs exist below load %s", pair, render.Six(a.pairs))
	default:
		t.Line("hint: pairs of hosts do not bear this load either: with %s cutoffs exist below load %s", pair, render.Six(a.pairs))
	}
}

// aim says what the cutoffs are for.
func (a *tagsAnswer) aim() string {
	o := a.flags.objective
	switch {
	case a.model.Hosts == 1:
		return "one host, and no cutoffs"
	case a.flags.cutoffs != nil:
		return "the cutoffs given"
	case o.fair:
		aim := "cutoffs of equal mean slowdowns at all hosts"
		if len(a.result.Cutoffs) > 0 && a.result.Cutoffs[0] == 0 {
			aim += " that take jobs"
		}
		if a.listed() {
			aim = "cutoffs of the least largest mean slowdown of a host (sizes are a list: equality is out of reach)"
		}
		if u := a.unfairness; u != nil && *u > 1e-9 {
			aim += fmt.Sprintf("; unfairness %.6g", *u)
		}
		return aim
	}
	aim := "cutoffs of the least " + a.flags.objectiveText
	switch a.flags.objectiveText {
	case "slowdown":
		aim = "cutoffs of the least mean slowdown"
	case "waiting":
		aim = "cutoffs of the least mean waiting time"
	}
	gap := 0.0
	if a.gap != nil {
		gap = *a.gap
	}
	if gap > 0 {
		gap = math.Pow(10, math.Ceil(math.Log10(gap))) // a bound, so up
	}
	return fmt.Sprintf("%s; no others are better by more than %.1g of it", aim, gap)
}

// expansionLines returns the expansions with numbers of hosts as people read them.
func (a *tagsAnswer) expansionLines() []render.Record {
	whole := func(v float64) string {
		if v < 1e15 {
			return fmt.Sprintf("%.0f", v)
		}
		return render.Six(v)
	}
	lines := render.Rows(a.expansionRows())
	for i, e := range a.expansions {
		low, high := e.Extra.Bounds()
		text := whole(low)
		switch high := whole(high); {
		case !e.Within:
			text = beyond(e.Policy)
		case high != text:
			text += " to " + high
		}
		lines[i].Set("extra_hosts", text, "")
	}
	return lines
}

// cutoff returns a cutoff for people: to six digits, or for a list of sizes in full, so that it is the size it stands for.
func (a *tagsAnswer) cutoff(s float64) string {
	if a.listed() {
		return strconv.FormatFloat(s, 'g', -1, 64)
	}
	return render.Six(s)
}
