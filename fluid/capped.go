package fluid

import (
	"context"
	"math"
	"slices"

	"productform/fluid/internal/prices"
	"productform/internal/input"
)

// A capped applies limits that change with the counts to the kernel of a policy that ignores
// limits: proportional and bottleneck max fairness. As in [Profiles.withLimits], an exceeded limit
// becomes a separate resource, here one per row: its jobs use 1/(n_i l_i) of it for each unit of
// their dominant share. While no limit is reached it allocates no memory.
type capped struct {
	method  method
	problem *problem
	free    kernel // kernel without limits
	last    kernel // kernel of the last allocation
	taken   []int  // rows whose limits are resources
}

// limitTol is the relative amount by which a limit may be exceeded, since the limit may equal the
// share without it.
const limitTol = 1e-12

func newCapped(m method, p *problem) kernel {
	free := m.kernel(p)
	return &capped{method: m, problem: p, free: free, last: free}
}

func (c *capped) Forget() { c.free.Forget() }

// Shares writes the dominant shares. The error is that of the kernel, or an *[num.InputError] if
// too many limits are reached.
func (c *capped) Shares(ctx context.Context, count, share []float64) error {
	c.last, c.taken = c.free, c.taken[:0]
	for {
		if err := c.last.Shares(ctx, count, share); err != nil {
			return err
		}
		before := len(c.taken)
		for i, l := range c.problem.limit {
			if count[i] > 0 && share[i] > l*(1+limitTol) && !slices.Contains(c.taken, i) {
				c.taken = append(c.taken, i)
			}
		}
		switch {
		case len(c.taken) == before:
			return nil
		case len(c.taken) > mostLimits:
			return input.Errorf("jobs", len(c.taken),
				"at most %d limits of tasks that are reached under pf and bmf, or the policy drf or maxmin",
				mostLimits)
		}
		extended, err := c.extended(count)
		if err != nil {
			return err
		}
		c.last = c.method.kernel(extended)
	}
}

// extended returns the problem with one more resource for the limit of each row in c.taken.
func (c *capped) extended(count []float64) (*problem, error) {
	x := *c.problem
	x.need, x.limit = slices.Clip(x.need), nil
	for _, i := range c.taken {
		own := make([]float64, x.rows)
		own[i] = 1 / (count[i] * c.problem.limit[i])
		if !InRange(own[i]) {
			return nil, input.Errorf(indexed("jobs", i)+".max_tasks",
				own[i], "a limit with a fraction of the resources in [%g, %g]",
				LeastFloat, MostFloat)
		}
		x.need = append(x.need, own)
	}
	x.resources = len(x.need)
	return &x, nil
}

// residualOf returns the residual of the last allocation according to the kernel; ok is false if
// the kernel does not compute it.
func residualOf(k kernel) (residual float64, ok bool) {
	switch k := k.(type) {
	case *prices.Solver:
		return k.Residual, true
	case *capped:
		return residualOf(k.last)
	}
	return math.NaN(), false
}
