package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/plots"
	"productform/plots/draw"
	"productform/sweep"
)

// options holds the values of the flags.
type options struct {
	output, results, precision string
	only, formats              []string
	seed                       uint64
	parallel                   int
	list, check, version       bool
	choice                     cli.RunChoice
}

// errCheck reports that numbers of a figure disagree with an independent method, or refute a claim
// of a paper.
var errCheck = errors.New("a check failed")

// run executes the command on a catalogue of figures and returns its exit status. Runs, Jumps and
// WarmUp of the settings, if not 0, replace those of the precision.
func run(
	ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, all []plots.Spec, s plots.Settings,
) int {
	cmd := command(all, s)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	return report(cli.Execute(ctx, cmd, args), stderr)
}

// report writes an error as one line and returns its exit status.
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

func command(all []plots.Spec, s plots.Settings) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "figures",
		Short: "Draw the figures of the papers from exact theory and simulation",
		Long: `Draw the figures of the papers from exact theory and simulation.

figures writes one file per figure and format. Then it writes index.html (the figures with
captions and parameters), claims.html (the claims of the papers), checks.html (the table of checks)
and checks.json. The standard output lists the files written. --list and --check print to the
standard output and write no files, so they cannot be combined, nor used with --output or --format.

Simulated runs are kept in the folder of --results, so an interrupted command resumes where it
stopped, and repeating a command takes seconds. The same seed gives the same figures, whatever
--parallel is. On two cores a draft takes half a minute, normal a quarter of an hour, and paper
more than an hour. --only replaces the pages and checks.json by those of the figures drawn.

With --part K/N the command draws nothing: it does part K of N parts of the runs, counted from 0,
and stores them in the folder of --results. When the parts 0, ..., N-1 are done, on machines that
share this folder, the same command without --part finds all runs there. --tasks list and --tasks
serve are for programs that distribute runs; see pfq help simulate.

A number agrees with that of a second method if their relative difference is within the bound and
|z| <= 5. Simulated numbers must also agree as a whole. If there are 50 or more simulations, a
chi-square test sorts the z of the first number of each into ten cells of equal probability, and
its p must be at least 1e-6.

Exit status: 0 success; 1 with --check: a check fails, or a simulation refutes a claim that
should hold (an error of a paper is a finding); 2 bad usage or a folder that cannot be
written; 130 interrupted.`,
		Example: `  figures --precision draft
  figures --only bf-1,tags --format pdf,csv --output paper-figures --precision paper
  figures --list
  figures --check --precision draft --only bf-6`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, all, s) },
	}
	o.output = "figures-out"
	cli.AddText(cmd, &o.output, "output", "o", "a folder", "folder for the files, created if missing")
	cli.AddRenamed(cmd, "out", "output")
	var ids []string
	for _, spec := range all {
		ids = append(ids, spec.ID)
	}
	cli.AddPrefixes(cmd, &o.only, "only", ids,
		"names of the figures to draw, or prefixes of names, such as bf-1,tags (default all)")
	o.precision = string(plots.Normal)
	cli.AddChoice(cmd, &o.precision, "precision", names(plots.Precisions()), "amount of simulation")
	o.seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "seed of all simulations", Default: "1",
		Want: "an integer in 0..18446744073709551615", Parse: parseSeed}.Add(cmd, &o.seed)
	cli.AddText(cmd, &o.results, "results", "", "a folder",
		"folder for the runs of simulations, created if missing\n(default results in the folder of --output; with "+
			"--check none)")
	o.formats = names(draw.Formats())
	cli.AddWords(cmd, &o.formats, "format", names(draw.Formats()),
		"kinds of files; html is for index.html, claims.html and checks.html")
	cli.AddRenamed(cmd, "formats", "format")
	o.parallel = runtime.GOMAXPROCS(0)
	cli.Flag[int]{Name: "parallel", Kind: "int", Usage: "runs and files at a time",
		Default: strconv.Itoa(o.parallel),
		Want:    "an integer in 1..10000", Parse: parseParallel}.Add(cmd, &o.parallel)
	cli.AddRenamed(cmd, "jobs", "parallel")
	o.choice.Add(cmd)
	cli.AddSwitch(cmd, &o.list, "list", "list the figures and write nothing")
	cli.AddSwitch(cmd, &o.check, "check", "print the table of checks and write nothing; fail if a check fails")
	cli.AddSwitch(cmd, &o.version, "version", "print the version of figures and of the Go that built it")
	return cmd
}

