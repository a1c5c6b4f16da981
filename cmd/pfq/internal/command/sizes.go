package command

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/dispatch/joblog"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sizes"
	"productform/traces"
)

// The prefixes of --sizes that name a file: a list of sizes, a log in any format, or a log in
// Standard Workload Format.
const (
	FromList = "file:"
	FromLog  = "log:"
	FromSWF  = "swf:"
)

// BoundedPareto is the form of --sizes that names a distribution with its own mean.
const BoundedPareto = "bounded-pareto:ALPHA:MIN:MAX"

// SizeNames returns the possible forms of --sizes.
func SizeNames() []string {
	return append(sizes.Names(), FromList+"PATH", FromLog+"PATH", FromSWF+"PATH")
}

// SizePath returns the path in a value of --sizes that names a file, and whether the file is a log;
// "" if the value names no file.
func SizePath(text string) (path string, isLog bool) {
	for _, prefix := range []string{FromLog, FromSWF} {
		if path, isLog = strings.CutPrefix(text, prefix); isLog {
			return path, true
		}
	}
	if path, isList := strings.CutPrefix(text, FromList); isList {
		return path, false
	}
	return "", false
}

// AddSizes adds --sizes, whose default is the value of the target, and the flags of its log.
func AddSizes(b *cli.Binding, target *string, dialect *joblog.Dialect, usage string) {
	cmd := b.Cmd
	b.Name("Sizes", "sizes")
	cli.AddText(cmd, target, "sizes", "", "the name of a distribution of job sizes", usage)
	cli.AddRenamed(cmd, "law", "sizes")
	cli.AddColumns(cmd, dialect)
	cli.Complete(cmd, "sizes", SizeNames(), cobra.ShellCompDirectiveNoSpace)
}

// ParseSizes returns the distribution of the given mean that the value of a flag names; it must not
// name a file.
func ParseSizes(flag, text string, mean float64) (sizes.Distribution, error) {
	family := familyOf(text)
	known := slices.ContainsFunc(sizes.Names(), func(form string) bool { return familyOf(form) == family })
	if _, err := os.Stat(text); !known && (err == nil || isLogName(text)) {
		return nil, input.Errorf(flag, text, "%s", FileSizes(text))
	}
	if !known {
		words := func(yield func(string) bool) {
			for _, form := range SizeNames() {
				if !yield(familyOf(form)) {
					return
				}
			}
		}
		return nil, input.Errorf(flag, text, "%s%s", cli.OneOf(SizeNames()),
			file.DidYouMean(family, words, formOf))
	}
	d, err := sizes.Parse(text, mean)
	return d, nameSizesFlag(flag, text, err)
}

// familyOf returns the first word of a value of --sizes, such as weibull.
func familyOf(text string) string {
	family, _, _ := strings.Cut(text, ":")
	return family
}

// formOf returns the first form of --sizes that begins with a word, such as weibull:SHAPE.
func formOf(family string) string {
	forms := SizeNames()
	return forms[slices.IndexFunc(forms, func(form string) bool { return familyOf(form) == family })]
}

// ParseUnscaled returns the distribution that the value of a flag names with its own mean, nil if
// it names none.
func ParseUnscaled(flag, text string) (sizes.Distribution, error) {
	if !strings.HasPrefix(BoundedPareto, familyOf(text)+":") {
		return nil, nil
	}
	d, err := sizes.ParseUnscaled(text)
	return d, nameSizesFlag(flag, text, err)
}

// ReadSizes returns the distribution that a value of --sizes names, with the given mean. Sizes from
// a file or between given ends are scaled to this mean; scaledFrom is then their original mean.
func ReadSizes(q Query, text string, dialect joblog.Dialect, mean float64) (
	d sizes.Distribution, scaledFrom *float64, err error,
) {
	if d, err = ReadOwnSizes(q, text, dialect); err != nil {
		return nil, nil, err
	}
	if d == nil {
		d, err = ParseSizes("--sizes", text, mean)
		return d, nil, err
	}
	had, err := sizes.Mean(d)
	switch {
	case err != nil:
		return nil, nil, input.Errorf("--sizes", text, "sizes whose mean double precision can hold")
	case had == mean:
		return d, nil, nil
	}
	if d, err = sizes.WithMean(d, mean); err != nil {
		return nil, nil, input.Errorf("--sizes", text, "sizes that can be scaled to the mean %v", mean)
	}
	return d, &had, nil
}

