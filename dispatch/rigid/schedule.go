package rigid

import (
	"cmp"
	"math"
	"slices"

	"productform/num"
)

// A schedule applies a policy: it tracks the waiting jobs, the running jobs and the number of
// workers that are up, but not which worker belongs to which job. At each moment its caller calls
// reach, then end, requeue, remove, shrink and grow in any order, then settle, then submit, and
// finally decide.
type schedule struct {
	policy Policy
	jobs   []job // by number

	now       float64
	workers   int  // number of workers that are up
	free      int  // number of workers that are up and have no job
	submitted int  // number of jobs submitted so far
	work      int  // work since the last check of the context
	isSafe    bool // whether no worker fails and no job exceeds its request; active then stays empty under Conservative

	queue  []int // waiting jobs in the order of the policy; under Conservative, of reservations
	large  []int // waiting jobs that need more workers than are up, in the order of the policy
	active []int // running jobs, by predicted end
	begun  []int // jobs started by the last decision

	profile profile // only under Conservative
	freed   float64 // the latest time at which workers became free since the last compression
	early   bool    // whether workers became free earlier than predicted since the last decision
	fewer   bool    // whether there are fewer workers than predicted since the last decision
	more    bool    // whether workers have joined since the last decision

	sums
}

// sums holds the running sums for the result.
type sums struct {
	Started bool    `json:"started"` // whether a job has been submitted
	First   float64 `json:"first"`   // moment of the first submission
	Away    num.Sum `json:"away"`    // ∫ workers that are not up dt, since the first submission
	Until   num.Sum `json:"until"`   // the same, up to the last end of a job
	Wasted  num.Sum `json:"wasted"`  // worker-seconds in lost runs
}

// A job is the state of a job in a schedule.
type job struct {
	size     int     // number of workers that it requests
	held     int     // number of its workers that are up
	asks     float64 // requested seconds
	start    float64 // start time, or its reservation under Conservative
	runs     float64 // seconds that its run takes, once known
	position int     // position in the order of submission
	run      int32   // number of runs started
	stage    stage
	ahead    bool // whether it started before a job ahead of it
	outlast  bool // whether it exceeded its requested time
}

// A stage is the stage of a job in its life cycle.
type stage byte

const (
	absent stage = iota
	waiting
	running
)

// end returns the predicted end of a running job or of a reservation.
func (j *job) end() float64 { return j.start + j.asks }

func newSchedule(p Policy, workers, jobs int) *schedule {
	return &schedule{
		policy:  p,
		jobs:    make([]job, jobs),
		workers: workers,
		free:    workers,
		profile: profile{at: []float64{0}, free: []int{workers}},
	}
}

// isConservative reports whether jobs have reservations.
func (s *schedule) isConservative() bool { return s.policy.Backfill == Conservative }

// comparePolicy compares jobs by the order of the policy.
func (s *schedule) comparePolicy(a, b int) int {
	x, y := &s.jobs[a], &s.jobs[b]
	if s.policy.Order == SJF && x.asks != y.asks {
		return cmp.Compare(x.asks, y.asks)
	}
	return cmp.Compare(x.position, y.position)
}

// compareQueue compares jobs by the order of the queue: under Conservative by reservations,
// otherwise by the policy.
func (s *schedule) compareQueue(a, b int) int {
	if s.isConservative() {
		if c := cmp.Compare(s.jobs[a].start, s.jobs[b].start); c != 0 {
			return c
		}
	}
	return s.comparePolicy(a, b)
}

// reach advances the clock to a moment; total is the number of workers, up or not.
func (s *schedule) reach(now float64, total int) {
	if s.Started && total > s.workers {
		s.Away.Add(float64(float64(total-s.workers) * (now - s.now)))
	}
	s.now = now
	s.profile.advance(now)
}

// end finishes a running job.
func (s *schedule) end(i int) {
	s.release(i)
	s.jobs[i].stage = absent
	s.Until = s.Away
}

// release frees the workers of a running job.
func (s *schedule) release(i int) {
	j := &s.jobs[i]
	s.free += j.held
	if !s.isConservative() || !s.isSafe {
		at := slices.Index(s.active, i)
		s.active = slices.Delete(s.active, at, at+1)
	}
	if s.isConservative() && isLater(j.end(), s.now) {
		s.early = true
		s.profile.take(-j.held, s.now, j.end())
		s.freed = max(s.freed, j.end())
	}
}

// requeue makes a running job wait again, for size workers, to run its remaining tasks from the
// start. Under Conservative it precedes all other waiting jobs because it started before all their
// reservations.
func (s *schedule) requeue(i, size int) {
	j := &s.jobs[i]
	s.Wasted.Add(float64(float64(j.size) * (s.now - j.start)))
	s.release(i)
	j.stage, j.size = waiting, size
	s.enqueue(i)
	s.fewer = true
}

// enqueue inserts a waiting job into the queue.
func (s *schedule) enqueue(i int) {
	k, _ := slices.BinarySearchFunc(s.queue, i, s.compareQueue)
	s.queue = slices.Insert(s.queue, k, i)
}

// remove removes a waiting job.
func (s *schedule) remove(i int) {
	j := &s.jobs[i]
	if s.withdraw(i) && s.isConservative() {
		s.profile.take(-j.size, max(j.start, s.now), j.end())
		s.early, s.freed = true, max(s.freed, j.end())
	}
	j.stage, j.start, s.Until = absent, s.now, s.Away
}

