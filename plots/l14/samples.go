package l14

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/plots"
	"productform/traces"
)

// A namedPolicy is a policy with its name in the figures.
type namedPolicy struct {
	label  string
	look   int
	policy dispatch.Policy
}

// Positions of policies.
const (
	byPriority = iota
	byProportion
	byWorkload
	sparePriority
	spareDeadline
	earliestFirst
)

// comparedPolicies returns the six policies that [L14] compares, in its order: from left to right
// they depend more and more on deadlines.
func comparedPolicies() []namedPolicy {
	return []namedPolicy{
		byPriority:   {"priority", 0, dispatch.Policy{Rule: dispatch.Priority}},
		byProportion: {"proportion", 2, dispatch.Policy{Rule: dispatch.Proportion}},
		byWorkload:   {"workload", 3, dispatch.Policy{Rule: dispatch.Workload}},
		sparePriority: {"deadline, spare by priority", 4,
			dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority}},
		spareDeadline: {"deadline, spare by deadline", 5,
			dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline}},
		earliestFirst: {"EDF", 1, dispatch.Policy{Rule: dispatch.EDF}},
	}
}

// machines describes the workers of runs: of speed 1, or of speeds uniform on [1 - spread, 1 +
// spread], redrawn for each sample.
type machines struct {
	workers int
	spread  float64
}

// [L14] has ten nodes with two workers each; it does not state the speeds of unequal ones.
func equalWorkers() machines   { return machines{20, 0} }
func unequalWorkers() machines { return machines{20, 0.5} }

func (m machines) speeds(seed uint64) ([]float64, error) {
	return dispatch.UniformSpeeds(m.workers, 1-m.spread, 1+m.spread, seed)
}

func (m machines) String() string {
	if m.spread == 0 {
		return fmt.Sprintf("%d workers of speed 1", m.workers)
	}
	return fmt.Sprintf("%d workers of speeds uniform on [%.3g, %.3g], redrawn for each sample", m.workers,
		1-m.spread, 1+m.spread)
}

// name describes whether the workers differ.
func (m machines) name() string {
	if m.spread == 0 {
		return "equal"
	}
	return "unequal"
}

// environment names the machines as [L14] does.
func (m machines) environment() string {
	if m.spread == 0 {
		return "homogeneous"
	}
	return "heterogeneous"
}

// A benchmark is a log with the samples on which policies are compared.
type benchmark struct {
	log      []swf.Job
	usable   int
	sampling dispatch.Sampling
	seeds    []uint64
	parallel int // number of samples that run at a time
}

// readLog reads the log of the catalogue.
func readLog() (swf.Log, error) {
	r, err := traces.Open(plots.LogName)
	if err != nil {
		return swf.Log{}, err
	}
	log, err := swf.ReadAll(r, plots.LogName)
	return log, errors.Join(err, r.Close())
}

// samples reads the log of the catalogue for n samples, whose consecutive seeds start at the seed
// of the effort.
func samples(e plots.Effort, n int) (*benchmark, error) {
	l, err := readLog()
	if err != nil {
		return nil, err
	}
	s := &benchmark{log: l.Jobs, parallel: cmp.Or(e.Workers, runtime.GOMAXPROCS(0))}
	_, skipped, err := dispatch.WholeLog().Jobs(l.Jobs, 0)
	if err != nil {
		return nil, err
	}
	s.usable = len(l.Jobs) - skipped
	s.sampling = dispatch.LinSampling(s.usable)
	for k := range n {
		s.seeds = append(s.seeds, e.Seed+uint64(k))
	}
	return s, nil
}

// An outcome holds the measures of a run.
type outcome struct {
	planned, running float64 // violation rates
	penalty          float64
}

func plannedOf(o outcome) float64 { return o.planned }
func runningOf(o outcome) float64 { return o.running }
func penaltyOf(o outcome) float64 { return o.penalty }

// scenario returns the scenario of a policy on the sample of a seed.
func (s *benchmark) scenario(m machines, p dispatch.Policy, seed uint64) (dispatch.Scenario, error) {
	jobs, _, err := s.sampling.Jobs(s.log, seed)
	if err != nil {
		return dispatch.Scenario{}, err
	}
	speeds, err := m.speeds(seed)
	return dispatch.Scenario{Jobs: jobs, Speeds: speeds, Policy: p}, err
}

// run returns the outcome of every sample under each policy, in the order of policies and seeds.
func (s *benchmark) run(ctx context.Context, m machines, policies []namedPolicy) ([][]outcome, error) {
	all := make([][]outcome, len(policies))
	for k := range all {
		all[k] = make([]outcome, len(s.seeds))
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(s.parallel)
	for i, seed := range s.seeds {
		g.Go(func() error {
			scenario, err := s.scenario(m, dispatch.Policy{}, seed)
			if err != nil {
				return err
			}
			for k, c := range policies {
				scenario.Policy = c.policy
				r, err := dispatch.Run(running, scenario)
				if err != nil {
					return fmt.Errorf("%s, sample of seed %d: %w", c.label, seed, err)
				}
				all[k][i] = outcome{r.PriorityViolationRate, r.RunningViolationRate, r.DeadlineMissPenalty}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return all, nil
}
