package rigid

import (
	"cmp"
	"context"
	"math"
	"slices"

	"productform/dispatch"
	"productform/internal/eventqueue"
)

// checkEvery is the work between two checks of the context, measured in waiting and running jobs; a
// decision counts as 100 more. It takes a few milliseconds.
const checkEvery = 1e6

// Run runs the scenario on a simulated clock until all jobs have ended. At each moment at which
// jobs end or are submitted, or workers fail or return, the policy decides, after all these events,
// which jobs start. A job that takes no time ends at the moment at which it starts, and is followed
// by another decision at that time.
//
// A job is lost when one of its workers fails: it returns its other workers and waits, in its
// position in the order of the policy, to run again from the start. A job that requests more
// workers than are up is skipped until there are enough. Under Conservative, workers that return
// let all jobs move up, as when a job ends early. When workers fail, all reservations are renewed
// in their order, lost jobs first, and may move to later times. Jobs get the free workers with the
// lowest numbers; which workers these are matters only for outages.
//
// Events that follow the next event within 1e-12 of the clock time happen together with it, at the
// time of the last of them: first jobs end, then workers fail and return, then jobs are submitted.
// The policy also treats times that close as equal, so rounding never separates simultaneous
// events. Whole numbers of seconds, as in most logs, are not rounded at all.
//
// The result depends only on the scenario. Let q be the number of waiting jobs and s the number of
// running jobs. Under EASY a decision takes O(q + s). Under Conservative it takes O(q + s) per
// submitted job, and O((q + s) q) if jobs end early or workers fail or return. Under the other
// policies it takes O(q). Outages and Scenario.Events cost O(workers) per started job.
//
// The error is a [num.InputError], a [*dispatch.StrandedError], or the error of the context, which
// is checked every few milliseconds, but not within a decision.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	line := r.line
	for line.work = checkEvery; r.ended < len(s.Jobs); line.work += 100 + len(line.queue) + len(line.active) {
		if line.work >= checkEvery {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			line.work = 0
		}
		if len(r.ends) == 0 && len(r.submits) == 0 && r.returns == 0 {
			return nil, r.unfinishedJobs()
		}
		r.advance()
		line.decide()
		r.begin()
		if s.Watch != nil {
			s.Watch(r.ended)
		}
	}
	return r.result(), nil
}

// A run holds a simulated clock and the future events.
type run struct {
	s       *Scenario
	line    *schedule
	records []Record // by job
	submits []int    // future jobs, in order of submission
	edges   []dispatch.Edge
	returns int // number of future edges at which a worker returns
	ends    eventqueue.Queue[ending]
	ended   int // number of jobs that have ended
	due     []int
	hands   *hands // nil if it does not matter which worker serves which job
}

// ending is the end of a run of a job, which is void if the run is lost earlier.
type ending struct{ job, run int32 }

func newRun(s *Scenario) *run {
	r := &run{s: s, line: newSchedule(s.Policy, s.Workers, len(s.Jobs)), records: make([]Record, len(s.Jobs)),
		submits: make([]int, len(s.Jobs)), edges: dispatch.Edges(s.Outages)}
	r.line.isSafe = len(s.Outages) == 0
	if !r.line.isSafe || s.Events != nil {
		r.hands = newHands(s.Workers, len(s.Jobs), s.Events != nil)
	}
	for i := range s.Jobs {
		r.submits[i] = i
	}
	inTime := func(a, b int) int { return cmp.Compare(s.Jobs[a].Submit, s.Jobs[b].Submit) }
	if !slices.IsSortedFunc(r.submits, inTime) { // usually true for logs
		slices.SortStableFunc(r.submits, inTime)
	}
	for _, e := range r.edges {
		if e.Up {
			r.returns++
		}
	}
	return r
}

// isDue reports whether the next end is no later than the given time. It discards the ends of lost
// runs.
func (r *run) isDue(by float64) bool {
	for !r.line.isSafe && len(r.ends) > 0 {
		e := r.ends[0].Item
		if j := &r.line.jobs[e.job]; j.stage == running && j.run == e.run {
			break
		}
		r.ends.Pop()
	}
	return len(r.ends) > 0 && r.ends[0].Time <= by
}

