// This file implements pfq network: closed, open and mixed queueing networks, and systems that lose
// jobs. Each kind of model is a type that implements [networkModel], and a case in [read].

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch/joblog"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/network"
	"productform/network/line"
	"productform/network/loss"
	"productform/network/swap"
	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// A networkQuestion holds the flags of pfq network.
type networkQuestion struct {
	binding     *cli.Binding
	asked       network.Question
	settings    network.Settings
	factors     []*big.Rat // factors of the arrival rates; nil leaves them unchanged
	populations populations
	bounds      bool // whether to compute bounds, for networks of any size
	simulation  command.Simulation
	percentiles []command.Percentile
	within      []*big.Rat         // times
	dialect     joblog.Dialect     // describes the log that has the sizes
	sizes       string             // simulated sizes, "" for exponential ones
	shape       sizes.Distribution // the same, nil for exponential ones
	stationFlag string             // the first of [stationFlags] that is given, or ""
}

// stationFlags are the flags that only networks with stations accept.
var stationFlags = []string{"bounds", "distribution", "states", "population", "within"}

// newNetworkCommand returns the command network.
func newNetworkCommand() *cobra.Command {
	var f networkQuestion
	cmd := command.New("network MODEL", f.answer)
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	b.Engine(&s.Engine)
	b.Tol(&s.RelTol)
	b.Int(&f.asked.MaxJobs, "MaxJobs", "distribution", 10_000,
		"also give the probabilities of 0, ..., `N` jobs at each station, N from 1 to 10000")
	b.Int(&f.asked.States, "States", "states", 10_000,
		"also give the `N` most likely states, how many jobs of each class are at each station, N from 1 to 10000")
	b.Memory(&s.MaxBytes)
	b.Remedy(num.Bounds, "bounds")
	b.Remedy(num.Simulation, "runs")
	command.AddScale(cmd, &f.factors, "solve", "all arrival rates")
	addPopulations(cmd, &f.populations)
	cli.AddSwitch(cmd, &f.bounds, "bounds",
		"do not solve: give proved bounds on throughputs and delays of closed chains, at any size")
	command.AddPercentiles(cmd, &f.percentiles, "also give these percentiles of the delays of visits to stations "+
		"with order or fcfs; with --runs, of all delays")
	command.AddWithin(cmd, &f.within, "the waiting times and the delays of visits to these stations")
	command.AddRuns(b, &f.simulation, "also simulate the model, in this many `RUNS`", f.plans)
	command.AddSizes(b, &f.sizes, &f.dialect, "with --runs, `DISTRIBUTION` of the simulated sizes, or the sizes in "+
		"file:PATH or log:PATH, scaled to each mean size (default exponential)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	return cmd
}

// check rejects flags that cannot be combined.
func (f *networkQuestion) check(given func(string) bool) error {
	if k := slices.IndexFunc(stationFlags, given); k >= 0 {
		f.stationFlag = stationFlags[k]
	}
	if given("population") && given("scale") {
		return errors.New("--population and --scale cannot be combined: one thing changes at a time")
	}
	for _, flag := range []string{"engine", "tol", "distribution", "states", "memory", "population"} {
		if f.bounds && given(flag) {
			return fmt.Errorf("--bounds and --%s cannot be combined: --bounds does not solve the model", flag)
		}
	}
	for _, flag := range []string{"bounds", "population"} {
		if given("runs") && given(flag) {
			return fmt.Errorf("--runs and --%s cannot be combined", flag)
		}
	}
	if given("sizes") && !given("runs") {
		return errors.New("--sizes needs --runs")
	}
	for _, times := range []string{"percentiles", "within"} {
		if given(times) && f.bounds {
			return fmt.Errorf("--%s and --bounds cannot be combined", times)
		}
	}
	if err := command.CheckRuns(given); err != nil {
		return err
	}
	if err := command.CheckPercentiles(f.percentiles); err != nil {
		return err
	}
	return command.SetLevels(&f.simulation.Settings, f.percentiles)
}

// answer solves the model, at every given factor or population.
func (f *networkQuestion) answer(q command.Query) (a render.Answer, found bool, err error) {
	m, err := f.read(q)
	if err != nil {
		return a, false, err
	}
	n, hasStations := m.(stations)
	if f.stationFlag != "" && !hasStations {
		return a, false, fmt.Errorf("--%s needs a network with stations", f.stationFlag)
	}
	if f.factors != nil && !m.isOpen() {
		return a, false, errors.New("--scale needs arrivals: it multiplies their rates, and here all jobs " +
			"are present from the start")
	}
	known := hasStations && slices.ContainsFunc(n.Stations, func(s network.Station) bool { return s.KnowsDelays() })
	if f.percentiles != nil && f.simulation.Runs == 0 && !known {
		return a, false, errors.New("--percentiles needs --runs here: exact percentiles exist only at stations with " +
			"order, or with fcfs and equal servers")
	}
	if f.within != nil && !known {
		return a, false, errors.New("--within needs a station with order, or with fcfs and equal servers")
	}
	switch {
	case n.uneven != nil && f.simulation.Runs == 0:
		err = refused(n.uneven)
	case f.factors != nil:
		a, found, err = command.AtFactors(q, f.factors,
			func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
				return f.answerOne(q, m.scale(factor))
			})
	default:
		if f.populations.list != nil {
			err = f.populations.find(n.Model)
		}
		if err == nil {
			a, found, err = f.answerOne(q, m)
		}
	}
	return a, found, command.InFile(q.File, err)
}

