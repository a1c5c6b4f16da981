package dispatch_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"productform/dispatch"
)

// naiveMaker decides from the specification of Decide: it keeps the list of all attempts and
// requests, and derives everything else at each moment.
type naiveMaker struct {
	rules    dispatch.Rules
	now      float64
	workers  []naiveWorker
	jobs     map[int]*naiveJob
	attempts []naiveAttempt // the attempt at index k has number k + 1
	events   []dispatch.Event

	timed []naiveTimed

	began, seconds, capacity, useful, wasted float64
	anyJob                                   bool
	decisions                                int
	byPlan, byTasks, sumPlan, sumTasks, sum  float64 // violated fractions: now, over time, over decisions
}

type naiveWorker struct {
	speed   float64
	up      bool
	leaving bool
}

// naiveTimed is a task that finished.
type naiveTimed struct {
	kind          string
	worker        int
	work, seconds float64
}

type naiveJob struct {
	dispatch.Job
	stage   dispatch.Stage
	before  int // number of attempts when the job arrived
	ended   []int
	givenUp int
	learnt  []float64
	finish  float64
}

type naiveAttempt struct {
	number, job, task, worker int
	from                      float64
	fate                      dispatch.Kind // "" while running
	of                        *naiveJob
}

func (n *naiveMaker) record(kind dispatch.Kind, job, task, worker, attempt int) {
	n.events = append(n.events, dispatch.Event{Kind: kind, Job: job, Task: task, Worker: worker, Attempt: attempt})
}

// running returns the running attempts that satisfy a condition, in order of workers.
func (n *naiveMaker) running(holds func(a *naiveAttempt) bool) []*naiveAttempt {
	var list []*naiveAttempt
	for k := range n.attempts {
		if a := &n.attempts[k]; a.fate == "" && holds(a) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *naiveAttempt) int { return cmp.Compare(a.worker, b.worker) })
	return list
}

func (n *naiveMaker) of(worker int) *naiveAttempt {
	if list := n.running(func(a *naiveAttempt) bool { return a.worker == worker }); len(list) > 0 {
		return list[0]
	}
	return nil
}

// stop ends an attempt before its task has ended.
func (n *naiveMaker) stop(a *naiveAttempt, fate dispatch.Kind) {
	a.fate = fate
	if fate == dispatch.Finished {
		n.useful += n.now - a.from
	} else {
		n.wasted += n.now - a.from
	}
	n.workers[a.worker].leaving = false
	n.record(fate, a.job, a.task, a.worker, a.number)
}

func (n *naiveMaker) end(number, task int) {
	j := n.jobs[number]
	j.ended = append(j.ended, task)
	if len(j.ended) == j.Tasks {
		j.stage, j.finish = dispatch.JobCompleted, n.now
		n.record(dispatch.Completed, number, -1, -1, 0)
	}
}

// report ends the task of an attempt if this is its first report.
func (n *naiveMaker) report(h dispatch.Happening) {
	a := &n.attempts[h.Attempt-1]
	j := n.jobs[h.Job]
	if h.Kind == dispatch.Refused {
		if a.fate == "" {
			n.stop(a, h.Kind)
		}
		return
	}
	if j != a.of || j.stage != dispatch.JobPresent || slices.Contains(j.ended, h.Task) {
		return
	}
	if a.fate == "" {
		n.stop(a, dispatch.Finished)
		work := cmp.Or(j.Estimate, taskWork(&j.Job, h.Task))
		if n.rules.Learning.Default > 0 {
			work = n.mean(j)
		}
		if j.Speeds == nil && work > 0 && h.Seconds > 0 {
			n.timed = append(n.timed, naiveTimed{j.Kind, a.worker, work, h.Seconds})
		}
	} else {
		for _, b := range n.running(func(b *naiveAttempt) bool { return b.of == j && b.task == h.Task }) {
			n.stop(b, dispatch.Dropped)
		}
		n.record(dispatch.Finished, h.Job, h.Task, h.Worker, h.Attempt)
	}
	j.learnt = append(j.learnt, h.Work)
	n.end(h.Job, h.Task)
}

