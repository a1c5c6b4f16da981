package cluster

import (
	"math/rand/v2"

	"productform/sim"
)

// A node is the position of a job in the queue of one of its servers. The nodes of a queue form a
// ring closed by a node without a job, the sentinel of the server, so links change without
// branches.
type node struct {
	next, prev uint32 // neighbours in the queue: the jobs that arrived next and before
	sentinel   uint32 // sentinel of the queue
	job        uint32
}

// A chainJob is a job of a serverQueues.
type chainJob struct {
	born   int64 // step at which it arrived
	phases int64 // remaining phases
	class  uint32
	degree uint32 // number of servers
}

// A chainCount holds the counts of serverQueues for a class. Sums of steps may wrap around in very
// long runs, but only their differences are used, which are correct as long as they fit into 64
// bits.
type chainCount struct {
	present int64 // jobs present at the start of the count
	came    int64 // number of arrived jobs, and the sum of their arrival steps
	cameAt  int64
	left    int64 // number of departed jobs, and the sums of their departure steps and of their arrival steps
	leftAt  int64
	bornAt  int64
}

// serverQueues simulates a jumpChain with one queue per server that links the jobs it may serve,
// oldest first. It handles any number of classes, and servers drawn at random for each job. Node s
// is the sentinel of server s; the nodes of job j start at servers + j stride. A step takes time
// proportional to the number of servers of its job.
type serverQueues struct {
	*jumpChain
	random *sim.Stream
	draws  *rand.Rand // seeded from random

	chosen [][]chosenServers // by class
	degree []uint32          // number of servers of a job, by class
	stride uint32            // largest degree
	nodes  []node
	jobs   []chainJob
	free   []uint32 // the first unused entries are the free jobs
	unused int
	clock  int64 // steps done
	total  int   // number of jobs

	fraction float64      // fraction of a step still to do
	last     int64        // last step at which total changed, or the start of the count
	idle     int64        // steps without a jump
	count    []int64      // steps by number of jobs
	busy     []int64      // steps with a job in the queue, by server
	counts   []chainCount // by class

	codes [batch]uint32
}

func newServerQueues(c *jumpChain, chosen [][]chosenServers, random *sim.Stream) *serverQueues {
	q := &serverQueues{
		jumpChain: c, random: random, draws: rand.New(random),
		nodes: make([]node, len(c.rows)), count: make([]int64, 1), busy: make([]int64, len(c.rows)),
		counts: make([]chainCount, c.classes),
	}
	for s := range q.nodes {
		q.nodes[s] = node{next: uint32(s), prev: uint32(s), sentinel: uint32(s)}
	}
	q.chosen, q.degree, q.stride = choices(chosen)
	return q
}

// Advance performs the steps of t units of time.
func (q *serverQueues) Advance(t float64, seen *sim.Totals) error {
	q.fraction += t * q.rate
	steps := int(q.fraction)
	q.fraction -= float64(steps)
	start := q.clock
	q.last = start
	for s := range q.busy {
		q.busy[s] = 0
		if q.nodes[s].next != uint32(s) {
			q.busy[s] = -start
		}
	}
	for done := 0; done < steps; done += batch {
		if err := sim.CheckJobs(q.total, min(sim.MaxJobs, maxLinks/int(q.stride))); err != nil {
			return err
		}
		q.step(q.codes[:min(batch, steps-done)])
	}
	q.report(start, seen)
	return nil
}

// grow makes space for at least as many more jobs.
func (q *serverQueues) grow(jobs int) {
	more := len(q.jobs) + jobs
	q.free = append(q.free, make([]uint32, more)...)
	for j := len(q.jobs) + more - 1; j >= len(q.jobs); j-- {
		q.free[q.unused] = uint32(j)
		q.unused++
	}
	q.jobs = append(q.jobs, make([]chainJob, more)...)
	q.nodes = append(q.nodes, make([]node, more*int(q.stride))...)
}

