// This file creates jobs for scenarios: which jobs arrive if they follow a given log or given
// distributions? Jobs are sampled from logs of real clusters as in [L14] ([Sampling]), or drawn at
// random ([Synthetic]), with deadlines and priorities, for workers of different speeds
// ([UniformSpeeds]).

package dispatch

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"productform/dispatch/swf"
	"productform/internal/input"
)

// A Sampling specifies how to create jobs from a log ([L14], section 6.3.1).
type Sampling struct {
	// Count is the number of consecutive jobs to take. The start is uniformly random among all jobs
	// that are followed by enough others. 0 means all jobs.
	Count int

	// TimeScale and GapScale, in [1e-50, 1e50], multiply run times and the times between
	// submissions.
	TimeScale, GapScale float64

	// Batch is in seconds after scaling: a job submitted less than Batch after the first job of a
	// batch is submitted with it, and the next job starts a new batch. 0 means no batches.
	Batch float64

	// DeadlineFactor f and Parallelism c set deadlines: a job of n tasks of work w is due f w
	// max(1, n/c) after its submission, or at the next float64 if that rounds to the submission.
	// Jobs without work have no deadline. If f = 0 no job has one, and c is ignored.
	DeadlineFactor float64
	Parallelism    int // c >= 1

	// A job has the priority of its user. Users are ranked by the number of their jobs in the
	// sample, fewest first, then by their number in the log. All jobs of unknown users belong to
	// one user, -1. The first user has HighestPriority. If there are at least two users, the last
	// one has LowestPriority, and the others are evenly spaced in between.
	LowestPriority, HighestPriority float64
}

// LinSampling returns the sampling of [L14], section 6.3.1, for a log with the given number of
// usable jobs. It takes one job in a hundred, but at least one, and multiplies run times by 0.001
// and gaps by 0.1. Batches last one second, deadlines are after twice the run time for four tasks
// at a time, and priorities are from 1 to 100. The range of priorities is our choice; [L14] states
// none.
func LinSampling(jobs int) Sampling {
	return Sampling{
		Count: max(1, jobs/100), TimeScale: 0.001, GapScale: 0.1, Batch: 1,
		DeadlineFactor: 2, Parallelism: 4, LowestPriority: 1, HighestPriority: 100,
	}
}

// WholeLog returns the sampling that keeps a log as it is, with the deadlines and the priorities of
// [LinSampling].
func WholeLog() Sampling {
	return Sampling{
		TimeScale: 1, GapScale: 1, DeadlineFactor: 2, Parallelism: 4, LowestPriority: 1, HighestPriority: 100,
	}
}

// Jobs creates jobs from a log. A job that ran for t seconds on n processors becomes n tasks of
// work t TimeScale each. Jobs with an unknown submission, run time or number of processors, or with
// no processors, are skipped; skipped is their number in the whole log. The other jobs are taken in
// order of submission, with ties in the order of the log, and the first of them is submitted at
// time 0. Job.ID is the number in the log.
//
// The cost is O(n log n) for n jobs in the log, which is not modified. The same seed gives the same
// jobs. The error is a [num.InputError]. It is also returned if no job is usable or fewer than
// Count are, if a job of the log has more than 10^9 processors, or if the jobs taken have more than
// 10^10 in total.
func (s Sampling) Jobs(log []swf.Job, seed uint64) (jobs []Job, skipped int, err error) {
	jobs, _, skipped, err = s.Take(log, seed)
	return jobs, skipped, err
}

