package plan

import (
	"math/big"
	"slices"

	"productform/internal/render"
	"productform/num"
	"productform/plan"
	"productform/plan/problem"
)

// A holdingRow is a target at the greatest load at which all hold.
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
func loadRecord(p *problem.Problem, l *plan.Load) render.Record {
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

// loadAnswer returns the answer with the greatest load of a plan.
func loadAnswer(p *problem.Problem, l *plan.Load) render.Answer {
	sections := []render.Section{{Kind: "load", Columns: "-"},
		{Kind: "target", Of: "targets", Columns: "target limit holding failing failing_verdict"},
		{Kind: "class", Of: "classes", Columns: "name mean_delay_holding"}}
	text := func(t *render.Text) {
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
	if l.Holds == nil {
		sections[2].Columns = "-"
	}
	return render.Points([]render.Point{{Body: loadRecord(p, l), Sections: sections}}, false, nil, text)
}
