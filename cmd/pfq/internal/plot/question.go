// Package plot is the command plot of pfq: pictures of a cluster or of shared resources against
// load, and of the costs of plans.
package plot

import (
	"fmt"
	"math/big"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cmd/pfq/internal/command"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/num"
	"productform/plan"
	"productform/plots"
	"productform/plots/draw"
	"productform/sim"
)

// The quantities that can be drawn against load.
const (
	delay       = "delay"
	jobs        = "jobs"
	rate        = "rate"
	utilization = "utilization"
	tasks       = "tasks"
	waiting     = "waiting"
	waits       = "waits"
	abandons    = "abandons"
	timesOut    = "times-out"
	queue       = "queue"
	servedBy    = "served-by"
	waste       = "waste"
	throughput  = "throughput"
	response    = "response"
	blocking    = "blocking"
	none        = "none"
)

// A question holds the values of the flags.
type question struct {
	binding     *cli.Binding
	show        []string
	classes     chosen // classes of a cluster
	percentiles []command.Percentile
	asked       bf.Question // the distribution to draw; MaxJobs is 0 without one
	within      []*big.Rat  // times for service levels
	count       counted
	scaling     command.Scaling
	solver      Solver
	networks    NetworkSolver
	population  counted            // closed class, and its populations
	settings    command.Simulation // Runs is 0 without a simulation
	policies    command.Policies   // of pools
	chain       traffic.Settings
	find        string // of plans
	search      plan.SearchSettings

	given func(string) bool // whether a flag is given
	table bool              // whether the output is a table, not a picture
}

// New returns the command. The solver answers about clusters that are not solved by balanced
// fairness, networks about networks.
func New(solver Solver, networks NetworkSolver) *cobra.Command {
	f := question{show: []string{delay, utilization}, search: plan.SearchSettings{Limit: 100_000}, solver: solver,
		networks: networks}
	cmd := NewPicture("plot MODEL", f.draw)
	b := cli.Bind(cmd)
	f.binding = b
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	words := []string{delay, jobs, rate, utilization, tasks, waiting, waits, abandons, timesOut, queue, servedBy, waste,
		throughput, response, blocking, none}
	cli.AddWords(cmd, &f.show, "show", words, "what to draw against the load, or none; the words depend on the file")
	cli.Flag[chosen]{Name: "classes",
		Usage: "for a cluster: draw only these classes and the servers that they can use: `NAMES` such as web,mail, " +
			"or worst:10 for the ten with the longest mean delays",
		Want: "names of classes, such as web,mail, or worst:N with N >= 1", Parse: parseChosen}.Add(cmd, &f.classes)
	command.AddPercentiles(cmd, &f.percentiles,
		"for a cluster: also draw these percentiles of the delay of each class, first come, first served with "+
			"exponential sizes")
	b.Int(&f.asked.MaxJobs, "MaxJobs", "distribution", bf.MostJobs,
		fmt.Sprintf(
			"for a cluster: also draw the probabilities of 0, ..., `N` jobs in total at the rates of the model, "+
				"N from 1 to %d",
			bf.MostJobs,
		))
	b.Name("Levels", "percentiles")
	command.AddWithin(cmd, &f.within, "waiting times of each class (service: one)")
	b.Name("Times", "within")
	cli.Flag[counted]{Name: "count",
		Usage: "draw a cluster with another service against the number of servers in a row: `ROW=FROM:TO`, " +
			"or ROW=FROM:TO:STEP",
		Want: "a row of servers and integers from 1 to 1000000, such as agents=20:40", Hint: command.HintRange,
		Parse: parseCounted,
	}.Add(cmd, &f.count)
	cli.Flag[counted]{Name: "population", Kind: "[CLASS=]FROM:TO",
		Usage: "draw a network against the population of a closed class, such as 1:100 or user=10:100:10",
		Want:  "integers from 1 to 1000000, such as 1:100, after CLASS= if several classes are closed",
		Hint:  command.HintRange, Parse: parsePopulation}.Add(cmd, &f.population)
	command.AddScaling(cmd, &f.scaling, "draw a point")
	b.Name("loads", "scale")
	f.policies.Add(b, "how the resources of a pool are shared")
	b.Int(&f.chain.MaxStates, "MaxStates", "states", 1e9,
		fmt.Sprintf("maximum number of `STATES` of the Markov chain of a pool (default %d)", traffic.DefaultMaxStates))
	cli.AddChoice(cmd, &f.find, "find", []string{findFrontier, findGrowth, findLoad},
		"for a plan: the best plans for their cost, the smallest cost as the load grows, or the greatest load that "+
			"plans carry")
	b.Int(&f.search.Limit, "Limit", "limit", 1e9, "stop a search for plans after this many `SOLVES`")
	command.AddRuns(b, &f.settings, "also simulate, `N` independent runs at each of eight loads", f.plans)
	f.addHints(cmd)
	return cmd
}

