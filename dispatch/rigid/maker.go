package rigid

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
)

// A Maker decides which jobs start under a policy of this package, and replaces a [dispatch.Maker]:
// the tasks of a job start together, and its workers are reserved until the last task has ended. It
// reads no clock and does not know the future. On a simulated clock it makes the same decisions as
// [Run].
//
// Here the tasks of a job may take different times, and completed tasks stay completed. A job is
// lost when a running task of it fails or loses its worker: all its running tasks are Preempted,
// and it waits, in the position that [Run] describes, to run its unfinished tasks on as many
// workers. If a job exceeds its requested time, the request is doubled, repeatedly if necessary.
// The request of a job is its Estimate in seconds. Without an Estimate it is the work of its
// largest task, regardless of worker speeds, or 1 second without work. Priorities, deadlines and
// MaxWorkers are ignored.
//
// Tasks go to free workers in order of their numbers. If a task failed at this moment but its
// worker did not, workers with higher numbers than that worker come first, and that worker last.
//
// Jobs, workers and the tasks of a job are numbered from 0. A Maker must not be used by several
// goroutines at once.
type Maker struct {
	ledger  *dispatch.Ledger
	line    *schedule
	workers []place // by number
	after   int     // the worker that refused a task at this moment, or -1
}

// A place is the state of a worker: whether it may start tasks, and the job that holds it, or -1.
type place struct {
	up  bool
	job int
}

// NewMaker returns a decision maker at time 0 for workers of the given speeds, which must be > 0.
// More workers may join later. The error is a [num.InputError].
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

// Check returns the error of [Maker.Decide] and changes nothing.
func (m *Maker) Check(at float64, what []dispatch.Happening) error { return m.ledger.Check(at, what) }

// Decide applies what happens at the given time, and returns the events, as [dispatch.Maker.Decide]
// does.
func (m *Maker) Decide(at float64, what []dispatch.Happening) ([]dispatch.Event, error) {
	if err := m.apply(at, what); err != nil {
		return nil, err
	}
	m.line.decide()
	for _, i := range m.line.begun {
		m.begin(i)
	}
	return m.ledger.Events(), nil
}

// Apply replays earlier decisions, as [dispatch.Maker.Apply] does: m ends in the state of the Maker
// that returned these events.
func (m *Maker) Apply(at float64, what []dispatch.Happening, events []dispatch.Event) error {
	if err := m.apply(at, what); err != nil {
		return err
	}
	before := m.ledger.Events()
	for k, e := range before {
		if k == len(events) || e != events[k] {
			return input.Errorf(input.Index("Events", k),
				events[min(k, len(events)):], "%v, which follows from what happens",
				e)
		}
	}
	var list []int
	for k := len(before); k < len(events); k++ {
		e := events[k]
		switch err := m.ledger.Follow(e); {
		case err != nil:
			return input.Inside(input.Index("Events", k), err)
		case e.Kind != dispatch.Started || m.workers[e.Worker].job >= 0 && m.workers[e.Worker].job != e.Job:
			return input.Errorf(input.Index("Events", k), e, "a task that starts on a free worker")
		}
		m.workers[e.Worker].job = e.Job
		if !slices.Contains(list, e.Job) {
			list = append(list, e.Job)
		}
	}
	m.ledger.Events()
	for _, i := range list {
		if p, err := m.ledger.Progress(i); err != nil || p.AtWork != p.Left || m.line.jobs[i].stage != waiting {
			return input.Errorf("Events", i, "jobs that start with all their tasks")
		}
	}
	m.line.follow(list)
	return nil
}