// speeds returns the speeds of the workers.
func (n *naiveMaker) speeds() (speeds []float64) {
	for _, w := range n.workers {
		speeds = append(speeds, w.speed)
	}
	return speeds
}

// reportedSpeeds returns the published speed of a worker at a kind of task, computed from all tasks
// that it has finished.
func (n *naiveMaker) reportedSpeeds(kind string, worker int) float64 {
	told := n.workers[worker].speed
	var work, seconds float64
	tasks := 0
	for _, x := range n.timed {
		if x.kind != kind || x.worker != worker {
			continue
		}
		work, seconds, tasks = work+x.work, seconds+x.seconds, tasks+1
		if v := work / seconds; tasks >= 3 && math.Abs(v/told-1) > 0.05 {
			told = v
		}
		if tasks == 50 {
			work, seconds, tasks = work/2, seconds/2, 25
		}
	}
	return told
}

func (n *naiveMaker) worker(h dispatch.Happening) {
	if h.Worker == len(n.workers) {
		n.workers = append(n.workers, naiveWorker{})
		for _, j := range n.jobs {
			if j.Speeds != nil {
				j.Speeds = append(j.Speeds, h.Speed)
			}
		}
	}
	w := &n.workers[h.Worker]
	switch {
	case h.Kind == dispatch.Failed && (w.up || w.leaving):
		if a := n.of(h.Worker); a != nil {
			n.stop(a, dispatch.Lost)
		}
		w.up, w.leaving = false, false
	case h.Kind == dispatch.Leaving && w.up:
		w.up, w.leaving = false, n.of(h.Worker) != nil
	case h.Kind == dispatch.Returned && !w.up:
		if h.New || h.Speed != 0 && h.Speed != w.speed {
			n.timed = slices.DeleteFunc(n.timed, func(x naiveTimed) bool { return x.worker == h.Worker })
		}
		w.up, w.leaving, w.speed = true, false, cmp.Or(h.Speed, w.speed)
	default:
		return
	}
	n.record(h.Kind, -1, -1, h.Worker, 0)
}

func (n *naiveMaker) wish(h dispatch.Happening) {
	j := n.jobs[h.Job]
	if j.stage != dispatch.JobPresent {
		return
	}
	switch h.Kind {
	case dispatch.Changed:
		j.Priority, j.Deadline = h.What.Priority, h.What.Deadline
		n.record(dispatch.Changed, h.Job, -1, -1, 0)
	case dispatch.GivenUp:
		if slices.Contains(j.ended, h.Task) {
			return
		}
		for _, a := range n.running(func(a *naiveAttempt) bool { return a.of == j && a.task == h.Task }) {
			n.stop(a, dispatch.Dropped)
		}
		j.givenUp++
		n.record(dispatch.GivenUp, h.Job, h.Task, -1, 0)
		n.end(h.Job, h.Task)
	case dispatch.Cancelled:
		for _, a := range n.running(func(a *naiveAttempt) bool { return a.of == j }) {
			n.stop(a, dispatch.Dropped)
		}
		j.stage = dispatch.JobCancelled
		n.record(dispatch.Cancelled, h.Job, -1, -1, 0)
	}
}

