package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/render"
)

// A replayed is the outcome of a log under a policy. Its measures are inserted before the workers.
type replayed struct {
	Policy   string `json:"policy"`
	Together bool   `json:"tasks_together" title:"together"` // whether the tasks of a job start together
	Jobs     int    `json:"job_count"`
	Tasks    int    `json:"task_count"`
	*unfinished
	Workers  int      `json:"workers"`
	Load     *float64 `json:"offered_load"` // nil if all jobs are submitted at the same time
	Seed     *uint64  `json:"seed"`         // nil without random draws
	Skipped  int      `json:"skipped"`
	Dropped  int      `json:"dropped_large"` // jobs of the log with more tasks than workers
	FirstJob int64    `json:"first_job"`
	Finished bool     `json:"finished"`
}

// An unfinished holds the reason why jobs never finish.
type unfinished struct {
	Reason string `json:"reason"`
	// when the last worker failed for good; for a baseline, when the last of those that never
	// return failed
	Time float64 `json:"time"`
	Jobs int     `json:"unfinished"`
	Job  int64   `json:"unfinished_job"`
}

// answer returns the answer on all policies.
func (a *dispatchAnswer) answer() render.Answer {
	var rows []render.Record
	for _, r := range a.runs {
		rows = append(rows, a.replayed(r))
	}
	var columns []string
	whole := render.Fields(replayed{unfinished: &unfinished{}}).Insert("reason", a.noMeasures(a.Asking != nil)...)
	for _, f := range whole.Flat() {
		columns = append(columns, f.Key)
	}
	lines := []render.Lines{{Of: rows}}
	if by := a.flags.By; by != "" {
		columns = slices.Concat([]string{"kind", "policy", by}, columns[1:])
		lines[0].Kind = "policy"
		for _, r := range rows {
			if groups := r.Get(a.flags.groupList()); groups != nil {
				lines = append(lines, render.Lines{Kind: by, Head: r.Pick("policy"), Of: groups})
			}
		}
	}
	return render.Answer{
		JSON:  render.Record{{Key: "policies", Value: rows}},
		Lines: lines, Columns: columns,
		Text: func(t *render.Text) { a.write(t, rows) },
	}
}

// replayed returns the known results of a run.
func (a *dispatchAnswer) replayed(r policyRun) render.Record {
	var measures render.Record
	f := a.flags
	row := replayed{Policy: r.policy.String(), Together: r.policy.Baseline != nil, Jobs: len(a.List), Tasks: a.tasks,
		Workers: f.Workers, Load: a.offeredLoad(), Skipped: a.Skipped, Dropped: f.Dropped,
		FirstJob: a.List[0].ID, Finished: r.isFinished()}
	if f.Sampling.Count > 0 || f.Uniform || r.rigid != nil && f.Requests.Uniform {
		row.Seed = &f.Seed
	}
	switch {
	case r.stranded != nil:
		e, left := r.stranded, "no worker is"
		if e.Workers > 0 {
			left = "1 worker is"
			if e.Left != 1 {
				left = fmt.Sprintf("%d workers are", e.Left)
			}
			left = fmt.Sprintf("it has %s, and %s", render.Counted(e.Workers, "task"), left)
		}
		row.unfinished = a.unfinished(e.Jobs, e.Job, left, e.Time)
	case r.rigid != nil:
		measures = a.ofBaseline(r.rigid)
	default:
		measures = a.ofPolicy(r.result)
	}
	fields := render.Fields(row).Insert("workers", measures...)
	if f.By != "" && r.isFinished() {
		fields = append(fields, render.Field{Key: f.groupList(), Value: a.groupRows(r)})
	}
	return fields
}

// ofPolicy returns the measures of a run under a policy other than a baseline, null for those that
// do not exist.
func (a *dispatchAnswer) ofPolicy(v *dispatch.Result) render.Record {
	m := render.Fields(v)
	setSpread(a.flags, m, "delay", v.Delay, v.Jobs, func(r *dispatch.Record) float64 { return r.Delay })
	setSpread(a.flags, m, "slowdown", v.Slowdown, v.Jobs, func(r *dispatch.Record) float64 { return r.Slowdown })
	setSpread(a.flags, m, "waiting", v.Waiting, v.Jobs,
		func(r *dispatch.Record) float64 { return r.Start - a.List[r.Job].Submit })
	if v.Delay.Max == 0 { // no job waits
		m.Set("average_priority_violation_rate", nil, "").Set("running_violation_rate", nil, "")
	}
	return a.completed(m, v.Missed, v.Makespan)
}

