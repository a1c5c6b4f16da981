package dispatch

import (
	"slices"

	"productform/internal/input"
)

// A Ledger is a [Maker] without a policy: it knows which jobs and workers there are and what has become of every task, and leaves to its caller which
// tasks begin. A decision maker of other policies, such as that of package rigid, keeps one. A moment is Note, then Begin and Preempt in any number,
// then Events. A Ledger is for one goroutine at a time.
type Ledger struct{ maker *Maker }

// NewLedger returns a ledger for workers of these speeds, > 0, at time 0; more may join. The error is a [num.InputError].
func NewLedger(speeds []float64) (*Ledger, error) {
	m, err := plainMaker(Rules{}, speeds)
	return &Ledger{m}, err
}

// LedgerOf returns a ledger that remembers s, the state of a ledger or of a [Maker], whose rules and plans are forgotten. The error is a
// [num.InputError] if s is neither.
func LedgerOf(s State) (*Ledger, error) {
	s.Rules, s.Profiles = Rules{}, nil
	s.Jobs = slices.Clone(s.Jobs)
	for k := range s.Jobs {
		s.Jobs[k].Learnt = nil
	}
	s.Totals.Planned, s.Totals.Running = 0, 0
	m, err := restored(s)
	return &Ledger{m}, err
}

// Check returns the error of Note, and changes nothing.
func (l *Ledger) Check(at float64, what []Happening) error { return l.maker.Check(at, what) }

// Note takes note of what happens at a time, as [Maker.Decide] does, and returns the events that follow from that alone, which may be read until the
// next call. The error is that of [Maker.Decide], and then nothing has changed.
func (l *Ledger) Note(at float64, what []Happening) ([]Event, error) {
	m := l.maker
	if err := m.Check(at, what); err != nil {
		return nil, err
	}
	m.step(at, sorted(what))
	m.averse = m.averse[:0]
	return m.events, nil
}

// Begin gives an idle worker the next task of a job: one that was lost, else one that never began, else one that was refused. The error is a
// [num.InputError] if the worker is not idle or no task of the job waits.
func (l *Ledger) Begin(worker, job int) error {
	m := l.maker
	if m.state(job) != JobPresent {
		return input.Errorf("Job", job, "a job that is present")
	}
	return m.follow(Event{Started, job, m.nextTask(job), worker, m.attempts + 1})
}

// Preempt takes its task from a worker, so that it waits again before those that never began. The error is a [num.InputError] if the worker has none.
func (l *Ledger) Preempt(worker int) error {
	job, task, attempt, _ := l.maker.Hand(worker)
	return l.maker.follow(Event{Preempted, job, task, worker, attempt})
}

// Follow puts into effect what was decided before: an event [Started] or [Preempted]. The error is a [num.InputError] if it cannot be.
func (l *Ledger) Follow(e Event) error { return l.maker.follow(e) }

// Events returns all events of the moment.
func (l *Ledger) Events() []Event {
	events := l.maker.events
	l.maker.events = nil
	return events
}

// Job returns a job, and whether there is one of that number. What it shares with the ledger must not be changed.
func (l *Ledger) Job(number int) (Job, bool) {
	if l.maker.state(number) == unknown {
		return Job{}, false
	}
	return *l.maker.jobs[number], true
}

// Hand, Forget, Progress, Result and State are those of a [Maker] that never plans: no workers are planned, and there are no violations.
func (l *Ledger) Hand(worker int) (job, task, attempt int, since float64) {
	return l.maker.Hand(worker)
}

// Forget is that of [Maker].
func (l *Ledger) Forget(job int) error { return l.maker.Forget(job) }

// Progress is that of [Maker].
func (l *Ledger) Progress(job int) (Progress, error) { return l.maker.Progress(job) }

// Result is that of [Maker].
func (l *Ledger) Result() *Result { return l.maker.Result() }

// State is that of [Maker].
func (l *Ledger) State() State { return l.maker.State() }
