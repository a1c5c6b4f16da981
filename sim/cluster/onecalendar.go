package cluster

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"productform/internal/eventqueue"
	"productform/sim"
	"productform/sizes"
)

// A oneJob is a job of a oneCalendar.
type oneJob struct {
	born   float64 // time of arrival
	queued float64 // time since which it waits, if it does
	waited float64 // time that it waited before
	left   float64 // work left when its service started or, if it waits, now
	number int64   // jobs that arrived before it
	class  uint32
	waits  bool   // whether it waits
	met    bool   // whether it ever had to wait
	begun  bool   // whether it has ever been in service
	limit  bool   // whether it gives up if it waits too long
	server uint32 // where it is or was last in service
}

// oneCalendar simulates a cluster in which a job runs on one server, for any sizes, in continuous
// time. The jobs that wait in a queue are linked from its node, oldest first, and the nodes of job
// j start at queues + j stride. The next event is the earliest end of a service, the earliest time
// at which a job gives up or times out, or an arrival; at equal times they come in this order. An
// event takes O(log S) for S servers and, for a job, the time to look at the pools of its servers
// or, if it compares or draws servers, at these. It allocates only when there are more jobs than
// ever before.
type oneCalendar struct {
	*oneSystem
	random  *sim.Stream
	draws   *rand.Rand // seeded from random
	table   sizes.AliasTable
	chosen  [][]chosenServers // by class
	compare []chosenServers   // by class with members: the servers compared under a policy power:D
	seen    []uint32          // servers that the current job may take
	scratch []uint32

	service     eventqueue.Schedule // busy servers, by the end of their service; ties go to the job that arrived first
	places      []int32             // index in service, by server
	limits      eventqueue.Schedule // waiting jobs that give up, by the time when they do
	limitPlaces []int32             // index in limits, by job
	serving     []int32             // job in service, by server; idle for none
	began       []float64           // by server: time at which the service of its job started
	count       []int32             // by server: its jobs, if jobs wait at the servers
	done        []float64           // by server: time at which its present jobs are done, under LeastWork

	// idle servers of each pool, linked in the order in which they became idle from the node S +
	// pool
	idleNext, idlePrev []uint32
	idleSince          []int64 // by server: number of servers that became idle before

	nodes []node
	jobs  []oneJob
	free  []uint32 // unused indices of jobs
	most  int      // maximum number of jobs

	arrived, becameIdle int64
	now, next           float64 // current time, and time of the next arrival
	timer               timer
	sim.Population
	waiting waitingJobs
	met     []float64 // departed jobs that had to wait, by class
	gaveUp  []float64 // jobs that gave up, by class
	served  []float64 // departed jobs by the row of their server, at class * rows + row
}

const idle = -1

