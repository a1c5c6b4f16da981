package dispatch

import (
	"cmp"
	"math"
	"slices"
)

// enough is the part of a need that counts as all of it, against rounding.
const enough = 1 - 1e-9

// A planner applies a policy again and again, without allocating.
type planner struct {
	policy Policy
	speeds []float64 // of the workers
	order  []int     // workers, in the order in which the policy hands them out
	rank   []int     // place of each worker in order

	job     []int // plan: the job of each worker, or -1
	planned []int // workers in the plan, by job
	chosen  []int // jobs with workers in the plan, in the order in which they got the first

	jobs []Request
	room []int // for free
	free []int // workers left, in order
}

func newPlanner(p Policy, speeds []float64, jobs int) *planner {
	q := &planner{
		policy: p, speeds: speeds, order: make([]int, len(speeds)), rank: make([]int, len(speeds)),
		job: make([]int, len(speeds)), planned: make([]int, jobs), room: make([]int, len(speeds)),
	}
	for s := range speeds {
		q.order[s] = s
	}
	if q.fastest() {
		slices.SortStableFunc(q.order, func(a, b int) int { return cmp.Compare(speeds[b], speeds[a]) })
	}
	for k, s := range q.order {
		q.rank[s] = k
	}
	return q
}

// fastest reports whether the policy knows that workers differ.
func (q *planner) fastest() bool { return q.policy.Rule == Workload || q.policy.Rule == Deadline }

// assign plans the workers listed, which are in the order of q, for the jobs listed, which are in order of priority and
// of deadline; the second order is used by EDF and for spare workers by deadline only.
func (q *planner) assign(jobs []Request, byPriority, byDeadline, workers []int, now float64) {
	for _, j := range q.chosen {
		q.planned[j] = 0
	}
	q.jobs, q.chosen, q.free = jobs, q.chosen[:0], append(q.room[:0], workers...)
	for s := range q.job {
		q.job[s] = -1
	}
	switch q.policy.Rule {
	case Priority:
		q.byPriority(byPriority)
	case Proportion:
		q.byProportion(byPriority)
	case Workload:
		for k := 0; k < len(byPriority) && len(q.free) > 0; k++ {
			j := byPriority[k]
			q.give(j, len(q.free), jobs[j].Work/cmp.Or(q.policy.Horizon, 1))
		}
	case Deadline:
		for k := 0; k < len(byPriority) && len(q.free) > 0; k++ {
			j, need := byPriority[k], math.Inf(1)
			if left := jobs[j].due() - now; left > 0 {
				need = jobs[j].Work / left
			}
			q.give(j, len(q.free), need)
		}
	case EDF:
		q.fill(byDeadline, -1)
	}
	last := -1 // the job whose turn comes last
	if q.policy.Rule == Priority && len(byPriority) > 0 {
		last = byPriority[0]
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
	c := max(1, m-int(math.Ceil(q.policy.Reserve*float64(m)*enough)))
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		q.give(order[k], c, math.Inf(1))
		c = 1
	}
}

// byProportion is Algorithm 2 of [L14].
func (q *planner) byProportion(order []int) {
	var total float64
	for _, j := range order {
		total += q.jobs[j].Work
	}
	m := float64(len(q.free))
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		share := 0.0
		if total > 0 {
			share = m * (q.jobs[order[k]].Work / total)
		}
		q.give(order[k], max(1, int(math.Ceil(share*enough))), math.Inf(1))
	}
}

// fill gives the jobs in order all that they can use, one of them last.
func (q *planner) fill(order []int, last int) {
	for k := 0; k < len(order) && len(q.free) > 0; k++ {
		if order[k] != last {
			q.give(order[k], len(q.free), math.Inf(1))
		}
	}
	if last >= 0 && len(q.free) > 0 {
		q.give(last, len(q.free), math.Inf(1))
	}
}

// give gives job j at most c more workers, as far as it has tasks, until the speeds of those given now, at least one,
// add up to the need.
func (q *planner) give(j, c int, need float64) {
	r := &q.jobs[j]
	c = min(c, r.Tasks-q.planned[j], len(q.free))
	if c <= 0 {
		return
	}
	speeds, own := q.speeds, r.Speeds != nil
	if own {
		speeds = r.Speeds
	}
	if own && q.fastest() {
		slices.SortFunc(q.free, func(a, b int) int { return cmp.Or(cmp.Compare(speeds[b], speeds[a]), cmp.Compare(a, b)) })
	}
	k := c
	if !math.IsInf(need, 1) {
		k = 1
		for sum := speeds[q.free[0]]; k < c && sum < need*enough; k++ {
			sum += speeds[q.free[k]]
		}
	}
	for _, s := range q.free[:k] {
		q.job[s] = j
	}
	q.free = q.free[k:]
	if own && q.fastest() {
		slices.SortFunc(q.free, func(a, b int) int { return cmp.Compare(q.rank[a], q.rank[b]) })
	}
	if q.planned[j] == 0 {
		q.chosen = append(q.chosen, j)
	}
	q.planned[j] += k
}
