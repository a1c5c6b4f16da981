package cluster

import (
	"math/rand/v2"

	"productform/internal/eventqueue"
	"productform/sim"
	"productform/sizes"
)

// A calendarJob is a job of a calendar.
type calendarJob struct {
	born  float64 // time of arrival
	since float64 // time at which left was the work left
	left  float64 // work
	rate  float64 // work done per unit of time: the capacity of the servers that serve it
	class uint32
}

// calendar simulates a cluster with any sizes in continuous time, first come, first served or with interruptions. As in
// serverQueues, the jobs that server s may serve are linked from node s on, oldest first, and job j has nodes
// servers + j stride and on. Each server works on the first job of its queue; a job done leaves all its queues, one
// that is interrupted moves to their ends.
//
// The next event is the earliest end in a schedule of the jobs in service, or a tick of a Poisson process: the arrivals
// of all classes and the interruptions of all servers, Σ_i λ_i + Σ_s C_s m/σ a unit of time, busy or not; the
// empty cluster waits for an arrival only. An end
// comes before a tick at the same time, and of jobs that end at the same time the oldest first. An event takes
// O(d log S) for a job of d among S servers, and allocates nothing but room for more jobs than ever before.
type calendar struct {
	sizes     []sizes.Distribution // by class
	random    *sim.Stream
	draws     *rand.Rand       // from random
	table     sizes.AliasTable // of the codes s of an interruption at server s, arrivals+i
	tick      float64          // mean time between ticks
	idleTable sizes.AliasTable // of the codes arrivals+i only, and the mean time between arrivals, for the empty cluster
	idleMean  float64

	capacity []float64         // by server
	row      []int32           // by server
	chosen   [][]chosenServers // by class
	degree   []uint32          // servers of a job, by class
	stride   uint32            // largest degree
	most     int               // jobs that may be present

	nodes   []node
	jobs    []calendarJob
	free    []uint32            // jobs that are not there
	service eventqueue.Schedule // of the jobs in service: the time at which each is done if nothing changes, the one that arrived first at a tie
	places  []int32             // by job, in service

	now, next float64   // time, and that of the next tick
	busy      []float64 // time from which a server is busy, if it is
	sim.Population
}

// newCalendar returns an empty cluster whose random numbers come from r: the time to the next tick, then at each tick
// what it is, the size and the servers of a job that arrives, and the time to the next.
func newCalendar(f *flat, c Cluster, r *sim.Stream) sim.Engine {
	servers := len(f.capacity)
	q := &calendar{
		sizes: f.sizes, random: r, draws: rand.New(r), capacity: f.capacity, row: f.row, nodes: make([]node, servers),
		busy: make([]float64, servers), Population: sim.NewPopulation(len(f.classes)),
	}
	var weights []float64
	var codes []uint32
	for s, capacity := range f.capacity {
		q.nodes[s] = node{next: uint32(s), prev: uint32(s), sentinel: uint32(s)}
		weights, codes = append(weights, capacity*c.Interruptions/f.sizeOfJob), append(codes, uint32(s))
	}
	for i, class := range f.classes {
		weights, codes = append(weights, class.ArrivalRate), append(codes, arrivals+uint32(i))
	}
	q.chosen, q.degree, q.stride = choices(f.chosen)
	q.table, q.tick = sizes.NewAliasTable(weights, codes), 1/sim.Sum(weights)
	q.idleTable, q.idleMean = sizes.NewAliasTable(weights[servers:], codes[servers:]), 1/sim.Sum(weights[servers:])
	q.most = min(sim.MaxJobs, maxLinks/int(q.stride))
	q.next = q.draws.ExpFloat64() * q.idleMean
	return q
}

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs].
func (q *calendar) Advance(t float64, seen *sim.Totals) error {
	for {
		if len(q.service) > 0 && q.service[0].Time <= q.next {
			if q.service[0].Time > t {
				break
			}
			q.now = q.service[0].Time
			q.depart(q.service[0].Item, seen)
			if q.Total == 0 { // a Poisson process has no memory of the tick that was to come
				q.next = q.now + q.draws.ExpFloat64()*q.idleMean
			}
			continue
		}
		if q.next > t {
			break
		}
		q.now = q.next
		if err := q.event(seen); err != nil {
			return err
		}
		q.next = q.now + q.draws.ExpFloat64()*q.tick
	}
	q.flush(t, seen)
	return nil
}

// event does what a tick stands for.
func (q *calendar) event(seen *sim.Totals) error {
	table := q.table
	if q.Total == 0 {
		table = q.idleTable
	}
	code := table.Pick(q.random.Uint64())
	if code >= arrivals {
		return q.arrive(code-arrivals, seen)
	}
	head := q.nodes[code].next
	if head == code {
		return nil
	}
	seen.Jumps++
	j := q.nodes[head].job
	job := &q.jobs[j]
	job.left = job.leftAt(q.now)
	q.release(j, seen)
	q.join(j)
	return nil
}

