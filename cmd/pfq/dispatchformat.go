package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/dispatch"
)

func (a *dispatchAnswer) format() ([]byte, error) {
	var rows []record
	for _, r := range a.runs {
		rows = append(rows, a.record(r))
	}
	switch {
	case a.flags.format == "csv":
		var lines []record
		for _, row := range rows {
			lines = append(lines, flatten(row))
		}
		return writeCSV(dispatchColumns(), lines)
	case a.flags.format != "json":
		return a.people(rows), nil
	case a.flags.policy == allPolicies:
		return writeJSON(record{{"policies", rows}})
	}
	return writeJSON(rows[0])
}

// dispatchColumns returns the columns of CSV: those of a run that finishes, then those of one that does not.
func dispatchColumns() []string {
	return strings.Fields(`policy jobs average_priority_violation_rate deadline_miss_penalty missed makespan spare workers seed skipped first_job
		decision_violation_rate running_violation_rate response_mean response_p50 response_p95 response_p99 response_max
		slowdown_mean slowdown_p50 slowdown_p95 slowdown_p99 slowdown_max utilization wasted tasks lost decisions finished
		reason time unfinished unfinished_job`)
}

// record returns what is known of a run.
func (a *dispatchAnswer) record(r policyRun) record {
	f := a.flags
	var spare, seed any
	if r.policy.Rule != dispatch.EDF {
		spare = string(r.policy.Spare)
	}
	if f.sampling.Count > 0 || f.uniform {
		seed = f.seed
	}
	run := record{{"spare", spare}, {"workers", f.workers}, {"seed", seed}, {"skipped", a.skipped}, {"first_job", a.jobs[0].ID}}
	if e := r.stranded; e != nil {
		return join(record{{"finished", false}, {"policy", string(r.policy.Rule)}, {"jobs", len(a.jobs)}, {"reason", a.reason(e)},
			{"time", e.Time}, {"unfinished", e.Jobs}, {"unfinished_job", a.jobs[e.Job].ID}}, run)
	}
	v := r.result
	return join(
		record{
			{"policy", string(r.policy.Rule)}, {"jobs", len(a.jobs)},
			{"average_priority_violation_rate", unless(v.Delay.Max == 0, v.PriorityViolationRate)},
			{"deadline_miss_penalty", v.DeadlineMissPenalty}, {"missed", v.Missed}, {"makespan", v.Makespan},
		},
		run,
		record{
			{"decision_violation_rate", v.DecisionViolationRate},
			{"running_violation_rate", unless(v.Delay.Max == 0, v.RunningViolationRate)},
			{"response", spreadFields(v.Delay)}, {"slowdown", spreadFields(v.Slowdown)},
			{"utilization", unless(v.Makespan == 0, v.Utilization)}, {"wasted", unless(v.Makespan == 0, v.Wasted)},
			{"tasks", v.Tasks}, {"lost", v.Lost}, {"decisions", v.Decisions}, {"finished", true},
		},
	)
}

// spreadFields returns the fields of a spread, of which there are none without values.
func spreadFields(s dispatch.Spread) record {
	none := s.Count == 0
	return record{{"mean", unless(none, s.Mean)}, {"p50", unless(none, s.P50)}, {"p95", unless(none, s.P95)}, {"p99", unless(none, s.P99)}, {"max", unless(none, s.Max)}}
}

// reason says why jobs never finish.
func (a *dispatchAnswer) reason(e *dispatch.StrandedError) string {
	verb := "finish"
	if e.Jobs == 1 {
		verb = "finishes"
	}
	return fmt.Sprintf("%s never %s, the first of them job %d: no worker is left after %s s", counted(e.Jobs, "job"), verb, a.jobs[e.Job].ID, six(e.Time))
}

