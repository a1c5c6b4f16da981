package dispatch

import (
	"slices"
	"strings"

	"productform/internal/input"
	"productform/internal/ranges"
)

// A Rule says how many workers a job is given, and which. The rules take jobs in order of priority, the highest first, jobs of equal priority in the
// order given, but for EDF.
type Rule string

// The rules of [L14], section 5. Of m workers, for a job with n tasks and work w left:
const (
	// Priority gives the first job max(1, min(n, m - ⌈r m⌉)) workers, r the reserve, and each other job one (Algorithm 1, where the printed count of
	// line 3 contradicts the text above it, which is followed). Spare workers go to the first job last, so that it has more than its part only if no
	// other job can use them.
	Priority Rule = "priority"

	// Proportion gives each job max(1, min(n, ⌈m w / total work⌉)) workers (Algorithm 2, whose count lacks the factor m).
	Proportion Rule = "proportion"

	// Workload gives each job the workers that are fastest at its tasks until their speeds add up to w / horizon, at least one and at most n
	// (Algorithm 3, whose lines 14 and 15 are read as taking the same k workers).
	Workload Rule = "workload"

	// Deadline gives each job the workers that are fastest at its tasks until they would finish what is left by the deadline, were it divisible: Σ_s
	// 1/T^s >= 1/(d - now), T^s = w/speed of s; at least one and at most n (Algorithm 4, with the condition of the text above it). A job whose
	// deadline has passed needs all that it can use.
	Deadline Rule = "deadline"

	// EDF gives each job all that it can use, min(n, workers left), earliest deadline first, equal deadlines in the order given; jobs without
	// deadline come last.
	EDF Rule = "edf"
)

// AllRules returns all rules.
func AllRules() []Rule { return []Rule{Priority, Proportion, Workload, Deadline, EDF} }

// A Spare says who gets the workers that are left when the rule has been applied ([L14], section 5.5). A job is filled up to its number of tasks
// before the next one has its turn.
type Spare string

// The ways to use spare workers. The zero value means SpareByPriority.
const (
	SpareByPriority Spare = "priority" // the highest priority first
	SpareByDeadline Spare = "deadline" // the earliest deadline first
	SpareKept       Spare = "kept"     // nobody: they are kept for jobs to come
)

// AllSpares returns all ways to use spare workers.
func AllSpares() []Spare { return []Spare{SpareByPriority, SpareByDeadline, SpareKept} }

// A Policy maps jobs and workers to a plan. Priority, Proportion and EDF hand out workers in the order given; Workload and Deadline, and their spare
// workers, by speed at the tasks of the job, fastest first and equal ones in the order given.
//
// Where a need, or the part of the workers that is kept, is above what a number of workers gives by no more than 1e-9 of itself, that number is
// enough: rounding never costs a worker.
type Policy struct {
	Rule    Rule    `json:"rule"`
	Spare   Spare   `json:"spare,omitempty"`   // not used by EDF, under which workers are left only if no job can use them
	Reserve float64 `json:"reserve,omitempty"` // r in [0, 1], the part of the workers that Priority keeps from the first job
	Horizon float64 `json:"horizon,omitempty"` // of Workload, the seconds in which a job should be done; 0 means 1, as in [L14]
}

// A Request is what a policy knows of a job that is present.
type Request struct {
	Priority float64 `json:"priority,omitempty"` // P >= 0, larger is more urgent
	Deadline float64 `json:"deadline,omitempty"` // d > 0, the time at which all tasks should be done; 0 if there is none

	// MaxWorkers is the most workers that the job may have, >= 1; 0 if there is no limit.
	MaxWorkers int `json:"max_workers,omitempty"`

	Tasks  int       `json:"tasks"`            // n >= 1, tasks that are not finished
	Work   float64   `json:"work,omitempty"`   // w >= 0, estimate of the work in them: seconds on a worker of speed 1
	Speeds []float64 `json:"speeds,omitempty"` // > 0, of each worker at these tasks; nil means those of the workers
}

