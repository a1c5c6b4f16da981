package pool

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"productform/internal/eventqueue"
	"productform/sim"
)

// A taskJob is a job of a calendar.
type taskJob struct {
	born    float64 // time of arrival
	order   uint64  // of arrival
	waiting int64   // tasks to launch; in a standing population there is no end of them
	running int32   // tasks
	class   int32
}

// unlimited is the number of tasks to launch of a job of a standing population.
const unlimited = math.MaxInt64

// A runningTask is a task of a job on a machine.
type runningTask struct{ job, machine uint32 }

// calendar is a pool of machines in motion, in continuous time. The next event is the earliest end in a heap of the
// tasks that run, or an arrival; the end of a task comes before an arrival at the same time. The jobs of each class
// with tasks to launch are in a heap, the most deprived first, so that a launch compares the first ones of the classes.
// Which machines may have room for a task of a class is in a set of bits, taken out when one is found full and put in
// when one is freed. An event takes O(K J + log n) with n tasks, and O(M/64) for a launch on M machines; it allocates
// nothing but room for more than ever before, and what the allocations of the policy take.
type calendar struct {
	*taskPool
	random   *sim.Stream
	draws    *rand.Rand // from random
	now      float64
	arrival  float64 // time of the next, +Inf in a standing population
	launched bool    // the standing population has launched its first tasks
	arrived  uint64  // jobs so far

	free   []int64    // of machine m, resource j at [m resources + j]
	room   [][]uint64 // by class, machines that may have room for a task
	next   []int      // by class, the first word of room that may not be 0; len(room[k]) if no machine has room
	ends   eventqueue.Queue[runningTask]
	jobs   []taskJob
	unused []uint32              // jobs that are not there
	lines  []eventqueue.Schedule // by class, the jobs with tasks to launch: that with the fewest tasks, then the oldest, is the most deprived
	places []int32               // by job, in the line of its class

	ideal  *allocations
	known  bool      // weight is that of the jobs present
	weight []float64 // by class, d_k/w_k or 1/φ_k: the job of the least running times weight is the most deprived

	running        []int     // tasks, by class
	base           []int     // those when the count began, by class
	excess         []float64 // ∫ running - base dt, by class: a number that is constant stays so to the last digit
	since          []float64 // time up to which they are counted
	all            int       // tasks
	counted        float64   // time up to which they are counted
	sim.Population           // of jobs that come and go
}

// newCalendar returns an empty pool whose random numbers come from r: the time to the first arrival, then at each
// arrival the class of the job, its number of tasks and the time to the next; the duration of a task when it is
// launched.
func newCalendar(ctx context.Context, g *taskPool, r *sim.Stream) sim.Engine {
	classes := len(g.durations)
	q := &calendar{
		taskPool: g, random: r, draws: rand.New(r), arrival: math.Inf(1),
		free: slices.Clone(g.capacity), room: make([][]uint64, classes), next: make([]int, classes),
		lines:  make([]eventqueue.Schedule, classes),
		weight: make([]float64, classes), running: make([]int, classes), base: make([]int, classes), excess: make([]float64, classes), since: make([]float64, classes), Population: sim.NewPopulation(classes),
	}
	for k := range q.room {
		q.room[k] = make([]uint64, (g.machines+63)/64)
		for m := range g.machines {
			if fits(q.demandOf(k), q.freeOn(m)) {
				q.room[k][m/64] |= 1 << (m % 64)
			}
		}
	}
	if g.keys != nil {
		copy(q.weight, g.keys)
		q.known = true
	} else {
		q.ideal = newAllocations(ctx, g.fluid, g.policy)
	}
	if !g.standing {
		q.launched = true
		q.arrival = q.draws.ExpFloat64() / g.rate
		return q
	}
	for k, n := range g.counts {
		q.Present[k] = n
		for range n {
			q.join(k, unlimited)
		}
	}
	return q
}

