package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/internal/input"
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
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	return report(cmd.ExecuteContext(ctx), stderr)
}

// report writes an error as one line and returns the exit status it stands for.
func report(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "figures: interrupted")
		return 1
	}
	fmt.Fprintln(stderr, "figures:", strings.ReplaceAll(err.Error(), "\n", "; "))
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
parameters and the table of checks) and checks.json. Standard output lists the files written.`,
		Example: `  figures
  figures --only bf-1,bf-3 --formats pdf,csv --out paper-figures --precision paper
  figures --list
  figures --check`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "figures-out", "folder for the files, made if missing")
	f.StringSliceVar(&o.only, "only", nil, "figures to draw, such as bf-1,bf-3 (default all)")
	f.StringVar(&o.precision, "precision", string(plots.Normal), "number of points: draft, normal or paper")
	f.StringSliceVar(&o.formats, "formats", names(draw.Formats()), "kinds of files; html is index.html")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "figures and files worked on at a time")
	f.BoolVar(&o.list, "list", false, "print the figures there are and write nothing")
	f.BoolVar(&o.check, "check", false, "print the table of checks and write nothing; fail if a check does")
	for flag, values := range map[string][]string{"precision": names(plots.Precisions()), "formats": names(draw.Formats()), "only": catalogueIDs()} {
		// It fails for an unknown flag only.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

func (o options) run(cmd *cobra.Command) error {
	entries, formats, err := o.choose()
	if err != nil {
		return err
	}
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

// choose reads the flags, before anything is computed or written.
func (o options) choose() (entries []plots.Entry, formats []draw.Format, err error) {
	known := catalogueIDs()
	for _, id := range o.only {
		if !slices.Contains(known, id) {
			return nil, nil, input.Errorf("--only", id, "figures among %s", strings.Join(known, ", "))
		}
	}
	for _, e := range plots.Catalogue() {
		if len(o.only) == 0 || slices.Contains(o.only, e.ID) {
			entries = append(entries, e)
		}
	}
	for _, name := range o.formats {
		format := draw.Format(name)
		if !slices.Contains(draw.Formats(), format) {
			return nil, nil, input.Errorf("--formats", name, "formats among %s", strings.Join(names(draw.Formats()), ", "))
		}
		if !slices.Contains(formats, format) {
			formats = append(formats, format)
		}
	}
	switch {
	case !slices.Contains(plots.Precisions(), plots.Precision(o.precision)):
		err = input.Errorf("--precision", o.precision, "one of %s", strings.Join(names(plots.Precisions()), ", "))
	case o.jobs < 1:
		err = input.Errorf("--jobs", o.jobs, "an integer >= 1")
	case o.out == "":
		err = input.Errorf("--out", "", "a folder")
	}
	return entries, formats, err
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
