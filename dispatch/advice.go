package dispatch

import (
	"slices"

	"productform/internal/input"
)

// A Question is what a [Maker] asks a policy that is not its own: which of the jobs that can use a worker gets which of the
// workers that are up, as all stands after what has happened at a moment. What [Policy.Assign] answers to
// (Requests, Speeds, At), with numbers of jobs in place of their places, is the plan of that policy.
type Question struct {
	At       float64   // time, in seconds
	Jobs     []int     // numbers of the jobs, in the order in which they were submitted
	Requests []Request // of each; tasks in the hands of workers that leave are not among its tasks
	Workers  []int     // numbers of the workers, ascending
	Speeds   []float64 // of each
}

// Check refuses what is no plan: want for each of the workers the number of a job in the question, or -1, and for no job more
// workers than it has tasks and may have. The error is a [num.InputError].
func (q *Question) Check(plan []int) error {
	if len(plan) != len(q.Workers) {
		return input.Errorf("Plan", len(plan), "%d jobs, one a worker", len(q.Workers))
	}
	left := make(map[int]int, len(q.Jobs))
	for k, j := range q.Jobs {
		left[j] = q.Requests[k].most()
	}
	for k, j := range plan {
		most, known := left[j]
		switch {
		case j == -1:
		case !known:
			return input.Errorf(input.Index("Plan", k), j, "the number of a job that can use a worker, or -1")
		case most == 0:
			return input.Errorf(input.Index("Plan", k), j, "a job that can use one more worker, or -1")
		default:
			left[j]--
		}
	}
	return nil
}

// most returns the number of workers that the job can use.
func (r *Request) most() int {
	if r.MaxWorkers > 0 {
		return min(r.Tasks, r.MaxWorkers)
	}
	return r.Tasks
}

// DecideBy decides as [Maker.Decide] does, but by the plan of somebody else: ask is given the question, after what happened
// has been taken note of, and returns the job of each of its workers, or nil to leave it to the policy of m. It is not asked
// if there is no worker, or no job that can use one. What a plan has left to do, jobs take in order of priority.
//
// The error is that of Decide, and then nothing has changed, or that of [Question.Check]; then m is of no more use.
func (m *Maker) DecideBy(at float64, what []Happening, ask func(*Question) []int) ([]Event, error) {
	if err := m.Check(at, what); err != nil {
		return nil, err
	}
	m.step(at, sorted(what))
	if err := m.planBy(ask); err != nil {
		return nil, err
	}
	m.carryOut()
	events := m.events
	m.events = nil
	return events, nil
}

// ApplyBy follows what [Maker.DecideBy] decided by a plan, as [Maker.Apply] follows what Decide did; a nil plan was left to
// the policy.
func (m *Maker) ApplyBy(at float64, what []Happening, plan []int, events []Event) error {
	return m.apply(at, what, events, func() error { return m.planBy(func(*Question) []int { return plan }) })
}

// planBy plans as somebody else says.
func (m *Maker) planBy(ask func(*Question) []int) error {
	q := m.question()
	var plan []int
	if len(q.Jobs) > 0 && len(q.Workers) > 0 {
		plan = ask(&q)
	}
	if plan == nil {
		m.assign()
		return nil
	}
	if err := q.Check(plan); err != nil {
		return err
	}
	m.planner.adopt(m.byPriority.List(), q.Workers, plan)
	return nil
}

// question returns what is asked now.
func (m *Maker) question() Question {
	q := Question{At: m.now, Workers: slices.Sorted(slices.Values(m.workers))}
	for _, w := range q.Workers {
		q.Speeds = append(q.Speeds, m.speeds[w])
	}
	for _, j := range m.byPriority.List() {
		if m.claims.of[j].most > 0 {
			q.Jobs = append(q.Jobs, j)
		}
	}
	slices.SortFunc(q.Jobs, m.claims.older)
	for _, i := range q.Jobs {
		j, t := m.jobs[i], &m.tasks[i]
		r := Request{Priority: j.Priority, Deadline: j.Deadline, Tasks: t.open - t.leaving, Work: m.claims.of[i].work}
		if j.MaxWorkers > 0 {
			r.MaxWorkers = j.MaxWorkers - t.leaving
		}
		if own := m.claims.speeds(i); own != nil {
			for _, w := range q.Workers {
				r.Speeds = append(r.Speeds, own[w])
			}
		}
		q.Requests = append(q.Requests, r)
	}
	return q
}

// adopt takes over a plan: the jobs of some workers, -1 for none. The others have none. Jobs is the order of their turns.
func (q *planner) adopt(jobs, workers, plan []int) {
	q.own = false
	q.clear()
	job := q.plan.ByWorker()
	for k, j := range plan {
		job[workers[k]] = j
		if j >= 0 {
			q.planned[j]++
		}
	}
	q.plan.Settle()
	for _, j := range jobs {
		if q.planned[j] > 0 {
			q.chosen = append(q.chosen, j)
		}
	}
}
