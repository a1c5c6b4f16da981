package fluid

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"strconv"

	"productform/internal/input"
	"productform/num"
)

// Settings tunes [Allocate]. The zero value means a tolerance of [num.DefaultRelTol].
//
// The engine Exact supports all policies except proportional fairness, whose shares are irrational
// in general; Enclose supports only that policy. Float has a residual but no proof; see
// Allocation.Residual. Auto takes Exact or Enclose, depending on the policy, or Float if that takes
// too long.
type Settings struct {
	Engine num.Engine // "" means Auto

	// RelTol is the relative width of the bounds, in [1e-300, 1), where Enclose gives the answer;
	// it has no effect on Exact and Float. 0 means [num.DefaultRelTol].
	RelTol float64
}

// An Allocation holds the share of every job and the accuracy of the numbers.
type Allocation struct {
	Policy    Policy               `json:"policy"`
	Engine    num.Engine           `json:"engine"` // the engine that gave the numbers: Float, Enclose or Exact
	Jobs      []JobAllocation      `json:"jobs"`
	Resources []ResourceAllocation `json:"resources"`

	// Residual is the largest violation of the conditions that define the policy, each divided by
	// the size of its terms; 0 if the numbers are exact. It is a backward error: it measures the
	// conditions, not the numbers. With the engine Float the tasks of row i can be off by a factor
	// of 1 ± sqrt(2 (Residual + 1e-15) M/m_i) under proportional fairness, with m_i the count of
	// the row times its weight and M = Σ_i m_i. That is a large factor if the m_i differ by ten
	// orders of magnitude, even if the residual is 1e-16. Under DRF and MaxMin the relative error
	// is about 1e-14 divided by the fraction that the row uses of the resource that limits it.
	// Under BMF it can be larger, as for any system of equations.
	Residual float64 `json:"residual"`

	// RelativeErrorBound is a proved bound for the Float of every number except prices and
	// utilizations below 2^-1022: the largest relative width of the bounds Low and High, plus
	// 2^-53. It is 0 if the numbers are exact fractions, of which Float is the nearest; nil with
	// the engine Float.
	RelativeErrorBound *float64 `json:"relative_error_bound"`
}

// A JobAllocation holds the share of one job of a row.
type JobAllocation struct {
	Name             string    `json:"name" title:"job"`  // as in Pool.Jobs
	Count            int       `json:"count,omitempty"`   // number of jobs in the row; 0 if no row has several
	Tasks            num.Value `json:"tasks"`             // φ_i
	DominantShare    num.Value `json:"dominant_share"`    // φ_i d_i
	DominantResource string    `json:"dominant_resource"` // its name; the first if several are equal
}

// A ResourceAllocation reports the use of a resource.
type ResourceAllocation struct {
	Name string `json:"name" title:"resource"` // as in Pool.Resources

	// Utilization is Σ_i φ_i a_ij, in [0, 1]; with the engine Float it can exceed 1 by the residual
	// and rounding. Below 2^-1022, Float lacks digits that Exact, Low and High have.
	Utilization num.Value `json:"utilization"`

	// Saturated reports whether the resource is fully used. With the engine Exact, the utilization
	// is then exactly 1; with Enclose, its upper bound is at least 1; with Float, it is at least
	// 1 - Residual - 1e-12. Every resource with a positive price is saturated; a resource that is
	// just full may be missed if the errors described at Residual put it below the threshold.
	Saturated bool `json:"saturated"`

	// Price is p_j under proportional fairness, nil otherwise: the increase of Σ_i w_i log φ_i per
	// additional unit of the normalized capacity. If several price vectors give the same
	// allocation, it belongs to one of them. No engine bounds its error.
	Price *float64 `json:"price"`
}

// exactSize is the number of rows times resources up to which Auto computes without rounding, if
// that takes at most exactSeconds.
const exactSize = 100_000

// Allocate computes the allocation of a policy. Dominant resource, max-min, bottleneck max and
// balanced fairness are rational and computed as fractions; proportional fairness is enclosed to
// the tolerance. Auto takes Float if rows times resources are more than 100,000, or if fractions
// would take more than about a second, estimated from the bits of their common denominators. That
// happens beyond about a hundred rows if all numbers come from float64, about a thousand rows of
// short decimals, and a few rows of numbers with thousands of digits. For three or more resources
// there are rarely several bottleneck max fair allocations. The choice depends neither on the order
// of rows nor on units, except for ties.
//
// The error wraps an *[num.InputError] for a bad pool or setting; for balanced fairness also if
// weights differ, or if there are too many states below the counts: Π_i (x_i + 1) over the
// different profiles. Other errors occur if float64 cannot meet the conditions of a policy to 1e-9,
// if more than 300 different limits are reached under pf and bmf, or if the bounds do not reach the
// tolerance.
func Allocate(ctx context.Context, p *Pool, policy Policy, s Settings) (*Allocation, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := policy.Check("policy"); err != nil {
		return nil, err
	}
	s.RelTol = cmp.Or(s.RelTol, num.DefaultRelTol)
	if !(s.RelTol >= 1e-300 && s.RelTol < 1) {
		return nil, input.Errorf("RelTol", s.RelTol, "a number in [1e-300, 1)")
	}
	switch {
	case !slices.Contains([]num.Engine{"", num.Auto, num.Float, num.Enclose, num.Exact}, s.Engine):
		return nil, input.Errorf("Engine", strconv.Quote(string(s.Engine)), "auto, float, enclose or exact")
	case s.Engine == num.Enclose && policy != PF:
		return nil, input.Errorf("Engine", num.Enclose, "auto, float or exact: the policy %s is rational", policy)
	case s.Engine == num.Exact && policy == PF:
		return nil, input.Errorf(
			"Engine", num.Exact, "auto, float or enclose: proportional fairness is irrational in general",
		)
	}
	e, m := NewProfiles(p), policy.method()
	solve := func(ctx context.Context, e *Profiles) (*Allocation, error) { return allocate(ctx, e, m, s) }
	if e.Limit != nil && !m.limits {
		bare := solve
		solve = func(ctx context.Context, e *Profiles) (*Allocation, error) { return e.withLimits(ctx, bare) }
	}
	a, err := solve(ctx, e)
	if err != nil {
		return nil, err
	}
	a.nameRows(p, e.Top)
	return a, nil
}

