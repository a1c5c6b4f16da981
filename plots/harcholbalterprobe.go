package plots

import (
	"context"
	"fmt"

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
	run    *simulation
}

// probed returns an entry whose figure needs some probes, which are told of in its caption and parameters.
func probed(id, title string, probes []probe, build func(context.Context, *Figure) error) Entry {
	return Entry{ID: id, Title: title, prepare: func(e effort) (*project, error) {
		p := &project{}
		probes := append([]probe{}, probes...)
		for k := range probes {
			if err := probes[k].simulate(p, e); err != nil {
				return nil, err
			}
		}
		p.build = func(ctx context.Context) (*Figure, error) {
			f := &Figure{ID: id, Title: title}
			if err := build(ctx, f); err != nil {
				return nil, err
			}
			for k := range probes {
				f.Checks = append(f.Checks, probes[k].checks(id)...)
			}
			f.Caption += fmt.Sprintf(" For the checks host 1, for which the theory is exact, is simulated at some α: %s.", p.farmEffort(e, e.checkRuns))
			f.Parameters = append(append(f.Parameters, p.farmParameters(e)...),
				Parameter{"what is simulated", "TAGS for the checks, of which host 1 alone counts: it keeps no job longer than s₁, while the largest jobs, at other hosts, are too rare to be seen"})
			return f, nil
		}
		return p, nil
	}}
}

// simulate finds the cutoffs and adds the simulation to the project.
func (q *probe) simulate(p *project, e effort) error {
	m, err := farm(q.alpha, q.high, q.hosts, q.load)
	if err != nil {
		return err
	}
	best, err := tags.Optimize(m, q.objective)
	if err != nil {
		return err
	}
	q.theory = best.Result
	q.run, err = p.simulateFarm(q.name(), sim.Farm{Model: m, Policy: sim.TAGS, Cutoffs: best.Cutoffs}, e, e.checkRuns)
	return err
}

// name names the system, whatever the figure.
func (q *probe) name() string {
	flavour := "TAGS-opt-slowdown"
	if q.objective.Waiting > 0 {
		flavour = "TAGS-opt-waitingtime"
	}
	return fmt.Sprintf("%s, α = %g, p = %s, %d hosts, load %g", flavour, q.alpha, power(q.high), q.hosts, q.load)
}

// checks compares what host 1 sees.
func (q *probe) checks(id string) []Check {
	host, seen := q.theory.Hosts[0], q.run.result
	rows := []Check{simulated(id+q.panel, "load of host 1, "+q.name(), host.Load, &seen.Servers[0].Utilization, q.run.name)}
	if v := seen.Servers[0].MeanWaiting; v != nil {
		rows = append(rows, simulated(id+q.panel, "mean waiting time at host 1, "+q.name(), host.VisitWait, v, q.run.name))
	}
	if v := seen.Classes[0].MeanSlowdown; v != nil {
		rows = append(rows, simulated(id+q.panel, "mean slowdown of the jobs done at host 1, "+q.name(), host.Slowdown, v, q.run.name))
	}
	return rows
}

// simulateFarm adds the simulation of a farm, a tenth as long as those of clusters.
func (p *project) simulateFarm(name string, f sim.Farm, e effort, runs int) (*simulation, error) {
	return p.simulate(name, f, e, sim.Settings{Runs: runs, Jumps: shorter(e.jumps), WarmUp: shorter(e.warmUp)})
}

func shorter(jumps float64) float64 { return max(1000, jumps/10) }

// farmEffort tells how farms were simulated, in words for a caption.
func (p *project) farmEffort(e effort, runs int) string {
	return fmt.Sprintf("%d runs of %s jumps (arrivals, kills, ends of jobs) after %s, seed %d", runs, power(shorter(e.jumps)), power(shorter(e.warmUp)), e.seed)
}

// farmParameters returns the rows that tell how farms were simulated.
func (p *project) farmParameters(e effort) []Parameter {
	return []Parameter{
		{"simulations", fmt.Sprint(len(p.simulations))},
		{"runs of each simulation", e.runsText()},
		{"jumps of a run (arrivals, kills, ends of jobs)", power(shorter(e.jumps)) + " expected, after a warm-up of " + power(shorter(e.warmUp))},
		{"seed", fmt.Sprint(e.seed)},
		{"jumps observed in all", p.jumps()},
		{"confidence of the intervals", "95 %"},
	}
}
