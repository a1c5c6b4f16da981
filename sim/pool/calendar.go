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
	order   uint64  // number of the arrival
	waiting int64   // tasks to launch; unlimited in a standing population
	running int32   // running tasks
	class   int32
}

// unlimited is the number of tasks to launch of a job of a standing population.
const unlimited = math.MaxInt64

// A runningTask is a task of a job on a machine.
type runningTask struct{ job, machine uint32 }

// calendar is the engine of a pool of machines in continuous time. The next event is an arrival or
// the earliest end in a heap of the running tasks; at equal times, the end of a task precedes an
// arrival. Each class has a heap of its jobs with tasks to launch, most deprived first, so a launch
// compares the first jobs of the classes. Bit sets hold the machines that may have room for a task
// of a class: a machine is removed when it turns out to be full, and added when a task on it ends.
// An event takes O(K J + log n) time with n tasks, plus O(M/64) for a launch on M machines. It
// allocates only when it needs more memory than ever before, and for the allocations of the policy.
type calendar struct {
	*taskPool
	random   *sim.Stream
	draws    *rand.Rand // seeded from random
	now      float64
	arrival  float64 // time of the next arrival, +Inf in a standing population
	launched bool    // whether the standing population has launched its first tasks
	arrived  uint64  // number of arrived jobs so far

	free   []int64    // free amounts: machine m, resource j at [m resources + j]
	room   [][]uint64 // by class, bit set of machines that may have room for a task
	next   []int      // by class, the first word of room that may be nonzero; len(room[k]) if no machine has room
	ends   eventqueue.Queue[runningTask]
	jobs   []taskJob
	unused []uint32              // unused indices of jobs
	lines  []eventqueue.Schedule // by class, the jobs with tasks to launch: fewest running tasks first, then oldest
	places []int32               // by job, index in the line of its class

	ideal  *allocations
	known  bool      // whether weight is up to date
	weight []float64 // by class, d_k/w_k or 1/φ_k: the job with the smallest running times weight is the most deprived

	running        []int     // number of running tasks by class
	base           []int     // number of running tasks when the count started, by class
	excess         []float64 // ∫ running - base dt, by class; exact if the number is constant
	since          []float64 // time up to which the tasks of a class are counted
	all            int       // number of running tasks
	counted        float64   // time up to which all tasks are counted
	sim.Population           // counts arriving jobs
}

// newCalendar returns an empty pool with random numbers from r: the time to the first arrival; at
// each arrival the class of the job, its number of tasks and the time to the next; and the duration
// of each task when it is launched.
func newCalendar(ctx context.Context, g *taskPool, r *sim.Stream) sim.Engine {
	classes := len(g.durations)
	q := &calendar{
		taskPool: g, random: r, draws: rand.New(r), arrival: math.Inf(1),
		free: slices.Clone(g.capacity), room: make([][]uint64, classes), next: make([]int, classes),
		lines:  make([]eventqueue.Schedule, classes),
		weight: make([]float64, classes), running: make([]int, classes), base: make([]int, classes),
		excess: make([]float64, classes), since: make([]float64, classes), Population: sim.NewPopulation(classes),
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

// Advance simulates t units of time. It returns the error of the allocations, or an error that
// wraps [sim.ErrTooManyJobs].
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

// arrive adds an arriving job.
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

// join adds a new job to the line of its class.
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

// launch launches tasks while a job may launch one.
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

// updateIdeal computes the weights for the jobs present.
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

// tieTol is the relative difference up to which two jobs count as equally deprived; it absorbs the
// rounding of allocations.
const tieTol = 1e-9

// moreDeprived reports whether the first job of class a is more deprived than the first job of
// class b.
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

// demandOf returns the demand of a task of the class for each resource.
func (q *calendar) demandOf(class int) []int64 { return q.demand[class*q.resources:][:q.resources] }

// freeOn returns the free amount of each resource on a machine.
func (q *calendar) freeOn(machine int) []int64 { return q.free[machine*q.resources:][:q.resources] }

// fits reports whether a demand is within the free amounts.
func fits(demand, free []int64) bool {
	for j, a := range demand {
		if a > free[j] {
			return false
		}
	}
	return true
}

// isStuck reports whether no machine can have room for a task of the class.
func (q *calendar) isStuck(class int) bool { return q.next[class] == len(q.room[class]) }

// firstFit returns the first machine on which a task of the class fits, or -1; the class is then
// stuck.
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

// finish ends the running task with the earliest end.
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

// run changes the number of running tasks of a class.
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
	for k := range q.ends { // rounding is monotone, so the heap is preserved
		q.ends[k].Time -= t
	}
	for k := range q.jobs {
		q.jobs[k].born -= t
	}
	q.arrival -= t
	q.now = 0
}