// newOneCalendar returns an empty cluster that draws random numbers from r, first the time to the
// first arrival. Each arrival draws the class, the size, the timeout if there is one, the servers if
// they are random, the patience if the job has to wait, and the time to the next arrival.
func newOneCalendar(y *oneSystem, r *sim.Stream) sim.Engine {
	servers, classes := len(y.capacity), len(y.classes)
	q := &oneCalendar{
		oneSystem: y, random: r, draws: rand.New(r), places: make([]int32, servers), serving: make([]int32, servers),
		began: make([]float64, servers), count: make([]int32, servers), done: make([]float64, servers),
		idleNext: make([]uint32, servers+y.nPools), idlePrev: make([]uint32, servers+y.nPools),
		idleSince: make([]int64, servers), nodes: make([]node, y.queues),
		most:  min(sim.MaxJobs, maxLinks/int(y.stride)),
		timer: newTimer(y.timeouts), Population: sim.NewPopulation(classes), waiting: newWaitingJobs(classes),
		met: make([]float64, classes), gaveUp: make([]float64, classes), served: make([]float64, classes*len(y.rows)),
	}
	var weights []float64
	for _, class := range y.classes {
		weights = append(weights, class.ArrivalRate)
	}
	q.table = sizes.NewAliasTable(weights, nil)
	q.chosen, _, _ = choices(y.drawn)
	for _, members := range y.members {
		q.compare = append(q.compare, chosenServers{slices.Clone(members), min(y.compares, len(members))})
	}
	for id := range q.nodes {
		q.nodes[id] = node{next: uint32(id), prev: uint32(id), sentinel: uint32(id)}
	}
	for at := servers; at < len(q.idleNext); at++ {
		q.idleNext[at], q.idlePrev[at] = uint32(at), uint32(at)
	}
	for s := range servers {
		q.release(uint32(s))
	}
	q.next = q.draws.ExpFloat64() / q.totalRates
	return q
}

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs].
func (q *oneCalendar) Advance(t float64, seen *sim.Totals) error {
	for {
		next := min(q.next, q.timer.next())
		if len(q.limits) > 0 {
			next = min(next, q.limits[0].Time)
		}
		if len(q.service) > 0 && q.service[0].Time <= next {
			if q.service[0].Time > t {
				break
			}
			q.now = q.service[0].Time
			q.finish(q.service[0].Item, seen)
			continue
		}
		if len(q.limits) > 0 && q.limits[0].Time == next {
			if next > t {
				break
			}
			q.now = next
			j := q.limits[0].Item
			q.gaveUp[q.jobs[j].class]++
			q.giveUp(j, seen)
			continue
		}
		if q.timer.next() == next && next < q.next {
			if next > t {
				break
			}
			q.now = next
			q.timeOut(q.timer.limits[0].Item, seen)
			continue
		}
		if q.next > t {
			break
		}
		q.now = q.next
		if err := q.arrive(seen); err != nil {
			return err
		}
		q.next = q.now + q.draws.ExpFloat64()/q.totalRates
	}
	q.flush(t, seen)
	return nil
}

// timeOut removes a job that has been present too long.
func (q *oneCalendar) timeOut(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	q.timer.timedOut[job.class]++
	if job.waits {
		q.giveUp(j, seen)
		return
	}
	s := job.server
	q.done[s] -= q.service[q.places[s]].Time - q.now
	q.stop(s, seen)
	q.count[s]--
	q.leave(j, seen)
	q.restart(s, seen)
}

// giveUp removes a waiting job.
func (q *oneCalendar) giveUp(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	q.stopWaiting(j, seen)
	job.met = job.met && job.waited > 0 // jobs without patience do not wait
	if !q.central {
		s := q.nodes[q.first(j)].sentinel
		q.count[s]--
		q.done[s] -= job.left / q.capacity[s]
	}
	q.leave(j, seen)
}

// arrive adds an arriving job.
func (q *oneCalendar) arrive(seen *sim.Totals) error {
	if len(q.free) == 0 {
		if err := sim.CheckJobs(q.Total+1, q.most); err != nil {
			return err
		}
		q.grow()
	}
	j := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	i := q.table.Pick(q.random.Uint64())
	q.jobs[j] = oneJob{born: q.now, left: q.sizes[i].Sample(q.draws), number: q.arrived, class: i}
	q.arrived++
	seen.Jumps++
	q.Change(int(i), 1, q.now, seen)
	q.timer.add(j, i, q.now, q.draws)
	q.draw(j)
	if q.central {
		q.place(j, seen)
		return nil
	}
	var s uint32
	if q.policy == LeastWork {
		s = q.leastWork(i)
		q.done[s] = max(q.done[s], q.now) + q.jobs[j].left/q.capacity[s]
	} else {
		s = q.shortest()
	}
	q.count[s]++
	if q.serving[s] == idle {
		q.start(j, s, seen)
		return nil
	}
	q.nodes[q.first(j)] = node{sentinel: s, job: j}
	q.wait(j, seen)
	return nil
}

