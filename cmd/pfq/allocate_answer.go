package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// An allocation is the answer for jobs that stay.
type allocation struct {
	*fluid.Allocation
	style   render.Style
	digits  int           // number of digits in text; fractions show one fewer
	audit   *audited      // nil without --audit
	indices render.Record // with an audit: efficiency and fairness
}

// answer returns the answer, with a line of CSV for each job, each resource and the pool.
func (a *allocation) answer() *allocateAnswer {
	body := a.style.Record(a.Allocation)
	for j, row := range body.Get("resources").([]render.Record) {
		u := row.Get("utilization").(render.Number)
		u.BelowOne = !a.Resources[j].Saturated
		row.Set("utilization", u, "")
	}
	jobs := render.Section{Kind: "job", Of: "jobs", Columns: "name tasks dominant_share dominant_resource"}
	if a.Jobs[0].Count > 0 {
		jobs.Columns = "name count tasks_of_each tasks_in_all dominant_share_of_each dominant_resource"
		jobs.Rows = a.ofEach
	}
	pool := body
	if a.audit != nil {
		pool = slices.Concat(body, a.audit.Record, a.indices)
		body = body.Set("audit", a.audit.Record, "").Set("indices", a.indices, "")
	}
	point := render.Point{Body: body, Sections: []render.Section{jobs,
		{Kind: "resource", Of: "resources", Columns: "name utilization saturated price?"}}}
	all := render.Points([]render.Point{point}, false, nil, func(t *render.Text) {
		t.Digits, t.Fraction = a.digits, mostFraction
		t.Line("%s; %s engine, %s", a.Policy.Words(), a.Engine, a.accuracy())
	})
	all.Lines = append(all.Lines, render.Lines{Kind: "pool", Of: pool})
	if tables := all.Text; a.audit != nil {
		all.Text = func(t *render.Text) {
			tables(t)
			t.Digits = 6
			a.auditText(t)
		}
	}
	accuracy := fmt.Sprintf("%s engine, %s", a.Engine, a.accuracy())
	return &allocateAnswer{Answer: all, body: body, accuracy: accuracy, digits: a.digits}
}

// ofEach returns the rows of jobs as text shows them if some rows have several jobs.
func (a *allocation) ofEach(rows []render.Record) []render.Record {
	rows = slices.Clone(rows)
	for i, r := range rows {
		job := a.Jobs[i]
		all := job.Tasks.Times(big.NewRat(int64(job.Count), 1))
		rows[i] = slices.Concat(r, render.Record{
			{Key: "tasks_of_each", Value: r.Get("tasks")},
			{Key: "tasks_in_all", Value: a.style.Computed(&all)},
			{Key: "dominant_share_of_each", Value: r.Get("dominant_share")},
		})
	}
	return rows
}

// A trafficCase holds the result of one policy for jobs that arrive and depart.
type trafficCase struct {
	policy   fluid.Policy
	traffic  *traffic.Model
	result   *traffic.Result        // nil if it is too large to solve
	why      string                 // reason why there is no result
	overload *traffic.UnstableError // nil if stable

	simulated *sim.Result // nil unless requested
	settings  sim.Settings
	asked     []command.Percentile
	speed     *float64 // jumps per second, nil if all runs were found
}

// answer returns the answer, with a line of CSV for each class, each resource and the pool.
func (a *trafficCase) answer() *allocateAnswer {
	body, joint := a.body()
	pool := slices.DeleteFunc(slices.Clone(body), func(f render.Field) bool { return f.Key == "jumps_per_second" })
	lines := []render.Lines{{Kind: "class", Of: body.Get("classes")}, {Kind: "resource", Of: body.Get("resources")},
		{Kind: "pool", Of: pool}}
	return &allocateAnswer{body: body, accuracy: strings.ReplaceAll(a.accuracy(), "\n", "; "),
		Answer: render.Answer{JSON: body, Lines: lines, Text: func(t *render.Text) { a.text(t, body, joint) }}}
}

// body returns the fields of the answer, and the joint verdict on the agreement of estimates and
// theory.
func (a *trafficCase) body() (body render.Record, joint *command.Joint) {
	r := a.result
	if r == nil {
		r = traffic.NewResult(a.traffic, a.policy)
	}
	stable := any(a.overload == nil)
	if a.overload == nil && a.policy == fluid.BMF {
		stable = nil // not proved, see [traffic.Model.Stable]
	}
	exact := render.Style{Engine: num.Exact}
	critical := exact.Beside(a.traffic.CriticalScale(), big.NewRat(1, 1))
	body = render.Fields(r).Set("stable", stable, "policy").
		Set("critical_scale", critical, "method").Set("bottleneck", nil, "method")
	if j := a.traffic.Bottleneck(); j >= 0 {
		body.Set("bottleneck", a.traffic.Resources[j].Name, "")
	}
	method := slices.IndexFunc(body, func(f render.Field) bool { return f.Key == "method" })
	if a.overload != nil {
		load := exact.Record(r.Resources[a.overload.Resource])
		load[0].Key = "resource"
		return slices.Concat(body[:method], load).Set("classes", []render.Record{}, ""), nil
	}
	classes := body.Get("classes").([]render.Record)
	body = body.Set("parts", len(r.Parts), "")
	switch {
	case a.result == nil:
		for i := range body[method:] {
			body[method+i].Value = nil
		}
		for _, row := range classes {
			row.Set("mean_jobs", nil, "")
		}
	case r.IterationError > 0:
		body.Set("rounding_bound", nil, "")
	}
	if a.why != "" {
		body = body.Set("why", a.why, "")
	}
	s := a.simulated
	if s == nil {
		return body, nil
	}
	var c command.Comparisons
	for k := range classes {
		classes[k] = classes[k].Set("simulated", a.estimates(&c, k, classes[k]), "")
	}
	joint = c.Joint()
	runs := trafficRuns{s.Runs, s.Jumps, s.Time, s.WarmUp, a.settings.Seed, joint, a.percentiles(&c, sim.OfAll, 0),
		a.speed, append([]string{}, s.Warnings...)}
	return slices.Concat(body, render.Fields(runs)), joint
}

// trafficRuns describes the simulation.
type trafficRuns struct {
	Runs   int     `json:"runs"`
	Jumps  float64 `json:"jumps"`
	Time   float64 `json:"time"`
	WarmUp float64 `json:"warm_up"`
	Seed   uint64  `json:"seed"`

	Joint          *command.Joint `json:"joint"`
	Delay          render.Record  `json:"delay,omitempty"` // percentiles of the delays of all jobs, if requested
	JumpsPerSecond *float64       `json:"jumps_per_second"`
	Warnings       []string       `json:"warnings"`
}

// estimates returns the estimates of a class, with its exact means if they are known.
func (a *trafficCase) estimates(c *command.Comparisons, k int, exact render.Record) render.Record {
	row := c.Estimates(a.simulated, sim.OfClass, k, exact,
		sim.MeanJobs, sim.MeanDelay, sim.MeasuredDelay, sim.ServiceRate)
	if delay := a.percentiles(c, sim.OfClass, k); delay != nil {
		row = row.Set("delay", delay, "")
	}
	return row
}

// percentiles returns the requested percentiles of simulated delays. They have no exact values.
func (a *trafficCase) percentiles(comparisons *command.Comparisons, kind sim.Kind, index int) render.Record {
	return comparisons.Quantiles(a.asked, a.settings.Levels, a.simulated, kind, index, nil)
}
