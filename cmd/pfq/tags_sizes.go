package main

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch/joblog"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/sizes"
)

// sizeFlags holds the flags that name a distribution of job sizes.
type sizeFlags struct {
	alpha, max, min, mean decimal        // parameters of the bounded Pareto distribution; exact is nil if not given
	text                  string         // value of --sizes
	dialect               joblog.Dialect // describes the log
	fit, processorSeconds bool
	name                  string             // name of the file, once read
	count                 int                // number of sizes in it
	own                   sizes.Distribution // distribution of the sizes in the file, unscaled
	fitted                float64            // alpha of the fitted distribution
	exact                 []*big.Rat         // sizes as written; nil for float64 and with --fit
}

func (s *sizeFlags) add(b *cli.Binding) {
	number := func(target *decimal, setting, name, usage string, low, high float64) {
		cli.Flag[decimal]{Name: name, Kind: "float", Usage: usage, Want: fmt.Sprintf("a number in [%g, %g]", low, high),
			Parse: parseDecimal(func(v float64) bool { return v >= low && v <= high })}.Add(b.Cmd, target)
		b.Name(setting, name)
	}
	number(&s.alpha, "alpha", "alpha", "exponent `A` of the bounded Pareto distribution of job sizes", 1e-100, 1e9)
	number(&s.max, "high", "max", "largest size `P` of the bounded Pareto distribution", 1e-300, 1e300)
	number(&s.min, "low", "min", "smallest size `K` of the bounded Pareto distribution", 1e-300, 1e300)
	number(&s.mean, "mean", "mean", "mean size `M`, of the bounded Pareto distribution or with --sizes", 1e-300, 1e300)
	command.AddSizes(b, &s.text, &s.dialect,
		"`DISTRIBUTION` of job sizes, with mean --mean unless it has its own, or the sizes in file:PATH or log:PATH")
	cli.AddSwitch(b.Cmd, &s.fit, "fit", "use the bounded Pareto distribution that fits the file of --sizes best")
	cli.AddSwitch(b.Cmd, &s.processorSeconds, "processor-seconds",
		"sizes of log:PATH are run times multiplied by numbers of processors")
}

// file returns the path in --sizes, or "" if it names no file.
func (s *sizeFlags) file() string {
	path, _ := command.SizePath(s.text)
	return path
}

// isBoundedPareto reports whether the flags give alpha and the largest size, and the smallest or
// the mean.
func (s *sizeFlags) isBoundedPareto() bool { return s.alpha.exact != nil }

// readEnds reads alpha, min and max from --sizes and reports whether they are present.
func (s *sizeFlags) readEnds() (bool, error) {
	d, err := command.ParseUnscaled("--sizes", s.text)
	if d == nil || err != nil {
		return false, err
	}
	parse := parseDecimal(func(float64) bool { return true })
	words := strings.Split(strings.TrimPrefix(s.text, "bounded-pareto:"), ":")
	for i, target := range []*decimal{&s.alpha, &s.min, &s.max} {
		var ok bool
		if *target, ok = parse(words[i]); !ok {
			return false, input.Errorf("--sizes", s.text, "%s in decimals or fractions", command.BoundedPareto)
		}
	}
	return true, nil
}

