// Package network is the command network of pfq.
package network

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/network"
	"productform/num"
	"productform/sim"
)

// A networkFlags holds what the flags of network ask for.
type networkFlags struct {
	binding     *cli.Binding
	settings    network.Settings
	factors     []*big.Rat // of the arrival rates; nil for the model as it is
	populations populations
	bounds      bool // for networks of any size
	simulation  sim.Settings
	percentiles []command.Percentile
	sizes       string // that are simulated, "" for exponential ones
}

// New returns the command.
func New() *cobra.Command {
	f := networkFlags{}
	cmd := command.New("network MODEL", f.answer)
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	b.Engine(&s.Engine)
	b.Tol(&s.RelTol)
	b.Int(&s.MaxJobs, "MaxJobs", "distribution", 10_000, "also give the probabilities of 0, ..., `N` jobs at each station, N from 1 to 10000")
	b.Memory(&s.MaxBytes)
	b.Remedy(num.Bounds, "bounds")
	b.Remedy(num.Simulation, "runs")
	command.AddScale(cmd, &f.factors, "solve", "all arrival rates")
	cli.Flag[populations]{Name: "population", Kind: "[CLASS=]LIST", Usage: "solve once for each population of a closed class, such as 1:100:1 or user=10,20,50",
		Want:  fmt.Sprintf("numbers of jobs or ranges FROM:TO:STEP, after CLASS= if several classes are closed, at most %d in all", mostPopulations),
		Parse: parsePopulations}.Add(cmd, &f.populations)
	cli.AddSwitch(cmd, &f.bounds, "bounds", "do not solve: give proved bounds of throughputs and delays of closed chains, at any size")
	command.AddPercentiles(cmd, &f.percentiles, "also give these percentiles of the delays of visits to stations in order of arrival; with --runs estimate those of all delays")
	command.AddRuns(b, &f.simulation, "also simulate the model, in so many `RUNS`", f.plans)
	command.AddSizes(b, &f.sizes, "with --runs, `DISTRIBUTION` of the sizes that are simulated, or the sizes in "+
		"file:PATH or swf:PATH, scaled to each mean size (default exponential)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	return cmd
}

// check accepts flags that go together.
func (f *networkFlags) check(given func(string) bool) error {
	if given("population") && given("scale") {
		return errors.New("--population and --scale exclude each other: one thing changes at a time")
	}
	for _, flag := range []string{"engine", "tol", "distribution", "memory", "population"} {
		if f.bounds && given(flag) {
			return fmt.Errorf("--bounds and --%s exclude each other: bounds are fractions, and solve nothing", flag)
		}
	}
	for _, flag := range []string{"bounds", "population"} {
		if given("runs") && given(flag) {
			return fmt.Errorf("--runs and --%s exclude each other", flag)
		}
	}
	if given("sizes") && !given("runs") {
		return errors.New("--sizes needs --runs")
	}
	for _, flag := range []string{"bounds", "population"} {
		if given("percentiles") && given(flag) {
			return fmt.Errorf("--percentiles and --%s exclude each other", flag)
		}
	}
	if err := command.CheckRuns(given); err != nil {
		return err
	}
	if err := command.CheckPercentiles(f.percentiles); err != nil {
		return err
	}
	return command.SetLevels(&f.simulation, f.percentiles)
}

// answer solves the model, at every factor or population if there are some.
func (f *networkFlags) answer(q command.Query) (a render.Answer, found bool, err error) {
	m, err := f.read(q)
	if err != nil {
		return a, false, err
	}
	given := []bool{f.bounds, f.settings.MaxJobs > 0, f.populations.list != nil}
	if k := slices.Index(given, true); k >= 0 && m.network == nil {
		name := []string{"bounds", "distribution", "population"}[k]
		return a, false, fmt.Errorf("--%s needs a network with stations", name)
	}
	if f.factors != nil && !m.isOpen() {
		return a, false, errors.New("--scale needs arrivals: it multiplies their rates, and here all jobs " +
			"are present from the start")
	}
	if f.percentiles != nil && f.simulation.Runs == 0 && (m.network == nil || !slices.ContainsFunc(m.network.Stations, knowsDelays)) {
		return a, false, errors.New("--percentiles needs --runs here: exact percentiles exist only at stations with " +
			"fcfs and equal servers")
	}
	switch {
	case m.uneven != nil && f.simulation.Runs == 0:
		err = refused(m.uneven)
	case f.populations.list != nil:
		a, found, err = f.sweep(q, m.network)
	case f.factors == nil:
		a, found, err = f.one(q, m)
	default:
		one := func(q command.Query, factor *big.Rat) (render.Answer, bool, error) { return f.one(q, m.scale(factor)) }
		a, found, err = command.AtFactors(q, f.factors, one)
	}
	return a, found, command.InFile(q.File, err)
}

// one answers for one model.
func (f *networkFlags) one(q command.Query, m model) (a render.Answer, found bool, err error) {
	switch {
	case f.bounds:
		return f.bound(q, m.network)
	case m.network != nil:
		return f.stations(q, m)
	case m.swap != nil:
		return f.swaps(q, m)
	}
	return f.losses(q, m)
}

// planned returns the plan of what is to be simulated, before anything that takes long; nil if nothing is.
func (f *networkFlags) planned(q command.Query, m model) (*sim.Plan, error) {
	if f.simulation.Runs == 0 {
		return nil, nil
	}
	return f.plan(q.Ctx, m)
}

// manyStates is the number of states from which an enclosure takes long enough to announce.
const manyStates = 50_000

// solve solves the network. Before a long enclosure, it says which tolerance float64 meets.
func (f *networkFlags) solve(ctx context.Context, q command.Query, m *network.Model) (*network.Result, error) {
	s := f.settings
	if s.Engine != num.Auto {
		return network.Solve(ctx, m, s)
	}
	quick := s
	quick.Engine = num.Float
	r, err := network.Solve(ctx, m, quick)
	switch {
	case err != nil:
	case r.RelativeErrorBound <= s.RelTol:
		return r, nil
	case r.States >= manyStates:
		fmt.Fprintf(q.Stderr, "pfq: note: float64 proves a relative error of %.2g only; engine enclose takes "+
			"about 20 times as long. For the answer of float64, give --tol %s or --engine float\n",
			r.RelativeErrorBound, tolAbove(r.RelativeErrorBound))
	}
	return network.Solve(ctx, m, s)
}

// tolAbove returns the smallest one-digit number above a bound, as a flag takes it.
func tolAbove(bound float64) string {
	exponent := int(math.Floor(math.Log10(bound)))
	return fmt.Sprintf("%.0fe%d", math.Floor(bound/math.Pow10(exponent))+1, exponent)
}

// refused says of mean sizes for which there are no formulas what can be done.
func refused(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	told := *bad
	told.Want += "; --runs simulates it as it is, and with discipline balanced (sharing in place of fcfs) any sizes have one"
	return &told
}

// orNoted returns an error as flags have it; that a network is too large is only noted if it is simulated.
func (f *networkFlags) orNoted(q command.Query, plan *sim.Plan, what string, err error) error {
	var large *num.TooLargeError
	switch {
	case plan != nil && errors.As(err, &large):
		fmt.Fprintf(q.Stderr, "pfq: note: no exact %s: %s\n", what, cli.OneLine(err))
		return nil
	case err != nil:
		return f.translate(err)
	}
	return nil
}

// notes adds to the note of an answer what its simulated sizes have to do with its exact numbers, if it has any, and
// with its file.
func (f *networkFlags) notes(m model, hasExact bool, note string) string {
	var list []string
	if note != "" {
		list = append(list, note)
	}
	if f.simulation.Runs > 0 && !f.isExponential() && hasExact && m.needsExponential() {
		list = append(list, "the exact numbers hold for exponential sizes only; the simulated sizes are "+f.sizes)
	}
	if f.simulation.Runs > 0 && f.sizes == "" && m.isLINE {
		list = append(list, "the simulated sizes are exponential, whatever distributions the LINE file has; --sizes "+
			"draws others")
	}
	return strings.Join(list, "; ")
}

// translate puts flags in the place of settings.
func (f *networkFlags) translate(err error) error {
	return f.binding.Translate(err, "")
}
