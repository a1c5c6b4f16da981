package dispatch

import (
	"slices"

	"productform/internal/input"
)

// Apply follows what was decided before: what happened at a time, and the events that [Maker.Decide] returned then,
// whichever version or policy chose the tasks that began. After one of the same rules m is as that
// one was. Violations by the plan are those of the plans that m would have made.
//
// The error is a [num.InputError]. If it is about at or what, nothing has changed. If it is about the events, which do
// not follow from what or cannot be, m has followed those before, and no later moment fits.
func (m *Maker) Apply(at float64, what []Happening, events []Event) error {
	if err := m.Check(at, what); err != nil {
		return err
	}
	m.step(at, sorted(what))
	follow := m.events
	m.events = nil
	m.assign()
	if n := len(follow); len(events) < n {
		return input.Errorf("Events", len(events), "%d events at least, which follow from what happens", n)
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
	m.events, m.averse = nil, m.averse[:0]
	m.judge()
	return nil
}

// follow puts a decision into effect.
func (m *Maker) follow(e Event) error {
	switch {
	case e.Kind != Started && e.Kind != Preempted:
		return input.Errorf("Kind", e.Kind, "%s or %s, since nothing more happens", Started, Preempted)
	case e.Worker < 0 || e.Worker >= len(m.hand) || e.Kind == Started && !m.up[e.Worker]:
		return input.Errorf("Worker", e.Worker, "a worker that is up")
	case m.state(e.Job) != JobPresent:
		return input.Errorf("Job", e.Job, "a job that is present")
	}
	h := m.hand[e.Worker]
	if e.Kind == Preempted {
		if h.job != e.Job || h.task != e.Task || h.attempt != e.Attempt {
			return input.Errorf("Worker", e.Worker, "a worker with this attempt in hand")
		}
		m.lose(Preempted, e.Worker)
		if !m.up[e.Worker] { // it leaves, and is gone now
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
		return input.Errorf("Task", e.Task, "a task that waits: %d, or one that has begun before", t.next)
	}
	m.attempts = e.Attempt
	m.start(e.Worker, e.Job, e.Task)
	k, _ := slices.BinarySearch(m.idle, m.planner.plan.Place[e.Worker])
	m.idle = slices.Delete(m.idle, k, k+1)
	return nil
}