// people returns the answer as text.
func (a *dispatchAnswer) people(rows []record) []byte {
	var b bytes.Buffer
	a.heading(&b)
	for i, r := range a.runs {
		if r.stranded != nil {
			fmt.Fprintf(&b, "%s: %s\n", policyTitle(r.policy), rows[i].get("reason"))
		}
	}
	fmt.Fprintln(&b)
	if slices.ContainsFunc(a.runs, func(r policyRun) bool { return r.result != nil }) {
		a.measures(&b, rows)
		fmt.Fprintln(&b)
	}
	for _, r := range a.runs {
		if r.timeline == nil {
			continue
		}
		if len(a.runs) > 1 {
			fmt.Fprintln(&b, policyTitle(r.policy))
		}
		r.timeline.text(&b, a, r)
		fmt.Fprintln(&b)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// policyTitle returns a policy in words.
func policyTitle(p dispatch.Policy) string {
	switch {
	case p.Rule == dispatch.EDF:
		return "earliest deadline first"
	case p.Spare == dispatch.SpareKept:
		return fmt.Sprintf("policy %s, spare workers kept", p.Rule)
	}
	return fmt.Sprintf("policy %s, spare workers by %s", p.Rule, p.Spare)
}

// heading says what runs where.
func (a *dispatchAnswer) heading(b *bytes.Buffer) {
	f := a.flags
	if len(a.runs) == 1 {
		fmt.Fprintln(b, policyTitle(a.runs[0].policy))
	} else {
		fmt.Fprintln(b, len(a.runs), "policies")
	}
	s, tasks := f.sampling, 0
	for _, j := range a.jobs {
		tasks += j.Tasks
	}
	fmt.Fprintf(b, "%s of %s", counted(len(a.jobs), "job"), a.name)
	if s.Count > 0 {
		fmt.Fprintf(b, ", from job %d on (seed %d)", a.jobs[0].ID, f.seed)
	}
	fmt.Fprintf(b, "; %s\n", counted(tasks, "task"))
	var changes []string
	if s.TimeScale != 1 {
		changes = append(changes, "run times x "+six(s.TimeScale))
	}
	if s.GapScale != 1 {
		changes = append(changes, "times between submissions x "+six(s.GapScale))
	}
	if s.Batch != 0 {
		changes = append(changes, fmt.Sprintf("submissions within %s s together", six(s.Batch)))
	}
	if changes != nil {
		fmt.Fprintln(b, strings.Join(changes, ", "))
	}
	fmt.Fprint(b, counted(f.workers, "worker"))
	low, high, sum := slices.Min(f.speeds), slices.Max(f.speeds), 0.0
	for _, v := range f.speeds {
		sum += v
	}
	if low == high {
		fmt.Fprintf(b, " of speed %s", six(low))
	} else {
		fmt.Fprintf(b, " of speeds %s to %s, %s in all", six(low), six(high), six(sum))
	}
	if f.uniform {
		fmt.Fprintf(b, " (seed %d)", f.seed)
	}
	if f.outages != nil {
		fmt.Fprintf(b, "; %s", counted(len(f.outages), "outage"))
	}
	fmt.Fprintln(b)
}

// unitsOf are those of the measures, in the order of the text.
var unitsOf = []struct{ measure, unit string }{
	{"average_priority_violation_rate", "of jobs"}, {"decision_violation_rate", "of jobs"}, {"running_violation_rate", "of jobs"},
	{"deadline_miss_penalty", "priority s"}, {"missed", "jobs"}, {"makespan", "s"},
	{"response_mean", "s"}, {"response_p50", "s"}, {"response_p95", "s"}, {"response_p99", "s"}, {"response_max", "s"},
	{"slowdown_mean", "-"}, {"slowdown_p50", "-"}, {"slowdown_p95", "-"}, {"slowdown_p99", "-"}, {"slowdown_max", "-"},
	{"utilization", "of time"}, {"wasted", "of time"}, {"lost", "tasks"}, {"decisions", "plans"},
}

// measures writes a table of them, a column for each policy.
func (a *dispatchAnswer) measures(b *bytes.Buffer, rows []record) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	line := func(first, unit string, cell func(record) string) {
		cells := []string{first, unit}
		for _, row := range rows {
			cells = append(cells, cell(row))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if len(rows) == 1 {
		line("measure", "unit", func(record) string { return "value" })
	} else {
		line("measure", "unit", func(r record) string { return six(r.get("policy")) })
		line("spare workers by", "", func(r record) string { return six(r.get("spare")) })
	}
	flat := make([]record, len(rows))
	for i, row := range rows {
		flat[i] = flatten(row)
	}
	rows = flat
	for _, u := range unitsOf {
		line(strings.ReplaceAll(u.measure, "_", " "), u.unit, func(r record) string { return six(r.get(u.measure)) })
	}
	w.Flush()
}
