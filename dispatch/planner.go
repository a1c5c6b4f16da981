package dispatch

import (
	"cmp"
	"math"
	"slices"
)

// needTol is the relative tolerance on needs. Sums of a million speeds or works have relative
// errors up to about 1e-10.
const needTol = 1e-9

// A planner applies a policy repeatedly without allocating.
type planner struct {
	policy Policy
	speeds []float64 // speeds of the workers
	order  []int     // workers, in the order of the policy
	rank   []int     // position of each worker in order

	plan    sharePlan // for the workers that are up, in order
	planned []int     // number of planned workers, by job
	chosen  []int     // jobs with planned workers, in the order in which they got the first one

	jobs claims
	own  bool // whether jobs have their own orders of workers

	isSummed bool // whether the plan has prefix sums of the speeds
}

func newPlanner(p Policy, speeds []float64, jobs int) *planner {
	most := min(jobs, len(speeds))
	ints := make([]int, jobs+most)
	q := &planner{
		policy: p, speeds: speeds, order: make([]int, len(speeds)),
		planned: ints[:jobs:jobs], chosen: ints[jobs:jobs], plan: newSharePlan(len(speeds), most),
	}
	for s := range speeds {
		q.order[s] = s
	}
	q.rank = q.order // in the given order, position equals number
	if q.usesSpeeds() {
		slices.SortFunc(q.order, func(a, b int) int {
			if x, y := speeds[a], speeds[b]; x != y {
				return orderOf(x > y)
			}
			return a - b
		})
		q.rank = make([]int, len(speeds))
		for k, s := range q.order {
			q.rank[s] = k
		}
	}
	return q
}

// usesSpeeds reports whether the policy uses the speeds of workers.
func (q *planner) usesSpeeds() bool { return q.policy.Rule == Workload || q.policy.Rule == Deadline }

// usesPriorities reports whether the policy needs the jobs in order of priority. EDF does not,
// since it leaves no worker idle that a job can use.
func (q *planner) usesPriorities() bool { return q.policy.Rule != EDF }

// usesDeadlines reports whether the policy needs the jobs in order of deadline.
func (q *planner) usesDeadlines() bool {
	return q.policy.Rule == EDF || q.policy.Spare == SpareByDeadline
}

// setWorkers sets the workers that are up, in order, for all following plans.
func (q *planner) setWorkers(workers []int) {
	q.plan.SetWorkers(workers)
	q.isSummed = q.usesSpeeds()
	if q.isSummed {
		q.plan.Prepare(q.speeds)
	} else {
		q.plan.Prepare(nil)
	}
}

// clear discards the plan.
func (q *planner) clear() {
	q.plan.Clear(q.own)
	for _, j := range q.chosen {
		q.planned[j] = 0
	}
	q.chosen = q.chosen[:0]
}

// assign plans the workers that are up for the jobs listed by priority and by deadline. An order
// that the policy does not use may be empty. A job that cannot use any worker is omitted.
func (q *planner) assign(jobs claims, byPriority, byDeadline []int, now float64) {
	q.jobs, q.own = jobs, jobs.own != nil && q.usesSpeeds()
	q.clear()
	last := -1 // the job that gets spare workers last
	switch q.policy.Rule {
	case Priority:
		order := byPriority
		for len(order) > 0 && jobs.of[order[0]].maxWorkers == 0 {
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
		for k := 0; k < len(byPriority) && q.plan.Left() > 0; k++ {
			j := byPriority[k]
			need := jobs.of[j].work
			if horizon != 1 { // divisions are slow
				need /= horizon
			}
			q.giveUntil(j, need)
		}
	case Deadline:
		for k := 0; k < len(byPriority) && q.plan.Left() > 0; k++ {
			j := byPriority[k]
			if left := jobs.of[j].due - now; left > 0 {
				q.giveUntil(j, jobs.of[j].work/left)
			} else {
				q.give(j, q.plan.Left())
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
	if q.own {
		q.plan.Settle()
	}
}

// byPriority applies Algorithm 1 of [L14].
func (q *planner) byPriority(order []int) {
	m := q.plan.Left()
	c := max(1, m-int(math.Ceil(q.policy.Reserve*float64(m)*(1-needTol))))
	for k := 0; k < len(order) && q.plan.Left() > 0; k++ {
		q.give(order[k], c)
		c = 1
	}
}

// byProportion applies Algorithm 2 of [L14].
func (q *planner) byProportion(order []int) {
	m := float64(q.plan.Left())
	part := func(work, total float64) int {
		share := 0.0
		if total > 0 {
			share = m * (work / total)
		}
		return max(1, int(math.Ceil(share*(1-needTol))))
	}
	least, most := q.jobs.workBounds(order)
	for k := 0; k < len(order) && q.plan.Left() > 0; k++ {
		work := q.jobs.of[order[k]].work
		c := part(work, most)
		if part(work, least) != c || least <= 0 && most > 0 { // part decreases in a total > 0, even with rounding
			least = q.jobs.workOf(order)
			most, c = least, part(work, least)
		}
		q.give(order[k], c)
	}
}

// fill gives each job, in order, every worker that it can use. The job last comes after all others.
func (q *planner) fill(order []int, last int) {
	for k := 0; k < len(order) && q.plan.Left() > 0; k++ {
		if order[k] != last {
			q.give(order[k], q.plan.Left())
		}
	}
	if last >= 0 && q.plan.Left() > 0 {
		q.give(last, q.plan.Left())
	}
}

// give gives job j up to c more workers, as many as it can use.
func (q *planner) give(j, c int) {
	if c = min(c, q.usable(j)); c > 0 {
		if q.own {
			q.arrange(j)
		}
		q.take(j, c)
	}
}

// giveUntil gives job j at least one more worker, and more until their speeds add up to the need or
// it can use no more.
func (q *planner) giveUntil(j int, need float64) {
	c, enough := q.usable(j), need*(1-needTol)
	if c == 0 {
		return
	}
	if q.isSummed && !q.own {
		q.take(j, q.plan.Fewest(c, enough))
		return
	}
	speeds := q.speeds
	if q.own {
		speeds = q.arrange(j)
	}
	free := q.plan.Rest()[:c]
	k := 1
	for sum := speeds[free[0]]; k < len(free) && sum < enough; k++ {
		sum += speeds[free[k]]
	}
	q.take(j, k)
}

// usable returns how many of the remaining workers job j can use.
func (q *planner) usable(j int) int { return min(q.jobs.of[j].maxWorkers-q.planned[j], q.plan.Left()) }

// arrange sorts the remaining workers in the order in which job j takes them, and returns their
// speeds at its tasks.
func (q *planner) arrange(j int) []float64 {
	speeds := q.jobs.own[j]
	if speeds == nil {
		return q.speeds
	}
	slices.SortFunc(q.plan.Rest(), func(a, b int) int {
		return cmp.Or(cmp.Compare(speeds[b], speeds[a]), cmp.Compare(a, b))
	})
	return speeds
}

// take gives job j the first k of the remaining workers, and restores the order of the others.
func (q *planner) take(j, k int) {
	q.plan.Take(j, k)
	if q.own && q.jobs.own[j] != nil {
		slices.SortFunc(q.plan.Rest(), func(a, b int) int { return cmp.Compare(q.rank[a], q.rank[b]) })
	}
	if q.planned[j] == 0 {
		q.chosen = append(q.chosen, j)
	}
	q.planned[j] += k
}
