// This file implements pfq simulate: estimates by simulation, under any policy, for any
// distribution of sizes.

package main

import (
	"context"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/dispatch/joblog"
	"productform/dispatch/rigid"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// A simulateQuestion holds the flags of pfq simulate.
type simulateQuestion struct {
	binding       *cli.Binding
	sizes, policy string         // policy is "" if the flag is not given
	dialect       joblog.Dialect // describes the log that has the sizes
	policies      []string       // those of the flag, or the default of the model
	keepSizes     bool
	patience      string // distribution in place of those of the model; "" for the model's
	requests      rigid.Requests
	interruptions float64    // rate of interruptions; 0 for none
	factors       []*big.Rat // factors of the arrival rates; nil leaves them unchanged
	percentiles   []command.Percentile
	settings      command.Simulation
}

// newSimulateCommand returns the command simulate.
func newSimulateCommand() *cobra.Command {
	f := simulateQuestion{sizes: "exponential"}
	cmd := command.New("simulate MODEL", f.answer)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags()) }
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	command.AddSizes(b, &f.sizes, &f.dialect, "`DISTRIBUTION` of job sizes, scaled to the mean size of the model")
	cli.AddSwitch(cmd, &f.keepSizes, "keep-sizes",
		"use the sizes of a file, or of bounded-pareto:ALPHA:MIN:MAX, unscaled")
	b.Number(&f.interruptions, "Interruptions", "interruptions", "", "a number in [1e-6, 1e6]",
		"mean number `M` of interruptions of a job, for the policy interrupt",
		func(v float64) bool { return v >= 1e-6 && v <= 1e6 })
	cli.AddText(cmd, &f.patience, "patience", "", "the name of a distribution of patience",
		"`DISTRIBUTION` of the patience of all classes, scaled to the mean_patience of each (default that of the "+
			"model)")
	f.addPolicy(b)
	f.addRequests(b)
	s.Runs = 100
	b.Number(&s.Precision, "Precision", "precision", "", "a number > 0 and < 1",
		"stop when the half-widths of the mean jobs of all classes are below this fraction of them",
		func(v float64) bool { return v > 0 && v < 1 })
	b.Number(&s.Horizon, "Horizon", "horizon", "", "a number in [1e-300, 1e300]",
		"observe each run from its empty start for the time `T`, stable or not",
		func(v float64) bool { return v >= 1e-300 && v <= 1e300 })
	b.Int(&s.Distribution, "Distribution", "distribution", 1e5,
		"also estimate the probabilities of 0, ..., `N` jobs in total, N from 1 to 100000")
	command.AddPercentiles(cmd, &f.percentiles,
		"also estimate these percentiles of the delays of all jobs and of each class")
	command.AddScale(cmd, &f.factors, "simulate", "all arrival rates")
	command.AddRuns(b, s, "number of independent runs; with --precision, the maximum", f.plans)
	return cmd
}

// check rejects flags that contradict each other.
func (f *simulateQuestion) check(flags interface{ Changed(string) bool }) error {
	given := flags.Changed
	if given("interruptions") && !given("policy") {
		f.policy = string(simcluster.Interrupt)
	}
	switch interrupt := f.policy == string(simcluster.Interrupt); {
	case interrupt && !given("interruptions"):
		return input.Errorf("--interruptions", "", "a number in [1e-6, 1e6], with --policy interrupt")
	case !interrupt && given("interruptions"):
		return input.Errorf("--policy", f.policy, "interrupt, with --interruptions")
	}
	for _, name := range []string{"jumps", "warmup"} {
		if given("horizon") && given(name) {
			return fmt.Errorf("--horizon and --%s cannot be combined", name)
		}
	}
	if given("horizon") {
		f.settings.Jumps, f.settings.WarmUp = 0, 0
	}
	return command.SetLevels(&f.settings.Settings, f.percentiles)
}

// answer simulates the model, at every factor if factors are given.
func (f *simulateQuestion) answer(q command.Query) (a render.Answer, found bool, err error) {
	m, jobs, err := f.read(q)
	if err != nil {
		return a, false, err
	}
	one := func(q command.Query, m *cluster.Model) (render.Answer, bool, error) {
		a, found, err := f.simulateAll(q, m, jobs)
		return a, found, command.InFile(q.File, err)
	}
	if f.factors == nil {
		return one(q, m)
	}
	return command.AtFactors(q, f.factors, func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
		return one(q, m.Scale(factor))
	})
}

// plans returns the plans of the simulations that answer runs, at every factor. An unstable model
// has none without --horizon.
func (f *simulateQuestion) plans(q command.Query) (plans []*sim.Plan, err error) {
	m, jobs, err := f.read(q)
	if err != nil {
		return nil, err
	}
	return command.PlansAt(q, f.factors, m, (*cluster.Model).Scale, "an unstable model has",
		func(m *cluster.Model) (plans []*sim.Plan, err error) {
			for _, policy := range f.policies {
				s, err := f.plan(q, m, jobs, policy)
				if err != nil {
					return nil, err
				}
				if s.plan != nil {
					plans = append(plans, s.plan)
				}
			}
			if plans == nil {
				err = num.ErrUnstable
			}
			return plans, err
		})
}

