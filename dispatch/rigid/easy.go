package rigid

// backfill begins jobs behind the first of the queue, for which there are too few idle workers, as EASY does.
func (s *schedule) backfill() {
	shadow, extra := s.shadow()
	kept := s.queue[:1]
	for k, i := range s.queue[1:] {
		j := &s.jobs[i]
		ends := !later(s.now+j.asks, shadow)
		switch {
		case s.free == 0:
			kept = append(kept, s.queue[k+1:]...)
			s.queue = kept
			return
		case j.size > s.free || !ends && j.size > extra:
			kept = append(kept, i)
			continue
		case !ends:
			extra -= j.size
		}
		s.begin(i)
	}
	s.queue = kept
}

// shadow returns the time of the reservation of the first job of the queue, and how many workers are left over then.
func (s *schedule) shadow() (time float64, extra int) {
	free, need := s.free, s.jobs[s.queue[0]].size
	for _, i := range s.inHand {
		j := &s.jobs[i]
		if free >= need && later(j.end(), time) {
			break
		}
		free += j.held
		if free-j.held < need {
			time = j.end()
		}
	}
	return max(time, s.now), free - need
}
