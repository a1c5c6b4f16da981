package audit

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

// A Report lists the properties of an allocation, with a witness for each property that it lacks.
// [Audit] defines the comparisons.
type Report struct {
	Utilization  []*big.Rat `json:"-"` // Σ_i n_i φ_i a_ij of each resource, with n_i jobs in row i
	Saturated    []int      `json:"-"` // resources whose utilization is 1 or more
	AtLimit      []int      `json:"-"` // rows that run as many tasks as they can, or more
	NoBottleneck []int      `json:"-"` // rows not at their limit that have no bottleneck; none under [fluid.BMF]

	// Bottlenecks of each row are the saturated resources of which no row has a larger fraction by
	// weight, φ_i a_ij/w_i.
	Bottlenecks [][]int `json:"-"`

	// Overload is nil if no resource is overloaded, and OverLimit if no job runs more tasks than it
	// can. An allocation with neither is feasible.
	Overload  *Overload  `json:"overload"`
	Growth    *Growth    `json:"growth"`    // nil if it is Pareto efficient
	Shortfall *Shortfall `json:"shortfall"` // nil if it gives a sharing incentive
	Envy      *Envy      `json:"envy"`      // nil if no job envies another
	OverLimit *OverLimit `json:"over_limit"`
}

// An Overload is the resource with the largest utilization, above 1.
type Overload struct {
	Resource    int      `json:"resource"`               // row of the pool's resources
	Utilization *big.Rat `json:"utilization" beside:"1"` // > 1
}

// An OverLimit is the job that runs more tasks than it can by the largest factor.
type OverLimit struct {
	Job   int      `json:"job"`                  // row of Pool.Jobs
	Tasks *big.Rat `json:"tasks" beside:"1"`     // φ_i
	Limit *big.Rat `json:"max_tasks" beside:"1"` // L_i
}

// A Shortfall is a job that gets less than if the resources were split by weight: the one whose
// dominant share is the smallest fraction of Split.
type Shortfall struct {
	Job   int      `json:"job"`                       // row of Pool.Jobs
	Share *big.Rat `json:"dominant_share" beside:"1"` // φ_i d_i

	// Split is w_i / Σ_k n_k w_k, the dominant share that the job would reach with this fraction of
	// every resource, or the one at its limit.
	Split *big.Rat `json:"split" beside:"1"`
}

// Audit checks an allocation of tasks[i] = φ_i >= 0 tasks to each job of row i for these faults:
//
//	feasible            Σ_i n_i φ_i a_ij <= 1 for every resource j, and no job runs more tasks than it can
//	Pareto efficient    no job can run more tasks unless another runs fewer
//	sharing incentive   φ_i d_i >= w_i / Σ_k n_k w_k: no job would run more with the fraction of every resource
//	                    that its weight gives it
//	envy-free           no job would run more with what another job holds, scaled by their weights
//
// A limit on tasks counts as a resource of that job alone: at its limit a job cannot grow and
// envies no other job, and no share of the resources would let it run more.
//
// A number x counts as more than y if x > (1 + tol) y, with tol in [0, 1). A nil tol means 0, which
// suits exact allocations; [fluid.Allocation.Tolerance] suits all. If the allocation is not
// feasible, the other properties are still computed from the numbers. Audit computes in fractions.
// If these would take more than about a second and tol is at least 2^-49, it uses fractions of 128
// bits, with the same conclusions. The numbers in the report are then within a factor 1 ± 2^-99,
// except Growth, in which 1 - u_j loses digits to cancellation. If several witnesses are nearly
// equal, it may name any of them. For 1000 rows and 8 resources with numbers from float64 it then
// takes 0.1 s, and several seconds with tol = 0.
//
// The error is that of [fluid.Pool.Check], or an *[num.InputError] for the tasks or tol.
func Audit(ctx context.Context, p *fluid.Pool, tasks []*big.Rat, tol *big.Rat) (*Report, error) {
	if err := checkTasks(p, tasks); err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	more := new(big.Rat).Set(one)
	if tol != nil {
		if tol.Sign() < 0 || tol.Cmp(one) >= 0 {
			return nil, input.Errorf("tol", tol.RatString(), "a number in [0, 1)")
		}
		more.Add(more, tol)
	}
	e := fluid.NewProfiles(p)
	if auditSeconds(e, tasks) > secondsAllowed {
		if r, err := roundedReport(ctx, e, tasks, more); r != nil || err != nil {
			return r, err
		}
	}
	return newHoldings(e, tasks).report(ctx, more)
}

// roundedReport returns the report from rounded numbers, nil if rounding might change its
// conclusions: comparisons with tolerances that are larger and smaller by slightly more than the
// rounding must agree.
func roundedReport(ctx context.Context, e *fluid.Profiles, tasks []*big.Rat, more *big.Rat) (*Report, error) {
	off := new(big.Rat).SetFloat64(roundedError)
	low, high := new(big.Rat).Sub(more, off), new(big.Rat).Add(more, off)
	// equal numbers, as in exact allocations, would be indistinguishable
	if low.Cmp(new(big.Rat).SetFloat64(1+0x1p-50)) < 0 {
		return nil, nil
	}
	h := newHoldings(rounded(e), roundDown(tasks))
	r, err := h.report(ctx, high)
	if err != nil {
		return nil, err
	}
	if other, err := h.report(ctx, low); err != nil || !r.agreesWith(other) {
		return nil, err
	}
	return r, nil // its witnesses certainly exceed the tolerance
}

