package main

import (
	"cmp"
	"errors"
	"math/big"
	"os"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/plan"
)

// A searchAnswer is the answer to a search, or about a given plan.
type searchAnswer struct {
	Find     string   `json:"find"`
	Found    bool     `json:"found"`
	Complete bool     `json:"complete"`
	Cost     *big.Rat `json:"cost" exact:"always"`
	// lower bound on the cost of meeting the targets
	CostAtLeast      *big.Rat          `json:"cost_at_least" exact:"always"`
	StableNow        bool              `json:"stable_now"` // whether the cluster is stable now
	Gap              *float64          `json:"gap"`        // upper bound on the distance above the minimum
	Budget           *big.Rat          `json:"budget" exact:"always"`
	WithinBudget     *bool             `json:"within_budget"`
	MeanDelay        *num.Value        `json:"mean_delay"` // mean delay that is minimized
	MeanDelayAtLeast *float64          `json:"mean_delay_at_least"`
	Solves           int               `json:"solves"`
	Choice           *plan.Choice      `json:"choice"`
	Buy              []purchase        `json:"buy"`
	Targets          []targetRow       `json:"targets"`
	Classes          []classRow        `json:"classes"`
	Servers          []serverRow       `json:"servers"`
	Edges            []edgeRow         `json:"edges"`
	Gradients        []planGradientRow `json:"gradients,omitempty"`
	Undecided        []plan.Choice     `json:"undecided"`
	Proof            *plan.Proof       `json:"proof"`
	Cheaper          *plan.Proof       `json:"cheaper_proof,omitempty"`

	problem  *plan.Problem
	most     *big.Rat // cost of buying everything, if there is no plan
	minimum  string   // class whose mean delay is minimized
	scale    *big.Rat // with --find growth; otherwise nil
	isStable bool     // whether the cluster is stable with the plan
}

// A purchase is one thing that a plan buys.
type purchase struct {
	Kind     string   `json:"kind"` // upgrade, new server or edge
	Name     string   `json:"name"`
	Steps    int      `json:"steps"`
	Servers  *int     `json:"count" title:"servers"` // servers that get capacity; nil for an edge
	Each     *big.Rat `json:"capacity_each" exact:"always"`
	Capacity *big.Rat `json:"capacity" exact:"always"` // total of these servers
	Cost     *big.Rat `json:"cost" exact:"always"`
}

// A targetRow compares a measure with its limit: now, with the plan or, if there is no plan, with
// everything bought.
type targetRow struct {
	Target     string     `json:"target"`
	Limit      *big.Rat   `json:"limit" exact:"always"`
	Now        *num.Value `json:"now"`
	NowVerdict string     `json:"now_verdict"`
	Plan       *num.Value `json:"plan" title:"with the plan"`
	Everything *num.Value `json:"everything" title:"with everything"`
	Verdict    string     `json:"verdict"`
}

type classRow struct {
	Name       string     `json:"name" title:"class"`
	Now        *num.Value `json:"mean_delay_now"`
	Plan       *num.Value `json:"mean_delay"`
	Everything *num.Value `json:"mean_delay_with_everything"`

	// only with the services one and gang
	WaitingNow        *num.Value `json:"mean_waiting_now,omitempty"`
	Waiting           *num.Value `json:"mean_waiting,omitempty"`
	WaitingEverything *num.Value `json:"mean_waiting_with_everything,omitempty"`

	// only of networks and systems with losses
	ThroughputNow        *num.Value `json:"throughput_now,omitempty"`
	Throughput           *num.Value `json:"throughput,omitempty"`
	ThroughputEverything *num.Value `json:"throughput_with_everything,omitempty"`
	ResponseNow          *num.Value `json:"mean_response_time_now,omitempty"`
	Response             *num.Value `json:"mean_response_time,omitempty"`
	ResponseEverything   *num.Value `json:"mean_response_time_with_everything,omitempty"`
	BlockingNow          *num.Value `json:"blocking_now,omitempty"`
	Blocking             *num.Value `json:"blocking,omitempty"`
	BlockingEverything   *num.Value `json:"blocking_with_everything,omitempty"`
}

// hasDelay reports whether the delays of a class are known, now or with purchases.
func (c classRow) hasDelay() bool { return c.Now != nil || c.Plan != nil || c.Everything != nil }

type serverRow struct {
	Name       string     `json:"name" title:"server"`
	Now        *num.Value `json:"utilization_now" below:"1"`
	Plan       *num.Value `json:"utilization" below:"1"`
	Everything *num.Value `json:"utilization_with_everything" below:"1"`
}

// An edgeRow compares the mean delay of all jobs with and without an edge, all other purchases
// being the same, and lists the classes whose mean delay the edge increases.
type edgeRow struct {
	Class   string     `json:"class"`
	Server  string     `json:"server"`
	Bought  bool       `json:"bought"`
	Without *num.Value `json:"mean_delay_without"`
	With    *num.Value `json:"mean_delay_with"`
	Pays    []payRow   `json:"pays"`
}