// decide implements Decide: the kinds of happenings one after another, then a plan.
func (n *naiveMaker) decide(at float64, what []dispatch.Happening) []dispatch.Event {
	n.pass(at)
	n.events = nil
	of := func(kinds ...dispatch.Kind) []dispatch.Happening {
		return slices.DeleteFunc(slices.Clone(what), func(h dispatch.Happening) bool {
			return !slices.Contains(kinds, h.Kind)
		})
	}
	reports := of(dispatch.Finished, dispatch.Refused)
	slices.SortFunc(reports, func(a, b dispatch.Happening) int {
		return cmp.Or(
			cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Worker, b.Worker),
			cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Work, b.Work),
			cmp.Compare(a.Seconds, b.Seconds),
		)
	})
	for _, h := range reports {
		n.report(h)
	}
	workers := of(dispatch.Failed, dispatch.Returned, dispatch.Leaving)
	slices.SortStableFunc(workers, func(a, b dispatch.Happening) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, h := range workers {
		n.worker(h)
	}
	submits := of(dispatch.Submitted)
	slices.SortFunc(submits, func(a, b dispatch.Happening) int {
		return cmp.Or(cmp.Compare(a.What.Submit, b.What.Submit), cmp.Compare(a.Job, b.Job))
	})
	for _, h := range submits {
		j := &naiveJob{Job: *h.What, stage: dispatch.JobPresent, before: len(n.attempts)}
		j.Speeds = slices.Clone(j.Speeds)
		if len(j.Speeds) == 0 {
			j.Speeds = nil
		}
		if n.jobs[h.Job] = j; !n.anyJob {
			n.anyJob, n.began = true, at
		}
		n.record(dispatch.Submitted, h.Job, -1, -1, 0)
	}
	for _, kind := range []dispatch.Kind{dispatch.Changed, dispatch.GivenUp, dispatch.Cancelled} {
		wishes := of(kind)
		slices.SortStableFunc(wishes, func(a, b dispatch.Happening) int {
			return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
		})
		for _, h := range wishes {
			n.wish(h)
		}
	}
	n.plan()
	return n.events
}

// pass advances the clock.
func (n *naiveMaker) pass(at float64) {
	seconds := at - n.now
	n.now = at
	if len(n.present()) > 0 {
		n.seconds += seconds
		n.sumPlan += n.byPlan * seconds
		n.sumTasks += n.byTasks * seconds
	}
	if n.anyJob {
		for _, w := range n.workers {
			if w.up || w.leaving {
				n.capacity += seconds
			}
		}
	}
}

// present returns the numbers of the jobs present in order of submission.
func (n *naiveMaker) present() []int {
	var list []int
	for number, j := range n.jobs {
		if j.stage == dispatch.JobPresent {
			list = append(list, number)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(n.jobs[a].Submit, n.jobs[b].Submit), cmp.Compare(a, b))
	})
	return list
}

// held returns the number of tasks of a job that run on workers that are up, or that are leaving.
func (n *naiveMaker) held(j *naiveJob, leaving bool) int {
	return len(n.running(func(a *naiveAttempt) bool { return a.of == j && n.workers[a.worker].leaving == leaving }))
}

// work returns the remaining work of a job as the policy estimates it.
func (n *naiveMaker) work(j *naiveJob) float64 {
	open := float64(j.Tasks - len(j.ended))
	if l := n.rules.Learning; l.Default > 0 {
		if len(j.learnt) == 0 {
			return open * l.Default
		}
		return open * n.mean(j)
	}
	left := 0.0
	for task := range j.Tasks {
		if !slices.Contains(j.ended, task) {
			left += cmp.Or(j.Estimate, taskWork(&j.Job, task))
		}
	}
	return left
}

// mean returns the mean work of the tasks from which a job learns, or 0 if there are none.
func (n *naiveMaker) mean(j *naiveJob) float64 {
	last := j.learnt
	if window := n.rules.Learning.Window; window > 0 && len(last) > window {
		last = last[len(last)-window:]
	}
	sum := 0.0
	for _, w := range last {
		sum += w
	}
	return sum / max(1, float64(len(last)))
}