// Assign returns the plan: for each worker the index of its job, or -1. Each job gets at most as many workers as it has tasks, at most MaxWorkers
// and, unless spare workers are kept, no worker is left while a job can use it. The order of workers is that of speeds, which are > 0. The cost is
// O((jobs + workers) log(jobs + workers)), and a factor min(jobs, workers) more under Workload and Deadline if jobs have speeds of their own. The
// error is a [num.InputError].
func (p Policy) Assign(jobs []Request, speeds []float64, now float64) ([]int, error) {
	if err := p.check("Policy"); err != nil {
		return nil, err
	}
	if err := checkSpeeds("Speeds", speeds); err != nil {
		return nil, err
	}
	if !ranges.IsTime(now) {
		return nil, ranges.Moment.Check("Now", now)
	}
	for j := range jobs {
		if err := jobs[j].check(len(speeds)); err != nil {
			return nil, input.Inside(input.Index("Jobs", j), err)
		}
	}
	q, all := newPlanner(p, speeds, len(jobs)), claimsOf(jobs)
	var byPriority, byDeadline []int
	if q.looksAtPriorities() {
		byPriority = all.sorted(all.moreUrgent)
	}
	if q.looksAtDeadlines() {
		byDeadline = all.sorted(all.dueEarlier)
	}
	q.plan.SetWorkers(q.order)
	q.assign(all, byPriority, byDeadline, now)
	return q.plan.ByWorker(), nil
}

// list returns words with commas between them.
func list[S ~string](words []S) string {
	text := make([]string, len(words))
	for i, w := range words {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}

func (p Policy) check(path string) error {
	switch {
	case !slices.Contains(AllRules(), p.Rule):
		return input.Errorf(input.Field(path, "Rule"), p.Rule, "one of %s", list(AllRules()))
	case p.Spare != "" && !slices.Contains(AllSpares(), p.Spare):
		return input.Errorf(input.Field(path, "Spare"), p.Spare, "one of %s", list(AllSpares()))
	case !(p.Reserve >= 0 && p.Reserve <= 1):
		return input.Errorf(input.Field(path, "Reserve"), p.Reserve, "a number in [0, 1]")
	case !ranges.IsWork(p.Horizon):
		return ranges.Work.ZeroFor("1 second").Check(input.Field(path, "Horizon"), p.Horizon)
	}
	return nil
}

// check checks a request.
func (r *Request) check(workers int) error {
	switch {
	case !ranges.IsTime(r.Priority):
		return ranges.Time.Check("Priority", r.Priority)
	case !ranges.Due.Has(r.Deadline):
		return ranges.Due.Check("Deadline", r.Deadline)
	case r.MaxWorkers < 0:
		return input.Errorf("MaxWorkers", r.MaxWorkers, "an integer >= 1, or 0 for no limit")
	case r.Tasks < 1:
		return input.Errorf("Tasks", r.Tasks, "an integer >= 1")
	case !ranges.IsTime(r.Work):
		return ranges.Span.Check("Work", r.Work)
	}
	return checkJobSpeeds(r.Speeds, workers)
}

// checkJobSpeeds checks the speeds that a job has of its own.
func checkJobSpeeds(speeds []float64, workers int) error {
	switch {
	case speeds == nil:
		return nil
	case len(speeds) != workers:
		return input.Errorf("Speeds", len(speeds), "%d speeds, one a worker", workers)
	}
	return checkEachSpeed("Speeds", speeds)
}

// checkSpeeds checks speeds of workers, of which there is at least one.
func checkSpeeds(path string, speeds []float64) error {
	if len(speeds) == 0 {
		return input.Errorf(path, "no workers", "at least one")
	}
	return checkEachSpeed(path, speeds)
}

func checkEachSpeed(path string, speeds []float64) error {
	if s := slices.IndexFunc(speeds, isNotSpeed); s >= 0 {
		return ranges.Speed.Check(input.Index(path, s), speeds[s])
	}
	return nil
}

func isNotSpeed(v float64) bool { return !ranges.Speed.Has(v) }
