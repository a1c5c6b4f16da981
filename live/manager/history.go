package manager

import (
	"fmt"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// What a history keeps: the last spans of workers, decisions, and points of the curve of each of the last jobs. An answer
// stays within a message.
const (
	mostSpans     = 2000
	mostDecisions = 50
	mostPoints    = 1000
	mostCurves    = 1000
)

// A history is what a leader saw of late, for those who look on. It is not kept.
type history struct {
	decisions []wire.Decision
	spans     []wire.Span
	open      map[int]int // by attempt: place in spans, counted from the first ever
	dropped   int         // spans
	curves    map[string][]wire.Point
	order     []string // jobs of curves, in order of submission
}

func newHistory() *history {
	return &history{open: map[int]int{}, curves: map[string][]wire.Point{}}
}

// add adds a plan that the book has taken in.
func (h *history) add(p *wire.Plan, b *book.Book) {
	for i := range p.Events {
		e := &p.Events[i]
		switch e.Kind {
		case dispatch.Started:
			h.open[e.Attempt] = h.dropped + len(h.spans)
			h.spans = append(h.spans, wire.Span{Worker: b.WorkerName(e.Worker), Job: b.JobName(e.Job), Task: e.Task, Attempt: e.Attempt, From: p.At})
		case dispatch.Finished, dispatch.Lost, dispatch.Preempted, dispatch.Refused, dispatch.Dropped:
			h.end(e, p.At)
		}
	}
	if len(h.spans) > 2*mostSpans {
		over := len(h.spans) - mostSpans
		h.spans, h.dropped = slices.Delete(h.spans, 0, over), h.dropped+over
	}
	if what := describe(p, b); what != "" {
		h.decisions = append(h.decisions, wire.Decision{Plan: p.Number, At: p.At, What: what})
	}
	if len(h.decisions) > 2*mostDecisions {
		h.decisions = slices.Delete(h.decisions, 0, len(h.decisions)-mostDecisions)
	}
}

// end ends the span of an attempt, if it is still there.
func (h *history) end(e *dispatch.Event, at float64) {
	place, known := h.open[e.Attempt]
	delete(h.open, e.Attempt)
	if known && place >= h.dropped {
		s := &h.spans[place-h.dropped]
		s.To, s.How = &at, string(e.Kind)
	}
}

// point adds a point to the curve of a job, if it differs from the last one.
func (h *history) point(job string, p wire.Point) {
	curve, known := h.curves[job]
	if !known {
		if h.order = append(h.order, job); len(h.order) > mostCurves {
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
	if len(curve) >= 2*mostPoints { // every other one, so that all of the time is shown
		for k := range mostPoints {
			curve[k] = curve[2*k]
		}
		curve = curve[:mostPoints]
	}
	h.curves[job] = append(curve, p)
}

// answer returns what is known, with the curve of a job.
func (h *history) answer(now float64, job string) *wire.History {
	a := &wire.History{Version: wire.Version, Now: now, Spans: h.spans, Curve: h.curves[job]}
	if over := len(a.Spans) - mostSpans; over > 0 {
		a.Spans = a.Spans[over:]
	}
	if over := len(a.Curve) - mostPoints; over > 0 {
		a.Curve = a.Curve[over:]
	}
	a.Decisions = slices.Clone(h.decisions[max(0, len(h.decisions)-mostDecisions):])
	slices.Reverse(a.Decisions)
	return a
}

// describe says in words what a plan decides; the first of it, if it is much.
func describe(p *wire.Plan, b *book.Book) string {
	const most = 6
	var parts []string
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	for i := range p.Events {
		if len(parts) == most {
			add("... %d events in all", len(p.Events))
			break
		}
		e := &p.Events[i]
		switch e.Kind {
		case dispatch.Submitted, dispatch.Completed, dispatch.Cancelled, dispatch.Changed:
			add("%s %s", b.JobName(e.Job), e.Kind)
		case dispatch.Failed, dispatch.Returned, dispatch.Leaving:
			add("%s %s", b.WorkerName(e.Worker), e.Kind)
		case dispatch.Started:
			add("%s begins task %d of %s", b.WorkerName(e.Worker), e.Task, b.JobName(e.Job))
		case dispatch.GivenUp:
			add("task %d of %s given up", e.Task, b.JobName(e.Job))
		default:
			add("task %d of %s %s on %s", e.Task, b.JobName(e.Job), e.Kind, b.WorkerName(e.Worker))
		}
	}
	for i, r := range p.Refused {
		if i == most {
			add("... %d messages refused in all", len(p.Refused))
			break
		}
		add("message %d refused: %s", r.Sequence, r.Why)
	}
	return strings.Join(parts, "; ")
}
