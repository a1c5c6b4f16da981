package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
)

// An allocateAnswer is the answer for one policy, or the reason why there is none.
type allocateAnswer struct {
	render.Answer
	policy   fluid.Policy
	body     render.Record // the fields of JSON
	accuracy string        // how its numbers were computed
	digits   int           // number of digits in text
	refused  string        // reason why there is no answer; "" if there is one
}

// compare gets an answer for each policy, and combines the answers into one. A policy that cannot
// handle the input is reported as refused; if all are, compare returns the first error.
func (f *allocateQuestion) compare(q command.Query, answer func(command.Query, fluid.Policy) (*allocateAnswer, error),
	text func(*render.Text, []*allocateAnswer)) (all render.Answer, err error) {
	var answers []*allocateAnswer
	var list []render.Record
	policies := f.policies.List()
	all.Columns = []string{"policy", "kind"}
	refused := 0
	for i, policy := range policies {
		a, failed := answer(q.Part(i, len(policies)), policy)
		head := render.Record{{Key: "policy", Value: string(policy)}}
		var bad *input.Error
		switch {
		case failed == nil:
			for _, l := range a.Lines {
				all.Lines = append(all.Lines, render.Lines{Kind: l.Kind, Head: head, Of: l.Of})
			}
		case q.Ctx.Err() == nil && errors.As(failed, &bad):
			err = cmp.Or(err, failed)
			refused++
			a = &allocateAnswer{refused: cli.OneLine(f.translate(failed))}
			a.body = append(head, render.Field{Key: "refused", Value: a.refused})
			all.Lines = append(all.Lines, render.Lines{Kind: "pool", Of: a.body})
		default:
			return render.Answer{}, failed
		}
		a.policy = policy
		answers, list = append(answers, a), append(list, a.body)
	}
	if refused == len(policies) {
		return render.Answer{}, err
	}
	all.JSON = render.Record{{Key: "policies", Value: list}}
	all.Text = func(t *render.Text) { text(t, answers) }
	return all, nil
}

// headings writes a line for each policy.
func headings(t *render.Text, all []*allocateAnswer) {
	var lines [][]string
	for _, a := range all {
		what := cmp.Or(a.accuracy, "no answer: "+a.refused)
		lines = append(lines, []string{string(a.policy), a.policy.Words() + "; " + what})
	}
	t.Columns(lines)
	t.Line("")
}

// allocationsText compares allocations.
func allocationsText(t *render.Text, all []*allocateAnswer) {
	headings(t, all)
	t.Digits, t.Fraction = 6, mostFraction
	for _, a := range all {
		t.Digits = max(t.Digits, a.digits)
	}
	tableOf(t, all, "tasks of one job", "job", "tasks", rowsOf("jobs"))
	tableOf(t, all, "dominant share of one job", "job", "dominant_share", rowsOf("jobs"))
	tableOf(t, all, "utilization", "resource", "utilization", rowsOf("resources"))
	if !slices.ContainsFunc(all, func(a *allocateAnswer) bool { return a.body.Get("audit") != nil }) {
		return
	}
	t.Digits = 6
	tableOf(t, all, "properties", "property", "has", func(a *allocateAnswer) (rows []render.Record) {
		audit := a.body.Get("audit").(render.Record)
		for k, key := range []string{"feasible", "pareto_efficient", "sharing_incentive", "envy_free", "lie_proof"} {
			has := audit.Get(key)
			if has == nil {
				has = "unknown"
			}
			rows = append(rows, render.Record{{Key: "name", Value: properties[k]}, {Key: "has", Value: has}})
		}
		return rows
	})
	tableOf(t, all, "efficiency and fairness", "index", "is", func(a *allocateAnswer) (rows []render.Record) {
		for _, f := range a.body.Get("indices").(render.Record) {
			name := strings.ReplaceAll(f.Key, "_", " ")
			rows = append(rows, render.Record{{Key: "name", Value: name}, {Key: "is", Value: f.Value}})
		}
		return rows
	})
}

// compareText writes a table for each measure with a column for each policy.
func (a *trafficCase) compareText(t *render.Text, all []*allocateAnswer) {
	headings(t, all)
	a.liesText(t)
	for _, key := range []string{"mean_jobs", "mean_delay", "service_rate"} {
		tableOf(t, all, strings.ReplaceAll(key, "_", " "), "class", key, rowsOf("classes"))
	}
	body, _ := a.body()
	loadsText(t, body)
	t.Line("%s", a.limitText("loads are below 1"))
}

// tableOf writes a table of one field, with a named row for each item and a column for each policy.
func tableOf(
	t *render.Text, all []*allocateAnswer, title, first, key string, of func(*allocateAnswer) []render.Record,
) {
	var rows []render.Record
	columns := []string{"name"}
	for _, a := range all {
		if a.refused != "" {
			continue
		}
		columns = append(columns, string(a.policy))
		for i, r := range of(a) {
			if i == len(rows) {
				rows = append(rows, render.Record{{Key: "name", Value: r.Get("name"), Title: first}})
			}
			rows[i] = append(rows[i], render.Field{Key: string(a.policy), Value: r.Get(key)})
		}
	}
	t.Line("%s", title)
	t.Table(rows, columns...)
}

// rowsOf returns the rows of a list in an answer.
func rowsOf(list string) func(*allocateAnswer) []render.Record {
	return func(a *allocateAnswer) []render.Record { return a.body.Get(list).([]render.Record) }
}

// writeEach writes the answer of each policy.
func writeEach(t *render.Text, all []*allocateAnswer) {
	for i, a := range all {
		if i > 0 {
			t.Blank()
		}
		if a.refused != "" {
			t.Line("%s; no answer: %s", a.policy.Words(), a.refused)
			continue
		}
		a.Text(t)
	}
}