// draw sets the servers that an arriving job may take, and the queues of a job that draws them and
// may wait for any.
func (q *oneCalendar) draw(j uint32) {
	i := q.jobs[j].class
	members := q.members[i]
	switch {
	case members != nil && q.compares > 0:
		q.seen = q.compare[i].draw(q.random)
		return
	case members != nil:
		q.seen = members
		if q.central {
			q.nodes[q.first(j)] = node{sentinel: q.shared[i], job: j}
		}
		return
	}
	q.scratch = q.scratch[:0]
	n := q.first(j)
	for k := range q.chosen[i] {
		for _, id := range q.chosen[i][k].draw(q.random) {
			q.scratch = append(q.scratch, q.server[id])
			if q.central {
				q.nodes[n] = node{sentinel: id, job: j}
				n++
			}
		}
	}
	q.seen = q.scratch
	if d := q.compares; d > 0 {
		some := chosenServers{q.scratch, min(d, len(q.scratch))}
		q.seen = some.draw(q.random)
	}
}

// recall sets the servers that a job may take which has lost its server.
func (q *oneCalendar) recall(j uint32) {
	i := q.jobs[j].class
	if q.seen = q.members[i]; q.seen != nil {
		return
	}
	q.scratch = q.scratch[:0]
	first := q.first(j)
	for n := first; n < first+q.links[i]; n++ {
		q.scratch = append(q.scratch, q.server[q.nodes[n].sentinel])
	}
	q.seen = q.scratch
}

// place starts a job under a central policy or lets it wait. A job that it displaces is placed
// next.
func (q *oneCalendar) place(j uint32, seen *sim.Totals) {
	for {
		s, found := q.idleServer(q.jobs[j].class)
		if found {
			q.start(j, s, seen)
			return
		}
		if q.policy == PreemptivePriority {
			s, found = q.victim(j)
		}
		if !found {
			q.wait(j, seen)
			return
		}
		displaced := uint32(q.serving[s])
		job := &q.jobs[displaced]
		job.left = max(0, job.left-(q.now-q.began[s])*q.capacity[s])
		q.stop(s, seen)
		q.start(j, s, seen)
		j = displaced
		q.recall(j)
	}
}

// idleServer returns the idle server that a job of class i takes, if there is one.
func (q *oneCalendar) idleServer(i uint32) (best uint32, found bool) {
	if q.policy == RandomIdle {
		return q.randomIdle()
	}
	if q.members[i] == nil {
		for _, s := range q.seen {
			if q.serving[s] == idle && (!found || q.goesFirst(s, best)) {
				best, found = s, true
			}
		}
		return best, found
	}
	servers := uint32(len(q.capacity))
	for _, pool := range q.pools[i] {
		s := q.idleNext[servers+pool]
		if s >= servers {
			continue
		}
		if found && q.policy == FastestIdle && q.capacity[s] < q.capacity[best] {
			break // the pools are sorted by speed
		}
		if !found || q.goesFirst(s, best) {
			best, found = s, true
		}
	}
	return best, found
}

// goesFirst reports whether jobs prefer the idle server a to b.
func (q *oneCalendar) goesFirst(a, b uint32) bool {
	if q.policy == FastestIdle && q.capacity[a] != q.capacity[b] {
		return q.capacity[a] > q.capacity[b]
	}
	return q.idleSince[a] < q.idleSince[b]
}

// randomIdle returns an idle server among those that the current job may take, each with equal
// probability.
func (q *oneCalendar) randomIdle() (s uint32, found bool) {
	some := 0
	for _, s := range q.seen {
		if q.serving[s] == idle {
			some++
		}
	}
	if some == 0 {
		return 0, false
	}
	skip := q.anyOf(some)
	for _, s = range q.seen {
		if q.serving[s] == idle {
			if skip == 0 {
				break
			}
			skip--
		}
	}
	return s, true
}

