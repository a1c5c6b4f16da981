package book

import (
	"slices"

	"productform/dispatch"
	"productform/internal/input"
	"productform/live/wire"
)

// applyEvent applies an event of a plan; token is the token of a task that starts.
func (b *Book) applyEvent(at float64, e *dispatch.Event, token string) error {
	j := b.job(e.Job)
	if e.Job != -1 && (j == nil || e.Task != -1 && (e.Task < 0 || e.Task >= j.Job.Tasks)) {
		return input.Errorf("job", e.Job, "a job, and one of its tasks")
	}
	if e.Worker != -1 && (e.Worker < 0 || e.Worker >= len(b.workers)) {
		return input.Errorf("worker", e.Worker, "a worker, 0 to %d", len(b.workers)-1)
	}
	switch e.Kind {
	case dispatch.Failed, dispatch.Returned, dispatch.Leaving:
		if e.Worker == -1 {
			return input.Errorf("worker", e.Worker, "a worker")
		}
		b.applyWorkerEvent(at, e)
		return nil
	case dispatch.Submitted, dispatch.Completed, dispatch.Cancelled, dispatch.Changed:
		if e.Job == -1 {
			return input.Errorf("job", e.Job, "a job")
		}
		b.applyJobEvent(at, e.Kind, j)
		return nil
	}
	if e.Job == -1 || e.Task == -1 || e.Worker == -1 && e.Kind != dispatch.GivenUp {
		return input.Errorf("kind", e.Kind, "a job, a task and a worker")
	}
	b.touched.Jobs[j.Job.Name] = true
	if e.Worker >= 0 {
		b.touched.Workers[b.workers[e.Worker].Name] = true
	}
	switch e.Kind {
	case dispatch.Started:
		b.startAttempt(at, e, j, token)
	case dispatch.Finished, dispatch.GivenUp:
		b.endTask(at, e, j)
	case dispatch.Refused, dispatch.Lost, dispatch.Preempted:
		b.requeueTask(at, e, j)
	case dispatch.Dropped:
		b.release(at, e.Attempt)
		delete(b.attempts, e.Attempt)
	}
	return nil
}

// applyWorkerEvent applies an event about a worker.
func (b *Book) applyWorkerEvent(at float64, e *dispatch.Event) {
	w := &b.workers[e.Worker]
	w.Since = at
	b.touched.Workers[w.Name] = true
	switch e.Kind {
	case dispatch.Failed:
		w.Up = false
		b.counts.Downs++
	case dispatch.Returned:
		if w.Up, w.Left = true, false; w.Drained == w.Process { // the former process was drained at the same moment
			w.Drained = ""
		}
	case dispatch.Leaving:
		w.Up, w.Left, w.Drained = false, true, w.Process
	}
}

// applyJobEvent applies an event about a job.
func (b *Book) applyJobEvent(at float64, kind dispatch.Kind, j *job) {
	b.touched.Jobs[j.Job.Name] = true
	if kind != dispatch.Completed && kind != dispatch.Cancelled {
		return
	}
	j.State = wire.JobCompleted
	switch {
	case kind == dispatch.Cancelled:
		j.State = wire.JobCancelled
		b.counts.Cancelled++
	case j.Failed > 0:
		j.State = wire.JobFailures
		b.counts.Completed++
	default:
		b.counts.Completed++
	}
	j.Finish = &at
	b.done = append(b.done, j.Number)
	for _, list := range j.taken {
		for _, n := range list {
			delete(b.attempts, n)
		}
	}
	j.taken, j.Failures, j.Adopted = nil, nil, nil
}

// startAttempt records that a task was assigned to a worker.
func (b *Book) startAttempt(at float64, e *dispatch.Event, j *job, token string) {
	w := &b.workers[e.Worker]
	w.Since = at
	b.attempts[e.Attempt] = &attempt{
		Job: e.Job, Task: e.Task, Worker: e.Worker, Name: w.Name, Token: token, Since: at, Speed: w.Speed,
	}
	j.Hand++
	if j.Start == nil {
		j.Start = &at
	}
	b.counts.Begun++
}

// release takes an attempt from its worker and returns it, or nil if there is none.
func (b *Book) release(at float64, number int) *attempt {
	a := b.attempts[number]
	if a == nil || a.Taken {
		return a
	}
	delete(b.reports, number)
	a.Taken = true
	b.workers[a.Worker].Since = at
	if j := b.job(a.Job); j != nil {
		j.Hand--
	}
	return a
}

// endTask records that a task has a result or was given up.
func (b *Book) endTask(at float64, e *dispatch.Event, j *job) {
	if e.Kind == dispatch.Finished {
		if a := b.attempts[e.Attempt]; a != nil && a.Taken {
			b.counts.Late++
		}
		b.release(at, e.Attempt)
		delete(b.attempts, e.Attempt)
		b.workers[e.Worker].Tasks++
		b.counts.Finished++
	} else {
		if j.GivenUp == nil {
			j.GivenUp = map[int]bool{}
		}
		j.GivenUp[e.Task] = true
		j.Failed++
		b.counts.GivenUp++
	}
	for _, n := range j.taken[e.Task] {
		delete(b.attempts, n)
	}
	delete(j.taken, e.Task)
	delete(j.Failures, e.Task)
	delete(j.Adopted, e.Task)
	j.Ended.add(e.Task)
	j.Left--
}

// requeueTask records that a task waits again.
func (b *Book) requeueTask(at float64, e *dispatch.Event, j *job) {
	if a := b.release(at, e.Attempt); a != nil {
		if j.taken == nil {
			j.taken = map[int][]int{}
		}
		if !slices.Contains(j.taken[e.Task], e.Attempt) {
			j.taken[e.Task] = append(j.taken[e.Task], e.Attempt)
		}
	}
	switch e.Kind {
	case dispatch.Preempted:
		b.counts.Preempted++
		return
	case dispatch.Lost:
		b.counts.Lost++
		j.Lost++
		b.workers[e.Worker].Lost++
	case dispatch.Refused:
		b.counts.Failures++
	}
	if j.Failures == nil {
		j.Failures = map[int]*failure{}
	}
	f := j.Failures[e.Task]
	if f == nil {
		f = &failure{Worker: e.Worker}
		j.Failures[e.Task] = f
	}
	f.count(e.Kind == dispatch.Lost, e.Worker)
}

// count adds a failure or a loss.
func (f *failure) count(lost bool, worker int) {
	if lost {
		f.Lost++
	} else {
		f.Refused++
	}
	f.Several = f.Several || f.Worker != worker
}
