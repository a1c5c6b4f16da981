package dispatch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"productform/internal/eventqueue"
)

// timeTol is the relative tolerance on clock times within which events count as simultaneous.
// Rounding distinguishes 3 × 0.1 seconds from 0.3 seconds, and a decision between the two would
// miss half of the events. The rounding error of sums of thousands of terms is below 1e-12.
const timeTol = 1e-12

// checkEvery is the work between two checks of the context, measured in workers and jobs present; a
// decision counts as 100 more. It takes a few milliseconds.
const checkEvery int = 1e5

// Run runs the scenario on a simulated clock until all jobs are done; a [Maker] decides. A decision
// is made at each moment at which jobs are submitted, tasks finish, workers fail or return, or a
// period ends. It follows everything else at that moment. The policy plans all workers that are up
// for all jobs present, as if no task were running.
//
// Running tasks are not interrupted, so the plan takes effect only as they finish. Idle workers,
// in the order of the policy, start tasks of the jobs planned for them if those jobs run on fewer
// workers than planned. The remaining idle workers then serve the other such jobs, in the order in
// which the policy gave these their first worker. So no worker is idle while a job has waiting
// tasks and may have more workers, unless spare workers are kept. A job starts its tasks in order;
// a lost task runs again before those that never started. Tasks that finish at the same moment do
// so in the order in which they started.
//
// Events that follow the next event within 1e-12 of the clock time happen together with it, at the
// time of the last of them: first tasks finish, then workers fail and return one after another,
// then jobs are submitted. So rounding never separates simultaneous events, and a task may take
// longer than its exact duration by that much.
//
// The result depends only on the scenario. A decision takes at most O(jobs present) time, and
// O(jobs with workers + log jobs) under all rules but Proportion, because plans are stored as
// shares of the list of workers. A moment at which workers join or leave, or at which more than 16
// tasks end, takes O(workers) more. Under Workload and Deadline, jobs with their own speeds add the
// cost given at [Policy.Assign] to each decision.
//
// The jobs present are kept in arrays sorted by priority and, if the policy uses it, by deadline.
// Removing a job moves the smaller of the two parts before and after it; jobs that arrive together
// are inserted in one pass. The events of a moment are sorted. Memory is proportional to the jobs,
// the outages and Learning.Window.
//
// The error is a [num.InputError], a [*StrandedError] as soon as the last worker has left for good,
// or the error of the context. The context is checked every thousand decisions, and before every
// decision if there are 1e5 workers and jobs present.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	m := r.maker
	for work := checkEvery; m.done < len(s.Jobs); work += 100 + len(s.Speeds) + len(m.byPriority.List()) {
		if work >= checkEvery {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			work = 0
		}
		if len(m.workers) == 0 && r.returns == 0 {
			return nil, r.unfinishedJobs()
		}
		now := r.advance()
		r.applyMoment(now)
		m.assign()
		m.execute()
		r.begin()
		if s.Watch != nil {
			r.decision = Decision{
				Time:    now,
				Events:  m.events,
				Present: m.byPriority.List(),
				Planned: m.planner.planned,
				Up:      m.up,
				Done:    m.done,
				maker:   m,
			}
			s.Watch(&r.decision)
		}
	}
	return m.result(m.records[:0]), nil
}

// A run holds a simulated clock and the future events.
type run struct {
	s     *Scenario
	maker *Maker

	submits []int // future jobs, in order of time
	edges   []Edge
	returns int // number of future edges at which a worker returns
	ends    eventqueue.Queue[ending]

	due []ending // ends at this moment

	decision Decision // for Watch
}

// ending is the end of an attempt, which is void if the worker loses the task earlier.
type ending struct{ worker, attempt int }

func newRun(s *Scenario) *run {
	r := &run{s: s, maker: newMaker(s.rules(), s.Speeds, len(s.Jobs)), submits: make([]int, len(s.Jobs))}
	r.maker.isRecording = s.Watch != nil
	for i := range s.Jobs {
		r.submits[i] = i
	}
	slices.SortStableFunc(r.submits, func(a, b int) int { return cmp.Compare(s.Jobs[a].Submit, s.Jobs[b].Submit) })
	r.edges = Edges(s.Outages)
	for _, e := range r.edges {
		if e.Up {
			r.returns++
		}
	}
	return r
}

