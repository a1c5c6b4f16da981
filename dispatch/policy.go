package dispatch

import (
	"slices"
	"strings"

	"productform/internal/input"
)

// A Rule determines how many workers each job gets, and which. All rules except EDF serve jobs in
// order of priority, highest first; jobs of equal priority are served in the order given.
type Rule string

// The rules of [L14], section 5, for m workers and a job with n tasks and work w left:
const (
	// Priority gives the first job at most max(1, m - ⌈r m⌉) workers, r the reserve, and every
	// other job one (Algorithm 1; its line 3 contradicts the text above it, which this package
	// follows). Spare workers go to the first job last, so it exceeds its limit only if no other
	// job can use them.
	Priority Rule = "priority"

	// Proportion gives each job max(1, min(n, ⌈m w / total work⌉)) workers (Algorithm 2, whose
	// printed count lacks the factor m).
	Proportion Rule = "proportion"

	// Workload gives each job the workers that are fastest at its tasks until their speeds add up
	// to w / horizon, at least one and at most n (Algorithm 3; its lines 14 and 15 are assumed to
	// mean the same k workers).
	Workload Rule = "workload"

	// Deadline gives each job the workers that are fastest at its tasks until they would finish its
	// remaining work by the deadline if it were divisible: Σ_s 1/T^s >= 1/(d - now), T^s = w/speed
	// of s. It gives at least one worker and at most n (Algorithm 4, with the condition in the text
	// above it). A job whose deadline has passed gets every worker that it can use.
	Deadline Rule = "deadline"

	// EDF gives each job every worker that it can use, min(n, workers left). Jobs are served by
	// deadline, earliest first, with equal deadlines in the order given and jobs without a deadline
	// last.
	EDF Rule = "edf"
)

// AllRules returns all rules.
func AllRules() []Rule { return []Rule{Priority, Proportion, Workload, Deadline, EDF} }

// A Spare determines who gets the workers left over by the rule ([L14], section 5.5). Each job gets
// workers up to its number of tasks before the next one gets any.
type Spare string

// The ways to use spare workers. The zero value means SpareByPriority.
const (
	SpareByPriority Spare = "priority" // the highest priority first
	SpareByDeadline Spare = "deadline" // the earliest deadline first
	SpareKept       Spare = "kept"     // no job: they are reserved for future jobs
)

// AllSpares returns all ways to use spare workers.
func AllSpares() []Spare { return []Spare{SpareByPriority, SpareByDeadline, SpareKept} }

// A Policy maps jobs and workers to a plan. Priority, Proportion and EDF hand out workers in the
// order given. Workload and Deadline hand out workers, including spare ones, by their speed at the
// tasks of the job, fastest first, with equal speeds in the order given.
//
// Needs and the reserve have a relative tolerance of 1e-9: a number of workers within it of the
// need is enough, so rounding never costs a worker.
type Policy struct {
	Rule  Rule  `json:"rule"`
	Spare Spare `json:"spare,omitempty"` // ignored by EDF, which leaves only workers that no job can use
	// r in [0, 1], the fraction of the workers that Priority withholds from the first job
	Reserve float64 `json:"reserve,omitempty"`
	Horizon float64 `json:"horizon,omitempty"` // for Workload: seconds to finish a job in; 0 means 1, as in [L14]
}

// A Request describes a job to a policy.
type Request struct {
	Priority float64 `json:"priority,omitempty"` // P >= 0, larger is more urgent
	Deadline float64 `json:"deadline,omitempty"` // d > 0, the time by which all tasks should be done; 0 for none

	// MaxWorkers is the largest number of workers that the job may have, >= 1; 0 means no limit.
	MaxWorkers int `json:"max_workers,omitempty"`

	Tasks  int       `json:"tasks"`            // n >= 1, unfinished tasks
	Work   float64   `json:"work,omitempty"`   // w >= 0, their estimated total work: seconds on a worker of speed 1
	Speeds []float64 `json:"speeds,omitempty"` // > 0, speed of each worker at these tasks; nil means the general speeds
}

// Assign returns the plan: for each worker the index of its job, or -1. No job gets more workers
// than it has tasks, or more than MaxWorkers. Unless spare workers are kept, no worker is
// unassigned while a job can use it. Workers are in the order of speeds, which must be > 0. The
// cost is O((jobs + workers) log(jobs + workers)), times min(jobs, workers) under Workload and
// Deadline if jobs have their own speeds. The error is a [num.InputError].
func (p Policy) Assign(jobs []Request, speeds []float64, now float64) ([]int, error) {
	if err := p.check("Policy"); err != nil {
		return nil, err
	}
	if err := checkSpeeds("Speeds", speeds); err != nil {
		return nil, err
	}
	if !input.IsTime(now) {
		return nil, input.Moment.Check("Now", now)
	}
	for j := range jobs {
		if err := jobs[j].check(len(speeds)); err != nil {
			return nil, input.Inside(input.Index("Jobs", j), err)
		}
	}
	q, all := newPlanner(p, speeds, len(jobs)), claimsOf(jobs)
	var byPriority, byDeadline []int
	if q.usesPriorities() {
		byPriority = all.sorted(all.moreUrgent)
	}
	if q.usesDeadlines() {
		byDeadline = all.sorted(all.dueEarlier)
	}
	q.plan.SetWorkers(q.order)
	q.assign(all, byPriority, byDeadline, now)
	return q.plan.ByWorker(), nil
}

// list joins words with commas.
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
	case !input.IsWork(p.Horizon):
		return input.Work.ZeroFor("1 second").Check(input.Field(path, "Horizon"), p.Horizon)
	}
	return nil
}

// check checks a request.
func (r *Request) check(workers int) error {
	switch {
	case !input.IsTime(r.Priority):
		return input.Time.Check("Priority", r.Priority)
	case !input.Due.Has(r.Deadline):
		return input.Due.Check("Deadline", r.Deadline)
	case r.MaxWorkers < 0:
		return input.Errorf("MaxWorkers", r.MaxWorkers, "an integer >= 1, or 0 for no limit")
	case r.Tasks < 1:
		return input.Errorf("Tasks", r.Tasks, "an integer >= 1")
	case !input.IsTime(r.Work):
		return input.Span.Check("Work", r.Work)
	}
	return checkJobSpeeds(r.Speeds, workers)
}

// checkJobSpeeds checks the speeds of a job, which may be nil.
func checkJobSpeeds(speeds []float64, workers int) error {
	switch {
	case speeds == nil:
		return nil
	case len(speeds) != workers:
		return input.Errorf("Speeds", len(speeds), "%d speeds, one per worker", workers)
	}
	return checkEachSpeed("Speeds", speeds)
}

// checkSpeeds checks the speeds of workers, of which there must be at least one.
func checkSpeeds(path string, speeds []float64) error {
	if len(speeds) == 0 {
		return input.Errorf(path, "no workers", "at least one")
	}
	return checkEachSpeed(path, speeds)
}

func checkEachSpeed(path string, speeds []float64) error {
	if s := slices.IndexFunc(speeds, isNotSpeed); s >= 0 {
		return input.Speed.Check(input.Index(path, s), speeds[s])
	}
	return nil
}

func isNotSpeed(v float64) bool { return !input.Speed.Has(v) }
