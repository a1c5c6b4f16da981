package dispatch

import (
	"fmt"

	"productform/internal/input"
	"productform/internal/ranges"
)

// A Scenario is a cluster, what is asked of it and a policy.
type Scenario struct {
	Jobs    []Job     // of at most 10^10 tasks in all
	Speeds  []float64 // of the workers, > 0: units of work per second
	Policy  Policy
	Outages []Outage

	// Learning, if its Default is not 0, hides the true work of tasks from the policy, and their Estimate.
	Learning Learning

	// Emergency, if not 0, is the priority from which on a job need not wait for workers planned for it: tasks in hand of
	// jobs below that are not in the plan are killed, and run again later from their beginning ([L14], section 4.4). Of
	// the jobs that run on more workers than planned it hits the lowest priority first, then the task begun last, then the
	// last worker.
	Emergency float64

	// Replan, if not 0, asks for a decision also at every multiple of so many seconds while jobs are present ([L14],
	// section 4.4). Only policies under which the passing of time alone changes a plan need it, such as Deadline.
	Replan float64

	// Watch, if not nil, is called after each decision.
	Watch func(*Decision)
}

// A Job is a number of independent tasks that are submitted together.
type Job struct {
	ID       int64   `json:"id,omitempty"`       // for the reader of records; not used
	Submit   float64 `json:"submit,omitempty"`   // time >= 0
	Deadline float64 `json:"deadline,omitempty"` // time > Submit; 0 if there is none
	Priority float64 `json:"priority,omitempty"` // larger is more urgent

	// MaxWorkers is the most workers that the job may have at once, >= 1; 0 if there is no limit.
	MaxWorkers int `json:"max_workers,omitempty"`

	Tasks int       `json:"tasks"`           // n in [1, 10^9]
	Work  float64   `json:"work,omitempty"`  // of each task: seconds >= 0 on a worker of speed 1; 0 if Works tells
	Works []float64 `json:"works,omitempty"` // of each task, in the order in which they are run; nil if all are equal

	// Estimate is what the policy takes for the work of each task; 0 if it knows the truth. Not used beside Learning.
	Estimate float64 `json:"estimate,omitempty"`

	// Speeds are those of the workers at the tasks of this job; nil if they are those of the workers.
	Speeds []float64 `json:"speeds,omitempty"`

	Kind string `json:"kind,omitempty"` // of its tasks, for [Learning] of speeds
}

// Learning is the status checker of [L14], sections 3.5.1 and 4.4: the work of a task of a job is taken to be Default
// until a task of the job has finished, then the mean of what its last tasks took.
type Learning struct {
	Default float64 `json:"default,omitempty"` // seconds > 0 on a worker of speed 1
	Window  int     `json:"window,omitempty"`  // tasks that the mean is over, the last to finish; 0 means all, or no Default

	// Speeds says that policies are told, in place of the speeds of workers, those at tasks of the kind of a job, as they turn
	// out ([L14], sections 4.4 and 5.3.1): over the tasks of a kind that a worker has finished of late, what the policy took for their
	// work, over the seconds that they took. It is told anew when it is known from 3 tasks, and then when it has changed by more
	// than 5 %. The last 25 to 50 tasks count. Jobs with speeds of their own are left alone.
	Speeds bool `json:"speeds,omitempty"`
}

// work returns the work of a task.
func (j *Job) work(task int) float64 {
	if j.Works != nil {
		return j.Works[task]
	}
	return j.Work
}

// total returns the work of all tasks, and that of the largest one.
func (j *Job) total() (total, largest float64) {
	if j.Works == nil {
		return float64(j.Tasks) * j.Work, j.Work
	}
	for _, w := range j.Works {
		total += w
		largest = max(largest, w)
	}
	return total, largest
}

func (s *Scenario) check() error {
	if len(s.Jobs) == 0 {
		return input.Errorf("Jobs", "no jobs", "at least one")
	}
	if err := checkSpeeds("Speeds", s.Speeds); err != nil {
		return err
	}
	rules := s.rules()
	if err := rules.check(); err != nil {
		return err
	}
	tasks := int64(0)
	for i := range s.Jobs {
		if err := s.Jobs[i].check(len(s.Speeds)); err != nil {
			return input.Inside(input.Index("Jobs", i), err)
		}
		if tasks += int64(s.Jobs[i].Tasks); tasks > ranges.MostTasksInAll {
			return input.Errorf(input.Field(input.Index("Jobs", i), "Tasks"), s.Jobs[i].Tasks, "at most %d tasks in this and all jobs before it", ranges.MostTasksInAll)
		}
	}
	if !ranges.IsWork(s.Replan) {
		return ranges.Work.ZeroFor("none").Check("Replan", s.Replan)
	}
	return CheckOutages(s.Outages, len(s.Speeds))
}

// rules returns those of the decision maker.
func (s *Scenario) rules() Rules { return Rules{s.Policy, s.Learning, s.Emergency} }

// check checks a job.
func (j *Job) check(workers int) error {
	if !ranges.IsTime(j.Submit) {
		return ranges.Moment.Check("Submit", j.Submit)
	}
	if err := j.checkDemand(j.Submit); err != nil {
		return err
	}
	switch {
	case j.MaxWorkers < 0:
		return input.Errorf("MaxWorkers", j.MaxWorkers, "an integer >= 1, or 0 for no limit")
	case j.Tasks < 1 || j.Tasks > ranges.MostTasks:
		return input.Errorf("Tasks", j.Tasks, "an integer in [1, %d]", ranges.MostTasks)
	case !ranges.IsWork(j.Work):
		return ranges.Work.Check("Work", j.Work)
	case !ranges.IsWork(j.Estimate):
		return ranges.Work.ZeroFor("the truth").Check("Estimate", j.Estimate)
	}
	if j.Works != nil {
		if len(j.Works) != j.Tasks {
			return input.Errorf("Works", len(j.Works), "%d numbers, one a task", j.Tasks)
		}
		if j.Work != 0 {
			return input.Errorf("Work", j.Work, "0 beside Works")
		}
		for task, w := range j.Works {
			if !ranges.IsWork(w) {
				return ranges.Work.Check(input.Index("Works", task), w)
			}
		}
	}
	return checkJobSpeeds(j.Speeds, workers)
}

// checkDemand checks priority and deadline of a job that is submitted at a time.
func (j *Job) checkDemand(submit float64) error {
	switch {
	case !(j.Deadline == 0 || j.Deadline > submit && ranges.IsTime(j.Deadline)):
		return input.Errorf("Deadline", j.Deadline, "a time > %v, at which the job is submitted, and at most 1e50, or 0 for none", submit)
	case !ranges.IsTime(j.Priority):
		return ranges.Time.Check("Priority", j.Priority)
	}
	return nil
}

// A StrandedError says that jobs never finish, since all workers are gone for good.
type StrandedError struct {
	Time float64 // at which the last worker went
	Jobs int     // that are not finished, submitted or not
	Job  int     // the first of them, its place in Scenario.Jobs
}

func (e *StrandedError) Error() string {
	return fmt.Sprintf("%d jobs never finish, Jobs[%d] among them: no worker is left after time %v", e.Jobs, e.Job, e.Time)
}
