package dispatch

import (
	"cmp"
	"slices"
	"sort"

	"productform/dispatch/internal/order"
	"productform/internal/input"
	"productform/internal/ranges"
)

// Rules are what a decision maker follows.
type Rules struct {
	Policy    Policy   `json:"policy"`
	Learning  Learning `json:"learning,omitzero"`
	Emergency float64  `json:"emergency,omitempty"` // as in Scenario
}

func (r *Rules) check() error {
	if err := r.Policy.check("Policy"); err != nil {
		return err
	}
	switch {
	case !ranges.IsWork(r.Learning.Default):
		return ranges.Work.ZeroFor("none").Check("Learning.Default", r.Learning.Default)
	case r.Learning.Window < 0:
		return input.Errorf("Learning.Window", r.Learning.Window, "an integer >= 0")
	case r.Learning.Window > 0 && r.Learning.Default == 0:
		return input.Errorf("Learning.Window", r.Learning.Window, "0 without a Default")
	case !ranges.IsTime(r.Emergency):
		return input.Errorf("Emergency", r.Emergency, "a priority in (0, 1e50], or 0 for none")
	}
	return nil
}

// A Maker is the decision maker of [L14], section 3.5.2: told what happens at a moment, it says which tasks begin on
// which workers, and which are taken from them. It reads no clock, draws no numbers and knows nothing of times to come.
// [Run] drives it on a simulated clock, a live system on a real one.
//
// Jobs and workers are numbers from 0, and so are the tasks of a job. A Maker is for one goroutine at a time.
type Maker struct {
	rules    Rules
	now      float64 // time of the last moment
	attempts int     // begun

	speeds []float64 // by worker
	up     []bool    // by worker: tasks are planned for it
	hand   []hand    // by worker

	jobs    []*Job   // by number, nil where there is none
	claims  claims   // by job
	tasks   []tasks  // by job
	records []Record // by job

	byPriority order.Order // jobs present
	byDeadline order.Order // likewise, if the policy asks for it
	active     []int       // jobs with tasks in hand
	done       int         // jobs completed

	planner *planner
	workers []int // that are up, in the order of the policy
	idle    []int // places in workers of those that have no task in hand
	leaving int   // workers that are not up and have a task in hand

	come    []int // jobs that come at this moment
	freed   []int // workers whose tasks ended at this moment
	averse  []int // workers that refused a task at this moment
	changed bool  // workers came or went at this moment
	begun   []int // workers that began tasks at this moment
	victims []int // for preempt

	isRecording bool // whether events are recorded
	events      []Event

	kinds map[string]*profiles // what is learnt of speeds, by kind of tasks

	totals Totals
}

// hand is what a worker has in hand.
type hand struct {
	job, task int // -1 if it is idle
	since     float64
	attempt   int // 0 if it is idle
}

func emptyHand() hand { return hand{job: -1, task: -1} }

// NewMaker returns a decision maker for workers of these speeds, > 0, at time 0; more may join. The error is a
// [num.InputError].
func NewMaker(r Rules, speeds []float64) (*Maker, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return plainMaker(r, speeds)
}

// plainMaker returns a maker of rules that are in order, or of none.
func plainMaker(r Rules, speeds []float64) (*Maker, error) {
	if err := checkEachSpeed("Speeds", speeds); err != nil {
		return nil, err
	}
	m := newMaker(r, slices.Clone(speeds), 0)
	m.isRecording = true
	return m, nil
}

// newMaker returns a decision maker with room for jobs, which does not record events.
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

// number makes room for jobs with numbers below n.
func (m *Maker) number(n int) {
	if more := n - len(m.jobs); more > 0 {
		m.jobs = append(m.jobs, make([]*Job, more)...)
		m.claims.grow(more)
		m.tasks = append(m.tasks, make([]tasks, more)...)
		m.records = append(m.records, make([]Record, more)...)
		m.planner.planned = append(m.planner.planned, make([]int, more)...)
	}
}

