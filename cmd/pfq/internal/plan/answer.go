package plan

import (
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/plan"
	"productform/plan/problem"
)

// A found is the answer to a search, or about a plan that is given.
type found struct {
	*command.Scaled
	Find             string        `json:"find"`
	Found            bool          `json:"found"`
	Complete         bool          `json:"complete"`
	Cost             render.Number `json:"cost"`
	CostAtLeast      render.Number `json:"cost_at_least"` // of any plan that meets the targets
	StableNow        bool          `json:"stable_now"`    // whether the cluster as it is can do the work at all
	Gap              *float64      `json:"gap"`           // by which the plan is above the least cost, or mean delay, at most
	Budget           render.Number `json:"budget"`
	WithinBudget     *bool         `json:"within_budget"`
	MeanDelay        render.Number `json:"mean_delay"` // that is minimized
	MeanDelayAtLeast *float64      `json:"mean_delay_at_least"`
	Solves           int           `json:"solves"`
	Choice           *choice       `json:"choice"`
	Buy              []purchase    `json:"buy"`
	Targets          []targetRow   `json:"targets"`
	Classes          []classRow    `json:"classes"`
	Servers          []serverRow   `json:"servers"`
	Edges            []edgeRow     `json:"edges"`
	Gradients        []gradientRow `json:"gradients,omitempty"`
	Undecided        []choice      `json:"undecided"`
	Proof            *proof        `json:"proof"`
	Cheaper          *proof        `json:"cheaper_proof,omitempty"`

	problem *problem.Problem
	minimum string // whose mean delay is minimized
}

// A choice is a plan as numbers: steps of the upgrades and new servers, and rows of edges.
type choice struct {
	Steps []int `json:"steps"`
	Edges []int `json:"edges"`
}

// A purchase is one thing that a plan buys.
type purchase struct {
	Kind     string        `json:"kind"` // upgrade, new server or edge
	Name     string        `json:"name"`
	Steps    int           `json:"steps"`
	Servers  *int          `json:"count" title:"servers"` // that get capacity; nil for an edge
	Each     render.Number `json:"capacity_each"`
	Capacity render.Number `json:"capacity"` // of all these servers together
	Cost     render.Number `json:"cost"`
}

// A targetRow compares a measure with its limit: now, with the plan, and if there is none, with everything bought.
type targetRow struct {
	Target     string        `json:"target"`
	Limit      render.Number `json:"limit"`
	Now        render.Number `json:"now"`
	NowVerdict string        `json:"now_verdict"`
	Plan       render.Number `json:"plan" title:"with the plan"`
	Everything render.Number `json:"everything" title:"with everything"`
	Verdict    string        `json:"verdict"`
}

type classRow struct {
	Name       string        `json:"name" title:"class"`
	Now        render.Number `json:"mean_delay_now"`
	Plan       render.Number `json:"mean_delay"`
	Everything render.Number `json:"mean_delay_with_everything"`
}

type serverRow struct {
	Name       string        `json:"name" title:"server"`
	Now        render.Number `json:"utilization_now"`
	Plan       render.Number `json:"utilization"`
	Everything render.Number `json:"utilization_with_everything"`
}

// An edgeRow says what an edge does to the mean delay of all jobs, everything else being bought, and to which classes it brings a
// larger one.
type edgeRow struct {
	Class   string        `json:"class"`
	Server  string        `json:"server"`
	Bought  bool          `json:"bought"`
	Without render.Number `json:"mean_delay_without"`
	With    render.Number `json:"mean_delay_with"`
	Pays    []payRow      `json:"pays"`
}

type payRow struct {
	Name    string        `json:"name" title:"class"`
	Without render.Number `json:"mean_delay_without"`
	With    render.Number `json:"mean_delay_with"`
}

// A gradientRow says by how much the mean delay that is minimized changes with an option at the plan, or without one as things are.
type gradientRow struct {
	Option  string        `json:"option"` // upgrade or new server
	Name    string        `json:"name"`
	PerStep render.Number `json:"mean_delay_per_step"`
	PerCost render.Number `json:"mean_delay_per_cost"`
}