// anyOf returns one of 0, ..., n-1, each with equal probability; it draws nothing for n = 1.
func (q *oneCalendar) anyOf(n int) int {
	if n == 1 {
		return 0
	}
	k, _ := bits.Mul64(q.random.Uint64(), uint64(n))
	return int(k)
}

// victim returns the busy server that a job takes from another job, if there is one.
func (q *oneCalendar) victim(j uint32) (best uint32, found bool) {
	level, number := q.level[q.jobs[j].class], int64(0)
	for _, s := range q.seen {
		other := &q.jobs[q.serving[s]]
		if l := q.level[other.class]; l > level || found && l == level && other.number > number {
			best, found, level, number = s, true, l, other.number
		}
	}
	return best, found
}

// shortest returns a server with the fewest jobs among those that the current job may take; ties
// are broken at random.
func (q *oneCalendar) shortest() uint32 {
	least, first, several := int32(math.MaxInt32), 0, 0
	for k, s := range q.seen {
		switch n := q.count[s]; {
		case n < least:
			least, first, several = n, k, 1
		case n == least:
			several++
		}
	}
	skip := q.anyOf(several)
	for k := first; ; k++ {
		if s := q.seen[k]; q.count[s] == least {
			if skip == 0 {
				return s
			}
			skip--
		}
	}
}

// leastWork returns the server that will first have done the work of its present jobs, among those
// that the current job, of class i, may take.
func (q *oneCalendar) leastWork(i uint32) uint32 {
	if s, found := q.idleServer(i); found {
		return s
	}
	best := q.seen[0]
	for _, s := range q.seen[1:] {
		if q.done[s] < q.done[best] {
			best = s
		}
	}
	return best
}

// first returns the first node of a job.
func (q *oneCalendar) first(j uint32) uint32 { return uint32(q.queues) + j*q.stride }

// wait adds a job to its queues, behind those that arrived before it.
func (q *oneCalendar) wait(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	job.queued, job.waits, job.met = q.now, true, true
	first := q.first(j)
	for n := first; n < first+q.links[job.class]; n++ {
		x := &q.nodes[n]
		before := q.nodes[x.sentinel].prev
		// only jobs that lost their server
		for before != x.sentinel && q.jobs[q.nodes[before].job].number > job.number {
			before = q.nodes[before].prev
		}
		after := q.nodes[before].next
		x.next, x.prev = after, before
		q.nodes[before].next = n
		q.nodes[after].prev = n
	}
	q.waiting.change(job.class, 1, q.now, seen)
	if q.patience != nil && !job.begun && q.patience[job.class] != nil {
		job.limit = true
		until := min(q.now+q.patience[job.class].Sample(q.draws), math.MaxFloat64)
		q.limits.Push(eventqueue.Entry{Time: until, Tie: job.born, Item: j}, q.limitPlaces)
	}
}

// stopWaiting removes a job from its queues.
func (q *oneCalendar) stopWaiting(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	job.waits = false
	job.waited += q.now - job.queued
	q.waiting.change(job.class, -1, q.now, seen)
	first := q.first(j)
	for n := first; n < first+q.links[job.class]; n++ {
		prev, next := q.nodes[n].prev, q.nodes[n].next
		q.nodes[prev].next = next
		q.nodes[next].prev = prev
	}
	if job.limit {
		job.limit = false
		q.limits.Remove(int(q.limitPlaces[j]), q.limitPlaces)
	}
}

// start starts the service of a job at a server, which is idle or has just become free.
func (q *oneCalendar) start(j, s uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	job.begun = true
	if job.waits {
		q.stopWaiting(j, seen)
	}
	if prev, next := q.idlePrev[s], q.idleNext[s]; next != s {
		q.idleNext[prev] = next
		q.idlePrev[next] = prev
		q.idleNext[s] = s
	}
	q.serving[s], q.began[s], job.server = int32(j), q.now, s
	end := min(q.now+job.left/q.capacity[s], math.MaxFloat64)
	q.service.Push(eventqueue.Entry{Time: end, Tie: job.born, Item: s}, q.places)
}

