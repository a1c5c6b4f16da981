// This file implements pfq tags: hosts that guess job sizes, their best cutoffs, and other
// policies.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// tagsFlags holds the values of the flags of tags.
type tagsFlags struct {
	binding        *cli.Binding
	hosts          int
	load           decimal // load of the flag, otherwise the load that follows from the arrival rate
	arrivalRate    decimal // exact is nil if it is not given
	sizes          sizeFlags
	speeds         []decimal // nil if all are 1
	objectiveText  string
	objective      objective
	objectiveGiven bool
	cutoffs        []decimal // nil for the best cutoffs
	resume         resumeFlags
	printed        bool
	engine         string
	tol            float64            // tolerance of the bounds of enclose
	target         float64            // target of the server expansion, 0 for none
	settings       command.Simulation // Runs is 0 without a simulation
	rivals         bool               // whether only policies without exact means are simulated
	percentiles    []command.Percentile
	factors        []*big.Rat // factors of the load; nil leaves it unchanged
}

// Without --runs, least-work-remaining is simulated in this many runs of this many jumps, unless its
// means are exact. This takes about a tenth of a second.
const rivalRuns, rivalJumps = 10, 1e5

var hostsWanted = fmt.Sprintf("an integer in 1..%d", tags.MaxHosts)

// newTagsCommand returns the command tags.
func newTagsCommand() *cobra.Command {
	var f tagsFlags
	cmd := command.New("tags", func(q command.Query) (render.Answer, bool, error) {
		if err := cli.Check("--output", q.To, f.sizes.file(), q.Stdin); err != nil {
			return render.Answer{}, false, err
		}
		a, found, err := f.answer(q)
		return a, found, f.translate(err)
	})
	f.binding = cli.Bind(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd) }
	f.add(cmd)
	f.settings.None = true
	usage := "simulate all policies, in `N` runs; 0 for none; by default least-work-remaining alone"
	command.AddSimulation(f.binding, &f.settings, &f.percentiles, usage,
		func(q command.Query) ([]*sim.Plan, error) {
			plans, err := f.plans(q)
			return plans, f.translate(err)
		})
	return cmd
}

// add adds the flags to the command.
func (f *tagsFlags) add(cmd *cobra.Command) {
	b := f.binding
	f.addHosts()
	cli.Flag[decimal]{Name: "load", Usage: "system load `R`, the arriving work divided by what all hosts can do",
		Want:  "a number > 0 and < 1, in double precision too, such as 0.3 for 30 percent",
		Parse: parseDecimal(func(v float64) bool { return v > 0 && v < 1 })}.Add(cmd, &f.load)
	b.Name("Load", "load")
	cli.Flag[decimal]{Name: "arrival-rate", Kind: "float", Usage: "`L` jobs per second, in place of --load",
		Want:  "a number in [1e-300, 1e300]",
		Parse: parseDecimal(func(v float64) bool { return v >= 1e-300 && v <= 1e300 })}.Add(cmd, &f.arrivalRate)
	f.sizes.add(b)
	f.addFarm(cmd)
	cli.AddList(cmd, &f.cutoffs, tags.MaxHosts, cli.Flag[[]decimal]{Name: "cutoffs", Kind: "floats",
		Want:  "0, or a number in [1e-300, 1e300]",
		Usage: "use these cutoffs, such as 100,1e4, one fewer than hosts",
		Parse: parseOne(func(v float64) bool { return v == 0 || v >= 1e-300 && v <= 1e300 })})
	b.Name("Cutoffs", "cutoffs")
	f.resume.add(b, cmd)
	cli.AddChoice(cmd, &f.engine, "engine", tagsEngines, "arithmetic")
	f.tol = 1e-15
	cli.AddNumber(cmd, &f.tol, "tol", "1e-15", "a number >= 1e-290 and < 1",
		"relative width of the bounds that the engine enclose proves",
		func(v float64) bool { return v >= 1e-290 && v < 1 })
	cli.AddSwitch(cmd, &f.printed, "printed", "also give least-work-remaining as printed in the paper")
	b.Number(&f.target, "Target", "expand", "", "a number in [1e-100, 1e100]",
		"also give the hosts to add for a mean slowdown of at most `TARGET`",
		func(v float64) bool { return v >= 1e-100 && v <= 1e100 })
	command.AddScale(cmd, &f.factors, "analyse", "the load")
	cli.AddGone(cmd, "plot", "pfq plot tags draws cutoffs against load")
}