type payRow struct {
	Name    string     `json:"name" title:"class"`
	Without *num.Value `json:"mean_delay_without"`
	With    *num.Value `json:"mean_delay_with"`
}

// A planGradientRow is the derivative of the mean delay that is minimized, at the plan or, without
// a plan, now.
type planGradientRow struct {
	Kind string `json:"option"` // upgrade or new server
	plan.Sensitivity
}

func newFound(find string, p *plan.Problem, r *plan.Answer, effects []plan.EdgeEffect) *searchAnswer {
	a := &searchAnswer{Find: find, Found: r.Plan != nil, Complete: r.Complete, StableNow: r.Now.Solution != nil,
		Budget: p.Budget, MeanDelay: aimed(p, r.Plan), Solves: r.Solves, Undecided: r.Undecided, Proof: &r.Proof,
		Cheaper: r.Cheaper, problem: p, minimum: cmp.Or(p.Minimize, "all jobs")}
	if a.Found {
		a.isStable = r.Plan.Solution != nil
		a.Cost, a.Choice, a.Buy = r.Plan.Cost, &r.Plan.Choice, purchases(p, r.Plan.Choice)
	}
	if r.Most != nil && !r.Most.Choice.IsNothing() {
		a.most = r.Most.Cost
	}
	if p.Budget != nil {
		a.WithinBudget = &r.WithinBudget
	}
	for row, t := range p.Targets {
		a.Targets = append(a.Targets, newTargetRow(t, row, r))
	}
	a.addMeasures(p, r)
	for _, e := range effects {
		a.Edges = append(a.Edges, newEdgeRow(r, e))
	}
	a.addBounds(r)
	return a
}

// aimed returns the mean delay that is minimized, nil if unstable.
func aimed(p *plan.Problem, o *plan.Outcome) *num.Value {
	if o == nil || o.Solution == nil {
		return nil
	}
	if row := p.ClassRow(p.Minimize); row >= 0 {
		return o.Solution.Classes[row].MeanDelay
	}
	return o.Solution.MeanDelay
}

// purchases lists what a plan buys.
func purchases(p *plan.Problem, c plan.Choice) []purchase {
	var list []purchase
	times := func(n int, x *big.Rat) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt64(int64(n)), x) }
	add := func(kind, name string, steps, servers int, each, cost *big.Rat) {
		bought := purchase{Kind: kind, Name: name, Steps: steps, Each: each, Cost: times(steps, cost)}
		if each != nil {
			bought.Servers, bought.Capacity = &servers, times(servers, each)
		}
		list = append(list, bought)
	}
	for k, n := range c.Steps {
		switch u := len(p.Upgrades); {
		case n == 0:
		case k < u:
			u := p.Upgrades[k]
			switch size, each := p.SizeOf(u.Server); {
			case u.Count == 0:
				add("upgrade", u.Server, n, size, times(n, u.Step), u.Cost)
			default:
				add("upgrade", u.Server, n, n*u.Count, each, u.Cost)
			}
			if p.Loss != nil { // units, which no servers hold
				list[len(list)-1].Capacity = times(n, big.NewRat(int64(u.Count), 1))
			}
		default:
			add("new server", p.NewServers[k-u].Name, n, n, p.NewServers[k-u].Capacity, p.NewServers[k-u].Cost)
		}
	}
	for _, k := range c.Edges {
		add("edge", p.Edges[k].Class+":"+p.Edges[k].Server, 1, 0, nil, p.Edges[k].Cost)
	}
	return list
}

func newTargetRow(t plan.Target, row int, r *plan.Answer) targetRow {
	now, then := r.Now.Targets[row], cmp.Or(r.Plan, r.Most).Targets[row]
	out := targetRow{Target: t.Name(), Limit: t.Limit,
		Now: now.Value, NowVerdict: now.Verdict.String(), Verdict: then.Verdict.String()}
	if r.Plan != nil {
		out.Plan = then.Value
	} else {
		out.Everything = then.Value
	}
	return out
}

