package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/internal/tree"
	"productform/plan"
	"productform/plan/problem"
)

// A verification says whether an answer is proved.
type verification struct {
	Proved  bool   `json:"proved"`
	Find    string `json:"find"`
	Plans   int    `json:"plans"` // answers in the file
	Corners int    `json:"corners"`
	Why     string `json:"why,omitempty"`
}

// verified checks the answers in a file, to the question that the other flags ask.
func (f *planFlags) verified(q command.Query, p *problem.Problem) (a render.Answer, proved bool, err error) {
	answers, err := readAnswers(f.verify)
	if err != nil {
		return a, false, cli.FlagError{Err: err}
	}
	v := verification{Proved: true, Find: f.find, Plans: len(answers)}
	if v.Why = f.miscounted(answers); v.Why != "" {
		v.Proved = false
	}
	for i := 0; i < len(answers) && v.Proved; i++ {
		v.Corners += len(answers[i].answer.Proof.Corners) + len(answers[i].most.Proof.Corners)
		_, err := working(q, f, func(ctx context.Context, s plan.Settings) (struct{}, error) {
			return struct{}{}, f.checkAnswer(ctx, p, answers, i, s)
		})
		if errors.Is(err, plan.ErrProof) {
			v.Proved, v.Why = false, strings.TrimPrefix(err.Error(), plan.ErrProof.Error()+": ")
		} else if err != nil {
			return a, false, err
		}
	}
	return render.Answer{JSON: v, Lines: []render.Lines{{Of: v}}, Text: v.text}, v.Proved, nil
}

