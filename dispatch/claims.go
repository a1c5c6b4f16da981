package dispatch

import (
	"math"
	"slices"
)

// claims holds what a planner knows about the jobs.
type claims struct {
	of  []claim     // claims, by job
	own [][]float64 // by job: own speeds of the workers at its tasks, or nil; nil if no job has any

	present *workSum // total work of the jobs present; nil if not tracked
}

// A claim holds the properties that every job has. It is small because plans loop over all jobs
// present.
type claim struct {
	priority, due, submit float64 // due is +Inf if there is no deadline
	work                  float64 // work left
	maxWorkers            int     // number of workers that the job can use
}

// due returns a deadline, or +Inf if there is none.
func due(deadline float64) float64 {
	if deadline == 0 {
		return math.Inf(1)
	}
	return deadline
}

// grow adds space for more jobs.
func (c *claims) grow(more int) {
	c.of = append(c.of, make([]claim, more)...)
	if c.own != nil {
		c.own = append(c.own, make([][]float64, more)...)
	}
}

// setSpeeds sets the own speeds of job j; nil means none.
func (c *claims) setSpeeds(j int, speeds []float64) {
	if c.own == nil && speeds != nil {
		c.own = make([][]float64, len(c.of))
	}
	if c.own != nil {
		c.own[j] = speeds
	}
}

// claimsOf returns the claims of requests.
func claimsOf(jobs []Request) claims {
	c := claims{of: make([]claim, len(jobs))}
	for j := range jobs {
		r := &jobs[j]
		c.of[j] = claim{priority: r.Priority, due: due(r.Deadline), work: r.Work, maxWorkers: r.maxWorkers()}
		c.setSpeeds(j, r.Speeds)
	}
	return c
}

// maxWorkers returns the number of workers that the job can use.
func (r *Request) maxWorkers() int {
	if r.MaxWorkers > 0 {
		return min(r.Tasks, r.MaxWorkers)
	}
	return r.Tasks
}

// sorted returns the numbers of all jobs in order.
func (c *claims) sorted(compare func(a, b int) int) []int {
	jobs := make([]int, len(c.of))
	for j := range jobs {
		jobs[j] = j
	}
	slices.SortFunc(jobs, compare)
	return jobs
}

// moreUrgent compares jobs by priority; ties are broken by submission, then by number.
func (c *claims) moreUrgent(a, b int) int {
	if x, y := c.of[a].priority, c.of[b].priority; x != y {
		return orderOf(x > y)
	}
	return c.older(a, b)
}

// dueEarlier compares jobs by deadline; ties are broken in the same way.
func (c *claims) dueEarlier(a, b int) int {
	if x, y := c.of[a].due, c.of[b].due; x != y {
		return orderOf(x < y)
	}
	return c.older(a, b)
}

func (c *claims) older(a, b int) int {
	if x, y := c.of[a].submit, c.of[b].submit; x != y {
		return orderOf(x < y)
	}
	return a - b
}

// orderOf returns -1 if the first of two items comes first, and 1 otherwise.
func orderOf(isFirst bool) int {
	if isFirst {
		return -1
	}
	return 1
}
