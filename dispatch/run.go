package dispatch

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"productform/internal/eventqueue"
	"productform/num"
)

// timeTol is the part of the time on the clock within which all happens at the same time. Rounding tells 3 × 0.1 seconds
// from 0.3 seconds, and a decision between the two would be made on half of what happens. Sums of thousands of terms are
// rounded by no more than 1e-12.
const timeTol = 1e-12

// checkEvery is the work between two looks at the context, in workers and jobs present; a decision counts as 100 more. It
// takes some milliseconds.
const checkEvery int = 1e5

// Run runs the scenario on a simulated clock until all jobs are done. At each moment at which jobs are submitted, tasks
// finish, or workers fail or return, after all that happens then, the policy plans all workers that are up for all jobs
// present, tasks in hand counted as not begun. The plan is put into effect as far as tasks in hand allow, which are not
// cut: idle workers, in the order of the policy, begin tasks of the jobs planned for them, if those run on fewer
// workers than planned, and then the ones left of other such jobs, in the order in which the policy gave these their
// first worker. So no worker is idle while tasks wait, unless spare workers are kept. A job begins its tasks in their
// order, a lost one again before those that never began; tasks that finish at the same moment do so in the order in
// which they began.
//
// What would happen after the next event by no more than 1e-12 of the time on the clock happens with it, at the time of
// the last of all these: first tasks finish, then workers fail and return, then jobs are submitted. So rounding tells no
// times apart, and a task may take longer than it should by as much.
//
// The result depends on nothing but the scenario. A decision takes O(jobs present + workers) at most, under all rules
// but Proportion O(workers + log jobs), and under Workload and Deadline more as [Policy.Assign] says if jobs have speeds
// of their own. The jobs present are kept in order of priority and, if the policy asks for it, of deadline, in arrays: a
// job that goes moves those before it or those after it, whichever are fewer, and jobs that come together do so once.
// What happens at one moment is sorted. Memory is that of the jobs, the outages and Learning.Window. The error is an
// [num.InputError], a [*StrandedError] as soon as the last worker is gone for good, or that of the context, which is looked
// at every thousand decisions, and before each of them with 1e5 workers and jobs present.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	for work := checkEvery; r.done < len(s.Jobs); work += 100 + len(s.Speeds) + len(r.byPriority.list()) {
		if work >= checkEvery {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			work = 0
		}
		if len(r.workers) == 0 && r.returns == 0 {
			return nil, r.stranded()
		}
		r.advance()
		r.finishes()
		r.changes()
		r.submissions()
		r.decide()
	}
	return r.result(), nil
}

// A run is a cluster in motion.
type run struct {
	s   *Scenario
	now float64

	byPriority order // jobs present
	byDeadline order // likewise, if the policy asks for it
	submits    []int // jobs to come, in order of time
	edges      []edge
	returns    int // edges at which a worker returns

	requests []Request // by job: what the policy knows
	tasks    []tasks   // by job
	records  []Record  // by job
	active   []int     // jobs with tasks in hand
	done     int       // jobs

	plan    *planner
	up      []bool
	workers []int  // that are up, in the order of the policy
	idle    []int  // those of them that have no task in hand
	hand    []hand // by worker
	ends    eventqueue.Queue[ending]
	due     []ending // of this moment
	version int      // of tasks begun
	victims []int    // for preempt

	events []Event // since the last decision, for Watch
	shown  []int   // Decision.Hand
	totals
}

// tasks is how far a job is.
type tasks struct {
	next  int     // first task that never began
	lost  intHeap // tasks to be run again, the first in order first
	held  int     // in hand
	place int     // in run.active, if held > 0
	left  num.Sum // work of those not finished, the first of which may be much larger than the last

	learner // of the work of those that finished
}

// An intHeap has the least number first.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(v any)        { *h = append(*h, v.(int)) }

func (h *intHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}

// hand is what a worker has in hand.
type hand struct {
	job, task int // -1 if it is idle
	since     float64
	version   int
}

// ending is the end of a task, unless the worker has lost it before.
type ending struct{ worker, version int }

