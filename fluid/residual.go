package fluid

import (
	"math"

	"productform/num"
)

// utilization returns Σ_i count_i s_i b_ij of each resource for the dominant shares s.
func (p *problem) utilization(count, share []float64) []float64 {
	used := make([]float64, p.resources)
	p.utilize(used, count, share)
	return used
}

// utilize is [problem.utilization] into used.
func (p *problem) utilize(used, count, share []float64) {
	for j, need := range p.need {
		var sum num.Sum
		for i, b := range need {
			sum.Add(count[i] * share[i] * b)
		}
		used[j] = sum.Value()
	}
}

// residual returns how far dominant shares are from what defines a policy, 0 if they fulfil it to
// the last digit. All policies are charged with the largest utilization above 1; and
//
//	DRF, MaxMin  max_i min_j max(1 - used_j, 1 - l_i / max_k l_k) over the j that i needs and the k that need j,
//	             l_i = s_i/w_i and s_i/(w_i d_i),
//	BMF          the same with l_i = s_i b_ij / w_i: each job has a saturated resource of which its part is largest.
//
// A limit counts as a resource of the row alone, of which it uses s_i/limit_i.
//
// The kernel of BMF uses a separate residual, over its classes and without memory, to choose among
// its attempts. This one covers the rows returned and does not depend on how classes and resources
// were merged. For balanced fairness, whose recursion leaves nothing to compare with, it is the
// overload alone. It does not apply to proportional fairness, whose residual needs the prices. It
// overwrites off, which has a place for each row.
func (p *problem) residual(m method, count, share, used, off []float64) float64 {
	worst := 0.0
	for _, u := range used {
		worst = max(worst, u-1)
	}
	for i, l := range p.limit {
		worst = max(worst, share[i]/l-1)
	}
	if m.level == nil {
		return worst
	}
	level := func(i, j int) float64 { return m.level(p, share, i, j) }
	for i := range off { // min_j of each row
		off[i] = math.Inf(1)
		if p.limit != nil {
			off[i] = max(0, 1-share[i]/p.limit[i])
		}
	}
	for j, need := range p.need {
		top := 0.0
		for i, b := range need {
			if b > 0 && count[i] > 0 {
				top = max(top, level(i, j))
			}
		}
		for i, b := range need {
			if b > 0 && count[i] > 0 {
				off[i] = min(off[i], max(1-used[j], 1-level(i, j)/top))
			}
		}
	}
	for i, x := range off {
		if count[i] > 0 {
			worst = max(worst, x)
		}
	}
	return worst
}
