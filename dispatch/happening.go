package dispatch

import (
	"cmp"
	"slices"

	"productform/internal/input"
)

// A Happening is something that happens to jobs, tasks or workers, an input of a [Maker]. The kind
// determines which fields count:
//
//	Submitted  Job, What        a job arrives; the caller gives it an unused number
//	Finished   Worker, Job, Task, Attempt, Work, Seconds
//	Refused    Worker, Job, Task, Attempt: the attempt failed, the worker did not; the task waits again,
//	           behind all others; at this moment idle workers take turns, starting after this worker
//	           in the list, which comes last
//	GivenUp    Job, Task        a task that has started is not tried again; its job is done when the others are
//	Changed    Job, What        the job takes over the priority and the deadline of What
//	Cancelled  Job              the job is removed, with its running tasks
//	Failed     Worker           a worker goes down and loses its task
//	Leaving    Worker           a worker starts no more tasks, and leaves when its running task ends
//	Returned   Worker, Speed, New: a worker returns, or stays after all; or a new worker joins, with the next number
type Happening struct {
	Kind   Kind    `json:"kind"`
	Job    int     `json:"job,omitempty"` // its number, from 0
	What   *Job    `json:"what,omitempty"`
	Worker int     `json:"worker,omitempty"` // its number, from 0
	Speed  float64 `json:"speed,omitempty"`  // > 0, units of work per second; 0 keeps the previous speed
	// a different worker takes over the number: forget everything learnt about the old one
	New     bool `json:"new,omitempty"`
	Task    int  `json:"task,omitempty"`    // its number in the job, from 0
	Attempt int  `json:"attempt,omitempty"` // as in [Event]

	// Work is the actual work of the task: seconds times the speed of the worker, >= 0. Seconds is
	// its duration, 0 if unknown. Only [Learning] uses them.
	Work    float64 `json:"work,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// rank returns the position of a kind within a moment, or -1 if it is not a kind of happening.
func (k Kind) rank() int {
	switch k {
	case Finished, Refused:
		return 0
	case Failed, Returned, Leaving:
		return 1
	case Submitted:
		return 2
	case Changed:
		return 3
	case GivenUp:
		return 4
	case Cancelled:
		return 5
	}
	return -1
}

// compareHappenings orders the happenings of a moment. Happenings of one worker or one job that
// compare equal keep their order.
func compareHappenings(a, b Happening) int {
	if c := cmp.Compare(a.Kind.rank(), b.Kind.rank()); c != 0 {
		return c
	}
	switch a.Kind {
	case Finished, Refused:
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Worker, b.Worker),
			cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Work, b.Work),
			cmp.Compare(a.Seconds, b.Seconds))
	case Failed, Returned, Leaving:
		return cmp.Compare(a.Worker, b.Worker)
	case Submitted:
		return cmp.Or(cmp.Compare(a.What.Submit, b.What.Submit), cmp.Compare(a.Job, b.Job))
	}
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
}

// sorted returns the happenings of a moment in order, as copies.
func sorted(what []Happening) []Happening {
	order := slices.Clone(what)
	slices.SortStableFunc(order, compareHappenings)
	for i := range order {
		if h := &order[i]; h.Kind == Submitted {
			h.What = h.What.clone()
		}
	}
	return order
}

// clone returns a copy that shares nothing with j. Empty speeds become nil.
func (j *Job) clone() *Job {
	c := *j
	c.Works, c.Speeds = slices.Clone(j.Works), append([]float64(nil), j.Speeds...)
	return &c
}

// A moment checks the happenings at one time.
type moment struct {
	m       *Maker
	at      float64
	workers int          // number of workers, including new ones
	joined  map[int]bool // numbers of new workers
	submits int          // number of new jobs
	jobs    map[int]*Job // new jobs by number
}

// Check returns the error of [Maker.Decide] and changes nothing.
func (m *Maker) Check(at float64, what []Happening) error {
	switch {
	case !input.IsTime(at):
		return input.Moment.Check("At", at)
	case at < m.now:
		return input.Errorf("At", at, "a time >= %v, the previous moment", m.now)
	}
	c := moment{m: m, at: at, workers: len(m.speeds), joined: map[int]bool{}, jobs: map[int]*Job{}}
	for i := range what {
		if err := c.registerArrivals(&what[i]); err != nil {
			return input.Inside(input.Index("What", i), err)
		}
	}
	for i := range what {
		if err := c.check(&what[i]); err != nil {
			return input.Inside(input.Index("What", i), err)
		}
	}
	return nil
}

// check checks a happening after all new jobs and workers of the moment have been registered.
func (c *moment) check(h *Happening) error {
	switch h.Kind {
	case Finished, Refused:
		return c.checkReport(h)
	case Failed, Returned, Leaving:
		return c.checkWorker(h)
	case Submitted:
		return c.checkJob(h)
	}
	return c.checkRequest(h)
}

// registerArrivals registers new jobs and workers, and rejects unknown kinds.
func (c *moment) registerArrivals(h *Happening) error {
	switch {
	case h.Kind.rank() < 0:
		return input.Errorf("Kind", h.Kind, "one of %s",
			list([]Kind{Submitted, Finished, Refused, GivenUp, Changed, Cancelled, Failed, Leaving, Returned}))
	case h.Kind == Submitted:
		if h.What == nil {
			return input.Errorf("What", "no job", "the job")
		}
		if c.jobs[h.Job] != nil || c.m.state(h.Job) != unknown {
			return input.Errorf("Job", h.Job, "an unused number")
		}
		c.jobs[h.Job] = h.What
		c.submits++
	case h.Kind == Returned && h.Worker >= len(c.m.speeds) && !c.joined[h.Worker]:
		c.joined[h.Worker] = true
		c.workers++
	case h.Kind != Returned && h.Kind.rank() == 1 && h.Worker >= len(c.m.speeds) && !c.joined[h.Worker]:
		return c.workerError(h)
	}
	return nil
}

func (c *moment) workerError(h *Happening) error {
	return input.Errorf("Worker", h.Worker, "a worker, 0 to %d", len(c.m.speeds)-1)
}

// checkReport checks a report about an attempt.
func (c *moment) checkReport(h *Happening) error {
	m := c.m
	switch {
	case h.Worker < 0 || h.Worker >= len(m.speeds):
		return c.workerError(h)
	case h.Attempt < 1 || h.Attempt > m.attempts:
		return input.Errorf("Attempt", h.Attempt, "an attempt that has started, 1 to %d", m.attempts)
	case m.state(h.Job) == unknown:
		return input.Errorf("Job", h.Job, "a job that was submitted")
	case !input.IsTime(h.Work):
		return input.Span.Check("Work", h.Work)
	case !input.IsTime(h.Seconds):
		return input.Span.Check("Seconds", h.Seconds)
	}
	holder := h.Worker
	if m.hand[holder].attempt != h.Attempt {
		holder = slices.IndexFunc(m.hand, func(x hand) bool { return x.attempt == h.Attempt })
	}
	if holder >= 0 {
		if x := m.hand[holder]; holder != h.Worker || x.job != h.Job || x.task != h.Task {
			return input.Errorf("Attempt", h.Attempt, "another attempt: this is task %d of job %d on worker %d",
				x.task, x.job, holder)
		}
		return nil
	}
	if t := &m.tasks[h.Job]; t.state == JobPresent && h.Attempt > t.before && (h.Task < 0 || h.Task >= t.next) {
		return input.Errorf("Task", h.Task, "a task that has started, below %d", t.next)
	}
	return nil
}

// checkWorker checks a happening of a worker.
func (c *moment) checkWorker(h *Happening) error {
	switch {
	case h.Worker < 0 || h.Worker >= c.workers:
		return input.Errorf("Worker", h.Worker, "a worker, 0 to %d", c.workers-1)
	case h.Kind == Returned && h.Speed == 0 && h.Worker < len(c.m.speeds):
	case h.Kind == Returned && isNotSpeed(h.Speed):
		return input.Speed.Check("Speed", h.Speed)
	}
	return nil
}

// checkJob checks a new job.
func (c *moment) checkJob(h *Happening) error {
	if most := len(c.m.jobs) + c.submits; h.Job < 0 || h.Job >= most {
		return input.Errorf("Job", h.Job, "a job number, 0 to %d", most-1)
	}
	if h.What.Submit > c.at {
		return input.Errorf("What.Submit", h.What.Submit, "a time <= %v, the current moment", c.at)
	}
	return input.Inside("What", h.What.check(c.workers))
}

// checkRequest checks a request to change a job or give up a task.
func (c *moment) checkRequest(h *Happening) error {
	j := c.jobs[h.Job]
	if j == nil && c.m.state(h.Job) != unknown {
		j = c.m.jobs[h.Job]
	}
	if j == nil {
		return input.Errorf("Job", h.Job, "a job that was submitted")
	}
	switch h.Kind {
	case GivenUp:
		if h.Task < 0 || h.Task >= j.Tasks {
			return input.Errorf("Task", h.Task, "a task, 0 to %d", j.Tasks-1)
		}
		if c.m.state(h.Job) == unknown || c.m.state(h.Job) == JobPresent && h.Task >= c.m.tasks[h.Job].next {
			return input.Errorf("Task", h.Task, "a task that has started")
		}
	case Changed:
		if h.What == nil {
			return input.Errorf("What", "no job", "a job with the new priority and deadline")
		}
		return input.Inside("What", h.What.checkDemand(j.Submit))
	}
	return nil
}
