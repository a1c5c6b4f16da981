package dispatch

import (
	"slices"

	"productform/internal/eventqueue"
	"productform/num"
)

// tasks holds the progress of a job.
type tasks struct {
	open    int             // number of tasks that have not ended
	next    int             // first task that never started
	held    int             // number of tasks running on workers that are up
	leaving int             // number of tasks running on workers that are leaving
	place   int             // index in Maker.active, if any task is running
	left    num.Sum         // work of the unfinished tasks; a num.Sum because works may differ greatly
	lost    eventqueue.Heap // tasks to run again before those that never started, lowest number first
	refused eventqueue.Heap // tasks to run again after those that never started

	learnt learner // learns the work of tasks from finished ones

	state  Stage
	before int // number of attempts started before the job arrived
}

// A Stage is the stage of a job in its life cycle.
type Stage string

// The stages of a job.
const (
	JobPresent   Stage = "present"
	JobCompleted Stage = "completed" // all tasks have ended
	JobCancelled Stage = "cancelled"

	unknown Stage = "" // no such job
)

// state returns the stage of a job. Any number is allowed.
func (m *Maker) state(job int) Stage {
	if job < 0 || job >= len(m.tasks) {
		return unknown
	}
	return m.tasks[job].state
}

// submit registers job j under number i without adding it to the jobs present.
func (m *Maker) submit(i int, j *Job) {
	m.number(i + 1)
	m.jobs[i] = j
	m.tasks[i] = tasks{state: JobPresent, open: j.Tasks, before: m.attempts}
	m.records[i] = Record{Job: i, Start: -1}
	for task := range j.Works {
		m.tasks[i].left.Add(j.Works[task])
	}
	m.claim(i)
	m.totals.addSubmission(j.Submit)
	m.record(Submitted, i, -1, -1, 0)
}

// begin starts the next task of job j on worker w.
func (m *Maker) begin(w, j int) {
	task := m.nextTask(j)
	m.tasks[j].takeOut(task)
	m.attempts++
	m.start(w, j, task)
}

// nextTask returns the task of job j to start next: a lost task if there is any, then a task that
// never started, then a refused one. If none is waiting, it returns the number of tasks.
func (m *Maker) nextTask(j int) int {
	t := &m.tasks[j]
	switch {
	case len(t.lost) > 0:
		return t.lost[0]
	case t.next == m.jobs[j].Tasks && len(t.refused) > 0:
		return t.refused[0]
	}
	return t.next
}

// start starts a task of job j on worker w. The caller must already have removed it from the
// waiting tasks.
func (m *Maker) start(w, j, task int) {
	t := &m.tasks[j]
	m.hand[w] = hand{j, task, m.now, m.attempts}
	if t.held+t.leaving == 0 {
		t.place = len(m.active)
		m.active = append(m.active, j)
	}
	t.held++
	if r := &m.records[j]; r.Start < 0 {
		r.Start = m.now
	}
	m.begun = append(m.begun, w)
	m.record(Started, j, task, w, m.attempts)
}

// release removes the running task from worker w.
func (m *Maker) release(what Kind, w int) {
	h := m.hand[w]
	m.hand[w] = emptyHand()
	m.freed = append(m.freed, w)
	t := &m.tasks[h.job]
	if m.up[w] {
		t.held--
	} else {
		t.leaving--
		m.leaving--
		m.estimate(h.job)
	}
	if t.held+t.leaving == 0 {
		last := len(m.active) - 1
		m.active[t.place] = m.active[last]
		m.tasks[m.active[t.place]].place = t.place
		m.active = m.active[:last]
	}
	m.record(what, h.job, h.task, w, h.attempt)
}

// finish ends a task, unless it has ended before, and learns from its actual work and duration.
func (m *Maker) finish(w, job, task, attempt int, work, seconds float64) {
	t := &m.tasks[job]
	switch h := &m.hand[w]; {
	case h.attempt == attempt:
		m.totals.Useful.Add(m.now - h.since)
		m.release(Finished, w)
		if m.rules.Learning.Speeds {
			m.learnSpeed(w, job, task, seconds)
		}
	case t.state == JobPresent && attempt > t.before && m.reclaim(job, task):
		m.record(Finished, job, task, w, attempt)
	default:
		return
	}
	if m.rules.Learning.Default > 0 {
		t.learnt.learn(work, m.rules.Learning.Window)
	}
	m.end(job, task)
}

// reclaim removes a task that has started and not ended from the waiting tasks or from its worker,
// and reports whether there was such a task.
func (m *Maker) reclaim(job, task int) bool {
	t := &m.tasks[job]
	if t.lost.TakeOut(task) || t.refused.TakeOut(task) {
		return true
	}
	w := slices.IndexFunc(m.hand, func(h hand) bool { return h.job == job && h.task == task })
	if w >= 0 {
		m.drop(w)
	}
	return w >= 0
}

// takeOut removes a task from the waiting tasks, and reports whether it was among them.
func (t *tasks) takeOut(task int) bool {
	if task == t.next {
		t.next++
		return true
	}
	return t.lost.TakeOut(task) || t.refused.TakeOut(task)
}

// drop takes a task that is no longer needed from worker w.
func (m *Maker) drop(w int) {
	m.totals.Wasted.Add(m.now - m.hand[w].since)
	m.release(Dropped, w)
}

// end counts a task of job i as ended.
func (m *Maker) end(i, task int) {
	t := &m.tasks[i]
	if works := m.jobs[i].Works; works != nil {
		t.left.Add(-works[task])
	}
	t.open--
	m.estimate(i)
	if t.open == 0 {
		m.remove(i)
		m.records[i].Finish = m.now
		m.totals.Last = m.now
		m.tasks[i] = tasks{state: JobCompleted}
		m.done++
		m.record(Completed, i, -1, -1, 0)
	}
}

