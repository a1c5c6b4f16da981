package dispatch

import (
	"cmp"
	"slices"
	"sort"

	"productform/internal/input"
)

// Rules configures a decision maker.
type Rules struct {
	Policy    Policy   `json:"policy"`
	Learning  Learning `json:"learning,omitzero"`
	Emergency float64  `json:"emergency,omitempty"` // as in [Scenario]
}

func (r *Rules) check() error {
	if err := r.Policy.check("Policy"); err != nil {
		return err
	}
	switch {
	case !input.IsWork(r.Learning.Default):
		return input.Work.ZeroFor("none").Check("Learning.Default", r.Learning.Default)
	case r.Learning.Window < 0:
		return input.Errorf("Learning.Window", r.Learning.Window, "an integer >= 0")
	case r.Learning.Window > 0 && r.Learning.Default == 0:
		return input.Errorf("Learning.Window", r.Learning.Window, "0 without a Default")
	case !input.IsTime(r.Emergency):
		return input.Errorf("Emergency", r.Emergency, "a priority in (0, 1e50], or 0 for none")
	}
	return nil
}

// A Maker is the decision maker of [L14], section 3.5.2. Given what happens at a moment, it decides
// which tasks start on which workers and which running tasks are preempted. It reads no clock,
// draws no random numbers and does not know the future. [Run] drives it on a simulated clock, a
// live system on a real one.
//
// Jobs, workers and the tasks of a job are numbered from 0. A Maker must not be used by several
// goroutines at once.
type Maker struct {
	rules    Rules
	now      float64 // time of the last moment
	attempts int     // number of attempts started so far

	speeds []float64 // by worker
	up     []bool    // by worker: whether tasks are planned for it
	hand   []hand    // by worker

	jobs    []*Job   // by number, nil if the number is unused
	claims  claims   // by job
	tasks   []tasks  // by job
	records []Record // by job

	byPriority jobOrder // jobs present
	byDeadline jobOrder // the same jobs, if the policy uses deadlines
	active     []int    // jobs with running tasks
	done       int      // number of completed jobs

	planner *planner
	workers []int // workers that are up, in the order of the policy
	idle    []int // indices in workers of idle workers
	leaving int   // workers that are not up but still run a task

	arriving []int // jobs that arrive at this moment
	freed    []int // workers whose tasks ended at this moment
	refusers []int // workers that refused a task at this moment
	changed  bool  // whether workers joined or left at this moment
	begun    []int // workers that started tasks at this moment
	victims  []int // scratch of preempt

	isRecording bool // whether events are recorded
	events      []Event

	kinds map[string]*profiles // learnt speeds, by kind of task

	totals Totals
}

// hand is the running task of a worker.
type hand struct {
	job, task int // -1 if it is idle
	since     float64
	attempt   int // 0 if it is idle
}

func emptyHand() hand { return hand{job: -1, task: -1} }

// NewMaker returns a decision maker at time 0 for workers of the given speeds, which must be > 0.
// More workers may join later. The error is a [num.InputError].
func NewMaker(r Rules, speeds []float64) (*Maker, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return plainMaker(r, speeds)
}

// plainMaker returns a maker whose rules are either valid or empty.
func plainMaker(r Rules, speeds []float64) (*Maker, error) {
	if err := checkEachSpeed("Speeds", speeds); err != nil {
		return nil, err
	}
	m := newMaker(r, slices.Clone(speeds), 0)
	m.isRecording = true
	return m, nil
}

// newMaker returns a decision maker with space for a number of jobs. It does not record events.
func newMaker(r Rules, speeds []float64, jobs int) *Maker {
	m := &Maker{
		rules: r, speeds: speeds, up: make([]bool, len(speeds)), hand: make([]hand, len(speeds)),
		planner: newPlanner(r.Policy, speeds, 0),
	}
	for w := range speeds {
		m.up[w] = true
		m.hand[w] = emptyHand()
	}
	if r.Policy.Rule == Proportion {
		m.claims.present = &workSum{}
	}
	m.byPriority.Compare, m.byDeadline.Compare = m.claims.moreUrgent, m.claims.dueEarlier
	m.number(jobs)
	m.listWorkers()
	return m
}

