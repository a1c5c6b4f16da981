package dispatch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"productform/internal/ends"
)

// Run runs the scenario on a simulated clock until all jobs are done. At each moment at which jobs are submitted, tasks
// finish, or workers fail or return, after all that happens then, the policy plans all workers that are up for all jobs
// present, tasks in hand counted as not begun. The plan is put into effect as far as tasks in hand allow, which are not
// cut: idle workers, in the order of the policy, begin tasks of the jobs planned for them, if those run on fewer
// workers than planned, and then the ones left of other such jobs, in the order in which the policy gave these their
// first worker. So no worker is idle while tasks wait, unless spare workers are kept. A job begins its tasks in their
// order, a lost one again before those that never began; tasks that finish at the same time do so in the order in which
// they began.
//
// The result depends on nothing but the scenario. A decision takes O(jobs present + workers) at most, under all rules
// but Proportion O(workers + log jobs), a submission O(jobs present); memory is that of the jobs. The error is an
// [input.Error], a [*StrandedError] or that of the context, which is looked at every thousand decisions.
func Run(ctx context.Context, s Scenario) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := newRun(&s)
	for n := 0; r.done < len(s.Jobs); n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at, ok := r.next()
		if !ok {
			return nil, r.stranded()
		}
		r.measure(at)
		r.now = at
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

	byPriority, byDeadline []int // jobs present, in these orders
	submits                []int // jobs to come, in order of time
	edges                  []edge

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
	ends    ends.Heap[ending]
	due     []ending // for finishes
	version int      // of tasks begun

	events []Event // since the last decision, for Watch
	totals
}

// tasks is how far a job is.
type tasks struct {
	next  int     // first task that never began
	again []int   // tasks that were lost, the last in order first
	held  int     // in hand
	place int     // in run.active, if held > 0
	left  float64 // work of those not finished

	seen   int     // tasks that the estimate is the mean of
	sum    float64 // of their work
	window []float64
}

