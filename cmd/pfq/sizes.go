package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"strings"

	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/sizes"
)

// fromFile begins a value of --sizes that names a file.
const fromFile = "file:"

// sizeNames returns the forms that --sizes may have.
func sizeNames() []string { return append(sizes.Names(), fromFile+"PATH") }

// readSizes returns the law of the given mean that a value of --sizes names.
func readSizes(text string, mean float64, stderr io.Writer) (sizes.Distribution, error) {
	path, ok := strings.CutPrefix(text, fromFile)
	if !ok || path == "" {
		return parseLaw("--sizes", text, sizeNames(), mean)
	}
	jobSizes, _, err := readSizeFile(path, nil, false, stderr)
	if err != nil {
		return nil, err
	}
	d, err := sizes.NewEmpirical(jobSizes)
	if err == nil {
		d, err = sizes.WithMean(d, mean)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// parseLaw returns the law of the given mean that the value of a flag names, one of the names.
func parseLaw(flag, text string, names []string, mean float64) (sizes.Distribution, error) {
	family, _, _ := strings.Cut(text, ":")
	known := false
	for _, name := range names {
		name, _, _ = strings.Cut(name, ":")
		known = known || name == family && text != fromFile
	}
	if !known {
		return nil, cli.CheckWord(flag, text, names)
	}
	d, err := sizes.Parse(text, mean)
	var bad *input.Error
	switch {
	case errors.As(err, &bad) && bad.Path == "mean":
		return nil, &input.Error{Path: "--mean", Value: bad.Value, Want: bad.Want}
	case errors.As(err, &bad):
		return nil, &input.Error{Path: flag, Value: text, Want: bad.Want}
	}
	return d, err
}

// counted returns a number of things: "1 host", "2 hosts".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// readSizeFile returns the sizes in a file, or on the standard input if there is one and the path is "-", of which
// there is at least one, and exactly unless the doubles are exact. In a log they are run times, or the work that the
// processors did.
func readSizeFile(path string, stdin io.Reader, work bool, stderr io.Writer) ([]float64, []*big.Rat, error) {
	without, want := "a run time > 0", "one size a line, or a log in Standard Workload Format"
	if work {
		without, want = "a run time > 0 and processors", "a log in Standard Workload Format"
	}
	from := stdin
	if stdin == nil || path != "-" {
		f, err := os.Open(path)
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the rest of it repeats the name
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		defer f.Close()
		from = f
	} else {
		path = source(path)
	}
	jobSizes, exact, skipped, err := sizes.ReadExactSizes(from, work)
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case err == nil && len(jobSizes) == 0:
		err = &input.Error{Want: want, Value: "a file without sizes"}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if skipped > 0 {
		verb := "are"
		if skipped == 1 {
			verb = "is"
		}
		fmt.Fprintf(stderr, "pfq: warning: %s: %s without %s %s left out\n", path, counted(skipped, "job"), without, verb)
	}
	return jobSizes, exact, nil
}
