package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/plots"
	"productform/plots/draw"
)

// options are the flags as given.
type options struct {
	out, precision string
	only, formats  []string
	jobs           int
	list, check    bool
}

// errCheck says that a number of a figure disagrees with its second way.
var errCheck = errors.New("a check failed")

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	return report(cli.Execute(ctx, cmd, args), stderr)
}

// report writes an error as one line and returns the exit status it stands for.
func report(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "figures: interrupted")
		return cli.Interrupted
	}
	fmt.Fprintln(stderr, "figures:", cli.OneLine(err))
	if errors.Is(err, errCheck) {
		return 1
	}
	return 2
}

func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "figures",
		Short: "Draw the figures of the papers from exact theory",
		Long: `Draw the figures of the papers from exact theory.

For every figure one file a format is written, then index.html (the figures with captions,
parameters and the table of checks) and checks.json. Standard output lists the files written.
--list and --check print and write nothing, so that they exclude each other, --out and --formats.

Exit status: 0 all went well, 1 a check fails, 2 bad usage or a folder that cannot be written, 130 interrupted.`,
		Example: `  figures
  figures --only bf-1,bf-3 --formats pdf,csv --out paper-figures --precision paper
  figures --list
  figures --check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.out = "figures-out"
	cli.AddText(cmd, &o.out, "out", "", "a folder", "folder for the files, made if missing")
	cli.AddWords(cmd, &o.only, "only", catalogueIDs(), "figures to draw, such as bf-1,bf-3 (default all)")
	o.precision = string(plots.Normal)
	cli.AddChoice(cmd, &o.precision, "precision", names(plots.Precisions()), "number of points")
	o.formats = names(draw.Formats())
	cli.AddWords(cmd, &o.formats, "formats", names(draw.Formats()), "kinds of files; html is index.html")
	o.jobs = runtime.GOMAXPROCS(0)
	cli.Flag[int]{Name: "jobs", Kind: "int", Usage: "figures and files worked on at a time", Default: strconv.Itoa(o.jobs),
		Want: "an integer in 1..10000", Parse: parseJobs}.Add(cmd, &o.jobs)
	cli.AddSwitch(cmd, &o.list, "list", "print the figures there are and write nothing")
	cli.AddSwitch(cmd, &o.check, "check", "print the table of checks and write nothing; fail if a check does")
	return cmd
}

func (o options) run(cmd *cobra.Command) error {
	if err := together(cmd); err != nil {
		return err
	}
	entries, formats := o.choose()
	if o.list {
		for _, e := range entries {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", e.ID, e.Title)
		}
		return nil
	}
	files := len(entries)*(len(formats)+1) + 1 // and each figure computed, and checks.json
	p := newProgress(cmd.ErrOrStderr(), files)
	defer p.done()
	w := worker{precision: plots.Precision(o.precision), jobs: o.jobs, progress: p}
	figures, err := w.compute(cmd.Context(), entries)
	if err != nil {
		return err
	}
	if o.check {
		p.done()
		return printChecks(cmd.OutOrStdout(), figures)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	paths, err := w.write(cmd.Context(), o.out, figures, formats)
	if err != nil {
		return err
	}
	p.done()
	for _, path := range paths {
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return nil
}

// together returns an error for flags that contradict each other.
func together(cmd *cobra.Command) error {
	for _, pair := range [][2]string{{"list", "check"}, {"list", "out"}, {"list", "formats"}, {"check", "out"}, {"check", "formats"}} {
		if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}

// choose returns what the flags --only and --formats name.
func (o options) choose() (entries []plots.Entry, formats []draw.Format) {
	for _, e := range plots.Catalogue() {
		if len(o.only) == 0 || slices.Contains(o.only, e.ID) {
			entries = append(entries, e)
		}
	}
	for _, name := range o.formats {
		formats = append(formats, draw.Format(name))
	}
	return entries, formats
}

func parseJobs(text string) (int, bool) {
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 1 && v <= 10000
}

func catalogueIDs() []string {
	var ids []string
	for _, e := range plots.Catalogue() {
		ids = append(ids, e.ID)
	}
	return ids
}

func names[S ~string](values []S) []string {
	var n []string
	for _, v := range values {
		n = append(n, string(v))
	}
	return n
}