// learn takes note of the work of a task that has finished; the estimate is over the last window tasks, or over all.
func (t *tasks) learn(work float64, window int) {
	if window == 0 {
		t.seen, t.sum = t.seen+1, t.sum+work
		return
	}
	if len(t.window) == window {
		t.window = slices.Delete(t.window, 0, 1)
	}
	t.window = append(t.window, work)
	t.seen, t.sum = len(t.window), 0
	for _, w := range t.window {
		t.sum += w
	}
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
	r.workers, r.idle = slices.Clone(r.plan.order), slices.Clone(r.plan.order)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		r.tasks[i].left, _ = j.total()
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

// next returns the time of the next event.
func (r *run) next() (float64, bool) {
	at := math.Inf(1)
	for len(r.ends) > 0 {
		if r.holds(r.ends[0].Of) {
			at = r.ends[0].At
			break
		}
		r.ends.Pop()
	}
	if len(r.edges) > 0 {
		at = min(at, r.edges[0].at)
	}
	if len(r.submits) > 0 {
		at = min(at, r.s.Jobs[r.submits[0]].Submit)
	}
	return at, !math.IsInf(at, 1)
}

// holds reports whether the worker still has the task in hand.
func (r *run) holds(e ending) bool {
	return r.hand[e.worker].job >= 0 && r.hand[e.worker].version == e.version
}

// finishes ends the tasks whose time has come.
func (r *run) finishes() {
	r.due = r.due[:0]
	for len(r.ends) > 0 && r.ends[0].At <= r.now {
		if e := r.ends.Pop().Of; r.holds(e) {
			r.due = append(r.due, e)
		}
	}
	slices.SortFunc(r.due, func(a, b ending) int { return cmp.Compare(a.version, b.version) })
	for _, e := range r.due {
		h := r.hand[e.worker]
		r.release(Finished, e.worker)
		r.idle = insert(r.idle, e.worker, r.handedOut)
		j, t := &r.s.Jobs[h.job], &r.tasks[h.job]
		r.useful += r.now - h.since
		t.left = max(0, t.left-j.work(h.task))
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
		q.Work = float64(q.Tasks) * (t.sum / float64(t.seen))
	case j.Estimate > 0:
		q.Work = float64(q.Tasks) * j.Estimate
	case j.Works == nil:
		q.Work = float64(q.Tasks) * j.Work
	default:
		q.Work = t.left
	}
}

// complete takes job i, all of whose tasks are done, out of the cluster.
func (r *run) complete(i int) {
	r.records[i].Finish = r.now
	r.byPriority = remove(r.byPriority, i, r.moreUrgent)
	r.byDeadline = remove(r.byDeadline, i, r.dueEarlier)
	r.done++
	r.tell(Completed, i, -1, -1)
}

// changes takes away the workers that fail, and gives back those that return.
func (r *run) changes() {
	for ; len(r.edges) > 0 && r.edges[0].at <= r.now; r.edges = r.edges[1:] {
		e := r.edges[0]
		r.up[e.worker] = e.up
		if e.up {
			r.workers = insert(r.workers, e.worker, r.handedOut)
			r.idle = insert(r.idle, e.worker, r.handedOut)
			r.tell(Returned, -1, -1, e.worker)
			continue
		}
		r.workers = remove(r.workers, e.worker, r.handedOut)
		if r.hand[e.worker].job >= 0 {
			r.lose(Lost, e.worker)
		} else {
			r.idle = remove(r.idle, e.worker, r.handedOut)
		}
		r.tell(Failed, -1, -1, e.worker)
	}
}

// lose makes worker w forget its task, which will run again from its beginning.
func (r *run) lose(what Kind, w int) {
	h := r.hand[w]
	r.release(what, w)
	t := &r.tasks[h.job]
	t.again = insert(t.again, h.task, func(a, b int) int { return cmp.Compare(b, a) })
	r.records[h.job].Lost++
	r.wasted += r.now - h.since
}

// submissions adds the jobs that come now.
func (r *run) submissions() {
	for ; len(r.submits) > 0 && r.s.Jobs[r.submits[0]].Submit <= r.now; r.submits = r.submits[1:] {
		i := r.submits[0]
		r.byPriority = insert(r.byPriority, i, r.moreUrgent)
		r.byDeadline = insert(r.byDeadline, i, r.dueEarlier)
		r.tell(Submitted, i, -1, -1)
	}
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

// handedOut is the order in which the policy hands out workers.
func (r *run) handedOut(a, b int) int { return cmp.Compare(r.plan.rank[a], r.plan.rank[b]) }

func insert(list []int, i int, order func(a, b int) int) []int {
	k, _ := slices.BinarySearchFunc(list, i, order)
	return slices.Insert(list, k, i)
}

func remove(list []int, i int, order func(a, b int) int) []int {
	k, _ := slices.BinarySearchFunc(list, i, order)
	return slices.Delete(list, k, k+1)
}

// decide plans anew and begins tasks.
func (r *run) decide() {
	p := r.plan
	p.assign(r.requests, r.byPriority, r.byDeadline, r.workers, r.now)
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
	if n := len(t.again); n > 0 {
		task, t.again = t.again[n-1], t.again[:n-1]
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

// preempt kills tasks in hand for the emergencies that run on fewer workers than planned: of jobs that run on more than
// planned, the lowest priority first, then the task begun last, then the last worker.
func (r *run) preempt() {
	urgent := func(j int) bool { return r.s.Jobs[j].Priority >= r.s.Emergency }
	for _, j := range r.plan.chosen {
		for urgent(j) && r.wants(j) {
			victim := -1
			for w, h := range r.hand {
				if h.job < 0 || urgent(h.job) || r.tasks[h.job].held <= r.plan.planned[h.job] {
					continue
				}
				if victim < 0 || cmp.Or(cmp.Compare(r.s.Jobs[h.job].Priority, r.s.Jobs[r.hand[victim].job].Priority),
					cmp.Compare(r.hand[victim].since, h.since)) <= 0 {
					victim = w
				}
			}
			if victim < 0 {
				return
			}
			r.lose(Preempted, victim)
			r.begin(victim, j)
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
