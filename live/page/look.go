package page

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"productform/live/wire"
)

// palette holds the colours of Okabe and Ito, which readers with colour blindness can distinguish.
// Jobs use them in turn.
var palette = [...]string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"}

// functions are the functions of the templates.
var functions = template.FuncMap{
	"number": number,
	"since":  formatDuration,
	"whole":  func(v *float64) string { return optional(v, number) },
}

// window is the maximum time that the picture of workers covers, in seconds.
const window = 300

// A view is the content of the page body.
type view struct {
	Status    *wire.Status
	Started   string // time of the first plan
	Jobs      []jobRow
	Present   int // jobs
	More      int // unfinished jobs that are not listed
	Workers   []workerRow
	Lanes     lanes
	Curve     curve
	Decisions []wire.Decision
}

type jobRow struct {
	wire.JobView
	Colour, Slack string
	Done          int // tasks
	Part          float64
}

type workerRow struct {
	wire.WorkerView
	Colour, Held, Silent string
}

// lanes is the picture of workers over time, in drawing units.
type lanes struct {
	Height int
	Names  []lane
	Bars   []bar
	Ticks  []tick
}

type lane struct {
	Name string
	Y    int
}

type bar struct {
	X, Width      float64
	Y             int
	Colour, Title string
	Faint         bool // the task was not finished
}

type tick struct {
	X    float64
	Text string
}

// curve is the picture of the workers of a job ([L14], Figure 6.1).
type curve struct {
	Job           string
	Planned, Hand string // paths
	Ticks, Marks  []tick
	Shown         bool
}

// Sizes of the drawings.
const (
	left, width = 90, 800
	laneHeight  = 16
	maxLanes    = 64
	curveHeight = 160
)

// look converts a status and a history to a view.
func look(s *wire.Status, h *wire.History, job string) view {
	v := view{Status: s, Decisions: h.Decisions}
	if s.Cluster.Epoch > 0 {
		v.Started = time.Unix(int64(s.Cluster.Epoch), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	colours := colours(s, h)
	listed := 0
	for _, j := range s.Jobs {
		r := jobRow{JobView: j, Colour: colours[j.Name], Done: j.Tasks - j.Left}
		r.Part = float64(r.Done) / float64(max(j.Tasks, 1))
		if j.Deadline != nil {
			at := s.Cluster.At
			if j.Finish != nil {
				at = *j.Finish
			}
			r.Slack = number(*j.Deadline - at)
		}
		if j.State == wire.JobPresent {
			listed++
		}
		v.Jobs = append(v.Jobs, r)
	}
	c := &s.Cluster.Counts
	v.Present = c.Jobs - c.Completed - c.Cancelled
	v.More = max(0, v.Present-listed)
	for _, w := range s.Workers {
		r := workerRow{WorkerView: w, Colour: colours[w.Job], Held: formatDuration(s.Cluster.At - w.Since)}
		if w.Heard != nil {
			r.Silent = formatDuration(s.Cluster.At - *w.Heard)
		}
		v.Workers = append(v.Workers, r)
	}
	v.Lanes = drawLanes(h, s.Workers, colours)
	v.Curve = drawCurve(h, job)
	return v
}

// colours assigns colours to jobs, in the order in which they first had a worker.
func colours(s *wire.Status, h *wire.History) map[string]string {
	all := map[string]string{}
	add := func(job string) {
		if _, known := all[job]; !known && job != "" {
			all[job] = palette[len(all)%len(palette)]
		}
	}
	for _, span := range h.Spans {
		add(span.Job)
	}
	for _, j := range s.Jobs {
		add(j.Name)
	}
	return all
}

// drawLanes draws the tasks of workers, as far back as the history is complete.
func drawLanes(h *wire.History, workers []wire.WorkerView, colours map[string]string) lanes {
	var l lanes
	if len(h.Spans) == 0 {
		return l
	}
	first := max(h.Spans[0].From, h.Now-window)
	length := max(h.Now-first, 1e-3)
	x := func(at float64) float64 { return round(left + width*(max(at, first)-first)/length) }
	rows := map[string]int{}
	for k, w := range workers {
		if k < maxLanes {
			rows[w.Name] = k * laneHeight
			l.Names = append(l.Names, lane{w.Name, k*laneHeight + laneHeight - 4})
		}
	}
	for _, s := range h.Spans {
		to, how := h.Now, "assigned"
		if s.To != nil {
			to, how = *s.To, s.How
		}
		y, shown := rows[s.Worker]
		if !shown || to < first {
			continue
		}
		l.Bars = append(l.Bars, bar{
			X: x(s.From), Width: max(round(x(to)-x(s.From)), 0.5), Y: y + 2, Colour: colours[s.Job],
			Faint: s.To != nil && s.How != "finished",
			Title: fmt.Sprintf("%s, task %d, attempt %d: %s to %s, %s",
				s.Job, s.Task, s.Attempt, number(s.From), number(to), how),
		})
	}
	l.Height = len(l.Names)*laneHeight + 20
	l.Ticks = ticks(first, h.Now, x)
	return l
}

// drawCurve draws the number of workers planned for a job, and the number running its tasks.
func drawCurve(h *wire.History, job string) curve {
	c := curve{Job: job}
	if len(h.Curve) == 0 {
		return c
	}
	c.Shown = true
	most := 1
	for _, p := range h.Curve {
		most = max(most, p.Planned, p.Hand)
	}
	first := h.Curve[0].At
	length := max(h.Now-first, 1e-3)
	x := func(at float64) float64 { return round(left + width*(at-first)/length) }
	y := func(n int) float64 { return round(curveHeight - float64(n)/float64(most)*(curveHeight-10)) }
	path := func(of func(wire.Point) int) string {
		text := ""
		for i, p := range h.Curve {
			if i == 0 {
				text = fmt.Sprintf("M%g %g", x(p.At), y(of(p)))
			} else {
				text += fmt.Sprintf("H%gV%g", x(p.At), y(of(p)))
			}
		}
		return text + fmt.Sprintf("H%g", x(h.Now))
	}
	c.Planned = path(func(p wire.Point) int { return p.Planned })
	c.Hand = path(func(p wire.Point) int { return p.Hand })
	c.Ticks = ticks(first, h.Now, x)
	for _, n := range slices.Compact([]int{0, (most + 1) / 2, most}) {
		c.Marks = append(c.Marks, tick{y(n), strconv.Itoa(n)})
	}
	return c
}

// ticks returns about five round times.
func ticks(from, to float64, x func(float64) float64) (list []tick) {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/2)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= 6 {
			step *= m
			break
		}
	}
	for k := math.Ceil(from / step); k*step <= to; k++ {
		list = append(list, tick{x(k * step), number(k * step)})
	}
	return list
}

func round(v float64) float64 { return math.Round(10*v) / 10 }

// number formats seconds or another number with a readable number of digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(cmp.Or(math.Round(1000*v)/1000, 0), 'f', -1, 64)
}

// formatDuration formats a duration in seconds.
func formatDuration(seconds float64) string {
	switch seconds = max(seconds, 0); {
	case seconds < 120:
		return number(seconds) + " s"
	case seconds < 7200:
		return number(seconds/60) + " min"
	}
	return number(seconds/3600) + " h"
}

func optional(v *float64, write func(float64) string) string {
	if v == nil {
		return ""
	}
	return write(*v)
}
