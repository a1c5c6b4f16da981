package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"productform/internal/eventqueue"
	"productform/sim"
	"productform/sizes"
)

// A gangJob is a job of a gangCalendar.
type gangJob struct {
	born   float64 // time of arrival
	queued float64 // time since which it waits, if it does
	waited float64 // time that it waited before
	left   float64 // time that it still needs its servers when it last started or, if it waits, now
	began  float64 // time at which it last started
	number int64   // jobs that arrived before it
	class  uint32
	next   uint32 // job behind it in its list, or none
	prev   uint32 // job ahead of it in its list, or none; only under ServerFilling
	waits  bool   // whether it waits
	met    bool   // whether it ever had to wait
	runs   bool   // whether it is in service
}

// none is the end of a list of jobs.
const none = math.MaxUint32

// A jobList is a list of jobs, oldest first, linked by gangJob.next.
type jobList struct{ head, tail uint32 }

// gangCalendar simulates a cluster whose jobs hold several servers at once, for any sizes, in
// continuous time. The next event is the earliest end of a service or, if that is later, an arrival.
// Except under policies with reservations, an event takes O(log m + L) time for each job that starts,
// ends or is interrupted, with m jobs in service and L queues, and allocates only when there are more
// jobs than ever before.
type gangCalendar struct {
	*gangSystem
	ctx    context.Context
	random *sim.Stream
	draws  *rand.Rand // seeded from random
	table  sizes.AliasTable

	idle    []int               // by row: free servers
	service eventqueue.Schedule // jobs in service, by their ends; ties go to the job that arrived first
	places  []int32             // index in service, by job
	queues  []jobList           // waiting jobs, by lane; under ServerFilling only those behind the prefix, in the first
	filling *filling            // only under ServerFilling
	planned *planned            // only under policies with reservations

	jobs []gangJob
	free []uint32 // unused indices of jobs

	arrived   int64
	now, next float64 // current time, and time of the next arrival
	// time at which the current advance started; always 0 except under policies with reservations
	origin float64

	sim.Population
	waiting waitingJobs
	busy    []waitCount // busy servers, by row
	met     []float64   // departed jobs that had to wait, by class
}