// stop ends the service at a server, which is then in no list.
func (q *oneCalendar) stop(s uint32, seen *sim.Totals) {
	q.service.Remove(int(q.places[s]), q.places)
	seen.Busy[q.row[s]] += q.now - max(0, q.began[s])
	q.serving[s] = idle
}

// release adds a server without a job to the idle servers of its pool.
func (q *oneCalendar) release(s uint32) {
	q.serving[s] = idle
	sentinel := uint32(len(q.capacity)) + q.poolOf[s]
	last := q.idlePrev[sentinel]
	q.idleNext[s], q.idlePrev[s] = sentinel, last
	q.idleNext[last] = s
	q.idlePrev[sentinel] = s
	q.idleSince[s] = q.becameIdle
	q.becameIdle++
}

// finish removes the job in service at a server, which then takes another one or becomes idle.
func (q *oneCalendar) finish(s uint32, seen *sim.Totals) {
	j := uint32(q.serving[s])
	q.stop(s, seen)
	q.served[int(q.jobs[j].class)*len(q.rows)+int(q.row[s])]++
	q.count[s]--
	q.leave(j, seen)
	q.restart(s, seen)
}

// restart lets a server that has lost its job take another one or become idle.
func (q *oneCalendar) restart(s uint32, seen *sim.Totals) {
	if next, found := q.nextJob(s); found {
		q.start(next, s, seen)
		return
	}
	q.release(s)
}

// leave removes a job that is in no queue and at no server.
func (q *oneCalendar) leave(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	class, classes := int(job.class), len(q.classes)
	q.timer.remove(j, job.class)
	seen.Jumps++
	q.Change(class, -1, q.now, seen)
	seen.Leave(class, q.now-job.born)
	seen.Leave(classes+class, job.waited)
	seen.Leave(classes+classes, job.waited)
	if job.met {
		q.met[class]++
	}
	q.free = append(q.free, j)
}

// nextJob returns the waiting job that a server takes, if there is one: of the first level, the one
// that arrived first.
func (q *oneCalendar) nextJob(s uint32) (best uint32, found bool) {
	level := uint32(0)
	for _, id := range q.watched[s] {
		if found && q.levelOf[id] > level {
			break
		}
		head := q.nodes[id].next
		if head == id {
			continue
		}
		if j := q.nodes[head].job; !found || q.jobs[j].number < q.jobs[best].number {
			best, found, level = j, true, q.levelOf[id]
		}
	}
	return best, found
}

// flush counts up to time t, which becomes time 0.
func (q *oneCalendar) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	q.waiting.flush(t, seen)
	q.now, q.next = 0, q.next-t
	for k := range q.service { // rounding is monotone, so the order is preserved
		e := &q.service[k]
		seen.Busy[q.row[e.Item]] += t - max(0, q.began[e.Item])
		q.began[e.Item] -= t
		e.Time -= t
		e.Tie -= t
	}
	for k := range q.limits {
		q.limits[k].Time -= t
		q.limits[k].Tie -= t
	}
	q.timer.flush(t)
	for s := range q.done {
		q.done[s] -= t
	}
	for j := range q.jobs {
		q.jobs[j].born -= t
		q.jobs[j].queued -= t
	}
}

// grow doubles the space for jobs, to at least 1.
func (q *oneCalendar) grow() {
	more := min(max(len(q.jobs), 8), q.most-len(q.jobs))
	for j := len(q.jobs) + more - 1; j >= len(q.jobs); j-- {
		q.free = append(q.free, uint32(j))
	}
	q.jobs = append(q.jobs, make([]oneJob, more)...)
	q.limitPlaces = append(q.limitPlaces, make([]int32, more)...)
	q.nodes = append(q.nodes, make([]node, more*int(q.stride))...)
}
