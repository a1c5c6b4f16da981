package dispatch

import (
	"encoding/csv"
	"io"
	"strconv"

	"productform/internal/input"
)

// A Column holds a text for each job, such as the name of its user.
type Column struct {
	Name  string   // heading in CSV, such as "user"
	Texts []string // by job
}

// WriteRecords writes the outcome of each job as CSV (RFC 4180, lines ended by LF): a header line,
// then one line per job, in the order of jobs, which must be the jobs of the run. The given columns
// follow these:
//
//	id,submit,deadline,priority,tasks,work,start,finish,delay,slowdown,missed,lost
//
// Times are in seconds, work is the total over all tasks, and the other columns are as in [Job] and
// [Record]. Numbers are in the shortest form that reads back as the same float64. The deadline is
// empty if there is none, the slowdown if there is no work. The error is a write error of w, or a
// [num.InputError] if r or a column covers a different number of jobs; then nothing is written.
func WriteRecords(w io.Writer, jobs []Job, r *Result, columns ...Column) error {
	if len(jobs) != len(r.Jobs) {
		return input.Errorf("Jobs", len(jobs), "the %d jobs of the run", len(r.Jobs))
	}
	names := []string{"id", "submit", "deadline", "priority", "tasks", "work", "start", "finish", "delay", "slowdown",
		"missed", "lost"}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return WriteTable(w, len(jobs), names, columns, func(i int) []string {
		j, rec := &jobs[i], &r.Jobs[i]
		var deadline, slowdown string
		if j.Deadline > 0 {
			deadline = number(j.Deadline)
		}
		work, _ := j.total()
		if work > 0 {
			slowdown = number(rec.Slowdown)
		}
		return []string{strconv.FormatInt(j.ID, 10), number(j.Submit), deadline, number(j.Priority),
			strconv.Itoa(j.Tasks), number(work), number(rec.Start), number(rec.Finish), number(rec.Delay), slowdown,
			number(rec.Missed), strconv.Itoa(rec.Lost)}
	})
}

// WriteTable writes a table of jobs as [WriteRecords] does: names is the header line, row returns the
// cells of a job, and the given columns follow them.
func WriteTable(w io.Writer, jobs int, names []string, columns []Column, row func(i int) []string) error {
	for k, c := range columns {
		if len(c.Texts) != jobs {
			return input.Errorf(input.Field(input.Index("columns", k), "Texts"), len(c.Texts),
				"%d strings, one per job", jobs)
		}
		names = append(names, c.Name)
	}
	table := csv.NewWriter(w)
	err := table.Write(names)
	for i := 0; i < jobs && err == nil; i++ {
		cells := row(i)
		for _, c := range columns {
			cells = append(cells, c.Texts[i])
		}
		err = table.Write(cells)
	}
	if err != nil {
		return err
	}
	table.Flush()
	return table.Error()
}
