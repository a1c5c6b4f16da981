// This file draws a run of jobs on workers as a text picture: how many workers were busy or down,
// how many jobs were present and how many tasks were waiting in each column of time, and what did
// each worker do?

package draw

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"productform/dispatch"
)

const (
	mostColumns = 76 // columns of time; 100 characters with the left margin
	marginForm  = "%-13s %8s  "
	mostRows    = 40 // maximum number of workers with separate rows
	tickEvery   = 10 // columns
	eighths     = "▁▂▃▄▅▆▇█"

	// jobLetters are the letters of jobs, without x, which marks a failed worker.
	jobLetters = "ABCDEFGHIJKLMNOPQRSTUVWYZabcdefghijklmnopqrstuvwyz"
	idleLetter = '.'
	downLetter = 'x'
)

// States of a worker without a job.
const (
	isIdle = -1
	isDown = -2
)

// A Timeline is a run over columns of equal time.
type Timeline struct {
	scenario dispatch.Scenario
	result   *dispatch.Result // nil if some jobs never finish

	end     float64 // in seconds
	width   float64 // seconds per column
	columns int

	busy, down, present, waiting []float64 // workers, workers, jobs and tasks, multiplied by seconds, by column
	rows                         [][]byte  // one row per worker, if there are few

	now                              float64
	column                           int
	nBusy, nDown, nPresent, nWaiting int
	tasks                            []int             // counts by job
	doing                            []int             // by worker: a job, isIdle or isDown
	spent                            []map[int]float64 // seconds of this column by worker and activity
}

// New reruns a scenario with a known end: a result, or stranded jobs. It calls watch after each
// decision.
func New(
	ctx context.Context, s dispatch.Scenario, result *dispatch.Result, stranded *dispatch.StrandedError,
	watch func(*dispatch.Decision),
) (*Timeline, error) {
	t := &Timeline{scenario: s, result: result}
	if stranded != nil {
		t.end = stranded.Time
	} else {
		for _, rec := range result.Jobs {
			t.end = max(t.end, rec.Finish)
		}
	}
	if t.end == 0 {
		return t, nil
	}
	t.width = columnWidth(t.end)
	t.columns = int(math.Ceil(t.end / t.width * (1 - columnTol)))
	for _, list := range []*[]float64{&t.busy, &t.down, &t.present, &t.waiting} {
		*list = make([]float64, t.columns)
	}
	for _, j := range s.Jobs {
		t.tasks = append(t.tasks, j.Tasks)
	}
	if len(s.Speeds) <= mostRows {
		for range s.Speeds {
			t.rows = append(t.rows, nil)
			t.doing = append(t.doing, isIdle)
			t.spent = append(t.spent, map[int]float64{})
		}
	}
	s.Watch = func(d *dispatch.Decision) {
		watch(d)
		if d.Time > t.end { // only submissions follow
			return
		}
		t.advance(d.Time)
		for _, e := range d.Events {
			t.note(e)
		}
	}
	var again *dispatch.StrandedError
	if _, err := dispatch.Run(ctx, s); err != nil && !errors.As(err, &again) {
		return nil, err
	}
	t.advance(t.end)
	t.close()
	return t, nil
}

// columnWidth returns a round number of seconds, minutes, hours or days such that at most
// mostColumns columns cover the time.
func columnWidth(end float64) float64 {
	isWide := func(width float64) bool { return end/width*(1-columnTol) <= mostColumns }
	if end > 30*mostColumns {
		for _, w := range []float64{60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600} {
			if isWide(w) {
				return w
			}
		}
	}
	unit := 1.0
	if end > 30*mostColumns {
		unit = 86400
	}
	for power := int(math.Floor(math.Log10(end / unit / mostColumns))); ; power++ {
		for _, digits := range []string{"1", "2", "2.5", "5"} {
			v, err := strconv.ParseFloat(fmt.Sprintf("%se%d", digits, power), 64)
			if err == nil && isWide(v*unit) && (unit == 1 || v >= 1) {
				return v * unit
			}
		}
	}
}

// columnTol is the fraction of a column attributed to rounding.
const columnTol = 1e-9

// unit returns the unit of the axis, and its seconds.
func (t *Timeline) unit() (string, float64) {
	switch {
	case t.width >= 86400:
		return "d", 86400
	case t.width >= 3600:
		return "h", 3600
	case t.width >= 60:
		return "min", 60
	}
	return "s", 1
}

// advance advances the time without changes.
func (t *Timeline) advance(then float64) {
	for t.now < then {
		stop := then
		if next := float64(t.column+1) * t.width; t.column+1 < t.columns && next <= then {
			stop = next
		}
		seconds := stop - t.now
		t.busy[t.column] += float64(t.nBusy) * seconds
		t.down[t.column] += float64(t.nDown) * seconds
		t.present[t.column] += float64(t.nPresent) * seconds
		t.waiting[t.column] += float64(t.nWaiting) * seconds
		for w, what := range t.doing {
			t.spent[w][what] += seconds
		}
		t.now = stop
		if t.column+1 < t.columns && stop >= float64(t.column+1)*t.width {
			t.close()
			t.column++
		}
	}
}

// close ends a column: each worker gets the letter of the job on which it spent most time (ties:
// the job submitted first), x if it was down for longer than that, or a dot if it was always idle.
func (t *Timeline) close() {
	for w, spent := range t.spent {
		delete(spent, isIdle)
		longest := isIdle
		for what, seconds := range spent {
			if seconds < columnTol*t.width {
				continue
			}
			c := cmp.Compare(seconds, spent[longest])
			if c > 0 || c == 0 && what >= 0 && (longest < 0 || what < longest) {
				longest = what
			}
		}
		t.rows[w] = append(t.rows[w], letterOf(longest))
		clear(spent)
	}
}