// advance returns the next moment and collects in r.due the tasks that end then.
func (r *run) advance() float64 {
	replan := r.replan()
	first := replan
	if len(r.edges) > 0 {
		first = min(first, r.edges[0].Time)
	}
	if len(r.submits) > 0 {
		first = min(first, r.s.Jobs[r.submits[0]].Submit)
	}
	for len(r.ends) > 0 && !r.holds(r.ends[0].Item) {
		r.ends.Pop()
	}
	if len(r.ends) > 0 {
		first = min(first, r.ends[0].Time)
	}
	if math.IsInf(first, 1) {
		panic("dispatch: jobs are left and a worker is or will be up, but no event is scheduled")
	}

	now, last := first, first*(1+timeTol)
	if replan <= last {
		now = max(now, replan)
	}
	for k := 0; k < len(r.edges) && r.edges[k].Time <= last; k++ {
		now = max(now, r.edges[k].Time)
	}
	for k := 0; k < len(r.submits) && r.s.Jobs[r.submits[k]].Submit <= last; k++ {
		now = max(now, r.s.Jobs[r.submits[k]].Submit)
	}
	r.due = r.due[:0]
	for len(r.ends) > 0 && r.ends[0].Time <= last {
		if e := r.ends.Pop(); r.holds(e.Item) {
			r.due = append(r.due, e.Item)
			now = max(now, e.Time)
		}
	}
	return now
}

// replan returns the next time at which a plan is due even if nothing happens, or +Inf if there is
// none.
func (r *run) replan() float64 {
	if r.s.Replan == 0 || len(r.maker.byPriority.List()) == 0 {
		return math.Inf(1)
	}
	return NextReplan(r.maker.now, r.s.Replan)
}

// NextReplan returns the first multiple of a period that exceeds a time, in seconds, by more than
// 1e-12 of the time. It is for callers of a [Maker] who replan as [Run] does with [Scenario.Replan]
// > 0.
func NextReplan(now, period float64) float64 {
	after := now * (1 + timeTol)
	next := (math.Floor(after/period) + 1) * period
	if next <= after { // because of rounding
		next = (math.Floor(after/period) + 2) * period
	}
	return next
}

// holds reports whether the worker is still running the attempt.
func (r *run) holds(e ending) bool { return r.maker.hand[e.worker].attempt == e.attempt }

// applyMoment reports the events of a moment to the decision maker, in the order of [Maker.Decide].
func (r *run) applyMoment(now float64) {
	m := r.maker
	m.reach(now)
	slices.SortFunc(r.due, func(a, b ending) int { return cmp.Compare(a.attempt, b.attempt) })
	for _, e := range r.due {
		h := &m.hand[e.worker]
		j := &r.s.Jobs[h.job]
		work, seconds := j.work(h.task), 0.0
		if m.rules.Learning.Speeds {
			seconds = work / r.speed(e.worker, j)
		}
		m.finish(e.worker, h.job, h.task, e.attempt, work, seconds)
	}
	n := 0
	for n < len(r.edges) && r.edges[n].Time <= now {
		n++
	}
	edges := r.edges[:n]
	r.edges = r.edges[n:]
	slices.SortStableFunc(edges, func(a, b Edge) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, e := range edges {
		if e.Up {
			m.addWorker(e.Worker, 0)
			r.returns--
		} else {
			m.fail(e.Worker)
		}
	}
	for n = 0; n < len(r.submits) && r.s.Jobs[r.submits[n]].Submit <= now; n++ {
		m.submit(r.submits[n], &r.s.Jobs[r.submits[n]])
	}
	if n > 0 {
		m.add(r.submits[:n])
		r.submits = r.submits[n:]
	}
	m.listIdle()
}

// begin schedules the ends of the tasks that start now.
func (r *run) begin() {
	for _, w := range r.maker.begun {
		h := &r.maker.hand[w]
		j := &r.s.Jobs[h.job]
		r.ends.Push(h.since+j.work(h.task)/r.speed(w, j), ending{w, h.attempt})
	}
}

// speed returns the speed of a worker at the tasks of a job.
func (r *run) speed(w int, j *Job) float64 {
	if j.Speeds != nil {
		return j.Speeds[w]
	}
	return r.s.Speeds[w]
}

// unfinishedJobs returns the error for jobs that never finish.
func (r *run) unfinishedJobs() error {
	e := &StrandedError{Jobs: len(r.s.Jobs) - r.maker.done}
	e.Job = slices.IndexFunc(r.maker.tasks, func(t tasks) bool { return t.state != JobCompleted })
	for _, o := range r.s.Outages {
		if math.IsInf(o.To, 1) {
			e.Time = max(e.Time, o.From)
		}
	}
	return e
}