// number extends the tables to jobs with numbers below n.
func (m *Maker) number(n int) {
	if more := n - len(m.jobs); more > 0 {
		m.jobs = append(m.jobs, make([]*Job, more)...)
		m.claims.grow(more)
		m.tasks = append(m.tasks, make([]tasks, more)...)
		m.records = append(m.records, make([]Record, more)...)
		m.planner.planned = append(m.planner.planned, make([]int, more)...)
	}
}

// Decide applies what happens at the given time, in seconds >= 0 that never decrease, and returns
// the events: first what happened, then the decisions, which are tasks that are Started and tasks
// that are Preempted for them (see [Run]). Everything that happens at one moment belongs in one
// call. An empty list requests a new plan.
//
// The order of the list does not matter. Attempts end first, in the order in which they started;
// then workers leave and return, jobs arrive, jobs change, tasks are given up, and jobs are
// cancelled. Only entries about one worker, and changes of one job, apply in the order given: a
// worker that fails and returns at one moment has lost its task.
//
// The first report of a task ends it. A report of an attempt that was taken from its worker also
// counts if the task is waiting again, or if another attempt at it is running; that attempt is then
// Dropped. Late entries are ignored: reports of tasks that have ended, requests for jobs that are
// done, workers that fail or leave while down, and workers that return while up.
//
// Impossible entries are errors, and then nothing has changed: unknown jobs, workers or attempts,
// numbers already in use, attempts that belong to another task, and numbers out of range. The error
// is a [num.InputError] with the path of the entry, such as What[3].Job. A call costs as much as a
// decision of [Run], plus O(workers + waiting tasks of the job that started before) for a late
// report.
func (m *Maker) Decide(at float64, what []Happening) ([]Event, error) {
	if err := m.Check(at, what); err != nil {
		return nil, err
	}
	m.step(at, sorted(what))
	m.assign()
	m.execute()
	events := m.events
	m.events = nil
	return events, nil
}

// step applies what happens at a moment, in order.
func (m *Maker) step(at float64, what []Happening) {
	m.reach(at)
	for k := 0; k < len(what); k++ {
		switch h := &what[k]; h.Kind {
		case Finished:
			m.finish(h.Worker, h.Job, h.Task, h.Attempt, h.Work, h.Seconds)
		case Refused:
			m.refuse(h)
		case Failed:
			m.fail(h.Worker)
		case Returned:
			isAnother := h.New && h.Worker < len(m.up) && !m.up[h.Worker]
			if m.addWorker(h.Worker, h.Speed); isAnother {
				m.renew(h.Worker)
			}
		case Leaving:
			m.leave(h.Worker)
		case Submitted:
			for ; k < len(what) && what[k].Kind == Submitted; k++ {
				m.submit(what[k].Job, what[k].What)
				m.arriving = append(m.arriving, what[k].Job)
			}
			k--
			m.add(m.arriving)
			m.arriving = m.arriving[:0]
		case Changed:
			m.change(h.Job, h.What)
		case GivenUp:
			m.giveUp(h.Job, h.Task)
		case Cancelled:
			m.cancel(h.Job)
		}
	}
	m.listIdle()
}

// reach advances the clock to a moment.
func (m *Maker) reach(at float64) {
	m.measure(at)
	m.now = at
	m.events, m.freed, m.begun, m.changed = m.events[:0], m.freed[:0], m.begun[:0], false
}

// listIdle updates the list of idle workers once everything at the moment has been applied.
func (m *Maker) listIdle() {
	switch {
	case m.changed:
		m.listWorkers()
	case len(m.freed) > 16: // scanning all workers is faster
		m.idle = m.idle[:0]
		for at := range m.workers {
			if !m.isBusy(at) {
				m.idle = append(m.idle, at)
			}
		}
	default:
		for _, w := range m.freed {
			if m.up[w] {
				m.addIdle(w)
			}
		}
	}
}

// isBusy reports whether the worker at an index of workers is running a task.
func (m *Maker) isBusy(at int) bool { return m.hand[m.workers[at]].job >= 0 }