// nameRows fills in the names and counts of the rows, given the dominant resource of each job.
func (a *Allocation) nameRows(p *Pool, top []int) {
	several := slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Size() > 1 })
	for i, job := range p.Jobs {
		a.Jobs[i].Name, a.Jobs[i].DominantResource = job.Name, p.Resources[top[i]].Name
		if several {
			a.Jobs[i].Count = job.Size()
		}
	}
	for j, r := range p.Resources {
		a.Resources[j].Name = r.Name
	}
}

// allocate is [Allocate] for checked input.
func allocate(ctx context.Context, e *Profiles, m method, s Settings) (*Allocation, error) {
	size := len(e.Need) * len(e.Need[0])
	switch s.Engine {
	case num.Float:
		return allocateFloat(ctx, e, m)
	case num.Enclose:
		return allocateEnclosed(ctx, e, s.RelTol)
	case num.Exact:
		return allocateExact(ctx, e, m)
	}
	switch {
	case m.policy == PF && size <= exactSize:
		return allocateEnclosed(ctx, e, s.RelTol)
	case m.exact != nil && size <= exactSize && m.seconds(e) <= exactSeconds:
		if a, err := allocateExact(ctx, e, m); err == nil || ctx.Err() != nil || m.always {
			return a, err
		} // too many states for fractions, or no certified bottleneck allocation: float64 may still have an answer
	}
	return allocateFloat(ctx, e, m)
}

func allocateExact(ctx context.Context, e *Profiles, m method) (*Allocation, error) {
	shares, err := m.exact(e, ctx)
	if err != nil {
		return nil, err
	}
	a := newAllocation(e, m.policy, num.Exact)
	a.RelativeErrorBound = new(float64)
	for i, share := range shares {
		tasks := new(big.Rat).Quo(share, e.Dominant[i])
		if a.Jobs[i].Tasks, err = ExactValue(indexed("jobs", i)+".tasks", tasks); err != nil {
			return nil, err
		}
		if a.Jobs[i].DominantShare, err = ExactValue(indexed("jobs", i)+".dominant_share", share); err != nil {
			return nil, err
		}
	}
	for j, used := range e.used(shares) {
		if a.Resources[j].Utilization, err = ExactValue(indexed("resources", j)+".utilization", used); err != nil {
			return nil, err
		}
		a.Resources[j].Saturated = used.Cmp(big.NewRat(1, 1)) == 0
	}
	return a, nil
}

// ExactValue returns a fraction with its nearest float64. It returns an error if that is infinite,
// or 0 although the fraction is not.
func ExactValue(path string, x *big.Rat) (num.Value, error) {
	f, _ := x.Float64()
	if math.IsInf(f, 0) || f == 0 && x.Sign() != 0 {
		return num.Value{}, input.Errorf(
			path, "a fraction beyond the range of float64", "demands and capacities within it",
		)
	}
	return num.Value{Float: f, Exact: x}, nil
}

// newAllocation returns an allocation without numbers.
func newAllocation(e *Profiles, policy Policy, engine num.Engine) *Allocation {
	return &Allocation{
		Policy: policy, Engine: engine,
		Jobs: make([]JobAllocation, len(e.Need)), Resources: make([]ResourceAllocation, len(e.Need[0])),
	}
}

// TaskFractions returns the tasks of one job of each row in the form that audit.Audit and
// audit.Indices take: exact if the allocation is exact, and otherwise Float as a fraction, whose
// relative error is at most RelativeErrorBound if that is not nil.
func (a *Allocation) TaskFractions() []*big.Rat {
	tasks := make([]*big.Rat, len(a.Jobs))
	for i, job := range a.Jobs {
		if job.Tasks.Exact != nil {
			tasks[i] = new(big.Rat).Set(job.Tasks.Exact)
		} else {
			tasks[i] = new(big.Rat).SetFloat64(job.Tasks.Float)
		}
	}
	return tasks
}

// Tolerance returns the tolerance at which audit.Audit reports only violations of the policy
// itself: three times RelativeErrorBound, which is 0 if the allocation is exact. With the engine
// Float, which proves no bound, it is 1e-6, by experience.
func (a *Allocation) Tolerance() *big.Rat {
	if a.RelativeErrorBound == nil {
		return big.NewRat(1, 1_000_000)
	}
	three := big.NewRat(3, 1)
	return three.Mul(three, new(big.Rat).SetFloat64(*a.RelativeErrorBound))
}
