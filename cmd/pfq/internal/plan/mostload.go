package plan

import (
	"context"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/plan"
	"productform/plan/problem"
)

// mostLoad finds the plan that bears the most load.
func (f *planFlags) mostLoad(q command.Query, p *problem.Problem) (render.Answer, bool, error) {
	l, err := working(q, f, func(ctx context.Context, s plan.Settings) (*plan.MostLoad, error) {
		return plan.GreatestLoadOfAll(ctx, p, s)
	})
	if err != nil {
		return render.Answer{}, false, err
	}
	return mostLoadAnswer(p, l), l.Plan != nil, nil
}

// mostLoadRecord returns the fields of the plan for the greatest load.
func mostLoadRecord(p *problem.Problem, l *plan.MostLoad) render.Record {
	targets, classes := holding(p, l.Plan)
	best, choice := &plan.Outcome{}, (*problem.Choice)(nil)
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
func mostLoadAnswer(p *problem.Problem, l *plan.MostLoad) render.Answer {
	a := mostLoadRecord(p, l)
	var buy []purchase
	if l.Plan != nil {
		buy = purchases(p, l.Plan.Choice)
	}
	lines := append([]render.Lines{{Kind: "load", Of: a}}, buyLines(nil, buy)...)
	lines = append(lines, render.Lines{Kind: "target", Of: a.Get("targets")},
		render.Lines{Kind: "class", Of: a.Get("classes")}, render.Lines{Kind: "corner", Of: l.Proof.Corners})
	return render.Answer{JSON: a, Lines: lines, Text: func(t *render.Text) {
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
			t.Line("what lies between is not known: the limit of solves ended the search, or a plan could not be " +
				"decided")
		}
		t.Line("proof: %s; %s", render.Counted(len(l.Proof.Corners), "corner"), render.Counted(l.Solves, "solve"))
		t.Line("")
		buyTable(t, buy)
		if l.Plan != nil {
			t.Table(a.Get("targets"), "target", "limit", "holding")
			t.Table(a.Get("classes"), "name", "mean_delay_holding")
		}
	}}
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
	return a.compare(mostLoadRecord(p, l), s)
}