// A proof says which plans fail: all that hold from, cost less than below, at most at_most, and have a mean delay below mean_delay,
// each unless it is null.
type proof struct {
	From      choice        `json:"from"`
	Below     render.Number `json:"below"`
	AtMost    render.Number `json:"at_most"`
	MeanDelay *float64      `json:"mean_delay"`
	Corners   []corner      `json:"corners"`
}

// A corner is a plan that fails, with all that have at most its steps and its edges or, if fewer is set, some of them.
type corner struct {
	choice
	Fewer bool   `json:"fewer"`
	Fails string `json:"fails"` // targets[0], stable, no_worse or mean_delay
	Class string `json:"class,omitempty"`
}

func newChoice(c problem.Choice) choice {
	return choice{append([]int{}, c.Steps...), append([]int{}, c.Edges...)}
}

func newFound(find string, p *problem.Problem, r *plan.Answer, effects []plan.EdgeEffect) *found {
	a := &found{Find: find, Complete: r.Complete, StableNow: r.Now.Solution != nil, Budget: render.Rat(p.Budget, render.Fraction), Solves: r.Solves,
		Buy: []purchase{}, Targets: []targetRow{}, Undecided: []choice{}, Edges: []edgeRow{}, problem: p, minimum: "all jobs"}
	if p.Minimize != "" {
		a.minimum = p.Minimize
	}
	if r.Plan != nil {
		a.Found = true
		a.Cost = render.Rat(r.Plan.Cost, render.Fraction)
		c := newChoice(r.Plan.Choice)
		a.Choice, a.Buy = &c, purchases(p, r.Plan.Choice)
		if d := aimed(p, r.Plan); d != nil {
			a.MeanDelay = render.Number{Float: d.Float}
		}
	} else {
		a.Cost = render.Rat(nil, render.Fraction)
	}
	if p.Budget != nil {
		a.WithinBudget = &r.WithinBudget
	}
	for row, t := range p.Targets {
		a.Targets = append(a.Targets, newTargetRow(t, row, r))
	}
	a.addMeasures(p, r)
	for _, e := range effects {
		a.Edges = append(a.Edges, newEdgeRow(p, r, e))
	}
	for _, c := range r.Undecided {
		a.Undecided = append(a.Undecided, newChoice(c))
	}
	a.addProof(p, r)
	return a
}

// aimed returns the mean delay that is minimized, nil if unstable.
func aimed(p *problem.Problem, o *plan.Outcome) *num.Value {
	if o == nil || o.Solution == nil {
		return nil
	}
	for i, c := range p.Model.Classes {
		if c.Name == p.Minimize {
			return o.Solution.Classes[i].MeanDelay
		}
	}
	return o.Solution.MeanDelay
}

func number(v *num.Value) render.Number {
	if v == nil {
		return render.Number{}
	}
	return render.Number{Float: v.Float}
}

// purchases lists what a plan buys.
func purchases(p *problem.Problem, c problem.Choice) []purchase {
	list := []purchase{}
	times := func(n int, x *big.Rat) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt64(int64(n)), x) }
	add := func(kind, name string, steps, servers int, each, cost *big.Rat) {
		bought := purchase{Kind: kind, Name: name, Steps: steps, Each: render.Rat(each, render.Fraction), Capacity: render.Rat(nil, render.Fraction),
			Cost: render.Rat(times(steps, cost), render.Fraction)}
		if each != nil {
			bought.Servers, bought.Capacity = &servers, render.Rat(times(servers, each), render.Fraction)
		}
		list = append(list, bought)
	}
	for k, n := range c.Steps {
		switch u := len(p.Upgrades); {
		case n == 0:
		case k < u:
			row := slices.IndexFunc(p.Model.Servers, func(s cluster.Server) bool { return s.Name == p.Upgrades[k].Server })
			add("upgrade", p.Upgrades[k].Server, n, p.Model.Servers[row].Size(), times(n, p.Upgrades[k].Step), p.Upgrades[k].Cost)
		default:
			add("new server", p.NewServers[k-u].Name, n, n, p.NewServers[k-u].Capacity, p.NewServers[k-u].Cost)
		}
	}
	for _, k := range c.Edges {
		add("edge", p.Edges[k].Class+":"+p.Edges[k].Server, 1, 0, nil, p.Edges[k].Cost)
	}
	return list
}

