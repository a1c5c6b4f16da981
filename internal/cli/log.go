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

	"github.com/spf13/cobra"

	"productform/dispatch/joblog"
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

// AddColumns adds --columns, which names the columns of a log.
func AddColumns(cmd *cobra.Command, target *map[string]string) {
	Flag[map[string]string]{Name: "columns", Kind: "FIELD=NAME,...", Want: columnsWanted, Parse: parseColumns,
		Usage: "columns of a log by field, such as submit=Submitted,cpus=Cores; others are guessed"}.Add(cmd, target)
}

const columnsWanted = "pairs FIELD=NAME such as submit=Submitted,run_time=Seconds,cpus=Cores, each field once"

// parseColumns reads FIELD=NAME,...
func parseColumns(text string) (map[string]string, bool) {
	columns := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		field, name, _ := strings.Cut(pair, "=")
		if _, isTwice := columns[field]; isTwice || name == "" || !slices.Contains(joblog.Fields(), field) {
			return nil, false
		}
		columns[field] = name
	}
	return columns, true
}

// WriteReport writes how a program read a log.
func WriteReport(stderr io.Writer, program, log string, report joblog.Report) {
	for _, line := range report.Lines() {
		fmt.Fprintf(stderr, "%s: %s: %s\n", program, Source(log), line)
	}
}

// read reads the log, unless the context is cancelled.
func read(ctx context.Context, name string, stdin io.Reader, columns map[string]string) (
	log swf.Log, report joblog.Report, err error,
) {
	from, err := Open(name, stdin)
	if err != nil {
		return swf.Log{}, report, err
	}
	defer from.Close()
	reader := joblog.NewReader(from, Source(name), columns)
	for {
		job, err := reader.Read()
		switch {
		case err == io.EOF:
			log.Header = reader.Header()
			return log, reader.Report(), nil
		case err != nil:
			return swf.Log{}, report, err
		}
		if len(log.Jobs) == mostJobs {
			return swf.Log{}, report, input.InFile(Source(name), input.Errorf("", "a longer one",
				"a log of at most %d jobs", mostJobs))
		}
		log.Jobs = append(log.Jobs, job.Job)
		if len(log.Jobs)%1000 == 0 && ctx.Err() != nil {
			return swf.Log{}, report, context.Cause(ctx)
		}
	}
}