// miscounted says what is wrong with how many answers there are: one for each load, but for those of a frontier, and but for loads
// after one at which no plan was found.
func (f *planFlags) miscounted(answers []*answered) string {
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

// checkAnswer checks one of the answers.
func (f *planFlags) checkAnswer(ctx context.Context, p *problem.Problem, answers []*answered, i int, s plan.Settings) error {
	one := answers[i]
	if one.Find != f.find {
		return fmt.Errorf("%w: it is the answer to --find %s", plan.ErrProof, one.Find)
	}
	if f.loads != nil {
		p = scaled(p, f.loads[i])
		one.scale = f.loads[i]
	}
	if one.Find == findLoad {
		asked, err := parseChoice(p, f.choice)
		if err != nil {
			return err
		}
		if !slices.Equal(nonzero(one.answer.Plan.Choice), nonzero(asked)) {
			return fmt.Errorf("%w: the choice is not that of --choice", plan.ErrProof)
		}
		return one.checkLoad(ctx, p, s)
	}
	if one.Find == findMostLoad {
		return one.checkMostLoad(ctx, p, s)
	}
	proof := &one.answer.Proof
	var from problem.Choice
	right := true
	switch f.find {
	case findCost:
		right = proof.Delay == nil && proof.AtMost == nil
	case findGrowth:
		right = proof.Delay == nil && proof.AtMost == nil && (i == 0 || answers[i-1].answer.Plan != nil)
		if i > 0 && right {
			from = answers[i-1].answer.Plan.Choice
		}
	case findDelay:
		right = isEqual(proof.AtMost, p.Budget) && proof.Below == nil && (one.answer.Plan == nil || proof.Delay != nil)
	case findFrontier:
		right = f.isPoint(p, answers, i)
	}
	if !right || !slices.Equal(nonzero(proof.From), nonzero(from)) {
		return fmt.Errorf("%w: the proof is of something else", plan.ErrProof)
	}
	if err := plan.Verify(ctx, p, &one.answer, s); err != nil {
		return err
	}
	return one.checkMeasures(ctx, f, p, s)
}

// isPoint reports whether the proof of a point of a frontier reaches to the next one, and the first has one that nothing is cheaper.
func (f *planFlags) isPoint(p *problem.Problem, answers []*answered, i int) bool {
	a := answers[i].answer
	switch {
	case a.Plan == nil || a.Proof.Delay == nil: // nothing is known to meet the targets within the budget, or nothing of mean delays
		above := a.Plan != nil && a.Plan.Cost != nil && p.Budget != nil && a.Plan.Cost.Cmp(p.Budget) > 0
		return len(answers) == 1 && a.Proof.Delay == nil && a.Proof.AtMost == nil && (a.Plan == nil || !a.Complete || above)
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

// nonzero returns a plan as a list of numbers that is empty if it buys nothing.
func nonzero(c problem.Choice) (list []int) {
	for k, n := range c.Steps {
		if n != 0 {
			list = append(list, k, n)
		}
	}
	return append(append(list, -1), c.Edges...)
}

// checkMeasures checks all else that an answer says, by making it anew for the plan and the proof that it has.
func (a *answered) checkMeasures(ctx context.Context, f *planFlags, p *problem.Problem, s plan.Settings) error {
	r := a.answer
	var at problem.Choice
	var err error
	if r.Now, err = plan.Evaluate(ctx, p, problem.Choice{}, s); err != nil {
		return err
	}
	if r.Plan != nil {
		at = r.Plan.Choice
		if r.Plan, err = plan.Evaluate(ctx, p, at, s); err != nil {
			return notProved(err)
		}
		r.WithinBudget = p.Budget == nil || r.Plan.Cost.Cmp(p.Budget) <= 0
	} else if r.Most, err = plan.Evaluate(ctx, p, p.Everything(), s); err != nil {
		return err
	}
	effects, err := plan.EdgeEffects(ctx, p, at, s)
	if err != nil {
		return err
	}
	right := newFound(f.find, p, &r, effects)
	const rounding = 1.1 // a search leaves open plans whose mean delay is more than s.RelTol below
	if !r.Complete && r.Proof.Delay != nil && r.Proof.Below == nil && right.Gap != nil &&
		*right.Gap <= rounding*s.RelTol {
		return fmt.Errorf("%w: the answer is complete: no plan has a smaller mean delay", plan.ErrProof)
	}
	return a.compare(right, s)
}

// checkLoad checks the greatest load of a plan.
func (a *answered) checkLoad(ctx context.Context, p *problem.Problem, s plan.Settings) error {
	choice, l := a.answer.Plan.Choice, &a.load
	err := plan.VerifyLoad(ctx, p, choice, l, s)
	if err != nil {
		return notProved(err)
	}
	if l.Fails, err = plan.Evaluate(ctx, scaled(p, l.Below), choice, s); err != nil {
		return err
	}
	if l.At != nil {
		if l.Holds, err = plan.Evaluate(ctx, scaled(p, l.At), choice, s); err != nil {
			return err
		}
	}
	return a.compare(loadRecord(p, l), s)
}

// compare checks that the answer says what it should.
func (a *answered) compare(answer any, s plan.Settings) error {
	said := render.Fields(answer)
	if a.scale != nil {
		style := render.Unproved
		if a.Find == findGrowth {
			style = render.Fraction
		}
		said = append(render.Fields(command.Scaled{Scale: render.Rat(a.scale, style)}), said...)
	}
	text, err := render.Answer{JSON: said}.Format("json")
	if err != nil {
		return err
	}
	var right map[string]any
	if err := json.Unmarshal(text, &right); err != nil {
		return err
	}
	if path, want := difference("", right, a.fields, s.RelTol); path != "" {
		return fmt.Errorf("%w: %s: want %v", plan.ErrProof, strings.TrimPrefix(path, "."), want)
	}
	return nil
}

// notProved makes a choice out of range in an answer a failure of its proof.
func notProved(err error) error {
	var bad *input.Error
	if errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Choice.") {
		return fmt.Errorf("%w: %w", plan.ErrProof, err)
	}
	return err
}

// difference returns where a value of JSON differs from another, and what it should be; numbers may differ by three times a
// tolerance, as each may be off by one.
func difference(path string, want, got any, tol float64) (string, any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path, "an object"
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if at, want := difference(path+"."+key, w[key], g[key], tol); at != "" {
				return at, want
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[key]; !ok {
				return path + "." + key, "no field"
			}
		}
		return "", nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return path, fmt.Sprintf("a list of %d", len(w))
		}
		for i := range w {
			if at, want := difference(input.Index(path, i), w[i], g[i], tol); at != "" {
				return at, want
			}
		}
		return "", nil
	case float64:
		if g, ok := got.(float64); ok && math.Abs(g-w) <= 3*tol*max(math.Abs(w), tol) {
			return "", nil
		}
		return path, want
	}
	if want != got {
		return path, want
	}
	return "", nil
}

