package dispatch

import (
	"slices"

	"productform/internal/input"
)

// Apply replays earlier decisions: the happenings at one time, and the events that [Maker.Decide]
// returned for them. The decisions may come from another version or another policy. If they come
// from a maker with the same rules, m ends in the same state. Violations by the plan are counted
// for the plans that m itself would have made.
//
// The error is a [num.InputError]. If it concerns at or what, nothing has changed. If it concerns
// events that do not follow from what or are impossible, m has applied the events before the faulty
// one and must no longer be used.
func (m *Maker) Apply(at float64, what []Happening, events []Event) error {
	if err := m.Check(at, what); err != nil {
		return err
	}
	m.step(at, sorted(what))
	follow := m.events
	m.events = nil
	m.assign()
	if n := len(follow); len(events) < n {
		return input.Errorf("Events", len(events), "at least %d, the number of events that follow from what happens", n)
	}
	for k, e := range follow {
		if e != events[k] {
			return input.Errorf(input.Index("Events", k), events[k], "%v, which follows from what happens", e)
		}
	}
	for k := len(follow); k < len(events); k++ {
		if err := m.follow(events[k]); err != nil {
			return input.Inside(input.Index("Events", k), err)
		}
	}
	m.events, m.refusers = nil, m.refusers[:0]
	m.judge()
	return nil
}

// follow applies a decision.
func (m *Maker) follow(e Event) error {
	switch {
	case e.Kind != Started && e.Kind != Preempted:
		return input.Errorf("Kind", e.Kind, "%s or %s: all other events precede the decisions", Started, Preempted)
	case e.Worker < 0 || e.Worker >= len(m.hand) || e.Kind == Started && !m.up[e.Worker]:
		return input.Errorf("Worker", e.Worker, "a worker that is up")
	case m.state(e.Job) != JobPresent:
		return input.Errorf("Job", e.Job, "a job that is present")
	}
	h := m.hand[e.Worker]
	if e.Kind == Preempted {
		if h.job != e.Job || h.task != e.Task || h.attempt != e.Attempt {
			return input.Errorf("Worker", e.Worker, "a worker that runs this attempt")
		}
		m.lose(Preempted, e.Worker)
		if !m.up[e.Worker] { // it was leaving and is now down
			return nil
		}
		m.addIdle(e.Worker)
		return nil
	}
	switch t := &m.tasks[e.Job]; {
	case h.job >= 0:
		return input.Errorf("Worker", e.Worker, "a worker that is idle")
	case e.Attempt <= m.attempts:
		return input.Errorf("Attempt", e.Attempt, "the number of a new attempt, above %d", m.attempts)
	case e.Task >= t.next && !(e.Task == t.next && t.next < m.jobs[e.Job].Tasks), !t.takeOut(e.Task):
		return input.Errorf("Task", e.Task, "a waiting task: %d, or one that has started before", t.next)
	}
	m.attempts = e.Attempt
	m.start(e.Worker, e.Job, e.Task)
	k, _ := slices.BinarySearch(m.idle, m.planner.plan.Place[e.Worker])
	m.idle = slices.Delete(m.idle, k, k+1)
	return nil
}
