package dispatch

import (
	"math"
	"slices"
	"sort"

	"productform/num"
)

// A Result is what a run came to.
type Result struct {
	Jobs []Record // in the order of Scenario.Jobs

	// PriorityViolationRate is the measure of [L14], section 6.3.2: the part of the jobs present for which no worker is
	// planned although one is for a job of lower priority, averaged over the time during which jobs are present.
	// DecisionViolationRate is its average over the decisions with jobs present, each counted once. RunningViolationRate
	// asks for tasks in hand instead of workers planned, over time: a job that waits for tasks of jobs of lower priority
	// to end is violated. All are 0 if there is nothing to average over.
	PriorityViolationRate, DecisionViolationRate, RunningViolationRate float64

	DeadlineMissPenalty float64 // Σ_j P_j M_j, M_j = Record.Missed
	Missed              int     // jobs with M_j > 0

	Delay    Spread // of Record.Delay
	Slowdown Spread // of Record.Slowdown, over the jobs with work; tiny jobs may dominate the mean

	// Utilization is the part of the time of workers that are up that goes into tasks that finish, from the first
	// submission to the last completion; Wasted is the part that goes into tasks that are lost. 0 if no time passes.
	// Time counts between the times at which something happens in [Run]. Rounding may take their sum above 1, by less than 1e-15.
	Utilization, Wasted float64

	Makespan  float64 // seconds from the first submission to the last completion
	Decisions int     // with jobs present
	Tasks     int     // that finished, all
	Lost      int     // tasks lost to outages and emergencies, each counted as often as it was
}

// A Record is what became of a job.
type Record struct {
	Job           int     // place in Scenario.Jobs
	Start, Finish float64 // time of the begin of its first task, and of the end of its last
	Delay         float64 // Finish - submission, seconds

	// Missed is M_j, seconds from deadline to finish; 0 if the job is in time or has no deadline, or is late by no more
	// than 1e-9 of the time on the clock, as the rounding of sums of millions of terms may make it.
	Missed float64

	// Slowdown is T / max(Σ_k w_k / Σ_s v_s, max_k w_k / max_s v_s) for a delay T, tasks of work w_k and workers of speed
	// v_s at them, outages not counted; 0 for a job without work. What it divides by is a bound from below on the time that
	// the job takes alone. In whole tasks it may take longer, on equal workers less than twice as long, on unequal ones
	// many times, so that a job that never waits may have a slowdown above 1.
	Slowdown float64

	Lost int // tasks in hand that were lost
}

// lateTol is the part of the time on the clock by which a job may be late and not miss its deadline.
const lateTol = 1e-9

// A Spread sums up a number of values; it is 0 if there is none.
type Spread struct {
	Count         int
	Mean          float64
	P50, P95, P99 float64 // the smallest value that so many percent of all do not exceed
	Max           float64
}

// A Decision is what [Scenario.Watch] is told. Its slices may be read during the call only.
type Decision struct {
	Time    float64
	Events  []Event // since the last decision, in order, with what it led to
	Present []int   // jobs, by priority
	Plan    []int   // by worker: the job for which it is planned, or -1
	Planned []int   // by job: workers planned
	Hand    []int   // by worker: the job of the task in hand, or -1
	Up      []bool  // by worker
	Done    int     // jobs completed
}

// An Event is something that happens in a run.
type Event struct {
	Kind              Kind
	Job, Task, Worker int // -1 where it does not apply
}

// A Kind says what happens.
type Kind string

// The kinds of events. A task that is lost has failed with its worker; one that is preempted gave way to an emergency.
const (
	Submitted Kind = "submitted" // job
	Started   Kind = "started"   // job, task, worker
	Finished  Kind = "finished"  // job, task, worker
	Lost      Kind = "lost"      // job, task, worker
	Preempted Kind = "preempted" // job, task, worker
	Completed Kind = "completed" // job
	Failed    Kind = "failed"    // worker
	Returned  Kind = "returned"  // worker
)

// totals are what a run sums up on its way.
type totals struct {
	planned, running float64 // parts of jobs violated now
	present          float64 // seconds with jobs present
	plannedBy        float64 // ∫ planned dt
	runningBy        float64 // ∫ running dt
	plannedSum       float64 // Σ planned over decisions
	decisions        int
	capacity         num.Sum // ∫ workers up dt, from the first submission on
	useful, wasted   num.Sum // seconds of workers
	started          bool    // a job has been submitted
}