// ReadOwnSizes returns the sizes in the file that a value of --sizes names, or sizes between given
// ends, unscaled. It returns nil if the value names another distribution.
func ReadOwnSizes(q Query, text string, dialect joblog.Dialect) (sizes.Distribution, error) {
	path, _ := SizePath(text)
	if err := CheckColumns(text, dialect); err != nil {
		return nil, err
	}
	if path == "" {
		return ParseUnscaled("--sizes", text)
	}
	if err := cli.Check("--output", q.To, path, nil); err != nil {
		return nil, err
	}
	list, name, err := ReadSizeFile(text, dialect, nil, false, q.Stderr)
	if err != nil {
		return nil, err
	}
	d, err := sizes.NewEmpirical(list.Sizes)
	if err != nil {
		return nil, input.InFile(name, err)
	}
	return d, nil
}

// MeanOfSizes returns the field mean_size of a model, nil for 1, in float64. The error reports that
// sizes with this mean cannot be drawn.
func MeanOfSizes(exact *big.Rat) (float64, error) {
	mean, _ := num.OrOne(exact).Float64()
	if !(mean >= 1e-90 && mean <= 1e90) {
		return 0, input.Errorf("mean_size", exact.RatString(), "a number in [1e-90, 1e90] to simulate")
	}
	return mean, nil
}

// nameSizesFlag names the flag in an error about sizes.
func nameSizesFlag(flag, text string, err error) error {
	var bad *input.Error
	switch {
	case errors.As(err, &bad) && bad.Path == "mean":
		return &input.Error{Path: "--mean", Value: bad.Value, Want: bad.Want}
	case errors.As(err, &bad):
		return &input.Error{Path: flag, Value: text, Want: bad.Want}
	}
	return err
}

// FileSizes returns the values of --sizes that name a file: a log if its name looks like one.
func FileSizes(path string) string {
	if isLogName(path) {
		return FromSWF + path
	}
	return FromList + path + " for a list of sizes, or " + FromLog + path + " for a log"
}

// isLogName reports whether a name is that of a log in Standard Workload Format, compressed or not,
// or of a log embedded in pfq.
func isLogName(path string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	return strings.HasSuffix(name, ".swf") || slices.Contains(traces.Names(), path)
}

// ReadSizeFile returns the sizes in the file that a value of --sizes names, and the name of the
// file. The path is that of a file, the name of a log embedded in pfq, or "-" for the standard
// input if available. The sizes in a log are run times, or the work of the processors.
func ReadSizeFile(
	text string, dialect joblog.Dialect, stdin io.Reader, work bool, stderr io.Writer,
) (list *sizes.List, name string, err error) {
	path, isLog := SizePath(text)
	name = path
	var from io.ReadCloser
	switch {
	case path == "-" && stdin != nil:
		from, name = io.NopCloser(stdin), cli.Source(path)
	case isLog && path != "-":
		from, err = cli.Open(path, nil)
	default:
		if from, err = os.Open(path); err != nil {
			err = input.InFile(path, err)
		}
	}
	if err != nil {
		return nil, name, cli.FlagError{Err: fmt.Errorf("--sizes: %w", err)}
	}
	defer from.Close()
	without := "a run time > 0"
	switch {
	case work && !isLog:
		return nil, name, input.InFile(name, input.Errorf("--processor-seconds", "a list of sizes", "a log, log:PATH"))
	case strings.HasPrefix(text, FromLog):
		if work {
			without = "a run time > 0 and processors"
		}
		log := joblog.NewReader(from, name, dialect)
		list, err = sizes.ReadLog(joblog.Plain{Reader: log}, name, work)
		cli.WriteReport(stderr, "pfq", name, log.Report())
	case work:
		without = "a run time > 0 and processors"
		list, err = sizes.ReadWork(from, name)
	case isLog:
		list, err = sizes.ReadRunTimes(from, name)
	default:
		list, err = sizes.ReadList(from, name)
	}
	if err != nil {
		return nil, name, err
	}
	WarnSkipped(stderr, name, list.Skipped, "without "+without)
	return list, name, nil
}

// CheckColumns rejects --columns and --zone without a log that has columns and dates.
func CheckColumns(text string, dialect joblog.Dialect) error {
	switch isLog := strings.HasPrefix(text, FromLog); {
	case dialect.Columns != nil && !isLog:
		return errors.New("--columns needs a log, --sizes log:PATH")
	case dialect.Zone != nil && !isLog:
		return errors.New("--zone needs a log, --sizes log:PATH")
	}
	return nil
}

// WarnSkipped warns if jobs of a log are skipped: how many, and of which kind.
func WarnSkipped(stderr io.Writer, log string, skipped int, kind string) {
	verb := "are"
	switch skipped {
	case 0:
		return
	case 1:
		verb = "is"
	}
	fmt.Fprintf(stderr, "pfq: warning: %s: %s %s %s omitted\n", log,
		render.Counted(skipped, "job"), kind, verb)
}
