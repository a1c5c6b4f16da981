package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/internal/render"
	"productform/num"
	"productform/plan"
)

// heading writes the result.
func (a *searchAnswer) heading(t *render.Text) {
	a.verdict(t)
	if !a.StableNow {
		t.Line("now unstable: without any purchase queues grow without bound, so there are no delays to " +
			"compare with")
	}
	if a.most != nil {
		t.Line("with everything: the measures of buying each option in full, for %s", t.Cell(a.most))
	}
}

// ending writes the lines after the tables.
func (a *searchAnswer) ending(t *render.Text) {
	a.edgesText(t)
	for _, c := range a.Undecided {
		t.Line("undecided: %s, where a bound straddles a limit at the widest precision", a.problem.Words(c))
	}
}

// buyRows returns the rows of purchases in text. The capacity of each server has a column if some
// purchase is for several servers.
func buyRows(rows []render.Record) []render.Record {
	several := slices.ContainsFunc(rows, func(r render.Record) bool {
		n, _ := r.Get("count").(int)
		return n > 1
	})
	for _, row := range rows {
		for i, f := range row {
			switch {
			case !several && (f.Key == "count" || f.Key == "capacity_each"):
				row[i].Value = nil
			case several && f.Key == "capacity":
				row[i].Title = "total"
			}
		}
	}
	return rows
}

// verdict describes the result and what is proved about it.
func (a *searchAnswer) verdict(t *render.Text) {
	cost, good := t.Cell(a.Cost), a.planText()
	if a.Proof == nil {
		t.Line("cost %s; the %s", cost, a.givenText())
		a.budgetText(t)
		return
	}
	corners := render.Counted(len(a.Proof.Corners), "corner")
	switch {
	case a.Found && a.Proof.Delay == nil && a.Complete && len(a.Buy) == 0 && !a.hasGoals():
		t.Line("cost %s: there are no targets, and the cluster is stable as it is", cost)
	case a.Found && a.Proof.Delay == nil && a.Complete:
		t.Line("cost %s: no plan that %s costs less", cost, good)
	case a.Found && a.Proof.Delay == nil:
		t.Line("cost %s%s: no plan that %s costs less than %s; %s", cost, a.gapText("the minimum cost"), good,
			t.Cell(a.CostAtLeast), a.stoppedText())
	case a.Found && a.Complete:
		t.Line("cost %s, mean delay of %s %s: no plan%s has a smaller one", cost, a.minimum, t.Cell(a.MeanDelay),
			a.proofText(t))
	case a.Found:
		t.Line("cost %s, mean delay of %s %s%s: no plan%s has one below %s; %s", cost, a.minimum, t.Cell(a.MeanDelay),
			a.gapText("the least"), a.proofText(t), render.Six(*a.Proof.Delay), a.stoppedText())
	case !a.Complete && a.CostAtLeast != nil:
		t.Line("no plan found: none that %s costs less than %s; %s", good, t.Cell(a.CostAtLeast), a.stoppedText())
	case !a.Complete:
		t.Line("no plan found; %s", a.stoppedText())
	case a.Proof.AtMost != nil:
		t.Line("no plan that costs at most %s %s", t.Cell(a.Proof.AtMost), good)
	default:
		t.Line("no plan %s", good)
	}
	t.Line("proof: %s; %s", corners, render.Counted(a.Solves, "solve"))
	if a.problem.Service() != string(cluster.AllServers) && len(a.Proof.RestsOn) > 0 {
		t.Line("it rests on: %s", strings.Join(a.Proof.RestsOn, "; "))
	}
	a.budgetText(t)
}

// hasGoals reports whether a plan must meet targets besides stability.
func (a *searchAnswer) hasGoals() bool { return len(a.Targets) > 0 || a.problem.NoWorse }

// planText describes a plan that meets the targets.
func (a *searchAnswer) planText() string {
	if a.hasGoals() {
		return "meets the targets"
	}
	return "is stable"
}

// givenText reports whether a given plan meets the targets.
func (a *searchAnswer) givenText() string {
	switch met := a.allMet(); {
	case a.hasGoals() && met:
		return "targets are met"
	case a.hasGoals():
		return "targets are not met"
	case met:
		return "cluster is stable, and there are no targets"
	}
	return "cluster is unstable, and there are no other targets"
}

func (a *searchAnswer) allMet() bool {
	for _, row := range a.Targets {
		if row.Verdict != "met" {
			return false
		}
	}
	return a.isStable
}

// stoppedText explains why the search stopped.
func (a *searchAnswer) stoppedText() string {
	if len(a.Undecided) > 0 {
		return render.Counted(len(a.Undecided), "plan") + " could not be decided"
	}
	return "the limit of solves ended the search"
}

// gapText gives the largest possible distance of a plan from the minimum.
func (a *searchAnswer) gapText(least string) string {
	if a.Gap == nil {
		return ""
	}
	return fmt.Sprintf(", at most %s %% above %s", render.OneDigitUp(100**a.Gap), least)
}

