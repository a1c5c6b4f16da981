package main

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/fluid"
	"productform/fluid/audit"
	"productform/num"
)

// An auditAnswer turns what can be held against an allocation into records.
type auditAnswer struct {
	pool      *fluid.Pool
	exact     bool // whether the allocation is
	tolerance float64
	report    *audit.Report
	indices   *audit.IndexSet
}

// newAudit audits an allocation, with a tolerance that its errors do not reach.
func newAudit(ctx context.Context, p *fluid.Pool, r *fluid.Allocation) (*auditAnswer, error) {
	a := &auditAnswer{pool: p, exact: r.Engine == num.Exact}
	tasks, tolerance := r.TaskFractions(), r.Tolerance()
	a.tolerance, _ = tolerance.Float64()
	var err error
	if a.report, err = audit.Audit(ctx, p, tasks, tolerance); err != nil {
		return nil, err
	}
	a.indices, err = audit.Indices(ctx, p, tasks)
	return a, err
}

// rat returns the fields of a number.
func (a *auditAnswer) rat(key string, v *big.Rat) record {
	r := record{{key, ratNumber(v)}}
	if a.exact {
		r = append(r, field{key + "_exact", ratText(v)})
	}
	return r
}

// witness returns a record, or nil if there is none.
func witness(is bool, r func() record) any {
	if !is {
		return nil
	}
	return r()
}

// properties returns what the allocation has, and the witnesses of what it has not.
func (a *auditAnswer) properties() record {
	r := a.report
	job := func(i int) string { return a.pool.Jobs[i].Name }
	properties := record{
		{"tolerance", a.tolerance},
		{"feasible", r.Overload == nil && r.OverLimit == nil},
		{"pareto_efficient", r.Growth == nil},
		{"sharing_incentive", r.Shortfall == nil},
		{"envy_free", r.Envy == nil},
		{"overload", witness(r.Overload != nil, func() record {
			return join(record{{"resource", a.pool.Resources[r.Overload.Resource].Name}}, a.rat("utilization", r.Overload.Utilization))
		})},
		{"growth", witness(r.Growth != nil, func() record {
			return join(record{{"job", job(r.Growth.Job)}}, a.rat("tasks", r.Growth.Tasks))
		})},
		{"shortfall", witness(r.Shortfall != nil, func() record {
			return join(record{{"job", job(r.Shortfall.Job)}}, a.rat("dominant_share", r.Shortfall.Share), a.rat("split", r.Shortfall.Split))
		})},
		{"envy", witness(r.Envy != nil, func() record {
			return join(record{{"job", job(r.Envy.Job)}, {"other", job(r.Envy.Other)}}, a.rat("tasks", r.Envy.Tasks), a.rat("with_other", r.Envy.WithOther))
		})},
	}
	if slices.ContainsFunc(a.pool.Jobs, func(j fluid.Job) bool { return j.MaxTasks != nil }) {
		properties = append(properties, field{"over_limit", witness(r.OverLimit != nil, func() record {
			return join(record{{"job", job(r.OverLimit.Job)}}, a.rat("tasks", r.OverLimit.Tasks), a.rat("max_tasks", r.OverLimit.Limit))
		})})
	}
	return properties
}

// indexFields returns how efficient and how fair the allocation is. Of one that is not exact, they are of the tasks as
// printed.
func (a *auditAnswer) indexFields() record {
	x := a.indices
	engine := string(num.Float)
	if a.exact && x.MeanUtilization.Exact != nil { // nil if the fractions are too long
		engine = string(num.Exact)
	}
	var out record
	for _, f := range []struct {
		key   string
		value *num.Value
	}{
		{"mean_utilization", &x.MeanUtilization},
		{"least_utilization", &x.LeastUtilization},
		{"largest_utilization", &x.LargestUtilization},
		{"total_dominant_share", &x.TotalDominantShare},
		{"max_dominant_share", &x.MaxDominantShare},
		{"dominant_efficiency", &x.DominantEfficiency},
		{"jain_index", x.JainIndex},
		{"share_ratio", x.ShareRatio},
	} {
		out = join(out, valueFields(f.key, f.value, engine, 0))
	}
	return append(out, field{"nash_mean", x.NashMean})
}

func (a *auditAnswer) text() string {
	var b bytes.Buffer
	p := a.properties()
	cell := func(r record, key string) string { return poolCell(r, key, 6) }
	verdict := func(key, witness string, why func(record) string) string {
		if p.get(key) == true {
			return "yes"
		}
		if r, ok := p.get(witness).(record); ok {
			return "no: " + why(r)
		}
		r := p.get("over_limit").(record)
		return fmt.Sprintf("no: a job of %v runs %s tasks, and can run %s", r.get("job"), cell(r, "tasks"), cell(r, "max_tasks"))
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"feasible", verdict("feasible", "overload", func(r record) string {
			return fmt.Sprintf("the utilization of %v is %s", r.get("resource"), cell(r, "utilization"))
		})},
		{"Pareto efficient", verdict("pareto_efficient", "growth", func(r record) string {
			return fmt.Sprintf("a job of %v could run %s tasks more", r.get("job"), cell(r, "tasks"))
		})},
		{"sharing incentive", verdict("sharing_incentive", "shortfall", func(r record) string {
			return fmt.Sprintf("a job of %v has a dominant share of %s, below its part by weight, %s", r.get("job"), cell(r, "dominant_share"), cell(r, "split"))
		})},
		{"envy-free", verdict("envy_free", "envy", func(r record) string {
			return fmt.Sprintf("a job of %v runs %s tasks, and would run %s with what one of %v holds", r.get("job"), cell(r, "tasks"), cell(r, "with_other"), r.get("other"))
		})},
	} {
		fmt.Fprintln(w, line[0]+"\t"+line[1])
	}
	w.Flush()
	fmt.Fprintln(&b)
	indices := a.indexFields()
	for _, f := range indices {
		if !boundSuffix.MatchString(f.key) {
			fmt.Fprintln(w, strings.ReplaceAll(f.key, "_", " ")+"\t"+cell(indices, f.key))
		}
	}
	w.Flush()
	fmt.Fprintln(&b)
	return b.String()
}
