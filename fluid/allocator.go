package fluid

import (
	"context"
	"math"
	"slices"

	"productform/internal/input"
)

// An Allocator computes the allocations of one policy for changing numbers of jobs, in float64. It
// keeps its tables between calls and allocates no memory, unless limits on tasks are reached under
// [PF] or [BMF]. It must not be used by several goroutines at once.
type Allocator struct {
	method  method
	problem *problem
	kernel  kernel
	share   []float64 // scratch for the dominant shares of the rows
	used    []float64 // scratch for the utilization of the resources
	off     []float64 // scratch for the violation of each row
}

// A kernel implements a policy in float64.
type kernel interface {
	// Shares writes the dominant share of one job of each row while count[i] >= 0 jobs of row i are
	// present, 0 for rows without jobs. Some count must be positive. The call may start from the
	// state of the previous one, but not after Forget. It returns the error of the context once
	// that is done.
	Shares(ctx context.Context, count, share []float64) error
	Forget()
}

// NewAllocator returns an allocator for the jobs of a pool. It does not use the counts of the pool.
// The error is that of [Pool.Check], or an *[num.InputError] for an unknown policy or a number
// beyond the range of the kernels.
func NewAllocator(p *Pool, policy Policy) (*Allocator, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := policy.Check("policy"); err != nil {
		return nil, err
	}
	problem, err := newProblem(NewProfiles(p), "")
	if err != nil {
		return nil, err
	}
	a := &Allocator{
		method:  policy.method(),
		problem: problem,
		share:   make([]float64, problem.rows),
		used:    make([]float64, problem.resources),
		off:     make([]float64, problem.rows),
	}
	a.kernel = a.newKernel()
	return a, nil
}

// newKernel returns the kernel of the policy for the problem.
func (a *Allocator) newKernel() kernel {
	if a.problem.limit != nil && !a.method.limits {
		return newCapped(a.method, a.problem)
	}
	return a.method.kernel(a.problem)
}

// Tasks writes into tasks the number φ_i of tasks of one job of each row while count[i] jobs of row
// i are present, or 0 for rows without jobs. If it returns an error, all tasks are 0. Counts need
// not be integers, except for balanced fairness.
//
// [Allocation.Residual] describes the accuracy of the numbers. Proportional fairness starts from
// the prices of the previous call, which is faster if the counts are similar, unless some m_i =
// count[i] w_i is less than a millionth of their sum M. This usually moves tasks by about 1e-12. If
// prices depend on differences that float64 hardly represents, such as those of nearly equal
// profiles, it moves them by as much as two allocations of residual 1e-14 can differ, up to about
// 3e-7 sqrt(M/m_i). After [Allocator.Forget] the digits depend only on the counts.
//
// The error is an *[num.InputError] for counts that are not 0 or in [1e-100, 1e100], or for which
// digits would be lost to underflow: under bottleneck max fairness if there are two or more
// resources and Σ count_i weight_i over the rows of one profile is below 1e-280 times that of
// another. A different error is returned if the conditions of a policy are not met to 1e-9.
func (a *Allocator) Tasks(ctx context.Context, count, tasks []float64) error {
	err := a.tasks(ctx, count, tasks)
	if err != nil {
		clear(tasks)
	}
	return err
}

func (a *Allocator) tasks(ctx context.Context, count, tasks []float64) error {
	present := false
	if len(count) != a.problem.rows {
		return input.Errorf("count", len(count), "%d numbers, one for each row of jobs", a.problem.rows)
	}
	if len(tasks) != a.problem.rows {
		return input.Errorf("tasks", len(tasks), "room for %d numbers, one for each row of jobs", a.problem.rows)
	}
	for i, c := range count {
		if c != 0 && !(c >= 1e-100 && c <= 1e100) {
			return input.Errorf(indexed("count", i), c, "0, or a number in [1e-100, 1e100]")
		}
		present = present || c > 0
	}
	if !present {
		clear(tasks)
		return nil
	}
	if err := a.kernel.Shares(ctx, count, tasks); err != nil {
		return err
	}
	for i, d := range a.problem.dominant {
		tasks[i] /= d
		if count[i] > 0 && !(tasks[i] > 0 && tasks[i] <= math.MaxFloat64) {
			return input.Errorf(indexed("count", i), count[i], "numbers of tasks in the range of float64, not %v",
				tasks[i])
		}
	}
	return nil
}

// Forget discards the state of the previous call.
func (a *Allocator) Forget() { a.kernel.Forget() }

// Residual returns the residual of the last call, given its counts and tasks; see [Allocation].
func (a *Allocator) Residual(count, tasks []float64) float64 {
	if residual, ok := residualOf(a.kernel); ok {
		return residual
	}
	for i, d := range a.problem.dominant {
		a.share[i] = tasks[i] * d
	}
	a.problem.utilize(a.used, count, a.share)
	return a.problem.residual(a.method, count, a.share, a.used, a.off)
}

// Profile returns the fractions of the capacities that a task of row i takes.
func (a *Allocator) Profile(i int) []float64 {
	parts := a.problem.profile(i)
	for j := range parts {
		parts[j] *= a.problem.dominant[i]
	}
	return parts
}

// SetProfile changes the profile that row i declares: fractions of the capacities, one for each
// resource, nonnegative and not all 0, within the range of the kernels.
func (a *Allocator) SetProfile(i int, parts []float64) {
	p := a.problem
	dominant := slices.Max(parts)
	for j, part := range parts {
		p.need[j][i] = part / dominant
	}
	if p.limit != nil {
		p.limit[i] *= dominant / p.dominant[i]
	}
	p.dominant[i] = dominant
	p.speed[i] = p.weight[i] * dominant
	a.kernel = a.newKernel()
}
