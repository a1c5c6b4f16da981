package dispatch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/internal/render"
)

// A replayed is the outcome of a log under a policy: its measures, or why it has none.
type replayed struct {
	Policy string `json:"policy"`
	Jobs   int    `json:"job_count"`
	Tasks  int    `json:"task_count"`
	measures
	*unfinished
	Workers  int      `json:"workers"`
	Load     *float64 `json:"offered_load"` // nil if all jobs are submitted at once
	Seed     *uint64  `json:"seed"`         // nil if nothing is drawn
	Skipped  int      `json:"skipped"`
	FirstJob int64    `json:"first_job"`
	Finished bool     `json:"finished"`
}

// measures holds the measures of a run, nil if it does not finish.
type measures struct {
	*dispatchMeasures
	*baselineMeasures // nil unless a baseline ran
}

// dispatchMeasures holds the measures of a run that finishes, nil for one that does not exist.
type dispatchMeasures struct {
	PriorityViolation *float64      `json:"average_priority_violation_rate" unit:"of jobs"`
	DecisionViolation *float64      `json:"decision_violation_rate" unit:"of jobs"`
	RunningViolation  *float64      `json:"running_violation_rate" unit:"of jobs"`
	MissPenalty       float64       `json:"deadline_miss_penalty" unit:"priority s"`
	Missed            int           `json:"missed" unit:"jobs"`
	MissedPart        float64       `json:"missed_part" unit:"of jobs"`
	Makespan          float64       `json:"makespan" unit:"s"`
	Delay             render.Record `json:"delay" unit:"s"`
	SlowdownFormula   string        `json:"slowdown_formula"`
	Slowdown          render.Record `json:"slowdown" unit:"-"`
	Utilization       *float64      `json:"utilization" unit:"of time"`
	Wasted            *float64      `json:"wasted" unit:"of time"`
	Lost              *int          `json:"lost" unit:"tasks"`
	Decisions         *int          `json:"decisions" unit:"plans"`
}

// An unfinished holds the reason why jobs never finish.
type unfinished struct {
	Reason string  `json:"reason"`
	Time   float64 `json:"time"` // at which the last worker went, of a baseline the last of those that go for good
	Jobs   int     `json:"unfinished"`
	Job    int64   `json:"unfinished_job"`
}

// What the slowdown of a job is, and what the letters mean.
const (
	slowdownFormula = "delay / max(W/S, w/s)"
	slowdownLetters = "W work of the job, w of its largest task, S speed of all workers, s of the fastest"
)

// answer returns the answer on all policies.
func (a *dispatchAnswer) answer() render.Answer {
	var rows []replayed
	for _, r := range a.runs {
		rows = append(rows, a.replayed(r))
	}
	var columns []string
	whole := replayed{measures: a.flags.noMeasures(a.Asking != nil), unfinished: &unfinished{}}
	for _, f := range render.Fields(whole).Flat() {
		columns = append(columns, f.Key)
	}
	return render.Answer{
		JSON:  render.Record{{Key: "policies", Value: render.Rows(rows)}},
		Lines: []render.Lines{{Of: rows}}, Columns: columns,
		Text: func(t *render.Text) { a.write(t, rows) },
	}
}

// replayed returns what is known of a run.
func (a *dispatchAnswer) replayed(r policyRun) replayed {
	f := a.flags
	row := replayed{Policy: r.policy.String(), Jobs: len(a.List), Tasks: a.tasks, Workers: f.Workers,
		Load: a.offeredLoad(), Skipped: a.Skipped, FirstJob: a.List[0].ID, Finished: r.isFinished()}
	if f.Sampling.Count > 0 || f.Uniform || r.rigid != nil && f.Requests.Uniform {
		row.Seed = &f.Seed
	}
	switch {
	case r.stranded != nil:
		e := r.stranded
		row.unfinished = a.unfinished(e.Jobs, e.Job, "no worker is", e.Time)
	case r.tooFew != nil:
		e, left := r.tooFew, "1 worker is"
		if e.Left != 1 {
			left = fmt.Sprintf("%d workers are", e.Left)
		}
		left = fmt.Sprintf("it has %s, and %s", render.Counted(e.Workers, "task"), left)
		row.unfinished = a.unfinished(e.Jobs, e.Job, left, e.Time)
	case r.rigid != nil:
		row.measures = a.ofBaseline(r.rigid)
	default:
		row.dispatchMeasures = a.ofPolicy(r.result)
	}
	return row
}

