package main

import (
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/num"
	"productform/plots"
	"productform/sim"
)

// pictureFlags holds the values of the flags of plot tags.
type pictureFlags struct {
	tagsFlags
	loads []decimal
}

const (
	mostLoads  = 1000
	mostPoints = 8 // maximum number of simulated loads
)

// newTagsPlot returns the command plot tags, made by newPicture: a command that answers with a
// figure, given whether its numbers are for a table.
func newTagsPlot(newPicture func(use string, figure func(command.Query, bool) (*plots.Figure, error)) *cobra.Command,
) *cobra.Command {
	var f pictureFlags
	cmd := newPicture("plot-tags", func(q command.Query, table bool) (*plots.Figure, error) {
		p, err := f.picture(q, table)
		return p, f.translate(err)
	})
	f.binding = cli.Bind(cmd)
	cmd.Use = "tags" // its help differs from that of pfq tags
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.checkPicture(cmd) }
	f.addPicture(cmd)
	usage := "also simulate all policies, `N` independent runs at each of eight loads"
	command.AddRuns(f.binding, &f.settings, usage, func(q command.Query) ([]*sim.Plan, error) {
		plans, err := f.plans(q)
		return plans, f.translate(err)
	})
	return cmd
}

// addPicture adds the flags to the command.
func (f *pictureFlags) addPicture(cmd *cobra.Command) {
	f.addHosts()
	for k := int64(1); k < 40; k++ {
		load := big.NewRat(k, 40)
		v, _ := load.Float64()
		f.loads = append(f.loads, decimal{load.RatString(), load, v})
	}
	cli.AddList(cmd, &f.loads, mostLoads, cli.Flag[[]decimal]{Name: "load", Kind: "floats",
		Default: "1/40:39/40:1/40", Parse: parseLoads, Hint: command.HintRange,
		Usage: "system loads at which points are drawn, such as 0.5,0.6 or 0.1:0.9:0.05",
		Want:  "a number > 0 and < 1, or a range FROM:TO:STEP of such numbers"})
	f.binding.Name("Load", "load")
	f.sizes.add(f.binding)
	f.addFarm(cmd)
	cli.AddGone(cmd, "scale", "--load takes the loads themselves, such as 0.1:0.9:0.05")
	cli.AddGone(cmd, "arrival-rate", "points are drawn at the loads of --load")
	cli.AddGone(cmd, "cutoffs", "the best cutoffs are drawn; pfq tags takes others")
	f.engine = autoEngine
	f.tol = 1e-15
}

// parseLoads reads a load, or a range of loads.
func parseLoads(word string) (loads []decimal, ok bool) {
	factors, ok := command.ParseFactors(word)
	for _, load := range factors {
		v, inRange := num.Float64(load)
		if !inRange || !(v > 0 && v < 1) {
			return nil, false
		}
		loads = append(loads, decimal{load.RatString(), load, v})
	}
	return loads, ok
}

// checkPicture rejects flags that contradict each other.
func (f *pictureFlags) checkPicture(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if !given("hosts") {
		return &input.Error{Path: "--hosts", Want: hostsWanted}
	}
	for i, load := range f.loads {
		if i > 0 && load.exact.Cmp(f.loads[i-1].exact) <= 0 {
			return input.Errorf("--load", load.text, "loads that increase, more than %s before it", f.loads[i-1].text)
		}
	}
	var err error
	if f.objective, err = parseObjective(f.objectiveText); err != nil {
		return err
	}
	f.objectiveGiven = given("objective")
	if err := command.CheckRuns(given); err != nil {
		return err
	}
	return f.sizes.check(f.binding)
}

// at returns the question at one of the loads.
func (f *pictureFlags) at(k int) *tagsFlags {
	one := f.tagsFlags
	one.load = f.loads[k]
	return &one
}

// plans returns the simulations of all points.
func (f *pictureFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	d, err := f.distribution(q)
	if err != nil {
		return nil, err
	}
	for _, k := range plots.Evenly(len(f.loads), mostPoints) {
		a, err := f.at(k).analyzed(q, d)
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

// picture analyses the farm at each load and draws it. If no load has cutoffs, the figure is nil,
// and the standard error gives the reason.
func (f *pictureFlags) picture(q command.Query, table bool) (*plots.Figure, error) {
	if err := cli.Check("--output", q.To, f.sizes.file(), q.Stdin); err != nil {
		return nil, err
	}
	d, err := f.distribution(q)
	if err != nil {
		return nil, err
	}
	c := &farmCurves{flags: f, sizes: d, table: table}
	for k := range f.loads {
		a, err := f.at(k).analyzed(q.Of("load").Part(k, len(f.loads)), d)
		if err != nil {
			return nil, err
		}
		c.answers = append(c.answers, a)
	}
	missing := 0
	for _, a := range c.answers {
		if !a.feasible() {
			missing++
		}
	}
	switch reason := c.reason(); {
	case missing == len(f.loads):
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: %s\n", reason)
		return nil, nil
	case missing > 0:
		fmt.Fprintf(q.Stderr, "pfq: note: TAGS is not drawn at %d of %d loads: %s\n", missing, len(f.loads), reason)
	}
	if f.settings.Runs > 0 {
		for _, k := range plots.Evenly(len(f.loads), mostPoints) {
			if err := c.answers[k].simulate(q.Ctx, q.Stderr); err != nil {
				return nil, err
			}
		}
	}
	c.warn(q)
	return c.figure(), nil
}
