package dispatch

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"productform/internal/input"
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

	// Watch, if not nil, is called after each decision.
	Watch func(*Decision)
}

// A Job is a number of independent tasks that are submitted together.
type Job struct {
	ID       int64   // for the reader of records; not used
	Submit   float64 // time >= 0
	Deadline float64 // time > Submit; 0 if there is none
	Priority float64 // larger is more urgent

	Tasks int       // n in [1, 10^9]
	Work  float64   // of each task: seconds >= 0 on a worker of speed 1; 0 if Works tells
	Works []float64 // of each task, in the order in which they are run; nil if all are equal

	// Estimate is what the policy takes for the work of each task; 0 if it knows the truth. Not used beside Learning.
	Estimate float64

	// Speeds are those of the workers at the tasks of this job; nil if they are Scenario.Speeds.
	Speeds []float64
}

// An Outage takes a worker away from From until To, and the task that it has in hand is lost: it is run again from its
// beginning. One that is finished at From, up to rounding as [Run] says, is not lost.
type Outage struct {
	Worker   int
	From, To float64 // 0 <= From < To; To may be +Inf: for good
}

// Learning is the status checker of [L14], sections 3.5.1 and 4.4: the work of a task of a job is taken to be Default
// until a task of the job has finished, then the mean of what its last tasks took.
type Learning struct {
	Default float64 // seconds > 0 on a worker of speed 1
	Window  int     // tasks that the mean is over, the last to finish; 0 means all, or no Default
}

// largest bounds what comes in, and 1/largest all of it that is divided by: then a task takes at most 1e100 seconds, and
// no sum or product leaves the range of float64.
const largest = 1e50

// mostTasks and mostTasksInAll bound the tasks of a job and of a run. A run takes some 0.1 to 1 µs a task, whatever they
// are: some minutes for a job of the first, an hour or two for the second. The largest clusters have 10^7 processors.
const (
	mostTasks      = 1_000_000_000
	mostTasksInAll = int64(10_000_000_000)
)

// isTime reports whether v may be a time or a priority.
func isTime(v float64) bool { return v >= 0 && v <= largest }

// isWork reports whether v may be a work or a factor: 0 or neither too large nor too small.
func isWork(v float64) bool { return v == 0 || v >= 1/largest && v <= largest }

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
	if err := s.Policy.check("Policy"); err != nil {
		return err
	}
	tasks := int64(0)
	for i := range s.Jobs {
		if err := s.Jobs[i].check(i, len(s.Speeds)); err != nil {
			return err
		}
		if tasks += int64(s.Jobs[i].Tasks); tasks > mostTasksInAll {
			return input.Errorf(jobField(i, "Tasks"), s.Jobs[i].Tasks, "at most %d tasks in this and all jobs before it", mostTasksInAll)
		}
	}
	switch {
	case !isWork(s.Learning.Default):
		return input.Errorf("Learning.Default", s.Learning.Default, "a number of seconds in [1e-50, 1e50], or 0 for none")
	case s.Learning.Window < 0:
		return input.Errorf("Learning.Window", s.Learning.Window, "an integer >= 0")
	case s.Learning.Window > 0 && s.Learning.Default == 0:
		return input.Errorf("Learning.Window", s.Learning.Window, "0 without a Default")
	case !isTime(s.Emergency):
		return input.Errorf("Emergency", s.Emergency, "a priority in (0, 1e50], or 0 for none")
	}
	return s.checkOutages()
}

// check checks a job, the one at place i.
func (j *Job) check(i, workers int) error {
	switch {
	case !isTime(j.Submit):
		return input.Errorf(jobField(i, "Submit"), j.Submit, "a time in [0, 1e50]")
	case !(j.Deadline == 0 || j.Deadline > j.Submit && isTime(j.Deadline)):
		return input.Errorf(jobField(i, "Deadline"), j.Deadline, "a time > %v, at which the job is submitted, and at most 1e50, or 0 for none",
			j.Submit)
	case !isTime(j.Priority):
		return input.Errorf(jobField(i, "Priority"), j.Priority, "a number in [0, 1e50]")
	case j.Tasks < 1 || j.Tasks > mostTasks:
		return input.Errorf(jobField(i, "Tasks"), j.Tasks, "an integer in [1, %d]", mostTasks)
	case !isWork(j.Work):
		return input.Errorf(jobField(i, "Work"), j.Work, "a number of seconds in [1e-50, 1e50], or 0")
	case !isWork(j.Estimate):
		return input.Errorf(jobField(i, "Estimate"), j.Estimate, "a number of seconds in [1e-50, 1e50], or 0 for the truth")
	}
	if j.Works != nil {
		if len(j.Works) != j.Tasks {
			return input.Errorf(jobField(i, "Works"), len(j.Works), "%d numbers, one a task", j.Tasks)
		}
		if j.Work != 0 {
			return input.Errorf(jobField(i, "Work"), j.Work, "0 beside Works")
		}
		for task, w := range j.Works {
			if !isWork(w) {
				return input.Errorf(input.Index(jobField(i, "Works"), task), w, "a number of seconds in [1e-50, 1e50], or 0")
			}
		}
	}
	return checkJobSpeeds(i, j.Speeds, workers)
}

// checkOutages checks each outage, and that no two take the same worker at the same time.
func (s *Scenario) checkOutages() error {
	order := make([]int, len(s.Outages))
	for i, o := range s.Outages {
		order[i] = i
		path := input.Index("Outages", i)
		switch {
		case o.Worker < 0 || o.Worker >= len(s.Speeds):
			return input.Errorf(input.Field(path, "Worker"), o.Worker, "a worker, 0 to %d", len(s.Speeds)-1)
		case !isTime(o.From):
			return input.Errorf(input.Field(path, "From"), o.From, "a time in [0, 1e50]")
		case !(o.To > o.From && (o.To <= largest || math.IsInf(o.To, 1))):
			return input.Errorf(input.Field(path, "To"), o.To,
				"a time > %v, at which the outage begins, and at most 1e50, or +Inf", o.From)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareOutages(s.Outages[a], s.Outages[b]) })
	for k := 1; k < len(order); k++ {
		before, after := s.Outages[order[k-1]], s.Outages[order[k]]
		if before.Worker == after.Worker && after.From < before.To {
			return input.Errorf(input.Field(input.Index("Outages", order[k]), "From"), after.From,
				"a time >= %v, at which Outages[%d] of the same worker ends", before.To, order[k-1])
		}
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

// compareOutages orders outages by worker, then by time.
func compareOutages(a, b Outage) int {
	return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.From, b.From))
}