// Take creates jobs as [Sampling.Jobs] does, and also returns the index of each job in the log.
func (s Sampling) Take(log []swf.Job, seed uint64) (jobs []Job, places []int, skipped int, err error) {
	if err := s.check(); err != nil {
		return nil, nil, 0, err
	}
	usable, err := usableJobs(log)
	if err != nil {
		return nil, nil, 0, err
	}
	skipped = len(log) - len(usable)
	switch {
	case len(usable) == 0:
		return nil, nil, 0, input.Errorf("", "a log with none", "a job of known submission, run time and processors")
	case s.Count > len(usable):
		return nil, nil, 0, input.Errorf("Count", s.Count, "at most %d, the number of usable jobs", len(usable))
	case s.Count > 0:
		random := rand.New(rand.NewPCG(seed, streamSample))
		start := random.IntN(len(usable) - s.Count + 1)
		usable = usable[start : start+s.Count]
	}
	jobs, users := make([]Job, len(usable)), make([]int64, len(usable))
	var tasks int64
	first := log[usable[0]].Submit
	head := first // first job of the batch; gaps are scaled directly, since 0.1 (t + 10) - 0.1 t may round below 1
	for k, i := range usable {
		j, l := &jobs[k], &log[i]
		if s.GapScale*(l.Submit-head) >= s.Batch {
			head = l.Submit
		}
		j.ID, j.Submit = l.Number, s.GapScale*(head-first)
		j.Tasks, j.Work = int(l.Processors), s.TimeScale*l.RunTime
		users[k] = l.User
		switch {
		case !input.IsTime(j.Submit):
			return nil, nil, 0, input.Errorf("GapScale", s.GapScale, "a factor that submits job %d by 1e50", l.Number)
		case !input.IsWork(j.Work) || j.Work == 0 && l.RunTime > 0:
			return nil, nil, 0, input.Errorf("TimeScale", s.TimeScale,
				"a factor that brings the run time of job %d into [1e-50, 1e50]",
				l.Number)
		}
		if tasks += l.Processors; tasks > input.MostTasksInAll {
			return nil, nil, 0, input.Errorf(jobOfLog(l, "processors"), l.Processors,
				"at most %d in this and all previous jobs", input.MostTasksInAll)
		}
	}
	if err := s.demands().apply(jobs, users); err != nil {
		return nil, nil, 0, err
	}
	return jobs, usable, skipped, nil
}

// Each use of random numbers has its own stream.
const (
	streamSample = iota
	streamSpeeds
	streamGaps
	streamWork
	streamTasks
	streamUsers
)

// jobOfLog returns the path of a field of a job of the log, named by its number there.
func jobOfLog(l *swf.Job, field string) string { return fmt.Sprintf("job %d, %s", l.Number, field) }

// usableJobs returns the indices in the log of the jobs that can run, in order of submission.
func usableJobs(log []swf.Job) ([]int, error) {
	usable := make([]int, 0, len(log))
	for i := range log {
		l := &log[i]
		switch {
		case !(l.Submit == swf.Unknown || input.IsTime(l.Submit)):
			return nil, input.Errorf(jobOfLog(l, "submit time"), l.Submit, "a time in [0, 1e50], or -1 for unknown")
		case !(l.RunTime == swf.Unknown || input.IsTime(l.RunTime)):
			return nil, input.Errorf(jobOfLog(l, "run time"), l.RunTime, "seconds in [0, 1e50], or -1 for unknown")
		case l.Processors < swf.Unknown || l.Processors > input.MostTasks:
			return nil, input.Errorf(jobOfLog(l, "processors"),
				l.Processors, "an integer in [0, %d], or -1 for unknown",
				input.MostTasks)
		}
		if l.Submit != swf.Unknown && l.RunTime != swf.Unknown && l.Processors > 0 {
			usable = append(usable, i)
		}
	}
	bySubmit := func(a, b int) int { return cmp.Compare(log[a].Submit, log[b].Submit) }
	if !slices.IsSortedFunc(usable, bySubmit) { // most logs are
		slices.SortStableFunc(usable, bySubmit)
	}
	return usable, nil
}

