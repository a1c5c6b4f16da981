package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"productform/cmd/internal/cli"
	"productform/dist"
	"productform/internal/input"
)

// fromFile begins a value of --sizes that names a file.
const fromFile = "file:"

// sizeNames returns the forms that --sizes may have.
func sizeNames() []string { return append(dist.Names(), fromFile+"PATH") }

// readSizes returns the law of the given mean that a value of --sizes names.
func readSizes(text string, mean float64, stderr io.Writer) (dist.Distribution, error) {
	if path, ok := strings.CutPrefix(text, fromFile); ok && path != "" {
		d, err := readSizeFile(path, mean, stderr)
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the rest of it repeats the name
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return d, nil
	}
	family, _, _ := strings.Cut(text, ":")
	known := false
	for _, name := range sizeNames() {
		name, _, _ = strings.Cut(name, ":")
		known = known || name == family && text != fromFile
	}
	if !known {
		return nil, cli.CheckWord("--sizes", text, sizeNames())
	}
	d, err := dist.Parse(text, mean)
	var bad *input.Error
	if errors.As(err, &bad) {
		return nil, &input.Error{Path: "--sizes", Value: text, Want: bad.Want}
	}
	return d, err
}

// readSizeFile returns the law of a size drawn from those in a file, scaled to the mean.
func readSizeFile(path string, mean float64, stderr io.Writer) (dist.Distribution, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sizes, skipped, err := dist.ReadSizes(f)
	if err != nil {
		return nil, err
	}
	if skipped > 0 {
		fmt.Fprintf(stderr, "pfq: warning: %s: %d jobs without a run time > 0 are left out\n", path, skipped)
	}
	if len(sizes) == 0 {
		return nil, &input.Error{Want: "one size a line, or a log in Standard Workload Format", Value: "a file without sizes"}
	}
	d, err := dist.NewEmpirical(sizes)
	if err != nil {
		return nil, err
	}
	return dist.WithMean(d, mean)
}
