package sim

import (
	"math"
	"math/rand/v2"

	"productform/internal/alias"
	"productform/internal/eventqueue"
	"productform/sizes"
)

// A sharing is a network of processor-sharing queues: what all its replications have in common.
type sharing struct {
	sources []source
	table   alias.Table // of the places of sources
	rate    float64     // arrivals per unit of time, of all sources
	parts   []sharingPart
	partOf  []int     // of each queue
	mean    []float64 // size of a job of each queue, for scale
	watched [][]counted
	rows    int // of classes
}

// A source is a Poisson process of jobs.
type source struct {
	row     int // class, for the statistics
	queue   int
	sizes   sizes.Distribution
	watches []int // the servers, in watched, that can serve its jobs
}

// A counted row stands for count servers of the row that are busy at the same times.
type counted struct{ row, count int }

// A sharingPart is a range of queues whose rates depend on each other only.
type sharingPart struct {
	from, to int
	rates    func(x []int, phi []float64) error // writes the rates of the queues from..to-1 with x jobs
}

// A sharedQueue shares its rate equally among its jobs.
type sharedQueue struct {
	attained float64 // work done on a job that has always been there
	speed    float64 // work per unit of time on each job
	jobs     eventqueue.Queue[sharedJob]
}

// A sharedJob is a job of a sharedQueue. It is done when the queue has attained what it had then and the size.
type sharedJob struct {
	born   float64 // time of arrival
	source int32
}

// sharedQueues is a sharing in motion, in continuous time. All jobs of a queue are served at the same speed φ_i(x)/x_i:
// with V_i(t) the integral of the speed, a job of size z that arrives at time t is done when V_i is V_i(t) + z. So a
// queue is a heap of these values, and the next departure that of the queue where (least value - V_i) x_i/φ_i is least.
// An event takes O(log x_i) for the heap and O(1) for each queue of the part; it allocates nothing but room for more
// jobs than ever before.
//
// Times count from the start of the current advance, and V_i from when the queue was empty or V_i large, so that no
// digits are lost in long runs.
type sharedQueues struct {
	*sharing
	draws   *rand.Rand
	now     float64
	arrival float64   // time of the next
	next    []float64 // time of the next departure, by part
	which   []int     // queue of the next departure, by part
	since   []float64 // time up to which attained is known, by part
	queues  []sharedQueue
	x       []int     // jobs, by queue
	phi     []float64 // by queue

	Population           // by row of classes
	busy       []int     // jobs that it can serve, by watched
	start      []float64 // time from which it is busy, if it is
}

func newSharedQueues(s *sharing, r *Stream) *sharedQueues {
	parts, queues := len(s.parts), len(s.partOf)
	q := &sharedQueues{
		sharing: s, draws: rand.New(r),
		next: make([]float64, parts), which: make([]int, parts), since: make([]float64, parts),
		queues: make([]sharedQueue, queues), x: make([]int, queues), phi: make([]float64, queues),
		Population: NewPopulation(s.rows),
		busy:       make([]int, len(s.watched)), start: make([]float64, len(s.watched)),
	}
	for k := range q.next {
		q.next[k] = math.Inf(1)
	}
	q.arrival = q.draws.ExpFloat64() / s.rate
	return q
}

// Advance simulates t units of time. The error is that of the rates, or wraps [ErrTooManyJobs].
func (q *sharedQueues) Advance(t float64, seen *Totals) error {
	for {
		part, at := -1, q.arrival
		for k, v := range q.next {
			if v <= at {
				part, at = k, v
			}
		}
		if at > t {
			break
		}
		q.now = at
		var err error
		if part < 0 {
			err = q.arrive(seen)
		} else {
			err = q.depart(part, seen)
		}
		if err != nil {
			return err
		}
	}
	q.flush(t, seen)
	return nil
}

// arrive lets a job in.
func (q *sharedQueues) arrive(seen *Totals) error {
	q.arrival = q.now + q.draws.ExpFloat64()/q.rate
	code := q.table.Pick(q.draws.Uint64())
	if err := CheckJobs(q.Total+1, MaxJobs); err != nil {
		return err
	}
	s := &q.sources[code]
	part := q.partOf[s.queue]
	q.serve(part)
	n := &q.queues[s.queue]
	n.jobs.Push(n.attained+s.sizes.Sample(q.draws), sharedJob{q.now, int32(code)})
	q.count(s, 1, seen)
	return q.reschedule(part)
}

// depart lets go of the next job of a part.
func (q *sharedQueues) depart(part int, seen *Totals) error {
	q.serve(part)
	i := q.which[part]
	n := &q.queues[i]
	end := n.jobs.Pop()
	job := end.Item
	n.attained = end.Time // without the rounding of serve
	if len(n.jobs) == 0 {
		n.attained = 0
	} else if n.attained > 1024*q.mean[i] { // by then as many jobs as there are have left 1000 times
		for k := range n.jobs {
			n.jobs[k].Time -= n.attained
		}
		n.attained = 0
	}
	s := &q.sources[job.source]
	seen.Left[s.row]++
	seen.Sojourn[s.row] += q.now - job.born
	q.count(s, -1, seen)
	return q.reschedule(part)
}

// serve does the work of a part since its last event.
func (q *sharedQueues) serve(part int) {
	p := &q.parts[part]
	t := q.now - q.since[part]
	q.since[part] = q.now
	for i := p.from; i < p.to; i++ {
		n := &q.queues[i]
		n.attained += n.speed * t
	}
}

// count counts one job more or less.
func (q *sharedQueues) count(s *source, by int, seen *Totals) {
	seen.Jumps++
	q.Change(s.row, by, q.now, seen)
	q.x[s.queue] += by
	for _, w := range s.watches {
		q.busy[w] += by
		switch {
		case by > 0 && q.busy[w] == 1:
			q.start[w] = q.now
		case by < 0 && q.busy[w] == 0:
			q.worked(w, q.now-q.start[w], seen)
		}
	}
}

func (q *sharedQueues) worked(w int, t float64, seen *Totals) {
	for _, c := range q.watched[w] {
		seen.Busy[c.row] += float64(c.count) * t
	}
}

// reschedule finds the rates of a part and its next departure.
func (q *sharedQueues) reschedule(part int) error {
	p := &q.parts[part]
	if err := p.rates(q.x[p.from:p.to], q.phi[p.from:p.to]); err != nil {
		return err
	}
	next := math.Inf(1)
	for i := p.from; i < p.to; i++ {
		n := &q.queues[i]
		n.speed = 0
		if q.x[i] > 0 && q.phi[i] > 0 {
			n.speed = q.phi[i] / float64(q.x[i])
			if at := q.now + max(0, n.jobs[0].Time-n.attained)/n.speed; at < next {
				next, q.which[part] = at, i
			}
		}
	}
	q.next[part] = next
	return nil
}

// flush counts what lasts until the end of an advance at time t, and sets the clock to 0.
func (q *sharedQueues) flush(t float64, seen *Totals) {
	q.Population.Flush(t, seen)
	for w, n := range q.busy {
		if n > 0 {
			q.worked(w, t-q.start[w], seen)
			q.start[w] = 0
		}
	}
	for part := range q.parts {
		q.since[part] -= t
		q.next[part] -= t
	}
	for i := range q.queues {
		for k := range q.queues[i].jobs {
			q.queues[i].jobs[k].Item.born -= t
		}
	}
	q.arrival -= t
	q.now = 0
}