// edge is the begin or the end of an outage.
type edge struct {
	at     float64
	up     bool
	worker int
}

func newRun(s *Scenario) *run {
	r := &run{
		s: s, requests: make([]Request, len(s.Jobs)), tasks: make([]tasks, len(s.Jobs)), records: make([]Record, len(s.Jobs)),
		plan: newPlanner(s.Policy, s.Speeds, len(s.Jobs)), up: make([]bool, len(s.Speeds)), hand: make([]hand, len(s.Speeds)),
	}
	for w := range r.up {
		r.up[w] = true
		r.hand[w].job = -1
	}
	r.byPriority.compare, r.byDeadline.compare = r.moreUrgent, r.dueEarlier
	r.listWorkers()
	for i := range s.Jobs {
		j := &s.Jobs[i]
		for task := range j.Works {
			r.tasks[i].left.Add(j.Works[task])
		}
		r.records[i] = Record{Job: i, Start: math.Inf(1)}
		r.requests[i] = Request{Priority: j.Priority, Deadline: j.Deadline, Tasks: j.Tasks, Speeds: j.Speeds}
		r.estimate(i)
		r.submits = append(r.submits, i)
	}
	slices.SortStableFunc(r.submits, func(a, b int) int { return cmp.Compare(s.Jobs[a].Submit, s.Jobs[b].Submit) })
	for _, o := range s.Outages {
		r.edges = append(r.edges, edge{o.From, false, o.Worker})
		if !math.IsInf(o.To, 1) {
			r.edges = append(r.edges, edge{o.To, true, o.Worker})
			r.returns++
		}
	}
	// A worker that returns as its next outage begins is up for no time.
	slices.SortStableFunc(r.edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 || a.up == b.up {
			return c
		}
		if a.up {
			return -1
		}
		return 1
	})
	return r
}

// advance moves the clock to the next moment, and takes the tasks that end then.
func (r *run) advance() {
	first := math.Inf(1)
	if len(r.edges) > 0 {
		first = r.edges[0].at
	}
	if len(r.submits) > 0 {
		first = min(first, r.s.Jobs[r.submits[0]].Submit)
	}
	for len(r.ends) > 0 && !r.holds(r.ends[0].Item) {
		r.ends.Pop()
	}
	if len(r.ends) > 0 {
		first = min(first, r.ends[0].Time)
	}
	if math.IsInf(first, 1) {
		panic("dispatch: a worker is up, or will be, and jobs are left, but nothing happens any more")
	}

	now, last := first, first*(1+timeTol)
	for k := 0; k < len(r.edges) && r.edges[k].at <= last; k++ {
		now = max(now, r.edges[k].at)
	}
	for k := 0; k < len(r.submits) && r.s.Jobs[r.submits[k]].Submit <= last; k++ {
		now = max(now, r.s.Jobs[r.submits[k]].Submit)
	}
	r.due = r.due[:0]
	for len(r.ends) > 0 && r.ends[0].Time <= last {
		if e := r.ends.Pop(); r.holds(e.Item) {
			r.due = append(r.due, e.Item)
			now = max(now, e.Time)
		}
	}
	r.measure(now)
	r.now = now
}

// holds reports whether the worker still has the task in hand.
func (r *run) holds(e ending) bool {
	return r.hand[e.worker].job >= 0 && r.hand[e.worker].version == e.version
}

// finishes ends the tasks whose time has come.
func (r *run) finishes() {
	slices.SortFunc(r.due, func(a, b ending) int { return cmp.Compare(a.version, b.version) })
	for _, e := range r.due {
		h := r.hand[e.worker]
		r.release(Finished, e.worker)
		j, t := &r.s.Jobs[h.job], &r.tasks[h.job]
		r.useful.Add(r.now - h.since)
		if j.Works != nil {
			t.left.Add(-j.Works[h.task])
		}
		if r.s.Learning.Default > 0 {
			t.learn(j.work(h.task), r.s.Learning.Window)
		}
		r.requests[h.job].Tasks--
		r.estimate(h.job)
		if r.requests[h.job].Tasks == 0 {
			r.complete(h.job)
		}
	}
}

