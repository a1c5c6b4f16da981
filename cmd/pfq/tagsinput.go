package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// A decimal is a number as it is written, and in double precision.
type decimal struct {
	text  string
	exact *big.Rat
	float float64
}

// short returns the number for people, as it is written unless that is a fraction.
func (d decimal) short() string {
	if strings.Contains(d.text, "/") {
		return six(d.float)
	}
	return d.text
}

func parseDecimal(good func(float64) bool) func(string) (decimal, bool) {
	return func(text string) (decimal, bool) {
		exact, err := num.ParseRat(text)
		if err != nil {
			return decimal{}, false
		}
		v, ok := num.Float64(exact)
		return decimal{text, exact, v}, ok && good(v)
	}
}

// parseDecimals reads numbers in [low, high] between commas.
func parseDecimals(low, high float64) func(string) ([]decimal, bool) {
	return parseList(func(v float64) bool { return v >= low && v <= high })
}

// parseCutoffs reads cutoffs between commas.
func parseCutoffs(text string) ([]decimal, bool) {
	return parseList(func(v float64) bool { return v == 0 || v >= 1e-300 && v <= 1e300 })(text)
}

// parseList reads good numbers between commas.
func parseList(good func(float64) bool) func(string) ([]decimal, bool) {
	parse := parseDecimal(good)
	return func(text string) (list []decimal, ok bool) {
		for word := range strings.SplitSeq(text, ",") {
			v, ok := parse(word)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	}
}

// floats returns the numbers in double precision, nil for nil.
func floats(list []decimal) (values []float64) {
	for _, d := range list {
		values = append(values, d.float)
	}
	return values
}

// An objective tells what cutoffs are for.
type objective struct {
	fair    bool           // equal slowdowns; else the weights count
	weights tags.Objective // for fairness those of the policies that cannot be fair
}

var objectives = []string{"slowdown", "waiting", "fairness", "slowdown=A,waiting=B"}

// parseObjective reads one of the objectives.
func parseObjective(text string) (objective, error) {
	if !strings.Contains(text, "=") {
		o := map[string]objective{
			"slowdown": {weights: tags.Objective{Slowdown: 1}},
			"waiting":  {weights: tags.Objective{Waiting: 1}},
			"fairness": {fair: true, weights: tags.Objective{Slowdown: 1}},
		}
		if _, ok := o[text]; !ok {
			err := cli.CheckWord("--objective", text, objectives[:3]) // for which it may suggest one
			var bad *input.Error
			if errors.As(err, &bad) {
				err = &input.Error{Path: bad.Path, Value: bad.Value, Want: objectives[3] + ", " + bad.Want}
			}
			return objective{}, err
		}
		return o[text], nil
	}
	bad := input.Errorf("--objective", text, "slowdown=A,waiting=B, in which A and B are numbers in [0, 1e100] and not both 0")
	var o objective
	weights := map[string]*float64{"slowdown": &o.weights.Slowdown, "waiting": &o.weights.Waiting}
	parse := parseDecimal(func(v float64) bool { return v >= 0 && v <= 1e100 })
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		weight, ok := parse(number)
		if weights[name] == nil || !ok {
			return objective{}, bad
		}
		*weights[name] = weight.float
		delete(weights, name)
	}
	if o.weights == (tags.Objective{}) {
		return objective{}, bad
	}
	return o, nil
}

// A sizeFlags holds the flags that name a law of job sizes.
type sizeFlags struct {
	alpha, max, min, mean decimal // of the bounded Pareto law, exact is nil for those not given
	file                  string  // of sizes
	fit, processorSeconds bool
	name                  string             // of a law of the mean
	count                 int                // of the sizes in the file, once it is read
	own                   sizes.Distribution // of them, as in the file
	fitted                float64            // alpha of the law that fits them
	exact                 []*big.Rat         // the sizes as they are written, nil if the doubles are exact or a law fits them
}

func (s *sizeFlags) add(cmd *cobra.Command) {
	number := func(target *decimal, name, usage string, low, high float64) {
		cli.Flag[decimal]{Name: name, Kind: "float", Usage: usage, Want: fmt.Sprintf("a number in [%g, %g]", low, high),
			Parse: parseDecimal(func(v float64) bool { return v >= low && v <= high })}.Add(cmd, target)
	}
	number(&s.alpha, "alpha", "exponent `A` of the bounded Pareto law of job sizes", 1e-100, 1e9)
	number(&s.max, "max", "largest size `P` of the bounded Pareto law", 1e-300, 1e300)
	number(&s.min, "min", "smallest size `K` of the bounded Pareto law", 1e-300, 1e300)
	number(&s.mean, "mean", "mean size `M`, of the bounded Pareto law or with --law", 1e-300, 1e300)
	cli.AddText(cmd, &s.file, "sizes", "", "the name of a file, or - for the standard input", "sizes are those in the `FILE`, or - for the standard input")
	cli.AddSwitch(cmd, &s.fit, "fit", "take the bounded Pareto law that fits --sizes best")
	cli.AddSwitch(cmd, &s.processorSeconds, "processor-seconds", "--sizes is a log, and sizes are run times by numbers of processors")
	cli.AddText(cmd, &s.name, "law", "", "the name of a law of job sizes", "`LAW` of job sizes, of the mean --mean")
	if err := cmd.RegisterFlagCompletionFunc("law", cobra.FixedCompletions(sizes.Names(), cobra.ShellCompDirectiveNoSpace)); err != nil {
		panic(err) // the flag is there
	}
}

