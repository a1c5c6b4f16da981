package hb02

import (
	"context"
	"fmt"

	"productform/plots"
	"productform/sim"
	simfarm "productform/sim/farm"
	"productform/tags"
)

// A checkFarm is a TAGS farm that is simulated for the checks: jobs arrive at host 1 as a Poisson
// process, so the theory is exact there.
type checkFarm struct {
	panel     string // letter of the panel
	objective tags.Objective
	alpha     float64
	high      float64
	hosts     int
	load      float64

	theory tags.Result
	run    *plots.Simulation
}

// withCheckFarms returns a figure with check farms, which its caption and parameters describe.
func withCheckFarms(id, title string, farms []checkFarm,
	build func(context.Context, *plots.Figure, plots.RunWords) error) plots.Spec {
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		farms := append([]checkFarm{}, farms...)
		for k := range farms {
			if err := farms[k].simulate(ctx, p, e); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, f *plots.Figure) error {
			if err := build(ctx, f, farmRuns(p, e)); err != nil {
				return err
			}
			for k := range farms {
				f.Checks = append(f.Checks, farms[k].checks(id)...)
			}
			return nil
		}, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// simulate finds the cutoffs and adds the simulation to the plan.
func (q *checkFarm) simulate(ctx context.Context, p *plots.Plan, e plots.Effort) error {
	m, err := farm(q.alpha, q.high, q.hosts, q.load)
	if err != nil {
		return err
	}
	best, err := tags.Optimize(ctx, m, tags.PolicyTAGS, q.objective)
	if err != nil {
		return err
	}
	q.theory = best
	q.run, err = simulateFarm(
		ctx, p, q.name(), simfarm.Farm{Model: m, Policy: tags.PolicyTAGS, Cutoffs: best.Cutoffs}, e, e.CheckRuns,
	)
	return err
}

// name returns the name of the system, which does not depend on the figure.
func (q *checkFarm) name() string {
	policy := "TAGS-opt-slowdown"
	if q.objective.Waiting > 0 {
		policy = "TAGS-opt-waitingtime"
	}
	return fmt.Sprintf("%s, α = %g, p = %s, %d hosts, load %g", policy, q.alpha, plots.Power(q.high), q.hosts, q.load)
}

// checks compares the measures of host 1.
func (q *checkFarm) checks(id string) []plots.Check {
	host, seen := q.theory.Hosts[0], q.run.Result
	rows := []plots.Check{plots.SimulatedCheck(id+q.panel, "load of host 1, "+q.name(), host.Load.Float,
		seen.Estimate(simfarm.OfHost, 0, sim.Utilization), q.run.Name)}
	if v := seen.Estimate(simfarm.OfHost, 0, simfarm.VisitWaiting); v != nil {
		rows = append(rows, plots.SimulatedCheck(id+q.panel, "mean waiting time at host 1, "+q.name(),
			host.VisitWait.Float, v, q.run.Name))
	}
	if v := seen.Class(0, simfarm.MeanSlowdown); v != nil {
		rows = append(rows, plots.SimulatedCheck(id+q.panel, "mean slowdown of the jobs done at host 1, "+q.name(),
			host.Slowdown.Float, v, q.run.Name))
	}
	return rows
}

// simulateFarm adds the simulation of a farm, a tenth as long as simulations of clusters.
func simulateFarm(
	ctx context.Context, p *plots.Plan, name string, f simfarm.Farm, e plots.Effort, runs int,
) (*plots.Simulation, error) {
	return p.Simulate(ctx, name, f, e,
		sim.Settings{Runs: runs, Jumps: plots.Shorter(e.Jumps), WarmUp: plots.Shorter(e.WarmUp)})
}

// farmRuns describes the simulations of farms.
func farmRuns(p *plots.Plan, e plots.Effort) plots.RunWords {
	e.Jumps, e.WarmUp = plots.Shorter(e.Jumps), plots.Shorter(e.WarmUp)
	return p.RunWords(e, "arrivals, kills, ends of jobs")
}
