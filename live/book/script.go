package book

import (
	"cmp"
	"math"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
	"productform/live/wire"
)

// timeTol is the relative difference within which times count as equal, as in [dispatch.Run].
const timeTol = 1e-12

// A scripted is a batch that waits for its time.
type scripted struct {
	in *Input
	at float64
}

// takeLogical processes the queue and decides the next moment once all inputs due by then have
// arrived.
func (b *Book) takeLogical() (*wire.Plan, error) {
	t, err := b.newPlan(b.at)
	if err != nil {
		return nil, err
	}
	for len(b.queue) > 0 && t.heard < maxInputs && t.plan.Script == nil {
		t.applyLogical(&b.queue[0])
		b.queue = b.queue[1:]
	}
	if b.number == 0 && t.plan.Script == nil {
		return nil, nil
	}
	if t.plan.Script == nil {
		if m, ok := b.nextMoment(); ok {
			t.decide(m)
		}
	}
	t.plan.Upto = b.settledSequence()
	return t.finish()
}

// applyLogical applies one input, which may have to wait for its time.
func (t *planBuilder) applyLogical(in *Input) {
	b := t.b
	t.heard++
	if in.Sequence > 0 {
		if in.Sequence <= b.heard {
			return
		}
		b.heard = in.Sequence
	}
	kept := *in
	switch {
	case in.Err != nil:
		t.refuse(in, true, "", in.Subject+": "+in.Err.Error())
	case in.In.Script != nil && b.number == 0 && b.script == nil:
		t.plan.Script = in.In.Script
	case in.In.Script != nil:
		if !isSame(in.In.Script, b.script) {
			t.refuse(in, true, "", "there is already a script")
		}
	case in.In.Batch != nil:
		switch a := b.batches[in.In.Batch.Name]; {
		case a != nil && a.Refused == "":
		case in.In.Batch.At == nil || *in.In.Batch.At < b.at:
			t.refuse(in, true, "", "want a time on the logical clock that has not passed")
		default:
			b.waiting = append(b.waiting, scripted{&kept, *in.In.Batch.At})
			slices.SortStableFunc(b.waiting, func(x, y scripted) int { return cmp.Compare(x.at, y.at) })
		}
	case in.In.Report != nil || in.In.Failure != nil:
		s, _ := sourceOf(in)
		s.seconds = 0 // the script defines work and speeds
		if t.isCurrent(in, s) {
			b.reports[s.attempt] = &kept
		}
	case in.In.Wish != nil:
		t.refuse(in, true, "", "requests need a wall clock")
	case in.Beat != nil:
		if _, ok := b.places[in.Beat.Worker]; ok {
			b.beats[in.Beat.Worker] = in.Beat
			b.touched.Workers[in.Beat.Worker] = true
		}
	case in.Removed != nil:
		t.applyInput(in)
	}
}

func isSame(a, b *wire.Script) bool {
	return a.Batches == b.Batches && a.Replan == b.Replan && slices.Equal(a.Workers, b.Workers) &&
		slices.Equal(a.Outages, b.Outages)
}

// isCurrent reports whether a report is about a running attempt and has the right end time. Reports
// on attempts that the script took away, or that a plan already processed, are ignored.
func (t *planBuilder) isCurrent(in *Input, s source) bool {
	b := t.b
	n, ok := b.numbers[s.job]
	if !ok || s.task >= b.jobs[n].Job.Tasks || b.jobs[n].Ended.has(s.task) || b.jobs[n].isDone() {
		return false
	}
	a := t.attempt(in, s)
	if a == nil || a.Taken {
		return false
	}
	if end := b.end(a); s.at != end {
		t.refuse(in, true, s.worker, input.Errorf("at", s.at, "%v, the start plus work/speed", end).Error())
		return false
	}
	return true
}

// end returns the time at which an attempt ends on a logical clock.
func (b *Book) end(a *attempt) float64 { return a.Since + work(&b.jobs[a.Job].Job, a.Task)/a.Speed }