func newTargetRow(t problem.Target, row int, r *plan.Answer) targetRow {
	out := targetRow{Target: t.Name(), Limit: render.Rat(t.Limit, render.Fraction), Now: number(r.Now.Targets[row].Value), NowVerdict: r.Now.Targets[row].Verdict.String()}
	if r.Plan != nil {
		out.Plan, out.Verdict = number(r.Plan.Targets[row].Value), r.Plan.Targets[row].Verdict.String()
	} else {
		out.Everything, out.Verdict = number(r.Most.Targets[row].Value), r.Most.Targets[row].Verdict.String()
	}
	return out
}

// addMeasures adds the mean delays and utilizations.
func (a *found) addMeasures(p *problem.Problem, r *plan.Answer) {
	delay := func(o *plan.Outcome, i int) render.Number {
		if o == nil || o.Solution == nil {
			return render.Number{}
		}
		return number(o.Solution.Classes[i].MeanDelay)
	}
	for i, c := range p.Model.Classes {
		a.Classes = append(a.Classes, classRow{c.Name, delay(r.Now, i), delay(r.Plan, i), delay(r.Most, i)})
	}
	busy := func(o *plan.Outcome, name string) render.Number {
		if o != nil && o.Solution != nil {
			for s, server := range o.Model.Servers {
				if server.Name == name {
					n := number(&o.Solution.Servers[s].Utilization)
					n.BelowOne = true
					return n
				}
			}
		}
		return render.Number{}
	}
	var names []string
	for _, s := range p.Model.Servers {
		names = append(names, s.Name)
	}
	for _, s := range p.NewServers {
		names = append(names, s.Name)
	}
	for _, name := range names {
		a.Servers = append(a.Servers, serverRow{name, busy(r.Now, name), busy(r.Plan, name), busy(r.Most, name)})
	}
}

func newEdgeRow(p *problem.Problem, r *plan.Answer, e plan.EdgeEffect) edgeRow {
	edge := p.Edges[e.Edge]
	out := edgeRow{Class: edge.Class, Server: edge.Server, Pays: []payRow{}}
	if r.Plan != nil {
		for _, k := range r.Plan.Choice.Edges {
			out.Bought = out.Bought || k == e.Edge
		}
	}
	if e.Without != nil {
		out.Without = number(e.Without.MeanDelay)
	}
	if e.With != nil {
		out.With = number(e.With.MeanDelay)
	}
	for _, i := range e.Pays() {
		out.Pays = append(out.Pays, payRow{p.Model.Classes[i].Name, number(e.Without.Classes[i].MeanDelay), number(e.With.Classes[i].MeanDelay)})
	}
	return out
}

// addProof adds the proof, and how far from the best the plan can be.
func (a *found) addProof(p *problem.Problem, r *plan.Answer) {
	a.CostAtLeast = render.Rat(nil, render.Fraction)
	a.Proof = newProof(p, r.Proof)
	if r.Cheaper != nil {
		a.Cheaper = newProof(p, *r.Cheaper)
	}
	gap := func(x, least float64) {
		if g := (x - least) / least; least > 0 {
			g = max(g, 0)
			a.Gap = &g
		}
	}
	if r.Proof.Delay != nil {
		a.MeanDelayAtLeast = r.Proof.Delay
		if d := aimed(p, r.Plan); d != nil {
			gap(d.Float, *r.Proof.Delay)
		}
		return
	}
	a.CostAtLeast = render.Rat(r.Proof.Below, render.Fraction)
	if r.Plan != nil && r.Proof.Below != nil {
		x, _ := r.Plan.Cost.Float64()
		least, _ := r.Proof.Below.Float64()
		gap(x, least)
	}
}

// addGradients adds what options are worth.
func (a *found) addGradients(p *problem.Problem, list []plan.Sensitivity) {
	options := p.Options()
	for _, x := range list {
		kind := "upgrade"
		if x.Option >= len(p.Upgrades) {
			kind = "new server"
		}
		a.Gradients = append(a.Gradients, gradientRow{kind, options[x.Option].Name, number(&x.PerStep), number(x.PerCost)})
	}
}

