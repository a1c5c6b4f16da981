package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/cmd/internal/cli"
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

// jsonOf returns the answers of all policies as one object.
func jsonOf[T any](all []compared[T], one func(*T) record) record {
	list := []record{}
	for _, c := range all {
		if c.answer == nil {
			list = append(list, record{{"policy", string(c.policy)}, {"refused", c.refused}})
		} else {
			list = append(list, one(c.answer))
		}
	}
	return record{{"policies", list}}
}

// csvOf returns the lines of all policies, each with the policy.
func csvOf[T any](all []compared[T], one func(*T) []record) (lines []record) {
	for _, c := range all {
		head := record{{"policy", string(c.policy)}}
		if c.answer == nil {
			lines = append(lines, join(head, record{{"kind", "pool"}, {"refused", c.refused}}))
			continue
		}
		for _, r := range one(c.answer) {
			lines = append(lines, join(head, slices.DeleteFunc(slices.Clone(r), func(f field) bool { return f.key == "policy" })))
		}
	}
	return lines
}

// tableOf writes a table with a row for each name and a column for each policy. value adds the fields of a number.
func tableOf[T any](w io.Writer, all []compared[T], title, first string, digits int, names []string, value func(a *T, row int, key string) record) {
	rows := make([]record, len(names))
	columns := []string{"name"}
	for i, name := range names {
		rows[i] = record{{"name", name}}
	}
	for _, c := range all {
		if c.answer == nil {
			continue
		}
		columns = append(columns, string(c.policy))
		for i := range rows {
			rows[i] = append(rows[i], value(c.answer, i, string(c.policy))...)
		}
	}
	fmt.Fprintln(w, title)
	poolTable(w, rows, first, digits, columns...)
}

// headings writes a line for each policy.
func headings[T any](w io.Writer, all []compared[T], accuracy func(*T) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range all {
		what := "no answer: " + c.refused
		if c.answer != nil {
			what = accuracy(c.answer)
		}
		fmt.Fprintf(t, "%s\t%s; %s\n", c.policy, policyName(c.policy), what)
	}
	t.Flush()
	fmt.Fprintln(w)
}

// compare allocates the resources under every policy.
func (f *allocateFlags) compare(ctx context.Context, p *fluid.Pool) ([]byte, error) {
	all, err := compareAll(ctx, func(policy fluid.Policy) (*allocation, error) {
		one := *f
		one.policy = string(policy)
		return one.allocate(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	switch f.format {
	case "json":
		return writeJSON(jsonOf(all, func(a *allocation) record { return a.json() }))
	case "csv":
		lines := csvOf(all, func(a *allocation) []record { return a.csv() })
		return writeCSV(columnsOf(lines), lines)
	}
	var b bytes.Buffer
	headings(&b, all, func(a *allocation) string { return fmt.Sprintf("%s engine, %s", a.result.Engine, a.accuracy()) })
	digits := 6
	var jobs, resources []string
	for _, j := range p.Jobs {
		jobs = append(jobs, j.Name)
	}
	for _, r := range p.Resources {
		resources = append(resources, r.Name)
	}
	for _, c := range all {
		if c.answer != nil {
			digits = max(digits, c.answer.shown)
		}
	}
	tableOf(&b, all, "tasks of one job", "job", digits, jobs, func(a *allocation, i int, key string) record {
		return valueFields(key, &a.result.Jobs[i].Tasks, string(a.result.Engine), a.digits)
	})
	tableOf(&b, all, "dominant share of one job", "job", digits, jobs, func(a *allocation, i int, key string) record {
		return valueFields(key, &a.result.Jobs[i].DominantShare, string(a.result.Engine), a.digits)
	})
	tableOf(&b, all, "utilization", "resource", digits, resources, func(a *allocation, j int, key string) record {
		return valueFields(key, &a.result.Resources[j].Utilization, string(a.result.Engine), a.digits)
	})
	if f.audit {
		compareAudits(&b, all)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// compareAudits writes what the audits of all policies say, without witnesses.
func compareAudits(w io.Writer, all []compared[allocation]) {
	properties := []string{"feasible", "pareto_efficient", "sharing_incentive", "envy_free"}
	tableOf(w, all, "properties", "property", 6, []string{"feasible", "Pareto efficient", "sharing incentive", "envy-free"},
		func(a *allocation, i int, key string) record {
			return record{{key, a.audit.properties().get(properties[i])}}
		})
	var indices []string
	for _, c := range all {
		if c.answer == nil || indices != nil {
			continue
		}
		for _, f := range c.answer.audit.indexFields() {
			if !boundSuffix.MatchString(f.key) {
				indices = append(indices, f.key)
			}
		}
	}
	names := make([]string, len(indices))
	for i, key := range indices {
		names[i] = strings.ReplaceAll(key, "_", " ")
	}
	tableOf(w, all, "efficiency and fairness", "index", 6, names, func(a *allocation, i int, key string) record {
		fields := a.audit.indexFields()
		return record{{key, fields.get(indices[i])}, {key + "_exact", fields.get(indices[i] + "_exact")}}
	})
}

// compareTraffic computes the means of jobs that come and go under every policy.
func (f *allocateFlags) compareTraffic(ctx context.Context, t *traffic.Model, stderr io.Writer) ([]byte, error) {
	all, err := compareAll(ctx, func(policy fluid.Policy) (*trafficAnswer, error) {
		one := *f
		one.policy = string(policy)
		a := &trafficAnswer{flags: &one, traffic: t}
		var err error
		a.result, err = attended(ctx, stderr, func(ctx context.Context) (*traffic.Result, error) {
			return traffic.Solve(ctx, t, policy, traffic.Settings{RelTol: f.tol, MaxStates: f.states})
		})
		return a, err
	})
	if err != nil {
		return nil, err
	}
	switch f.format {
	case "json":
		return writeJSON(jsonOf(all, (*trafficAnswer).json))
	case "csv":
		lines := csvOf(all, (*trafficAnswer).csv)
		return writeCSV(columnsOf(lines), lines)
	}
	var b bytes.Buffer
	headings(&b, all, func(a *trafficAnswer) string { return strings.ReplaceAll(a.accuracy(), "\n", "; ") })
	(&trafficAnswer{flags: f, traffic: t}).liesText(&b)
	var classes []string
	for _, c := range t.Classes {
		classes = append(classes, c.Name)
	}
	measure := func(a *trafficAnswer, k int, measure, key string) record {
		return record{{key, a.classes()[k].get(measure)}}
	}
	for _, m := range []struct{ title, key string }{{"mean jobs", "mean_jobs"}, {"mean delay", "mean_delay"}, {"service rate", "service_rate"}} {
		tableOf(&b, all, m.title, "class", 6, classes, func(a *trafficAnswer, k int, key string) record { return measure(a, k, m.key, key) })
	}
	loads := []string{"name", "load"}
	honest := &trafficAnswer{flags: f, traffic: t}
	if len(honest.lies()) > 0 {
		loads = append(loads, "true_load")
	}
	poolTable(&b, honest.resources(), "resource", 6, loads...)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
