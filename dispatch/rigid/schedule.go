package rigid

import (
	"cmp"
	"math"
	"slices"

	"productform/num"
)

// A schedule is a policy at work: the jobs that wait, those in hand, and how many workers are up. It does not know which
// worker is whose. Whoever drives it says what happens at a moment: reach, then end, requeue, remove, shrink and grow in any
// order, then settle, then submit; then it decides.
type schedule struct {
	policy Policy
	jobs   []job // by number

	now     float64
	workers int  // that are up
	free    int  // of these, without a job
	turns   int  // jobs submitted so far
	work    int  // since the last look at the context
	isSafe  bool // no worker fails and no job runs longer than it asked for: those in hand are not listed under Conservative

	queue  []int // jobs that wait, in the order of the policy; under Conservative in that of their reservations
	large  []int // jobs that wait until more workers are up, in the order of the policy
	inHand []int // jobs that run, in the order of their predicted ends
	begun  []int // at the last decision

	profile profile // under Conservative
	freed   float64 // the latest time at which workers have come free since all jobs looked for earlier times
	early   bool    // workers have come free before they were predicted to, since the last decision
	fewer   bool    // there are fewer workers than predicted, since the last decision
	more    bool    // workers have come, since the last decision

	sums
}

// sums are what is measured on the way.
type sums struct {
	Started bool    `json:"started"` // a job has been submitted
	First   float64 `json:"first"`   // moment of the first submission
	Away    num.Sum `json:"away"`    // ∫ workers that are not up dt, from the first submission on
	Until   num.Sum `json:"until"`   // likewise, up to the last end of a job
	Wasted  num.Sum `json:"wasted"`  // seconds of workers in runs that were lost
}

// A job is what a schedule knows of one.
type job struct {
	size    int     // workers that it asks for
	held    int     // workers that are up of those that it has in hand
	asks    float64 // seconds
	start   float64 // at which it began, or its reservation under Conservative
	runs    float64 // seconds that its run takes, as soon as that is known
	turn    int     // its place in the order of submission
	run     int32   // runs that have begun
	stage   stage
	ahead   bool // it began before one that stood before it
	outlast bool // it ran longer than it asked for
}

// A stage says where a job is.
type stage byte

const (
	absent stage = iota
	waiting
	running
)

// end returns the predicted end of a job in hand, or that of its reservation.
func (j *job) end() float64 { return j.start + j.asks }

func newSchedule(p Policy, workers, jobs int) *schedule {
	return &schedule{policy: p, jobs: make([]job, jobs), workers: workers, free: workers, profile: profile{at: []float64{0}, free: []int{workers}}}
}

// isConservative reports whether jobs have reservations.
func (s *schedule) isConservative() bool { return s.policy.Backfill == Conservative }

// inTurn is the order of the policy.
func (s *schedule) inTurn(a, b int) int {
	x, y := &s.jobs[a], &s.jobs[b]
	if s.policy.Order == SJF && x.asks != y.asks {
		return cmp.Compare(x.asks, y.asks)
	}
	return cmp.Compare(x.turn, y.turn)
}

// inQueue is the order of the queue, under Conservative that of reservations.
func (s *schedule) inQueue(a, b int) int {
	if s.isConservative() {
		if c := cmp.Compare(s.jobs[a].start, s.jobs[b].start); c != 0 {
			return c
		}
	}
	return s.inTurn(a, b)
}

// reach moves to a moment; total is the number of workers, up or not.
func (s *schedule) reach(now float64, total int) {
	if s.Started && total > s.workers {
		s.Away.Add(float64(float64(total-s.workers) * (now - s.now)))
	}
	s.now = now
	s.profile.advance(now)
}

// end ends the run of a job in hand.
func (s *schedule) end(i int) {
	s.release(i)
	s.jobs[i].stage = absent
	s.Until = s.Away
}

// release takes a job out of hand.
func (s *schedule) release(i int) {
	j := &s.jobs[i]
	s.free += j.held
	if !s.isConservative() || !s.isSafe {
		at := slices.Index(s.inHand, i)
		s.inHand = slices.Delete(s.inHand, at, at+1)
	}
	if s.isConservative() && later(j.end(), s.now) {
		s.early = true
		s.profile.take(-j.held, s.now, j.end())
		s.freed = max(s.freed, j.end())
	}
}

// requeue makes a job in hand wait again, for so many workers: its run, or what is left of it, begins anew. Under Conservative
// it comes before all others that wait, since it began before all their reservations.
func (s *schedule) requeue(i, size int) {
	j := &s.jobs[i]
	s.Wasted.Add(float64(float64(j.size) * (s.now - j.start)))
	s.release(i)
	j.stage, j.size = waiting, size
	s.enqueue(i)
	s.fewer = true
}