// plan obtains a plan from the policy and executes it.
func (n *naiveMaker) plan() {
	all := n.present()
	n.byPlan, n.byTasks = 0, 0
	if len(all) == 0 {
		return
	}
	var workers []int
	var speeds []float64
	for w, x := range n.workers {
		if x.up {
			workers, speeds = append(workers, w), append(speeds, x.speed)
		}
	}
	planned, plan := map[int]int{}, map[int]int{}
	var requests []dispatch.Request
	var asking []int
	for _, number := range all {
		j := n.jobs[number]
		leaving := n.held(j, true)
		q := dispatch.Request{
			Priority: j.Priority,
			Deadline: j.Deadline,
			Tasks:    j.Tasks - len(j.ended) - leaving,
			Work:     n.work(j),
		}
		if j.MaxWorkers > 0 {
			q.Tasks = min(q.Tasks, j.MaxWorkers-leaving)
		}
		if q.Tasks <= 0 {
			continue
		}
		for _, w := range workers {
			if j.Speeds != nil {
				q.Speeds = append(q.Speeds, j.Speeds[w])
			} else if n.rules.Learning.Speeds {
				q.Speeds = append(q.Speeds, n.reportedSpeeds(j.Kind, w))
			}
		}
		requests, asking = append(requests, q), append(asking, number)
	}
	if len(workers) > 0 {
		assigned, err := n.rules.Policy.Assign(requests, speeds, n.now)
		if err != nil {
			panic(err)
		}
		for k, q := range assigned {
			if q >= 0 {
				plan[workers[k]] = asking[q]
				planned[asking[q]]++
			}
		}
	}
	turns := slices.Clone(all)
	slices.SortStableFunc(turns, func(a, b int) int {
		if n.rules.Policy.Rule == dispatch.EDF {
			return cmp.Compare(dueTime(&n.jobs[a].Job), dueTime(&n.jobs[b].Job))
		}
		return cmp.Compare(n.jobs[b].Priority, n.jobs[a].Priority)
	})
	if r := n.rules.Policy.Rule; r == dispatch.Deadline || r == dispatch.Workload {
		slices.SortStableFunc(workers, func(a, b int) int {
			return cmp.Compare(n.workers[b].speed, n.workers[a].speed)
		})
	}
	wants := func(number int) bool { return n.held(n.jobs[number], false) < planned[number] }
	var averse []int
	for _, e := range n.events {
		if e.Kind == dispatch.Refused {
			averse = append(averse, e.Worker)
		}
	}
	for _, w := range workers {
		if number, ok := plan[w]; ok && n.of(w) == nil && wants(number) && len(averse) == 0 {
			n.begin(w, number)
		}
	}
	if len(averse) > 0 {
		workers = n.turnOrder(workers, averse)
	}
	for _, number := range turns {
		for _, w := range workers {
			if n.of(w) == nil && wants(number) {
				n.begin(w, number)
			}
		}
	}
	for n.rules.Emergency != 0 && n.kill(turns, planned, wants) {
	}
	n.judge(all, planned)
}

// turnOrder sorts workers, given in the order of the policy, into their order after refusals.
func (n *naiveMaker) turnOrder(workers, averse []int) []int {
	last := averse[len(averse)-1]
	place := func(w int) (averseAtAll, before int) {
		if slices.Contains(averse, w) {
			averseAtAll = 1
		}
		isBefore := w <= last
		if r := n.rules.Policy.Rule; (r == dispatch.Deadline || r == dispatch.Workload) &&
			n.workers[w].speed != n.workers[last].speed {
			isBefore = n.workers[w].speed > n.workers[last].speed
		}
		if isBefore {
			before = 1
		}
		return averseAtAll, before
	}
	workers = slices.Clone(workers)
	slices.SortStableFunc(workers, func(a, b int) int {
		a1, a2 := place(a)
		b1, b2 := place(b)
		return cmp.Or(cmp.Compare(a1, b1), cmp.Compare(a2, b2))
	})
	return workers
}

