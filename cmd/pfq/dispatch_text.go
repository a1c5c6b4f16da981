package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/internal/cli"
	"productform/internal/render"
)

// slowdownFormula is the definition of the slowdown of a job.
const slowdownFormula = "delay / max(W/S, w/s)"

// write writes the answer as text.
func (a *dispatchAnswer) write(t *render.Text, rows []render.Record) {
	a.heading(t)
	for _, r := range rows {
		if reason := r.Get("reason"); reason != nil {
			t.Line("policy %s: %s", r.Get("policy"), reason)
		}
	}
	t.Line("")
	if slices.ContainsFunc(a.runs, func(r policyRun) bool { return r.isFinished() }) {
		fields := a.noMeasures(a.finishesBaseline())
		a.tables(t, rows, fields)
		a.writeGroups(t, rows)
		a.legend(t, fields)
	}
	for _, r := range a.runs {
		if r.timeline == nil {
			continue
		}
		if len(a.runs) > 1 {
			t.Line("policy %s", r.policy)
		}
		r.timeline.Write(&t.Buffer)
		t.Line("")
	}
}

// heading writes lines about the policies, the jobs and the workers.
func (a *dispatchAnswer) heading(t *render.Text) {
	f := a.flags
	if len(a.runs) == 1 {
		t.Line("policy %s", a.runs[0].policy)
	} else {
		t.Line("%d policies", len(a.runs))
	}
	if f.Excluding != "" {
		t.Line("without %s, which reject --%s", strings.Join(cli.PolicyNames(cli.Baselines()), ", "), f.Excluding)
	}
	s := f.Sampling
	sample := ""
	switch {
	case f.Drawn != nil:
		sample = fmt.Sprintf(", drawn at random (seed %d)", f.Seed)
	case s.Count > 0:
		sample = fmt.Sprintf(", from job %d on (seed %d)", a.List[0].ID, f.Seed)
	}
	t.Line("%s of %s%s; %s", render.Counted(len(a.List), "job"), a.Name, sample, render.Counted(a.tasks, "task"))
	a.omission(t)
	a.scaling(t)
	t.Line("%s", f.workersText())
	if load := a.offeredLoad(); load != nil {
		t.Line("load %s: work submitted, over what the workers can do from the first submission to the last",
			render.Six(*load))
		if *load > 1 {
			t.Line("above load 1 jobs pile up: delays depend on how long the log is")
		}
	}
}

// omission writes a line about jobs that --drop-large omits, if there are any.
func (a *dispatchAnswer) omission(t *render.Text) {
	if n := a.flags.Dropped; n > 0 {
		t.Line("without %s of more than %s", render.Counted(n, "job"), render.Counted(a.flags.Workers, "processor"))
	}
}

// scaling writes a line about scaled times of the log, if times are scaled.
func (a *dispatchAnswer) scaling(t *render.Text) {
	s := a.flags.Sampling
	var changes []string
	if s.TimeScale != 1 {
		changes = append(changes, "run times x "+render.Six(s.TimeScale))
	}
	if s.GapScale != 1 {
		changes = append(changes, "times between submissions x "+render.Six(s.GapScale))
	}
	if s.Batch != 0 {
		changes = append(changes, fmt.Sprintf("submissions within %s s together", render.Six(s.Batch)))
	}
	if changes != nil {
		t.Line("%s", strings.Join(changes, ", "))
	}
}

// workersText returns the number of workers and their speeds.
func (f *dispatchFlags) workersText() string {
	text := render.Counted(f.Workers, "worker")
	low, high, sum := slices.Min(f.Speeds), slices.Max(f.Speeds), 0.0
	for _, v := range f.Speeds {
		sum += v
	}
	if low == high {
		text += " of speed " + render.Six(low)
	} else {
		text += fmt.Sprintf(" of speeds %s to %s, %s in total", render.Six(low), render.Six(high), render.Six(sum))
	}
	if f.Uniform {
		text += fmt.Sprintf(" (seed %d)", f.Seed)
	}
	if f.Outages != nil {
		text += "; " + render.Counted(len(f.Outages), "outage")
	}
	return text
}