// addHints adds hints about flags of other commands.
func (f *question) addHints(cmd *cobra.Command) {
	cli.AddGone(cmd, "dynamic", "the file decides: jobs with an arrival_rate arrive and depart")
	for _, name := range []string{"hosts", "sizes", "alpha", "objective", "mean"} {
		cli.AddGone(cmd, name, "pfq plot tags draws hosts that guess job sizes")
	}
	for _, name := range []string{"budget", "minimize", "targets"} {
		cli.AddGone(cmd, name, "it is in the file of the plan")
	}
	cli.AddGone(cmd, "load", "--scale takes factors of the arrival rates; pfq plot tags takes loads")
	accept := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 && slices.Contains(draw.Formats(), extension(args[1])) {
			return fmt.Errorf("plot takes one MODEL, not 2 arguments; the picture is named by --output %s", args[1])
		}
		if len(args) == 2 && slices.Contains([]string{findFrontier, findGrowth, findLoad}, args[0]) {
			return fmt.Errorf("plot takes one MODEL, not 2 arguments; of a plan %s is drawn with --find %s",
				args[0], args[0])
		}
		return accept(cmd, args)
	}
}

// check rejects flags that contradict each other.
func (f *question) check(given func(string) bool) error {
	f.given = given
	if slices.Contains(f.show, none) {
		if len(f.show) > 1 {
			return input.Errorf("--show", strings.Join(f.show, ","), "%s alone, or without it", none)
		}
		f.show = nil
	}
	for _, flag := range []string{"count", "population"} {
		if given(flag) && given("scale") {
			return fmt.Errorf("--%s and --scale cannot be combined", flag)
		}
	}
	if len(f.show) == 0 && len(f.percentiles) == 0 && len(f.within) == 0 && f.asked.MaxJobs == 0 {
		return input.Errorf("--show", none, "something to draw, here or with --percentiles, --within or --distribution")
	}
	for i, factor := range f.scaling.Factors {
		if factor.Sign() == 0 {
			return input.Errorf(input.Index("--scale", i), "0",
				"factors > 0: without arrivals, or a capacity, there is nothing to draw")
		}
		if i > 0 && factor.Cmp(f.scaling.Factors[i-1]) <= 0 {
			return input.Errorf("--scale", factor.RatString(), "factors that increase, more than %s before it",
				f.scaling.Factors[i-1].RatString())
		}
	}
	if err := command.CheckRuns(given); err != nil {
		return err
	}
	if err := f.policies.Check(); err != nil {
		return err
	}
	return command.SetLevels(&f.settings.Settings, f.percentiles)
}

// draw draws the content of the file.
func (f *question) draw(q command.Query, table bool) (*plots.Figure, error) {
	f.table = table
	s, err := f.source(q)
	if err != nil {
		return nil, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(num.DefaultMaxBytes)) // as for the tables
	switch s.kind {
	case planFile:
		return f.planned(q, s)
	case poolFile:
		return f.shared(q, s)
	case trafficFile:
		return f.traffic(q, s)
	case clusterFile:
		return f.cluster(q, s)
	case networkFile:
		return f.network(q, s)
	}
	return f.service(q, s)
}

// plans returns the simulations of all points.
func (f *question) plans(q command.Query) (plans []*sim.Plan, err error) {
	s, err := f.source(q)
	if err != nil {
		return nil, err
	}
	switch s.kind {
	case clusterFile:
	case trafficFile:
		return f.trafficPlans(q, s)
	default:
		return f.servicePlans(q, s)
	}
	m, err := command.ReadModelOfAll(s.query)
	if err != nil {
		return nil, err
	}
	verdict, err := command.Decide(q, m)
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	if verdict.CriticalScale == nil {
		fmt.Fprintln(q.Stderr, "pfq: note: a model without arrivals has no runs")
		return nil, nil
	}
	factors := f.loads(verdict.CriticalScale, fortieths)
	for _, k := range plots.Evenly(len(factors), mostPoints) {
		plan, err := f.plan(q, m.Scale(factors[k]))
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// translate replaces settings by their flags in an error, and adds advice if traffic is too large
// to solve.
func (f *question) translate(err error) error {
	return command.TranslateTraffic(f.binding, err, f.chain, f.settings.Runs, "smaller factors in --scale")
}