// ofBaseline returns the measures of a run of a baseline: first the measures that all policies
// share, null if baselines lack them.
func (a *dispatchAnswer) ofBaseline(v *rigid.Result) render.Record {
	own := render.Fields(v)
	setSpread(a.flags, own, "delay", v.Delay, v.Jobs, func(r *rigid.Record) float64 { return r.Delay })
	setSpread(a.flags, own, "slowdown", v.Slowdown, v.Jobs, func(r *rigid.Record) float64 { return r.Slowdown })
	setSpread(a.flags, own, "waiting", v.Waiting, v.Jobs, func(r *rigid.Record) float64 { return r.Waiting })
	setSpread(a.flags, own, "bounded_slowdown", v.BoundedSlowdown, v.Jobs,
		func(r *rigid.Record) float64 { return r.BoundedSlowdown })
	m := a.ofPolicy(&dispatch.Result{}).Merge(a.completed(own, v.Missed, v.Makespan))
	f := a.flags
	return append(m, render.Field{Key: "requests", Value: f.Requests.String()},
		render.Field{Key: "requests_of_log", Value: a.Asked}, render.Field{Key: "kill", Value: f.Kill})
}

// completed returns the measures with those derived from them.
func (a *dispatchAnswer) completed(m render.Record, missed int, makespan float64) render.Record {
	if makespan == 0 {
		m.Set("utilization", nil, "").Set("wasted", nil, "")
	}
	part := float64(missed) / float64(len(a.List))
	m = m.Insert("makespan", render.Field{Key: "missed_part", Value: part, Unit: "of jobs"})
	return m.Insert("slowdown", render.Field{Key: "slowdown_formula", Value: slowdownFormula})
}

// noMeasures returns empty measures, which give names and units.
func (a *dispatchAnswer) noMeasures(ofBaselines bool) render.Record {
	if ofBaselines {
		return a.ofBaseline(&rigid.Result{})
	}
	return a.ofPolicy(&dispatch.Result{})
}

// offeredLoad returns the submitted work divided by what all workers can do between the first and
// the last submission.
func (a *dispatchAnswer) offeredLoad() *float64 {
	first, last, work, speed := a.List[0].Submit, a.List[0].Submit, 0.0, 0.0
	for _, j := range a.List {
		first, last = min(first, j.Submit), max(last, j.Submit)
		work += float64(j.Tasks) * j.Work
	}
	for _, v := range a.flags.Speeds {
		speed += v
	}
	load := work / speed / (last - first)
	return numberIf(last > first && load <= math.MaxFloat64, load)
}

// numberIf returns the number if it exists, else nil.
func numberIf(exists bool, v float64) *float64 {
	if exists {
		return &v
	}
	return nil
}

// unfinished returns the reason why jobs never finish, with the first of them and the workers left
// at the time.
func (a *dispatchAnswer) unfinished(jobs, first int, left string, time float64) *unfinished {
	verb, id := "finish", a.List[first].ID
	if jobs == 1 {
		verb = "finishes"
	}
	reason := fmt.Sprintf("%s never %s, the first of them job %d: %s left after %s s",
		render.Counted(jobs, "job"), verb, id, left, render.Six(time))
	return &unfinished{reason, time, jobs, id}
}

// setSpread sets a field to the mean of a spread, its percentiles and its maximum, all null for an
// empty spread. The spread is over the values of all jobs; jobs that it omits count as 0.
func setSpread[R any](f *dispatchFlags, m render.Record, key string, s dispatch.Spread, jobs []R,
	value func(*R) float64) {
	values := make([]float64, len(jobs))
	for k := range jobs {
		values[k] = value(&jobs[k])
	}
	slices.Sort(values)
	m.Set(key, f.spread(s, values[len(values)-s.Count:]), "")
}

// spread returns the mean, the percentiles and the maximum of sorted values, all null if there are
// none.
func (f *dispatchFlags) spread(s dispatch.Spread, sorted []float64) render.Record {
	fields := render.Record{{Key: "mean"}}
	var levels []*big.Rat
	for _, p := range f.percentiles {
		fields, levels = append(fields, render.Field{Key: p.Name}), append(levels, p.Level)
	}
	fields = append(fields, render.Field{Key: "max"})
	if s.Count == 0 {
		return fields
	}
	quantiles, err := dispatch.Quantiles(sorted, levels)
	if err != nil {
		panic(err) // cannot fail: there are values, and flags accept only levels in (0, 1)
	}
	for k, v := range slices.Concat([]float64{s.Mean}, quantiles, []float64{s.Max}) {
		fields[k].Value = v
	}
	return fields
}
