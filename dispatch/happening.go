package dispatch

import (
	"cmp"
	"slices"

	"productform/internal/input"
	"productform/internal/ranges"
)

// A Happening is what a [Maker] is told. Which fields count depends on the kind:
//
//	Submitted  Job, What        a job comes; the caller gives it a number that is not in use
//	Finished   Worker, Job, Task, Attempt, Work, Seconds
//	Refused    Worker, Job, Task, Attempt: the attempt failed, the worker did not; the task waits again, behind all others,
//	           and at this moment idle workers take turns, from the one after it in the list on, itself last
//	GivenUp    Job, Task        a task that has begun is not tried again; its job is done when the others are
//	Changed    Job, What        the job has the priority and the deadline of What from now on
//	Cancelled  Job              the job goes, with its tasks in hand
//	Failed     Worker           a worker goes down, and loses its task
//	Leaving    Worker           a worker begins no more tasks, and goes when the one in hand ends
//	Returned   Worker, Speed, New: a worker comes back, or stays after all; or a new one comes, with the next number
type Happening struct {
	Kind    Kind    `json:"kind"`
	Job     int     `json:"job,omitempty"` // its number, from 0
	What    *Job    `json:"what,omitempty"`
	Worker  int     `json:"worker,omitempty"`  // its number, from 0
	Speed   float64 `json:"speed,omitempty"`   // > 0, units of work per second; 0 for that which a worker had before
	New     bool    `json:"new,omitempty"`     // the worker is another than the one with this number before: what was learnt of that one is forgotten
	Task    int     `json:"task,omitempty"`    // its number in the job, from 0
	Attempt int     `json:"attempt,omitempty"` // as in [Event]

	// Work is what the task turned out to be: seconds times the speed of the worker, >= 0. Seconds is what it took, 0 if that is not known. Only
	// [Learning] looks at them.
	Work    float64 `json:"work,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// rank is the place of a kind in its moment, -1 for what is no happening.
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

// compareHappenings is the order in which a moment is told. Those of one worker or of one job that it does not tell apart keep theirs.
func compareHappenings(a, b Happening) int {
	if c := cmp.Compare(a.Kind.rank(), b.Kind.rank()); c != 0 {
		return c
	}
	switch a.Kind {
	case Finished, Refused:
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Worker, b.Worker),
			cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Work, b.Work), cmp.Compare(a.Seconds, b.Seconds))
	case Failed, Returned, Leaving:
		return cmp.Compare(a.Worker, b.Worker)
	case Submitted:
		return cmp.Or(cmp.Compare(a.What.Submit, b.What.Submit), cmp.Compare(a.Job, b.Job))
	}
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
}

// sorted returns what happens at a moment in order. What it holds is a copy.
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

// clone returns a copy that shares nothing with j. Speeds of no workers are none.
func (j *Job) clone() *Job {
	c := *j
	c.Works, c.Speeds = slices.Clone(j.Works), append([]float64(nil), j.Speeds...)
	return &c
}

// A moment is what is checked of the happenings at one time.
type moment struct {
	m       *Maker
	at      float64
	workers int          // with those that come
	joined  map[int]bool // numbers of workers that come
	submits int          // jobs that come
	jobs    map[int]*Job // by their numbers
}

// Check returns the error of [Maker.Decide], and changes nothing.
func (m *Maker) Check(at float64, what []Happening) error {
	switch {
	case !ranges.IsTime(at):
		return ranges.Moment.Check("At", at)
	case at < m.now:
		return input.Errorf("At", at, "a time >= %v, that of the moment before", m.now)
	}
	c := moment{m: m, at: at, workers: len(m.speeds), joined: map[int]bool{}, jobs: map[int]*Job{}}
	for i := range what {
		if err := c.comes(&what[i]); err != nil {
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

// check checks a happening, when all that comes at the moment is known.
func (c *moment) check(h *Happening) error {
	switch h.Kind {
	case Finished, Refused:
		return c.checkReport(h)
	case Failed, Returned, Leaving:
		return c.checkWorker(h)
	case Submitted:
		return c.checkJob(h)
	}
	return c.checkWish(h)
}

// comes takes note of the jobs and workers that come, and of kinds that are none.
func (c *moment) comes(h *Happening) error {
	switch {
	case h.Kind.rank() < 0:
		return input.Errorf("Kind", h.Kind, "one of %s",
			list([]Kind{Submitted, Finished, Refused, GivenUp, Changed, Cancelled, Failed, Leaving, Returned}))
	case h.Kind == Submitted:
		if h.What == nil {
			return input.Errorf("What", "no job", "the job")
		}
		if c.jobs[h.Job] != nil || c.m.state(h.Job) != unknown {
			return input.Errorf("Job", h.Job, "a number that is not in use")
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

// checkReport checks what is told of an attempt.
func (c *moment) checkReport(h *Happening) error {
	m := c.m
	switch {
	case h.Worker < 0 || h.Worker >= len(m.speeds):
		return c.workerError(h)
	case h.Attempt < 1 || h.Attempt > m.attempts:
		return input.Errorf("Attempt", h.Attempt, "an attempt that has begun, 1 to %d", m.attempts)
	case m.state(h.Job) == unknown:
		return input.Errorf("Job", h.Job, "a job that was submitted")
	case !ranges.IsTime(h.Work):
		return ranges.Span.Check("Work", h.Work)
	case !ranges.IsTime(h.Seconds):
		return ranges.Span.Check("Seconds", h.Seconds)
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
		return input.Errorf("Task", h.Task, "a task that has begun, below %d", t.next)
	}
	return nil
}

// checkWorker checks what is told of a worker.
func (c *moment) checkWorker(h *Happening) error {
	switch {
	case h.Worker < 0 || h.Worker >= c.workers:
		return input.Errorf("Worker", h.Worker, "a worker, 0 to %d", c.workers-1)
	case h.Kind == Returned && h.Speed == 0 && h.Worker < len(c.m.speeds):
	case h.Kind == Returned && isNotSpeed(h.Speed):
		return ranges.Speed.Check("Speed", h.Speed)
	}
	return nil
}

// checkJob checks a job that comes.
func (c *moment) checkJob(h *Happening) error {
	if most := len(c.m.jobs) + c.submits; h.Job < 0 || h.Job >= most {
		return input.Errorf("Job", h.Job, "a number of jobs before, or one of the next, below %d", most)
	}
	if h.What.Submit > c.at {
		return input.Errorf("What.Submit", h.What.Submit, "a time <= %v, that of the moment", c.at)
	}
	return input.Inside("What", h.What.check(c.workers))
}

// checkWish checks what is asked of a job.
func (c *moment) checkWish(h *Happening) error {
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
			return input.Errorf("Task", h.Task, "a task that has begun")
		}
	case Changed:
		if h.What == nil {
			return input.Errorf("What", "no job", "a job with the new priority and deadline")
		}
		return input.Inside("What", h.What.checkDemand(j.Submit))
	}
	return nil
}
