package dispatch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"productform/internal/eventqueue"
)

// timeTol is the part of the time on the clock within which all happens at the same time. Rounding tells 3 × 0.1 seconds
// from 0.3 seconds, and a decision between the two would be made on half of what happens. Sums of thousands of terms are
// rounded by no more than 1e-12.
const timeTol = 1e-12

// checkEvery is the work between two looks at the context, in workers and jobs present; a decision counts as 100 more. It
// takes some milliseconds.
const checkEvery int = 1e5

// Run runs the scenario on a simulated clock until all jobs are done; a [Maker] decides. At each moment at which jobs
// are submitted, tasks finish, or workers fail or return, or a period ends, after all that happens then, the policy
// plans all workers that are up for all jobs present, tasks in hand counted as not begun. The plan is put into effect
// as far as tasks in hand allow, which are not cut: idle workers, in the order of the policy, begin tasks of the jobs
// planned for them, if those run on fewer workers than planned, and then the ones left of other such jobs, in the order
// in which the policy gave these their first worker. So no worker is idle while tasks wait of a job that may have more
// workers, unless spare workers are kept. A job begins its tasks in their order, a lost one again before those that
// never began; tasks that finish at the same moment do so in the order in which they began.
//
// What would happen after the next event by no more than 1e-12 of the time on the clock happens with it, at the time of
// the last of all these: first tasks finish, then workers fail and return, one after the other, then jobs are
// submitted. So rounding tells no times apart, and a task may take longer than it should by as much.
//
// The result depends on nothing but the scenario. A decision takes O(jobs present) at most, under all rules but Proportion
// O(jobs with workers + log jobs), since plans are kept as shares of the list of workers; a moment at which workers come
// or go, or more than 16 tasks end, takes O(workers) more, and each under Workload and Deadline as much more as
// [Policy.Assign] says if jobs have speeds of their own. The jobs present are kept in order of priority and, if the policy asks for it, of deadline, in
// arrays: a job that goes moves those before it or those after it, whichever are fewer, and jobs that come together do
// so once. What happens at one moment is sorted. Memory is that of the jobs, the outages and Learning.Window. The error
// is an [num.InputError], a [*StrandedError] as soon as the last worker is gone for good, or that of the context, which
// is looked at every thousand decisions, and before each of them with 1e5 workers and jobs present.
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
			return nil, r.stranded()
		}
		now := r.advance()
		r.happens(now)
		m.assign()
		m.carryOut()
		r.begin()
		if s.Watch != nil {
			r.decision = Decision{Time: now, Events: m.events, Present: m.byPriority.List(), Planned: m.planner.planned, Up: m.up, Done: m.done, maker: m}
			s.Watch(&r.decision)
		}
	}
	return m.result(m.records[:0]), nil
}

// A run is a simulated clock and what is to come.
type run struct {
	s     *Scenario
	maker *Maker

	submits []int // jobs to come, in order of time
	edges   []Edge
	returns int // edges at which a worker returns
	ends    eventqueue.Queue[ending]

	due []ending // of this moment

	decision Decision // for Watch
}

// ending is the end of an attempt, unless its worker loses it before.
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

// advance returns the next moment, and takes note of the tasks that end then.
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
		panic("dispatch: a worker is up, or will be, and jobs are left, but nothing happens any more")
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

// replan returns the next time at which a new plan is asked for though nothing happens, +Inf if there is none.
func (r *run) replan() float64 {
	if r.s.Replan == 0 || len(r.maker.byPriority.List()) == 0 {
		return math.Inf(1)
	}
	return NextReplan(r.maker.now, r.s.Replan)
}

// NextReplan returns the next multiple of a period after a time, in seconds, for callers of a [Maker] who plan as [Run]
// does with [Scenario.Replan] > 0: the first one that is later by more than 1e-12 of the time.
func NextReplan(now, period float64) float64 {
	after := now * (1 + timeTol)
	next := (math.Floor(after/period) + 1) * period
	if next <= after { // rounded
		next = (math.Floor(after/period) + 2) * period
	}
	return next
}

// holds reports whether the worker still has the task in hand.
func (r *run) holds(e ending) bool { return r.maker.hand[e.worker].attempt == e.attempt }

// happens tells the decision maker what happens now, in the order of a moment.
func (r *run) happens(now float64) {
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
			m.comeBack(e.Worker, 0)
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

// begin puts the tasks that begin now on the clock.
func (r *run) begin() {
	for _, w := range r.maker.begun {
		h := &r.maker.hand[w]
		j := &r.s.Jobs[h.job]
		r.ends.Push(h.since+j.work(h.task)/r.speed(w, j), ending{w, h.attempt})
	}
}

// speed returns that of a worker at the tasks of a job.
func (r *run) speed(w int, j *Job) float64 {
	if j.Speeds != nil {
		return j.Speeds[w]
	}
	return r.s.Speeds[w]
}

// stranded says which jobs never finish.
func (r *run) stranded() error {
	e := &StrandedError{Jobs: len(r.s.Jobs) - r.maker.done}
	e.Job = slices.IndexFunc(r.maker.tasks, func(t tasks) bool { return t.state != JobCompleted })
	for _, o := range r.s.Outages {
		if math.IsInf(o.To, 1) {
			e.Time = max(e.Time, o.From)
		}
	}
	return e
}
