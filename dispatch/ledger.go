package dispatch

import (
	"slices"

	"productform/internal/input"
)

// A Ledger is a [Maker] without a policy: it tracks jobs, workers and tasks, but the caller decides
// which tasks start. Decision makers with other policies, such as package rigid, use it.
// For each moment, call Note, then Begin and Preempt any number of times, then Events. A Ledger
// must not be used by several goroutines at once.
type Ledger struct{ maker *Maker }

// NewLedger returns a ledger at time 0 for workers of the given speeds, which must be > 0. More
// workers may join later. The error is a [num.InputError].
func NewLedger(speeds []float64) (*Ledger, error) {
	m, err := plainMaker(Rules{}, speeds)
	return &Ledger{m}, err
}

// LedgerOf returns a ledger that continues from s, the state of a ledger or of a [Maker], whose
// rules and plans are discarded. The error is a [num.InputError] if s is not a valid state of
// either.
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

// Check returns the error of [Ledger.Note] and changes nothing.
func (l *Ledger) Check(at float64, what []Happening) error { return l.maker.Check(at, what) }

// Note applies what happens at the given time, as [Maker.Decide] does, and returns the events that
// follow from it alone. The returned slice is valid until the next call. The error is the same as
// for [Maker.Decide], and then nothing has changed.
func (l *Ledger) Note(at float64, what []Happening) ([]Event, error) {
	m := l.maker
	if err := m.Check(at, what); err != nil {
		return nil, err
	}
	m.step(at, sorted(what))
	m.refusers = m.refusers[:0]
	return m.events, nil
}

// Begin starts the next task of a job on an idle worker: a lost task if there is any, then a task
// that never started, then a refused one. The error is a [num.InputError] if the worker is not idle
// or the job has no waiting task.
func (l *Ledger) Begin(worker, job int) error {
	m := l.maker
	if m.state(job) != JobPresent {
		return input.Errorf("Job", job, "a job that is present")
	}
	return m.follow(Event{Started, job, m.nextTask(job), worker, m.attempts + 1})
}

// Preempt takes the running task from a worker; the task waits again, before those that never
// started. The error is a [num.InputError] if the worker is idle.
func (l *Ledger) Preempt(worker int) error {
	job, task, attempt, _ := l.maker.Hand(worker)
	return l.maker.follow(Event{Preempted, job, task, worker, attempt})
}

// Follow applies an earlier decision: an event [Started] or [Preempted]. The error is a
// [num.InputError] if the event is impossible.
func (l *Ledger) Follow(e Event) error { return l.maker.follow(e) }

// Events returns all events of the moment.
func (l *Ledger) Events() []Event {
	events := l.maker.events
	l.maker.events = nil
	return events
}

// Job returns a job, and whether its number is known. The slices of the job belong to the ledger
// and must not be modified.
func (l *Ledger) Job(number int) (Job, bool) {
	if l.maker.state(number) == unknown {
		return Job{}, false
	}
	return *l.maker.jobs[number], true
}

// Hand returns the running task of a worker; see [Maker.Hand].
func (l *Ledger) Hand(worker int) (job, task, attempt int, since float64) {
	return l.maker.Hand(worker)
}

// Forget removes a job that is done or cancelled; see [Maker.Forget].
func (l *Ledger) Forget(job int) error { return l.maker.Forget(job) }

// Progress returns the progress of a job; see [Maker.Progress]. Planned is always 0.
func (l *Ledger) Progress(job int) (Progress, error) { return l.maker.Progress(job) }

// Result summarizes everything until the last moment; see [Maker.Result]. Without plans there are
// no violations by the plan.
func (l *Ledger) Result() *Result { return l.maker.Result() }

// State returns a copy of the state of the ledger; see [Maker.State].
func (l *Ledger) State() State { return l.maker.State() }
