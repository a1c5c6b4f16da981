package rigid

import (
	"cmp"
	"io"
	"strconv"

	"productform/dispatch"
	"productform/internal/input"
)

// WriteRecords writes the outcome of each job as CSV (RFC 4180, lines ended by LF): a header line,
// then one line per job, in the order of jobs, which must be the jobs of the run. The given columns
// follow these:
//
//	id,submit,deadline,priority,workers,run_time,requested,start,finish,waiting,delay,slowdown,bounded_slowdown,missed,backfilled,outlived,lost
//
// Times are in seconds. run_time is the run time in the log, requested the requested time;
// backfilled and outlived are true or false, and lost is a number of tasks. Numbers are in the
// shortest form that reads back as the same float64. The deadline is empty if there is none, the
// slowdown if the job takes no time. The error is a write error of w, or a [num.InputError] if r or
// a column covers a different number of jobs; then nothing is written.
func WriteRecords(w io.Writer, jobs []dispatch.Job, r *Result, columns ...dispatch.Column) error {
	if len(jobs) != len(r.Jobs) {
		return input.Errorf("Jobs", len(jobs), "the %d jobs of the run", len(r.Jobs))
	}
	names := []string{
		"id", "submit", "deadline", "priority", "workers", "run_time", "requested", "start", "finish", "waiting",
		"delay", "slowdown", "bounded_slowdown", "missed", "backfilled", "outlived", "lost",
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return dispatch.WriteTable(w, len(jobs), names, columns, func(i int) []string {
		j, rec := &jobs[i], &r.Jobs[i]
		var deadline, slowdown string
		if j.Deadline > 0 {
			deadline = number(j.Deadline)
		}
		if rec.Finish > rec.Start {
			slowdown = number(rec.Slowdown)
		}
		requested := cmp.Or(j.Estimate, j.Work, minRequest)
		return []string{
			strconv.FormatInt(j.ID, 10), number(j.Submit), deadline, number(j.Priority), strconv.Itoa(j.Tasks),
			number(j.Work), number(requested), number(rec.Start), number(rec.Finish), number(rec.Waiting),
			number(rec.Delay), slowdown, number(rec.BoundedSlowdown), number(rec.Missed),
			strconv.FormatBool(rec.Backfilled), strconv.FormatBool(rec.Outlived), strconv.Itoa(rec.Lost),
		}
	})
}