// check rejects flags of several distributions, and names the flag that errors about sizes refer
// to.
func (s *sizeFlags) check(b *cli.Binding) error {
	given, source := b.Cmd.Flags().Changed, "alpha"
	if s.text != "" {
		source = "sizes"
	}
	b.Name("Sizes", source)
	b.Name("Model.Sizes", source)
	if source == "alpha" && !slices.ContainsFunc([]string{"alpha", "max", "min", "mean"}, given) {
		return &input.Error{Path: "--sizes",
			Want: "DISTRIBUTION --mean M, file:PATH, log:PATH, swf:PATH, or --alpha A --max P with --min K or --mean M"}
	}
	if err := command.CheckColumns(s.text, s.dialect); err != nil {
		return err
	}
	own := []string{"alpha", "max", "min", "mean"}
	switch {
	case s.file() != "":
		own = []string{"fit", "processor-seconds"}
	case source == "sizes":
		own = []string{"mean"}
	}
	for _, name := range []string{"alpha", "max", "min", "mean", "fit", "processor-seconds"} {
		switch {
		case !given(name) || slices.Contains(own, name):
		case name == "fit" || name == "processor-seconds":
			return fmt.Errorf("--%s needs a file, --sizes file:PATH, log:PATH or swf:PATH", name)
		default:
			return fmt.Errorf("--sizes %s and --%s cannot be combined", s.text, name)
		}
	}
	switch {
	case s.file() != "":
	case source == "sizes" && given("mean"):
		_, err := command.ParseSizes("--sizes", s.text, 1)
		return err
	case source == "sizes":
		if hasEnds, err := s.readEnds(); err != nil || hasEnds {
			return err
		}
		if _, err := command.ParseSizes("--sizes", s.text, 1); err != nil {
			return err
		}
		return &input.Error{Path: "--mean", Want: "the mean size, with --sizes"}
	case !given("alpha"):
		return &input.Error{Path: "--alpha", Want: "the exponent of the bounded Pareto distribution"}
	case !given("max"):
		return &input.Error{Path: "--max", Want: "the largest size of the bounded Pareto distribution"}
	case given("min") && given("mean"):
		return fmt.Errorf("--min and --mean cannot be combined")
	case !given("min") && !given("mean"):
		return &input.Error{Path: "--min",
			Want: "the smallest size of the bounded Pareto distribution, or its mean as --mean"}
	case given("min") && s.min.float >= s.max.float:
		return input.Errorf("--min", s.min.text, "a number below --max, %s", s.max.text)
	case given("mean") && s.mean.float >= s.max.float:
		return input.Errorf("--mean", s.mean.text, "a number below --max, %s", s.max.text)
	}
	return nil
}

// distribution returns the distribution of the sizes.
func (s *sizeFlags) distribution(stdin io.Reader, stderr io.Writer) (sizes.Distribution, error) {
	switch {
	case s.file() != "":
		return s.empirical(stdin, stderr)
	case s.text != "" && !s.isBoundedPareto():
		d, err := command.ParseSizes("--sizes", s.text, s.mean.float)
		if _, ok := d.(sizes.Atomic); ok {
			s.exact = []*big.Rat{s.mean.exact} // the single size
		}
		return d, err
	case s.min.exact != nil:
		return sizes.NewBoundedPareto(s.min.float, s.max.float, s.alpha.float)
	}
	return sizes.NewBoundedParetoOfMean(s.alpha.float, s.max.float, s.mean.float)
}

// exactMean returns E[X] from --mean or the file, otherwise in float64.
func (s *sizeFlags) exactMean(d sizes.Distribution) (*big.Rat, error) {
	if s.mean.exact != nil {
		return s.mean.exact, nil
	}
	sum, count := new(big.Rat), int64(len(s.exact))
	for _, x := range s.exact {
		sum.Add(sum, x)
	}
	if atomic, ok := d.(sizes.Atomic); ok && count == 0 {
		counts := atomic.Counts()
		for i, x := range atomic.Atoms() {
			n := int64(counts[i])
			count += n
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(x), big.NewRat(n, 1)))
		}
	}
	if count > 0 {
		return sum.Quo(sum, big.NewRat(count, 1)), nil
	}
	mean, err := sizes.Mean(d)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetFloat64(mean), nil
}

// empirical returns the distribution of the sizes in the file, or the one that fits them.
func (s *sizeFlags) empirical(stdin io.Reader, stderr io.Writer) (d sizes.Distribution, err error) {
	list, name, err := command.ReadSizeFile(s.text, s.dialect, stdin, s.processorSeconds, stderr)
	if err != nil {
		return nil, err
	}
	s.name, s.count = name, len(list.Sizes)
	s.own, err = sizes.NewEmpirical(list.Sizes)
	d = s.own
	if err == nil && s.fit {
		d, s.fitted, err = sizes.FitBoundedPareto(list.Sizes)
	} else {
		s.exact = list.Exact
	}
	if err != nil {
		return nil, input.InFile(name, err)
	}
	return d, nil
}

// fitTol is the relative difference of means above which a fitted distribution is doubtful.
const fitTol = 0.1

// misfit returns a warning if the mean of the distribution that fits a file is far from the mean of
// the sizes in the file, otherwise "".
func (s *sizeFlags) misfit(d sizes.Distribution) string {
	if !s.fit {
		return ""
	}
	fitted, err := sizes.Mean(d)
	own, errOwn := sizes.Mean(s.own)
	if err != nil || errOwn != nil || math.Abs(fitted-own) <= fitTol*own {
		return ""
	}
	return fmt.Sprintf("the fitted distribution has mean %.4g, the sizes in the file %.4g: all numbers here are of "+
		"the distribution, not of the file", fitted, own)
}
