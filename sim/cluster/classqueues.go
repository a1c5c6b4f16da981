package cluster

import (
	"math"
	"math/rand/v2"

	"productform/sim"
)

// A queued job is a job of classQueues.
type queued struct {
	order  int64 // step at which it last joined the queue
	born   int64 // step at which it arrived
	phases int64 // remaining phases
}

// maxClassQueues limits the classes of classQueues, which measures the time spent in each set of
// active classes. A ring holds the job of class i at position k at index k<<classShift|i.
const (
	classShift     = 3
	maxClassQueues = 1 << classShift
)

// noJob is the order of the first job of an empty queue.
const noJob = math.MaxInt64 / 2

// classQueues simulates a jumpChain with one queue per class, for clusters of few classes. All jobs
// of a class may use the same servers, so only the oldest one is ever served: a server works for
// the class whose oldest job joined first. An interrupted job moves from the head of its queue to
// the tail. A step takes constant time.
//
// Arrays by class have 256 entries, so indices of type uint8 need no bounds checks. Sums of steps
// may wrap around in very long runs, but only their differences are used, which are correct as long
// as they fit into 64 bits.
type classQueues struct {
	*jumpChain
	random *sim.Stream
	draws  *rand.Rand // seeded from random

	serves  []uint8   // classes that each server may serve, width each, padded with maxClassQueues
	width   int       // codes 2k and 2k+1 refer to the server whose classes start at serves[k]
	watched []watched // rows of servers
	jobs    []queued  // a ring of size positions for each class; size is a power of 2
	size    int
	head    [256]int // the jobs of class i are at positions head[i]..tail[i]-1 of its ring
	tail    [256]int

	first   [256]int64 // order of the oldest job by class; noJob if there is none, and for indices >= maxClassQueues
	clock   int64      // steps done
	active  uint8      // mask of the classes present
	present int        // number of jobs

	fraction float64                    // fraction of a step still to do
	last     int64                      // step up to which time and count are complete
	idle     int64                      // steps without a jump
	time     [1 << maxClassQueues]int64 // steps by set of classes
	count    []int64                    // steps by number of jobs
	area     [256]int64                 // Σ over steps of the number of jobs, by class
	sojourn  [256]int64                 // Σ over the departed jobs of their steps, by class
	left     [256]int64

	codes [batch]uint32
}

// A watched row is a row of servers that all serve the same classes, because jobs of a class use
// whole rows.
type watched struct {
	served  uint8 // mask of the classes
	servers float64
}

// watchRows lists the rows of servers to watch.
func (c *jumpChain) watchRows(serves []uint8, width int) (rows []watched) {
	for s, row := range c.rows {
		if int(row) == len(rows) {
			var served uint8
			for _, i := range serves[s*width : (s+1)*width] {
				served |= 1 << i
			}
			rows = append(rows, watched{served: served})
		}
		rows[row].servers++
	}
	return rows
}

func newClassQueues(c *jumpChain, serves []uint8, width int, random *sim.Stream) *classQueues {
	q := &classQueues{
		jumpChain: c,
		random:    random,
		draws:     rand.New(random),
		serves:    serves,
		width:     width,
		watched:   c.watchRows(serves, width),
		count:     make([]int64, 1),
	}
	for i := range q.first {
		q.first[i] = noJob
	}
	q.size = 64
	q.jobs = make([]queued, maxClassQueues*q.size)
	return q
}

// Advance performs the steps of t units of time.
func (q *classQueues) Advance(t float64, seen *sim.Totals) error {
	q.fraction += t * q.rate
	steps := int(q.fraction)
	q.fraction -= float64(steps)
	start := q.clock
	q.last = start
	for i := range q.classes {
		q.area[i] = -int64(q.tail[i]-q.head[i]) * start
	}
	for done := 0; done < steps; done += batch {
		if err := sim.CheckJobs(q.present, sim.MaxJobs); err != nil {
			return err
		}
		q.step(q.codes[:min(batch, steps-done)])
	}
	q.report(start, seen)
	return nil
}

