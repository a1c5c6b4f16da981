package rigid

// backfill begins jobs behind the first of the queue, for which there are too few idle workers, as EASY does.
func (r *run) backfill() {
	shadow, extra := r.shadow()
	kept := r.queue[:1]
	for k, i := range r.queue[1:] {
		j := &r.jobs[i]
		ends := !later(r.now+j.asks, shadow)
		switch {
		case r.free == 0:
			kept = append(kept, r.queue[k+1:]...)
			r.queue = kept
			return
		case j.workers > r.free || !ends && j.workers > extra:
			kept = append(kept, i)
			continue
		case !ends:
			extra -= j.workers
		}
		r.begin(i)
	}
	r.queue = kept
}

// shadow returns the time of the reservation of the first job of the queue, and how many workers are left over then.
func (r *run) shadow() (time float64, extra int) {
	free, need := r.free, r.jobs[r.queue[0]].workers
	for _, i := range r.inHand {
		j := &r.jobs[i]
		if free >= need && later(j.end(), time) {
			break
		}
		free += j.workers
		if free-j.workers < need {
			time = j.end()
		}
	}
	return max(time, r.now), free - need
}