// addHosts adds --hosts.
func (f *tagsFlags) addHosts() {
	f.binding.Int(&f.hosts, "Hosts", "hosts", tags.MaxHosts, "number `H` of hosts")
}

// addFarm adds the flags for the speeds of the hosts and the objective of the cutoffs.
func (f *tagsFlags) addFarm(cmd *cobra.Command) {
	cli.AddList(cmd, &f.speeds, tags.MaxHosts, cli.Flag[[]decimal]{Name: "speeds", Kind: "floats",
		Want:  "a number in [1e-100, 1e100]",
		Usage: "work that each host does per second, such as 2,1,1 (default 1 each)",
		Parse: parseOne(func(v float64) bool { return v >= 1e-100 && v <= 1e100 })})
	f.binding.Name("Speeds", "speeds")
	f.objectiveText = objectives[0]
	words := cli.OneOf(objectives)
	cli.AddText(cmd, &f.objectiveText, "objective", "", words, "what the cutoffs optimize: "+words)
	f.binding.Name("Objective.Slowdown", "objective")
	cli.Complete(cmd, "objective", objectives[:3], cobra.ShellCompDirectiveNoFileComp)
}

// check rejects flags that contradict each other.
func (f *tagsFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if !given("hosts") {
		return &input.Error{Path: "--hosts", Want: hostsWanted}
	}
	switch {
	case given("load") && given("arrival-rate"):
		return fmt.Errorf("--load and --arrival-rate cannot be combined")
	case !given("load") && !given("arrival-rate"):
		return &input.Error{Path: "--load", Want: "a number > 0 and < 1, or --arrival-rate"}
	}
	var err error
	if f.objective, err = parseObjective(f.objectiveText); err != nil {
		return err
	}
	f.objectiveGiven = given("objective")
	if err := f.resume.check(given); err != nil {
		return err
	}
	simulated := func(name string) bool { return given(name) && (name != "runs" || f.settings.Runs > 0) }
	if err := command.CheckSimulation(simulated, &f.settings, f.percentiles); err != nil {
		return err
	}
	if f.rivals = !given("runs"); f.rivals {
		f.settings.Runs, f.settings.Jumps = rivalRuns, rivalJumps
	}
	for i, v := range f.speeds {
		if given("expand") && v.float != f.speeds[0].float {
			return input.Errorf(input.Index("--speeds", i), v.text, "one speed for all hosts, %s, with --expand",
				f.speeds[0].text)
		}
	}
	if err := f.sizes.check(f.binding); err != nil {
		return err
	}
	return f.checkEngine()
}

// answer analyses the farm, at every factor if factors are given, and reports whether it has
// cutoffs that keep every host below load 1.
func (f *tagsFlags) answer(q command.Query) (a render.Answer, feasible bool, err error) {
	distribution, err := f.distribution(q)
	switch {
	case err != nil:
		return a, false, err
	case f.factors == nil:
		return f.farm(q, distribution)
	}
	return command.AtFactors(q, f.factors, func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
		one, err := f.scaled(factor)
		if err != nil {
			return a, false, err
		}
		return one.farm(q, distribution)
	})
}

