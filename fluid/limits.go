package fluid

import (
	"context"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// mostLimits is the maximum number of limits treated as resources: the work grows with their third
// power.
const mostLimits = 300

// withLimits computes an allocation with limits from the engine allocate, which ignores limits, for
// proportional and bottleneck max fairness. A limit becomes a separate resource that only this row
// demands, of which it uses the fraction s_i/limit_i: the maximum of Σ_i w_i log φ_i is then the
// maximum under the limits, and a row at its limit has its own resource as a bottleneck. Jobs are
// still measured by the dominant shares of the real resources. Rows with equal profiles and equal
// limits by weight get equal shares by weight and are treated as one row.
//
// Resources that an allocation does not need do not change it. So withLimits adds only exceeded
// limits, until no limit is exceeded. A limit that is not proved to be met counts as exceeded.
func (e *Profiles) withLimits(
	ctx context.Context, allocate func(context.Context, *Profiles) (*Allocation, error),
) (*Allocation, error) {
	group, rows := e.limitGroups()
	taken := make(map[int]bool)
	for {
		extended, err := e.extended(rows, taken)
		if err != nil {
			return nil, err
		}
		a, err := allocate(ctx, extended)
		if err != nil {
			return nil, err
		}
		more := false
		for i, job := range a.Jobs {
			if l := e.Limit[i]; l != nil && !taken[group[i]] && mayExceed(job.DominantShare, l) {
				taken[group[i]], more = true, true
			}
		}
		if !more {
			a.Resources = a.Resources[:len(e.Need[0])]
			return a, nil
		}
		if len(taken) > mostLimits {
			return nil, input.Errorf("jobs", len(taken),
				"at most %d different limits of tasks that are reached under pf and bmf, "+
					"or the policy drf or maxmin", mostLimits)
		}
	}
}

// mayExceed reports whether a dominant share is not proved to be at most the limit.
func mayExceed(share num.Value, limit *big.Rat) bool {
	switch {
	case share.Exact != nil:
		return share.Exact.Cmp(limit) > 0
	case share.High != nil:
		return share.High.Cmp(num.Down(share.High.Prec()).SetRat(limit)) > 0
	}
	return new(big.Rat).SetFloat64(share.Float).Cmp(limit) > 0
}

// limitGroups groups the rows with limits that get equal shares by weight: the group of each row,
// -1 without a limit, and the rows of each group.
func (e *Profiles) limitGroups() (group []int, rows [][]int) {
	class, _ := (&Profiles{Need: e.Need}).classes()
	type key struct {
		class int
		limit string
	}
	known := make(map[key]int)
	for i, l := range e.Limit {
		if l == nil {
			group = append(group, -1)
			continue
		}
		k := key{class[i], new(big.Rat).Quo(l, e.Weight[i]).RatString()}
		g, ok := known[k]
		if !ok {
			g = len(rows)
			known[k] = g
			rows = append(rows, nil)
		}
		group, rows[g] = append(group, g), append(rows[g], i)
	}
	return group, rows
}

// extended returns profiles without limits, with one more resource for each group taken.
func (e *Profiles) extended(rows [][]int, taken map[int]bool) (*Profiles, error) {
	x := *e
	x.Limit = nil
	x.Need = make([][]*big.Rat, len(e.Need))
	for i, need := range e.Need {
		x.Need[i] = need[:len(need):len(need)]
	}
	for g, members := range rows {
		if !taken[g] {
			continue
		}
		capacity := new(big.Rat) // Σ n_i l_i
		for _, i := range members {
			capacity.Add(capacity, new(big.Rat).Mul(e.Count[i], e.Limit[i]))
		}
		part := capacity.Inv(capacity)
		if f, _ := part.Float64(); !InRange(f) {
			return nil, input.Errorf(indexed("jobs", members[0])+".max_tasks",
				f, "a limit with a fraction of the resources in [%g, %g]",
				LeastFloat, MostFloat)
		}
		for i := range x.Need {
			x.Need[i] = append(x.Need[i], new(big.Rat))
		}
		for _, i := range members {
			x.Need[i][len(x.Need[i])-1] = part
		}
	}
	return &x, nil
}
