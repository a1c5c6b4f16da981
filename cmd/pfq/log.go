// This file implements pfq log: what a log says about a cluster.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/plot"
	"productform/dispatch/joblog"
	"productform/dispatch/logstats"
	"productform/dispatch/swf"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots/draw"
	"productform/traces"
)

// logFlags holds the values of the flags of log.
type logFlags struct {
	dialect        joblog.Dialect
	workers        int
	to             string // format to convert the log to; "" to describe it
	model          string // file of the model to write; "" for none
	by             string // what its classes are by
	missingColumns error  // about columns that a converted log lacks; nil if it has them
	binding        *cli.Binding
}

// The formats that logs are converted to.
const (
	toSWF = "swf"
	toCSV = "csv"
)

// newLogCommand returns the command log.
func newLogCommand() *cobra.Command {
	var f logFlags
	cmd := command.NewWriter("log LOG", render.Formats, nil, func(q command.Query) ([]byte, bool, error) {
		text, err := f.answer(q)
		return text, text != nil || err != nil, err
	})
	cmd.ValidArgsFunction = cobra.FixedCompletions(traces.Names(), cobra.ShellCompDirectiveDefault)
	cli.AddColumns(cmd, &f.dialect)
	f.binding = cli.Bind(cmd)
	f.binding.Int(&f.workers, "Processors", "workers", 1_000_000_000,
		"number of processors of the cluster (default MaxProcs of the log, otherwise the peak in use)")
	wanted := cli.OneOf([]string{toSWF, toCSV})
	cli.Flag[string]{Name: "to", Kind: "FORMAT", Usage: "write the log in another format: " + wanted, Want: wanted,
		Parse: func(text string) (string, bool) { return text, text == toSWF || text == toCSV }}.Add(cmd, &f.to)
	f.addModel(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { return f.check(cmd.Flags().Changed) }
	return cmd
}

// check rejects flags that contradict each other.
func (f *logFlags) check(given func(string) bool) error {
	for _, flag := range []string{"workers", "format", "model"} {
		if f.to != "" && given(flag) {
			return fmt.Errorf("--%s and --to cannot be combined: --to writes the log only", flag)
		}
	}
	switch {
	case given("by") && f.model == "":
		return errors.New("--by needs --model FILE, whose classes it selects")
	case f.model == "-":
		return input.Errorf("--model", f.model, "the name of a file")
	}
	return nil
}

// pictureEnds lists the ends of the names of pictures that log draws.
var pictureEnds = []string{".png", ".svg", ".pdf"}

// answer returns a description, a picture, or the log in another format; nil if there is nothing to
// draw.
func (f *logFlags) answer(q command.Query) ([]byte, error) {
	end, isPicture := strings.ToLower(filepath.Ext(q.To)), command.IsPicture(q.To)
	switch {
	case isPicture && f.to != "":
		return nil, input.Errorf("--output", q.To, "a name for a log")
	case isPicture && q.Format != render.Formats[0]:
		return nil, input.Errorf("--output", q.To, "a name for text, JSON or CSV, or no --format, for a picture")
	case isPicture && f.model != "":
		return nil, input.Errorf("--output", q.To, "a name for text, JSON or CSV, or no --model, for a picture")
	case isPicture && !slices.Contains(pictureEnds, end):
		return nil, input.Errorf("--output", q.To, "a name for text, JSON or CSV, or a picture with the end %s",
			cli.OneOf(pictureEnds))
	case f.to != "":
		text, err := readLog(q, f.dialect, f.convert)
		if err == nil && f.missingColumns != nil {
			fmt.Fprintf(q.Stderr, "pfq: warning: %v\n", f.missingColumns)
		}
		return text, err
	}
	if err := f.checkModelFile(q); err != nil {
		return nil, err
	}
	log, err := readLog(q, f.dialect, logstats.Read)
	if err != nil {
		return nil, err
	}
	command.WarnSkipped(q.Stderr, cli.Source(q.File), log.Skipped, "without submission, run time or processors")
	if f.model != "" {
		return f.fit(q, log)
	}
	r, err := logstats.Analyze(q.Ctx, log, logstats.Settings{Processors: int64(f.workers), Zone: f.dialect.Zone})
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	if !isPicture {
		return answerLog(q, r).Format(q.Format)
	}
	if r.Peak == nil {
		fmt.Fprintln(q.Stderr, "pfq: there is nothing to draw: no job has a known waiting time and a run time > 0")
		return nil, nil
	}
	format := draw.Format(end[1:])
	return plot.Draw(q, usageFigure(cli.Source(q.File), log, r), format)
}

// readLog reads the log of a question with the given function, and reports how it was read.
func readLog[T any](
	q command.Query, dialect joblog.Dialect, read func(context.Context, *joblog.Reader, string) (T, error),
) (v T, err error) {
	from, err := cli.Open(q.File, q.Stdin)
	if err != nil {
		return v, cli.FlagError{Err: err}
	}
	defer from.Close()
	name := cli.Source(q.File)
	reader := joblog.NewReader(from, name, dialect)
	v, err = command.WithProgress(q, func(ctx context.Context) (T, error) { return read(ctx, reader, name) })
	if !errors.Is(err, command.ErrInterrupted) { // an interrupted reader may still be running
		cli.WriteReport(q.Stderr, "pfq", q.File, reader.Report())
	}
	return v, err
}

// convert returns the log in the requested format: all comments, then the jobs.
func (f *logFlags) convert(ctx context.Context, r *joblog.Reader, name string) ([]byte, error) {
	var head, body bytes.Buffer
	var write func(joblog.Job) error
	var flush func() error
	if f.to == toCSV {
		w := joblog.NewWriter(&body, r)
		write, flush = w.Write, w.Flush
	} else {
		w := swf.NewWriter(&body)
		write, flush = func(j joblog.Job) error { return w.Write(j.Job) }, w.Flush
	}
	for k := 0; ; k++ {
		if k%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		j, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := write(j); err != nil {
			return nil, input.AtLine(name, r.Line(), err)
		}
	}
	f.missingColumns = r.CheckColumns()
	comments := swf.NewWriter(&head)
	header := r.Header()
	if f.dialect.Zone != nil { // times are seconds now, and analyses count days in this zone
		header = append([]string{"; TimeZoneString: " + f.dialect.Zone.String()}, header...)
	}
	for _, line := range header {
		if err := comments.Comment(line); err != nil {
			return nil, input.InFile(name, err)
		}
	}
	if err := errors.Join(comments.Flush(), flush()); err != nil {
		return nil, err
	}
	return append(head.Bytes(), body.Bytes()...), nil
}
