package rigid

import (
	"slices"
)

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
	}
	slices.SortFunc(r.queue, r.inQueue)
}

// beginReserved begins jobs whose reservations have come. A job that takes no time may hold the workers of another one
// until the next decision, at the same time.
func (r *run) beginReserved() {
	kept := r.queue[:0]
	for k, i := range r.queue {
		j := &r.jobs[i]
		if later(j.start, r.now) {
			kept = append(kept, r.queue[k:]...)
			break
		}
		if j.workers > r.free {
			kept = append(kept, i)
			continue
		}
		if j.start != r.now { // by rounding
			r.profile.take(-j.workers, max(j.start, r.now), j.end())
			r.profile.take(j.workers, r.now, r.now+j.asks)
		}
		r.begin(i)
	}
	r.queue = kept
}
