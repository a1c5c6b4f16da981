package dispatch

import (
	"math"
	"slices"
)

// claims are what a planner knows of jobs.
type claims struct {
	of  []claim     // by job
	own [][]float64 // by job: speeds of the workers at its tasks, nil if they are those of the workers; nil if all are

	present *workSum // the work of the jobs present; nil if it is not kept
}

// A claim is what all jobs have, and little, since plans go through all jobs present again and again.
type claim struct {
	priority, due, submit float64 // due is +Inf if there is no deadline
	work                  float64 // left
	most                  int     // workers that the job can use
}

// due returns a deadline, +Inf if there is none.
func due(deadline float64) float64 {
	if deadline == 0 {
		return math.Inf(1)
	}
	return deadline
}

// grow makes room for more jobs.
func (c *claims) grow(more int) {
	c.of = append(c.of, make([]claim, more)...)
	if c.own != nil {
		c.own = append(c.own, make([][]float64, more)...)
	}
}

// setSpeeds gives job j speeds of its own, or none.
func (c *claims) setSpeeds(j int, speeds []float64) {
	if c.own == nil && speeds != nil {
		c.own = make([][]float64, len(c.of))
	}
	if c.own != nil {
		c.own[j] = speeds
	}
}

// claimsOf returns those of requests.
func claimsOf(jobs []Request) claims {
	c := claims{of: make([]claim, len(jobs))}
	for j := range jobs {
		r := &jobs[j]
		c.of[j] = claim{priority: r.Priority, due: due(r.Deadline), work: r.Work, most: r.most()}
		c.setSpeeds(j, r.Speeds)
	}
	return c
}

// most returns the number of workers that the job can use.
func (r *Request) most() int {
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

// moreUrgent and dueEarlier are the orders of the policy; ties go by submission, then by number.
func (c *claims) moreUrgent(a, b int) int {
	if x, y := c.of[a].priority, c.of[b].priority; x != y {
		return side(x > y)
	}
	return c.older(a, b)
}

func (c *claims) dueEarlier(a, b int) int {
	if x, y := c.of[a].due, c.of[b].due; x != y {
		return side(x < y)
	}
	return c.older(a, b)
}

func (c *claims) older(a, b int) int {
	if x, y := c.of[a].submit, c.of[b].submit; x != y {
		return side(x < y)
	}
	return a - b
}

// side returns what a comparison does, as the one or the other is first.
func side(isFirst bool) int {
	if isFirst {
		return -1
	}
	return 1
}
