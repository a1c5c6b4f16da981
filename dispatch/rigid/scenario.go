package rigid

import (
	"slices"

	"productform/dispatch"
	"productform/internal/input"
)

// A Scenario is a cluster of equal workers, its jobs and a policy.
type Scenario struct {
	// Jobs are rigid: each needs Tasks workers together for Work seconds. Estimate is the requested
	// time; 0 means the run time, or 1 s if that is also 0. MaxWorkers must be 0, Works and Speeds
	// nil. Policies ignore priorities and deadlines.
	Jobs []dispatch.Job

	Workers int // m >= 1, at least the largest number that a job requests
	Policy  Policy

	// Kill ends jobs at their requested time, as sites do. Without it, a job that exceeds its
	// requested time runs as long as in the log, and its run time replaces the requested time,
	// since no policy could predict its end.
	Kill bool

	// Threshold of the bounded slowdown, in seconds; 0 means the usual 10.
	Threshold float64

	Outages []dispatch.Outage

	// Watch, if not nil, is called after each decision with the number of jobs that have ended.
	Watch func(ended int)

	// Events, if not nil, is called after each decision with its time and its events, as
	// [Maker.Decide] returns them. The list is valid only during the call.
	Events func(at float64, events []dispatch.Event)
}

func (s *Scenario) check() error {
	switch {
	case len(s.Jobs) == 0:
		return input.Errorf("Jobs", "no jobs", "at least one")
	case s.Workers < 1:
		return input.Errorf("Workers", s.Workers, "an integer >= 1")
	case !input.IsWork(s.Threshold):
		return input.Work.ZeroFor("10 seconds").Check("Threshold", s.Threshold)
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

// checkJob checks the job at index i.
func checkJob(j *dispatch.Job, i, workers int) error {
	field := func(name string) string { return input.Field(input.Index("Jobs", i), name) }
	switch {
	case !input.IsTime(j.Submit):
		return input.Moment.Check(field("Submit"), j.Submit)
	case j.Tasks < 1 || j.Tasks > workers:
		return input.Errorf(field("Tasks"), j.Tasks, "an integer in [1, %d], the number of workers", workers)
	case !input.IsWork(j.Work):
		return input.Work.Check(field("Work"), j.Work)
	case !input.IsWork(j.Estimate):
		return input.Work.ZeroFor("the run time").Check(field("Estimate"), j.Estimate)
	case j.MaxWorkers != 0:
		return input.Errorf(field("MaxWorkers"), j.MaxWorkers, "0: a rigid job has all its workers at once")
	case j.Works != nil:
		return input.Errorf(field("Works"), len(j.Works), "nil: all workers of a rigid job run equally long")
	case j.Speeds != nil:
		return input.Errorf(field("Speeds"), len(j.Speeds), "nil: workers of rigid jobs have speed 1")
	case !input.IsTime(j.Priority):
		return input.Time.Check(field("Priority"), j.Priority)
	case !(j.Deadline == 0 || j.Deadline > j.Submit && input.IsTime(j.Deadline)):
		return input.Errorf(field("Deadline"), j.Deadline, "a time in (%v, 1e50], after the submission, or 0 for none",
			j.Submit)
	}
	return nil
}

// minRequest is the requested time, in seconds, of a job that neither requests nor takes any time.
const minRequest = 1

// times returns the run time of a job and its requested time, which is at least as long. outlived
// reports whether the job exceeded its original request.
func (s *Scenario) times(j *dispatch.Job) (runs, asks float64, outlived bool) {
	runs, asks = j.Work, j.Estimate
	switch {
	case asks == 0 && runs == 0:
		return 0, minRequest, false
	case asks == 0:
		return runs, runs, false
	case runs <= asks:
		return runs, asks, false
	case s.Kill:
		return asks, asks, true
	}
	return runs, runs, true
}

// Settled returns jobs for which a [Maker] on a simulated clock makes the same decisions as [Run],
// and the number of jobs that exceed their requested times. If kill is set, such jobs end at their
// requested time; otherwise they request their run time.
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