// arrive lets a job of class i in.
func (q *calendar) arrive(i uint32, seen *sim.Totals) error {
	if len(q.free) == 0 {
		if err := sim.CheckJobs(q.Total+1, q.most); err != nil {
			return err
		}
		q.grow()
	}
	j := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	q.jobs[j] = calendarJob{born: q.now, left: q.sizes[i].Sample(q.draws), class: i}
	seen.Jumps++
	q.Change(int(i), 1, q.now, seen)
	n := q.first(j)
	for _, c := range q.chosen[i] {
		for _, s := range c.draw(q.random) {
			q.nodes[n] = node{sentinel: s, job: j}
			n++
		}
	}
	q.join(j)
	return nil
}

// depart lets a job out that is done.
func (q *calendar) depart(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	seen.Leave(int(job.class), q.now-job.born)
	seen.Jumps++
	q.Change(int(job.class), -1, q.now, seen)
	q.release(j, seen)
	q.free = append(q.free, j)
}

// first returns the first node of a job.
func (q *calendar) first(j uint32) uint32 { return uint32(len(q.capacity)) + j*q.stride }

// join links a job that is not served behind the last of its servers, and serves it where it is the only one.
func (q *calendar) join(j uint32) {
	job := &q.jobs[j]
	first := q.first(j)
	for n := first; n < first+q.degree[job.class]; n++ {
		x := &q.nodes[n]
		sentinel := x.sentinel
		tail := q.nodes[sentinel].prev
		x.next, x.prev = sentinel, tail
		q.nodes[tail].next = n
		q.nodes[sentinel].prev = n
		if tail == sentinel {
			q.busy[sentinel] = q.now
			job.rate += q.capacity[sentinel]
		}
	}
	if job.rate > 0 {
		q.start(j)
	}
}

// start puts a job that is served from now on into the schedule.
func (q *calendar) start(j uint32) {
	job := &q.jobs[j]
	job.since = q.now
	q.service.Push(eventqueue.Entry{Time: q.now + job.left/job.rate, Tie: job.born, Item: j}, q.places)
}

// release takes a job in service out of its queues. Its servers go to the next there.
func (q *calendar) release(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	q.service.Remove(int(q.places[j]), q.places)
	job.rate = 0
	first := q.first(j)
	for n := first; n < first+q.degree[job.class]; n++ {
		x := &q.nodes[n]
		prev, next, sentinel := x.prev, x.next, x.sentinel
		q.nodes[prev].next = next
		q.nodes[next].prev = prev
		if prev != sentinel {
			continue // it was not the first there
		}
		if next == sentinel {
			seen.Busy[q.row[sentinel]] += q.now - q.busy[sentinel]
		} else if q.capacity[sentinel] > 0 {
			q.gain(q.nodes[next].job, q.capacity[sentinel])
		}
	}
}

// gain adds a server to those of a job. A job in service loses them all or none, so that its rate is a sum.
func (q *calendar) gain(j uint32, capacity float64) {
	job := &q.jobs[j]
	if job.rate == 0 {
		job.rate = capacity
		q.start(j)
		return
	}
	job.left, job.since = job.leftAt(q.now), q.now
	job.rate += capacity
	end := &q.service[q.places[j]]
	end.Time = min(end.Time, q.now+job.left/job.rate) // rounding must not make it later
	q.service.Up(int(q.places[j]), q.places)
}

// leftAt returns the work left at a time. Rounding must not make it negative.
func (j *calendarJob) leftAt(now float64) float64 { return max(0, j.left-j.rate*(now-j.since)) }

// flush counts up to time t, which becomes time 0.
func (q *calendar) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	for s := range q.busy {
		if q.nodes[s].next != uint32(s) {
			seen.Busy[q.row[s]] += t - q.busy[s]
			q.busy[s] = 0
		}
	}
	q.now, q.next = 0, q.next-t
	for k := range q.service { // the order stays: rounding is monotone
		q.service[k].Time -= t
		q.service[k].Tie -= t
	}
	for j := range q.jobs {
		q.jobs[j].born -= t
		q.jobs[j].since -= t
	}
}

// grow makes room for as many more jobs as there are, at least 1.
func (q *calendar) grow() {
	more := min(max(len(q.jobs), 8), q.most-len(q.jobs))
	for j := len(q.jobs) + more - 1; j >= len(q.jobs); j-- {
		q.free = append(q.free, uint32(j))
	}
	q.jobs = append(q.jobs, make([]calendarJob, more)...)
	q.places = append(q.places, make([]int32, more)...)
	q.nodes = append(q.nodes, make([]node, more*int(q.stride))...)
}
