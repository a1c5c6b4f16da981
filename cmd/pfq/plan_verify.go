package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plan"
)

// A verification reports whether an answer is proved.
type verification struct {
	Proved  bool   `json:"proved"`
	Find    string `json:"find"`
	Plans   int    `json:"plans"` // answers in the file
	Corners int    `json:"corners"`
	Why     string `json:"why,omitempty"`
}

// verified checks the answers in a file to the question of the other flags.
func (f *planQuestion) verified(q command.Query, p *plan.Problem) (a render.Answer, proved bool, err error) {
	answers, err := readAnswers(f.verify)
	if err != nil {
		return a, false, cli.FlagError{Err: fmt.Errorf("--verify: %w", err)}
	}
	v := verification{Proved: true, Find: f.find, Plans: len(answers)}
	if v.Why = f.miscounted(answers); v.Why != "" {
		v.Proved = false
	}
	for i := 0; i < len(answers) && v.Proved; i++ {
		v.Corners += len(answers[i].answer.Proof.Corners) + len(answers[i].most.Proof.Corners)
		_, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) (struct{}, error) {
			return struct{}{}, f.checkAnswer(ctx, p, answers, i, s.Settings)
		})
		if errors.Is(err, plan.ErrUnproved) {
			v.Proved, v.Why = false, strings.TrimPrefix(err.Error(), plan.ErrUnproved.Error()+": ")
		} else if err != nil {
			return a, false, err
		}
	}
	return render.Answer{JSON: v, Lines: []render.Lines{{Of: v}}, Text: v.text}, v.Proved, nil
}

// miscounted returns what is wrong with the number of answers. There must be one for each load,
// except for a frontier and for loads after one without a plan.
func (f *planQuestion) miscounted(answers []*savedAnswer) string {
	loads := max(len(f.loads), 1)
	switch {
	case len(answers) == 0:
		return "there is no answer"
	case f.find == findFrontier:
		return ""
	case len(answers) > loads:
		return "there are answers at more loads than --scale has"
	case len(answers) < loads && (f.find != findGrowth || answers[len(answers)-1].answer.Plan != nil):
		return "there are answers at fewer loads than --scale has"
	}
	return ""
}

// checkAnswer checks the proof of an answer, and compares its other fields with those of a new
// answer for its plan.
func (f *planQuestion) checkAnswer(
	ctx context.Context, p *plan.Problem, answers []*savedAnswer, i int, s plan.Settings,
) (err error) {
	a := answers[i]
	if a.Find != f.find {
		return fmt.Errorf("%w: it is the answer to --find %s", plan.ErrUnproved, a.Find)
	}
	var scale, right render.Record
	if f.loads != nil {
		p = scaled(p, f.loads[i])
		style := render.Unproved
		if f.find == findGrowth {
			style = render.Fraction
		}
		scale = render.Fields(command.Scaled{Scale: render.Rat(f.loads[i], style)})
	}
	switch f.find {
	case findLoad:
		right, err = f.checkLoad(ctx, p, a, s)
	case findMostLoad:
		right, err = checkMostLoad(ctx, p, &a.most, s)
	default:
		right, err = f.checkFound(ctx, p, answers, i, s)
	}
	if err != nil {
		return notProved(err)
	}
	return a.compare(append(scale, right...), s)
}

// checkFound checks the proof of a search, and returns the right answer.
func (f *planQuestion) checkFound(
	ctx context.Context, p *plan.Problem, answers []*savedAnswer, i int, s plan.Settings,
) (render.Record, error) {
	r := answers[i].answer
	var before *plan.Outcome
	if i > 0 {
		before = answers[i-1].answer.Plan
	}
	var from plan.Choice
	right := true
	switch f.find {
	case findCost:
		right = r.Proof.Delay == nil && r.Proof.AtMost == nil
	case findGrowth:
		right = r.Proof.Delay == nil && r.Proof.AtMost == nil && (i == 0 || before != nil)
		if before != nil {
			from = before.Choice
		}
	case findDelay:
		right = isEqual(r.Proof.AtMost, p.Budget) && r.Proof.Below == nil && (r.Plan == nil || r.Proof.Delay != nil)
	case findFrontier:
		right = f.isPoint(p, answers, i)
	}
	if !right || !slices.Equal(nonzero(r.Proof.From), nonzero(from)) {
		return nil, fmt.Errorf("%w: the proof belongs to something else", plan.ErrUnproved)
	}
	err := plan.Verify(ctx, p, &r, s)
	if err != nil {
		return nil, err
	}
	if r.Now, err = plan.Evaluate(ctx, p, plan.Choice{}, s); err != nil {
		return nil, err
	}
	var at plan.Choice
	if r.Plan != nil {
		at = r.Plan.Choice
		if r.Plan, err = plan.Evaluate(ctx, p, at, s); err != nil {
			return nil, err
		}
		r.WithinBudget = p.Budget == nil || r.Plan.Cost.Cmp(p.Budget) <= 0
	} else if r.Most, err = plan.Evaluate(ctx, p, p.Everything(), s); err != nil {
		return nil, err
	}
	effects, err := plan.EdgeEffects(ctx, p, at, s)
	if err != nil {
		return nil, err
	}
	a := newFound(f.find, p, &r, effects)
	const rounding = 1.1 // a search leaves open plans whose mean delay is more than s.RelTol below
	if !r.Complete && r.Proof.Delay != nil && r.Proof.Below == nil && a.Gap != nil && *a.Gap <= rounding*s.RelTol {
		return nil, fmt.Errorf("%w: the answer is complete: no plan has a smaller mean delay", plan.ErrUnproved)
	}
	return render.Fields(a), nil
}

