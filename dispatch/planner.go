package dispatch

import (
	"cmp"
	"math"
	"slices"
)

// needTol is the part of a need that may be missing. Sums of a million speeds or works are off by some 1e-10 of
// themselves at most.
const needTol = 1e-9

// A planner applies a policy again and again, without allocating.
type planner struct {
	policy Policy
	speeds []float64 // of the workers
	order  []int     // workers, in the order in which the policy hands them out
	rank   []int     // place of each worker in order

	job     []int // plan: the job of each worker, or -1
	planned []int // workers in the plan, by job
	chosen  []int // jobs with workers in the plan, in the order in which they got the first

	jobs claims
	room []int // for free
	free []int // workers left, in order
}

func newPlanner(p Policy, speeds []float64, jobs int) *planner {
	q := &planner{
		policy: p, speeds: speeds, order: make([]int, len(speeds)),
		job: make([]int, len(speeds)), planned: make([]int, jobs), chosen: make([]int, 0, min(jobs, len(speeds))),
		room: make([]int, len(speeds)),
	}
	for s := range speeds {
		q.order[s] = s
	}
	q.rank = q.order // in the order given, the place of a worker is its number
	if q.takesFastest() {
		slices.SortStableFunc(q.order, func(a, b int) int { return cmp.Compare(speeds[b], speeds[a]) })
		q.rank = make([]int, len(speeds))
		for k, s := range q.order {
			q.rank[s] = k
		}
	}
	return q
}

// takesFastest reports whether the policy knows that workers differ.
func (q *planner) takesFastest() bool { return q.policy.Rule == Workload || q.policy.Rule == Deadline }

// looksAtPriorities reports whether the policy needs the jobs in order of priority: EDF leaves no worker that a job can use.
func (q *planner) looksAtPriorities() bool { return q.policy.Rule != EDF }

// looksAtDeadlines reports whether the policy needs the jobs in order of deadline.
func (q *planner) looksAtDeadlines() bool {
	return q.policy.Rule == EDF || q.policy.Spare == SpareByDeadline
}

// assign plans the workers listed, which are in the order of q, for the jobs listed, which are in order of priority and
// of deadline; an order that q does not look at may be empty. A job that can use no worker takes no part.
func (q *planner) assign(jobs claims, byPriority, byDeadline, workers []int, now float64) {
	for _, j := range q.chosen {
		q.planned[j] = 0
	}
	q.jobs, q.chosen, q.free = jobs, q.chosen[:0], append(q.room[:0], workers...)
	plan := q.job
	for s := range plan {
		plan[s] = -1
	}
	last := -1 // the job whose turn comes last
	switch q.policy.Rule {
	case Priority:
		order := byPriority
		for len(order) > 0 && jobs.of[order[0]].most == 0 {
			order = order[1:]
		}
		if len(order) > 0 {
			last = order[0]
		}
		q.byPriority(order)
	case Proportion:
		q.byProportion(byPriority)
	case Workload:
		horizon := cmp.Or(q.policy.Horizon, 1)
		for k := 0; k < len(byPriority) && len(q.free) > 0; k++ {
			j := byPriority[k]
			need := jobs.of[j].work
			if horizon != 1 { // divisions take a while
				need /= horizon
			}
			q.meet(j, need)
		}
	case Deadline:
		for k := 0; k < len(byPriority) && len(q.free) > 0; k++ {
			j := byPriority[k]
			if left := jobs.of[j].due - now; left > 0 {
				q.meet(j, jobs.of[j].work/left)
			} else {
				q.give(j, len(q.free))
			}
		}
	case EDF:
		q.fill(byDeadline, -1)
	}
	switch q.policy.Spare {
	case "", SpareByPriority:
		q.fill(byPriority, last)
	case SpareByDeadline:
		q.fill(byDeadline, last)
	}
}

// byPriority is Algorithm 1 of [L14].
func (q *planner) byPriority(order []int) {
	m := len(q.free)
	c := max(1, m-int(math.Ceil(q.policy.Reserve*float64(m)*(1-needTol))))
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		q.give(order[k], c)
		c = 1
	}
}

// byProportion is Algorithm 2 of [L14].
func (q *planner) byProportion(order []int) {
	var total float64
	for _, j := range order {
		total += q.jobs.of[j].work
	}
	m := float64(len(q.free))
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		share := 0.0
		if total > 0 {
			share = m * (q.jobs.of[order[k]].work / total)
		}
		q.give(order[k], max(1, int(math.Ceil(share*(1-needTol)))))
	}
}

// fill gives the jobs in order all that they can use, one of them last.
func (q *planner) fill(order []int, last int) {
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		if order[k] != last {
			q.give(order[k], len(q.free))
		}
	}
	if last >= 0 && len(q.free) > 0 {
		q.give(last, len(q.free))
	}
}

// give gives job j at most c more workers, as far as it has tasks.
func (q *planner) give(j, c int) {
	if c = min(c, q.usable(j)); c > 0 {
		q.arrange(j)
		q.take(j, c)
	}
}

// meet gives job j more workers, at least one, as far as it has tasks, until their speeds add up to the need.
func (q *planner) meet(j int, need float64) {
	c := q.usable(j)
	if c == 0 {
		return
	}
	speeds, free, enough := q.arrange(j), q.free[:c], need*(1-needTol)
	k := 1
	for sum := speeds[free[0]]; k < len(free) && sum < enough; k++ {
		sum += speeds[free[k]]
	}
	q.take(j, k)
}

// usable returns the number of workers left that job j has tasks for.
func (q *planner) usable(j int) int { return min(q.jobs.of[j].most-q.planned[j], len(q.free)) }

// arrange puts the workers left in the order in which job j takes them, and returns the speeds at its tasks.
func (q *planner) arrange(j int) []float64 {
	speeds := q.jobs.speeds(j)
	if speeds == nil {
		return q.speeds
	}
	if q.takesFastest() {
		slices.SortFunc(q.free, func(a, b int) int { return cmp.Or(cmp.Compare(speeds[b], speeds[a]), cmp.Compare(a, b)) })
	}
	return speeds
}

// take gives job j the first k of the workers left, and puts the others back in order.
func (q *planner) take(j, k int) {
	plan := q.job
	for _, s := range q.free[:k] {
		plan[s] = j
	}
	q.free = q.free[k:]
	if q.jobs.speeds(j) != nil && q.takesFastest() {
		slices.SortFunc(q.free, func(a, b int) int { return cmp.Compare(q.rank[a], q.rank[b]) })
	}
	if q.planned[j] == 0 {
		q.chosen = append(q.chosen, j)
	}
	q.planned[j] += k
}
