package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"productform/fluid"
	"productform/fluid/audit"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/num"
)

// An audited holds the properties of an allocation, with witnesses for those that it lacks.
type audited struct {
	render.Record        // the fields of JSON
	declared      string // declared demand of the job that gains most by lying
	unsearched    string // why no lie was sought; "" if a lie was found or none was needed
}

// addAudit audits the allocation, with a tolerance larger than its numerical errors.
func (a *allocation) addAudit(ctx context.Context, p *fluid.Pool) error {
	tasks, tolerance := a.TaskFractions(), a.Tolerance()
	report, err := audit.Audit(ctx, p, tasks, tolerance)
	if err != nil {
		return err
	}
	x, err := audit.Indices(ctx, p, tasks)
	if err != nil {
		return err
	}
	tol, _ := tolerance.Float64()
	record := slices.Concat(render.Record{
		{Key: "tolerance", Value: tol},
		{Key: "feasible", Value: report.Overload == nil && report.OverLimit == nil},
		{Key: "pareto_efficient", Value: report.Growth == nil},
		{Key: "sharing_incentive", Value: report.Shortfall == nil},
		{Key: "envy_free", Value: report.Envy == nil},
		{Key: "lie_proof"}, // null if no lie was found or none was sought
	}, a.style.Record(report)).Set("lie", nil, "over_limit").Set("lies_tried", 0, "over_limit")
	for _, f := range record {
		witness, _ := f.Value.(render.Record)
		for k, g := range witness {
			switch row, _ := g.Value.(int); g.Key {
			case "job", "other":
				witness[k].Value = p.Jobs[row].Name
			case "resource":
				witness[k].Value = p.Resources[row].Name
			}
		}
	}
	if !slices.ContainsFunc(p.Jobs, isLimited) {
		record = record[:len(record)-1] // over_limit
	}
	a.audit = &audited{Record: record}
	a.indices = render.Fields(x)
	if x.MeanUtilization.Exact != nil && a.Engine == num.Exact { // not of rounded tasks, nor too long
		a.indices = a.style.Record(x)
	}
	return a.addLie(ctx, p)
}

func isLimited(j fluid.Job) bool { return j.MaxTasks != nil }

// Limits of the search for a lie: the total number of allocations, times the numbers of rows and
// resources, and the smallest number of allocations per row for which a search is worthwhile.
const (
	lieWork  = 2_000_000
	fewTries = 200
)

// addLie searches for the most profitable lie of a single job, in any row. Under [fluid.DRF] and
// [fluid.BF] no lie is profitable.
func (a *allocation) addLie(ctx context.Context, p *fluid.Pool) error {
	rows := len(p.Jobs)
	tries := min(5000, lieWork/(rows*rows*len(p.Resources)))
	switch {
	case slices.ContainsFunc(p.Jobs, isLimited):
		a.audit.unsearched = "some job has max_tasks"
		return nil
	case a.Policy == fluid.DRF || a.Policy == fluid.BF:
		a.audit.Set("lie_proof", true, "")
		return nil
	case tries < fewTries:
		a.audit.unsearched = "there are too many jobs"
		return nil
	}
	var best *audit.Lie
	at, tried := 0, 0
	for i := range p.Jobs {
		lie, err := audit.BestLie(ctx, p, a.Policy, i, audit.LieSettings{Evaluations: tries})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // numbers outside the range of float64
			a.audit.unsearched = cli.OneLine(err)
			return nil
		}
		tried += lie.Evaluations
		a.audit.Set("lies_tried", tried, "")
		if lie.Declared != nil && (best == nil || lie.Gain.Float > best.Gain.Float) {
			best, at = lie, i
		}
	}
	if best == nil {
		return nil
	}
	var declared render.Record // the resources declared above the demand
	var words []string
	for j, d := range best.Declared {
		if need, name := p.Jobs[at].Demand.Of(j), p.Resources[j].Name; d.Cmp(need) > 0 {
			declared = append(declared, render.Field{Key: name, Value: render.Rat(d, render.Unproved)})
			words = append(words, fmt.Sprintf("%s %s for %s", name, render.SixRat(d), render.SixRat(need)))
		}
	}
	a.audit.declared = strings.Join(words, ", ")
	style := render.Style{Engine: a.Engine, Digits: a.digits}
	a.audit.Set("lie_proof", false, "").Set("lie", render.Record{
		{Key: "job", Value: p.Jobs[at].Name},
		{Key: "declared", Value: declared},
		{Key: "tasks", Value: style.Computed(&best.Truthful)},
		{Key: "with_lie", Value: style.Computed(&best.Tasks)},
	}, "")
	return nil
}