func newProof(p *problem.Problem, from plan.Proof) *proof {
	out := &proof{From: newChoice(from.From), Below: render.Rat(from.Below, render.Fraction), AtMost: render.Rat(from.AtMost, render.Fraction),
		MeanDelay: from.Delay, Corners: []corner{}}
	for _, c := range from.Corners {
		k := corner{choice: newChoice(c.Choice), Fewer: c.Fewer, Fails: string(c.Fails)}
		switch c.Fails {
		case plan.FailsTarget:
			k.Fails = fmt.Sprintf("targets[%d]", c.Target)
		case plan.FailsNoWorse:
			if c.Class >= 0 { // in a file there may be none
				k.Class = p.Model.Classes[c.Class].Name
			}
		}
		out.Corners = append(out.Corners, k)
	}
	return out
}

// isGiven makes it the answer about a plan that was not looked for.
func (a *found) isGiven() {
	a.Find, a.Complete, a.Proof = "choice", true, nil
}

// isGood reports whether there is a plan that meets the targets within the budget.
func (a *found) isGood() bool {
	for _, t := range a.Targets {
		if t.Verdict != plan.Met.String() {
			return false
		}
	}
	return a.Found && (a.WithinBudget == nil || *a.WithinBudget) && a.MeanDelay.Float != nil
}

var planColumns = []string{"kind", "name", "target", "class", "server", "limit", "now", "now_verdict", "plan", "everything", "verdict",
	"mean_delay_now", "mean_delay", "mean_delay_with_everything", "utilization_now", "utilization", "utilization_with_everything", "cost", "find", "found", "complete"}

func (a *found) lines() []render.Lines {
	lines := []render.Lines{{Kind: "plan", Of: *a}}
	for _, b := range a.Buy {
		lines = append(lines, render.Lines{Kind: b.Kind, Of: render.Fields(b)[1:]})
	}
	lines = append(lines, render.Lines{Kind: "target", Of: a.Targets}, render.Lines{Kind: "class", Of: a.Classes}, render.Lines{Kind: "server", Of: a.Servers},
		render.Lines{Kind: "edge effect", Of: a.Edges})
	for _, e := range a.Edges {
		lines = append(lines, render.Lines{Kind: "pays", Head: render.Fields(e)[:2], Of: e.Pays})
	}
	lines = append(lines, render.Lines{Kind: "gradient", Of: a.Gradients}, render.Lines{Kind: "undecided", Of: a.Undecided})
	if a.Proof != nil {
		lines = append(lines, render.Lines{Kind: "corner", Of: a.Proof.Corners})
	}
	if a.Cheaper != nil {
		lines = append(lines, render.Lines{Kind: "corner of cheaper", Of: a.Cheaper.Corners})
	}
	return lines
}

func (a *found) answer() render.Answer {
	return render.Answer{JSON: a, Lines: a.lines(), Columns: planColumns, Text: a.text}
}

// severalAnswer puts points of a frontier, or answers at growing loads, together.
func severalAnswer(all []*found) render.Answer {
	out := render.Answer{JSON: all, Columns: append([]string{"scale"}, planColumns...), Text: func(t *render.Text) {
		if all[0].Find == findFrontier {
			frontierText(t, all)
			return
		}
		for i, a := range all {
			if i > 0 {
				t.Blank()
			}
			if a.Scaled != nil {
				t.Line("scale %s", render.Six(a.Scale.Float))
			}
			a.text(t)
			t.Digits, t.Fraction = 0, 0
		}
	}}
	for i, a := range all {
		head := render.Record{{Key: "point", Value: i + 1}}
		if a.Scaled != nil {
			head = render.Fields(a.Scaled)
		}
		for _, l := range a.lines() {
			if l.Kind == "plan" {
				unscaled := *a
				unscaled.Scaled = nil
				l.Of = unscaled
			}
			l.Head = append(append(render.Record{}, head...), render.Fields(orEmpty(l.Head))...)
			out.Lines = append(out.Lines, l)
		}
	}
	return out
}

func orEmpty(head any) any {
	if head == nil {
		return render.Record{}
	}
	return head
}
