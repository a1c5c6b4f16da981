package cluster

// A finish is the time at which a job in service is done if nothing changes.
type finish struct {
	at  float64
	job uint32
}

// finishes is a binary heap, the earliest first, of jobs that know their places in it.
type finishes []finish

// before compares two entries: the earlier finish or, if they are equal, the job that arrived earlier is first.
func before(a, b finish, jobs []calendarJob) bool {
	return a.at < b.at || a.at == b.at && jobs[a.job].born < jobs[b.job].born
}

// up moves the entry at place k, which may be too early for it, to where it belongs.
func (h finishes) up(jobs []calendarJob, k int) {
	f := h[k]
	for k > 0 {
		parent := (k - 1) / 2
		if !before(f, h[parent], jobs) {
			break
		}
		h[k] = h[parent]
		jobs[h[k].job].place = int32(k)
		k = parent
	}
	h[k] = f
	jobs[f.job].place = int32(k)
}

// down moves the entry at place k, which may be too late for it, to where it belongs.
func (h finishes) down(jobs []calendarJob, k int) {
	f := h[k]
	for {
		child := 2*k + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && before(h[child+1], h[child], jobs) {
			child++
		}
		if !before(h[child], f, jobs) {
			break
		}
		h[k] = h[child]
		jobs[h[k].job].place = int32(k)
		k = child
	}
	h[k] = f
	jobs[f.job].place = int32(k)
}

// remove takes out the entry at place k and returns the heap without it.
func (h finishes) remove(jobs []calendarJob, k int) finishes {
	last := len(h) - 1
	f := h[last]
	h = h[:last]
	if k < last {
		h[k] = f
		jobs[f.job].place = int32(k)
		h.up(jobs, k)
		h.down(jobs, int(jobs[f.job].place))
	}
	return h
}
