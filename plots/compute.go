package plots

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"productform/cluster"
	"productform/internal/input"
	"productform/sim"
	"productform/sweep"
)

// Settings tunes [Compute]. The zero value asks for Normal precision with seed 0 on all cores and keeps nothing.
type Settings struct {
	Precision Precision // "" means Normal
	Seed      uint64    // of all simulations; each system has random numbers of its own
	Workers   int       // simulations at a time; 0 means one a core
	Folder    string    // where their samples are kept, for a run that is stopped or repeated; "" keeps none
	Progress  func(sweep.Progress)

	// If not 0, in place of those of the precision: replications of a simulation, jumps observed in each, and jumps
	// before, which are as many as Jumps if only that is given.
	Runs          int
	Jumps, WarmUp float64
}

// An effort is how much is simulated.
type effort struct {
	precision     Precision
	loads         []*big.Rat // simulated
	runs          int
	checkRuns     int // of simulations that only checks want
	jumps, warmUp float64
	seed          uint64
	workers       int // at a time; 0 means one a core
}

func (s Settings) effort() (effort, error) {
	e := effort{precision: cmp.Or(s.Precision, Normal), seed: s.Seed, workers: s.Workers}
	switch e.precision {
	case Draft:
		e.loads = multiples(10, 9)
		e.runs, e.jumps, e.warmUp = 10, 4e5, 2e5
	case Normal:
		e.loads = multiples(20, 18)
		e.runs, e.jumps, e.warmUp = 20, 1e6, 1e6
	case Paper:
		e.loads = multiples(20, 18)
		e.runs, e.jumps, e.warmUp = 100, 1e6, 1e6
	default:
		return e, input.Errorf("precision", s.Precision, "draft, normal or paper")
	}
	e.loads = append(e.loads, big.NewRat(95, 100))
	e.runs = cmp.Or(s.Runs, e.runs)
	e.checkRuns = min(e.runs, 20)
	e.warmUp = cmp.Or(s.WarmUp, s.Jumps, e.warmUp)
	e.jumps = cmp.Or(s.Jumps, e.jumps)
	return e, nil
}

// multiples returns 1/n, ..., k/n.
func multiples(n, k int64) []*big.Rat {
	var v []*big.Rat
	for i := int64(1); i <= k; i++ {
		v = append(v, big.NewRat(i, n))
	}
	return v
}

// A project is a figure under way: the simulations it wants, and how it is made once they have their results.
type project struct {
	simulations []*simulation
	build       func(context.Context) (*Figure, error)
}

// A simulation is a system with the settings of its simulation and, in the end, its result.
type simulation struct {
	name   string // of the system: two simulations with one name share random numbers
	plan   *sim.Plan
	result *sim.Result
}

// simulate adds a simulation to the project.
func (p *project) simulate(name string, c sim.System, e effort, s sim.Settings) (*simulation, error) {
	s.Runs, s.Seed = cmp.Or(s.Runs, e.runs), e.seed
	s.Jumps, s.WarmUp = cmp.Or(s.Jumps, e.jumps), cmp.Or(s.WarmUp, e.warmUp)
	plan, err := sim.NewPlan(c, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	one := &simulation{name: name, plan: plan}
	p.simulations = append(p.simulations, one)
	return one, nil
}

// Compute returns the figures of the entries, in their order. All their simulations are tasks of one sweep, in which what
// several figures want alike is simulated once. The figures depend on the precision, the seed, Runs, Jumps and
// WarmUp, to the last digit, not on Workers and Folder.
//
// When ctx is done, Compute returns its error within a second; with s.Folder the replications done by then are
// found again by the next run.
func Compute(ctx context.Context, entries []Entry, s Settings) ([]*Figure, error) {
	e, err := s.effort()
	if err != nil {
		return nil, err
	}
	var simulations []*simulation
	projects := make([]*project, len(entries))
	for i, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if projects[i], err = entry.prepare(e); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.ID, err)
		}
		simulations = append(simulations, projects[i].simulations...)
	}
	plans := make([]*sim.Plan, len(simulations))
	for k, one := range simulations {
		plans[k] = one.plan
	}
	results, err := sim.RunAll(ctx, plans, sweep.Settings{Workers: s.Workers, Folder: s.Folder, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	for k, one := range simulations {
		one.result = results[k]
	}
	figures := make([]*Figure, len(entries))
	g, building := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(s.Workers, runtime.GOMAXPROCS(0)))
	for i, entry := range entries {
		g.Go(func() (err error) {
			if figures[i], err = projects[i].build(building); err != nil {
				return fmt.Errorf("%s: %w", entry.ID, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return figures, nil
}

// effortText tells how the simulations of a project were done, in words for a caption.
func (p *project) effortText(e effort) string {
	return fmt.Sprintf("%d runs of %s jumps (arrivals, ends of phases, interruptions) after %s, seed %d", e.runs, power(e.jumps), power(e.warmUp), e.seed)
}

// parameters returns the rows that tell how the simulations of a project were done and whether they can be trusted.
func (p *project) parameters(e effort) []Parameter {
	rows := []Parameter{
		{"simulations", fmt.Sprint(len(p.simulations))},
		{"runs of each simulation", e.runsText()},
		{"jumps of a run (arrivals, ends of phases, interruptions)", power(e.jumps) + " expected, after a warm-up of " + power(e.warmUp)},
		{"seed", fmt.Sprint(e.seed)},
		{"jumps observed in all", p.jumps()},
		{"confidence of the intervals", "95 %"},
	}
	return append(rows, p.doubts("whose warm-up looks short")...)
}

// runsText tells how many runs a simulation has.
func (e effort) runsText() string {
	if e.checkRuns < e.runs {
		return fmt.Sprintf("%d, or %d where only a check wants it", e.runs, e.checkRuns)
	}
	return fmt.Sprint(e.runs)
}

// doubts returns a row that names the simulations with a warning, none if there are none. Or is another reason for one.
func (p *project) doubts(or string) []Parameter {
	var doubts []string
	for _, one := range p.simulations {
		if len(one.result.Warnings) > 0 {
			doubts = append(doubts, one.name)
		}
	}
	if len(doubts) == 0 {
		return nil
	}
	text := fmt.Sprintf("%d, at least one of whose runs is worth fewer than 10 independent observations, or %s: ", len(doubts), or)
	slices.Sort(doubts)
	return []Parameter{{"simulations with a warning", text + list(slices.Compact(doubts), "; ")}}
}

// jumps returns the number of jumps observed in all simulations.
func (p *project) jumps() string {
	var sum float64
	for _, one := range p.simulations {
		sum += one.result.Jumps
	}
	return significant(sum)
}

// policy returns the policy for m interruptions a job.
func policy(m float64) sim.Policy {
	if m == 0 {
		return sim.FCFS
	}
	return sim.Interrupt
}

// exponential returns a cluster with exponential sizes, those of its model's mean.
func exponential(m *cluster.Model, interruptions float64) sim.Cluster {
	return sim.Cluster{Model: m, Policy: policy(interruptions), Interruptions: interruptions}
}