// estimate tells the policy what is left of job i.
func (r *run) estimate(i int) {
	j, t, q := &r.s.Jobs[i], &r.tasks[i], &r.requests[i]
	switch {
	case r.s.Learning.Default > 0 && t.seen == 0:
		q.Work = float64(q.Tasks) * r.s.Learning.Default
	case r.s.Learning.Default > 0:
		q.Work = float64(q.Tasks) * t.mean
	case j.Estimate > 0:
		q.Work = float64(q.Tasks) * j.Estimate
	case j.Works == nil:
		q.Work = float64(q.Tasks) * j.Work
	default:
		q.Work = max(0, t.left.Value())
	}
}

// complete takes job i, all of whose tasks are done, out of the cluster.
func (r *run) complete(i int) {
	r.records[i].Finish = r.now
	r.byPriority.remove(i)
	if r.plan.looksAtDeadlines() {
		r.byDeadline.remove(i)
	}
	r.tasks[i] = tasks{}
	r.done++
	r.tell(Completed, i, -1, -1)
}

// changes takes away the workers that fail, and gives back those that return.
func (r *run) changes() {
	before := len(r.edges)
	for ; len(r.edges) > 0 && r.edges[0].at <= r.now; r.edges = r.edges[1:] {
		e := r.edges[0]
		r.up[e.worker] = e.up
		if e.up {
			r.returns--
			r.tell(Returned, -1, -1, e.worker)
			continue
		}
		if r.hand[e.worker].job >= 0 {
			r.lose(Lost, e.worker)
		}
		r.tell(Failed, -1, -1, e.worker)
	}
	switch {
	case len(r.edges) < before || len(r.due) > 1:
		r.listWorkers()
	case len(r.due) == 1:
		w := r.due[0].worker
		k, _ := slices.BinarySearchFunc(r.idle, w, func(a, b int) int { return cmp.Compare(r.plan.rank[a], r.plan.rank[b]) })
		r.idle = slices.Insert(r.idle, k, w)
	}
}

// listWorkers lists the workers that are up, and the idle ones among them, in the order of the policy.
func (r *run) listWorkers() {
	r.workers, r.idle = r.workers[:0], r.idle[:0]
	for _, w := range r.plan.order {
		if r.up[w] {
			r.workers = append(r.workers, w)
			if r.hand[w].job < 0 {
				r.idle = append(r.idle, w)
			}
		}
	}
}

// lose makes worker w forget its task, which will run again from its beginning.
func (r *run) lose(what Kind, w int) {
	h := r.hand[w]
	r.release(what, w)
	heap.Push(&r.tasks[h.job].lost, h.task)
	r.records[h.job].Lost++
	r.wasted.Add(r.now - h.since)
}

// submissions adds the jobs that come now.
func (r *run) submissions() {
	n := 0
	for ; n < len(r.submits) && r.s.Jobs[r.submits[n]].Submit <= r.now; n++ {
		r.tell(Submitted, r.submits[n], -1, -1)
	}
	if n == 0 {
		return
	}
	r.byPriority.add(r.submits[:n])
	if r.plan.looksAtDeadlines() {
		r.byDeadline.add(r.submits[:n])
	}
	r.submits = r.submits[n:]
}

// moreUrgent and dueEarlier are the orders of the policy; ties go by submission, then by place.
func (r *run) moreUrgent(a, b int) int {
	return cmp.Or(cmp.Compare(r.s.Jobs[b].Priority, r.s.Jobs[a].Priority), r.older(a, b))
}

func (r *run) dueEarlier(a, b int) int {
	return cmp.Or(cmp.Compare(r.requests[a].due(), r.requests[b].due()), r.older(a, b))
}

func (r *run) older(a, b int) int {
	return cmp.Or(cmp.Compare(r.s.Jobs[a].Submit, r.s.Jobs[b].Submit), cmp.Compare(a, b))
}

