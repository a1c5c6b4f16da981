package plan

import (
	"context"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/plan"
	"productform/plan/problem"
)

// A mostLoadAnswer is the plan within the budget that meets the targets at the greatest load.
type mostLoadAnswer struct {
	Find     string          `json:"find"`
	Found    bool            `json:"found"`
	Complete bool            `json:"complete"`
	Cost     render.Number   `json:"cost"`
	Budget   render.Number   `json:"budget"`
	Holds    render.Number   `json:"holds_at"` // factor of the arrival rates
	Fails    render.Number   `json:"fails_at"` // for all plans within the budget
	Solves   int             `json:"solves"`
	Choice   *choice         `json:"choice"`
	Buy      []purchase      `json:"buy"`
	Targets  []mostTargetRow `json:"targets"`
	Classes  []loadClassRow  `json:"classes"`
	Proof    *proof          `json:"proof"` // for fails_at
}

type mostTargetRow struct {
	Target string        `json:"target"`
	Limit  render.Number `json:"limit"`
	Holds  render.Number `json:"holding" title:"where they hold"`
}

// mostLoad finds the plan that bears the most load.
func (f *planFlags) mostLoad(q command.Query, p *problem.Problem) (render.Answer, bool, error) {
	l, err := working(q, f, func(ctx context.Context, s plan.Settings) (*plan.MostLoad, error) {
		return plan.GreatestLoadOfAll(ctx, p, s)
	})
	if err != nil {
		return render.Answer{}, false, err
	}
	return newMostLoad(p, l).answer(), l.Plan != nil, nil
}

func newMostLoad(p *problem.Problem, l *plan.MostLoad) *mostLoadAnswer {
	a := &mostLoadAnswer{Find: findMostLoad, Found: l.Plan != nil, Complete: l.Complete, Cost: render.Rat(nil, render.Fraction), Budget: render.Rat(p.Budget, render.Fraction),
		Holds: render.Rat(l.At, render.Fraction), Fails: render.Rat(l.Below, render.Fraction), Solves: l.Solves,
		Buy: []purchase{}, Targets: []mostTargetRow{}, Classes: []loadClassRow{}, Proof: newProof(p, l.Proof)}
	if l.Plan != nil {
		c := newChoice(l.Plan.Choice)
		a.Choice, a.Buy, a.Cost = &c, purchases(p, l.Plan.Choice), render.Rat(l.Plan.Cost, render.Fraction)
	}
	for row, t := range p.Targets {
		out := mostTargetRow{Target: t.Name(), Limit: render.Rat(t.Limit, render.Fraction)}
		if l.Plan != nil {
			out.Holds = number(l.Plan.Targets[row].Value)
		}
		a.Targets = append(a.Targets, out)
	}
	for i, c := range p.Model.Classes {
		out := loadClassRow{Name: c.Name}
		if l.Plan != nil {
			out.Holds = number(l.Plan.Solution.Classes[i].MeanDelay)
		}
		a.Classes = append(a.Classes, out)
	}
	return a
}

func (a *mostLoadAnswer) answer() render.Answer {
	lines := []render.Lines{{Kind: "load", Of: *a}}
	for _, b := range a.Buy {
		lines = append(lines, render.Lines{Kind: b.Kind, Of: render.Fields(b)[1:]})
	}
	lines = append(lines, render.Lines{Kind: "target", Of: a.Targets}, render.Lines{Kind: "class", Of: a.Classes}, render.Lines{Kind: "corner", Of: a.Proof.Corners})
	return render.Answer{JSON: a, Lines: lines, Text: a.text}
}

func (a *mostLoadAnswer) text(t *render.Text) {
	t.Fraction = 6
	within := ""
	if a.Budget.Exact != "" {
		within = " that costs at most " + t.Cell(a.Budget)
	}
	if a.Found {
		t.Line("cost %s: the targets hold with the arrival rates multiplied by %s; at %s they fail with every plan%s", t.Cell(a.Cost), render.SixDown(exactly(a.Holds)), render.SixUp(exactly(a.Fails)), within)
	} else {
		t.Line("the targets fail with every plan%s even with the arrival rates multiplied by %s", within, render.SixUp(exactly(a.Fails)))
	}
	if !a.Complete {
		t.Line("what lies between is not known: the limit of solves ended the search, or a plan could not be decided")
	}
	t.Line("proof: %s; %s", render.Counted(len(a.Proof.Corners), "corner"), render.Counted(a.Solves, "solve"))
	t.Line("")
	buyTable(t, a.Buy)
	if a.Found {
		t.Table(a.Targets, "target", "limit", "holding")
		t.Table(a.Classes, "name", "mean_delay_holding")
	}
}

// checkMostLoad checks the plan that bears the most load.
func (a *answered) checkMostLoad(ctx context.Context, p *problem.Problem, s plan.Settings) error {
	l := &plan.MostLoad{Plan: a.answer.Plan, At: a.holds, Below: a.fails, Proof: a.answer.Proof, Complete: a.answer.Complete, Solves: a.answer.Solves}
	err := plan.VerifyMostLoad(ctx, p, l, s)
	if err != nil {
		return notProved(err)
	}
	if l.Plan != nil {
		if l.Plan, err = plan.Evaluate(ctx, scaled(p, a.holds), l.Plan.Choice, s); err != nil {
			return err
		}
	}
	return a.compare(newMostLoad(p, l).answer(), s)
}
