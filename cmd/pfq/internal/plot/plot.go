// Package plot is the command plot of pfq: pictures of the measures of a cluster against its load.
package plot

import (
	"context"
	"fmt"
	"math/big"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/plots"
	"productform/plots/draw"
	"productform/sim"
	"productform/stability"
)

// byName is the format that the name of the file tells, SVG without one.
const byName = "auto"

// A plotFlags holds what the flags of plot ask for.
type plotFlags struct {
	show         []string
	percentiles  []command.Percentile
	distribution int // most jobs; 0 for none
	factors      []*big.Rat
	settings     sim.Settings // Runs is 0 for no simulation
}

// New returns the command.
func New() *cobra.Command {
	f := plotFlags{show: []string{delay, utilization}}
	formats := []string{byName}
	for _, format := range draw.Formats() {
		if format != draw.HTML {
			formats = append(formats, string(format))
		}
	}
	cmd := command.NewWriter("plot MODEL", formats, f.answer)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	cli.AddWords(cmd, &f.show, "show", []string{delay, jobs, rate, utilization, none}, "means to draw against the load: delay, jobs, rate, utilization, or none")
	command.AddPercentiles(cmd, &f.percentiles, "also draw these percentiles of the delay of each class, in order of arrival with exponential sizes")
	cli.Flag[int]{Name: "distribution", Usage: fmt.Sprintf("also draw the probabilities of 0, ..., `N` jobs in all at the rates of the model, N from 1 to %d", bf.MostJobs),
		Want: fmt.Sprintf("an integer in 1..%d", bf.MostJobs), Parse: cli.ParseInt(bf.MostJobs)}.Add(cmd, &f.distribution)
	command.AddScale(cmd, &f.factors, "draw a point", "all arrival rates")
	cli.Flag[int]{Name: "runs", Usage: "also simulate, `N` independent runs at each of eight loads", Want: "an integer in 2..1000000",
		Parse: cli.ParseIntFrom(2, 1e6)}.Add(cmd, &f.settings.Runs)
	command.AddRuns(cmd, &f.settings, f.plans)
	return cmd
}

// check accepts flags that go together.
func (f *plotFlags) check(given func(string) bool) error {
	if slices.Contains(f.show, none) {
		if len(f.show) > 1 {
			return input.Errorf("--show", strings.Join(f.show, ","), "%s alone, or without it", none)
		}
		f.show = nil
	}
	if len(f.show) == 0 && len(f.percentiles) == 0 && f.distribution == 0 {
		return input.Errorf("--show", none, "something to draw, here or with --percentiles or --distribution")
	}
	for i, factor := range f.factors {
		if factor.Sign() == 0 {
			return input.Errorf(input.Index("--scale", i), "0", "factors > 0: without arrivals there is nothing to draw")
		}
		if i > 0 && factor.Cmp(f.factors[i-1]) <= 0 {
			return input.Errorf("--scale", factor.RatString(), "factors that increase, more than %s before it", f.factors[i-1].RatString())
		}
	}
	if err := command.CheckRuns(given); err != nil {
		return err
	}
	return command.SetLevels(&f.settings, f.percentiles)
}

// answer draws the model.
func (f *plotFlags) answer(q command.Query) (picture []byte, found bool, err error) {
	format, err := formatOf(q)
	if err != nil {
		return nil, false, err
	}
	m, err := command.ReadModel(q)
	if err != nil {
		return nil, false, err
	}
	if err := f.checkPanels(m); err != nil {
		return nil, false, command.InFile(q.File, err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(16 << 30)) // as that of the tables
	c, err := f.curves(q, m)
	if err != nil || c == nil {
		return nil, false, command.InFile(q.File, err)
	}
	c.table = format == draw.CSV
	if f.settings.Runs > 0 {
		if c.points, err = f.simulate(q, c); err != nil {
			return nil, false, command.InFile(q.File, err)
		}
	}
	name := "model"
	if q.File != "-" {
		name = strings.TrimSuffix(filepath.Base(q.File), filepath.Ext(q.File))
	}
	picture, err = draw.Render(c.figure(name), format)
	return picture, true, command.InFile(q.File, err)
}

// formatOf returns the format of the picture: that asked for, or that of the name of the file.
func formatOf(q command.Query) (draw.Format, error) {
	if q.Format != byName {
		return draw.Format(q.Format), nil
	}
	if q.To == "" || q.To == "-" {
		return draw.SVG, nil
	}
	format := draw.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(q.To), ".")))
	if format == draw.HTML || !slices.Contains(draw.Formats(), format) {
		return "", input.Errorf("--output", q.To, "a name that ends in .png, .svg, .pdf or .csv, or --format beside it")
	}
	return format, nil
}

