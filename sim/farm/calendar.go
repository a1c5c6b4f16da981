package farm

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"productform/sim"
)

// A job is a job of a calendar.
type job struct {
	born   float64 // time of arrival
	joined float64 // time of arrival at its host
	waited float64 // time spent in previous queues
	size   float64 // work
}

// calendar is the engine of a farm in continuous time. The next event is the end of a visit to a
// host, at done, or an arrival; it is found by scanning these h+1 times. At equal times, the end of
// a visit precedes an arrival. If visits end at the same time, the one at the last host ends first,
// so a killed job finds the next host in its final state. An event takes O(h) time, and allocates
// only when a queue is longer than ever before.
type calendar struct {
	*farm
	random  *sim.Stream
	draws   *rand.Rand // seeded from random
	now     float64
	arrival float64    // time of the next arrival
	done    []float64  // end of the visit in service, +Inf if the host is idle
	service []job      // job in service
	began   []float64  // time since which its service is counted
	last    []float64  // time of the last arrival at the host, -Inf if there is none
	queues  []jobQueue // queues of the hosts; the first is the central queue, if any
	turn    int        // host of the next job under round-robin
	sim.Population

	byClass []classTotals
	byHost  []hostTotals
}

// newCalendar returns an empty farm with random numbers from r: the time to the first arrival; at
// each arrival the size of the job, its host if that is random, and the time to the next arrival.
func newCalendar(g *farm, r *sim.Stream) sim.Engine {
	hosts := len(g.speed)
	q := &calendar{
		farm: g, random: r, draws: rand.New(r), done: make([]float64, hosts), service: make([]job, hosts),
		began: make([]float64, hosts), last: make([]float64, hosts), queues: make([]jobQueue, hosts),
		Population: sim.NewPopulation(g.classes),
		byClass:    make([]classTotals, g.classes), byHost: make([]hostTotals, hosts),
	}
	for i := range hosts {
		q.done[i], q.last[i] = math.Inf(1), math.Inf(-1)
	}
	q.arrival = q.draws.ExpFloat64() / q.rate
	return q
}

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs].
func (q *calendar) Advance(t float64, seen *sim.Totals) error {
	for {
		host, at := -1, q.arrival
		for i, end := range q.done {
			if end <= at {
				host, at = i, end
			}
		}
		if at > t {
			break
		}
		q.now = at
		seen.Jumps++
		if host >= 0 {
			q.finish(host, seen)
		} else if err := q.arrive(seen); err != nil {
			return err
		}
	}
	q.flush(t, seen)
	return nil
}

// arrive adds an arriving job.
func (q *calendar) arrive(seen *sim.Totals) error {
	if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	size := q.sizes.Sample(q.draws)
	class := 0
	if q.bySize {
		class = q.interval(size)
	}
	q.Change(class, 1, q.now, seen)
	job := job{born: q.now, joined: q.now, size: size}
	switch host := q.assign(q, size); {
	case host < 0:
		q.queues[0].push(job)
	case q.central:
		q.serve(host, job, seen)
	default:
		q.join(host, job, seen)
	}
	q.arrival = q.now + q.draws.ExpFloat64()/q.rate
	return nil
}

// join adds a job to the queue of a host, or starts its service if the host is idle.
func (q *calendar) join(host int, job job, seen *sim.Totals) {
	if gap := (q.now - q.last[host]) * q.rate; gap <= math.MaxFloat64 {
		h := &q.byHost[host]
		h.gaps++
		h.gap += gap
		h.gapSquare += gap * gap
	}
	q.last[host] = q.now
	if q.idle(host) {
		q.serve(host, job, seen)
		return
	}
	q.queues[host].push(job)
}

// serve starts a visit. A visit that would end beyond the range of float64 ends at the largest
// float64.
func (q *calendar) serve(host int, job job, seen *sim.Totals) {
	wait := q.now - job.joined
	h := &q.byHost[host]
	h.visits++
	h.wait += wait
	job.waited += wait
	q.service[host] = job
	q.began[host] = q.now
	work := min(job.size, q.limit[host]) - q.spared[host]
	q.done[host] = min(q.now+work/q.speed[host], math.MaxFloat64)
}

// finish ends a visit. A killed job moves to the next host; the host starts its next job.
func (q *calendar) finish(host int, seen *sim.Totals) {
	job := q.service[host]
	seen.Busy[host] += q.now - q.began[host]
	line := &q.queues[host]
	if q.central {
		line = &q.queues[0]
	}
	if line.size > 0 {
		q.serve(host, line.pop(), seen)
	} else {
		q.done[host] = math.Inf(1)
	}
	if job.size > q.limit[host] {
		job.joined = q.now
		q.join(host+1, job, seen)
		return
	}
	class := 0
	if q.bySize {
		class = host
	}
	q.Change(class, -1, q.now, seen)
	seen.Leave(class, q.now-job.born)
	c := &q.byClass[class]
	c.waiting += job.waited
	c.slowdown += job.waited / job.size
}

func (q *calendar) idle(host int) bool { return q.done[host] > math.MaxFloat64 }

// fastestIdle returns the fastest idle host, or -1 if all are busy.
func (q *calendar) fastestIdle() int {
	for _, i := range q.fastest {
		if q.idle(i) {
			return i
		}
	}
	return -1
}

// nextHost returns the host after the one of the last call.
func (q *calendar) nextHost() int {
	host := q.turn
	if q.turn++; q.turn == len(q.speed) {
		q.turn = 0
	}
	return host
}

// shortest returns a host with the fewest jobs, breaking ties uniformly at random.
func (q *calendar) shortest() int {
	least, first, several := math.MaxInt, 0, 0
	for i := range q.queues {
		switch n := q.jobsAt(i); {
		case n < least:
			least, first, several = n, i, 1
		case n == least:
			several++
		}
	}
	if several == 1 {
		return first
	}
	chosen, _ := bits.Mul64(q.random.Uint64(), uint64(several))
	for i := first; ; i++ {
		if q.jobsAt(i) == least {
			if chosen == 0 {
				return i
			}
			chosen--
		}
	}
}

// jobsAt returns the number of jobs at a host, including the one in service.
func (q *calendar) jobsAt(host int) int {
	if q.idle(host) {
		return 0
	}
	return q.queues[host].size + 1
}

// flush counts up to time t, which becomes time 0.
func (q *calendar) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	shift := func(job *job) {
		job.born -= t
		job.joined -= t
	}
	for i := range q.done { // rounding is monotone, so differences of times stay >= 0
		if !q.idle(i) {
			seen.Busy[i] += t - q.began[i]
			q.began[i] = 0
			q.done[i] -= t
			shift(&q.service[i])
		}
		q.last[i] -= t
		line := &q.queues[i]
		for k := range line.size {
			shift(line.at(k))
		}
	}
	q.arrival -= t
	q.now = 0
}

// A jobQueue is a first-in, first-out queue in a ring whose length is a power of two.
type jobQueue struct {
	ring       []job
	head, size int
}

// at returns job k of the queue; job 0 is the oldest.
func (l *jobQueue) at(k int) *job { return &l.ring[(l.head+k)&(len(l.ring)-1)] }

func (l *jobQueue) push(last job) {
	if l.size == len(l.ring) {
		ring := make([]job, max(8, 2*l.size))
		for k := range l.size {
			ring[k] = *l.at(k)
		}
		l.ring, l.head = ring, 0
	}
	l.size++
	*l.at(l.size - 1) = last
}

// pop removes and returns the oldest job of a nonempty queue.
func (l *jobQueue) pop() job {
	oldest := *l.at(0)
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.size--
	return oldest
}