// step draws and performs one batch of steps.
func (q *serverQueues) step(codes []uint32) {
	if q.unused < len(codes) {
		q.grow(len(codes))
	}
	if need := q.total + len(codes) + 1 - len(q.count); need > 0 {
		q.count = append(q.count, make([]int64, need+need/2)...)
	}
	q.random.Fill(q.table, codes)
	nodes, jobs, servers, stride := q.nodes, q.jobs, uint32(len(q.rows)), q.stride
	clock, idle := q.clock, int64(0)
	for _, code := range codes {
		clock++
		if code >= arrivals {
			q.arrive(code-arrivals, clock)
			continue
		}
		head := nodes[code>>1].next
		if head < servers {
			idle++
			continue
		}
		j := nodes[head].job
		job := &jobs[j]
		if code&1 == 0 {
			if job.phases--; job.phases == 0 {
				q.depart(j, clock)
			}
			continue
		}
		n := servers + j*stride
		for end := n + job.degree; n < end; n++ { // move it behind the last
			x := &nodes[n]
			prev, next, sentinel := x.prev, x.next, x.sentinel
			s := &nodes[sentinel]
			nodes[prev].next = next
			nodes[next].prev = prev
			tail := s.prev
			nodes[tail].next = n
			s.prev = n
			x.next, x.prev = sentinel, tail
		}
	}
	q.clock = clock
	q.idle += idle
}

// arrive draws the size and the servers of a job and links it behind the last job of each. Inlined,
// it would keep the values of the loop out of registers.
//
//go:noinline
func (q *serverQueues) arrive(class uint32, clock int64) {
	q.unused--
	j := q.free[q.unused]
	phases := q.phases.fixed
	if phases == 0 {
		phases = q.phases.draw(q.draws)
	}
	q.jobs[j] = chainJob{born: clock, phases: int64(phases), class: class, degree: q.degree[class]}
	c := &q.counts[class]
	c.came++
	c.cameAt += clock
	q.countSteps(clock)
	q.total++
	n := uint32(len(q.rows)) + j*q.stride
	chosen := q.chosen[class]
	for k := range chosen {
		for _, s := range chosen[k].draw(q.random) {
			sentinel := &q.nodes[s]
			tail := sentinel.prev
			q.nodes[n] = node{next: s, prev: tail, sentinel: s, job: j}
			q.nodes[tail].next = n
			sentinel.prev = n
			since := int64(0)
			if tail == s {
				since = clock
			}
			q.busy[s] -= since
			n++
		}
	}
}

// depart counts a job that has received all its work and unlinks it.
//
//go:noinline
func (q *serverQueues) depart(j uint32, clock int64) {
	job := &q.jobs[j]
	c := &q.counts[job.class]
	c.left++
	c.leftAt += clock
	c.bornAt += job.born
	q.countSteps(clock)
	q.total--
	q.free[q.unused] = j
	q.unused++
	n := uint32(len(q.rows)) + j*q.stride
	for end := n + job.degree; n < end; n++ {
		x := &q.nodes[n]
		prev, next := x.prev, x.next
		q.nodes[prev].next = next
		q.nodes[next].prev = prev
		until := int64(0)
		if prev == next {
			until = clock
		}
		q.busy[x.sentinel] += until
	}
}

// countSteps counts the steps since the number of jobs last changed.
func (q *serverQueues) countSteps(clock int64) {
	q.count[q.total] += clock - q.last
	q.last = clock
}

// report adds the counts since the step start to the totals and starts again.
func (q *serverQueues) report(start int64, seen *sim.Totals) {
	step := 1 / q.rate
	seen.Time += float64(q.clock-start) * step
	seen.Jumps += float64(q.clock - start - q.idle)
	q.idle = 0
	q.countSteps(q.clock)
	for n, steps := range q.count {
		if steps > 0 {
			seen.Add(n, float64(steps)*step)
			q.count[n] = 0
		}
	}
	for i := range q.counts {
		c := &q.counts[i]
		now := c.present + c.came - c.left
		seen.Jobs[i] += float64(now*q.clock-c.present*start-c.cameAt+c.leftAt) * step
		seen.Sojourn[i] += float64(c.leftAt-c.bornAt) * step
		seen.Left[i] += float64(c.left)
		*c = chainCount{present: now}
	}
	for s, row := range q.rows {
		if q.nodes[s].next != uint32(s) {
			q.busy[s] += q.clock
		}
		seen.Busy[row] += float64(q.busy[s]) * step
	}
}