// isPoint reports whether the proof of a point of a frontier extends to the next point. The proof
// of the first point must show that no plan is cheaper.
func (f *planQuestion) isPoint(p *plan.Problem, answers []*savedAnswer, i int) bool {
	a := answers[i].answer
	switch {
	case a.Plan == nil || a.Proof.Delay == nil: // no known plan within the budget, or no proof about mean delays
		above := a.Plan != nil && a.Plan.Cost != nil && p.Budget != nil && a.Plan.Cost.Cmp(p.Budget) > 0
		return len(answers) == 1 && a.Proof.Delay == nil && a.Proof.AtMost == nil &&
			(a.Plan == nil || !a.Complete || above)
	case (a.Cheaper != nil) != (i == 0):
		return false
	case i+1 < len(answers):
		next := answers[i+1].answer.Plan
		return next != nil && isEqual(a.Proof.Below, next.Cost) && a.Proof.AtMost == nil && a.Complete
	}
	return a.Proof.Below == nil && isEqual(a.Proof.AtMost, p.Budget) || !a.Complete
}

func isEqual(x, y *big.Rat) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return x.Cmp(y) == 0
}

// nonzero returns a plan as a list of numbers, empty if the plan buys nothing.
func nonzero(c plan.Choice) (list []int) {
	for k, n := range c.Steps {
		if n != 0 {
			list = append(list, k, n)
		}
	}
	return append(append(list, -1), c.Edges...)
}

// checkLoad checks the greatest load of a plan, and returns the right answer.
func (f *planQuestion) checkLoad(
	ctx context.Context, p *plan.Problem, a *savedAnswer, s plan.Settings,
) (render.Record, error) {
	choice, l := a.answer.Plan.Choice, &a.load
	asked, err := parseChoice(p, f.choice)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(nonzero(choice), nonzero(asked)) {
		return nil, fmt.Errorf("%w: the choice is not that of --choice", plan.ErrUnproved)
	}
	if err := plan.VerifyLoad(ctx, p, choice, l, s); err != nil {
		return nil, err
	}
	if l.Fails, err = plan.Evaluate(ctx, scaled(p, l.Below), choice, s); err != nil {
		return nil, err
	}
	if l.At != nil {
		if l.Holds, err = plan.Evaluate(ctx, scaled(p, l.At), choice, s); err != nil {
			return nil, err
		}
	}
	return loadRecord(p, l), nil
}

// checkMostLoad checks the plan for the greatest load, and returns the right answer.
func checkMostLoad(
	ctx context.Context, p *plan.Problem, l *plan.MostLoad, s plan.Settings,
) (render.Record, error) {
	err := plan.VerifyMostLoad(ctx, p, l, s)
	if err != nil {
		return nil, err
	}
	if l.Plan != nil {
		if l.Plan, err = plan.Evaluate(ctx, scaled(p, l.At), l.Plan.Choice, s); err != nil {
			return nil, err
		}
	}
	return mostLoadRecord(p, l), nil
}

// compare checks the answer against the right one.
func (a *savedAnswer) compare(right render.Record, s plan.Settings) error {
	text, err := render.Answer{JSON: right}.Format("json")
	if err != nil {
		return err
	}
	want, err := file.Parse(text, file.JSON, wantAnswer)
	if err != nil {
		return err
	}
	if path, want := difference("", want, a.node, s.RelTol); path != "" {
		return fmt.Errorf("%w: %s: want %s", plan.ErrUnproved, path, want)
	}
	return nil
}

// notProved turns an error about an out-of-range choice in an answer into a failure of its proof.
func notProved(err error) error {
	var bad *input.Error
	if errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Choice.") {
		return fmt.Errorf("%w: %w", plan.ErrUnproved, err)
	}
	return err
}

// difference returns the path at which two JSON values differ, and the expected value there.
// Numbers may differ by three times the tolerance, since each may be off by one tolerance. A
// missing field counts as null.
func difference(path string, want, got *file.Node, tol float64) (where, what string) {
	if got == nil {
		got = &file.Node{}
	}
	switch {
	case want.Kind == file.ObjectKind && got.Kind != file.ObjectKind:
		return path, "an object"
	case want.Kind == file.ArrayKind && (got.Kind != file.ArrayKind || len(got.Kids) != len(want.Kids)):
		return path, fmt.Sprintf("a list of %d", len(want.Kids))
	case want.Kind == file.ObjectKind:
		for _, key := range slices.Sorted(slices.Values(want.Keys)) {
			if where, what = difference(input.Field(path, key), want.Get(key), got.Get(key), tol); where != "" {
				return where, what
			}
		}
		keys := slices.Sorted(slices.Values(got.Keys))
		for i, key := range keys {
			if want.Get(key) == nil || slices.Contains(keys[:i], key) {
				return input.Field(path, key), "no field"
			}
		}
	case want.Kind == file.ArrayKind:
		for i := range want.Kids {
			if where, what = difference(input.Index(path, i), &want.Kids[i], &got.Kids[i], tol); where != "" {
				return where, what
			}
		}
	case want.Kind == file.NumberKind:
		w, _ := strconv.ParseFloat(want.Text, 64)
		g, err := strconv.ParseFloat(got.Text, 64)
		if got.Kind != file.NumberKind || err != nil || math.Abs(g-w) > 3*tol*max(math.Abs(w), tol) {
			return path, fmt.Sprint(w)
		}
	case want.Kind == file.NullKind && got.Kind != file.NullKind:
		return path, "null"
	case want.Kind != got.Kind || want.Text != got.Text:
		return path, want.Text
	}
	return "", ""
}

func (v verification) text(t *render.Text) {
	if v.Proved {
		t.Line("proved: %s, %s", render.Counted(v.Plans, "plan"), render.Counted(v.Corners, "corner"))
		return
	}
	t.Line("not proved: %s", v.Why)
}