// claim gives the planner the properties of job i that rarely change.
func (m *Maker) claim(i int) {
	j := m.jobs[i]
	m.claims.of[i] = claim{priority: j.Priority, due: due(j.Deadline), submit: j.Submit}
	m.claims.setSpeeds(i, j.Speeds)
	if p := m.kinds[j.Kind]; p != nil && j.Speeds == nil {
		m.claims.setSpeeds(i, p.reportedSpeeds(m.speeds))
	}
	m.estimate(i)
}

// estimate gives the planner the remaining work of job i and the number of workers that it can use.
// Tasks on leaving workers stay there; a job whose tasks are all on leaving workers is omitted from
// plans.
func (m *Maker) estimate(i int) {
	j, t, q := m.jobs[i], &m.tasks[i], &m.claims.of[i]
	most := t.open - t.leaving
	if j.MaxWorkers > 0 {
		most = max(0, min(most, j.MaxWorkers-t.leaving))
	}
	q.maxWorkers = most
	before := q.work
	switch {
	case most == 0:
		q.work = 0
	case m.rules.Learning.Default > 0 && t.learnt.Seen == 0:
		q.work = float64(t.open) * m.rules.Learning.Default
	case m.rules.Learning.Default > 0:
		q.work = float64(t.open) * t.learnt.Mean
	case j.Estimate > 0:
		q.work = float64(t.open) * j.Estimate
	case j.Works == nil:
		q.work = float64(t.open) * j.Work
	default:
		q.work = max(0, t.left.Value())
	}
	if w := m.claims.present; w != nil {
		w.change(i, before, q.work)
	}
}

// refuse puts a task behind all other waiting tasks of its job, and its worker behind all other
// idle workers.
func (m *Maker) refuse(h *Happening) {
	if x := m.hand[h.Worker]; x.attempt == h.Attempt {
		m.release(Refused, h.Worker)
		m.tasks[h.Job].refused.Add(h.Task)
		m.refusers = append(m.refusers, h.Worker)
		m.totals.Wasted.Add(m.now - x.since)
	}
}

// lose removes the task of worker w, which will run again from the start.
func (m *Maker) lose(what Kind, w int) {
	h := m.hand[w]
	m.release(what, w)
	m.tasks[h.job].lost.Add(h.task)
	m.records[h.job].Lost++
	m.totals.Wasted.Add(m.now - h.since)
}

// giveUp ends a task that has started without a result, unless it has ended before.
func (m *Maker) giveUp(job, task int) {
	if m.state(job) == JobPresent && m.reclaim(job, task) {
		m.records[job].GivenUp++
		m.record(GivenUp, job, task, -1, 0)
		m.end(job, task)
	}
}

// cancel removes job i from the cluster.
func (m *Maker) cancel(i int) {
	if m.state(i) != JobPresent {
		return
	}
	for w, h := range m.hand {
		if h.job == i {
			m.drop(w)
		}
	}
	m.remove(i)
	m.claims.of[i].maxWorkers = 0
	m.tasks[i] = tasks{state: JobCancelled}
	m.record(Cancelled, i, -1, -1, 0)
}

// change gives job i the priority and the deadline of another job.
func (m *Maker) change(i int, to *Job) {
	if m.state(i) != JobPresent {
		return
	}
	m.remove(i)
	m.jobs[i].Priority, m.jobs[i].Deadline = to.Priority, to.Deadline
	m.claim(i)
	m.add([]int{i})
	m.record(Changed, i, -1, -1, 0)
}

// fail marks worker w as down; its running task is lost.
func (m *Maker) fail(w int) {
	if m.hand[w].job >= 0 {
		m.lose(Lost, w)
	} else if !m.up[w] {
		return
	}
	m.up[w], m.changed = false, true
	m.record(Failed, -1, -1, w, 0)
}

// leave marks worker w as leaving; it keeps its running task.
func (m *Maker) leave(w int) {
	if !m.up[w] {
		return
	}
	m.up[w], m.changed = false, true
	if j := m.hand[w].job; j >= 0 {
		m.leaving++
		m.tasks[j].held--
		m.tasks[j].leaving++
		m.estimate(j)
	}
	m.record(Leaving, -1, -1, w, 0)
}

// addWorker marks worker w as up, or adds it if it is new. A speed of 0 keeps the old speed.
func (m *Maker) addWorker(w int, speed float64) {
	switch {
	case w == len(m.speeds):
		m.join(speed)
	case m.up[w]:
		return
	case speed != 0 && speed != m.speeds[w]:
		m.speeds[w] = speed
		m.planner = newPlanner(m.rules.Policy, m.speeds, len(m.jobs))
		m.renew(w)
	}
	if j := m.hand[w].job; j >= 0 {
		m.leaving--
		m.tasks[j].leaving--
		m.tasks[j].held++
		m.estimate(j)
	}
	m.up[w], m.changed = true, true
	m.record(Returned, -1, -1, w, 0)
}

// join adds a worker. Jobs with their own list of speeds have no entry for it and use its general
// speed.
func (m *Maker) join(speed float64) {
	m.speeds = append(m.speeds, speed)
	m.up, m.hand = append(m.up, false), append(m.hand, emptyHand())
	for i, j := range m.jobs {
		if j != nil && j.Speeds != nil {
			j.Speeds = append(j.Speeds, speed)
			m.claims.setSpeeds(i, j.Speeds)
		}
	}
	m.planner = newPlanner(m.rules.Policy, m.speeds, len(m.jobs))
	m.renew(len(m.speeds) - 1)
}
