package rigid

import (
	"cmp"
	"context"
	"slices"

	"productform/internal/eventqueue"
)

// checkEvery is the work between two looks at the context, in jobs that wait and jobs in hand; a decision counts as 100 more.
// It takes some milliseconds.
const checkEvery = 1e6

// Run runs the scenario on a simulated clock until all jobs have ended. At each moment at which jobs end or are submitted,
// after all of these, the policy decides which jobs begin. A job that takes no time ends at the moment at which it begins,
// and is followed by one more decision at that time.
//
// What would happen after the next event by no more than 1e-12 of the time on the clock happens with it, at the time of
// the last of all these, and times that differ by as little count as equal to the policy, so that rounding tells no times
// apart. Numbers of seconds that are whole, as in most logs, are not rounded at all.
//
// The result depends on nothing but the scenario. With q jobs that wait and s jobs in hand, a decision takes O(q + s) under
// EASY, for each job that is submitted O(q + s) under Conservative and O((q + s) q) if jobs end early, O(q) under the
// others. The error is a [num.InputError], or that of the context, which is looked at every few milliseconds, but not within a decision.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	for r.work = checkEvery; r.ended < len(s.Jobs); r.work += 100 + len(r.queue) + len(r.inHand) {
		if r.work >= checkEvery {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r.work = 0
		}
		r.advance()
		r.decide()
		if s.Watch != nil {
			s.Watch(r.ended)
		}
	}
	return r.result(), nil
}

// A run is a cluster in motion.
type run struct {
	s       *Scenario
	jobs    []job
	records []Record // by job
	submits []int    // jobs to come, in the order of submission

	now   float64
	free  int  // workers without a job
	ended int  // jobs
	work  int  // since the last look at the context
	early bool // a job has ended before its requested time since the last decision

	queue   []int // jobs that wait, in the order of the policy; under Conservative in that of their reservations
	inHand  []int // jobs that run, in the order of their predicted ends; not used under Conservative
	ends    eventqueue.Queue[int]
	profile profile // under Conservative
	freed   float64 // the latest time at which workers have come free since all jobs looked for earlier times
	begun   []int   // at this decision
}

// A job is what the run knows of one.
type job struct {
	workers    int
	runs, asks float64 // seconds
	turn       int     // its place in the order of submission
	start      float64 // at which it began, or its reservation under Conservative
}

func newRun(s *Scenario) *run {
	r := &run{s: s, jobs: make([]job, len(s.Jobs)), records: make([]Record, len(s.Jobs)), free: s.Workers}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		r.submits = append(r.submits, i)
		r.jobs[i].workers = j.Tasks
		r.jobs[i].runs, r.jobs[i].asks, r.records[i].Outlived = s.times(j)
		r.records[i].Job = i
	}
	slices.SortStableFunc(r.submits, func(a, b int) int { return cmp.Compare(s.Jobs[a].Submit, s.Jobs[b].Submit) })
	for turn, i := range r.submits {
		r.jobs[i].turn = turn
	}
	r.profile = profile{at: []float64{0}, free: []int{s.Workers}}
	return r
}

// inTurn is the order of the policy.
func (r *run) inTurn(a, b int) int {
	x, y := &r.jobs[a], &r.jobs[b]
	if r.s.Policy.Order == SJF && x.asks != y.asks {
		return cmp.Compare(x.asks, y.asks)
	}
	return cmp.Compare(x.turn, y.turn)
}

// inQueue is the order of the queue, under Conservative that of reservations.
func (r *run) inQueue(a, b int) int {
	if r.s.Policy.Backfill == Conservative {
		if c := cmp.Compare(r.jobs[a].start, r.jobs[b].start); c != 0 {
			return c
		}
	}
	return r.inTurn(a, b)
}

// end returns the predicted end of a job in hand.
func (j *job) end() float64 { return j.start + j.asks }

// advance goes to the next moment: jobs end, others are submitted.
func (r *run) advance() {
	switch {
	case len(r.ends) == 0:
		r.now = r.s.Jobs[r.submits[0]].Submit
	case len(r.submits) == 0:
		r.now = r.ends[0].Time
	default:
		r.now = min(r.ends[0].Time, r.s.Jobs[r.submits[0]].Submit)
	}
	limit := r.now + timeTol*r.now
	var ended []int
	for len(r.ends) > 0 && r.ends[0].Time <= limit {
		e := r.ends.Pop()
		r.now = max(r.now, e.Time)
		ended = append(ended, e.Item)
	}
	var submitted []int
	for len(r.submits) > 0 && r.s.Jobs[r.submits[0]].Submit <= limit {
		r.now = max(r.now, r.s.Jobs[r.submits[0]].Submit)
		submitted = append(submitted, r.submits[0])
		r.submits = r.submits[1:]
	}
	r.profile.advance(r.now)
	for _, i := range ended {
		r.end(i)
	}
	if r.early {
		r.compress()
	}
	for _, i := range submitted {
		if r.s.Policy.Backfill == Conservative {
			r.reserve(i)
		}
		place, _ := slices.BinarySearchFunc(r.queue, i, r.inQueue)
		r.queue = slices.Insert(r.queue, place, i)
	}
}

// end takes a job out of hand.
func (r *run) end(i int) {
	j := &r.jobs[i]
	r.free += j.workers
	r.ended++
	if r.s.Policy.Backfill != Conservative {
		at := slices.Index(r.inHand, i)
		r.inHand = slices.Delete(r.inHand, at, at+1)
		return
	}
	if later(j.end(), r.now) {
		r.early = true
		r.profile.take(-j.workers, r.now, j.end())
		r.freed = max(r.freed, j.end())
	}
}

// begin puts a job in hand that has left the queue.
func (r *run) begin(i int) {
	j := &r.jobs[i]
	j.start = r.now
	r.free -= j.workers
	r.ends.Push(j.start+j.runs, i)
	r.begun = append(r.begun, i)
	r.records[i].Start, r.records[i].Finish = j.start, j.start+j.runs
	if r.s.Policy.Backfill != Conservative {
		at, _ := slices.BinarySearchFunc(r.inHand, j.end(), func(k int, end float64) int { return cmp.Compare(r.jobs[k].end(), end) })
		r.inHand = slices.Insert(r.inHand, at, i)
	}
}

// decide begins jobs as the policy says.
func (r *run) decide() {
	r.begun, r.early = r.begun[:0], false
	if r.s.Policy.Backfill == Conservative {
		r.beginReserved()
	} else {
		first := 0
		for first < len(r.queue) && r.jobs[r.queue[first]].workers <= r.free {
			r.begin(r.queue[first])
			first++
		}
		r.queue = r.queue[first:]
		if r.s.Policy.Backfill == EASY && len(r.queue) > 1 && r.free > 0 {
			r.backfill()
		}
	}
	r.judge()
}

// judge finds out which jobs have begun before one that stood before them.
func (r *run) judge() {
	if len(r.begun) == 0 || len(r.queue) == 0 {
		return
	}
	first := slices.MinFunc(r.queue, r.inTurn)
	for _, i := range r.begun {
		r.records[i].Backfilled = r.inTurn(first, i) < 0
	}
}
