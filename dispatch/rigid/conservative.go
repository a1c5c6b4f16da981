package rigid

import "slices"

// reserve makes the reservation of a job.
func (s *schedule) reserve(i int) {
	j := &s.jobs[i]
	j.start = s.profile.earliest(j.size, j.asks)
	s.profile.take(j.size, j.start, j.end())
}

// compress renews all reservations in their order. A job can find an earlier time only if workers
// have become free since its last search, which is before s.freed. These are workers of jobs that
// ended early, or of jobs that moved after its last search.
func (s *schedule) compress() {
	moved := 0.0 // latest end of a slot given up so far
	for _, i := range s.queue {
		j := &s.jobs[i]
		start, steps := s.profile.earliestBefore(j.size, j.asks, j.start, s.freed)
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
		slices.SortFunc(s.queue, s.compareQueue)
	}
	s.freed = moved
}

// remake makes all reservations from scratch, in their order; they may move to later times.
func (s *schedule) remake() {
	s.profile = profile{at: []float64{s.now}, free: []int{s.workers}}
	for _, i := range s.active {
		s.profile.take(s.jobs[i].held, s.now, s.jobs[i].end())
	}
	for _, i := range s.queue {
		s.reserve(i)
		s.work += len(s.profile.at)
	}
	slices.SortFunc(s.queue, s.compareQueue)
	s.freed = 0
}

// beginReserved starts jobs whose reservations are due. There are enough workers for all of them,
// unless running jobs end within rounding of now or exceed their requested times.
func (s *schedule) beginReserved() {
	for len(s.queue) > 0 {
		i := s.queue[0]
		if isLater(s.jobs[i].start, s.now) || s.jobs[i].size > s.free {
			return
		}
		s.queue = s.queue[1:]
		s.keep(i)
		s.begin(i)
	}
}

// keep moves the reservation of a job that starts to now, if it differs by rounding.
func (s *schedule) keep(i int) {
	j := &s.jobs[i]
	if j.start != s.now {
		s.profile.take(-j.size, max(j.start, s.now), j.end())
		s.profile.take(j.size, s.now, s.now+j.asks)
	}
}