// work returns the work of a task.
func work(j *wire.Job, task int) float64 {
	if j.Works != nil {
		return j.Works[task]
	}
	return j.Work
}

// settledSequence returns the sequence up to which no message waits.
func (b *Book) settledSequence() uint64 {
	upto := b.heard
	for _, w := range b.waiting {
		upto = min(upto, w.in.Sequence-1)
	}
	for _, in := range b.reports {
		upto = min(upto, in.Sequence-1)
	}
	return max(upto, b.upto)
}

// A moment holds everything that happens at one time on a logical clock.
type moment struct {
	at      float64
	ends    []int // attempts that end
	edges   []dispatch.Edge
	batches int // number of waiting batches that are due
	replan  bool
}

// nextMoment returns the next moment. It returns false if an input that is due is missing, or if
// nothing more happens.
func (b *Book) nextMoment() (m moment, ok bool) {
	if len(b.batches)+len(b.waiting) < b.script.Batches || len(b.waiting) == 0 && !b.hasOpenJobs() {
		return m, false
	}
	replan, edges := math.Inf(1), b.outages[min(b.edges, len(b.outages)):]
	if b.script.Replan > 0 && b.hasOpenJobs() {
		replan = dispatch.NextReplan(b.at, b.script.Replan)
	}
	first := replan
	if len(edges) > 0 {
		first = min(first, edges[0].Time)
	}
	if len(b.waiting) > 0 {
		first = min(first, b.waiting[0].at)
	}
	for _, a := range b.attempts {
		if !a.Taken {
			first = min(first, b.end(a))
		}
	}
	if math.IsInf(first, 1) {
		return m, false
	}
	m.at = first
	last := first * (1 + timeTol)
	if replan <= last {
		m.at, m.replan = max(m.at, replan), true
	}
	for _, e := range edges {
		if e.Time <= last {
			m.at, m.edges = max(m.at, e.Time), append(m.edges, e)
		}
	}
	for ; m.batches < len(b.waiting) && b.waiting[m.batches].at <= last; m.batches++ {
		m.at = max(m.at, b.waiting[m.batches].at)
	}
	for n, a := range b.attempts {
		if end := b.end(a); !a.Taken && end <= last {
			if b.reports[n] == nil {
				return m, false
			}
			m.at, m.ends = max(m.at, end), append(m.ends, n)
		}
	}
	slices.Sort(m.ends)
	return m, true
}

// scriptEdges returns the starts and ends of all outages in order of time.
func scriptEdges(s *wire.Script) []dispatch.Edge {
	if s == nil {
		return nil
	}
	outages := make([]dispatch.Outage, len(s.Outages))
	for i, o := range s.Outages {
		outages[i] = dispatch.Outage{Worker: o.Worker, From: o.From, To: o.To}
		if o.To == 0 {
			outages[i].To = math.Inf(1)
		}
	}
	return dispatch.Edges(outages)
}

// decide adds everything that happens at a moment to the plan.
func (t *planBuilder) decide(m moment) {
	b := t.b
	t.plan.At, t.plan.Replan = m.at, m.replan
	for _, n := range m.ends {
		a := b.attempts[n]
		if b.reports[n].In.Failure != nil {
			t.failAttempt(n, a)
		} else {
			w := work(&b.jobs[a.Job].Job, a.Task)
			t.addHappening(dispatch.Happening{
				Kind: dispatch.Finished, Job: a.Job, Task: a.Task, Worker: a.Worker, Attempt: n, Work: w,
				Seconds: b.learnedSeconds(w / a.Speed),
			})
		}
		delete(b.reports, n)
	}
	for _, e := range m.edges {
		if e.Up {
			t.returnWorker(e.Worker, 0, false)
			continue
		}
		if _, _, n, _ := b.maker.Hand(e.Worker); n > 0 {
			delete(b.reports, n)
		}
		t.addHappening(dispatch.Happening{Kind: dispatch.Failed, Worker: e.Worker})
	}
	for _, w := range b.waiting[:m.batches] {
		t.batch(w.in)
	}
	b.waiting = b.waiting[m.batches:]
}
