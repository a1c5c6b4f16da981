package stations

import (
	"math"

	"productform/internal/eventqueue"
)

// Shared is a station with processor sharing: the jobs of a queue share its rate equally, and the
// rates of the queues depend on the numbers of jobs in all queues. A queue holds one class of jobs,
// or all of them.
//
// All jobs of a queue are served at the same speed φ_i(x)/x_i. With V_i(t) the integral of the
// speed, a job of work w that arrives at time t finishes when V_i reaches V_i(t) + w. So a queue is
// a heap of these values.
type Shared struct {
	rates  func(x []int, phi []float64) error
	queues []queue
	one    bool // whether all classes share one queue
	x      []int
	phi    []float64
	since  float64 // time up to which attained is known
	next   float64
	which  int // queue of the next departure
}

type queue struct {
	scale float64 // approximate work of a job
	// work done so far on a permanent job; reset when the queue is empty or the value large, to
	// keep all digits
	attained float64
	speed    float64 // work per unit of time on each job
	jobs     eventqueue.Queue[Job]
}

// NewShared returns a station with one queue per class. The function rates writes φ_i(x) >= 0 into
// phi for each i with x_i > 0, and scale is the approximate work of a job of each class.
func NewShared(rates func(x []int, phi []float64) error, scale []float64) *Shared {
	s := &Shared{
		rates:  rates,
		queues: make([]queue, len(scale)),
		x:      make([]int, len(scale)),
		phi:    make([]float64, len(scale)),
		next:   math.Inf(1),
	}
	for i, v := range scale {
		s.queues[i].scale = v
	}
	return s
}

// NewSharing returns a station at which all n >= 1 jobs share the rate total(n).
func NewSharing(total func(n int) float64, scale float64) *Shared {
	s := NewShared(func(x []int, phi []float64) error {
		if x[0] > 0 {
			phi[0] = total(x[0])
		}
		return nil
	}, []float64{scale})
	s.one = true
	return s
}

func (s *Shared) queueOf(j Job) int {
	if s.one {
		return 0
	}
	return int(j.Class)
}

// Arrive implements [Station].
func (s *Shared) Arrive(now float64, job Job, work float64) error {
	s.serve(now)
	i := s.queueOf(job)
	q := &s.queues[i]
	q.jobs.Push(q.attained+work, job)
	s.x[i]++
	return s.reschedule(now)
}

// Next implements [Station].
func (s *Shared) Next() float64 { return s.next }

// Depart implements [Station].
func (s *Shared) Depart() (Job, error) {
	now := s.next
	s.serve(now)
	q := &s.queues[s.which]
	end := q.jobs.Pop()
	q.attained = end.Time // avoids the rounding of serve
	if len(q.jobs) == 0 {
		q.attained = 0
	} else if q.attained > 1024*q.scale*float64(len(q.jobs)) { // about 1000 departures per present job
		for k := range q.jobs {
			q.jobs[k].Time -= q.attained
		}
		q.attained = 0
	}
	s.x[s.which]--
	return end.Item, s.reschedule(now)
}

// serve applies the work done up to now.
func (s *Shared) serve(now float64) {
	t := now - s.since
	s.since = now
	for i := range s.queues {
		q := &s.queues[i]
		q.attained += q.speed * t
	}
}

// reschedule computes the rates and the next departure.
func (s *Shared) reschedule(now float64) error {
	if err := s.rates(s.x, s.phi); err != nil {
		return err
	}
	s.next = math.Inf(1)
	for i := range s.queues {
		q := &s.queues[i]
		q.speed = 0
		if s.x[i] > 0 && s.phi[i] > 0 {
			q.speed = s.phi[i] / float64(s.x[i])
			if at := now + max(0, q.jobs[0].Time-q.attained)/q.speed; at < s.next {
				s.next, s.which = at, i
			}
		}
	}
	return nil
}

// Rate implements [Station].
func (s *Shared) Rate() float64 {
	var sum float64
	for i, n := range s.x {
		if n > 0 {
			sum += s.phi[i]
		}
	}
	return sum
}

// Shift implements [Station].
func (s *Shared) Shift(t float64) {
	s.since -= t
	s.next -= t
}