// Advance simulates t units of time. The error is that of the allocations, or wraps [sim.ErrTooManyJobs].
func (q *calendar) Advance(t float64, seen *sim.Totals) error {
	if !q.launched {
		q.launched = true
		if err := q.launch(seen); err != nil {
			return err
		}
		q.Restart()
	}
	for {
		at, ended := q.arrival, len(q.ends) > 0 && q.ends[0].Time <= q.arrival
		if ended {
			at = q.ends[0].Time
		}
		if at > t {
			break
		}
		q.now = at
		if ended {
			for len(q.ends) > 0 && q.ends[0].Time == at {
				q.finish(seen)
			}
		} else if err := q.arrive(seen); err != nil {
			return err
		}
		if err := q.launch(seen); err != nil {
			return err
		}
	}
	q.flush(t, seen)
	return nil
}

// arrive lets a job in.
func (q *calendar) arrive(seen *sim.Totals) error {
	if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	class := int(q.table.Pick(q.random.Uint64()))
	tasks := q.numbers[class].fixed
	if tasks == 0 {
		tasks = 1 + int64(q.numbers[class].scale*q.draws.ExpFloat64())
	}
	seen.Jumps++
	q.Change(class, 1, q.now, seen)
	q.known = q.keys != nil
	q.join(class, tasks)
	q.arrival = q.now + q.draws.ExpFloat64()/q.rate
	return nil
}

// join puts a new job in the line of its class.
func (q *calendar) join(class int, tasks int64) {
	var job uint32
	if last := len(q.unused) - 1; last >= 0 {
		job, q.unused = q.unused[last], q.unused[:last]
	} else {
		job = uint32(len(q.jobs))
		q.jobs = append(q.jobs, taskJob{})
		q.places = append(q.places, 0)
	}
	q.jobs[job] = taskJob{born: q.now, order: q.arrived, waiting: tasks, class: int32(class)}
	q.arrived++
	q.lines[class].Push(eventqueue.Entry{Tie: float64(q.jobs[job].order), Item: job}, q.places)
}

// launch launches tasks while there is a job that may.
func (q *calendar) launch(seen *sim.Totals) error {
	for {
		best := -1
		for k, line := range q.lines {
			switch {
			case len(line) == 0 || q.isStuck(k) && !q.wait:
			case best < 0:
				best = k
			default:
				if err := q.updateIdeal(); err != nil {
					return err
				}
				if q.moreDeprived(k, best) {
					best = k
				}
			}
		}
		if best < 0 || q.isStuck(best) {
			return nil
		}
		if machine := q.firstFit(best); machine >= 0 {
			q.begin(best, machine, seen)
		}
	}
}

// updateIdeal finds the ideal of the jobs present.
func (q *calendar) updateIdeal() error {
	if q.known {
		return nil
	}
	tasks, err := q.ideal.of(q.Present)
	if err != nil {
		return err
	}
	for k, phi := range tasks {
		q.weight[k] = min(1/phi, math.MaxFloat64)
	}
	q.known = true
	return nil
}

// tieTol is the relative difference below which two jobs are as deprived as each other: the rounding of allocations.
const tieTol = 1e-9

// moreDeprived reports whether the first job in the line of class a is more deprived than that of class b.
func (q *calendar) moreDeprived(a, b int) bool {
	first, second := &q.jobs[q.lines[a][0].Item], &q.jobs[q.lines[b][0].Item]
	x, y := float64(first.running)*q.weight[a], float64(second.running)*q.weight[b]
	switch {
	case x < y*(1-tieTol):
		return true
	case y < x*(1-tieTol):
		return false
	case first.running != second.running:
		return first.running < second.running
	}
	return first.order < second.order
}

// demandOf returns what a task of the class takes of each resource, and freeOn what is left of each on a machine.
func (q *calendar) demandOf(class int) []int64 { return q.demand[class*q.resources:][:q.resources] }
func (q *calendar) freeOn(machine int) []int64 { return q.free[machine*q.resources:][:q.resources] }

