package network

import (
	"context"
	"math/big"
)

// ratios returns the number of visits to each visit of a chain: per cycle (closed), 1 at the
// reference, or per unit of time (open). They solve the traffic equations
//
//	v_b = a_b + Σ_a v_a P_ab,   a_b = arrivals at visit b per unit of time (0 if closed),
//
// in fractions, and are at [class][visit] for the classes of the chain.
func (m *Model) ratios(ctx context.Context, classes []int, closed bool) (map[int][]*big.Rat, error) {
	v := make(map[int][]*big.Rat, len(classes))
	if first := &m.Classes[classes[0]]; first.Visits[0].Count != nil {
		for _, visit := range first.Visits {
			x := visit.Count
			if !closed {
				x = new(big.Rat).Mul(x, first.ArrivalRate)
			}
			v[classes[0]] = append(v[classes[0]], x)
		}
		return v, nil
	}
	g := m.newVisitGraph(classes)
	flow := newTrafficFlow(len(g.visits) + 1) // the last node is the outside
	outside := len(g.visits)
	total := new(big.Rat)
	for a, at := range g.visits {
		for _, b := range m.Classes[at.Class].Visits[at.Visit].Next {
			switch {
			case b.Class == Leaves:
				flow.Add(a, outside, b.Probability)
			default:
				flow.Add(a, g.first[b.Class]+b.Visit, b.Probability)
			}
		}
	}
	for _, c := range classes {
		class := &m.Classes[c]
		if class.ArrivalRate == nil {
			continue
		}
		total.Add(total, class.ArrivalRate)
		if class.Arrives == nil {
			flow.Add(outside, g.first[c], class.ArrivalRate)
		}
		for _, b := range class.Arrives {
			flow.Add(outside, g.first[c]+b.Visit, new(big.Rat).Mul(b.Probability, class.ArrivalRate))
		}
	}
	reference := outside // with the flow 1, and arrivals for probabilities
	if closed {
		reference = g.first[classes[0]] + m.Classes[classes[0]].Reference
	}
	values, err := flow.Solve(ctx, reference)
	if err != nil {
		return nil, err
	}
	for a, at := range g.visits {
		v[at.Class] = append(v[at.Class], values[a])
	}
	return v, nil
}