// read reads the model and the sizes of the jobs.
func (f *simulateQuestion) read(q command.Query) (m *cluster.Model, jobs jobSizes, err error) {
	path, _ := command.SizePath(f.sizes)
	if d, err := command.ParseUnscaled("--sizes", f.sizes); path == "" && err != nil {
		return nil, jobs, err
	} else if f.keepSizes && path == "" && d == nil {
		return nil, jobs, input.Errorf("--sizes", f.sizes, "%sPATH, %sPATH, %sPATH or %s, with --keep-sizes",
			command.FromList, command.FromLog, command.FromSWF, command.BoundedPareto)
	}
	if m, err = command.ReadModel(q); err != nil {
		return nil, jobs, err
	}
	if f.policies, err = f.policiesOf(m); err != nil {
		return nil, jobs, err
	}
	if err := f.checkRequests(m); err != nil {
		return nil, jobs, err
	}
	if m, err = f.withPatience(m); err != nil {
		return nil, jobs, err
	}
	for i, c := range m.Classes {
		if f.keepSizes && c.MeanSize != nil {
			path := input.Index("classes", i) + ".mean_size"
			return nil, jobs, command.InFile(q.File, input.Errorf(path, c.MeanSize.RatString(),
				"no mean size of a class with --keep-sizes, which scales no sizes"))
		}
	}
	if jobs, err = f.jobSizes(q, m); err != nil {
		return nil, jobs, err
	}
	for _, factor := range f.factors {
		if factor.Sign() == 0 {
			return nil, jobs, cli.FlagError{Err: input.Errorf("--scale", factor.RatString(),
				"factors > 0: without arrivals there is nothing to simulate")}
		}
	}
	return m, jobs, nil
}

// jobSizes is the simulated distribution of sizes, with its original mean if the sizes were scaled.
type jobSizes struct {
	sizes.Distribution
	scaledFrom *float64
}

// jobSizes returns the distribution of --sizes, and sets the mean of the model to its mean if sizes
// are kept unscaled.
func (f *simulateQuestion) jobSizes(q command.Query, m *cluster.Model) (jobs jobSizes, err error) {
	if !f.keepSizes {
		mean, err := command.MeanOfSizes(m.MeanSize)
		if err != nil {
			return jobs, command.InFile(q.File, err)
		}
		jobs.Distribution, jobs.scaledFrom, err = command.ReadSizes(q, f.sizes, f.dialect, mean)
		return jobs, err
	}
	if jobs.Distribution, err = command.ReadOwnSizes(q, f.sizes, f.dialect); err != nil {
		return jobs, err
	}
	mean, err := sizes.Mean(jobs.Distribution)
	if err != nil {
		return jobs, input.Errorf("--sizes", f.sizes, "sizes whose mean double precision can hold")
	}
	m.MeanSize = new(big.Rat).SetFloat64(mean)
	return jobs, nil
}

// plan makes the plan of a simulation under a policy. The plan is nil if the model is unstable and
// --horizon is not given.
func (f *simulateQuestion) plan(q command.Query, m *cluster.Model, jobs jobSizes, policy string) (
	s *simulation, err error,
) {
	s = &simulation{simulateQuestion: f, model: m, jobs: jobs, policy: policy}
	s.system = simcluster.Cluster{
		Model: m, Sizes: jobs.Distribution, Policy: simcluster.Policy(policy), Interruptions: f.interruptions,
		Requests: f.requestsOf(m, policy),
	}
	translate := func(err error) error { return command.SimulationError(f.binding, err, f.settings.Sweep.Folder) }
	if m.Service == cluster.Gang {
		if s.gang, s.known.gang, err = f.decideGang(q, s.system); err != nil {
			return nil, err
		}
	} else {
		if s.compared, _, err = s.system.Compared(); err != nil {
			return nil, translate(err)
		}
		if s.verdict, err = command.Decide(q, s.compared); err != nil {
			return nil, err
		}
	}
	if s.isUnstable() && f.settings.Horizon == 0 {
		return s, nil
	}
	s.plan, err = command.WithProgress(q, func(ctx context.Context) (*sim.Plan, error) {
		return sim.NewPlan(ctx, s.system, f.settings.Settings)
	})
	if err != nil {
		return nil, translate(err)
	}
	return s, nil
}

// simulateAll simulates the model under each policy, or explains why it is unstable.
func (f *simulateQuestion) simulateAll(q command.Query, m *cluster.Model, jobs jobSizes) (
	a render.Answer, found bool, err error,
) {
	found = true
	var all []*simulation
	for i, policy := range f.policies {
		s, err := f.simulate(q.Part(i, len(f.policies)), m, jobs, policy)
		if err != nil {
			return a, false, err
		}
		all, found = append(all, s), found && s.result != nil
	}
	switch {
	case len(all) > 1:
		return comparePolicies(all), found, nil
	case !found && all[0].gang != nil:
		return gangUnstableAnswer(all[0]), false, nil
	case !found:
		return command.UnstableAnswer(all[0].compared, all[0].verdict, num.Float), false, nil
	}
	return all[0].answer(), true, nil
}

// simulate simulates the model under a policy. There is no result if the model is unstable.
func (f *simulateQuestion) simulate(q command.Query, m *cluster.Model, jobs jobSizes, policy string) (
	s *simulation, err error,
) {
	s, err = f.plan(q, m, jobs, policy)
	if err != nil || s.plan == nil {
		return s, err
	}
	// Theory comes first: if it runs out of memory or time, no simulation is lost.
	if s.known, err = f.solve(q, s.system, s.known.gang); err != nil {
		return nil, err
	}
	settings := f.settings
	if len(f.policies) > 1 {
		settings.Of = policy
	}
	s.result, s.speed, err = command.Replicate(q.Ctx, s.plan, settings, q.Stderr)
	return s, err
}