// addIdle adds a worker that is up to the idle workers.
func (m *Maker) addIdle(w int) {
	at := m.planner.plan.Place[w]
	k, _ := slices.BinarySearch(m.idle, at)
	m.idle = slices.Insert(m.idle, k, at)
}

// listWorkers lists the workers that are up, and the idle ones among them, in the order of the
// policy.
func (m *Maker) listWorkers() {
	m.workers, m.idle = m.workers[:0], m.idle[:0]
	for _, w := range m.planner.order {
		if m.up[w] {
			if m.hand[w].job < 0 {
				m.idle = append(m.idle, len(m.workers))
			}
			m.workers = append(m.workers, w)
		}
	}
	m.planner.setWorkers(m.workers)
}

// add adds jobs, at least one, to those present.
func (m *Maker) add(jobs []int) {
	m.byPriority.Add(jobs)
	if w := m.claims.present; w != nil {
		for _, i := range jobs {
			w.count(i, m.claims.of[i].work)
		}
	}
	if m.planner.usesDeadlines() {
		m.byDeadline.Add(jobs)
	}
}

// remove removes job i from those present.
func (m *Maker) remove(i int) {
	m.byPriority.Remove(i)
	if w := m.claims.present; w != nil {
		w.drop(i, m.claims.of[i].work)
	}
	if m.planner.usesDeadlines() {
		m.byDeadline.Remove(i)
	}
}

// assign plans the workers that are up for the jobs present.
func (m *Maker) assign() {
	m.planner.assign(m.claims, m.byPriority.List(), m.byDeadline.List(), m.now)
}

// execute starts tasks as planned.
func (m *Maker) execute() {
	m.beginPlanned()
	m.refusers = m.refusers[:0]
	if m.rules.Emergency != 0 {
		m.preempt()
	}
	m.judge()
}

// beginPlanned starts tasks on idle workers whose planned job needs a worker. The other idle
// workers then serve the remaining jobs that need one.
func (m *Maker) beginPlanned() {
	p, idle := m.planner, m.idle
	left, k := idle[:0], 0 // entries of idle before k are settled
	for rest := p.plan.Shares; k < len(idle) && len(m.refusers) == 0; {
		at := idle[k]
		rest = rest[sort.Search(len(rest), func(n int) bool { return rest[n].To > at }):]
		if len(rest) == 0 {
			break
		}
		for x := rest[0]; k < len(idle) && idle[k] < x.To; k++ {
			if idle[k] >= x.From && m.needsWorker(x.Job) {
				m.begin(m.workers[idle[k]], x.Job)
			} else {
				left = append(left, idle[k])
			}
		}
	}
	left = append(left, idle[k:]...)
	turns, taken := m.turnOrder(left), 0
	for _, j := range p.chosen {
		if taken == len(turns) {
			break
		}
		for ; taken < len(turns) && m.needsWorker(j); taken++ {
			m.begin(m.workers[turns[taken]], j)
		}
	}
	if len(m.refusers) == 0 {
		m.idle = slices.Delete(left, 0, taken)
	} else {
		m.idle = slices.DeleteFunc(left, m.isBusy)
	}
}

// turnOrder returns the idle workers in the order in which they serve the jobs that still need
// workers. Without refusals at this moment that is the order of the list. After a refusal the
// workers that follow the refusing worker come first, then those before it, and refusing workers
// last. Otherwise a worker that cannot run any task of a job would repeatedly get the last task
// while other workers are idle.
func (m *Maker) turnOrder(idle []int) []int {
	if len(m.refusers) == 0 {
		return idle
	}
	rank := m.planner.rank
	k, found := slices.BinarySearchFunc(idle, m.refusers[len(m.refusers)-1], func(at, w int) int {
		return cmp.Compare(rank[m.workers[at]], rank[w])
	})
	if found {
		k++
	}
	isAverse := func(at int) bool { return slices.Contains(m.refusers, m.workers[at]) }
	turns := slices.Concat(idle[k:], idle[:k])
	return append(slices.DeleteFunc(slices.Clone(turns), isAverse), slices.DeleteFunc(turns, func(at int) bool {
		return !isAverse(at)
	})...)
}