func letterOf(what int) byte {
	switch what {
	case isIdle:
		return idleLetter
	case isDown:
		return downLetter
	}
	return jobLetters[what%len(jobLetters)]
}

// note records an event.
func (t *Timeline) note(e dispatch.Event) {
	does := isIdle
	switch e.Kind {
	case dispatch.Submitted:
		t.nPresent++
		t.nWaiting += t.tasks[e.Job]
	case dispatch.Completed:
		t.nPresent--
	case dispatch.Started:
		t.nBusy++
		t.nWaiting--
		does = e.Job
	case dispatch.Finished:
		t.nBusy--
	case dispatch.Lost, dispatch.Preempted:
		t.nBusy--
		t.nWaiting++
	case dispatch.Failed:
		t.nDown++
		does = isDown
	case dispatch.Returned:
		t.nDown--
	}
	if e.Worker >= 0 && t.doing != nil {
		t.doing[e.Worker] = does
	}
}

// Write draws the timeline.
func (t *Timeline) Write(b *bytes.Buffer) {
	s := &t.scenario
	if t.columns == 0 {
		fmt.Fprintln(b, "timeline: no time passes")
		return
	}
	name, unit := t.unit()
	fmt.Fprintf(b, "timeline: a column is %s %s; bars are means over it, up to █ at the number before them, . for 0\n",
		six(t.width/unit), name)
	if t.rows != nil {
		fmt.Fprintln(b,
			"a worker's letter is the job it runs longest in a column, x if it is down longer, . if idle")
		if len(s.Jobs) > len(jobLetters) {
			fmt.Fprintf(b, "letters repeat after %d jobs, in order of submission\n", len(jobLetters))
		}
	}
	fmt.Fprintln(b)
	t.axis(b, name, unit)
	workers := float64(len(s.Speeds))
	t.bars(b, "workers busy", t.busy, workers)
	if s.Outages != nil {
		t.bars(b, "workers down", t.down, workers)
	}
	t.bars(b, "jobs present", t.present, 0)
	t.bars(b, "tasks waiting", t.waiting, 0)
	if t.rows == nil {
		return
	}
	fmt.Fprintln(b)
	unequal := slices.Min(s.Speeds) != slices.Max(s.Speeds)
	for w, row := range t.rows {
		speed := ""
		if unequal {
			speed = fmt.Sprintf("%.3g", s.Speeds[w])
		}
		if w == 0 && unequal {
			fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf(marginForm, "", "speed"), " "))
		}
		fmt.Fprintf(b, marginForm+"%s\n", fmt.Sprintf("worker %d", w+1), speed, row)
	}
	if len(s.Jobs) <= len(jobLetters) {
		fmt.Fprintln(b)
		jobTable(b, s.Jobs, t.result)
	}
}

// axis writes a ruler.
func (t *Timeline) axis(b *bytes.Buffer, name string, unit float64) {
	numbers := fmt.Sprintf(marginForm, "time in "+name, "█ is")
	margin := utf8.RuneCountInString(numbers)
	var ruler strings.Builder
	for c := range t.columns {
		if c%tickEvery > 0 {
			ruler.WriteByte('-')
			continue
		}
		ruler.WriteByte('|')
		label := six(float64(c) * t.width / unit)
		if gap := margin + c - utf8.RuneCountInString(numbers); gap >= 0 && margin+c+len(label) <= margin+mostColumns {
			numbers += strings.Repeat(" ", gap) + label + " "
		}
	}
	fmt.Fprintln(b, strings.TrimRight(numbers, " "))
	fmt.Fprintf(b, "%*s%s\n", margin, "", &ruler)
}

// bars draws the means over columns of the quantities with the given sums; a full bar is their
// maximum, unless given.
func (t *Timeline) bars(b *bytes.Buffer, name string, sums []float64, full float64) {
	means := make([]float64, len(sums))
	for c, sum := range sums {
		means[c] = sum / (min(float64(c+1)*t.width, t.end) - float64(c)*t.width)
	}
	if full == 0 {
		full = slices.Max(means)
	}
	bars := []rune(eighths)
	var line strings.Builder
	for _, v := range means {
		if v <= columnTol*full {
			line.WriteByte(idleLetter)
			continue
		}
		k := int(math.Ceil(v / full * float64(len(bars)) * (1 - columnTol)))
		line.WriteRune(bars[min(k, len(bars))-1])
	}
	fmt.Fprintf(b, marginForm+"%s\n", name, fmt.Sprintf("%.3g", full), &line)
}

// jobTable writes the letter and the outcome of each job.
func jobTable(b *bytes.Buffer, jobs []dispatch.Job, result *dispatch.Result) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "letter\tjob\tpriority\ttasks\twork of each\tsubmitted\tdue")
	if result != nil {
		fmt.Fprint(w, "\tstarted\tfinished\tmissed by")
	}
	fmt.Fprintln(w)
	for i, j := range jobs {
		due := "-"
		if j.Deadline > 0 {
			due = six(j.Deadline)
		}
		fmt.Fprintf(w, "%c\t%d\t%s\t%d\t%s\t%s\t%s",
			letterOf(i), j.ID, six(j.Priority), j.Tasks, six(j.Work), six(j.Submit), due)
		if result != nil {
			missed := "-"
			if rec := result.Jobs[i]; rec.Missed > 0 {
				missed = six(rec.Missed)
			}
			fmt.Fprintf(w, "\t%s\t%s\t%s", six(result.Jobs[i].Start), six(result.Jobs[i].Finish), missed)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

// six formats a number with six digits.
func six(v float64) string { return fmt.Sprintf("%.6g", v) }