// tables writes the main measures of policies, and with --measures all the others of the given
// fields, one row per policy.
func (a *dispatchAnswer) tables(t *render.Text, rows []render.Record, fields render.Record) {
	flat := make([]render.Record, len(rows))
	for k, r := range rows {
		flat[k] = r.Flat()
	}
	columns := slices.Concat([]string{"policy", "tasks_together", "waiting_mean"}, a.flags.waitColumns(),
		[]string{"slowdown_mean", "missed", "utilization"})
	t.Wide(flat, columns...)
	if !a.flags.showsAll() {
		return
	}
	others, spreads := []string{"policy"}, [][]string{}
	for _, f := range fields {
		inner, isSpread := f.Value.(render.Record)
		switch {
		case isSpread:
			of := []string{"policy"}
			for _, part := range inner {
				of = append(of, f.Key+"_"+part.Key)
			}
			spreads = append(spreads, of)
		case f.Unit != "" && !slices.Contains(columns, f.Key):
			others = append(others, f.Key)
		}
	}
	for _, of := range append([][]string{others}, spreads...) {
		t.Wide(flat, of...)
	}
}

// waitColumns returns the columns of percentiles of waiting in the first table.
func (f *dispatchFlags) waitColumns() (columns []string) {
	for _, p := range f.waits {
		columns = append(columns, "waiting_"+p)
	}
	return columns
}

// legend explains the measures.
func (a *dispatchAnswer) legend(t *render.Text, fields render.Record) {
	t.Line("together: whether all tasks of a job start together; waiting: until the first one starts")
	t.Line("slowdown: %s, where W is the work of the job, w that of its largest task,", slowdownFormula)
	t.Line("  S the speed of all workers and s that of the fastest")
	if a.flags.showsAll() && fields.Get("bounded_slowdown") != nil {
		t.Line("bounded slowdown: max(1, delay / max(run time, 10 s))")
	}
	if a.Asking != nil {
		for _, line := range a.requestsText() {
			t.Line("%s", line)
		}
	}
	if !a.flags.showsAll() {
		t.Line("--measures all shows the other measures")
	}
	t.Line("")
}

// requestsText describes the requested times that baselines know.
func (a *dispatchAnswer) requestsText() []string {
	f := a.flags
	run := "run times x " + render.Six(f.Requests.Factor)
	if f.Requests.Uniform {
		run = fmt.Sprintf("run times x uniform on [1, %s] (seed %d)", render.Six(f.Requests.Factor), f.Seed)
	}
	lines := []string{"requested times: " + run}
	switch {
	case f.Requests.OfLog && f.samples > 0:
		lines[0] = "requested times: those of the log, otherwise " + run
	case f.Requests.OfLog:
		lines[0] = fmt.Sprintf("requested times: those of the log for %s, %s for %d", render.Counted(a.Asked, "job"),
			run, len(a.List)-a.Asked)
	}
	if f.Kill {
		lines = append(lines, "jobs are killed at their requested times")
	}
	return lines
}

// writeSamples writes the answer over several samples as text; a is the first one. Each measure has
// its summary in the answers of the policies.
func (a *dispatchAnswer) writeSamples(t *render.Text, answers []render.Record, fields render.Record) {
	f := a.flags
	t.Line("%s of %s of %s (seeds %d to %d)", render.Counted(f.samples, "sample"), render.Counted(len(a.List), "job"),
		a.Name, f.Seed, f.Seed+uint64(f.samples-1))
	a.omission(t)
	a.scaling(t)
	t.Line("%s", f.workersText())
	t.Line("")
	for _, s := range []struct{ key, title string }{
		{"mean", "mean over the samples"}, {"least", "minimum over the samples"}, {"most", "maximum over the samples"},
		{"smallest_in", fmt.Sprintf("in how many of the %d samples no other policy has a smaller value", f.samples)},
	} {
		if s.key == "smallest_in" {
			if len(answers) == 1 {
				continue
			}
			fields = fields[:len(fields)-1] // without the load, which is the same for all
		}
		t.Line("%s", s.title)
		rows := make([]render.Record, len(answers))
		for p, of := range answers {
			rows[p] = statistic(of, s.key)
		}
		a.tables(t, rows, fields)
	}
	a.legend(t, fields)
}
