package manager

import (
	"fmt"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// Limits of a history: spans of workers, decisions, points per curve, and curves of jobs. They keep
// a reply within one message.
const (
	maxSpans     = 2000
	maxDecisions = 50
	maxPoints    = 1000
	maxCurves    = 1000
)

// A history holds recent events for observers. It is not stored.
type history struct {
	decisions []wire.Decision
	spans     []wire.Span
	open      map[int]int // by attempt: index in spans, counted from the first ever
	dropped   int         // number of dropped spans
	curves    map[string][]wire.Point
	order     []string // jobs with curves, in order of submission
}

func newHistory() *history {
	return &history{open: map[int]int{}, curves: map[string][]wire.Point{}}
}

// add adds a plan that the book has folded.
func (h *history) add(p *wire.Plan, b *book.Book) {
	for i := range p.Events {
		e := &p.Events[i]
		switch e.Kind {
		case dispatch.Started:
			h.open[e.Attempt] = h.dropped + len(h.spans)
			h.spans = append(h.spans, wire.Span{
				Worker:  b.WorkerName(e.Worker),
				Job:     b.JobName(e.Job),
				Task:    e.Task,
				Attempt: e.Attempt,
				From:    p.At,
			})
		case dispatch.Finished, dispatch.Lost, dispatch.Preempted, dispatch.Refused, dispatch.Dropped:
			h.end(e, p.At)
		}
	}
	if len(h.spans) > 2*maxSpans {
		over := len(h.spans) - maxSpans
		h.spans, h.dropped = slices.Delete(h.spans, 0, over), h.dropped+over
	}
	if what := describe(p, b); what != "" {
		h.decisions = append(h.decisions, wire.Decision{Plan: p.Number, At: p.At, What: what})
	}
	if len(h.decisions) > 2*maxDecisions {
		h.decisions = slices.Delete(h.decisions, 0, len(h.decisions)-maxDecisions)
	}
}

// end ends the span of an attempt, unless it was dropped.
func (h *history) end(e *dispatch.Event, at float64) {
	place, known := h.open[e.Attempt]
	delete(h.open, e.Attempt)
	if known && place >= h.dropped {
		s := &h.spans[place-h.dropped]
		s.To, s.How = &at, string(e.Kind)
	}
}

// point adds a point to the curve of a job if it differs from the last one.
func (h *history) point(job string, p wire.Point) {
	curve, known := h.curves[job]
	if !known {
		if h.order = append(h.order, job); len(h.order) > maxCurves {
			delete(h.curves, h.order[0])
			h.order = h.order[1:]
		}
	}
	if k := len(curve) - 1; k >= 0 {
		if curve[k].Planned == p.Planned && curve[k].Hand == p.Hand {
			return
		}
		if curve[k].At == p.At {
			curve = curve[:k]
		}
	}
	if len(curve) >= 2*maxPoints { // keep every other point, to cover the whole time
		for k := range maxPoints {
			curve[k] = curve[2*k]
		}
		curve = curve[:maxPoints]
	}
	h.curves[job] = append(curve, p)
}

// answer returns the history, with the curve of a job.
func (h *history) answer(now float64, job string) *wire.History {
	a := &wire.History{Version: wire.Version, Now: now, Spans: h.spans, Curve: h.curves[job]}
	if over := len(a.Spans) - maxSpans; over > 0 {
		a.Spans = a.Spans[over:]
	}
	if over := len(a.Curve) - maxPoints; over > 0 {
		a.Curve = a.Curve[over:]
	}
	a.Decisions = slices.Clone(h.decisions[max(0, len(h.decisions)-maxDecisions):])
	slices.Reverse(a.Decisions)
	return a
}

// describe returns a text about what a plan decides, shortened if it is long.
func describe(p *wire.Plan, b *book.Book) string {
	const most = 6
	var parts []string
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	for i := range p.Events {
		if len(parts) == most {
			add("... %d events in total", len(p.Events))
			break
		}
		e := &p.Events[i]
		switch e.Kind {
		case dispatch.Submitted, dispatch.Completed, dispatch.Cancelled, dispatch.Changed:
			add("%s %s", b.JobName(e.Job), e.Kind)
		case dispatch.Failed, dispatch.Returned, dispatch.Leaving:
			add("%s %s", b.WorkerName(e.Worker), e.Kind)
		case dispatch.Started:
			add("%s starts task %d of %s", b.WorkerName(e.Worker), e.Task, b.JobName(e.Job))
		case dispatch.GivenUp:
			add("task %d of %s given up", e.Task, b.JobName(e.Job))
		default:
			add("task %d of %s %s on %s", e.Task, b.JobName(e.Job), e.Kind, b.WorkerName(e.Worker))
		}
	}
	for i, r := range p.Refused {
		if i == most {
			add("... %d messages refused in total", len(p.Refused))
			break
		}
		add("message %d refused: %s", r.Sequence, r.Why)
	}
	return strings.Join(parts, "; ")
}