// Decide is told what happens at a time, in seconds >= 0 that never go back, and returns the events: what happened, then
// what it decided, which is tasks that are Started and those that are Preempted for them, as [Run] says. All that
// happens at one moment belongs in one call. Nothing may happen: that asks for a new plan.
//
// The order of what does not matter: attempts end, in the order in which they began; then workers come and go, jobs
// come, jobs change, tasks are given up, and jobs are cancelled. Only what happens to one worker, and the changes of one
// job, happen in the order given: a worker that fails and returns at one moment has lost its task.
//
// The first report of a task is its end. A report of an attempt that was taken from its worker counts too, if the task
// waits again or another attempt at it is in hand, which is Dropped. What comes too late is ignored: reports of tasks
// that have ended, what is asked of jobs that are done, workers that fail or leave while they are down or return while
// they are up.
//
// What cannot be is an error, and then nothing has changed: jobs, workers or attempts that there are not, a number in
// use, an attempt that is another one's, numbers out of range. It is a [num.InputError] with the path of the entry, such
// as What[3].Job. The cost is that of a decision of [Run], and O(workers + tasks of the job that wait again) for a late report.
func (m *Maker) Decide(at float64, what []Happening) ([]Event, error) {
	if err := m.Check(at, what); err != nil {
		return nil, err
	}
	m.step(at, sorted(what))
	m.assign()
	m.carryOut()
	events := m.events
	m.events = nil
	return events, nil
}

// step takes note of what happens at a moment, in order.
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
			if m.comeBack(h.Worker, h.Speed); isAnother {
				m.renew(h.Worker)
			}
		case Leaving:
			m.leave(h.Worker)
		case Submitted:
			for ; k < len(what) && what[k].Kind == Submitted; k++ {
				m.submit(what[k].Job, what[k].What)
				m.come = append(m.come, what[k].Job)
			}
			k--
			m.add(m.come)
			m.come = m.come[:0]
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

// reach moves to the time of a moment.
func (m *Maker) reach(at float64) {
	m.measure(at)
	m.now = at
	m.events, m.freed, m.begun, m.changed = m.events[:0], m.freed[:0], m.begun[:0], false
}