// A curves holds the numbers of a picture: what theory says at each load, and simulation at some.
type curves struct {
	flags    *plotFlags
	model    *cluster.Model
	critical *big.Rat   // factor of the rates from which on the cluster is unstable
	factors  []*big.Rat // below it
	results  []*bf.Result
	delays   []*bf.DelayResult // nil without percentiles
	jobs     *bf.Result        // at the rates of the model; nil without distribution
	points   []point           // nil without simulation
	table    bool              // whether the numbers are wanted, not a picture
}

// curves solves the model at all loads. It is nil where none of them is stable, which the standard error says.
func (f *plotFlags) curves(q command.Query, m *cluster.Model) (*curves, error) {
	verdict, err := command.WithProgress(q, func(ctx context.Context) (*stability.Result, error) { return stability.Cluster(ctx, m) })
	if err != nil {
		return nil, err
	}
	if verdict.CriticalScale == nil {
		return nil, input.Errorf("classes", "no arrivals", "a class with an arrival_rate > 0")
	}
	c := &curves{flags: f, model: m, critical: verdict.CriticalScale}
	c.factors = f.loads(verdict.CriticalScale)
	bound := verdict.CriticalScale.RatString()
	switch asked := len(f.factors); {
	case len(c.factors) == 0:
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: the cluster is unstable with its arrival rates multiplied by %s or more\n", bound)
		return nil, nil
	case f.distribution > 0 && !verdict.Stable:
		fmt.Fprintf(q.Stderr, "pfq: there is no distribution to draw: the cluster is unstable with its arrival rates multiplied by %s or more\n", bound)
		return nil, nil
	case asked > len(c.factors):
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d loads are not drawn: the cluster is unstable with its arrival rates multiplied by %s or more\n",
			asked-len(c.factors), asked, bound)
	}
	return command.WithProgress(q, func(ctx context.Context) (*curves, error) { return c, c.solve(ctx) })
}

// loads returns the factors at which the model is drawn: those asked for below the critical one, or fortieths of that.
func (f *plotFlags) loads(critical *big.Rat) (factors []*big.Rat) {
	if f.factors == nil {
		for k := int64(1); k < 40; k++ {
			factors = append(factors, new(big.Rat).Mul(critical, big.NewRat(k, 40)))
		}
		return factors
	}
	for _, factor := range f.factors {
		if factor.Cmp(critical) < 0 {
			factors = append(factors, factor)
		}
	}
	return factors
}

// solve asks theory.
func (c *curves) solve(ctx context.Context) (err error) {
	if c.results, err = bf.LoadSweep(ctx, c.model, c.factors, bf.Settings{}); err != nil {
		return err
	}
	if c.flags.distribution > 0 {
		if c.jobs, err = bf.Solve(ctx, c.model, bf.Settings{MaxJobs: c.flags.distribution}); err != nil {
			return err
		}
	}
	if len(c.flags.percentiles) == 0 {
		return nil
	}
	var question bf.DelayQuestion
	for _, p := range c.flags.percentiles {
		question.Levels = append(question.Levels, p.Level)
	}
	for _, factor := range c.factors {
		r, err := bf.Delays(ctx, c.model.Scale(factor), question, bf.Settings{})
		if err != nil {
			return err
		}
		c.delays = append(c.delays, r)
	}
	return nil
}

// figure returns what is drawn.
func (c *curves) figure(name string) *plots.Figure {
	f := &plots.Figure{ID: name, Title: "measures against load", Caption: c.caption(name), Confidence: c.flags.settings.Confidence}
	for _, q := range c.quantities() {
		f.Panels = append(f.Panels, c.panels(q)...)
	}
	if c.jobs != nil {
		f.Panels = append(f.Panels, c.distribution())
	}
	return f
}

// checkPanels refuses a model with more to draw than a picture has room for.
func (f *plotFlags) checkPanels(m *cluster.Model) error {
	classes := 0 // with arrivals: others have no delay
	for _, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 {
			classes++
		}
	}
	count := len(f.percentiles) * panelsOf(classes)
	for _, word := range f.show {
		switch word {
		case delay, rate:
			count += panelsOf(classes)
		case jobs:
			count += panelsOf(len(m.Classes))
		case utilization:
			count += panelsOf(len(m.Servers))
		}
	}
	if f.distribution > 0 {
		count++
	}
	if count > mostPanels {
		return &input.Error{Path: "classes", Value: fmt.Sprintf("%d, and %d rows of servers", len(m.Classes), len(m.Servers)),
			Want: fmt.Sprintf("less to draw: at most %d panels of %d curves, not %d", mostPanels, mostCurves, count)}
	}
	return nil
}