// fits reports whether a demand is within what is free.
func fits(demand, free []int64) bool {
	for j, a := range demand {
		if a > free[j] {
			return false
		}
	}
	return true
}

// isStuck reports whether it is known that no machine has room for a task of the class.
func (q *calendar) isStuck(class int) bool { return q.next[class] == len(q.room[class]) }

// firstFit returns the first machine on which a task of the class fits, or -1, and then the class is stuck.
func (q *calendar) firstFit(class int) int {
	room, demand := q.room[class], q.demandOf(class)
	for w := q.next[class]; w < len(room); w++ {
		for word := room[w]; word != 0; word &= word - 1 {
			if m := 64*w + bits.TrailingZeros64(word); fits(demand, q.freeOn(m)) {
				room[w], q.next[class] = word, w
				return m
			}
		}
		room[w] = 0
	}
	q.next[class] = len(room)
	return -1
}

// begin launches a task of the first job in the line of the class.
func (q *calendar) begin(class, machine int, seen *sim.Totals) {
	line := q.lines[class]
	id := line[0].Item
	job := &q.jobs[id]
	free := q.freeOn(machine)
	for j, a := range q.demandOf(class) {
		free[j] -= a
	}
	q.run(class, 1, seen)
	job.running++
	if job.waiting != unlimited {
		job.waiting--
	}
	if job.waiting == 0 {
		q.lines[class].Remove(0, q.places)
	} else {
		line[0].Time = float64(job.running)
		line.Down(0, q.places)
	}
	q.ends.Push(min(q.now+q.durations[class].Sample(q.draws), math.MaxFloat64), runningTask{id, uint32(machine)})
}

// finish ends the first of the tasks that run.
func (q *calendar) finish(seen *sim.Totals) {
	task := q.ends.Pop().Item
	job, machine := &q.jobs[task.job], int(task.machine)
	class := int(job.class)
	free := q.freeOn(machine)
	for j, a := range q.demandOf(class) {
		free[j] += a
	}
	for k, room := range q.room {
		if fits(q.demandOf(k), free) {
			room[machine/64] |= 1 << (machine % 64)
			q.next[k] = min(q.next[k], machine/64)
		}
	}
	seen.Jumps++
	q.run(class, -1, seen)
	job.running--
	switch {
	case job.waiting > 0:
		line := q.lines[class]
		line[q.places[task.job]].Time = float64(job.running)
		line.Up(int(q.places[task.job]), q.places)
	case job.running == 0:
		seen.Leave(class, q.now-job.born)
		q.Change(class, -1, q.now, seen)
		q.known = q.keys != nil
		q.unused = append(q.unused, task.job)
	}
}

// run counts one task that runs more or less.
func (q *calendar) run(class, by int, seen *sim.Totals) {
	q.excess[class] += float64(q.running[class]-q.base[class]) * (q.now - q.since[class])
	q.since[class] = q.now
	q.running[class] += by
	if q.standing {
		seen.Add(q.all, q.now-q.counted)
		q.counted = q.now
	}
	q.all += by
}

// flush counts up to time t, which becomes time 0.
func (q *calendar) flush(t float64, seen *sim.Totals) {
	for k, n := range q.running {
		q.excess[k] += float64(n-q.base[k]) * (t - q.since[k])
		q.since[k] = 0
	}
	if q.standing {
		seen.Time += t
		seen.Number = float64(sim.Sum(q.base))*seen.Time + sim.Sum(q.excess)
		seen.Add(q.all, t-q.counted)
		for k, n := range q.counts {
			seen.Jobs[k] += float64(n) * t
		}
	} else {
		q.Population.Flush(t, seen)
	}
	q.counted = 0
	for k := range q.ends { // a heap stays one: rounding is monotone
		q.ends[k].Time -= t
	}
	for k := range q.jobs {
		q.jobs[k].born -= t
	}
	q.arrival -= t
	q.now = 0
}
