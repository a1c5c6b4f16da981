package plan

import (
	"context"
	"math/big"

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
	Cost     *big.Rat        `json:"cost" exact:"always"`
	Budget   *big.Rat        `json:"budget" exact:"always"`
	Holds    *big.Rat        `json:"holds_at" exact:"always"` // factor of the arrival rates
	Fails    *big.Rat        `json:"fails_at" exact:"always"` // for all plans within the budget
	Solves   int             `json:"solves"`
	Choice   *problem.Choice `json:"choice"`
	Buy      []purchase      `json:"buy"`
	Targets  []holdingRow    `json:"targets"`
	Classes  []holdingClass  `json:"classes"`
	Proof    plan.Proof      `json:"proof"` // for fails_at
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
	a := &mostLoadAnswer{Find: findMostLoad, Found: l.Plan != nil, Complete: l.Complete, Budget: p.Budget,
		Holds: l.At, Fails: l.Below, Solves: l.Solves, Proof: l.Proof}
	if l.Plan != nil {
		a.Choice, a.Buy, a.Cost = &l.Plan.Choice, purchases(p, l.Plan.Choice), l.Plan.Cost
	}
	a.Targets, a.Classes = holding(p, l.Plan)
	return a
}

func (a *mostLoadAnswer) answer() render.Answer {
	lines := append([]render.Lines{{Kind: "load", Of: *a}}, buyLines(nil, a.Buy)...)
	lines = append(lines, render.Lines{Kind: "target", Of: a.Targets}, render.Lines{Kind: "class", Of: a.Classes},
		render.Lines{Kind: "corner", Of: a.Proof.Corners})
	return render.Answer{JSON: a, Lines: lines, Text: a.text}
}

func (a *mostLoadAnswer) text(t *render.Text) {
	t.Fraction = 6
	within := ""
	if a.Budget != nil {
		within = " that costs at most " + t.Cell(a.Budget)
	}
	if a.Found {
		t.Line("cost %s: the targets hold with the arrival rates multiplied by %s; at %s they fail with every plan%s",
			t.Cell(a.Cost), render.SixDown(a.Holds), render.SixUp(a.Fails), within)
	} else {
		t.Line("the targets fail with every plan%s even with the arrival rates multiplied by %s",
			within, render.SixUp(a.Fails))
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
	l := &a.most
	err := plan.VerifyMostLoad(ctx, p, l, s)
	if err != nil {
		return notProved(err)
	}
	if l.Plan != nil {
		if l.Plan, err = plan.Evaluate(ctx, scaled(p, l.At), l.Plan.Choice, s); err != nil {
			return err
		}
	}
	return a.compare(newMostLoad(p, l), s)
}