// apply applies what happens at a moment, including its consequences for running jobs.
func (m *Maker) apply(at float64, what []dispatch.Happening) error {
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

// learn records the work of a finished task of a running job.
func (m *Maker) learn(h *dispatch.Happening) {
	if h.Kind == dispatch.Finished && m.known(h.Job) {
		j := &m.line.jobs[h.Job]
		j.runs = max(j.runs, h.Work)
	}
}

// submit adds a job, unless it was cancelled at the same moment.
func (m *Maker) submit(i int) {
	p, err := m.ledger.Progress(i)
	if err != nil || p.Stage != dispatch.JobPresent {
		return
	}
	m.line.reserveNumbers(i)
	j, _ := m.ledger.Job(i)
	asks := j.Work
	for _, w := range j.Works {
		asks = max(asks, w)
	}
	m.line.submit(i, j.Tasks, cmp.Or(j.Estimate, asks, minRequest))
}

// move records that a worker has joined, returned or left.
func (m *Maker) move(e dispatch.Event) {
	w := e.Worker
	if w == len(m.workers) {
		m.workers = append(m.workers, place{false, -1})
		m.line.join()
	}
	p := &m.workers[w]
	if e.Kind == dispatch.Returned {
		p.up = true
		if i, _, _, _ := m.ledger.Hand(w); i >= 0 && m.line.jobs[i].stage == running { // the worker was leaving
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

// follow updates the schedule after the tasks of a job have changed.
func (m *Maker) follow(i int, lost bool) {
	j := &m.line.jobs[i]
	p, err := m.ledger.Progress(i)
	isOver := err != nil || p.Stage != dispatch.JobPresent
	switch {
	case isOver && j.stage == running:
		if isLater(m.line.now, j.end()) {
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

// stop preempts the running tasks of a job.
func (m *Maker) stop(i int) {
	for w := range m.workers {
		if k, _, _, _ := m.ledger.Hand(w); k == i {
			if err := m.ledger.Preempt(w); err != nil {
				panic("rigid: a running task cannot be preempted: " + err.Error())
			}
		}
	}
}

// free releases the workers of a job.
func (m *Maker) free(i int) {
	for w := range m.workers {
		if m.workers[w].job == i {
			m.workers[w].job = -1
		}
	}
}

// begin starts the tasks of a job on free workers.
func (m *Maker) begin(i int) {
	left := m.line.jobs[i].size
	for k := 1; left > 0; k++ { // there are enough free workers
		w := (m.after + k) % len(m.workers)
		if p := &m.workers[w]; p.up && p.job < 0 {
			p.job = i
			left--
			if err := m.ledger.Begin(w, i); err != nil {
				panic("rigid: a waiting task cannot start: " + err.Error())
			}
		}
	}
}

// Hand returns the running task of a worker; see [dispatch.Maker.Hand].
func (m *Maker) Hand(worker int) (job, task, attempt int, since float64) {
	return m.ledger.Hand(worker)
}

// Forget removes a job that is done or cancelled; see [dispatch.Maker.Forget].
func (m *Maker) Forget(number int) error {
	err := m.ledger.Forget(number)
	if err == nil && number < len(m.line.jobs) {
		m.line.jobs[number] = job{}
	}
	return err
}

// Progress returns the progress of a job; see [dispatch.Maker.Progress]. Planned is the number of
// workers that the job holds.
func (m *Maker) Progress(job int) (dispatch.Progress, error) {
	p, err := m.ledger.Progress(job)
	if err == nil && m.known(job) && m.line.jobs[job].stage == running {
		p.Planned = m.line.jobs[job].held
	}
	return p, err
}

// Result summarizes everything until the last moment with the measures common to all policies; see
// [dispatch.Maker.Result]. There are no violations.
func (m *Maker) Result() *dispatch.Result { return m.ledger.Result() }

// Measures summarizes the same jobs with the measures of this package, for a threshold of the
// bounded slowdown in seconds, or 0 for 10. The run time of a job is the work of its largest task.
func (m *Maker) Measures(threshold float64) *Result {
	var jobs []dispatch.Job
	records, runs := []Record{}, []float64{}
	for _, rec := range m.ledger.Result().Jobs {
		j, _ := m.ledger.Job(rec.Job)
		own := &m.line.jobs[rec.Job]
		out := Record{Record: dispatch.Record{Job: rec.Job, Start: own.start, Finish: rec.Finish, Lost: rec.Lost}}
		// as in Run, where the moment differs by rounding
		if end := own.start + own.runs; !isLater(rec.Finish, end) && !isLater(end, rec.Finish) {
			out.Finish = end
		}
		own.record(&out)
		jobs, records, runs = append(jobs, j), append(records, out), append(runs, own.runs)
	}
	return summary(len(m.workers), threshold, m.line.sums, records, func(k int) (*dispatch.Job, float64) {
		return &jobs[k], runs[k]
	})
}
