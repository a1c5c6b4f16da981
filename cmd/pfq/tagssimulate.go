package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/sim"
	"productform/sim/farm"
	"productform/sweep"
	"productform/tags"
)

// simulate simulates all policies, until a signal comes.
func (a *tagsAnswer) simulate(ctx context.Context, stderr io.Writer) error {
	a.policies = append(a.policies, policyAnswer{name: farm.ShortestQueue, note: "known by simulation only"})
	settings := a.flags.settings
	var plans []*sim.Plan
	var simulated []*policyAnswer // of the plans
	for i := range a.policies {
		p := &a.policies[i]
		policy := p.name
		if policy == tags.PolicySITAE {
			policy = tags.PolicySITA // with the cutoffs of equal loads
		}
		if policy == tags.PolicyCentralPrinted || policy == tags.PolicySITA && p.cutoffs == nil {
			continue
		}
		plan, err := sim.NewPlan(farm.Farm{Model: a.model, Policy: policy, Cutoffs: p.cutoffs}, settings)
		var bad *input.Error
		switch {
		case errors.Is(err, tags.ErrUnstable):
			p.addNote("not simulated: a host is overloaded")
		case errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Cutoffs"):
			p.addNote("not simulated: hosts are idle")
		case err != nil:
			return err
		default:
			plans, simulated = append(plans, plan), append(simulated, p)
		}
	}

	ctx, stop := untilSignal(ctx)
	defer stop()
	bar := cli.NewProgress(stderr, "pfq")
	defer bar.Clear()
	bar.Show(0, settings.Runs*len(plans), "runs")
	var last sweep.Progress
	results, err := sim.RunAll(ctx, plans, sweep.Settings{Workers: settings.Workers, Folder: settings.Folder, Progress: func(p sweep.Progress) {
		last = p
		bar.Show(p.Done, p.Total, left(p, false))
	}})
	if err != nil {
		return stopped(ctx, err, settings.Folder, last.Done)
	}
	bar.Clear()
	for k, p := range simulated {
		p.simulated = results[k]
		if p.name == tags.PolicyTAGS {
			a.simulated = results[k]
		}
	}
	a.warnings = append(a.warnings, simulationWarnings(simulated)...)
	return nil
}

// simulationWarnings returns every warning once, after the names of the policies that have it.
func simulationWarnings(policies []*policyAnswer) (warnings []string) {
	names := map[string][]string{}
	for _, p := range policies {
		for _, w := range p.simulated.Warnings {
			if names[w] == nil {
				warnings = append(warnings, w)
			}
			names[w] = append(names[w], string(p.name))
		}
	}
	for i, w := range warnings {
		warnings[i] = strings.Join(names[w], ", ") + ": " + w
	}
	return warnings
}

// defaultJumps is what sim.Settings take for 0.
const defaultJumps = 1e6

// jumps returns those that each run observes.
func (f *tagsFlags) jumps() float64 { return cmp.Or(f.settings.Jumps, defaultJumps) }

func (p *policyAnswer) addNote(note string) {
	if p.note != "" {
		note = p.note + "; " + note
	}
	p.note = note
}