// source returns the flag that stands for the sizes.
func (s *sizeFlags) source() string {
	switch {
	case s.file != "":
		return "--sizes"
	case s.name != "":
		return "--law"
	}
	return "--alpha"
}

// check accepts the flags of one law.
func (s *sizeFlags) check(given func(string) bool) error {
	source := s.source()
	if source == "--alpha" && !slices.ContainsFunc([]string{"alpha", "max", "min", "mean"}, given) {
		return &input.Error{Path: "--alpha", Want: "--alpha A --max P with --min K or --mean M, or --sizes FILE, or --law LAW --mean M"}
	}
	own := map[string][]string{"--alpha": {"alpha", "max", "min", "mean"}, "--sizes": {"sizes", "fit", "processor-seconds"}, "--law": {"law", "mean"}}[source]
	for _, name := range []string{"alpha", "max", "min", "mean", "fit", "processor-seconds", "law"} {
		switch {
		case !given(name) || slices.Contains(own, name):
		case source == "--alpha":
			return fmt.Errorf("--%s is of no use without --sizes", name)
		default:
			return fmt.Errorf("%s and --%s exclude each other", source, name)
		}
	}
	switch {
	case source == "--sizes":
	case source == "--law" && !given("mean"):
		return &input.Error{Path: "--mean", Want: "the mean size, with --law"}
	case source == "--law":
	case !given("alpha"):
		return &input.Error{Path: "--alpha", Want: "the exponent of the bounded Pareto law"}
	case !given("max"):
		return &input.Error{Path: "--max", Want: "the largest size of the bounded Pareto law"}
	case given("min") && given("mean"):
		return fmt.Errorf("--min and --mean exclude each other")
	case !given("min") && !given("mean"):
		return &input.Error{Path: "--min", Want: "the smallest size of the bounded Pareto law, or its mean as --mean"}
	case given("min") && s.min.float >= s.max.float:
		return input.Errorf("--min", s.min.text, "a number below --max, %s", s.max.text)
	case given("mean") && s.mean.float >= s.max.float:
		return input.Errorf("--mean", s.mean.text, "a number below --max, %s", s.max.text)
	}
	return nil
}

// law returns the law of the sizes.
func (s *sizeFlags) law(stdin io.Reader, stderr io.Writer) (sizes.Distribution, error) {
	switch s.source() {
	case "--law":
		d, err := parseSizes("--law", s.name, s.mean.float)
		if _, ok := d.(sizes.Atomic); ok {
			s.exact = []*big.Rat{s.mean.exact} // the one size
		}
		return d, err
	case "--sizes":
		return s.empirical(stdin, stderr)
	}
	if s.min.exact != nil {
		return sizes.NewBoundedPareto(s.min.float, s.max.float, s.alpha.float)
	}
	return sizes.NewBoundedParetoOfMean(s.alpha.float, s.max.float, s.mean.float)
}

// empirical returns the law of the sizes in the file, or the one that fits them.
func (s *sizeFlags) empirical(stdin io.Reader, stderr io.Writer) (d sizes.Distribution, err error) {
	list, name, err := readSizeFile(s.form(), stdin, s.processorSeconds, stderr)
	if err != nil {
		return nil, err
	}
	s.count = len(list.Sizes)
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

// form returns --sizes with what it is read as: a log if it ends in .swf or .gz, or if only a log has what is asked for.
func (s *sizeFlags) form() string {
	switch path, _ := sizePath(s.file); {
	case path != "":
		return s.file
	case s.processorSeconds, strings.HasSuffix(s.file, ".swf"), strings.HasSuffix(s.file, ".gz"):
		return fromLog + s.file
	}
	return fromList + s.file
}

// describe writes what the sizes are, those of the law that the flags name.
func (s *sizeFlags) describe(w io.Writer, law sizes.Distribution) {
	switch s.source() {
	case "--law":
		fmt.Fprintf(w, "sizes are of the law %s: %s\n", s.name, spread(law))
	case "--sizes":
		low, high, _ := s.own.Support()
		path, _ := sizePath(s.form())
		fmt.Fprintf(w, "%s: %s, %s, from %s to %s\n", source(path), counted(s.count, "size"), spread(s.own), six(low), six(high))
		if s.fit {
			fmt.Fprintf(w, "the law that fits them is bounded Pareto of alpha %s: %s\n", six(s.fitted), spread(law))
		}
	default:
		low, _, _ := law.Support()
		fmt.Fprintf(w, "sizes are bounded Pareto of alpha %s from %s to %s: %s\n", s.alpha.short(), six(low), s.max.short(), spread(law))
	}
}

// spread returns mean and squared coefficient of variation for people.
func spread(d sizes.Distribution) string {
	mean, err := sizes.Mean(d)
	scv, errSCV := sizes.SCV(d)
	return fmt.Sprintf("mean %s, squared coefficient of variation %s", six(unless(err != nil, mean)), six(unless(errSCV != nil, scv)))
}

// muchOff is the relative difference of means above which a fitted law is doubtful.
const muchOff = 0.1

// misfit warns if the mean of the law that fits a file is far from that of the sizes there; else it is empty.
func (s *sizeFlags) misfit(law sizes.Distribution) string {
	if !s.fit {
		return ""
	}
	fitted, err := sizes.Mean(law)
	own, errOwn := sizes.Mean(s.own)
	if err != nil || errOwn != nil || math.Abs(fitted-own) <= muchOff*own {
		return ""
	}
	return fmt.Sprintf("the fitted law has mean %.4g, the sizes in the file %.4g: all numbers here are of the law, not of the file", fitted, own)
}