// advance moves to the next moment and applies its events to the schedule.
func (r *run) advance() {
	first := math.Inf(1)
	if r.isDue(first) {
		first = r.ends[0].Time
	}
	if len(r.edges) > 0 {
		first = min(first, r.edges[0].Time)
	}
	if len(r.submits) > 0 {
		first = min(first, r.s.Jobs[r.submits[0]].Submit)
	}
	now, last := first, LastOf(first)
	r.due = r.due[:0]
	for r.isDue(last) {
		e := r.ends.Pop()
		now = max(now, e.Time)
		r.due = append(r.due, int(e.Item.job))
	}
	edges, submits := 0, 0
	for ; edges < len(r.edges) && r.edges[edges].Time <= last; edges++ {
		now = max(now, r.edges[edges].Time)
	}
	for ; submits < len(r.submits) && r.s.Jobs[r.submits[submits]].Submit <= last; submits++ {
		now = max(now, r.s.Jobs[r.submits[submits]].Submit)
	}
	r.line.reach(now, r.s.Workers)
	r.finish()
	var lost []int
	if edges > 0 {
		lost = r.applyOutages(r.edges[:edges])
		r.edges = r.edges[edges:]
	}
	r.line.settle()
	for _, i := range r.submits[:submits] {
		r.submit(i)
	}
	for _, i := range lost {
		r.hands.stop(i)
	}
	if submits > 0 {
		r.submits = r.submits[submits:]
	}
}

// finish ends the jobs that are due.
func (r *run) finish() {
	if r.hands != nil {
		slices.SortFunc(r.due, r.hands.compareStarts)
	}
	for _, i := range r.due {
		r.line.end(i)
		r.ended++
		if r.hands != nil {
			r.hands.finish(i)
		}
	}
}

// applyOutages lets workers fail and return, and returns the jobs that are lost, which wait again.
func (r *run) applyOutages(edges []dispatch.Edge) (lost []int) {
	slices.SortStableFunc(edges, func(a, b dispatch.Edge) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, e := range edges {
		if e.Up {
			r.returns--
			r.line.grow(-1)
			r.hands.restore(e.Worker)
			continue
		}
		i := r.hands.fail(e.Worker)
		if i >= 0 && !slices.Contains(lost, i) {
			lost = append(lost, i)
		}
		r.line.shrink(i)
	}
	for _, i := range lost {
		r.line.requeue(i, r.s.Jobs[i].Tasks)
		r.records[i].Lost += r.s.Jobs[i].Tasks
	}
	return lost
}

// submit submits a job.
func (r *run) submit(i int) {
	j := &r.s.Jobs[i]
	runs, asks, outlived := r.s.times(j)
	r.line.submit(i, j.Tasks, asks)
	r.line.jobs[i].runs, r.line.jobs[i].outlast = runs, outlived
	if r.hands != nil {
		r.hands.record(dispatch.Event{Kind: dispatch.Submitted, Job: i, Task: -1, Worker: -1})
	}
}

// begin schedules the ends of the jobs that start now.
func (r *run) begin() {
	now := r.line.now
	for _, i := range r.line.begun {
		j := &r.line.jobs[i]
		r.ends.Push(now+j.runs, ending{int32(i), j.run})
		r.records[i].Start, r.records[i].Finish = now, now+j.runs
		if r.hands != nil {
			r.hands.begin(i, j.size)
		}
	}
	if r.s.Events != nil {
		r.s.Events(now, r.hands.events)
		r.hands.events = r.hands.events[:0]
	}
}

// start of the last permanent outage
func (r *run) unfinishedJobs() error {
	e := &dispatch.StrandedError{Jobs: len(r.line.large), Job: slices.Min(r.line.large), Left: r.line.workers}
	e.Workers = r.s.Jobs[e.Job].Tasks
	for _, o := range r.s.Outages {
		if math.IsInf(o.To, 1) {
			e.Time = max(e.Time, o.From)
		}
	}
	return e
}
