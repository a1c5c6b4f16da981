package whatif

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// A Question is a question of the page. Ask determines which fields apply.
type Question struct {
	Ask string `json:"ask"` // read, verdict, solve, curve, changes, simulate, line; pool, fewest, pools or pool line

	Text  string          `json:"text"`  // read: a model as YAML or JSON
	Pool  *Pool           `json:"pool"`  // pool, fewest, pools, pool line
	Model json.RawMessage `json:"model"` // all others: a model as JSON
	Load  string          `json:"load"`  // verdict, solve, changes, simulate, line: factor of all arrival rates

	Loads       []string `json:"loads"`       // curve: one factor per point
	Percentiles []string `json:"percentiles"` // solve, curve, simulate, line: such as 95, for times of each class
	Within      []string `json:"within"`      // solve, curve, line: times of service levels, with the service one
	Prices      Prices   `json:"prices"`      // changes
	Runs        int      `json:"runs"`        // simulate; line: 0 for theory
	Jumps       float64  `json:"jumps"`       // jumps of each run
	Seed        uint64   `json:"seed"`
	Counts      []int    `json:"counts"` // pools: numbers of servers
}

// A Refusal is returned instead of an answer, for example if a model cannot be read or is too large
// for the page.
type Refusal struct {
	Error string `json:"error"`
	Line  int    `json:"line,omitempty"` // line of the text, from 1; 0 if the refusal is not about a line of text
}

// Answer answers a question: with a [Description], [Verdict], [Curve], [Changes] or [Line], with
// the measures of a solution or a simulation, with a [PoolAnswer], [PoolFewest] or [PoolCurve], or
// with a [Refusal]. A simulation reports its progress, the fraction done.
func Answer(ctx context.Context, question []byte, progress func(part float64)) []byte {
	answer, err := answer(ctx, question, progress)
	if err != nil {
		answer = refusal(err)
	}
	text, err := render.Answer{JSON: forBrowser(render.Fields(answer))}.Format("json")
	if err != nil {
		panic("whatif: " + err.Error()) // answers contain no NaN or infinity
	}
	return text
}

// forBrowser turns numbers of a record that exceed the range of float64 into strings: browsers
// would read them as 0 or infinity.
func forBrowser(v any) any {
	switch v := v.(type) {
	case render.Record:
		for i := range v {
			v[i].Value = forBrowser(v[i].Value)
		}
	case []render.Record:
		for _, r := range v {
			forBrowser(r)
		}
	case []any:
		for i := range v {
			v[i] = forBrowser(v[i])
		}
	case render.Number:
		return forBrowser(v.Float)
	case json.Number:
		return v.String()
	}
	return v
}

func answer(ctx context.Context, question []byte, progress func(float64)) (any, error) {
	var q Question
	d := json.NewDecoder(bytes.NewReader(question))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return nil, err
	}
	switch {
	case q.Ask == "read":
		return read(q.Text)
	case q.Pool != nil:
		return answerPool(ctx, q)
	}
	m, err := cluster.ReadJSON(bytes.NewReader(q.Model))
	if err != nil {
		return nil, err
	}
	if q.Ask == "curve" {
		return curve(ctx, m, q)
	}
	load, err := number("load", q.Load)
	if err != nil {
		return nil, err
	}
	switch q.Ask {
	case "verdict":
		return verdict(ctx, m, load)
	case "solve":
		t, err := timesOf(q)
		if err != nil {
			return nil, err
		}
		return solve(ctx, m.Scale(load), t)
	case "changes":
		return changes(ctx, m, load, q.Prices)
	case "simulate":
		return simulate(ctx, m.Scale(load), q, progress)
	case "line":
		return line(m, load, q)
	}
	return nil, input.Errorf("ask", q.Ask, "read, verdict, solve, curve, changes, simulate or line")
}

// number reads a factor of the arrival rates.
func number(path, text string) (*big.Rat, error) {
	v, err := num.ParseRat(text)
	if err != nil || v.Sign() < 0 {
		return nil, input.Errorf(path, text, "%s", input.Nonnegative)
	}
	return v, nil
}

// numbers reads a list of factors.
func numbers(path string, texts []string) ([]*big.Rat, error) {
	list := make([]*big.Rat, len(texts))
	for i, text := range texts {
		v, err := number(input.Index(path, i), text)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// levelsOf reads percentiles as probabilities.
func levelsOf(percentiles []string) ([]*big.Rat, error) {
	hundred := big.NewRat(100, 1)
	list, err := numbers("percentiles", percentiles)
	for i, v := range list {
		if v.Sign() == 0 || v.Cmp(hundred) >= 0 {
			return nil, input.Errorf(input.Index("percentiles", i), percentiles[i], "a number > 0 and < 100")
		}
		v.Quo(v, hundred)
	}
	return list, err
}

// refusal returns the answer for an error. An error about a line of the text keeps the line number,
// and the page shows it at that line.
func refusal(err error) Refusal {
	r := Refusal{Error: reason(err)}
	var bad *input.Error
	var syntax *num.SyntaxError
	switch {
	case errors.As(err, &syntax):
		r = Refusal{Error: syntax.Reason, Line: syntax.Line}
	case errors.As(err, &bad) && bad.Line > 0:
		unplaced := *bad
		unplaced.Line = 0
		r = Refusal{Error: unplaced.Error(), Line: bad.Line}
	}
	return r
}

// reason returns the text of an error in the terms of the page. The page has no fields for solver
// settings, and its own settings are always valid.
func reason(err error) string {
	var large *num.TooLargeError
	var bad *input.Error
	switch {
	case errors.As(err, &large):
		return "this model takes more memory or time than this page has; pfq solve allows more"
	case errors.Is(err, num.ErrFloatRange):
		return errRange.Error()
	case !errors.As(err, &bad):
	case bad.Path == "model":
		return errRange.Error()
	case bad.Path == "Jumps":
		return "jobs arrive too rarely, or too often, to be simulated; use other units of time or of work"
	case strings.HasPrefix(bad.Path, "Model."):
		short := *bad
		short.Path = strings.TrimPrefix(bad.Path, "Model.")
		return short.Error()
	}
	return err.Error()
}