// needsWorker reports whether job j runs on fewer workers than planned. If so, it has a waiting
// task, since a plan never exceeds the number of its tasks that are not on leaving workers.
func (m *Maker) needsWorker(j int) bool { return m.tasks[j].held < m.planner.planned[j] }

// preempt kills running tasks in favour of emergencies that run on fewer workers than planned.
func (m *Maker) preempt() {
	isUrgent := func(j int) bool { return m.claims.of[j].priority >= m.rules.Emergency }
	if !slices.ContainsFunc(m.planner.chosen, func(j int) bool { return isUrgent(j) && m.needsWorker(j) }) {
		return
	}
	isSpared := func(j int) bool { return m.tasks[j].held <= m.planner.planned[j] }
	m.victims = m.victims[:0]
	for w, h := range m.hand {
		if h.job >= 0 && m.up[w] && !isUrgent(h.job) && !isSpared(h.job) {
			m.victims = append(m.victims, w)
		}
	}
	slices.SortFunc(m.victims, func(v, w int) int {
		a, b := m.hand[v], m.hand[w]
		return cmp.Or(
			cmp.Compare(m.claims.of[a.job].priority, m.claims.of[b.job].priority), cmp.Compare(b.since, a.since),
			cmp.Compare(w, v),
		)
	})
	rest := m.victims
	for _, j := range m.planner.chosen {
		for ; len(rest) > 0 && isUrgent(j) && m.needsWorker(j); rest = rest[1:] {
			if w := rest[0]; !isSpared(m.hand[w].job) {
				m.lose(Preempted, w)
				m.begin(w, j)
			}
		}
	}
}

// record records an event.
func (m *Maker) record(what Kind, job, task, worker, attempt int) {
	if m.isRecording {
		m.events = append(m.events, Event{what, job, task, worker, attempt})
	}
}

// Hand returns the running task of a worker and its start time. For an idle or unknown worker, job,
// task and since are -1 and attempt is 0.
func (m *Maker) Hand(worker int) (job, task, attempt int, since float64) {
	if worker < 0 || worker >= len(m.hand) || m.hand[worker].job < 0 {
		return -1, -1, 0, -1
	}
	h := m.hand[worker]
	return h.job, h.task, h.attempt, h.since
}

// Forget removes a job that is done or cancelled. Its number should be reused, since each number
// takes several hundred bytes. [Maker.Result] no longer includes the job. The error is a
// [num.InputError].
func (m *Maker) Forget(job int) error {
	switch m.state(job) {
	case unknown:
		return input.Errorf("Job", job, "a job that was submitted")
	case JobPresent:
		return input.Errorf("Job", job, "a job that is done or cancelled")
	case JobCompleted:
		m.done--
	}
	m.jobs[job], m.tasks[job], m.records[job] = nil, tasks{}, Record{}
	m.claims.of[job] = claim{}
	m.claims.setSpeeds(job, nil)
	return nil
}

// Progress is the progress of a job.
type Progress struct {
	Stage   Stage   `json:"stage"`
	Left    int     `json:"left"`               // tasks that have not ended, including running ones
	AtWork  int     `json:"at_work"`            // running tasks
	Planned int     `json:"planned"`            // workers in the last plan
	Lost    int     `json:"lost,omitempty"`     // losses of running tasks
	GivenUp int     `json:"given_up,omitempty"` // tasks that ended without a result
	Start   float64 `json:"start"`              // start time of the first task, -1 if none has started
	Finish  float64 `json:"finish,omitempty"`   // finish time of the last task, 0 before
}

// Progress returns the progress of a job. The error is a [num.InputError] if the job is unknown.
func (m *Maker) Progress(job int) (Progress, error) {
	if m.state(job) == unknown {
		return Progress{}, input.Errorf("Job", job, "a job that was submitted")
	}
	t, r := &m.tasks[job], &m.records[job]
	return Progress{
		t.state, t.open, t.held + t.leaving, m.planner.planned[job], r.Lost, r.GivenUp, r.Start, r.Finish,
	}, nil
}