// enqueue puts a job that waits in its place in the queue.
func (s *schedule) enqueue(i int) {
	k, _ := slices.BinarySearchFunc(s.queue, i, s.inQueue)
	s.queue = slices.Insert(s.queue, k, i)
}

// remove takes out a job that waits.
func (s *schedule) remove(i int) {
	j := &s.jobs[i]
	if s.withdraw(i) && s.isConservative() {
		s.profile.take(-j.size, max(j.start, s.now), j.end())
		s.early, s.freed = true, max(s.freed, j.end())
	}
	j.stage, j.start, s.Until = absent, s.now, s.Away
}

// withdraw takes a job that waits out of its list, and reports whether that is the queue.
func (s *schedule) withdraw(i int) bool {
	if k := slices.Index(s.queue, i); k >= 0 {
		s.queue = slices.Delete(s.queue, k, k+1)
		return true
	}
	k := slices.Index(s.large, i)
	s.large = slices.Delete(s.large, k, k+1)
	return false
}

// resize changes the number of workers that a job asks for which waits.
func (s *schedule) resize(i, size int) {
	s.withdraw(i)
	s.jobs[i].size, s.fewer = size, true
	s.enqueue(i)
}

// shrink takes away a worker that job i has in hand, or a free one if i is -1. The job runs on.
func (s *schedule) shrink(i int) {
	s.workers--
	if i < 0 {
		s.free--
	} else {
		s.jobs[i].held--
	}
	s.fewer = true
}

// join adds a worker, which is not up.
func (s *schedule) join() {
	if s.Started {
		s.Away.Add(s.now - s.First)
	}
}

// grow gives back a worker, to job i, which has it in hand, or a free one if i is -1.
func (s *schedule) grow(i int) {
	s.workers++
	s.more = true
	if i >= 0 {
		s.jobs[i].held++
		s.fewer = true // the job may hold it for longer than others were told
		return
	}
	s.free++
	s.early, s.freed = true, math.MaxFloat64
	for k := range s.profile.free {
		s.profile.free[k]++
	}
}

// settle makes reservations anew, when all has happened at a moment but submissions.
func (s *schedule) settle() {
	s.outlive()
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
		slices.SortFunc(waits, s.inTurn)
		s.large = nil
		for _, i := range waits {
			s.place(i)
		}
	}
	s.early, s.fewer, s.more = false, false, false
}

// outlive gives jobs in hand that run longer than they asked for twice the time, as often as it takes.
func (s *schedule) outlive() {
	for len(s.inHand) > 0 && s.jobs[s.inHand[0]].end() < s.now {
		i := s.inHand[0]
		j := &s.jobs[i]
		s.inHand = s.inHand[1:]
		for j.end() < s.now {
			j.asks *= 2
		}
		j.outlast, s.fewer = true, true
		s.hold(i)
	}
}

// hold lists a job in hand.
func (s *schedule) hold(i int) {
	at, _ := slices.BinarySearchFunc(s.inHand, s.jobs[i].end(), func(k int, end float64) int { return cmp.Compare(s.jobs[k].end(), end) })
	s.inHand = slices.Insert(s.inHand, at, i)
}

// submit takes in a job.
func (s *schedule) submit(i, size int, asks float64) {
	s.jobs[i] = job{stage: waiting, size: size, asks: asks, turn: s.turns}
	s.turns++
	if !s.Started {
		s.Started, s.First = true, s.now
	}
	s.place(i)
}

// place gives a job that waits a reservation, if it takes one, and puts it in its list.
func (s *schedule) place(i int) {
	j := &s.jobs[i]
	if j.size > s.workers {
		j.start = math.MaxFloat64
		k, _ := slices.BinarySearchFunc(s.large, i, s.inTurn)
		s.large = slices.Insert(s.large, k, i)
		return
	}
	if s.isConservative() {
		s.reserve(i)
	}
	s.enqueue(i)
}

// decide begins jobs as the policy says.
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

// follow begins jobs that wait as another has decided.
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

// begin puts a job in hand that has left the queue.
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

// judge finds out which jobs have begun before one that stood before them.
func (s *schedule) judge() {
	if len(s.begun) == 0 {
		return
	}
	first := -1
	if len(s.queue) > 0 {
		first = slices.MinFunc(s.queue, s.inTurn)
	}
	for _, i := range s.begun {
		s.jobs[i].ahead = first >= 0 && s.inTurn(first, i) < 0
	}
}
