package main

import (
	"math/big"
	"slices"

	"productform/internal/render"
	"productform/num"
	"productform/plan"
)

// A holdingRow is a target at the greatest load at which all targets are met.
type holdingRow struct {
	Target string     `json:"target"`
	Limit  *big.Rat   `json:"limit" exact:"always"`
	Holds  *num.Value `json:"holding" title:"where they hold"`
}

type failingRow struct {
	holdingRow
	Fails   *num.Value `json:"failing" title:"where they fail"`
	Verdict string     `json:"failing_verdict" title:"verdict there"`
}

type holdingClass struct {
	Name  string     `json:"name" title:"class"`
	Holds *num.Value `json:"mean_delay_holding" title:"mean delay where targets hold"`
}

// loadRecord returns the fields of the greatest load of a plan.
func loadRecord(p *plan.Problem, l *plan.Load) render.Record {
	rows, classes := holding(p, l.Holds)
	var targets []failingRow
	for i, row := range rows {
		fails := l.Fails.Targets[i]
		targets = append(targets, failingRow{row, fails.Value, fails.Verdict.String()})
	}
	fields := render.Fields(l)
	return slices.Concat(answerTo(findLoad, l.Holds != nil), fields[:1], render.Fields(l.Fails), fields[1:]).
		Set("targets", targets, "").Set("classes", classes, "")
}

// answerTo returns the first fields of an answer.
func answerTo(find string, found bool) render.Record {
	return render.Record{{Key: "find", Value: find}, {Key: "found", Value: found}}
}

// holding returns the measures at the load at which all targets are met, without values if o is
// nil.
func holding(p *plan.Problem, o *plan.Outcome) (targets []holdingRow, classes []holdingClass) {
	for row, t := range p.Targets {
		targets = append(targets, holdingRow{Target: t.Name(), Limit: t.Limit})
		if o != nil {
			targets[row].Holds = o.Targets[row].Value
		}
	}
	for i, name := range p.ClassNames() {
		classes = append(classes, holdingClass{Name: name})
		if o != nil {
			classes[i].Holds = o.Solution.Classes[i].MeanDelay
		}
	}
	return targets, classes
}

// loadAnswer returns the answer with the greatest load of a plan.
func loadAnswer(p *plan.Problem, l *plan.Load) render.Answer {
	sections := []render.Section{{Kind: "load", Columns: "-"},
		{Kind: "target", Of: "targets", Columns: "target limit holding failing failing_verdict"},
		{Kind: "class", Of: "classes", Columns: "name mean_delay_holding"}}
	if l.Holds == nil {
		sections[2].Columns = "-"
	}
	return render.Points([]render.Point{{Body: loadRecord(p, l), Sections: sections}}, false, nil,
		func(t *render.Text) { loadHeading(t, l) })
}

// mostLoadRecord returns the fields of the plan for the greatest load.
func mostLoadRecord(p *plan.Problem, l *plan.MostLoad) render.Record {
	targets, classes := holding(p, l.Plan)
	best, choice := &plan.Outcome{}, (*plan.Choice)(nil)
	if l.Plan != nil {
		best, choice = l.Plan, &l.Plan.Choice
	}
	return append(answerTo(findMostLoad, l.Plan != nil), render.Fields(l)...).
		Set("cost", render.Rat(best.Cost, render.Fraction), "holds_at").
		Set("budget", render.Rat(p.Budget, render.Fraction), "holds_at").
		Set("choice", choice, "proof").Set("buy", purchases(p, best.Choice), "proof").
		Set("targets", targets, "proof").Set("classes", classes, "proof")
}

// mostLoadAnswer returns the answer with the plan for the greatest load.
func mostLoadAnswer(p *plan.Problem, l *plan.MostLoad) render.Answer {
	sections := []render.Section{{Kind: "load", Columns: "-"}, buySection,
		{Kind: "target", Of: "targets", Columns: "target limit holding"},
		{Kind: "class", Of: "classes", Columns: "name mean_delay_holding"},
		{Kind: "corner", Of: "proof.corners", Columns: "-"}}
	if l.Plan == nil {
		sections[2].Columns, sections[3].Columns = "-", "-"
	}
	return render.Points([]render.Point{{Body: mostLoadRecord(p, l), Sections: sections}}, false, nil,
		func(t *render.Text) { mostLoadHeading(t, p, l) })
}