func (v verification) text(t *render.Text) {
	if v.Proved {
		t.Line("proved: %s, %s", render.Counted(v.Plans, "plan"), render.Counted(v.Corners, "corner"))
		return
	}
	t.Line("not proved: %s", v.Why)
}

// An answered is an answer in a file.
type answered struct {
	Find  string `json:"find"`
	Found bool   `json:"found"`

	answer plan.Answer    // to the other questions; its plan is set for all
	load   plan.Load      // to --find load
	most   plan.MostLoad  // to --find most-load
	fields map[string]any // all that it says
	scale  *big.Rat       // of --scale, nil without it
}

const wantAnswer = "an answer of `pfq plan` in JSON"

// readAnswers reads the answers in a file in JSON.
func readAnswers(name string) ([]*answered, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, input.InFile(name, err)
	}
	defer file.Close()
	answers, err := decodeAnswers(file)
	if err != nil {
		return nil, tree.InFile(name, err)
	}
	return answers, nil
}

func decodeAnswers(r io.Reader) ([]*answered, error) {
	var text bytes.Buffer
	root, err := tree.Read(io.TeeReader(r, &text), tree.JSON, wantAnswer)
	var syntax *tree.SyntaxError
	if errors.As(err, &syntax) {
		syntax.Reason = "want " + wantAnswer + ": " + syntax.Reason
	}
	if err != nil {
		return nil, err
	}
	list, fields := []tree.Node{*root}, make([]map[string]any, 1)
	var into any = &fields[0]
	if root.Kind == tree.Array {
		list, into = root.Kids, &fields
	}
	if err := json.Unmarshal(text.Bytes(), into); err != nil {
		return nil, input.Errorf("", root, "%s, an object or an array of them", wantAnswer)
	}
	var all []*answered
	for i := range list {
		path := ""
		if root.Kind == tree.Array {
			path = input.Index("", i)
		}
		one, err := readAnswer(&list[i], path)
		if err != nil {
			return nil, root.Locate(err)
		}
		one.fields = fields[i]
		all = append(all, one)
	}
	return all, nil
}

// readAnswer reads one answer.
func readAnswer(n *tree.Node, path string) (*answered, error) {
	a := &answered{}
	err := render.Read(n, path, a)
	parts := []any{&a.answer}
	switch a.Find {
	case findLoad:
		parts[0] = &a.load
	case findMostLoad:
		parts[0] = &a.most
	}
	if a.Found || a.Find == findLoad {
		a.answer.Plan = new(plan.Outcome)
		a.most.Plan = a.answer.Plan
		parts = append(parts, a.answer.Plan)
	}
	for i := 0; i < len(parts) && err == nil; i++ {
		err = render.Read(n, path, parts[i])
	}
	if solves := a.answer.Solves + a.most.Solves; solves < 0 && err == nil {
		err = input.Errorf(input.Field(path, "solves"), solves, "an integer >= 0")
	}
	if bad, ok := err.(*input.Error); ok {
		switch strings.TrimPrefix(bad.Path, path+".") {
		case "find":
			bad.Want = `the question, such as "cost", in ` + wantAnswer
		case "undecided":
			bad.Want = "an array of plans"
		case "proof":
			bad.Want = "a proof; plans that were given have none"
		}
	}
	return a, err
}
