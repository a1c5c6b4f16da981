// This file simulates networks of processor-sharing queues: how many jobs are there, and how long
// do they take? Clusters, divisible resources shared by jobs, and Whittle networks are such
// networks.

package stations

import (
	"math"
	"math/rand/v2"

	"productform/internal/eventqueue"
	"productform/sim"
	"productform/sizes"
)

// A Network is a network of processor-sharing queues; all replications share it.
type Network struct {
	Sources  []Source
	Table    sizes.AliasTable // draws indices of Sources
	Rate     float64          // total arrivals per unit of time
	Parts    []Part
	PartOf   []int     // part of each queue
	MeanSize []float64 // mean size of a job of each queue, for scale
	Watched  [][]Row   // groups of servers that are busy at the same times
	Rows     int       // number of classes
}

// A Source is a Poisson process of jobs.
type Source struct {
	Row     int // class, for the statistics
	Queue   int
	Sizes   sizes.Distribution
	Watches []int // indices in Watched of the servers that can serve its jobs
}

// A Row stands for Count servers of a group of servers.
type Row struct{ Row, Count int }

// A Part is a range of queues whose rates depend only on each other.
type Part struct {
	From, To int
	Rates    func(x []int, phi []float64) error // writes the rates of the queues From..To-1 with x jobs
}

// A psQueue shares its rate equally among its jobs.
type psQueue struct {
	attained float64 // work done so far on a permanent job
	speed    float64 // work per unit of time on each job
	jobs     eventqueue.Queue[job]
}

// A job is a job of a queue. It finishes when attained has grown by its size since its arrival.
type job struct {
	born   float64 // time of arrival
	source int32
}

// Queues is the engine of a [Network] in continuous time. All jobs of a queue are served at the
// same speed φ_i(x)/x_i. With V_i(t) the integral of the speed, a job of size z that arrives at
// time t finishes when V_i reaches V_i(t) + z. So a queue is a heap of these values, and the next
// departure is in the queue with the smallest (smallest value - V_i) x_i/φ_i. An event takes O(log
// x_i) for the heap and O(1) for each queue of the part; it allocates only when there are more jobs
// than ever before.
//
// V_i is reset when the queue is empty or V_i large, so long runs do not lose digits.
type Queues struct {
	*Network
	draws   *rand.Rand
	now     float64
	arrival float64   // time of the next arrival
	next    []float64 // time of the next departure, by part
	which   []int     // queue of the next departure, by part
	since   []float64 // time up to which attained is known, by part
	queues  []psQueue
	x       []int     // number of jobs, by queue
	phi     []float64 // rate, by queue

	sim.Population           // by row of classes
	busy           []int     // number of jobs that the group can serve, by watched group
	start          []float64 // start of the group's busy period, if it is busy
}

// New returns an empty network with random numbers from r.
func New(s *Network, r *sim.Stream) *Queues {
	parts, queues := len(s.Parts), len(s.PartOf)
	q := &Queues{
		Network: s, draws: rand.New(r),
		next: make([]float64, parts), which: make([]int, parts), since: make([]float64, parts),
		queues: make([]psQueue, queues), x: make([]int, queues), phi: make([]float64, queues),
		Population: sim.NewPopulation(s.Rows),
		busy:       make([]int, len(s.Watched)), start: make([]float64, len(s.Watched)),
	}
	for k := range q.next {
		q.next[k] = math.Inf(1)
	}
	q.arrival = q.draws.ExpFloat64() / s.Rate
	return q
}

// Advance simulates t units of time. It returns the error of the rates, or an error that wraps
// [sim.ErrTooManyJobs].
func (q *Queues) Advance(t float64, seen *sim.Totals) error {
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

// arrive adds an arriving job.
func (q *Queues) arrive(seen *sim.Totals) error {
	q.arrival = q.now + q.draws.ExpFloat64()/q.Rate
	code := q.Table.Pick(q.draws.Uint64())
	if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	s := &q.Sources[code]
	part := q.PartOf[s.Queue]
	q.serve(part)
	n := &q.queues[s.Queue]
	n.jobs.Push(n.attained+s.Sizes.Sample(q.draws), job{q.now, int32(code)})
	q.count(s, 1, seen)
	return q.reschedule(part)
}

// depart removes the next job of a part.
func (q *Queues) depart(part int, seen *sim.Totals) error {
	q.serve(part)
	i := q.which[part]
	n := &q.queues[i]
	end := n.jobs.Pop()
	job := end.Item
	n.attained = end.Time // avoids the rounding of serve
	if len(n.jobs) == 0 {
		n.attained = 0
	} else if n.attained > 1024*q.MeanSize[i] { // about 1000 departures per present job
		for k := range n.jobs {
			n.jobs[k].Time -= n.attained
		}
		n.attained = 0
	}
	s := &q.Sources[job.source]
	seen.Leave(s.Row, q.now-job.born)
	q.count(s, -1, seen)
	return q.reschedule(part)
}

// serve applies the work of a part since its last event.
func (q *Queues) serve(part int) {
	p := &q.Parts[part]
	t := q.now - q.since[part]
	q.since[part] = q.now
	for i := p.From; i < p.To; i++ {
		n := &q.queues[i]
		n.attained += n.speed * t
	}
}

// count counts an arrival or a departure.
func (q *Queues) count(s *Source, by int, seen *sim.Totals) {
	seen.Jumps++
	q.Change(s.Row, by, q.now, seen)
	q.x[s.Queue] += by
	for _, w := range s.Watches {
		q.busy[w] += by
		switch {
		case by > 0 && q.busy[w] == 1:
			q.start[w] = q.now
		case by < 0 && q.busy[w] == 0:
			q.worked(w, q.now-q.start[w], seen)
		}
	}
}

func (q *Queues) worked(w int, t float64, seen *sim.Totals) {
	for _, c := range q.Watched[w] {
		seen.Busy[c.Row] += float64(c.Count) * t
	}
}

// reschedule computes the rates of a part and its next departure.
func (q *Queues) reschedule(part int) error {
	p := &q.Parts[part]
	if err := p.Rates(q.x[p.From:p.To], q.phi[p.From:p.To]); err != nil {
		return err
	}
	next := math.Inf(1)
	for i := p.From; i < p.To; i++ {
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

// flush counts up to the end of an advance at time t, which becomes time 0.
func (q *Queues) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	for w, n := range q.busy {
		if n > 0 {
			q.worked(w, t-q.start[w], seen)
			q.start[w] = 0
		}
	}
	for part := range q.Parts {
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