// kill replaces one task of another job by a task of an emergency.
func (n *naiveMaker) kill(turns []int, planned map[int]int, wants func(int) bool) bool {
	for _, number := range turns {
		if n.jobs[number].Priority < n.rules.Emergency || !wants(number) {
			continue
		}
		victims := n.running(func(a *naiveAttempt) bool {
			return n.workers[a.worker].up && a.of.Priority < n.rules.Emergency && n.held(a.of, false) > planned[a.job]
		})
		if len(victims) == 0 {
			continue
		}
		a := slices.MinFunc(victims, func(a, b *naiveAttempt) int {
			return cmp.Or(
				cmp.Compare(a.of.Priority, b.of.Priority), cmp.Compare(b.from, a.from), cmp.Compare(b.worker, a.worker),
			)
		})
		n.stop(a, dispatch.Preempted)
		n.begin(a.worker, number)
		return true
	}
	return false
}

// begin starts the first lost task of a job, otherwise the first that never started, otherwise the
// first refused one.
func (n *naiveMaker) begin(worker, number int) {
	task := n.next(number)
	if task < 0 {
		panic(fmt.Sprint("no task to begin of job ", number))
	}
	n.attempts = append(n.attempts, naiveAttempt{
		number: len(n.attempts) + 1,
		job:    number,
		task:   task,
		worker: worker,
		from:   n.now,
		of:     n.jobs[number],
	})
	n.record(dispatch.Started, number, task, worker, len(n.attempts))
}

// next returns the next task of a job to start, or -1 if none is waiting.
func (n *naiveMaker) next(number int) int {
	j := n.jobs[number]
	first := map[dispatch.Kind]int{} // by fate of the latest attempt
	for task := j.Tasks - 1; task >= 0; task-- {
		last := dispatch.Submitted
		for _, a := range n.attempts {
			if a.of == j && a.task == task {
				last = a.fate
			}
		}
		if last == dispatch.Preempted {
			last = dispatch.Lost
		}
		if !slices.Contains(j.ended, task) {
			first[last] = task
		}
	}
	for _, kind := range []dispatch.Kind{dispatch.Lost, dispatch.Submitted, dispatch.Refused} {
		if task, ok := first[kind]; ok {
			return task
		}
	}
	return -1
}

// judge compares all pairs of jobs.
func (n *naiveMaker) judge(all []int, planned map[int]int) {
	part := func(served func(number int) bool) float64 {
		k := 0
		for _, a := range all {
			if !served(a) && slices.ContainsFunc(all, func(b int) bool {
				return served(b) &&
					n.jobs[b].Priority < n.jobs[a].Priority
			}) {
				k++
			}
		}
		return float64(k) / float64(len(all))
	}
	n.byPlan = part(func(number int) bool { return planned[number] > 0 })
	n.byTasks = part(func(number int) bool { return n.held(n.jobs[number], false)+n.held(n.jobs[number], true) > 0 })
	n.sum += n.byPlan
	n.decisions++
}

// compare compares all totals except violations by the plan.
func (n *naiveMaker) compare(r *dispatch.Result) error {
	var delays []float64
	var records []dispatch.Record
	for number := range 1000 {
		j := n.jobs[number]
		if j == nil || j.stage != dispatch.JobCompleted {
			continue
		}
		rec := dispatch.Record{
			Job:     number,
			Start:   math.Inf(1),
			Finish:  j.finish,
			Delay:   j.finish - j.Submit,
			GivenUp: j.givenUp,
		}
		for _, a := range n.attempts {
			if a.of == j {
				rec.Start = min(rec.Start, a.from)
				if a.fate == dispatch.Lost || a.fate == dispatch.Preempted {
					rec.Lost++
				}
			}
		}
		if j.Deadline > 0 && j.finish-j.Deadline > 1e-9*j.finish {
			rec.Missed = j.finish - j.Deadline
		}
		delays, records = append(delays, rec.Delay), append(records, rec)
	}
	got := slices.Clone(r.Jobs)
	for k := range got {
		got[k].Slowdown = 0
	}
	if !slices.Equal(got, records) || r.Decisions != n.decisions || !closeSpreads(r.Delay, spreadOf(delays)) ||
		!closeTo(r.RunningViolationRate, ratio(n.sumTasks, n.seconds)) ||
		!closeTo(r.Utilization, ratio(n.useful, n.capacity)) || !closeTo(r.Wasted, ratio(n.wasted, n.capacity)) {
		return fmt.Errorf("%+v\nrecords wanted %+v\nand %+v", r, records, n)
	}
	return nil
}

