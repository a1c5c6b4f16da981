package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/internal/render"
	"productform/num"
)

// text writes the answer for people.
func (a *found) text(t *render.Text) {
	a.verdict(t)
	if !a.StableNow {
		t.Line("now unstable: without anything bought queues grow without bound, so that there are no delays to compare with")
	}
	t.Line("")
	buyTable(t, a.Buy)
	columns := func(first string, columns ...string) []string {
		switch {
		case !a.Found:
			return []string{first, columns[0], columns[2]}
		case len(a.Buy) == 0: // the plan is the cluster as it is
			return []string{first, columns[0]}
		}
		return []string{first, columns[0], columns[1]}
	}
	if len(a.Targets) > 0 {
		last := "plan"
		if !a.Found {
			last = "everything"
		}
		t.Table(a.Targets, "target", "limit", "now", last, "verdict")
	}
	t.Table(a.Gradients, "option", "name", "mean_delay_per_step", "mean_delay_per_cost")
	t.Table(a.Classes, columns("name", "mean_delay_now", "mean_delay", "mean_delay_with_everything")...)
	t.Table(a.Servers, columns("name", "utilization_now", "utilization", "utilization_with_everything")...)
	a.edgesText(t)
	for _, c := range a.Undecided {
		t.Line("undecided: %s, where a bound straddles a limit at the widest precision", a.problem.Words(c))
	}
}

// buyTable lists what is bought: the capacity in all and, where some of it is for several servers, that of each.
func buyTable(t *render.Text, list []purchase) {
	columns := []string{"kind", "name", "steps", "capacity", "cost"}
	if slices.ContainsFunc(list, func(b purchase) bool { return b.Servers != nil && *b.Servers > 1 }) {
		columns = []string{"kind", "name", "steps", "count", "capacity_each", "capacity", "cost"}
	}
	var rows []render.Record
	for _, b := range list {
		row := render.Fields(b)
		for i := range row {
			if row[i].Key == "capacity" && len(columns) > 5 {
				row[i].Title = "in all"
			}
		}
		rows = append(rows, row)
	}
	t.Table(rows, columns...)
}

// verdict says what was found, and what is proved of it.
func (a *found) verdict(t *render.Text) {
	cost, good := t.Cell(a.Cost), a.goodText()
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
		t.Line("cost %s%s: no plan that %s costs less than %s; %s", cost, a.gapText("the least cost"), good, t.Cell(a.CostAtLeast), a.stoppedText())
	case a.Found && a.Complete:
		t.Line("cost %s, mean delay of %s %s: no plan%s has a smaller one", cost, a.minimum, t.Cell(a.MeanDelay), a.proofText(t))
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
	a.budgetText(t)
}

// hasGoals reports whether a plan has to be more than stable.
func (a *found) hasGoals() bool { return len(a.Targets) > 0 || a.problem.NoWorse }

// goodText says what a plan that will do does.
func (a *found) goodText() string {
	if a.hasGoals() {
		return "meets the targets"
	}
	return "is stable"
}

// givenText says whether a plan that was given will do.
func (a *found) givenText() string {
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

func (a *found) allMet() bool {
	for _, row := range a.Targets {
		if row.Verdict != "met" {
			return false
		}
	}
	return a.MeanDelay != nil
}

// stoppedText says why more is not known.
func (a *found) stoppedText() string {
	if len(a.Undecided) > 0 {
		return render.Counted(len(a.Undecided), "plan") + " could not be decided"
	}
	return "the limit of solves ended the search"
}

// gapText says how far above the least a plan is at most.
func (a *found) gapText(least string) string {
	if a.Gap == nil {
		return ""
	}
	return fmt.Sprintf(", at most %s %% above %s", render.OneDigitUp(100**a.Gap), least)
}

// proofText says of which plans a proof speaks.
func (a *found) proofText(t *render.Text) string {
	text := " that " + a.goodText()
	switch {
	case a.Proof.Below != nil:
		return text + " and costs less than " + t.Cell(a.Proof.Below)
	case a.Proof.AtMost != nil:
		return text + " and costs at most " + t.Cell(a.Proof.AtMost)
	}
	return text
}

func (a *found) budgetText(t *render.Text) {
	if a.WithinBudget != nil && a.Found && !*a.WithinBudget {
		t.Line("above the budget of %s; --find most-load says at which load that is enough", t.Cell(a.Budget))
	}
}

// A pointRow is a point of a frontier as text shows it.
type pointRow struct {
	Cost  *big.Rat   `json:"cost" exact:"always"`
	Delay *num.Value `json:"mean_delay"`
	Buy   string     `json:"buy"`
}

// frontierText writes the points of a frontier under each other.
func frontierText(t *render.Text, all []*found) {
	if len(all) == 1 {
		all[0].text(t)
		return
	}
	last := all[len(all)-1]
	t.Line("%s, each with the least mean delay of %s among all that cost less than the next", map[bool]string{true: "plans that meet the targets", false: "stable plans"}[last.hasGoals()], last.minimum)
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

// neverBought returns the names of the options that none of the plans has.
func neverBought(all []*found) (names []string) {
	p := all[0].problem
	for k, o := range p.Options() {
		if !slices.ContainsFunc(all, func(a *found) bool { return p.Bought(*a.Choice)[k] > 0 }) {
			names = append(names, o.Name)
		}
	}
	return names
}

// edgesText says which edges hurt, and who pays.
func (a *found) edgesText(t *render.Text) {
	for _, e := range a.Edges {
		name := e.Class + ":" + e.Server
		verb := "would change"
		if e.Bought {
			verb = "changes"
		}
		text := fmt.Sprintf("edge %s %s the mean delay of all jobs from %s to %s", name, verb, t.Cell(e.Without), t.Cell(e.With))
		if e.Without == nil || e.With == nil {
			text = fmt.Sprintf("edge %s: mean delay of all jobs %s without it, %s with it", name, t.Cell(e.Without), t.Cell(e.With))
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