// proofText describes the plans that a proof covers.
func (a *searchAnswer) proofText(t *render.Text) string {
	text := " that " + a.planText()
	switch {
	case a.Proof.Below != nil:
		return text + " and costs less than " + t.Cell(a.Proof.Below)
	case a.Proof.AtMost != nil:
		return text + " and costs at most " + t.Cell(a.Proof.AtMost)
	}
	return text
}

func (a *searchAnswer) budgetText(t *render.Text) {
	if a.WithinBudget != nil && a.Found && !*a.WithinBudget {
		t.Line("above the budget of %s; --find most-load says at which load that is enough", t.Cell(a.Budget))
	}
}

// A pointRow is a point of a frontier in text.
type pointRow struct {
	Cost  *big.Rat   `json:"cost" exact:"always"`
	Delay *num.Value `json:"mean_delay"`
	Buy   string     `json:"buy"`
}

// severalText writes the points of a frontier, or the answers at growing loads one after another.
func severalText(t *render.Text, all []*searchAnswer) {
	if all[0].Find == findFrontier {
		frontierText(t, all)
		return
	}
	for i, a := range all {
		if i > 0 {
			t.Blank()
		}
		t.Line("scale %s", render.Six(render.Rat(a.scale, render.Unproved).Float))
		a.answer().Text(t)
	}
}

// frontierText writes the points of a frontier, one per line.
func frontierText(t *render.Text, all []*searchAnswer) {
	if len(all) == 1 {
		all[0].answer().Text(t)
		return
	}
	last := all[len(all)-1]
	plans := "stable plans"
	if last.hasGoals() {
		plans = "plans that meet the targets"
	}
	t.Line("%s, each with the smallest mean delay of %s among all that cost less than the next", plans, last.minimum)
	if !last.Complete {
		t.Line("the last one may not be: %s", last.stoppedText())
	}
	var rows []pointRow
	corners, solves := 0, 0
	for _, a := range all {
		rows = append(rows, pointRow{a.Cost, a.MeanDelay, a.problem.Words(*a.Choice)})
		corners += len(a.Proof.Corners)
		solves += a.Solves
	}
	t.Line("proof: %s; %s", render.Counted(corners, "corner"), render.Counted(solves, "solve"))
	t.Line("")
	t.Table(rows, "cost", "mean_delay", "buy")
	if never := neverBought(all); never != nil {
		t.Line("no plan buys %s", strings.Join(never, ", "))
	}
}

// neverBought returns the names of the options that no plan buys.
func neverBought(all []*searchAnswer) (names []string) {
	p := all[0].problem
	for k, o := range p.Options() {
		if !slices.ContainsFunc(all, func(a *searchAnswer) bool { return p.Bought(*a.Choice)[k] > 0 }) {
			names = append(names, o.Name)
		}
	}
	return names
}

// edgesText lists the edges that increase delays, and the classes affected.
func (a *searchAnswer) edgesText(t *render.Text) {
	for _, e := range a.Edges {
		name := e.Class + ":" + e.Server
		verb := "would change"
		if e.Bought {
			verb = "changes"
		}
		without, with := t.Cell(e.Without), t.Cell(e.With)
		text := fmt.Sprintf("edge %s %s the mean delay of all jobs from %s to %s", name, verb, without, with)
		if e.Without == nil || e.With == nil {
			text = fmt.Sprintf("edge %s: mean delay of all jobs %s without it, %s with it", name, without, with)
		}
		var pays []string
		for _, p := range e.Pays {
			pays = append(pays, fmt.Sprintf("%s from %s to %s", p.Name, t.Cell(p.Without), t.Cell(p.With)))
		}
		if pays != nil {
			text += "; who pays: " + strings.Join(pays, ", ")
		}
		t.Line("%s", text)
	}
}

// loadHeading writes the greatest load of a plan.
func loadHeading(t *render.Text, l *plan.Load) {
	t.Fraction = 6
	between := "between them"
	if l.Holds != nil {
		t.Line("the targets hold with the arrival rates multiplied by %s, and fail at %s",
			render.SixDown(l.At), render.SixUp(l.Below))
	} else {
		t.Line("the targets fail even with the arrival rates multiplied by %s", render.SixUp(l.Below))
		between = "below it"
	}
	if !l.Complete {
		t.Line("%s the targets could not be decided", between)
	}
}

// mostLoadHeading writes the greatest load of all plans.
func mostLoadHeading(t *render.Text, p *plan.Problem, l *plan.MostLoad) {
	t.Fraction = 6
	within := ""
	if p.Budget != nil {
		within = " that costs at most " + t.Cell(p.Budget)
	}
	if l.Plan != nil {
		t.Line("cost %s: the targets hold with the arrival rates multiplied by %s; at %s they fail with "+
			"every plan%s", t.Cell(l.Plan.Cost), render.SixDown(l.At), render.SixUp(l.Below), within)
	} else {
		t.Line("the targets fail with every plan%s even with the arrival rates multiplied by %s",
			within, render.SixUp(l.Below))
	}
	if !l.Complete {
		t.Line("the factors in between are undecided: the limit of solves ended the search, or a plan could not be " +
			"decided")
	}
	t.Line("proof: %s; %s", render.Counted(len(l.Proof.Corners), "corner"), render.Counted(l.Solves, "solve"))
}