// decide plans anew and begins tasks.
func (r *run) decide() {
	p := r.plan
	p.assign(r.requests, r.byPriority.list(), r.byDeadline.list(), r.workers, r.now)
	left := r.idle[:0]
	for _, w := range r.idle {
		if j := p.job[w]; j >= 0 && r.wants(j) {
			r.begin(w, j)
		} else {
			left = append(left, w)
		}
	}
	taken := 0
	for _, j := range p.chosen {
		for ; taken < len(left) && r.wants(j); taken++ {
			r.begin(left[taken], j)
		}
	}
	r.idle = slices.Delete(left, 0, taken)
	if r.s.Emergency != 0 {
		r.preempt()
	}
	r.judge()
	if r.s.Watch != nil {
		r.s.Watch(r.decision())
		r.events = r.events[:0]
	}
}

// wants reports whether job j runs on fewer workers than planned. Then it has a task to begin, since no more workers
// are planned than it has tasks.
func (r *run) wants(j int) bool { return r.tasks[j].held < r.plan.planned[j] }

// begin gives worker w the next task of job j.
func (r *run) begin(w, j int) {
	t := &r.tasks[j]
	task := t.next
	if len(t.lost) > 0 {
		task = heap.Pop(&t.lost).(int)
	} else {
		t.next++
	}
	r.version++
	r.hand[w] = hand{j, task, r.now, r.version}
	speed := r.s.Speeds[w]
	if own := r.s.Jobs[j].Speeds; own != nil {
		speed = own[w]
	}
	r.ends.Push(r.now+r.s.Jobs[j].work(task)/speed, ending{w, r.version})
	if t.held == 0 {
		t.place = len(r.active)
		r.active = append(r.active, j)
	}
	t.held++
	r.records[j].Start = min(r.records[j].Start, r.now)
	r.tell(Started, j, task, w)
}

// release takes the task that worker w has in hand from it.
func (r *run) release(what Kind, w int) {
	h := r.hand[w]
	r.hand[w].job = -1
	t := &r.tasks[h.job]
	t.held--
	if t.held == 0 {
		last := len(r.active) - 1
		r.active[t.place] = r.active[last]
		r.tasks[r.active[t.place]].place = t.place
		r.active = r.active[:last]
	}
	r.tell(what, h.job, h.task, w)
}

// preempt kills tasks in hand for the emergencies that run on fewer workers than planned.
func (r *run) preempt() {
	isUrgent := func(j int) bool { return r.s.Jobs[j].Priority >= r.s.Emergency }
	if !slices.ContainsFunc(r.plan.chosen, func(j int) bool { return isUrgent(j) && r.wants(j) }) {
		return
	}
	isSpared := func(j int) bool { return r.tasks[j].held <= r.plan.planned[j] }
	r.victims = r.victims[:0]
	for w, h := range r.hand {
		if h.job >= 0 && !isUrgent(h.job) && !isSpared(h.job) {
			r.victims = append(r.victims, w)
		}
	}
	slices.SortFunc(r.victims, func(v, w int) int {
		a, b := r.hand[v], r.hand[w]
		return cmp.Or(cmp.Compare(r.s.Jobs[a.job].Priority, r.s.Jobs[b.job].Priority), cmp.Compare(b.since, a.since), cmp.Compare(w, v))
	})
	rest := r.victims
	for _, j := range r.plan.chosen {
		for ; len(rest) > 0 && isUrgent(j) && r.wants(j); rest = rest[1:] {
			if w := rest[0]; !isSpared(r.hand[w].job) {
				r.lose(Preempted, w)
				r.begin(w, j)
			}
		}
	}
}

// stranded says which jobs never finish.
func (r *run) stranded() error {
	e := &StrandedError{Jobs: len(r.records) - r.done}
	e.Job = slices.IndexFunc(r.requests, func(q Request) bool { return q.Tasks > 0 })
	for _, o := range r.s.Outages {
		if math.IsInf(o.To, 1) {
			e.Time = max(e.Time, o.From)
		}
	}
	return e
}