func (o options) run(cmd *cobra.Command, all []plots.Spec, s plots.Settings) error {
	if o.version {
		_, err := io.WriteString(cmd.OutOrStdout(), cli.Version("figures"))
		return err
	}
	if err := checkExclusive(cmd); err != nil {
		return err
	}
	specs, formats := o.choose(all)
	if o.list {
		var lines []string
		for _, spec := range specs {
			lines = append(lines, spec.ID+"\t"+spec.Title)
		}
		return printLines(cmd.OutOrStdout(), lines)
	}
	if !o.check && o.choice.Tasks != cli.Serve {
		o.results = cmp.Or(o.results, filepath.Join(o.output, "results"))
	}
	p := cli.NewProgress(cmd.ErrOrStderr(), "figures")
	defer p.Clear()
	s.Precision, s.Seed = plots.Precision(o.precision), o.seed
	runs := sweep.Settings{Workers: o.parallel, Folder: o.results, Progress: func(now sweep.Progress) {
		p.Show(now.Done, now.Total, timeLeft(now))
	}}
	if o.choice.Given() {
		return o.share(cmd, specs, s, runs, p)
	}
	if !o.check {
		if err := cli.MakeFolder("--output", o.output); err != nil {
			return err
		}
	}
	figures, err := plots.Compute(cmd.Context(), specs, s, runs)
	if err != nil {
		return err
	}
	if o.check {
		p.Clear()
		if o.results == "" {
			fmt.Fprintf(cmd.ErrOrStderr(),
				"figures: all runs were simulated again; --results %s reuses the runs kept there\n",
				filepath.Join(o.output, "results"))
		}
		return printChecks(cmd.OutOrStdout(), figures)
	}
	edition := draw.Edition{
		Sources:   sources(),
		Made:      time.Now().UTC().Format("2 January 2006"),
		Version:   strings.TrimSpace(cli.Version("figures")),
		Precision: s.Precision,
		Seed:      s.Seed,
	}
	paths, err := writer{o.parallel, p, edition}.write(cmd.Context(), o.output, figures, formats)
	if err != nil {
		return err
	}
	p.Clear()
	return printLines(cmd.OutOrStdout(), paths)
}

// share runs or lists the simulations that --part or --tasks selects, and draws nothing.
func (o options) share(
	cmd *cobra.Command, specs []plots.Spec, s plots.Settings, runs sweep.Settings, p *cli.Progress,
) error {
	if err := o.choice.Check(o.results); err != nil {
		return err
	}
	plans, err := plots.Plans(cmd.Context(), specs, s)
	if err != nil {
		return err
	}
	last, err := o.choice.Do(cmd.Context(), plans, runs, cmd.InOrStdin(), cmd.OutOrStdout())
	if err != nil {
		return err
	}
	p.Clear()
	if o.choice.Part.N > 0 {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "figures: part %v: %d runs, %d of them found\n",
			o.choice.Part, last.Total, last.Reused)
	}
	return err
}

func printLines(w io.Writer, lines []string) error {
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// timeLeft describes the progress and the remaining time.
func timeLeft(now sweep.Progress) string {
	if !now.LeftKnown {
		return "runs simulated"
	}
	return fmt.Sprintf("runs simulated, %v left", now.Left.Round(time.Second))
}

// checkExclusive returns an error for flags that contradict each other.
func checkExclusive(cmd *cobra.Command) error {
	for _, pair := range [][2]string{{"list", "check"}, {"list", "output"}, {"list", "format"}, {"list", "results"},
		{"list", "part"}, {"list", "tasks"}, {"check", "output"}, {"check", "format"}} {
		if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s cannot be combined", pair[0], pair[1])
		}
	}
	return nil
}

// choose returns the figures and formats that --only and --format name.
func (o options) choose(all []plots.Spec) (specs []plots.Spec, formats []draw.Format) {
	for _, spec := range all {
		if len(o.only) == 0 || slices.Contains(o.only, spec.ID) {
			specs = append(specs, spec)
		}
	}
	for _, name := range o.formats {
		formats = append(formats, draw.Format(name))
	}
	return specs, formats
}

func parseParallel(text string) (int, bool) {
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 1 && v <= 10000
}

func parseSeed(text string) (uint64, bool) {
	v, err := strconv.ParseUint(text, 10, 64)
	return v, err == nil
}

func names[S ~string](values []S) []string {
	var n []string
	for _, v := range values {
		n = append(n, string(v))
	}
	return n
}
