package rigid

import (
	"slices"

	"productform/dispatch"
	"productform/internal/input"
	"productform/internal/ranges"
)

// A Scenario is a cluster of equal workers, what is asked of it and a policy.
type Scenario struct {
	// Jobs are those of package dispatch, each rigid: Tasks workers together, for Work seconds, Estimate the requested
	// time, or 0 if that is the run time, and 1 s if that is 0, too. MaxWorkers is 0, Works and Speeds are nil. Priorities and deadlines are not used by policies.
	Jobs []dispatch.Job

	Workers int // m >= 1, as many as any job asks for or more
	Policy  Policy

	// Kill ends a job that runs longer than it asked for at its requested time, as sites do. Else it runs as long as it
	// did in the log, and is counted as having asked for its run time: no policy could tell when such a job ends.
	Kill bool

	// Threshold of the bounded slowdown, seconds; 0 means 10, as is usual.
	Threshold float64

	Outages []dispatch.Outage

	// Watch, if not nil, is called with the number of jobs that have ended, after each decision.
	Watch func(ended int)

	// Events, if not nil, is called after each decision with its time and what happened then, as [Maker.Decide] returns it;
	// the list may be read during the call only.
	Events func(at float64, events []dispatch.Event)
}

func (s *Scenario) check() error {
	switch {
	case len(s.Jobs) == 0:
		return input.Errorf("Jobs", "no jobs", "at least one")
	case s.Workers < 1:
		return input.Errorf("Workers", s.Workers, "an integer >= 1")
	case !ranges.IsWork(s.Threshold):
		return ranges.Work.ZeroFor("10 seconds").Check("Threshold", s.Threshold)
	}
	if err := s.Policy.check(); err != nil {
		return err
	}
	for i := range s.Jobs {
		if err := checkJob(&s.Jobs[i], i, s.Workers); err != nil {
			return err
		}
	}
	return dispatch.CheckOutages(s.Outages, s.Workers)
}

// checkJob checks the job at place i.
func checkJob(j *dispatch.Job, i, workers int) error {
	field := func(name string) string { return input.Field(input.Index("Jobs", i), name) }
	switch {
	case !ranges.IsTime(j.Submit):
		return ranges.Moment.Check(field("Submit"), j.Submit)
	case j.Tasks < 1 || j.Tasks > workers:
		return input.Errorf(field("Tasks"), j.Tasks, "an integer in [1, %d], the number of workers", workers)
	case !ranges.IsWork(j.Work):
		return ranges.Work.Check(field("Work"), j.Work)
	case !ranges.IsWork(j.Estimate):
		return ranges.Work.ZeroFor("the run time").Check(field("Estimate"), j.Estimate)
	case j.MaxWorkers != 0:
		return input.Errorf(field("MaxWorkers"), j.MaxWorkers, "0: a rigid job has all its workers at once")
	case j.Works != nil:
		return input.Errorf(field("Works"), len(j.Works), "nil: workers of a rigid job run equally long")
	case j.Speeds != nil:
		return input.Errorf(field("Speeds"), len(j.Speeds), "nil: workers of rigid jobs have speed 1")
	case !ranges.IsTime(j.Priority):
		return ranges.Time.Check(field("Priority"), j.Priority)
	case !(j.Deadline == 0 || j.Deadline > j.Submit && ranges.IsTime(j.Deadline)):
		return input.Errorf(field("Deadline"), j.Deadline, "a time > %v, at which the job is submitted, and at most 1e50, or 0 for none", j.Submit)
	}
	return nil
}

// leastRequest is the requested time of a job that asks for no time, seconds.
const leastRequest = 1

// times returns how long a job runs and what it asks for, which is no less; outlived says that it runs longer than it
// asked for.
func (s *Scenario) times(j *dispatch.Job) (runs, asks float64, outlived bool) {
	runs, asks = j.Work, j.Estimate
	switch {
	case asks == 0 && runs == 0:
		return 0, leastRequest, false
	case asks == 0:
		return runs, runs, false
	case runs <= asks:
		return runs, asks, false
	case s.Kill:
		return asks, asks, true
	}
	return runs, runs, true
}

// Settled returns jobs with which a [Maker] on a simulated clock does what [Run] does, and the number of those that run longer
// than they asked for: these run as long as they asked for if they are killed then, else they ask for their run time.
func Settled(jobs []dispatch.Job, kill bool) (settled []dispatch.Job, outlived int) {
	s := Scenario{Kill: kill}
	settled = slices.Clone(jobs)
	for i := range settled {
		j := &settled[i]
		var late bool
		if j.Work, j.Estimate, late = s.times(j); late {
			outlived++
		}
	}
	return settled, outlived
}
