package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"productform/cmd/internal/cli"
	"productform/cmd/internal/render"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
)

// A compared is the answer of one policy among all, or why there is none.
type compared[T any] struct {
	policy  fluid.Policy
	answer  *T
	refused string
}

// compareAll answers for each policy. A policy that does not take the input is refused; if all are, that is the error.
func compareAll[T any](ctx context.Context, answer func(fluid.Policy) (*T, error)) (all []compared[T], err error) {
	answered := false
	for _, policy := range fluid.Policies() {
		c := compared[T]{policy: policy}
		var bad *input.Error
		var failed error
		c.answer, failed = answer(policy)
		switch {
		case failed == nil:
			answered = true
		case ctx.Err() == nil && errors.As(failed, &bad):
			err = cmp.Or(err, failed)
			c.answer, c.refused = nil, cli.OneLine(failed)
		default:
			return nil, failed
		}
		all = append(all, c)
	}
	if !answered {
		return nil, err
	}
	return all, nil
}

// A refused says why a policy has no answer.
type refused struct {
	Policy  fluid.Policy `json:"policy"`
	Refused string       `json:"refused"`
}

// comparisonOf returns the answers of all policies as one.
func comparisonOf[T any](all []compared[T], whole func(*T) any, lines func(*T, any) []render.Lines, text func(*render.Text)) render.Answer {
	a := render.Answer{Columns: []string{"policy", "kind"}, Text: text}
	var list []any
	for _, c := range all {
		if c.answer == nil {
			r := refused{c.policy, c.refused}
			list, a.Lines = append(list, r), append(a.Lines, render.Lines{Kind: "pool", Of: r})
			continue
		}
		head := struct {
			Policy fluid.Policy `json:"policy"`
		}{c.policy}
		list, a.Lines = append(list, whole(c.answer)), append(a.Lines, lines(c.answer, head)...)
	}
	a.JSON = struct {
		Policies []any `json:"policies"`
	}{list}
	return a
}

// tableOf writes a table with a row for each name and a column for each policy.
func tableOf[T any](t *render.Text, all []compared[T], title, first string, names []string, value func(a *T, row int) any) {
	rows := make([]render.Record, len(names))
	columns := []string{"name"}
	for i, name := range names {
		rows[i] = render.Record{{Key: "name", Value: name, Title: first}}
	}
	for _, c := range all {
		if c.answer == nil {
			continue
		}
		columns = append(columns, string(c.policy))
		for i := range rows {
			rows[i] = append(rows[i], render.Field{Key: string(c.policy), Value: value(c.answer, i)})
		}
	}
	t.Line("%s", title)
	t.Table(rows, columns...)
}

// headings writes a line for each policy.
func headings[T any](t *render.Text, all []compared[T], accuracy func(*T) string) {
	var lines [][]string
	for _, c := range all {
		what := "no answer: " + c.refused
		if c.answer != nil {
			what = accuracy(c.answer)
		}
		lines = append(lines, []string{string(c.policy), policyName(c.policy) + "; " + what})
	}
	t.Columns(lines)
	t.Line("")
}

// compare allocates the resources under every policy.
func (f *allocateFlags) compare(ctx context.Context, p *fluid.Pool) (render.Answer, error) {
	all, err := compareAll(ctx, func(policy fluid.Policy) (*allocation, error) {
		one := *f
		one.policy = string(policy)
		return one.allocate(ctx, p)
	})
	if err != nil {
		return render.Answer{}, err
	}
	return comparisonOf(all, func(a *allocation) any { return a }, (*allocation).lines, func(t *render.Text) { f.compareText(t, p, all) }), nil
}

func (f *allocateFlags) compareText(t *render.Text, p *fluid.Pool, all []compared[allocation]) {
	headings(t, all, func(a *allocation) string { return fmt.Sprintf("%s engine, %s", a.Engine, a.accuracy()) })
	var jobs, resources []string
	for _, j := range p.Jobs {
		jobs = append(jobs, j.Name)
	}
	for _, r := range p.Resources {
		resources = append(resources, r.Name)
	}
	t.Digits, t.Fraction = 6, mostFraction
	for _, c := range all {
		if c.answer != nil {
			t.Digits = max(t.Digits, c.answer.digits)
		}
	}
	tableOf(t, all, "tasks of one job", "job", jobs, func(a *allocation, i int) any { return a.Jobs[i].Tasks })
	tableOf(t, all, "dominant share of one job", "job", jobs, func(a *allocation, i int) any { return a.Jobs[i].DominantShare })
	tableOf(t, all, "utilization", "resource", resources, func(a *allocation, j int) any { return a.Resources[j].Utilization })
	if !f.audit {
		return
	}
	t.Digits = 6
	tableOf(t, all, "properties", "property", []string{"feasible", "Pareto efficient", "sharing incentive", "envy-free"},
		func(a *allocation, i int) any {
			return []bool{a.Audit.Feasible, a.Audit.ParetoEfficient, a.Audit.SharingIncentive, a.Audit.EnvyFree}[i]
		})
	var names []string
	for _, field := range render.Fields(indexAnswer{}) {
		names = append(names, strings.ReplaceAll(field.Key, "_", " "))
	}
	tableOf(t, all, "efficiency and fairness", "index", names, func(a *allocation, i int) any { return render.Fields(a.Indices)[i].Value })
}

// compareTraffic computes the means of jobs that come and go under every policy.
func (f *allocateFlags) compareTraffic(q query, t *traffic.Model) (render.Answer, error) {
	all, err := compareAll(q.ctx, func(policy fluid.Policy) (a *trafficCase, err error) {
		a = &trafficCase{policy: policy, traffic: t}
		a.result, err = f.solveTraffic(q, t, policy)
		return a, err
	})
	if err != nil {
		return render.Answer{}, err
	}
	lines := func(a *trafficCase, head any) []render.Lines { return a.whole().lines(head) }
	return comparisonOf(all, func(a *trafficCase) any { return a.whole() }, lines, func(text *render.Text) {
		headings(text, all, func(a *trafficCase) string { return strings.ReplaceAll(a.accuracy(), "\n", "; ") })
		honest := &trafficCase{traffic: t}
		honest.liesText(text)
		var classes []string
		for _, c := range t.Classes {
			classes = append(classes, c.Name)
		}
		for _, m := range []struct{ title, key string }{{"mean jobs", "mean_jobs"}, {"mean delay", "mean_delay"}, {"service rate", "service_rate"}} {
			tableOf(text, all, m.title, "class", classes, func(a *trafficCase, k int) any { return render.Fields(a.classes()[k]).Get(m.key) })
		}
		honest.loadsText(text, &trafficAnswer{Resources: honest.resources()})
	}), nil
}