// report implements [Audit] for checked numbers: x is more than y if x > more y, where more >= 1.
// For each entry of the demands it takes a few products of a long integer (tasks over their common
// denominator) and a short fraction. It also sorts each resource and makes at most n² J comparisons
// of indices.
//
// A job with a bottleneck has the last three properties. Let j be a bottleneck of job i in a
// feasible allocation. Since j is saturated, i cannot grow unless another job gives up some of j.
// Since φ_i a_ij/w_i is the largest there and Σ_k n_k w_k (φ_k a_kj/w_k) = 1, it is at least 1/Σ_k
// n_k w_k, and d_i >= a_ij. And i envies no job, because no job holds more of j by weight.
//
// Proportional fairness is the competitive equilibrium of incomes w_i at the prices p_j, and thus
// has all of these properties; so does dominant resource fairness. Max-min fairness of tasks is
// only Pareto efficient. Balanced fairness may be inefficient but has the other two properties. For
// with Φ of a set S of jobs, φ_i = Φ(S-i)/Φ(S), induction on the n jobs of S gives Φ(S) <= n d_i
// Φ(S-i): on every resource a_ij Φ(S-i) + Σ_{k≠i} a_kj Φ(S-k) is at most d_i Φ(S-i) + (n-1) d_i
// Σ_{k≠i} a_kj Φ(S-i-k), and the last sum is at most Φ(S-i). And if a_kj >= r a_ij for all j, then
// Φ(S-i) >= r Φ(S-k), since Φ grows with each profile and in proportion to it. Hence φ_i >= r φ_k,
// so there is no envy.
//
// Let e be the relative error of the tasks, at most 1/3. Then every fault in the report with more =
// 1 + 3e is a fault of the exact allocation with more = 1: utilizations are off by a factor within
// 1 ± e, and ratios of two fractions by a factor of at most (1 + e)/(1 - e) <= 1 + 3e.
func (h *holdings) report(ctx context.Context, more *big.Rat) (*Report, error) {
	one := big.NewRat(1, 1)
	r := &Report{Utilization: h.utilization(), Bottlenecks: make([][]int, len(h.number))}
	saturated := make([]bool, len(r.Utilization))
	for j, u := range r.Utilization {
		if saturated[j] = !exceeds(one, u, more); saturated[j] {
			r.Saturated = append(r.Saturated, j)
		}
		if exceeds(u, one, more) && (r.Overload == nil || u.Cmp(r.Overload.Utilization) > 0) {
			r.Overload = &Overload{j, u}
		}
	}
	atLimit := make([]bool, len(h.number))
	var most *big.Rat
	for i, l := range h.Limit {
		if l == nil {
			continue
		}
		share := new(big.Rat).Mul(h.share[i], h.unit)
		if atLimit[i] = !exceeds(l, share, more); atLimit[i] {
			r.AtLimit = append(r.AtLimit, i)
		}
		if ratio := new(big.Rat).Quo(share, l); exceeds(share, l, more) && (most == nil || ratio.Cmp(most) > 0) {
			most, r.OverLimit = ratio, &OverLimit{i, h.tasks[i], new(big.Rat).Quo(l, h.Dominant[i])}
		}
	}
	order, err := newPartOrders(ctx, h, more)
	if err != nil {
		return nil, err
	}
	for i := range h.number {
		for j := range saturated {
			if saturated[j] && order[j].above[i] == len(h.number) {
				r.Bottlenecks[i] = append(r.Bottlenecks[i], j)
			}
		}
		if r.Bottlenecks[i] == nil && !atLimit[i] {
			r.NoBottleneck = append(r.NoBottleneck, i)
		}
	}
	r.Growth = h.growth(r.Utilization, saturated, atLimit)
	r.Shortfall = h.shortfall(more)
	r.Envy, err = h.envy(ctx, order, atLimit)
	return r, err
}

// agreesWith reports whether two reports have the same conclusions. Each comparison is monotone in
// the tolerance, so a report with a tolerance in between also has them.
func (r *Report) agreesWith(s *Report) bool {
	return slices.Equal(r.Saturated, s.Saturated) && slices.Equal(r.AtLimit, s.AtLimit) &&
		(r.OverLimit == nil) == (s.OverLimit == nil) && slices.EqualFunc(r.Bottlenecks, s.Bottlenecks, slices.Equal) &&
		(r.Overload == nil) == (s.Overload == nil) && (r.Shortfall == nil) == (s.Shortfall == nil) &&
		(r.Envy == nil) == (s.Envy == nil)
}