// newGangCalendar returns an empty cluster that draws random numbers from r: the time to the first
// arrival; at each arrival the class, the size, the factor of the requested time, if it is random,
// and the time to the next arrival.
func newGangCalendar(ctx context.Context, y *gangSystem, r *sim.Stream) sim.Engine {
	classes := len(y.classes)
	q := &gangCalendar{
		gangSystem: y, ctx: ctx, random: r, draws: rand.New(r), idle: make([]int, len(y.rows)),
		queues: make([]jobList, len(y.lanes)), Population: sim.NewPopulation(classes), waiting: newWaitingJobs(classes),
		busy: make([]waitCount, len(y.rows)), met: make([]float64, classes),
	}
	var weights []float64
	for _, class := range y.classes {
		weights = append(weights, class.ArrivalRate)
	}
	q.table = sizes.NewAliasTable(weights, nil)
	for row, s := range y.rows {
		q.idle[row] = s.Size
	}
	for k := range q.queues {
		q.queues[k] = jobList{none, none}
	}
	row := y.needs[0][0].Server
	switch {
	case y.policy == ServerFilling:
		q.filling = newFilling(y.lanes, y.rows[row].Size)
	case y.policy.HasRequests():
		q.planned = newPlanned(baselines[y.policy], y.rows[row].Size)
	}
	q.next = q.draws.ExpFloat64() / q.totalRates
	return q
}

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs], or is that of the
// context.
func (q *gangCalendar) Advance(t float64, seen *sim.Totals) error {
	until := q.origin + t
	for {
		again, err := q.step(until, seen)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	q.flush(t, seen)
	return nil
}

// step simulates the next event, or moment, if it is not later than the given time.
func (q *gangCalendar) step(until float64, seen *sim.Totals) (again bool, err error) {
	if q.planned != nil {
		return q.stepPlanned(until, seen)
	}
	if len(q.service) > 0 && q.service[0].Time <= q.next {
		if q.service[0].Time > until {
			return false, nil
		}
		q.now = q.service[0].Time
		j := q.service[0].Item
		q.stop(j, seen)
		q.depart(j, seen)
		q.leave(j, seen)
		return true, nil
	}
	if q.next > until {
		return false, nil
	}
	q.now = q.next
	j, err := q.draw()
	if err != nil {
		return false, err
	}
	q.arrive(j, seen)
	q.admit(j, seen)
	if !q.jobs[j].runs {
		q.wait(j, seen)
	}
	return true, nil
}

// draw draws the job that arrives next and, after it, the time of the next arrival.
func (q *gangCalendar) draw() (j uint32, err error) {
	if len(q.free) == 0 {
		if err := sim.CheckJobs(len(q.jobs)+1, sim.MaxJobs); err != nil {
			return 0, err
		}
		q.grow()
	}
	j = q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	i := q.table.Pick(q.random.Uint64())
	q.jobs[j] = gangJob{
		born: q.next, left: q.sizes[i].Sample(q.draws), number: q.arrived, class: i, next: none, prev: none,
	}
	q.arrived++
	if q.planned != nil {
		q.planned.arriving = append(q.planned.arriving, request{j, q.requests.Of(q.jobs[j].left, q.draws.Float64)})
	}
	q.next += q.draws.ExpFloat64() / q.totalRates
	return j, nil
}

// arrive counts an arriving job.
func (q *gangCalendar) arrive(j uint32, seen *sim.Totals) {
	seen.Jumps++
	q.Change(int(q.jobs[j].class), 1, q.now-q.origin, seen)
}

// admit starts an arriving job or puts it into a queue.
func (q *gangCalendar) admit(j uint32, seen *sim.Totals) {
	if q.filling != nil {
		q.fill(j, seen)
		return
	}
	class := q.jobs[j].class
	list := &q.queues[q.lane[class]]
	// No waiting job fits, except behind the first one under FCFS. So a job that fits starts, unless it
	// is behind another one.
	if list.head == none && q.fits(class) {
		q.start(j, seen)
		return
	}
	q.push(list, j)
}

// depart removes a job that has released its servers, and starts others.
func (q *gangCalendar) depart(j uint32, seen *sim.Totals) {
	switch q.policy {
	case ServerFilling:
		q.refill(j, seen)
	case FirstFit:
		for {
			best, first := -1, int64(math.MaxInt64)
			for k := range q.queues {
				head := q.queues[k].head
				if head != none && q.jobs[head].number < first && q.fits(q.jobs[head].class) {
					best, first = k, q.jobs[head].number
				}
			}
			if best < 0 {
				return
			}
			q.start(q.pop(&q.queues[best]), seen)
		}
	default: // one queue, or queues by need, largest first
		for k := range q.queues {
			list := &q.queues[k]
			for list.head != none && q.fits(q.jobs[list.head].class) {
				q.start(q.pop(list), seen)
			}
		}
	}
}

// fits reports whether enough servers are free for a job of a class.
func (q *gangCalendar) fits(class uint32) bool {
	for _, need := range q.needs[class] {
		if need.Choose > q.idle[need.Server] {
			return false
		}
	}
	return true
}

// push adds a job to the end of a list.
func (q *gangCalendar) push(list *jobList, j uint32) {
	q.jobs[j].next, q.jobs[j].prev = none, list.tail
	if list.tail == none {
		list.head = j
	} else {
		q.jobs[list.tail].next = j
	}
	list.tail = j
}

// pop removes the first job of a list.
func (q *gangCalendar) pop(list *jobList) (j uint32) {
	j = list.head
	list.head = q.jobs[j].next
	if list.head == none {
		list.tail = none
	} else {
		q.jobs[list.head].prev = none
	}
	return j
}

// start starts or resumes a job.
func (q *gangCalendar) start(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	if job.waits {
		job.waits = false
		job.waited += q.now - job.queued
		q.waiting.change(job.class, -1, q.now-q.origin, seen)
	}
	job.runs, job.began = true, q.now
	q.hold(job.class, 1, seen)
	end := min(q.now+job.left, math.MaxFloat64)
	q.service.Push(eventqueue.Entry{Time: end, Tie: job.born, Item: j}, q.places)
}

// wait lets a job wait.
func (q *gangCalendar) wait(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	job.queued, job.waits, job.met = q.now, true, true
	q.waiting.change(job.class, 1, q.now-q.origin, seen)
}

// stop takes the servers from a job.
func (q *gangCalendar) stop(j uint32, seen *sim.Totals) {
	q.service.Remove(int(q.places[j]), q.places)
	q.jobs[j].runs = false
	q.hold(q.jobs[j].class, -1, seen)
}

// interrupt lets a job in service wait, which keeps the work done.
func (q *gangCalendar) interrupt(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	job.left = max(0, job.left-(q.now-job.began))
	q.stop(j, seen)
	q.wait(j, seen)
}

// hold counts the busy servers up to now, and then takes the servers of a job, or returns them if
// sign is -1.
func (q *gangCalendar) hold(class uint32, sign int, seen *sim.Totals) {
	now := q.now - q.origin
	for _, need := range q.needs[class] {
		row := need.Server
		b := &q.busy[row]
		seen.Busy[row] += float64(b.jobs) * (now - b.since)
		b.since = now
		b.jobs += sign * need.Choose
		q.idle[row] -= sign * need.Choose
	}
}

// leave removes a job that is in no list and not in service.
func (q *gangCalendar) leave(j uint32, seen *sim.Totals) {
	job := &q.jobs[j]
	class, classes := int(job.class), len(q.classes)
	seen.Jumps++
	q.Change(class, -1, q.now-q.origin, seen)
	seen.Leave(class, q.now-job.born)
	seen.Leave(classes+class, job.waited)
	seen.Leave(classes+classes, job.waited)
	if job.met {
		q.met[class]++
	}
	q.free = append(q.free, j)
}

// flush counts up to the end of an advance of length t. The times of jobs then count from there,
// except under policies with reservations, whose tolerance for simultaneous events is relative to
// the time since the start.
func (q *gangCalendar) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	q.waiting.flush(t, seen)
	for row := range q.busy {
		b := &q.busy[row]
		seen.Busy[row] += float64(b.jobs) * (t - b.since)
		b.since = 0
	}
	if q.planned != nil {
		q.origin += t
		return
	}
	q.now, q.next = 0, q.next-t
	for k := range q.service { // rounding is monotone, so the order is preserved
		q.service[k].Time -= t
		q.service[k].Tie -= t
	}
	for j := range q.jobs {
		job := &q.jobs[j]
		job.born -= t
		job.queued -= t
		job.began -= t
	}
}

// grow doubles the space for jobs, to at least 8.
func (q *gangCalendar) grow() {
	more := min(max(len(q.jobs), 8), sim.MaxJobs-len(q.jobs))
	for j := len(q.jobs) + more - 1; j >= len(q.jobs); j-- {
		q.free = append(q.free, uint32(j))
	}
	q.jobs = append(q.jobs, make([]gangJob, more)...)
	q.places = append(q.places, make([]int32, more)...)
}

// Restart discards everything accumulated so far.
func (q *gangCalendar) Restart() { clear(q.met) }

// Observed returns the fractions of the departed jobs that had to wait, by class and finally of all
// jobs.
func (q *gangCalendar) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	return map[string][]*float64{WaitProbability: fractions(q.met, seen)}, nil
}
