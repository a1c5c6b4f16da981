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

// utilize writes [problem.utilization] into used.
func (p *problem) utilize(used, count, share []float64) {
	for j, need := range p.need {
		var sum num.Sum
		for i, b := range need {
			sum.Add(count[i] * share[i] * b)
		}
		used[j] = sum.Value()
	}
}

// residual returns how far dominant shares are from the definition of a policy, 0 if they satisfy
// it to the last digit. For all policies it includes the excess of the largest utilization over 1;
// in addition,
//
//	DRF, MaxMin  max_i min_j max(1 - used_j, 1 - l_i / max_k l_k) over the j that i needs and the k that need j,
//	             l_i = s_i/w_i and s_i/(w_i d_i),
//	BMF the same with l_i = s_i b_ij / w_i: each job has a saturated resource of which its fraction is largest.
//
// A limit counts as a resource of the row alone, of which it uses s_i/limit_i.
//
// The kernel of BMF chooses among its attempts by a separate residual, which covers its classes and
// needs no memory. This residual covers the returned rows and does not depend on how classes and
// resources were merged. For balanced fairness, whose recursion gives nothing to compare with, it
// is only the overload. It does not apply to proportional fairness, whose residual needs the
// prices. It overwrites off, which has one entry per row.
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
