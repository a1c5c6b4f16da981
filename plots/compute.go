package plots

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"

	"golang.org/x/sync/errgroup"

	"productform/internal/input"
	"productform/sim"
	"productform/sweep"
)

// Settings determines the figures of [Compute], to the last digit. The zero value means Normal
// precision with seed 0.
type Settings struct {
	Precision Precision // "" means Normal
	Seed      uint64    // seed of all simulations; each system has its own random numbers

	// If not 0, these replace the values of the precision: replications of a simulation, jumps
	// observed in each, and warm-up jumps, which default to Jumps if that is given.
	Runs          int
	Jumps, WarmUp float64
}

// An Effort determines how much is simulated.
type Effort struct {
	Precision     Precision
	Loads         []*big.Rat // simulated loads
	Runs          int        // replications of a simulation
	CheckRuns     int        // replications of simulations needed only for checks
	Jumps, WarmUp float64    // jumps observed in each replication, and jumps before
	Seed          uint64     // seed of all simulations
	Workers       int        // simulations at a time; 0 means one per core
}

func (s Settings) effort() (Effort, error) {
	e := Effort{Precision: cmp.Or(s.Precision, Normal), Seed: s.Seed}
	switch e.Precision {
	case Draft:
		e.Loads = Multiples(10, 9)
		e.Runs, e.Jumps, e.WarmUp = 10, 5e4, 5e4
	case Normal:
		e.Loads = Multiples(20, 18)
		e.Runs, e.Jumps, e.WarmUp = 20, 1e6, 1e6
	case Paper:
		e.Loads = Multiples(20, 18)
		e.Runs, e.Jumps, e.WarmUp = 100, 1e6, 1e6
	default:
		return e, input.Errorf("precision", s.Precision, "draft, normal or paper")
	}
	e.Loads = append(e.Loads, big.NewRat(95, 100))
	e.Runs = cmp.Or(s.Runs, e.Runs)
	e.CheckRuns = min(e.Runs, 20)
	e.WarmUp = cmp.Or(s.WarmUp, s.Jumps, e.WarmUp)
	e.Jumps = cmp.Or(s.Jumps, e.Jumps)
	return e, nil
}

// Multiples returns 1/n, ..., k/n.
func Multiples(n, k int64) []*big.Rat {
	var v []*big.Rat
	for i := int64(1); i <= k; i++ {
		v = append(v, big.NewRat(i, n))
	}
	return v
}

// A Plan collects the simulations that figures need.
type Plan struct {
	Simulations []*Simulation
}

// A Simulation is a system with the settings of its simulation and, once it has run, its result.
type Simulation struct {
	Name   string // name of the system: simulations with the same name share random numbers
	plan   *sim.Plan
	Result *sim.Result
}

// Simulate adds a simulation to the plan. Runs, Jumps and WarmUp of the settings, if not 0, replace
// those of the effort; the seed is that of the effort.
func (p *Plan) Simulate(ctx context.Context, name string, c sim.System, e Effort, s sim.Settings) (*Simulation, error) {
	s.Runs, s.Seed = cmp.Or(s.Runs, e.Runs), e.Seed
	s.Jumps, s.WarmUp = cmp.Or(s.Jumps, e.Jumps), cmp.Or(s.WarmUp, e.WarmUp)
	plan, err := sim.NewPlan(ctx, c, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	one := &Simulation{Name: name, plan: plan}
	p.Simulations = append(p.Simulations, one)
	return one, nil
}

// Compute returns the figures of the specs, in their order. All their simulations are tasks of one
// sweep with the given settings, in which identical simulations of several figures run once. The
// settings of the sweep have no effect on the figures; Workers also limits what else is computed at
// a time.
//
// When ctx is cancelled, Compute returns its error within a second; with a folder the next run
// reuses the replications finished by then.
func Compute(ctx context.Context, specs []Spec, s Settings, runs sweep.Settings) ([]*Figure, error) {
	simulations, builds, err := prepare(ctx, specs, s, runs.Workers)
	if err != nil {
		return nil, err
	}
	results, err := sim.RunAll(ctx, plansOf(simulations), runs)
	if err != nil {
		return nil, err
	}
	for k, one := range simulations {
		one.Result = results[k]
	}
	figures := make([]*Figure, len(specs))
	g, building := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(runs.Workers, runtime.GOMAXPROCS(0)))
	for i, spec := range specs {
		g.Go(func() (err error) {
			figures[i] = &Figure{ID: spec.ID, Title: spec.Title}
			if err = builds[i](building, figures[i]); err != nil {
				return fmt.Errorf("%s: %w", spec.ID, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return figures, nil
}

// Plans returns the plans of all simulations of the specs, in the order in which [Compute] runs
// them. Compute reuses their runs if its folder has them.
func Plans(ctx context.Context, specs []Spec, s Settings) ([]*sim.Plan, error) {
	simulations, _, err := prepare(ctx, specs, s, 0)
	return plansOf(simulations), err
}

// prepare returns the simulations of the specs, and the builders of the figures.
func prepare(ctx context.Context, specs []Spec, s Settings, workers int) (
	simulations []*Simulation, builds []Build, err error,
) {
	e, err := s.effort()
	if err != nil {
		return nil, nil, err
	}
	e.Workers = workers
	plans := make([]Plan, len(specs))
	builds = make([]Build, len(specs))
	for i, spec := range specs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if builds[i], err = spec.Prepare(ctx, e, &plans[i]); err != nil {
			return nil, nil, cmp.Or(ctx.Err(), fmt.Errorf("%s: %w", spec.ID, err))
		}
		simulations = append(simulations, plans[i].Simulations...)
	}
	return simulations, builds, nil
}

func plansOf(simulations []*Simulation) (plans []*sim.Plan) {
	for _, one := range simulations {
		plans = append(plans, one.plan)
	}
	return plans
}

// LogInterval returns the mean and the ends of its interval on a logarithmic scale, mean
// e^(∓h/mean) with half-width h. To first order they equal mean ∓ h, but they are always positive.
// It returns an error if the mean is 0 or not much larger than its error.
func LogInterval(v *sim.Estimate) (mean, low, high float64, err error) {
	if v == nil || !(v.HalfWidth <= 100*v.Mean) || v.Mean == 0 {
		return 0, 0, 0, fmt.Errorf("no observations of a quantity to draw: more jumps are needed")
	}
	factor := math.Exp(v.HalfWidth / v.Mean)
	return v.Mean, v.Mean / factor, v.Mean * factor, nil
}

// Grid returns from, from+1, ..., to in units of 1/per, such as exponents or loads at which curves
// are computed.
func Grid(from, to, per int) []float64 {
	var v []float64
	for n := from; n <= to; n++ {
		v = append(v, float64(n)/float64(per))
	}
	return v
}

// Shorter returns a tenth of jumps, for systems whose jumps take longer to simulate, but at least
// 1000, the minimum of [sim.Settings].
func Shorter(jumps float64) float64 { return max(1000, jumps/10) }

// RareJumps returns the jumps observed in a run that counts rare events: [Shorter] of Jumps, and
// twice as many in a draft.
func (e Effort) RareJumps() float64 {
	if e.Precision == Draft {
		return Shorter(2 * e.Jumps)
	}
	return Shorter(e.Jumps)
}
