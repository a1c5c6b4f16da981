package plan

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/num"
)

// A Sensitivity is the change of the minimized mean delay (of the class Problem.Minimize or of all
// jobs) with an option: the derivative at a plan with respect to the added capacity, times the
// capacity of a step.
type Sensitivity struct {
	Name    string     `json:"name"`                // name of the upgraded server, or of the new servers
	Option  int        `json:"-"`                   // row among the upgrades, then the new servers
	PerStep num.Value  `json:"mean_delay_per_step"` // <= 0, units of time
	PerCost *num.Value `json:"mean_delay_per_cost"` // divided by the cost of a step; nil if it costs nothing
}

// Sensitivities returns the sensitivities at a plan, starting with the options that gain most for
// their cost. They rank options and explain results, but prove nothing, since a step is not small.
//
// The error wraps [num.ErrUnstable] for a plan that leaves the cluster unstable; other errors are
// those of [Evaluate].
func Sensitivities(ctx context.Context, p *Problem, c Choice, s Settings) ([]Sensitivity, error) {
	in, s, err := begin(p, s)
	if err == nil {
		err = p.requireAll("pfq solve --gradients has those of one server per job")
	}
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	m := in.cluster(edges, steps)
	rows := make([]int, len(in.options)) // rows of the servers of the options
	for k, o := range in.options {
		switch rows[k] = o.server; {
		case o.server >= 0:
		case steps[k] > 0:
			rows[k] = slices.IndexFunc(m.Servers, func(s cluster.Server) bool { return s.Name == o.name })
		default: // a new server, so far of capacity 0
			rows[k] = len(m.Servers)
			m.Servers = append(m.Servers, cluster.Server{Name: o.name, Count: 1, Capacity: new(big.Rat)})
			for _, i := range in.usersOf(k, edges) {
				m.Classes[i].Servers = append(slices.Clone(m.Classes[i].Servers), cluster.Choice{
					Server: rows[k],
					Choose: 1,
				})
			}
		}
	}
	capacities, err := in.aimedGradient(ctx, m, bf.Settings{RelTol: s.RelTol, MaxBytes: s.MaxBytes})
	if err != nil {
		return nil, err
	}
	list := make([]Sensitivity, len(in.options))
	for k, o := range in.options {
		more := new(big.Rat).Set(o.capacity) // capacity of each server of the row
		if o.server < 0 {
			more.Quo(more, new(big.Rat).SetInt64(int64(m.Servers[rows[k]].Size())))
		}
		list[k] = Sensitivity{Name: o.name, Option: k, PerStep: capacities[rows[k]].Times(more)}
		if o.cost > 0 {
			v := list[k].PerStep.Times(new(big.Rat).Inv(in.rat(o.cost)))
			list[k].PerCost = &v
		}
	}
	perCost := func(x Sensitivity) float64 { // negative: the best options come first
		if x.PerCost == nil {
			return math.Inf(-1) // comes first, since it costs nothing
		}
		return x.PerCost.Float
	}
	slices.SortStableFunc(list, func(x, y Sensitivity) int { return cmp.Compare(perCost(x), perCost(y)) })
	return list, nil
}

// aimedGradient returns the derivatives of the minimized mean delay with respect to the capacity of
// each row of servers.
func (in *instance) aimedGradient(ctx context.Context, m *cluster.Model, s bf.Settings) ([]num.Value, error) {
	r, err := bf.Answer(ctx, m, bf.Question{Gradient: in.aim < 0, Gradients: in.aim >= 0}, s)
	if err != nil {
		return nil, err
	}
	if in.aim >= 0 {
		return r.Gradients.Classes[in.aim].MeanDelay.Capacities, nil
	}
	g := r.Gradient
	rate := new(big.Rat)
	for _, c := range m.Classes {
		rate.Add(rate, c.ArrivalRate)
	}
	rate.Inv(rate)
	capacities := make([]num.Value, len(g.Capacities))
	for row, v := range g.Capacities {
		capacities[row] = v.Times(rate)
	}
	return capacities, nil
}
