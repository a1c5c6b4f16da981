package plot

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/stability"
)

// A point is a load that is simulated.
type point struct {
	load   int // index of the factor
	policy int // index of the policy, of a pool
	result *sim.Result
}

const mostPoints = 8 // loads that are simulated

// plan returns the simulation of a cluster. Where classes differ in mean size theory is that of balanced fairness, otherwise jobs are
// served in order of arrival.
func (f *plotFlags) plan(q command.Query, m *cluster.Model) (*sim.Plan, error) {
	system := simcluster.Cluster{Model: m, Policy: simcluster.FCFS}
	if _, err := m.OneMeanSize(); err != nil {
		system.Policy = simcluster.ProcessorSharing
	}
	plan, err := command.WithProgress(q, func(ctx context.Context) (*sim.Plan, error) { return sim.NewPlan(ctx, system, f.settings) })
	return plan, command.SimulationError(f.binding, err, f.settings.Folder)
}

// simulate simulates what is drawn at some of the factors, of which plan returns the simulations.
func (f *plotFlags) simulate(q command.Query, factors []*big.Rat, plan func(k int) (*sim.Plan, error)) (points []point, err error) {
	for _, k := range plots.Evenly(len(factors), mostPoints) {
		plan, err := plan(k)
		if err != nil {
			return nil, err
		}
		result, _, err := command.Replicate(q.Ctx, plan, f.settings, q.Stderr)
		if err != nil {
			return nil, err
		}
		points = append(points, point{load: k, result: result})
	}
	return points, nil
}

// simulationCaption says how points were simulated, nothing if there are none.
func (f *plotFlags) simulationCaption(points []point) string {
	if points == nil {
		return ""
	}
	const defaultJumps = 1e6 // what sim.Settings take for 0
	s := f.settings
	text := fmt.Sprintf(" Points: simulation, %d runs of %g jumps", s.Runs, cmp.Or(s.Jumps, defaultJumps))
	switch {
	case s.WarmUp == sim.NoWarmUp:
		text += " without a warm-up"
	case s.WarmUp > 0:
		text += fmt.Sprintf(" after %g", s.WarmUp)
	default:
		text += " after as many"
	}
	return text + fmt.Sprintf(", seed %d; bars are intervals at confidence %g.", s.Seed, s.Confidence)
}

// plans returns the simulations of all points.
func (f *plotFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	s, err := f.source(q)
	if err != nil {
		return nil, err
	}
	if s.kind == trafficFile {
		return f.trafficPlans(q, s)
	}
	m, err := command.ReadModel(s.query)
	if err != nil {
		return nil, err
	}
	verdict, err := command.WithProgress(q, func(ctx context.Context) (*stability.Result, error) { return stability.Cluster(ctx, m) })
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	if verdict.CriticalScale == nil {
		fmt.Fprintln(q.Stderr, "pfq: note: a model without arrivals has no runs")
		return nil, nil
	}
	factors := f.loads(verdict.CriticalScale, fortieths)
	for _, k := range plots.Evenly(len(factors), mostPoints) {
		plan, err := f.plan(q, m.Scale(factors[k]))
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}
