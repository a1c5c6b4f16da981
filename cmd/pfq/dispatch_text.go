package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/internal/render"
)

// The definition of the slowdown of a job, and its letters explained.
const (
	slowdownFormula = "delay / max(W/S, w/s)"
	slowdownLetters = "W work of the job, w of its largest task, S speed of all workers, s of the fastest"
)

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
		a.measureTable(t, rows)
		t.Line("")
		t.Line("slowdown: %s, %s", slowdownFormula, slowdownLetters)
		a.writeBaselines(t)
		if names := a.flags.LeftOut(); names != nil && !a.flags.timeline {
			t.Line("not among these: %s (--policy all,sites includes them)", strings.Join(names, ", "))
		}
		t.Line("")
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
	s := f.Sampling
	sample := ""
	if s.Count > 0 {
		sample = fmt.Sprintf(", from job %d on (seed %d)", a.List[0].ID, f.Seed)
	}
	t.Line("%s of %s%s; %s", render.Counted(len(a.List), "job"), a.Name, sample, render.Counted(a.tasks, "task"))
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

// measureTable writes a line for each measure, and a column for each policy.
func (a *dispatchAnswer) measureTable(t *render.Text, rows []render.Record) {
	header := []string{"measure", "unit"}
	var flat []render.Record
	for _, r := range rows {
		flat = append(flat, r.Flat())
		header = append(header, r.Get("policy").(string))
	}
	if len(rows) == 1 {
		header[2] = "value"
	}
	lines := [][]string{header}
	for _, f := range a.noMeasures(a.finishesBaseline()).Flat() {
		if f.Unit == "" {
			continue
		}
		line := []string{strings.ReplaceAll(f.Key, "_", " "), f.Unit}
		for _, r := range flat {
			line = append(line, t.Cell(r.Get(f.Key)))
		}
		lines = append(lines, line)
	}
	t.Columns(lines)
}

// writeBaselines describes the baselines and the measures that only they have.
func (a *dispatchAnswer) writeBaselines(t *render.Text) {
	if a.Asking == nil {
		return
	}
	t.Line("bounded slowdown: max(1, delay / max(run time, 10 s)); waiting: from submission to start")
	var names, others []string
	for _, p := range a.flags.Policies {
		if p.Baseline != nil {
			names = append(names, p.String())
		} else {
			others = append(others, p.String())
		}
	}
	line := "tasks of a job start together under " + strings.Join(names, ", ")
	if others != nil {
		line += ", and need not under " + strings.Join(others, ", ")
	}
	t.Line("%s", line)
	f := a.flags
	run := "run times x " + render.Six(f.Requests.Factor)
	if f.Requests.Uniform {
		run = fmt.Sprintf("run times x uniform on [1, %s] (seed %d)", render.Six(f.Requests.Factor), f.Seed)
	}
	line = "requested times: " + run
	switch {
	case f.Requests.OfLog && f.samples > 0:
		line = "requested times: those of the log, otherwise " + run
	case f.Requests.OfLog:
		line = fmt.Sprintf("requested times: those of the log for %s, %s for %d", render.Counted(a.Asked, "job"), run,
			len(a.List)-a.Asked)
	}
	if f.Kill {
		line += "; jobs are killed at them"
	}
	t.Line("%s", line)
}

// writeSamples writes the answer over several samples as text; a is the first one.
func (a *dispatchAnswer) writeSamples(t *render.Text, measures []measure) {
	f := a.flags
	t.Line("%s of %s of %s (seeds %d to %d)", render.Counted(f.samples, "sample"), render.Counted(len(a.List), "job"),
		a.Name, f.Seed, f.Seed+uint64(f.samples-1))
	a.scaling(t)
	t.Line("%s", f.workersText())
	t.Line("")
	header := []string{"measure", "unit"}
	for _, p := range f.Policies {
		header = append(header, p.String())
	}
	means, smallest := [][]string{header}, [][]string{header}
	for _, m := range measures {
		name := []string{strings.ReplaceAll(m.name, "_", " "), m.unit}
		mean, count := slices.Clone(name), slices.Clone(name)
		for p, v := range m.values {
			if v == nil {
				mean, count = append(mean, render.Six(nil)), append(count, render.Six(nil))
				continue
			}
			mean = append(mean, fmt.Sprintf("%s (%s to %s)", render.Six(m.mean(p)), render.Six(slices.Min(v)),
				render.Six(slices.Max(v))))
			count = append(count, fmt.Sprint(m.smallestIn(p)))
		}
		means = append(means, mean)
		if m.isCompared() && m.name != "offered_load" {
			smallest = append(smallest, count)
		}
	}
	t.Line("mean over the samples (minimum to maximum)")
	t.Columns(means)
	t.Line("")
	if len(f.Policies) > 1 {
		t.Line("in how many of the %d samples no other policy has a smaller value", f.samples)
		t.Columns(smallest)
		t.Line("")
	}
	t.Line("slowdown: %s, %s", slowdownFormula, slowdownLetters)
	a.writeBaselines(t)
	t.Line("")
}
