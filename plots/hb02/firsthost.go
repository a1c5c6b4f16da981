package hb02

import (
	"context"
	"fmt"

	"productform/plots"
	"productform/sim"
	"productform/tags"
)

// A probe is a farm with TAGS that is simulated for the checks: at host 1 jobs arrive as a Poisson process, so that the
// theory is exact.
type probe struct {
	panel     string // letter
	objective tags.Objective
	alpha     float64
	high      float64
	hosts     int
	load      float64

	theory tags.Result
	run    *plots.Simulation
}

// probed returns a figure that needs some probes, which are told of in its caption and parameters.
func probed(id, title string, probes []probe, build func(context.Context, *plots.Figure) error) plots.Spec {
	return plots.Spec{ID: id, Title: title, Prepare: func(e plots.Effort) (*plots.Plan, error) {
		p := &plots.Plan{}
		probes := append([]probe{}, probes...)
		for k := range probes {
			if err := probes[k].simulate(p, e); err != nil {
				return nil, err
			}
		}
		p.Build = func(ctx context.Context) (*plots.Figure, error) {
			f := &plots.Figure{ID: id, Title: title}
			if err := build(ctx, f); err != nil {
				return nil, err
			}
			for k := range probes {
				f.Checks = append(f.Checks, probes[k].checks(id)...)
			}
			f.Caption += fmt.Sprintf(" For the checks host 1, for which the theory is exact, is simulated at some α: %s.", farmEffort(e, e.CheckRuns))
			f.Parameters = append(append(f.Parameters, farmParameters(p, e)...),
				plots.Parameter{Name: "what is simulated", Value: "TAGS for the checks, of which host 1 alone counts: it keeps no job longer than s₁, while the largest jobs, at other hosts, are too rare to be seen"})
			return f, nil
		}
		return p, nil
	}}
}

// simulate finds the cutoffs and adds the simulation to the plan.
func (q *probe) simulate(p *plots.Plan, e plots.Effort) error {
	m, err := farm(q.alpha, q.high, q.hosts, q.load)
	if err != nil {
		return err
	}
	best, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, q.objective)
	if err != nil {
		return err
	}
	q.theory = best
	q.run, err = simulateFarm(p, q.name(), sim.Farm{Model: m, Policy: sim.TAGS, Cutoffs: best.Cutoffs}, e, e.CheckRuns)
	return err
}

// name names the system, whatever the figure.
func (q *probe) name() string {
	flavour := "TAGS-opt-slowdown"
	if q.objective.Waiting > 0 {
		flavour = "TAGS-opt-waitingtime"
	}
	return fmt.Sprintf("%s, α = %g, p = %s, %d hosts, load %g", flavour, q.alpha, plots.Power(q.high), q.hosts, q.load)
}

// checks compares what host 1 sees.
func (q *probe) checks(id string) []plots.Check {
	host, seen := q.theory.Hosts[0], q.run.Result
	rows := []plots.Check{plots.SimulatedCheck(id+q.panel, "load of host 1, "+q.name(), host.Load.Float, seen.Estimate(sim.OfHost, 0, sim.Utilization), q.run.Name)}
	if v := seen.Estimate(sim.OfHost, 0, sim.VisitWaiting); v != nil {
		rows = append(rows, plots.SimulatedCheck(id+q.panel, "mean waiting time at host 1, "+q.name(), host.VisitWait.Float, v, q.run.Name))
	}
	if v := seen.Class(0, sim.MeanSlowdown); v != nil {
		rows = append(rows, plots.SimulatedCheck(id+q.panel, "mean slowdown of the jobs done at host 1, "+q.name(), host.Slowdown.Float, v, q.run.Name))
	}
	return rows
}

// simulateFarm adds the simulation of a farm, a tenth as long as those of clusters.
func simulateFarm(p *plots.Plan, name string, f sim.Farm, e plots.Effort, runs int) (*plots.Simulation, error) {
	return p.Simulate(name, f, e, sim.Settings{Runs: runs, Jumps: plots.Shorter(e.Jumps), WarmUp: plots.Shorter(e.WarmUp)})
}

// farmEffort tells how farms were simulated, in words for a caption.
func farmEffort(e plots.Effort, runs int) string {
	return fmt.Sprintf("%d runs of %s jumps (arrivals, kills, ends of jobs) after %s, seed %d", runs, plots.Power(plots.Shorter(e.Jumps)), plots.Power(plots.Shorter(e.WarmUp)), e.Seed)
}

// farmParameters returns the rows that tell how farms were simulated.
func farmParameters(p *plots.Plan, e plots.Effort) []plots.Parameter {
	return []plots.Parameter{
		{Name: "simulations", Value: fmt.Sprint(len(p.Simulations))},
		{Name: "runs of each simulation", Value: e.RunsText()},
		{Name: "jumps of a run (arrivals, kills, ends of jobs)", Value: plots.Power(plots.Shorter(e.Jumps)) + " expected, after a warm-up of " + plots.Power(plots.Shorter(e.WarmUp))},
		{Name: "seed", Value: fmt.Sprint(e.Seed)},
		{Name: "jumps observed in all", Value: p.Jumps()},
		{Name: "confidence of the intervals", Value: "95 %"},
	}
}
