package rigid

import "slices"

// reserve makes the reservation of a job.
func (r *run) reserve(i int) {
	j := &r.jobs[i]
	j.start = r.profile.earliest(j.workers, j.asks)
	r.profile.take(j.workers, j.start, j.end())
}

// compress makes all reservations anew, in their order.
func (r *run) compress() {
	for _, i := range r.queue {
		j := &r.jobs[i]
		r.profile.take(-j.workers, j.start, j.end())
		r.reserve(i)
		r.work += len(r.profile.at)
	}
	slices.SortFunc(r.queue, r.inQueue)
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