// comparePlans compares violations by the plan.
func (n *naiveMaker) comparePlans(r *dispatch.Result) error {
	byTime, byDecision := ratio(n.sumPlan, n.seconds), ratio(n.sum, float64(n.decisions))
	if !closeTo(r.PriorityViolationRate, byTime) || !closeTo(r.DecisionViolationRate, byDecision) {
		return fmt.Errorf("violation rates %v and %v, want %v and %v",
			r.PriorityViolationRate, r.DecisionViolationRate, byTime, byDecision)
	}
	return nil
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// randomHappenings draws the happenings of a moment, many of them late, repeated or without effect;
// pick(k) draws from [0, k).
func (n *naiveMaker) randomHappenings(at float64, pick func(k int) int) []dispatch.Happening {
	var what []dispatch.Happening
	numbers := 0
	for number := range n.jobs {
		numbers = max(numbers, number+1)
	}
	for range []int{0, 1, 1, 1, 2, 3, 5}[pick(7)] {
		h := dispatch.Happening{Worker: pick(max(1, len(n.workers)))}
		known := n.knownJob(pick)
		kind := pick(20)
		if len(n.workers) == 0 && kind >= 7 && kind < 12 {
			kind = 12
		}
		switch {
		case kind < 7: // mostly about running attempts
			if len(n.attempts) == 0 {
				continue
			}
			a := &n.attempts[pick(len(n.attempts))]
			if list := n.running(func(*naiveAttempt) bool { return true }); len(list) > 0 && pick(4) > 0 {
				a = list[pick(len(list))]
			}
			if n.jobs[a.job] == nil {
				continue
			}
			h = dispatch.Happening{
				Kind:    dispatch.Finished,
				Worker:  a.worker,
				Job:     a.job,
				Task:    a.task,
				Attempt: a.number,
				Work:    float64(pick(4)),
				Seconds: []float64{0, 0.25, 0.5, 1, 1, 2, 4}[pick(7)],
			}
			if pick(5) == 0 {
				h.Kind, h.Work, h.Seconds = dispatch.Refused, 0, 0
			}
		case kind < 9:
			h.Kind = dispatch.Failed
		case kind == 9:
			h.Kind = dispatch.Leaving
		case kind < 12:
			h.Kind, h.Speed, h.New = dispatch.Returned, []float64{0, 1, 2, 0.5}[pick(4)], pick(4) == 0
		case kind == 12 && len(n.workers) < 6 &&
			!slices.ContainsFunc(what, func(h dispatch.Happening) bool { return h.Worker == len(n.workers) }):
			h = dispatch.Happening{Kind: dispatch.Returned, Worker: len(n.workers), Speed: float64(1 + pick(2))}
		case kind == 13 && known >= 0:
			h = dispatch.Happening{Kind: dispatch.Cancelled, Job: known}
		case kind == 14 && known >= 0:
			j := n.jobs[known]
			h = dispatch.Happening{Kind: dispatch.Changed, Job: known, What: &dispatch.Job{Priority: float64(pick(4))}}
			if pick(2) == 0 {
				h.What.Deadline = j.Submit + float64(1+pick(20))
			}
		case kind == 15 && known >= 0:
			var begun []int
			for _, a := range n.attempts {
				if a.of == n.jobs[known] {
					begun = append(begun, a.task)
				}
			}
			if len(begun) == 0 {
				continue
			}
			h = dispatch.Happening{Kind: dispatch.GivenUp, Job: known, Task: begun[pick(len(begun))]}
		case kind > 15:
			h = dispatch.Happening{Kind: dispatch.Submitted, Job: numbers}
			for free := range numbers {
				if n.jobs[free] == nil && !slices.ContainsFunc(what, func(h dispatch.Happening) bool {
					return h.Kind == dispatch.Submitted &&
						h.Job == free
				}) {
					h.Job = free
				}
			}
			if h.Job == numbers {
				numbers++
			}
			h.What = n.randomJob(at, pick)
		default:
			continue
		}
		what = append(what, h)
	}
	// A job's own speeds must cover every worker, including new ones.
	workers := len(n.workers)
	for _, h := range what {
		if h.Kind == dispatch.Returned {
			workers = max(workers, h.Worker+1)
		}
	}
	for _, h := range what {
		if h.Kind == dispatch.Submitted && h.What.Speeds != nil {
			h.What.Speeds = append(h.What.Speeds, slices.Repeat([]float64{2}, workers-len(h.What.Speeds))...)
		}
	}
	return what
}

// knownJob draws a job that is not forgotten, or returns -1 if there is none.
func (n *naiveMaker) knownJob(pick func(k int) int) int {
	var known []int
	for number := range n.jobs {
		known = append(known, number)
	}
	if len(known) == 0 {
		return -1
	}
	slices.Sort(known)
	return known[pick(len(known))]
}

func (n *naiveMaker) randomJob(at float64, pick func(k int) int) *dispatch.Job {
	list := func(values ...float64) float64 { return values[pick(len(values))] }
	j := &dispatch.Job{
		Submit:     max(0, at-float64(pick(2))),
		Priority:   float64(pick(4)),
		Tasks:      1 + pick(5),
		MaxWorkers: max(0, pick(5)-2),
		Kind:       []string{"", "a", "b"}[pick(3)],
	}
	if pick(3) > 0 {
		j.Deadline = j.Submit + float64(1+pick(15))
	}
	if pick(3) == 0 {
		for range j.Tasks {
			j.Works = append(j.Works, list(0, 1, 2, 3, 6))
		}
	} else {
		j.Work = list(0, 1, 1, 2, 4)
	}
	if pick(4) == 0 {
		j.Estimate = list(1, 3, 8)
	}
	if pick(4) == 0 { // if all workers are new, they use their general speeds
		j.Speeds = []float64{}
		for range n.workers {
			j.Speeds = append(j.Speeds, list(0.5, 1, 2, 4))
		}
	}
	return j
}

// randomRules draws rules.
func randomRules(rule dispatch.Rule, pick func(k int) int) dispatch.Rules {
	list := func(values ...float64) float64 { return values[pick(len(values))] }
	r := dispatch.Rules{Policy: dispatch.Policy{
		Rule:    rule,
		Spare:   dispatch.AllSpares()[pick(3)],
		Reserve: list(0, 0.25, 1),
		Horizon: list(0, 2, 5),
	}}
	if pick(3) == 0 {
		r.Learning = dispatch.Learning{Default: list(0.5, 2), Window: pick(4)}
	}
	r.Learning.Speeds = pick(2) == 0
	if pick(3) == 0 {
		r.Emergency = list(2, 3)
	}
	return r
}

// shuffled permutes the happenings, but keeps the order of those about one worker and of the
// changes of one job.
func shuffled(what []dispatch.Happening, random *rand.Rand) []dispatch.Happening {
	key := func(h dispatch.Happening) string {
		switch h.Kind {
		case dispatch.Failed, dispatch.Returned, dispatch.Leaving:
			return fmt.Sprint("worker", h.Worker)
		case dispatch.Changed:
			return fmt.Sprint("job", h.Job)
		}
		return ""
	}
	queues := map[string][]dispatch.Happening{}
	for _, h := range what {
		queues[key(h)] = append(queues[key(h)], h)
	}
	other := slices.Clone(what)
	random.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
	for k, h := range other {
		if q := key(h); q != "" {
			other[k], queues[q] = queues[q][0], queues[q][1:]
		}
	}
	return other
}
