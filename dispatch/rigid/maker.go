package rigid

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
)

// A Maker decides which jobs begin, as [dispatch.Maker] does and in its place, under a policy of this package: the tasks of a
// job begin together, and its workers are its own until the last of them has ended. It reads no clock and knows nothing of
// times to come. [Run] is what it comes to on a simulated clock.
//
// Tasks of a job may take different times here, and their results stay. A job that loses a task in hand, since the worker fails
// or the task does, is lost: all its tasks in hand are Preempted, and it waits again with those that have no result, for as many
// workers as there are. It stands where [Run] says. A job that runs for longer than it asked for is then taken to have asked for
// twice the time, as often as it takes. A job asks for its Estimate in seconds, else for its work, that of the largest task,
// whatever the speeds of workers are, else for 1 second. Priorities, deadlines and MaxWorkers are not looked at.
//
// Tasks are given to free workers in the order of their numbers; at a moment at which a task failed and its worker did not, to
// those with higher numbers than that worker first, to itself last.
//
// Jobs and workers are numbers from 0, and so are the tasks of a job. A Maker is for one goroutine at a time.
type Maker struct {
	ledger  *dispatch.Ledger
	line    *schedule
	workers []place // by number
	after   int     // the worker that refused a task at this moment, -1 if there is none
}

// A place is that of a worker: whether tasks may begin there, and the job that has it, or -1.
type place struct {
	up  bool
	job int
}

// NewMaker returns a decision maker for workers of these speeds, > 0, at time 0; more may join. The error is a
// [num.InputError].
func NewMaker(p Policy, speeds []float64) (*Maker, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	ledger, err := dispatch.NewLedger(speeds)
	if err != nil {
		return nil, err
	}
	m := &Maker{ledger: ledger, line: newSchedule(p, len(speeds), 0)}
	for range speeds {
		m.workers = append(m.workers, place{true, -1})
	}
	return m, nil
}

// Check returns the error of Decide, and changes nothing.
func (m *Maker) Check(at float64, what []dispatch.Happening) error { return m.ledger.Check(at, what) }

// Decide is told what happens at a time, and returns what happened and what it decided, as [dispatch.Maker.Decide] does.
func (m *Maker) Decide(at float64, what []dispatch.Happening) ([]dispatch.Event, error) {
	if err := m.note(at, what); err != nil {
		return nil, err
	}
	m.line.decide()
	for _, i := range m.line.begun {
		m.begin(i)
	}
	return m.ledger.Events(), nil
}

// Apply follows what was decided before, as [dispatch.Maker.Apply] does: m is then as the Maker was whose events these are.
func (m *Maker) Apply(at float64, what []dispatch.Happening, events []dispatch.Event) error {
	if err := m.note(at, what); err != nil {
		return err
	}
	before := m.ledger.Events()
	for k, e := range before {
		if k == len(events) || e != events[k] {
			return input.Errorf(input.Index("Events", k), events[min(k, len(events)):], "%v, which follows from what happens", e)
		}
	}
	var list []int
	for k := len(before); k < len(events); k++ {
		e := events[k]
		switch err := m.ledger.Follow(e); {
		case err != nil:
			return input.Inside(input.Index("Events", k), err)
		case e.Kind != dispatch.Started || m.workers[e.Worker].job >= 0 && m.workers[e.Worker].job != e.Job:
			return input.Errorf(input.Index("Events", k), e, "a task that begins on a free worker")
		}
		m.workers[e.Worker].job = e.Job
		if !slices.Contains(list, e.Job) {
			list = append(list, e.Job)
		}
	}
	m.ledger.Events()
	for _, i := range list {
		if p, err := m.ledger.Progress(i); err != nil || p.AtWork != p.Left || m.line.jobs[i].stage != waiting {
			return input.Errorf("Events", i, "jobs that begin with all their tasks")
		}
	}
	m.line.follow(list)
	return nil
}

// note takes note of what happens at a moment, and of what follows from that for jobs in hand.
func (m *Maker) note(at float64, what []dispatch.Happening) error {
	events, err := m.ledger.Note(at, what)
	if err != nil {
		return err
	}
	m.after = -1
	m.line.reach(at, len(m.workers))
	for k := range what {
		m.learn(&what[k])
	}
	var jobs, lost, submitted []int
	for _, e := range events {
		switch e.Kind {
		case dispatch.Submitted:
			submitted = append(submitted, e.Job)
			continue
		case dispatch.Failed, dispatch.Leaving, dispatch.Returned:
			m.move(e)
			continue
		case dispatch.Refused:
			m.after = e.Worker
			lost = append(lost, e.Job)
		case dispatch.Lost:
			lost = append(lost, e.Job)
		}
		if !slices.Contains(jobs, e.Job) {
			jobs = append(jobs, e.Job)
		}
	}
	for _, i := range jobs {
		if m.known(i) {
			m.follow(i, slices.Contains(lost, i))
		}
	}
	m.line.settle()
	for _, i := range submitted {
		m.submit(i)
	}
	return nil
}

// known reports whether a job is in the schedule.
func (m *Maker) known(i int) bool { return i < len(m.line.jobs) && m.line.jobs[i].stage != absent }

