package plan

import (
	"math/big"

	"productform/internal/render"
	"productform/num"
	"productform/plan"
	"productform/plan/problem"
)

// A loadAnswer is the greatest load of a plan.
type loadAnswer struct {
	Find     string `json:"find"`
	Found    bool   `json:"found"`
	Complete bool   `json:"complete"` // whether no load between is left open
	*plan.Outcome
	Holds   *big.Rat       `json:"holds_at" exact:"always"` // factor of the arrival rates
	Fails   *big.Rat       `json:"fails_at" exact:"always"`
	Targets []failingRow   `json:"targets"`
	Classes []holdingClass `json:"classes"`
}

type failingRow struct {
	holdingRow
	Fails   *num.Value `json:"failing" title:"where they fail"`
	Verdict string     `json:"failing_verdict" title:"verdict there"`
}

// A holdingRow is a target at the greatest load at which all hold.
type holdingRow struct {
	Target string     `json:"target"`
	Limit  *big.Rat   `json:"limit" exact:"always"`
	Holds  *num.Value `json:"holding" title:"where they hold"`
}

type holdingClass struct {
	Name  string     `json:"name" title:"class"`
	Holds *num.Value `json:"mean_delay_holding" title:"mean delay where targets hold"`
}

func newLoadAnswer(p *problem.Problem, l *plan.Load) *loadAnswer {
	a := &loadAnswer{Find: findLoad, Found: l.Holds != nil, Complete: l.Complete, Outcome: l.Fails,
		Holds: l.At, Fails: l.Below}
	targets, classes := holding(p, l.Holds)
	a.Classes = classes
	for row, t := range targets {
		fails := l.Fails.Targets[row]
		a.Targets = append(a.Targets, failingRow{t, fails.Value, fails.Verdict.String()})
	}
	return a
}

// holding returns what is measured where all targets hold, without values if o is nil.
func holding(p *problem.Problem, o *plan.Outcome) (targets []holdingRow, classes []holdingClass) {
	for row, t := range p.Targets {
		targets = append(targets, holdingRow{Target: t.Name(), Limit: t.Limit})
		if o != nil {
			targets[row].Holds = o.Targets[row].Value
		}
	}
	for i, c := range p.Model.Classes {
		classes = append(classes, holdingClass{Name: c.Name})
		if o != nil {
			classes[i].Holds = o.Solution.Classes[i].MeanDelay
		}
	}
	return targets, classes
}

func (a *loadAnswer) answer() render.Answer {
	lines := []render.Lines{{Kind: "load", Of: *a}, {Kind: "target", Of: a.Targets}, {Kind: "class", Of: a.Classes}}
	return render.Answer{JSON: a, Lines: lines, Text: a.text}
}

func (a *loadAnswer) text(t *render.Text) {
	t.Fraction = 6
	if a.Found {
		t.Line("the targets hold with the arrival rates multiplied by %s, and fail at %s",
			render.SixDown(a.Holds), render.SixUp(a.Fails))
	} else {
		t.Line("the targets fail even with the arrival rates multiplied by %s", render.SixUp(a.Fails))
	}
	if !a.Complete {
		t.Line("%s the targets could not be decided", map[bool]string{true: "between them", false: "below it"}[a.Found])
	}
	t.Line("")
	t.Table(a.Targets, "target", "limit", "holding", "failing", "failing_verdict")
	if a.Found {
		t.Table(a.Classes, "name", "mean_delay_holding")
	}
}
