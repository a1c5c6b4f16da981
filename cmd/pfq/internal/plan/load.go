package plan

import (
	"math/big"

	"productform/internal/render"
	"productform/plan"
	"productform/plan/problem"
)

// A loadAnswer is the greatest load of a plan.
type loadAnswer struct {
	Find     string          `json:"find"`
	Found    bool            `json:"found"`
	Complete bool            `json:"complete"` // whether no load between is left open
	Choice   choice          `json:"choice"`
	Cost     render.Number   `json:"cost"`
	Holds    render.Number   `json:"holds_at"` // factor of the arrival rates
	Fails    render.Number   `json:"fails_at"`
	Targets  []loadTargetRow `json:"targets"`
	Classes  []loadClassRow  `json:"classes"`
}

type loadTargetRow struct {
	Target  string        `json:"target"`
	Limit   render.Number `json:"limit"`
	Holds   render.Number `json:"holding" title:"where they hold"`
	Fails   render.Number `json:"failing" title:"where they fail"`
	Verdict string        `json:"failing_verdict" title:"verdict there"`
}

type loadClassRow struct {
	Name  string        `json:"name" title:"class"`
	Holds render.Number `json:"mean_delay_holding" title:"mean delay where targets hold"`
}

func newLoadAnswer(p *problem.Problem, l *plan.Load) *loadAnswer {
	a := &loadAnswer{Find: findLoad, Found: l.Holds != nil, Complete: l.Complete, Choice: newChoice(l.Fails.Choice), Cost: render.Rat(l.Fails.Cost, render.Fraction),
		Holds: render.Rat(l.At, render.Fraction), Fails: render.Rat(l.Below, render.Fraction), Targets: []loadTargetRow{}, Classes: []loadClassRow{}}
	for row, t := range p.Targets {
		out := loadTargetRow{Target: t.Name(), Limit: render.Rat(t.Limit, render.Fraction), Fails: number(l.Fails.Targets[row].Value), Verdict: l.Fails.Targets[row].Verdict.String()}
		if l.Holds != nil {
			out.Holds = number(l.Holds.Targets[row].Value)
		}
		a.Targets = append(a.Targets, out)
	}
	for i, c := range p.Model.Classes {
		out := loadClassRow{Name: c.Name}
		if l.Holds != nil {
			out.Holds = number(l.Holds.Solution.Classes[i].MeanDelay)
		}
		a.Classes = append(a.Classes, out)
	}
	return a
}

func (a *loadAnswer) answer() render.Answer {
	lines := []render.Lines{{Kind: "load", Of: *a}, {Kind: "target", Of: a.Targets}, {Kind: "class", Of: a.Classes}}
	return render.Answer{JSON: a, Lines: lines, Text: a.text}
}

func (a *loadAnswer) text(t *render.Text) {
	t.Fraction = 6
	if a.Found {
		t.Line("the targets hold with the arrival rates multiplied by %s, and fail at %s", render.SixDown(exactly(a.Holds)), render.SixUp(exactly(a.Fails)))
	} else {
		t.Line("the targets fail even with the arrival rates multiplied by %s", render.SixUp(exactly(a.Fails)))
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

// exactly returns the fraction of a number that has one.
func exactly(n render.Number) *big.Rat {
	x, _ := new(big.Rat).SetString(n.Exact)
	return x
}