// listIdle lists the workers that are idle now that all has happened.
func (m *Maker) listIdle() {
	switch {
	case m.changed:
		m.listWorkers()
	case len(m.freed) > 16: // then to look at all is faster
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

// isBusy reports whether the worker at a place has a task in hand.
func (m *Maker) isBusy(at int) bool { return m.hand[m.workers[at]].job >= 0 }

// addIdle puts a worker that is up among the idle ones.
func (m *Maker) addIdle(w int) {
	at := m.planner.plan.Place[w]
	k, _ := slices.BinarySearch(m.idle, at)
	m.idle = slices.Insert(m.idle, k, at)
}

// listWorkers lists the workers that are up, and the idle ones among them, in the order of the policy.
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

// add puts jobs, at least one, among those present.
func (m *Maker) add(jobs []int) {
	m.byPriority.Add(jobs)
	if w := m.claims.present; w != nil {
		for _, i := range jobs {
			w.count(i, m.claims.of[i].work)
		}
	}
	if m.planner.looksAtDeadlines() {
		m.byDeadline.Add(jobs)
	}
}

// remove takes job i out of those present.
func (m *Maker) remove(i int) {
	m.byPriority.Remove(i)
	if w := m.claims.present; w != nil {
		w.drop(i, m.claims.of[i].work)
	}
	if m.planner.looksAtDeadlines() {
		m.byDeadline.Remove(i)
	}
}

// assign plans the workers that are up for the jobs present.
func (m *Maker) assign() {
	m.planner.assign(m.claims, m.byPriority.List(), m.byDeadline.List(), m.now)
}

// carryOut begins tasks as planned.
func (m *Maker) carryOut() {
	m.beginPlanned()
	m.averse = m.averse[:0]
	if m.rules.Emergency != 0 {
		m.preempt()
	}
	m.judge()
}

// beginPlanned begins tasks on the idle workers that are planned for a job that wants them, then what is left to do on the others.
func (m *Maker) beginPlanned() {
	p, idle := m.planner, m.idle
	left, k := idle[:0], 0 // of idle, those at places below k have had their turn
	for rest := p.plan.Shares; k < len(idle) && len(m.averse) == 0; {
		at := idle[k]
		rest = rest[sort.Search(len(rest), func(n int) bool { return rest[n].To > at }):]
		if len(rest) == 0 {
			break
		}
		for x := rest[0]; k < len(idle) && idle[k] < x.To; k++ {
			if idle[k] >= x.From && m.wants(x.Job) {
				m.begin(m.workers[idle[k]], x.Job)
			} else {
				left = append(left, idle[k])
			}
		}
	}
	left = append(left, idle[k:]...)
	turns, taken := m.turns(left), 0
	for _, j := range p.chosen {
		if taken == len(turns) {
			break
		}
		for ; taken < len(turns) && m.wants(j); taken++ {
			m.begin(m.workers[turns[taken]], j)
		}
	}
	if len(m.averse) == 0 {
		m.idle = slices.Delete(left, 0, taken)
	} else {
		m.idle = slices.DeleteFunc(left, m.isBusy)
	}
}

// turns returns the places of the idle workers in the order in which they take what the plan has left to do. At a moment with a
// refusal all do so, those first that follow the worker in the list, then those before it, and itself last: else a worker that
// can do no task of a job would have the last one again and again, while others are idle.
func (m *Maker) turns(idle []int) []int {
	if len(m.averse) == 0 {
		return idle
	}
	rank := m.planner.rank
	k, found := slices.BinarySearchFunc(idle, m.averse[len(m.averse)-1], func(at, w int) int { return cmp.Compare(rank[m.workers[at]], rank[w]) })
	if found {
		k++
	}
	isAverse := func(at int) bool { return slices.Contains(m.averse, m.workers[at]) }
	turns := slices.Concat(idle[k:], idle[:k])
	return append(slices.DeleteFunc(slices.Clone(turns), isAverse), slices.DeleteFunc(turns, func(at int) bool { return !isAverse(at) })...)
}

// wants reports whether job j runs on fewer workers than planned. Then it has a task to begin, since no more workers
// are planned than it has tasks that are not with workers that leave.
func (m *Maker) wants(j int) bool { return m.tasks[j].held < m.planner.planned[j] }

// preempt kills tasks in hand for the emergencies that run on fewer workers than planned.
func (m *Maker) preempt() {
	isUrgent := func(j int) bool { return m.claims.of[j].priority >= m.rules.Emergency }
	if !slices.ContainsFunc(m.planner.chosen, func(j int) bool { return isUrgent(j) && m.wants(j) }) {
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
		return cmp.Or(cmp.Compare(m.claims.of[a.job].priority, m.claims.of[b.job].priority), cmp.Compare(b.since, a.since), cmp.Compare(w, v))
	})
	rest := m.victims
	for _, j := range m.planner.chosen {
		for ; len(rest) > 0 && isUrgent(j) && m.wants(j); rest = rest[1:] {
			if w := rest[0]; !isSpared(m.hand[w].job) {
				m.lose(Preempted, w)
				m.begin(w, j)
			}
		}
	}
}

// tell records an event.
func (m *Maker) tell(what Kind, job, task, worker, attempt int) {
	if m.isRecording {
		m.events = append(m.events, Event{what, job, task, worker, attempt})
	}
}

// Hand returns what a worker has in hand, and since when. If that is nothing, or there is no such worker, job, task and
// since are -1 and attempt is 0.
func (m *Maker) Hand(worker int) (job, task, attempt int, since float64) {
	if worker < 0 || worker >= len(m.hand) || m.hand[worker].job < 0 {
		return -1, -1, 0, -1
	}
	h := m.hand[worker]
	return h.job, h.task, h.attempt, h.since
}

// Forget forgets a job that is done or cancelled. Its number may be used again, and should be, since each takes some
// hundred bytes; [Maker.Result] no longer tells of the job. The error is a [num.InputError].
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

// A Progress says how far a job is.
type Progress struct {
	Stage   Stage   `json:"stage"`
	Left    int     `json:"left"`               // tasks that have not ended
	AtWork  int     `json:"at_work"`            // of these, in the hands of workers
	Planned int     `json:"planned"`            // workers in the last plan
	Lost    int     `json:"lost,omitempty"`     // tasks in hand that were lost, each counted as often as it was
	GivenUp int     `json:"given_up,omitempty"` // tasks that ended without a result
	Start   float64 `json:"start"`              // time of the begin of the first task, -1 if none has begun
	Finish  float64 `json:"finish,omitempty"`   // time of the end of the last task, 0 before
}

// Progress returns how far a job is. The error is a [num.InputError] if there is no such job.
func (m *Maker) Progress(job int) (Progress, error) {
	if m.state(job) == unknown {
		return Progress{}, input.Errorf("Job", job, "a job that was submitted")
	}
	t, r := &m.tasks[job], &m.records[job]
	return Progress{t.state, t.open, t.held + t.leaving, m.planner.planned[job], r.Lost, r.GivenUp, r.Start, r.Finish}, nil
}
