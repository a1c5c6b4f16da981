package rigid

// backfill starts jobs according to EASY that are behind the first job of the queue, for which too
// few workers are idle.
func (s *schedule) backfill() {
	shadow, extra := s.shadowTime()
	kept := s.queue[:1]
	for k, i := range s.queue[1:] {
		j := &s.jobs[i]
		ends := !isLater(s.now+j.asks, shadow)
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

// shadowTime returns the reservation of the first job of the queue, and the number of workers left
// over at that time.
func (s *schedule) shadowTime() (time float64, extra int) {
	free, need := s.free, s.jobs[s.queue[0]].size
	for _, i := range s.active {
		j := &s.jobs[i]
		if free >= need && isLater(j.end(), time) {
			break
		}
		free += j.held
		if free-j.held < need {
			time = j.end()
		}
	}
	return max(time, s.now), free - need
}
