package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"productform/internal/input"
	"productform/traces"
)

// openLog opens the file, or the log that pfq holds; "-" is the standard input.
func openLog(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(name)
	switch {
	case err == nil:
		return file, nil
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(traces.Names(), name):
		return traces.Open(name)
	}
	err = input.InFile(name, err)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; the logs that pfq holds are %s", err, strings.Join(traces.Names(), ", "))
	}
	return nil, err
}