// withdraw removes a waiting job from its list, and reports whether that was the queue.
func (s *schedule) withdraw(i int) bool {
	if k := slices.Index(s.queue, i); k >= 0 {
		s.queue = slices.Delete(s.queue, k, k+1)
		return true
	}
	k := slices.Index(s.large, i)
	s.large = slices.Delete(s.large, k, k+1)
	return false
}

// resize changes the number of workers that a waiting job requests.
func (s *schedule) resize(i, size int) {
	s.withdraw(i)
	s.jobs[i].size, s.fewer = size, true
	s.enqueue(i)
}

// shrink removes a worker of running job i, or a free one if i is -1. The job keeps running.
func (s *schedule) shrink(i int) {
	s.workers--
	if i < 0 {
		s.free--
	} else {
		s.jobs[i].held--
	}
	s.fewer = true
}

// join adds a worker that is not up.
func (s *schedule) join() {
	if s.Started {
		s.Away.Add(s.now - s.First)
	}
}

// grow adds a worker to running job i, or a free one if i is -1.
func (s *schedule) grow(i int) {
	s.workers++
	s.more = true
	if i >= 0 {
		s.jobs[i].held++
		s.fewer = true // the job may hold it longer than reservations assumed
		return
	}
	s.free++
	s.early, s.freed = true, math.MaxFloat64
	for k := range s.profile.free {
		s.profile.free[k]++
	}
}

// settle renews reservations once everything at a moment except submissions has been applied.
func (s *schedule) settle() {
	s.extendOverruns()
	waits := s.large
	if s.fewer {
		isLarge := func(i int) bool { return s.jobs[i].size > s.workers }
		for _, i := range s.queue {
			if isLarge(i) {
				waits = append(waits, i)
			}
		}
		s.queue = slices.DeleteFunc(s.queue, isLarge)
	}
	switch {
	case !s.isConservative():
	case s.fewer:
		s.remake()
	case s.early:
		s.compress()
	}
	if s.more || s.fewer {
		slices.SortFunc(waits, s.comparePolicy)
		s.large = nil
		for _, i := range waits {
			s.place(i)
		}
	}
	s.early, s.fewer, s.more = false, false, false
}

// extendOverruns doubles the requested time of running jobs that have exceeded it, repeatedly if
// necessary.
func (s *schedule) extendOverruns() {
	for len(s.active) > 0 && s.jobs[s.active[0]].end() < s.now {
		i := s.active[0]
		j := &s.jobs[i]
		s.active = s.active[1:]
		for j.end() < s.now {
			j.asks *= 2
		}
		j.outlast, s.fewer = true, true
		s.hold(i)
	}
}

// hold adds a job to the running jobs.
func (s *schedule) hold(i int) {
	at, _ := slices.BinarySearchFunc(s.active, s.jobs[i].end(), func(k int, end float64) int {
		return cmp.Compare(s.jobs[k].end(), end)
	})
	s.active = slices.Insert(s.active, at, i)
}

// reserveNumbers makes room for jobs with numbers up to i.
func (s *schedule) reserveNumbers(i int) {
	if more := i + 1 - len(s.jobs); more > 0 {
		s.jobs = append(s.jobs, make([]job, more)...)
	}
}

// submit adds a job.
func (s *schedule) submit(i, size int, asks float64) {
	s.jobs[i] = job{stage: waiting, size: size, asks: asks, position: s.submitted}
	s.submitted++
	if !s.Started {
		s.Started, s.First = true, s.now
	}
	s.place(i)
}

// place gives a waiting job a reservation, if the policy uses reservations, and adds it to its
// list.
func (s *schedule) place(i int) {
	j := &s.jobs[i]
	if j.size > s.workers {
		j.start = math.MaxFloat64
		k, _ := slices.BinarySearchFunc(s.large, i, s.comparePolicy)
		s.large = slices.Insert(s.large, k, i)
		return
	}
	if s.isConservative() {
		s.reserve(i)
	}
	s.enqueue(i)
}

// decide starts jobs according to the policy.
func (s *schedule) decide() {
	s.begun = s.begun[:0]
	if s.isConservative() {
		s.beginReserved()
	} else {
		first := 0
		for first < len(s.queue) && s.jobs[s.queue[first]].size <= s.free {
			s.begin(s.queue[first])
			first++
		}
		s.queue = s.queue[first:]
		if s.policy.Backfill == EASY && len(s.queue) > 1 && s.free > 0 {
			s.backfill()
		}
	}
	s.judge()
}

// follow starts waiting jobs as decided earlier.
func (s *schedule) follow(list []int) {
	s.begun = s.begun[:0]
	for _, i := range list {
		s.withdraw(i)
		if s.isConservative() {
			s.keep(i)
		}
		s.begin(i)
	}
	s.judge()
}

// begin starts a job that has left the queue.
func (s *schedule) begin(i int) {
	j := &s.jobs[i]
	j.stage, j.start, j.held = running, s.now, j.size
	j.run++
	s.free -= j.size
	s.begun = append(s.begun, i)
	if !s.isConservative() || !s.isSafe {
		s.hold(i)
	}
}

// judge determines which of the jobs that just started have overtaken a job ahead of them.
func (s *schedule) judge() {
	if len(s.begun) == 0 {
		return
	}
	first := -1
	if len(s.queue) > 0 {
		first = slices.MinFunc(s.queue, s.comparePolicy)
	}
	for _, i := range s.begun {
		s.jobs[i].ahead = first >= 0 && s.comparePolicy(first, i) < 0
	}
}
