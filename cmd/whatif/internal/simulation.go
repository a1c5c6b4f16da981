package whatif

import (
	"context"
	"errors"
	"slices"

	"productform/cluster"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sweep"
)

// simulate simulates m with exponential sizes, first come, first served; jobs that run on one
// server take the one that has been idle longest. Each estimate has the value and name of pfq
// simulate with the same runs, jumps and seed; it is null or missing if too few jobs were
// simulated.
func simulate(ctx context.Context, m *cluster.Model, q Question, progress func(float64)) (render.Record, error) {
	exact, err := levelsOf(q.Percentiles)
	if err != nil {
		return nil, err
	}
	var levels []float64
	for _, v := range exact {
		level, _ := v.Float64()
		levels = append(levels, level)
	}
	if m.Service == cluster.Gang && m.LimitOfWork().IsExceeded() {
		return head(false), nil
	}
	plan, err := sim.NewPlan(
		ctx, simcluster.Cluster{Model: m}, sim.Settings{Runs: q.Runs, Jumps: q.Jumps, Seed: q.Seed, Levels: levels},
	)
	if errors.Is(err, num.ErrUnstable) {
		return head(false), nil
	}
	if err != nil {
		return nil, err
	}
	r, err := plan.Run(ctx, sweep.Settings{
		Progress: func(p sweep.Progress) { progress(float64(p.Done) / float64(p.Total)) },
	})
	if err != nil {
		return nil, err
	}
	classes, servers := make([]render.Record, len(r.Classes)), make([]render.Record, len(r.Servers))
	rows := map[sim.Kind][]render.Record{sim.OfClass: classes, sim.OfServer: servers}
	for _, m := range r.Measures {
		if of := rows[m.Kind]; of != nil && m.Estimate != nil {
			e := render.Record{}.Set("mean", m.Estimate.Mean, "").Set("half_width", m.Estimate.HalfWidth, "")
			of[m.Index] = of[m.Index].Set(m.Name, e, "")
		}
	}
	for i := range classes {
		quantile := func(k int) any {
			q := r.Quantile(sim.OfClass, i, levels[k])
			if q == nil {
				return nil
			}
			return render.Record{}.Set("estimate", q.Value, "").Set("low", q.Low, "").Set("high", q.High, "")
		}
		classes[i] = classes[i].Set("delay", named(q.Percentiles, quantile), "")
	}
	s := slices.Concat(head(true), render.Fields(r))
	return s.Set("classes", classes, "").Set("servers", servers, ""), nil
}
