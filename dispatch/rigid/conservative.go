package rigid

import "slices"

// reserve makes the reservation of a job.
func (s *schedule) reserve(i int) {
	j := &s.jobs[i]
	j.start = s.profile.earliest(j.size, j.asks)
	s.profile.take(j.size, j.start, j.end())
}

// compress makes all reservations anew, in their order. A job finds an earlier time only where workers have come free since it
// looked last, which is before s.freed: those of jobs that ended early, and of jobs that moved after its turn the last time.
func (s *schedule) compress() {
	moved := 0.0 // the latest end of a place that is given up now
	for _, i := range s.queue {
		j := &s.jobs[i]
		start, steps := s.profile.sooner(j.size, j.asks, j.start, s.freed)
		s.work += steps
		if start == j.start {
			continue
		}
		s.profile.take(-j.size, j.start, j.end())
		moved = max(moved, j.end())
		s.freed = max(s.freed, moved)
		j.start = start
		s.profile.take(j.size, j.start, j.end())
	}
	if moved > 0 {
		slices.SortFunc(s.queue, s.inQueue)
	}
	s.freed = moved
}

// remake makes all reservations anew, in their order, as if none had been made: they may move to later times.
func (s *schedule) remake() {
	s.profile = profile{at: []float64{s.now}, free: []int{s.workers}}
	for _, i := range s.inHand {
		s.profile.take(s.jobs[i].held, s.now, s.jobs[i].end())
	}
	for _, i := range s.queue {
		s.reserve(i)
		s.work += len(s.profile.at)
	}
	slices.SortFunc(s.queue, s.inQueue)
	s.freed = 0
}

// beginReserved begins jobs whose reservations have come. There are workers for all of them, unless jobs in hand are to end
// within rounding from now, or run longer than they asked for.
func (s *schedule) beginReserved() {
	for len(s.queue) > 0 {
		i := s.queue[0]
		if later(s.jobs[i].start, s.now) || s.jobs[i].size > s.free {
			return
		}
		s.queue = s.queue[1:]
		s.keep(i)
		s.begin(i)
	}
}

// keep moves the reservation of a job that begins to now, if it differs by rounding.
func (s *schedule) keep(i int) {
	j := &s.jobs[i]
	if j.start != s.now {
		s.profile.take(-j.size, max(j.start, s.now), j.end())
		s.profile.take(j.size, s.now, s.now+j.asks)
	}
}