// grow doubles the rings.
func (q *classQueues) grow() {
	jobs := make([]queued, 2*len(q.jobs))
	for i := range q.classes {
		for k := q.head[i]; k < q.tail[i]; k++ {
			jobs[(k&(2*q.size-1))<<classShift|i] = q.jobs[(k&(q.size-1))<<classShift|i]
		}
	}
	q.jobs, q.size = jobs, 2*q.size
}

// step draws and performs one batch of steps.
func (q *classQueues) step(codes []uint32) {
	if need := q.present + len(codes) + 1 - len(q.count); need > 0 {
		q.count = append(q.count, make([]int64, need+need/2)...)
	}
	q.random.Fill(q.table, codes)
	jobs, mask, clock := q.jobs, q.size-1, q.clock
	serves, width, fixed := q.serves, q.width, q.phases.fixed
	for _, code := range codes {
		clock++
		if code >= arrivals {
			i := uint8(code - arrivals)
			q.countSteps(clock)
			phases := int64(fixed)
			if phases == 0 {
				phases = q.drawPhases()
			}
			if q.tail[i]-q.head[i]+1 == q.size { // the position after the last job stays free
				q.grow()
				jobs, mask = q.jobs, q.size-1
			}
			jobs[(q.tail[i]&mask)<<classShift|int(i)] = queued{clock, clock, phases}
			q.tail[i]++
			q.present++
			q.active |= 1 << i
			q.area[i] -= clock
			q.first[i] = jobs[(q.head[i]&mask)<<classShift|int(i)].order
			continue
		}
		// Find the class with the oldest job, without a branch.
		at := int(code >> 1)
		i := serves[at]
		oldest := q.first[i]
		for k := 1; k < width; k++ {
			j := serves[at+k]
			o := q.first[j]
			older := (o - oldest) >> 63
			oldest += (o - oldest) & older
			i ^= (i ^ j) & uint8(older)
		}
		if oldest == noJob {
			q.idle++
			continue
		}
		head, tail := q.head[i], q.tail[i]
		job := &jobs[(head&mask)<<classShift|int(i)]
		born, phases := job.born, job.phases
		head++
		if code&1 == 0 {
			phases--
			job.phases = phases
			if phases > 0 {
				continue
			}
		} else {
			jobs[(tail&mask)<<classShift|int(i)] = queued{clock, born, phases}
			q.tail[i] = tail + 1
		}
		if phases == 0 {
			q.countSteps(clock)
			q.present--
			q.area[i] += clock
			q.sojourn[i] += clock - born
			q.left[i]++
			if head == tail {
				q.active &^= 1 << i
				q.first[i] = noJob
				q.head[i] = head
				continue
			}
		}
		q.head[i] = head
		q.first[i] = jobs[(head&mask)<<classShift|int(i)].order
	}
	q.clock = clock
}

// drawPhases draws the phases of a job. Inlined, it would keep the values of the loop out of
// registers.
//
//go:noinline
func (q *classQueues) drawPhases() int64 { return int64(q.phases.draw(q.draws)) }

// countSteps counts the steps since the number of jobs last changed.
func (q *classQueues) countSteps(clock int64) {
	q.time[q.active] += clock - q.last
	q.count[q.present] += clock - q.last
	q.last = clock
}

// report adds the counts since the step start to the totals and starts again.
func (q *classQueues) report(start int64, seen *sim.Totals) {
	q.countSteps(q.clock)
	step := 1 / q.rate
	seen.Time += float64(q.clock-start) * step
	seen.Jumps += float64(q.clock - start - q.idle)
	q.idle = 0
	for i := range q.classes {
		area := q.area[i] + int64(q.tail[i]-q.head[i])*q.clock
		seen.Jobs[i] += float64(area) * step
		seen.Sojourn[i] += float64(q.sojourn[i]) * step
		seen.Left[i] += float64(q.left[i])
		q.sojourn[i], q.left[i] = 0, 0
	}
	for n, steps := range q.count {
		if steps > 0 {
			seen.Add(n, float64(steps)*step)
			q.count[n] = 0
		}
	}
	for row, w := range q.watched {
		for a, steps := range q.time[:1<<q.classes] {
			if uint8(a)&w.served != 0 {
				seen.Busy[row] += float64(steps) * step * w.servers
			}
		}
	}
	clear(q.time[:])
}
