package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sweep"
	"productform/tags"
)

// plans returns the policies that can be simulated and their plans. Notes on the other policies
// give the reasons.
func (a *tagsAnswer) plans(ctx context.Context) (plans []*sim.Plan, of []*policyAnswer, err error) {
	if !a.flags.rivals {
		a.policies = append(a.policies, policyAnswer{name: farm.ShortestQueue, note: "known by simulation only"})
	}
	for i := range a.policies {
		p := &a.policies[i]
		if a.flags.rivals && !p.isRival() {
			continue
		}
		policy, cutoffs, model := p.name, cmp.Or(p.means, &tags.Result{}).Cutoffs, a.model
		if policy == tags.PolicySITAE {
			policy = tags.PolicySITA // with cutoffs of equal loads
		}
		switch policy {
		case policyRestart:
			policy, model.Resume = tags.PolicyTAGS, tags.Resume{}
		case tags.PolicyCentralPrinted, tags.PolicyFB, tags.PolicySRPT:
			continue
		}
		if (policy == tags.PolicySITA || policy == tags.PolicyTAGS) && cutoffs == nil {
			continue
		}
		system := farm.Farm{Model: model, Policy: policy, Cutoffs: cutoffs}
		plan, err := sim.NewPlan(ctx, system, a.flags.settings.Settings)
		var bad *input.Error
		switch {
		case errors.Is(err, num.ErrUnstable):
			p.addNote("not simulated: a host is overloaded")
		case errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Cutoffs"):
			p.addNote("not simulated: hosts are idle")
		case bad != nil && a.flags.rivals: // the answer does not depend on this simulation
			p.addNote("not simulated: times are beyond the range of the simulator")
		case err != nil:
			return nil, nil, err
		default:
			plans, of = append(plans, plan), append(of, p)
		}
	}
	return plans, of, nil
}

// isRival reports whether a policy is simulated by default: least work remaining, unless its means
// are exact.
func (p *policyAnswer) isRival() bool {
	return p.name == tags.PolicyCentral && (p.means == nil || p.means.Kind != tags.Exact)
}

// simulate simulates all policies, or only the rival; a signal interrupts it.
func (a *tagsAnswer) simulate(ctx context.Context, stderr io.Writer) error {
	settings := a.flags.settings
	plans, simulated, err := a.plans(ctx)
	if err != nil || len(plans) == 0 {
		return err
	}
	run := func(ctx context.Context, s sweep.Settings) ([]*sim.Result, error) {
		return sim.RunAll(ctx, plans, s)
	}
	results, _, err := command.Simulate(ctx, settings, settings.Runs*len(plans), stderr, run)
	if err != nil {
		return err
	}
	a.isSimulated = true
	for k, p := range simulated {
		p.simulated = results[k]
		if p.name == tags.PolicyTAGS {
			a.simulated = results[k]
		}
	}
	a.warnings = append(a.warnings, simulationWarnings(simulated)...)
	return nil
}

// simulationWarnings returns every warning once, after the names of the policies concerned.
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

// defaultJumps is the default of sim.Settings.
const defaultJumps = 1e6

// jumps returns the number of jumps that each run observes.
func (f *tagsFlags) jumps() float64 { return cmp.Or(f.settings.Jumps, defaultJumps) }