// plans returns the plans of the simulations that answer runs, at every factor.
func (f *tagsFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	distribution, err := f.distribution(q)
	if err != nil {
		return nil, err
	}
	all := []*tagsFlags{f}
	if f.factors != nil {
		all = nil
	}
	for _, factor := range f.factors {
		one, err := f.scaled(factor)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, one := range all {
		a, err := one.analyzed(q, distribution)
		if err != nil {
			return nil, err
		}
		own, _, err := a.plans(q.Ctx)
		if err != nil {
			return nil, err
		}
		plans = append(plans, own...)
	}
	return plans, nil
}

// distribution returns the sizes, and sets the load if the arrival rate is given.
func (f *tagsFlags) distribution(q command.Query) (sizes.Distribution, error) {
	d, err := f.sizes.distribution(q.Stdin, q.Stderr)
	if err == nil && f.arrivalRate.exact != nil {
		err = f.setLoad(d)
	}
	if err != nil && f.sizes.file() != "" {
		err = cli.FlagError{Err: err}
	}
	return d, err
}

// scaled returns the question at a multiple of the load.
func (f *tagsFlags) scaled(factor *big.Rat) (*tagsFlags, error) {
	one := *f
	load := new(big.Rat).Mul(f.load.exact, factor)
	v, ok := num.Float64(load)
	if !ok || !(v > 0 && v < 1) {
		return nil, cli.FlagError{Err: input.Errorf("--scale", factor.RatString(),
			"factors with which the load %s is > 0 and < 1", f.load.text)}
	}
	one.load = decimal{load.RatString(), load, v}
	return &one, nil
}

// farm analyses the farm at its load.
func (f *tagsFlags) farm(q command.Query, d sizes.Distribution) (answer render.Answer, feasible bool, err error) {
	a, err := f.analyzed(q, d)
	if err == nil && f.settings.Runs > 0 {
		err = a.simulate(q.Ctx, q.Stderr)
	}
	if err != nil {
		return answer, false, err
	}
	for _, w := range a.warnings {
		fmt.Fprintln(q.Stderr, "pfq: warning:", w)
	}
	return a.answer(), a.feasible() && !a.misses(), nil
}

// analyzed computes everything except the simulation, unless a signal interrupts it.
func (f *tagsFlags) analyzed(q command.Query, d sizes.Distribution) (*tagsAnswer, error) {
	m := tags.Model{Sizes: d, Hosts: f.hosts, Load: f.load.float, Speeds: floats(f.speeds), Fractions: &tags.Fractions{
		Load: f.load.exact, Speeds: exacts(f.speeds), Sizes: f.sizes.exact, Cutoffs: exacts(f.cutoffs)}}
	f.resume.set(&m)
	return command.WithProgress(q, func(ctx context.Context) (*tagsAnswer, error) { return f.analyze(ctx, m) })
}

// setLoad sets the load that results from the arrival rate, λ E[X]/Σ_i v_i. It is exact for a list
// and for --mean, whose mean is exact; otherwise it is computed in float64.
func (f *tagsFlags) setLoad(d sizes.Distribution) error {
	capacity := big.NewRat(int64(f.hosts), 1)
	if f.speeds != nil {
		capacity.SetInt64(0)
	}
	for _, v := range f.speeds {
		capacity.Add(capacity, v.exact)
	}
	mean, err := f.sizes.exactMean(d)
	if err != nil {
		return err
	}
	load := new(big.Rat).Mul(f.arrivalRate.exact, mean)
	load.Quo(load, capacity)
	v, ok := num.Float64(load)
	if !ok || v >= 1 {
		most, _ := capacity.Quo(capacity, mean).Float64()
		return input.Errorf("--arrival-rate", f.arrivalRate.text,
			"a rate below %.6g, at which the system load is 1, and a load within double precision", most)
	}
	f.load = decimal{load.RatString(), load, v}
	return nil
}

// translate names the flags that an error is about. A mean that is infinite or too large is about
// the sizes.
func (f *tagsFlags) translate(err error) error {
	var pathErr *fs.PathError
	var done cli.FlagError
	switch {
	case errors.As(err, &done): // the error may name a file
	case errors.As(err, &pathErr) && f.settings.Sweep.Folder != "":
		return fmt.Errorf("--results = %s: %w", f.settings.Sweep.Folder, pathErr.Err)
	case errors.Is(err, sizes.ErrInfinite):
		err = input.Errorf("Sizes", "", "sizes with a finite mean square, without which no waiting time is finite")
	case errors.Is(err, sizes.ErrOverflow):
		err = input.Errorf("Sizes", "", "sizes whose means double precision can hold")
	}
	return f.binding.Translate(err, "")
}
