package dispatch

import (
	"fmt"

	"productform/internal/input"
)

// A Scenario is a cluster, its jobs and a policy.
type Scenario struct {
	Jobs    []Job     // with at most 10^10 tasks in total
	Speeds  []float64 // speeds of the workers, > 0: units of work per second
	Policy  Policy
	Outages []Outage

	// Learning, if its Default is not 0, hides the true work of tasks, and Job.Estimate, from the
	// policy.
	Learning Learning

	// Emergency, if not 0, is the priority at and above which a job need not wait for the workers
	// planned for it. Running tasks of jobs below that priority are killed if their job has more
	// workers than planned; they restart from scratch later ([L14], section 4.4). Tasks of the
	// lowest priority are killed first, then those that started last, then those on the last
	// worker.
	Emergency float64

	// Replan, if not 0, adds a decision at every multiple of Replan seconds while jobs are present
	// ([L14], section 4.4). Only policies whose plans change with time alone need it, such as
	// Deadline.
	Replan float64

	// Watch, if not nil, is called after each decision.
	Watch func(*Decision)
}

// A Job is a set of independent tasks that are submitted together.
type Job struct {
	ID       int64   `json:"id,omitempty"`       // copied to the records; otherwise unused
	Submit   float64 `json:"submit,omitempty"`   // time >= 0
	Deadline float64 `json:"deadline,omitempty"` // time > Submit; 0 for none
	Priority float64 `json:"priority,omitempty"` // larger is more urgent

	// MaxWorkers is the largest number of workers that the job may have at once, >= 1; 0 means no
	// limit.
	MaxWorkers int `json:"max_workers,omitempty"`

	Tasks int `json:"tasks"` // n in [1, 10^9]
	// work of each task: seconds >= 0 on a worker of speed 1; 0 if Works is set
	Work  float64   `json:"work,omitempty"`
	Works []float64 `json:"works,omitempty"` // work of each task, in running order; nil if all are equal

	// Estimate is the work of each task that the policy assumes; 0 means the true work. It is
	// ignored under Learning.
	Estimate float64 `json:"estimate,omitempty"`

	// Speeds are the speeds of the workers at the tasks of this job; nil means their general
	// speeds.
	Speeds []float64 `json:"speeds,omitempty"`

	Kind string `json:"kind,omitempty"` // kind of its tasks, for [Learning] of speeds
}

// Learning configures the status checker of [L14], sections 3.5.1 and 4.4. The work of a task is
// estimated by Default until a task of its job has finished, then by the mean work of the most
// recent tasks.
type Learning struct {
	Default float64 `json:"default,omitempty"` // seconds > 0 on a worker of speed 1
	Window  int     `json:"window,omitempty"`  // number of recent tasks in the mean; 0 means all, or no Default

	// Speeds makes policies use learnt speeds of workers for each kind of task ([L14], sections 4.4
	// and 5.3.1): over the recent tasks of a kind that a worker has finished, the sum of their
	// estimated work divided by the sum of their durations. A speed is first published after 3
	// tasks, and again whenever it has changed by more than 5 %. The last 25 to 50 tasks count.
	// Jobs with their own speeds are not affected.
	Speeds bool `json:"speeds,omitempty"`
}

// work returns the work of a task.
func (j *Job) work(task int) float64 {
	if j.Works != nil {
		return j.Works[task]
	}
	return j.Work
}

// total returns the total work of all tasks, and the work of the largest one.
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
		if tasks += int64(s.Jobs[i].Tasks); tasks > input.MostTasksInAll {
			return input.Errorf(input.Field(input.Index("Jobs", i), "Tasks"),
				s.Jobs[i].Tasks, "at most %d tasks in this and all previous jobs",
				input.MostTasksInAll)
		}
	}
	if !input.IsWork(s.Replan) {
		return input.Work.ZeroFor("none").Check("Replan", s.Replan)
	}
	return CheckOutages(s.Outages, len(s.Speeds))
}

// rules returns the rules of the decision maker.
func (s *Scenario) rules() Rules { return Rules{s.Policy, s.Learning, s.Emergency} }

// check checks a job.
func (j *Job) check(workers int) error {
	if !input.IsTime(j.Submit) {
		return input.Moment.Check("Submit", j.Submit)
	}
	if err := j.checkDemand(j.Submit); err != nil {
		return err
	}
	switch {
	case j.MaxWorkers < 0:
		return input.Errorf("MaxWorkers", j.MaxWorkers, "an integer >= 1, or 0 for no limit")
	case j.Tasks < 1 || j.Tasks > input.MostTasks:
		return input.Errorf("Tasks", j.Tasks, "an integer in [1, %d]", input.MostTasks)
	case !input.IsWork(j.Work):
		return input.Work.Check("Work", j.Work)
	case !input.IsWork(j.Estimate):
		return input.Work.ZeroFor("the truth").Check("Estimate", j.Estimate)
	}
	if j.Works != nil {
		if len(j.Works) != j.Tasks {
			return input.Errorf("Works", len(j.Works), "%d numbers, one per task", j.Tasks)
		}
		if j.Work != 0 {
			return input.Errorf("Work", j.Work, "0 if Works is set")
		}
		for task, w := range j.Works {
			if !input.IsWork(w) {
				return input.Work.Check(input.Index("Works", task), w)
			}
		}
	}
	return checkJobSpeeds(j.Speeds, workers)
}

// checkDemand checks the priority and the deadline of a job submitted at the given time.
func (j *Job) checkDemand(submit float64) error {
	switch {
	case !(j.Deadline == 0 || j.Deadline > submit && input.IsTime(j.Deadline)):
		return input.Errorf("Deadline", j.Deadline, "a time in (%v, 1e50], after the submission, or 0 for none", submit)
	case !input.IsTime(j.Priority):
		return input.Time.Check("Priority", j.Priority)
	}
	return nil
}

// A StrandedError reports that jobs can never finish because too few workers will be available
// again: none, or fewer than a job of package rigid needs at once.
type StrandedError struct {
	Time    float64 // when the last worker left for good
	Jobs    int     // number of unfinished jobs, submitted or not
	Job     int     // index in Scenario.Jobs of the first such job
	Workers int     // workers that Job needs at once; 0 if any number will do
	Left    int     // workers that are left
}

func (e *StrandedError) Error() string {
	left := "no worker is left"
	if e.Workers > 0 {
		left = fmt.Sprintf("it needs %d workers, but only %d are left", e.Workers, e.Left)
	}
	return fmt.Sprintf("%d jobs never finish, Jobs[%d] among them: %s after time %v", e.Jobs, e.Job, left, e.Time)
}