// answerOne answers for one model. A stable model is solved and, with --runs, also simulated.
func (f *networkQuestion) answerOne(q command.Query, m networkModel) (a render.Answer, found bool, err error) {
	over, solve, err := m.decide(f, q)
	switch {
	case err != nil:
		return a, false, f.binding.Translate(err, "")
	case over != nil:
		return over.answer(f.settings.Engine), false, nil
	}
	var plan *sim.Plan // created before any long computation
	if f.simulation.Runs > 0 {
		if plan, err = f.plan(q.Ctx, m); err != nil {
			return a, false, err
		}
	}
	s, err := solve()
	if err != nil {
		return a, false, f.binding.Translate(err, "")
	}
	a = s.answer()
	if plan != nil {
		a, err = f.simulate(q, plan, s, a)
	}
	return a, err == nil, err
}

// A networkModel is the content of a file.
type networkModel interface {
	isOpen() bool                       // some jobs arrive from outside or from sources
	scale(factor *big.Rat) networkModel // all arrival rates multiplied by factor >= 0
	meanSize() *big.Rat                 // mean of simulated sizes; nil for 1, which each class scales
	system(shape sizes.Distribution) sim.System

	// decide returns what overloads the model. If that is nil, solve computes the exact answer,
	// which takes longer.
	decide(f *networkQuestion, q command.Query) (over *unstable, solve func() (networkSolution, error), err error)
}

// read reads the model and the sizes to simulate.
func (f *networkQuestion) read(q command.Query) (m networkModel, err error) {
	if m, err = read(q); err != nil || f.sizes == "" {
		return m, cmp.Or(err, command.CheckColumns(f.sizes, f.dialect))
	}
	mean, err := command.MeanOfSizes(m.meanSize())
	if err != nil {
		return m, command.InFile(q.File, err)
	}
	f.shape, _, err = command.ReadSizes(q, f.sizes, f.dialect, mean)
	return m, err
}

// read reads the file of the question. Its fields determine the kind of model.
func read(q command.Query) (networkModel, error) {
	const want = "a network with stations, or a system with losses"
	root, q, err := command.Look(q, want)
	if err != nil {
		return nil, err
	}
	if root.Kind != file.ObjectKind {
		return nil, command.InFile(q.File, root.Locate(input.Errorf("", root, want)))
	}
	switch has := func(field string) bool { return slices.Contains(root.Keys, field) }; {
	case has("stations"):
		fields := command.ClusterFields("servers", "mean_size")
		m, err := command.Read(q, network.Read, network.ReadFile, "solve", fields...)
		if err != nil {
			return nil, err
		}
		return stations{Model: m, uneven: root.Locate(root.AsWritten(m.CheckSizes()))}, nil
	case has("format"):
		m, err := command.Read(q, line.Read, line.ReadFile, "solve")
		return stations{Model: m, isLINE: true}, err
	case has("swaps"):
		m, err := command.Read(q, swap.Read, swap.ReadFile, "")
		return swaps{m}, err
	case has("resources"):
		m, err := command.Read(q, loss.Read, loss.ReadFile, "")
		return losses{m}, command.MeantForPool(err)
	}
	fields := command.ClusterFields("mean_size", "servers.count")
	if command.IsNetwork(root) {
		fields = nil
	}
	m, err := command.Read(q, loss.Read, loss.ReadFile, "solve", fields...)
	var bad *input.Error
	if fields == nil && errors.As(err, &bad) && bad.Path == "mean_size" {
		err = fmt.Errorf("%w; here each class has its own mean_size", err)
	}
	return losses{m}, command.MeantForPlan(err)
}

// plan makes the plan of a simulation.
func (f *networkQuestion) plan(ctx context.Context, m networkModel) (*sim.Plan, error) {
	return command.NewPlan(ctx, f.binding, m.system(f.shape), &f.simulation)
}

// plans returns the plans of the simulations that answer runs, at every factor. An unstable model
// has none.
func (f *networkQuestion) plans(q command.Query) (plans []*sim.Plan, err error) {
	m, err := f.read(q)
	if err != nil {
		return nil, err
	}
	return command.PlansAt(q, f.factors, m, networkModel.scale, "what is unstable has",
		func(m networkModel) ([]*sim.Plan, error) {
			plan, err := f.plan(q.Ctx, m)
			return []*sim.Plan{plan}, err
		})
}

// refused adds alternatives to the error about mean sizes without formulas.
func refused(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	extended := *bad
	extended.Want += "; --runs simulates it as it is, and with discipline balanced (sharing in place of fcfs) " +
		"any sizes have one"
	return &extended
}
