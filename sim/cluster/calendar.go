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
	since float64 // time at which left was computed
	left  float64 // remaining work
	rate  float64 // total capacity of the servers that serve it
	class uint32
}

// calendar simulates a cluster with any sizes in continuous time, FCFS or with interruptions. As in
// serverQueues, the jobs that server s may serve are linked from node s, oldest first, and the
// nodes of job j start at servers + j stride. Each server works on the first job of its queue. A
// finished job leaves all its queues; an interrupted job moves to their ends.
//
// The next event is the earliest end in a schedule of the jobs in service, the earliest time at
// which a job times out, or a tick of a Poisson process. Ticks are the arrivals of all classes and
// the interruptions of all servers, busy or not, at the total rate Σ_i λ_i + Σ_s C_s m/σ; in the
// empty cluster, only arrivals. At equal times an end precedes a timeout, this a tick, and the
// oldest job ends first. An event takes O(d log S) for a job with d of S servers, and allocates
// only when there are more jobs than ever before.
type calendar struct {
	sizes  []sizes.Distribution // by class
	random *sim.Stream
	draws  *rand.Rand       // seeded from random
	table  sizes.AliasTable // codes: s is an interruption at server s, arrivals+i an arrival of class i
	tick   float64          // mean time between ticks
	// for the empty cluster: the codes arrivals+i only, and the mean time between arrivals
	idleTable sizes.AliasTable
	idleMean  float64

	capacity []float64         // by server
	row      []int32           // by server
	chosen   [][]chosenServers // by class
	degree   []uint32          // number of servers of a job, by class
	stride   uint32            // largest degree
	most     int               // maximum number of jobs

	nodes []node
	jobs  []calendarJob
	free  []uint32 // unused indices of jobs
	// the jobs in service, by the time at which they end if nothing changes; ties go to the job
	// that arrived first
	service eventqueue.Schedule
	places  []int32 // index in service, by job

	now, next float64   // current time, and time of the next tick
	busy      []float64 // start of the busy period of a server, if it is busy
	timer     timer
	sim.Population
}

// newCalendar returns an empty cluster that draws random numbers from r: the time to the next tick;
// then at each tick its kind, the size, the servers and the timeout of an arriving job, if it has
// one, and the time to the next tick.
func newCalendar(f *flat, c Cluster, r *sim.Stream) sim.Engine {
	servers := len(f.capacity)
	q := &calendar{
		sizes: f.sizes, random: r, draws: rand.New(r), capacity: f.capacity, row: f.row, nodes: make([]node, servers),
		busy: make([]float64, servers), timer: newTimer(f.timeouts), Population: sim.NewPopulation(len(f.classes)),
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
	if f.timeouts != nil {
		return timedCalendar{q}
	}
	return q
}

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs].
func (q *calendar) Advance(t float64, seen *sim.Totals) error {
	for {
		departures := q.timer.limits
		isEnd := len(q.service) > 0 && q.service[0].Time <= q.timer.next()
		if isEnd {
			departures = q.service
		}
		if len(departures) > 0 && departures[0].Time <= q.next {
			if departures[0].Time > t {
				break
			}
			q.now = departures[0].Time
			j := departures[0].Item
			if !isEnd {
				q.timer.timedOut[q.jobs[j].class]++
			}
			q.depart(j, seen)
			if q.Total == 0 { // a Poisson process is memoryless, so the pending tick can be replaced
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

// event performs a tick.
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

// arrive adds an arriving job of class i.
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
	q.timer.add(j, i, q.now, q.draws)
	q.join(j)
	return nil
}

// depart removes a job that is done or has timed out.
func (q *calendar) depart(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	seen.Leave(int(job.class), q.now-job.born)
	seen.Jumps++
	q.Change(int(job.class), -1, q.now, seen)
	q.timer.remove(j, job.class)
	q.release(j, seen)
	q.free = append(q.free, j)
}

// first returns the first node of a job.
func (q *calendar) first(j uint32) uint32 { return uint32(len(q.capacity)) + j*q.stride }

// join appends a job that is not in service to the queues of its servers, and starts its service at
// servers where it is the only one.
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

// start adds a job whose service starts to the schedule.
func (q *calendar) start(j uint32) {
	job := &q.jobs[j]
	job.since = q.now
	q.service.Push(eventqueue.Entry{Time: q.now + job.left/job.rate, Tie: job.born, Item: j}, q.places)
}

// release removes a job from its queues. Its servers continue with the next jobs there.
func (q *calendar) release(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	if job.rate > 0 {
		q.service.Remove(int(q.places[j]), q.places)
	}
	job.rate = 0
	first := q.first(j)
	for n := first; n < first+q.degree[job.class]; n++ {
		x := &q.nodes[n]
		prev, next, sentinel := x.prev, x.next, x.sentinel
		q.nodes[prev].next = next
		q.nodes[next].prev = prev
		if prev != sentinel {
			continue // the job was not first in this queue
		}
		if next == sentinel {
			seen.Busy[q.row[sentinel]] += q.now - q.busy[sentinel]
		} else if q.capacity[sentinel] > 0 {
			q.gain(q.nodes[next].job, q.capacity[sentinel])
		}
	}
}

// gain adds a server to a job in service. A job loses either all its servers or none, so its rate
// is a sum of capacities.
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
	end.Time = min(end.Time, q.now+job.left/job.rate) // rounding must not postpone the end
	q.service.Up(int(q.places[j]), q.places)
}

// leftAt returns the work left at time now. Rounding must not make it negative.
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
	for k := range q.service { // rounding is monotone, so the order is preserved
		q.service[k].Time -= t
		q.service[k].Tie -= t
	}
	q.timer.flush(t)
	for j := range q.jobs {
		q.jobs[j].born -= t
		q.jobs[j].since -= t
	}
}

// grow doubles the space for jobs, to at least 1.
func (q *calendar) grow() {
	more := min(max(len(q.jobs), 8), q.most-len(q.jobs))
	for j := len(q.jobs) + more - 1; j >= len(q.jobs); j-- {
		q.free = append(q.free, uint32(j))
	}
	q.jobs = append(q.jobs, make([]calendarJob, more)...)
	q.places = append(q.places, make([]int32, more)...)
	q.nodes = append(q.nodes, make([]node, more*int(q.stride))...)
}