func (s Sampling) check() error {
	switch {
	case s.Count < 0:
		return input.Errorf("Count", s.Count, "an integer >= 0")
	case !input.Speed.Has(s.TimeScale):
		return input.Speed.Check("TimeScale", s.TimeScale)
	case !input.Speed.Has(s.GapScale):
		return input.Speed.Check("GapScale", s.GapScale)
	case !input.IsTime(s.Batch):
		return input.Span.Check("Batch", s.Batch)
	}
	return s.demands().check()
}

func (s Sampling) demands() demands {
	return demands{s.DeadlineFactor, s.Parallelism, s.LowestPriority, s.HighestPriority}
}

// demands are the deadline and priority settings of [Sampling] and [Synthetic].
type demands struct {
	deadlineFactor                  float64
	parallelism                     int
	lowestPriority, highestPriority float64
}

func (d demands) check() error {
	switch {
	case !input.IsWork(d.deadlineFactor):
		return input.Speed.ZeroFor("no deadlines").Check("DeadlineFactor", d.deadlineFactor)
	case d.parallelism < 0 || d.parallelism == 0 && d.deadlineFactor > 0:
		return input.Errorf("Parallelism", d.parallelism, "an integer >= 1, or 0 without deadlines")
	case !input.IsTime(d.lowestPriority):
		return input.Time.Check("LowestPriority", d.lowestPriority)
	case !(d.highestPriority >= d.lowestPriority && input.IsTime(d.highestPriority)):
		return input.Errorf("HighestPriority", d.highestPriority,
			"a number in [%v, 1e50], at least the lowest priority",
			d.lowestPriority)
	}
	return nil
}

// apply sets the deadlines of jobs, and their priorities by user.
func (d demands) apply(jobs []Job, users []int64) error {
	count := map[int64]int{}
	for _, u := range users {
		count[u]++
	}
	var ranked []int64
	for u := range count {
		ranked = append(ranked, u)
	}
	slices.SortFunc(ranked, func(a, b int64) int { return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(a, b)) })
	priority := map[int64]float64{}
	for k, u := range ranked {
		priority[u] = d.priority(k, len(ranked))
	}
	for i := range jobs {
		j := &jobs[i]
		j.Priority = priority[users[i]]
		if d.deadlineFactor == 0 || j.Work == 0 {
			continue
		}
		relative := d.deadlineFactor * j.Work * max(1, float64(j.Tasks)/float64(d.parallelism))
		j.Deadline = max(j.Submit+relative, math.Nextafter(j.Submit, math.Inf(1)))
		if !input.IsTime(j.Deadline) {
			return input.Errorf("DeadlineFactor", d.deadlineFactor,
				"a factor that leaves the deadline of job %d within 1e50",
				j.ID)
		}
	}
	return nil
}

// priority returns the priority of rank k among a number of users. Both ends of the range are
// exact.
func (d demands) priority(k, users int) float64 {
	if k > 0 && k == users-1 {
		return d.lowestPriority
	}
	return d.highestPriority - (d.highestPriority-d.lowestPriority)*float64(k)/float64(max(1, users-1))
}

// UniformSpeeds draws speeds of workers, uniform on [low, high], within [1e-50, 1e50]; low = high
// is allowed. The same seed gives the same speeds, and a larger number of workers only appends
// speeds. The error is a [num.InputError].
func UniformSpeeds(workers int, low, high float64, seed uint64) ([]float64, error) {
	switch {
	case workers < 1:
		return nil, input.Errorf("Workers", workers, "an integer >= 1")
	case !(low > 0 && input.IsWork(low)):
		return nil, input.Speed.Check("Low", low)
	case !(high >= low && high <= input.Largest):
		return nil, input.Errorf("High", high, "a number in [%v, 1e50], at least the low end", low)
	}
	random := rand.New(rand.NewPCG(seed, streamSpeeds))
	speeds := make([]float64, workers)
	for s := range speeds {
		above := (high - low) * random.Float64() // rounded before the sum, which rules out fused multiply-add
		speeds[s] = min(high, low+above)         // the sum may round above high
	}
	return speeds, nil
}
