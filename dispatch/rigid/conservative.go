package rigid

import "slices"

// reserve makes the reservation of a job.
func (r *run) reserve(i int) {
	j := &r.jobs[i]
	j.start = r.profile.earliest(j.workers, j.asks)
	r.profile.take(j.workers, j.start, j.end())
}

// compress makes all reservations anew, in their order. A job finds an earlier time only where workers have come free since it
// looked last, which is before r.freed: those of jobs that ended early, and of jobs that moved after its turn the last time.
func (r *run) compress() {
	moved := 0.0 // the latest end of a place that is given up now
	for _, i := range r.queue {
		j := &r.jobs[i]
		start, steps := r.profile.sooner(j.workers, j.asks, j.start, r.freed)
		r.work += steps
		if start == j.start {
			continue
		}
		r.profile.take(-j.workers, j.start, j.end())
		moved = max(moved, j.end())
		r.freed = max(r.freed, moved)
		j.start = start
		r.profile.take(j.workers, j.start, j.end())
	}
	if moved > 0 {
		slices.SortFunc(r.queue, r.inQueue)
	}
	r.freed = moved
}

// beginReserved begins jobs whose reservations have come. There are workers for all of them.
func (r *run) beginReserved() {
	for len(r.queue) > 0 && !later(r.jobs[r.queue[0]].start, r.now) {
		i := r.queue[0]
		j := &r.jobs[i]
		r.queue = r.queue[1:]
		if j.start != r.now { // by rounding
			r.profile.take(-j.workers, max(j.start, r.now), j.end())
			r.profile.take(j.workers, r.now, r.now+j.asks)
		}
		r.begin(i)
	}
}