func (r *run) tell(what Kind, job, task, worker int) {
	if r.s.Watch != nil {
		r.events = append(r.events, Event{what, job, task, worker})
	}
}

func (r *run) decision() *Decision {
	r.shown = r.shown[:0]
	for _, h := range r.hand {
		r.shown = append(r.shown, h.job)
	}
	return &Decision{
		Time: r.now, Events: r.events, Present: r.byPriority.list(), Plan: r.plan.job, Planned: r.plan.planned,
		Hand: r.shown, Up: r.up, Done: r.done,
	}
}

// measure adds the time from now until then to what is averaged over time. Products are rounded before they are added,
// so that no machine fuses the two and all give the same digits.
func (r *run) measure(then float64) {
	seconds := then - r.now
	if len(r.byPriority.list()) > 0 {
		r.present += seconds
		r.plannedBy += float64(r.planned * seconds)
		r.runningBy += float64(r.running * seconds)
	}
	if r.started {
		r.capacity.Add(float64(float64(len(r.workers)) * seconds))
	}
}

// judge computes the parts of the jobs present that are violated, by the plan and by what runs.
func (r *run) judge() {
	if len(r.byPriority.list()) == 0 {
		r.planned, r.running = 0, 0
		return
	}
	r.started = true
	r.planned = r.violated(r.plan.chosen)
	r.running = r.violated(r.active)
	r.plannedSum += r.planned
	r.decisions++
}

// violated returns the part of the jobs present that have a higher priority than one of those served, not being one.
func (r *run) violated(served []int) float64 {
	if len(served) == 0 {
		return 0
	}
	present, lowest := r.byPriority.list(), math.Inf(1)
	for _, j := range served {
		lowest = min(lowest, r.s.Jobs[j].Priority)
	}
	higher := sort.Search(len(present), func(k int) bool { return r.s.Jobs[present[k]].Priority <= lowest })
	for _, j := range served {
		if r.s.Jobs[j].Priority > lowest {
			higher--
		}
	}
	return float64(higher) / float64(len(present))
}

// result sums up.
func (r *run) result() *Result {
	res := &Result{Jobs: r.records, Decisions: r.decisions}
	first := math.Inf(1)
	fastest, sum := fastestAndSum(r.s.Speeds)
	var delays, slowdowns []float64
	for i := range r.records {
		j, rec := &r.s.Jobs[i], &r.records[i]
		first = min(first, j.Submit)
		rec.Delay = rec.Finish - j.Submit
		if late := rec.Finish - j.Deadline; j.Deadline > 0 && late > lateTol*rec.Finish {
			rec.Missed = late
			res.Missed++
			res.DeadlineMissPenalty += float64(j.Priority * late)
		}
		delays = append(delays, rec.Delay)
		if alone := j.alone(fastest, sum); alone > 0 {
			rec.Slowdown = rec.Delay / alone
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		res.Tasks += j.Tasks
		res.Lost += rec.Lost
	}
	res.Makespan = r.now - first
	res.Delay, res.Slowdown = spread(delays), spread(slowdowns)
	if r.present > 0 {
		res.PriorityViolationRate, res.RunningViolationRate = r.plannedBy/r.present, r.runningBy/r.present
	}
	if r.decisions > 0 {
		res.DecisionViolationRate = r.plannedSum / float64(r.decisions)
	}
	if capacity := r.capacity.Value(); capacity > 0 {
		res.Utilization, res.Wasted = r.useful.Value()/capacity, r.wasted.Value()/capacity
	}
	return res
}

// alone returns the time of [Record.Slowdown], given the largest speed of the workers and the sum of all.
func (j *Job) alone(fastest, sum float64) float64 {
	if j.Speeds != nil {
		fastest, sum = fastestAndSum(j.Speeds)
	}
	total, largest := j.total()
	return max(total/sum, largest/fastest)
}

func fastestAndSum(speeds []float64) (fastest, sum float64) {
	for _, v := range speeds {
		fastest, sum = max(fastest, v), sum+v
	}
	return fastest, sum
}

// spread sums up values, which it sorts.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	s := Spread{Count: len(values), Max: values[len(values)-1]}
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(len(values))
	at := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	s.P50, s.P95, s.P99 = at(50), at(95), at(99)
	return s
}