// auditSeconds estimates the time of sums over the rows of φ_i a_ij and of φ_i d_i/w_i, as
// [num.SumSeconds] does.
func auditSeconds(e *fluid.Profiles, tasks []*big.Rat) float64 {
	n, resources := len(e.Need), len(e.Need[0])
	bits := 0.
	for j := range resources {
		bits = max(
			bits, num.CommonBits(n, func(i int) *big.Rat { return new(big.Rat).Mul(e.Need[i][j], e.Dominant[i]) }),
		)
	}
	bits += num.CommonBits(n, func(i int) *big.Rat { return new(big.Rat).Quo(e.Dominant[i], e.Weight[i]) })
	bits += num.CommonBits(n, func(i int) *big.Rat { return tasks[i] })
	return num.SumSeconds(n, resources, bits)
}

// checkTasks checks the pool, and that there is one tasks[i] >= 0 per row.
func checkTasks(p *fluid.Pool, tasks []*big.Rat) error {
	if err := p.Check(); err != nil {
		return err
	}
	if len(tasks) != len(p.Jobs) {
		return input.Errorf("tasks", fmt.Sprintf("%d numbers", len(tasks)), "%d numbers, one for each row of jobs",
			len(p.Jobs))
	}
	for i, x := range tasks {
		if x == nil {
			return input.Errorf(input.Index("tasks", i), "", input.Nonnegative)
		}
		if x.Sign() < 0 {
			return input.Errorf(input.Index("tasks", i), x.RatString(), input.Nonnegative)
		}
	}
	return nil
}

// holdings holds the fractions of the resources that jobs hold under an allocation.
type holdings struct {
	*fluid.Profiles
	tasks  []*big.Rat   // φ_i
	number []*big.Rat   // φ_i/unit, as integers
	unit   *big.Rat     // 1 over the common denominator of the tasks, which may be long
	share  []*big.Rat   // φ_i d_i/unit
	part   [][]*big.Rat // a_ij/w_i, at [i][j]; number[i] part[i][j] unit is the holding of a job by weight
	total  *big.Rat     // Σ_i n_i w_i
}

func newHoldings(e *fluid.Profiles, tasks []*big.Rat) *holdings {
	h := &holdings{Profiles: e, tasks: tasks}
	h.number, h.unit = num.OverCommon(tasks)
	weights := make([]*big.Rat, len(tasks))
	for i, x := range h.number {
		scale := new(big.Rat).Quo(e.Dominant[i], e.Weight[i])
		part := make([]*big.Rat, len(e.Need[i]))
		for j, a := range e.Need[i] {
			part[j] = new(big.Rat).Mul(scale, a)
		}
		h.share, h.part = append(h.share, new(big.Rat).Mul(x, e.Dominant[i])), append(h.part, part)
		weights[i] = new(big.Rat).Mul(e.Count[i], e.Weight[i])
	}
	h.total = num.SumRats(weights)
	return h
}

// limitOf returns the largest dominant share of row i, nil if there is no limit.
func (h *holdings) limitOf(i int) *big.Rat {
	if h.Limit == nil {
		return nil
	}
	return h.Limit[i]
}

// utilization returns Σ_i n_i φ_i a_ij of each resource.
func (h *holdings) utilization() []*big.Rat {
	used := make([]*big.Rat, len(h.Need[0]))
	held := make([]*big.Rat, len(h.number))
	for j := range used {
		for i, x := range h.number {
			held[i] = new(big.Rat).Mul(h.Need[i][j], h.Dominant[i]) // a_ij has a shorter denominator than a_ij/d_i
			held[i].Mul(held[i], h.Count[i])
			held[i].Mul(held[i], x)
		}
		used[j] = num.SumRats(held)
		used[j].Mul(used[j], h.unit)
	}
	return used
}

// shortfall returns the job with the smallest ratio of φ_i d_i to the share that it would have with
// its fraction of the resources, w_i/Σ_k n_k w_k or its limit if that is smaller; nil unless that
// share exceeds φ_i d_i by the factor more.
func (h *holdings) shortfall(more *big.Rat) *Shortfall {
	var least *big.Rat
	at := 0
	for i := range h.share {
		part := h.Weight[i]
		if l := h.limitOf(i); l != nil {
			if most := new(big.Rat).Mul(l, h.total); most.Cmp(part) < 0 {
				part = most
			}
		}
		if x := new(big.Rat).Quo(h.share[i], part); least == nil || x.Cmp(least) < 0 {
			least, at = x, i
		}
	}
	share, split := new(big.Rat).Mul(h.share[at], h.unit), new(big.Rat).Quo(h.Weight[at], h.total)
	if l := h.limitOf(at); l != nil && l.Cmp(split) < 0 {
		split = l
	}
	if !exceeds(split, share, more) {
		return nil
	}
	return &Shortfall{at, share, split}
}

// exceeds reports whether x > more y.
func exceeds(x, y, more *big.Rat) bool {
	if x.Cmp(y) <= 0 {
		return false
	}
	if more.IsInt() { // more < 2, so it is 1
		return true
	}
	return x.Cmp(new(big.Rat).Mul(more, y)) > 0
}
