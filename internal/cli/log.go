package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

const mostJobs = 10_000_000 // jobs in a log, of 144 bytes each

// Open opens the file, or the log embedded in pfq; "-" is the standard input.
func Open(name string, stdin io.Reader) (io.ReadCloser, error) {
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
		return nil, fmt.Errorf("%w; the built-in logs are: %s", err, strings.Join(traces.Names(), ", "))
	}
	return nil, err
}

// read reads the log, unless the context is cancelled.
func read(ctx context.Context, name string, stdin io.Reader) (log swf.Log, err error) {
	from, err := Open(name, stdin)
	if err != nil {
		return swf.Log{}, err
	}
	defer from.Close()
	reader := swf.NewReader(from, Source(name))
	for {
		job, err := reader.Read()
		switch {
		case err == io.EOF:
			log.Header = reader.Header()
			return log, nil
		case err != nil:
			return swf.Log{}, err
		}
		if len(log.Jobs) == mostJobs {
			return swf.Log{}, input.InFile(Source(name), input.Errorf("", "a longer one", "a log of at most %d jobs",
				mostJobs))
		}
		log.Jobs = append(log.Jobs, job)
		if len(log.Jobs)%1000 == 0 && ctx.Err() != nil {
			return swf.Log{}, context.Cause(ctx)
		}
	}
}