// addMeasures adds the mean delays and utilizations.
func (a *searchAnswer) addMeasures(p *plan.Problem, r *plan.Answer) {
	of := func(o *plan.Outcome, i int) (c plan.ClassSolution) {
		if o != nil && o.Solution != nil {
			c = o.Solution.Classes[i]
		}
		return c
	}
	for i, name := range p.ClassNames() {
		now, then, most := of(r.Now, i), of(r.Plan, i), of(r.Most, i)
		a.Classes = append(a.Classes, classRow{name, now.MeanDelay, then.MeanDelay, most.MeanDelay,
			now.MeanWaiting, then.MeanWaiting, most.MeanWaiting, now.Throughput, then.Throughput, most.Throughput,
			now.ResponseTime, then.ResponseTime, most.ResponseTime, now.Blocking, then.Blocking, most.Blocking})
	}
	busy := func(o *plan.Outcome, name string) *num.Value {
		if o != nil && o.Solution != nil {
			for _, s := range o.Solution.Servers {
				if s.Name == name {
					return s.Utilization
				}
			}
		}
		return nil
	}
	names := p.ServerNames()
	for _, s := range p.NewServers {
		names = append(names, s.Name)
	}
	for _, name := range names {
		a.Servers = append(a.Servers, serverRow{name, busy(r.Now, name), busy(r.Plan, name), busy(r.Most, name)})
	}
}

func newEdgeRow(r *plan.Answer, e plan.EdgeEffect) edgeRow {
	out := edgeRow{Class: e.Class, Server: e.Server}
	out.Bought = r.Plan != nil && slices.Contains(r.Plan.Choice.Edges, e.Edge)
	if e.Without != nil {
		out.Without = e.Without.MeanDelay
	}
	if e.With != nil {
		out.With = e.With.MeanDelay
	}
	for _, i := range e.Pays() {
		before, after := e.Without.Classes[i].MeanDelay, e.With.Classes[i].MeanDelay
		out.Pays = append(out.Pays, payRow{e.With.Classes[i].Name, before, after})
	}
	return out
}

// addBounds adds bounds on how far the plan is from the best one.
func (a *searchAnswer) addBounds(r *plan.Answer) {
	gap := func(x, least float64) {
		if g := (x - least) / least; least > 0 {
			g = max(g, 0)
			a.Gap = &g
		}
	}
	if r.Proof.Delay != nil {
		a.MeanDelayAtLeast = r.Proof.Delay
		if a.MeanDelay != nil {
			gap(a.MeanDelay.Float, *r.Proof.Delay)
		}
		return
	}
	a.CostAtLeast = r.Proof.Below
	if a.Found && a.CostAtLeast != nil {
		x, _ := a.Cost.Float64()
		least, _ := a.CostAtLeast.Float64()
		gap(x, least)
	}
}

// addGradients adds the effects of options.
func (a *searchAnswer) addGradients(p *plan.Problem, list []plan.Sensitivity) {
	for _, x := range list {
		kind := "upgrade"
		if x.Option >= len(p.Upgrades) {
			kind = "new server"
		}
		a.Gradients = append(a.Gradients, planGradientRow{kind, x})
	}
}

// isGiven marks the answer as one about a given plan, not a search.
func (a *searchAnswer) isGiven() {
	a.Find, a.Complete, a.Proof = "choice", true, nil
}

// isGood reports whether there is a plan that meets the targets within the budget.
func (a *searchAnswer) isGood() bool {
	return a.Found && a.allMet() && (a.WithinBudget == nil || *a.WithinBudget)
}

// foundColumns are the first columns of CSV.
var foundColumns = []string{"kind", "name", "target", "class", "server", "limit", "now", "now_verdict", "plan",
	"everything", "verdict", "mean_delay_now", "mean_delay", "mean_delay_with_everything", "utilization_now",
	"utilization", "utilization_with_everything", "cost", "find", "found", "complete"}

// sections returns the lines of CSV and the tables of text. Text shows the measures now and with
// the plan, or with everything bought if there is no plan. If the plan buys nothing, it shows only
// the measures now.
func (a *searchAnswer) sections() []render.Section {
	last, suffix := "plan", ""
	if !a.Found {
		last, suffix = "everything", "_with_everything"
	}
	// columns lists a measure now and, if something is bought, then
	columns := func(measure, mark string) string {
		if a.Found && len(a.Buy) == 0 {
			return measure + "_now" + mark
		}
		return measure + "_now" + mark + " " + measure + suffix + mark
	}
	classes := []string{"name"}
	for _, optional := range []string{"throughput", "blocking", "mean_response_time", "mean_waiting"} {
		classes = append(classes, columns(optional, "?"))
	}
	classes = append(classes, columns("mean_delay", ""))
	if a.problem.Service() == string(cluster.Gang) && !slices.ContainsFunc(a.Classes, classRow.hasDelay) {
		classes = []string{"-"} // no target needs delays
	}
	return []render.Section{
		{Kind: "plan", Columns: "-"},
		buySection,
		{Kind: "target", Of: "targets", Columns: "target limit now " + last + " verdict"},
		{Of: "gradients", Columns: "option name mean_delay_per_step mean_delay_per_cost"},
		{Kind: "class", Of: "classes", Columns: strings.Join(classes, " ")},
		{Kind: "server", Of: "servers", Columns: "name " + columns("utilization", "")},
		{Kind: "edge effect", Of: "edges", Columns: "-"},
		{Kind: "pays", Of: "edges.pays", Columns: "-"},
		{Kind: "gradient", Of: "gradients", Columns: "-"},
		{Kind: "undecided", Of: "undecided", Columns: "-"},
		{Kind: "corner", Of: "proof.corners", Columns: "-"},
		{Kind: "corner of cheaper", Of: "cheaper_proof.corners", Columns: "-"},
	}
}