// learn takes note of what the tasks of a job in hand took.
func (m *Maker) learn(h *dispatch.Happening) {
	if h.Kind == dispatch.Finished && m.known(h.Job) {
		j := &m.line.jobs[h.Job]
		j.runs = max(j.runs, h.Work)
	}
}

// submit takes in a job, unless it is cancelled as it comes.
func (m *Maker) submit(i int) {
	p, err := m.ledger.Progress(i)
	if err != nil || p.Stage != dispatch.JobPresent {
		return
	}
	if more := i + 1 - len(m.line.jobs); more > 0 {
		m.line.jobs = append(m.line.jobs, make([]job, more)...)
	}
	j, _ := m.ledger.Job(i)
	asks := j.Work
	for _, w := range j.Works {
		asks = max(asks, w)
	}
	m.line.submit(i, j.Tasks, cmp.Or(j.Estimate, asks, leastRequest))
}

// move takes note of a worker that comes or goes.
func (m *Maker) move(e dispatch.Event) {
	w := e.Worker
	if w == len(m.workers) {
		m.workers = append(m.workers, place{false, -1})
		m.line.join()
	}
	p := &m.workers[w]
	if e.Kind == dispatch.Returned {
		p.up = true
		if i, _, _, _ := m.ledger.Hand(w); i >= 0 && m.line.jobs[i].stage == running { // it was to leave
			p.job = i
		}
		m.line.grow(p.job)
		return
	}
	if p.up {
		m.line.shrink(p.job)
	}
	p.up, p.job = false, -1
}

// follow takes note of what has become of a job.
func (m *Maker) follow(i int, lost bool) {
	j := &m.line.jobs[i]
	p, err := m.ledger.Progress(i)
	isOver := err != nil || p.Stage != dispatch.JobPresent
	switch {
	case isOver && j.stage == running:
		if later(m.line.now, j.end()) {
			j.outlast = true
		}
		m.free(i)
		m.line.end(i)
	case isOver:
		m.line.remove(i)
	case j.stage == running && (lost || p.AtWork == 0):
		m.stop(i)
		m.free(i)
		m.line.requeue(i, p.Left)
	case j.stage == waiting && p.Left != j.size:
		m.line.resize(i, p.Left)
	}
}

// stop takes the tasks in hand of a job from their workers.
func (m *Maker) stop(i int) {
	for w := range m.workers {
		if k, _, _, _ := m.ledger.Hand(w); k == i {
			if err := m.ledger.Preempt(w); err != nil {
				panic("rigid: a task in hand cannot be taken: " + err.Error())
			}
		}
	}
}

// free takes its workers from a job.
func (m *Maker) free(i int) {
	for w := range m.workers {
		if m.workers[w].job == i {
			m.workers[w].job = -1
		}
	}
}

// begin begins the tasks of a job on free workers.
func (m *Maker) begin(i int) {
	left := m.line.jobs[i].size
	for k := 1; left > 0; k++ { // there are so many
		w := (m.after + k) % len(m.workers)
		if p := &m.workers[w]; p.up && p.job < 0 {
			p.job = i
			left--
			if err := m.ledger.Begin(w, i); err != nil {
				panic("rigid: a task that waits cannot begin: " + err.Error())
			}
		}
	}
}

// Hand returns what a worker has in hand, as [dispatch.Maker.Hand] does.
func (m *Maker) Hand(worker int) (job, task, attempt int, since float64) {
	return m.ledger.Hand(worker)
}

// Forget forgets a job that is done or cancelled, as [dispatch.Maker.Forget] does.
func (m *Maker) Forget(number int) error {
	err := m.ledger.Forget(number)
	if err == nil && number < len(m.line.jobs) {
		m.line.jobs[number] = job{}
	}
	return err
}

// Progress returns how far a job is, as [dispatch.Maker.Progress] does; planned are the workers that the job has.
func (m *Maker) Progress(job int) (dispatch.Progress, error) {
	p, err := m.ledger.Progress(job)
	if err == nil && m.known(job) && m.line.jobs[job].stage == running {
		p.Planned = m.line.jobs[job].held
	}
	return p, err
}

// Result sums up until the last moment, over the jobs that are completed and not forgotten, with the measures of all policies;
// there are no violations. The rest is as [dispatch.Maker.Result] says.
func (m *Maker) Result() *dispatch.Result { return m.ledger.Result() }

// Measures sums up likewise, with the measures of this package, for a threshold of the bounded slowdown in seconds, or 0 for 10. The
// run time of a job is that of its largest task, in units of work.
func (m *Maker) Measures(threshold float64) *Result {
	var jobs []dispatch.Job
	records, runs := []Record{}, []float64{}
	for _, rec := range m.ledger.Result().Jobs {
		j, _ := m.ledger.Job(rec.Job)
		own := &m.line.jobs[rec.Job]
		out := Record{Job: rec.Job, Start: own.start, Finish: rec.Finish, Lost: rec.Lost}
		if end := own.start + own.runs; !later(rec.Finish, end) && !later(end, rec.Finish) { // as Run has it: the moment differs by rounding
			out.Finish = end
		}
		own.tell(&out)
		jobs, records, runs = append(jobs, j), append(records, out), append(runs, own.runs)
	}
	return summary(len(m.workers), threshold, m.line.sums, records, func(k int) (*dispatch.Job, float64) { return &jobs[k], runs[k] })
}
