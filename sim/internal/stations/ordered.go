package stations

import "math"

// Ordered is a station that visits its jobs in order of arrival, or in reverse order, and gives
// each a rate according to a rule.
type Ordered struct {
	rule    rule
	jobs    []orderedJob // jobs[head:], oldest first
	head    int
	x       []int // number of jobs by class
	classes int   // number of classes with jobs
	working []int // indices of jobs with a rate > 0
	rate    float64
	since   float64 // time up to which work has been applied
	next    float64
	which   int // index of the job that finishes next

	swaps [][]bool // whether jobs of two classes swap; nil unless this is a pass-and-swap queue
	draw  func(class int32) float64
	ended int32 // class of the job that finished last
}

type orderedJob struct {
	Job
	left float64 // remaining work
	rate float64 // > 0 for the jobs in working
}

// A rule determines which jobs are served: it calls [Ordered.give] for them, at most once each. A
// rule may hold state and belongs to one station.
type rule interface{ share(q *Ordered) }

func newOrdered(r rule, classes int) *Ordered {
	return &Ordered{rule: r, x: make([]int, classes), next: math.Inf(1)}
}

// Swapping turns an empty station into a pass-and-swap queue. A job that finishes does not depart:
// it scans the jobs behind it in order of arrival, and takes the place of the first that it can
// swap with. That job continues in the same way from there. A job that finds no such job departs. A
// job that has moved needs as much work as draw returns for its class.
//
// C. Comte and J.-P. Dorsman, "Pass-and-swap queues", Queueing Systems 98 (2021), 275–331.
func (q *Ordered) Swapping(swaps [][]bool, draw func(class int32) float64) *Ordered {
	q.swaps, q.draw = swaps, draw
	return q
}

// Arrive implements [Station].
func (q *Ordered) Arrive(now float64, job Job, work float64) error {
	q.work(now)
	q.jobs = append(q.jobs, orderedJob{Job: job, left: work})
	if q.x[job.Class]++; q.x[job.Class] == 1 {
		q.classes++
	}
	q.reschedule(now)
	return nil
}

// Next implements [Station].
func (q *Ordered) Next() float64 { return q.next }

// Depart implements [Station].
func (q *Ordered) Depart() (Job, error) {
	now := q.next
	q.work(now)
	job := q.jobs[q.which].Job
	q.ended = job.Class
	if q.swaps != nil {
		for k := q.which + 1; k < len(q.jobs); k++ {
			if other := &q.jobs[k]; q.swaps[job.Class][other.Class] {
				job, other.Job, other.left = other.Job, job, q.draw(job.Class)
			}
		}
	}
	q.remove(q.which)
	if q.x[job.Class]--; q.x[job.Class] == 0 {
		q.classes--
	}
	q.reschedule(now)
	return job, nil
}

// Ended returns the class of the job that finished at the last departure. It differs from the
// departing job if jobs swapped.
func (q *Ordered) Ended() int { return int(q.ended) }

// remove removes the job at an index, and moves the jobs on the shorter side.
func (q *Ordered) remove(place int) {
	if place-q.head > len(q.jobs)-1-place {
		q.jobs = append(q.jobs[:place], q.jobs[place+1:]...)
		return
	}
	copy(q.jobs[q.head+1:place+1], q.jobs[q.head:place])
	q.head++
	if q.head > 1000 && q.head > len(q.jobs)/2 {
		q.jobs = q.jobs[:copy(q.jobs, q.jobs[q.head:])]
		q.head = 0
	}
}

// work applies the work done up to now.
func (q *Ordered) work(now float64) {
	t := now - q.since
	q.since = now
	for _, k := range q.working {
		q.jobs[k].left -= q.jobs[k].rate * t
	}
}

// reschedule computes the rates and the next departure.
func (q *Ordered) reschedule(now float64) {
	q.working, q.rate, q.next = q.working[:0], 0, math.Inf(1)
	q.rule.share(q)
	for _, k := range q.working {
		j := &q.jobs[k]
		if at := now + max(0, j.left)/j.rate; at < q.next {
			q.next, q.which = at, k
		}
	}
}

// give gives a rate to the job at an index.
func (q *Ordered) give(place int, rate float64) {
	if rate > 0 {
		q.jobs[place].rate = rate
		q.working = append(q.working, place)
		q.rate += rate
	}
}

// Rate implements [Station].
func (q *Ordered) Rate() float64 { return q.rate }

// Shift implements [Station].
func (q *Ordered) Shift(t float64) {
	q.since -= t
	q.next -= t
}