// ofPolicy returns the measures of a run that is not one of a baseline.
func (a *dispatchAnswer) ofPolicy(v *dispatch.Result) *dispatchMeasures {
	n, waits, lasts := len(v.Jobs), v.Delay.Max > 0, v.Makespan > 0
	return &dispatchMeasures{
		PriorityViolation: numberIf(waits, v.PriorityViolationRate), DecisionViolation: &v.DecisionViolationRate,
		RunningViolation: numberIf(waits, v.RunningViolationRate),
		MissPenalty:      v.DeadlineMissPenalty, Missed: v.Missed, MissedPart: a.part(v.Missed), Makespan: v.Makespan,
		Delay:           a.flags.spread(v.Delay, n, func(k int) float64 { return v.Jobs[k].Delay }),
		SlowdownFormula: slowdownFormula,
		Slowdown:        a.flags.spread(v.Slowdown, n, func(k int) float64 { return v.Jobs[k].Slowdown }),
		Utilization:     numberIf(lasts, v.Utilization), Wasted: numberIf(lasts, v.Wasted),
		Lost: &v.Lost, Decisions: &v.Decisions,
	}
}

// part returns so many jobs as a part of all.
func (a *dispatchAnswer) part(jobs int) float64 { return float64(jobs) / float64(len(a.List)) }

// offeredLoad returns the work submitted over what all workers can do from the first submission to the last.
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

// unfinished returns the reason why jobs never finish, with the first of them and the workers left at the time.
func (a *dispatchAnswer) unfinished(jobs, first int, left string, time float64) *unfinished {
	verb, id := "finish", a.List[first].ID
	if jobs == 1 {
		verb = "finishes"
	}
	reason := fmt.Sprintf("%s never %s, the first of them job %d: %s left after %s s",
		render.Counted(jobs, "job"), verb, id, left, render.Six(time))
	return &unfinished{reason, time, jobs, id}
}

// write writes the answer for people.
func (a *dispatchAnswer) write(t *render.Text, rows []replayed) {
	a.heading(t)
	for _, r := range rows {
		if r.unfinished != nil {
			t.Line("policy %s: %s", r.Policy, r.Reason)
		}
	}
	t.Line("")
	if slices.ContainsFunc(rows, func(r replayed) bool { return r.Finished }) {
		a.measureTable(t, rows)
		t.Line("")
		t.Line("slowdown: %s, %s", slowdownFormula, slowdownLetters)
		a.writeBaselines(t)
		if names := a.flags.LeftOut(); names != nil && !a.flags.timeline {
			t.Line("not among these: %s (--policy all,sites has them, too)", strings.Join(names, ", "))
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

// heading says what runs where.
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
		t.Line("load %s: work submitted, over what the workers can do from the first submission to the last", render.Six(*load))
		if *load > 1 {
			t.Line("above load 1 jobs pile up: delays depend on how long the log is")
		}
	}
}

// scaling says how the times of the log are changed, if they are.
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

// workersText says how many workers there are, and of which speeds.
func (f *dispatchFlags) workersText() string {
	text := render.Counted(f.Workers, "worker")
	low, high, sum := slices.Min(f.Speeds), slices.Max(f.Speeds), 0.0
	for _, v := range f.Speeds {
		sum += v
	}
	if low == high {
		text += " of speed " + render.Six(low)
	} else {
		text += fmt.Sprintf(" of speeds %s to %s, %s in all", render.Six(low), render.Six(high), render.Six(sum))
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
func (a *dispatchAnswer) measureTable(t *render.Text, rows []replayed) {
	header := []string{"measure", "unit"}
	var flat []render.Record
	for _, r := range rows {
		flat = append(flat, render.Fields(r).Flat())
		header = append(header, r.Policy)
	}
	if len(rows) == 1 {
		header[2] = "value"
	}
	lines := [][]string{header}
	hasBaseline := slices.ContainsFunc(rows, func(r replayed) bool { return r.baselineMeasures != nil })
	for _, f := range render.Fields(a.flags.noMeasures(hasBaseline)).Flat() {
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
