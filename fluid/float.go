package fluid

import (
	"context"
	"math"

	"productform/fluid/internal/prices"
	"productform/internal/input"
	"productform/num"
)

// rounding is the amount, in addition to the residual, by which float64 sums may miss a utilization
// of 1.
const rounding = 1e-12

// allocateFloat computes an allocation in float64. The residual is that of the returned numbers, as
// [problem.residual] defines it. Under proportional fairness it is that of the prices, which
// includes the condition that a resource with a positive price is saturated.
func allocateFloat(ctx context.Context, e *Profiles, m method) (*Allocation, error) {
	p, err := newProblem(e, m.other)
	if err != nil {
		return nil, err
	}
	count, share := e.counts(), make([]float64, p.rows)
	k := m.kernel(p)
	if err := k.Shares(ctx, count, share); err != nil {
		return nil, err
	}
	a := newAllocation(e, m.policy, num.Float)
	for i, s := range share {
		tasks := s / p.dominant[i]
		if !(tasks > 0 && tasks <= math.MaxFloat64) {
			return nil, input.Errorf(
				indexed("jobs", i)+".tasks", tasks, "demands and capacities within the range of float64",
			)
		}
		a.Jobs[i].Tasks, a.Jobs[i].DominantShare = num.Value{Float: tasks}, num.Value{Float: s}
	}
	used := p.utilization(count, share)
	if pf, ok := k.(*prices.Solver); ok {
		a.Residual = pf.Residual
		for j, price := range pf.Price {
			a.Resources[j].Price = &price
		}
	} else {
		a.Residual = p.residual(m, count, share, used, make([]float64, p.rows))
	}
	for j, u := range used {
		a.Resources[j].Utilization = num.Value{Float: u}
		a.Resources[j].Saturated = u >= 1-a.Residual-rounding
	}
	return a, nil
}