// buySection lists the purchases. Their kinds are those of the lines of CSV.
var buySection = render.Section{Kind: "buy", Of: "buy", Columns: "kind name steps count? capacity_each? capacity cost",
	Rows: buyRows}

func (a *searchAnswer) answer() render.Answer {
	point := render.Point{Body: render.Fields(a), Sections: a.sections()}
	out := render.Points([]render.Point{point}, false, foundColumns, a.heading)
	tables := out.Text
	out.Text = func(t *render.Text) {
		tables(t)
		a.ending(t)
	}
	return out
}

// severalAnswer combines the points of a frontier, or the answers at growing loads.
func severalAnswer(all []*searchAnswer) render.Answer {
	out := render.Answer{Columns: append([]string{"scale"}, foundColumns...)}
	var objects []render.Record
	for i, a := range all {
		head, body := render.Record{{Key: "point", Value: i + 1}}, render.Fields(a)
		if a.scale != nil {
			head = render.Fields(command.Scaled{Scale: render.Rat(a.scale, render.Fraction)})
			body = slices.Concat(head, body)
		}
		objects = append(objects, body)
		for _, l := range a.answer().Lines {
			l.Head = head
			out.Lines = append(out.Lines, l)
		}
	}
	out.JSON = objects
	out.Text = func(t *render.Text) { severalText(t, all) }
	return out
}

// A savedAnswer holds the fields of an answer in a file that a verification needs. The same struct
// tags read and write them.
type savedAnswer struct {
	Find  string `json:"find"`
	Found bool   `json:"found"`

	answer plan.Answer   // answer to the other questions; its plan is set for all questions
	load   plan.Load     // answer to --find load
	most   plan.MostLoad // answer to --find most-load
	node   *file.Node    // the whole answer
}

const wantAnswer = "an answer of `pfq plan` in JSON"

// readAnswers reads the answers in a file in JSON.
func readAnswers(name string) ([]*savedAnswer, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, input.InFile(name, err)
	}
	defer in.Close()
	root, err := file.Read(in, file.JSON, wantAnswer)
	var syntax *file.SyntaxError
	if errors.As(err, &syntax) {
		syntax.Reason = "want " + wantAnswer + ", as --format json writes it (" + syntax.Reason + ")"
	}
	if err != nil {
		return nil, file.InFile(name, err)
	}
	answers, err := answersIn(root)
	if err != nil {
		return nil, file.InFile(name, err)
	}
	return answers, nil
}

// answersIn reads one answer, or a list of them.
func answersIn(root *file.Node) ([]*savedAnswer, error) {
	list := []file.Node{*root}
	if root.Kind == file.ArrayKind {
		list = root.Kids
	}
	all := make([]*savedAnswer, len(list))
	for i := range list {
		if kind := list[i].Kind; kind != file.ObjectKind && kind != file.NullKind {
			return nil, input.Errorf("", root, "%s, an object or an array of them", wantAnswer)
		}
		path := ""
		if root.Kind == file.ArrayKind {
			path = input.Index("", i)
		}
		a, err := readAnswer(&list[i], path)
		if err != nil {
			return nil, root.Locate(err)
		}
		all[i] = a
	}
	return all, nil
}

// readAnswer reads the fields that a verification needs, which depend on the question.
func readAnswer(n *file.Node, path string) (*savedAnswer, error) {
	a := &savedAnswer{node: n}
	err := render.Read(n, path, a)
	parts := []any{&a.answer}
	switch a.Find {
	case findLoad:
		parts[0] = &a.load
	case findMostLoad:
		parts[0] = &a.most
	}
	if a.Found || a.Find == findLoad {
		a.answer.Plan = new(plan.Outcome)
		a.most.Plan = a.answer.Plan
		parts = append(parts, a.answer.Plan)
	}
	for i := 0; i < len(parts) && err == nil; i++ {
		err = render.Read(n, path, parts[i])
	}
	if solves := a.answer.Solves + a.most.Solves; solves < 0 && err == nil {
		err = input.Errorf(input.Field(path, "solves"), solves, "an integer >= 0")
	}
	if bad, ok := err.(*input.Error); ok {
		switch strings.TrimPrefix(bad.Path, path+".") {
		case "find":
			bad.Want = `the question, such as "cost", in ` + wantAnswer
		case "undecided":
			bad.Want = "an array of plans"
		case "proof":
			bad.Want = "a proof; plans that were given have none"
		}
	}
	return a, err
}
