package rigid

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"productform/dispatch"
	"productform/internal/eventqueue"
)

// checkEvery is the work between two looks at the context, in jobs that wait and jobs in hand; a decision counts as 100 more.
// It takes some milliseconds.
const checkEvery = 1e6

// Run runs the scenario on a simulated clock until all jobs have ended. At each moment at which jobs end or are submitted, or
// workers fail or return, after all of these, the policy decides which jobs begin. A job that takes no time ends at the moment
// at which it begins, and is followed by one more decision at that time.
//
// A job that has a worker which fails is lost: it gives back its other workers and waits again, in its place in the order of
// the policy, to run from its beginning. A job that asks for more workers than are up is passed over until there are enough.
// Under Conservative workers that return let all jobs move up, like a job that ends early; when workers fail all reservations
// are made anew, in their order, lost jobs first, and may move to later times. Which workers a job has matters to outages
// alone: it takes those with the lowest numbers of the free ones.
//
// What would happen after the next event by no more than 1e-12 of the time on the clock happens with it, at the time of
// the last of all these: first jobs end, then workers fail and return, then jobs are submitted. Times that differ by as little
// count as equal to the policy, so that rounding tells no times apart. Numbers of seconds that are whole, as in most logs, are
// not rounded at all.
//
// The result depends on nothing but the scenario. With q jobs that wait and s jobs in hand, a decision takes O(q + s) under
// EASY, for each job that is submitted O(q + s) under Conservative and O((q + s) q) if jobs end early or workers come or go, O(q)
// under the others; outages and Scenario.Events cost O(workers) for each job that begins. The error is a [num.InputError], a
// [*StrandedError], or that of the context, which is looked at every few milliseconds, but not within a decision.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	line := r.line
	for line.work = checkEvery; r.ended < len(s.Jobs); line.work += 100 + len(line.queue) + len(line.inHand) {
		if line.work >= checkEvery {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			line.work = 0
		}
		if len(r.ends) == 0 && len(r.submits) == 0 && r.returns == 0 {
			return nil, r.stranded()
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

// A run is a simulated clock and what is to come.
type run struct {
	s       *Scenario
	line    *schedule
	records []Record // by job
	submits []int    // jobs to come, in the order of submission
	edges   []dispatch.Edge
	returns int // edges at which a worker returns
	ends    eventqueue.Queue[ending]
	ended   int // jobs
	due     []int
	hands   *hands // nil if it makes no difference which worker is whose
}

// ending is the end of a run of a job, unless that is lost before.
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
	if !slices.IsSortedFunc(r.submits, inTime) { // as logs are
		slices.SortStableFunc(r.submits, inTime)
	}
	for _, e := range r.edges {
		if e.Up {
			r.returns++
		}
	}
	return r
}

// isDue reports whether the next end is no later than a time. Ends of runs that were lost are forgotten.
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

// advance goes to the next moment, and tells the schedule what happens.
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
	now, last := first, first*(1+timeTol)
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
		lost = r.turn(r.edges[:edges])
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
		slices.SortFunc(r.due, r.hands.inOrder)
	}
	for _, i := range r.due {
		r.line.end(i)
		r.ended++
		if r.hands != nil {
			r.hands.finish(i)
		}
	}
}

// turn has workers fail and return, and gives back the jobs that are lost with them, which wait again.
func (r *run) turn(edges []dispatch.Edge) (lost []int) {
	slices.SortStableFunc(edges, func(a, b dispatch.Edge) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, e := range edges {
		if e.Up {
			r.returns--
			r.line.grow(-1)
			r.hands.comeBack(e.Worker)
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
		r.hands.tell(dispatch.Event{Kind: dispatch.Submitted, Job: i, Task: -1, Worker: -1})
	}
}

// begin puts the ends of the jobs that begin on the clock.
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

// A StrandedError says that jobs never end, since too many workers are gone for good.
type StrandedError struct {
	Time    float64 // of the last outage that is for good
	Jobs    int     // that have not ended
	Job     int     // the first of them, its place in Scenario.Jobs
	Workers int     // that it asks for
	Left    int     // workers that are up
}

func (e *StrandedError) Error() string {
	return fmt.Sprintf("%d jobs never end, Jobs[%d] among them: it asks for %d workers, of which %d are left after time %v", e.Jobs, e.Job, e.Workers, e.Left, e.Time)
}

// stranded says which jobs never end.
func (r *run) stranded() error {
	e := &StrandedError{Jobs: len(r.line.large), Job: slices.Min(r.line.large), Left: r.line.workers}
	e.Workers = r.s.Jobs[e.Job].Tasks
	for _, o := range r.s.Outages {
		if math.IsInf(o.To, 1) {
			e.Time = max(e.Time, o.From)
		}
	}
	return e
}
