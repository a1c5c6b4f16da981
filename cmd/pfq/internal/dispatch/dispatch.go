// Package dispatch is the command dispatch of pfq.
package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/joblog"
	"productform/internal/output"
	"productform/internal/render"
	"productform/traces"
)

// A dispatchFlags holds what the flags of dispatch ask for.
type dispatchFlags struct {
	joblog.Flags

	percentiles           []command.Percentile
	timeline              bool
	samples               int // 0 for one run
	records, format, file string
}

// New returns the command.
func New() *cobra.Command {
	f := dispatchFlags{Flags: joblog.Flags{PolicyList: "all", MostWorkers: 1_000_000}}
	cmd := command.Help(&cobra.Command{
		Use: "dispatch TRACE",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s wants one TRACE, a file, - for the standard input or the name of a log, not %d arguments", cmd.Name(), len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(traces.Names(), cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if err := f.checkFiles(args[0], cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return err
			}
			a, err := f.answer(cmd, args[0])
			if err != nil {
				return err
			}
			var others []output.File
			if f.records != "" && a.isFinished() {
				others = append(others, output.File{Text: a.records, Name: f.records})
			}
			if err := output.WriteAll(cmd.OutOrStdout(), output.File{Text: a.text, Name: f.file}, others...); err != nil {
				return err
			}
			if !a.isFinished() {
				return command.ErrNoAnswer
			}
			return nil
		},
	})
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *dispatchFlags) add(cmd *cobra.Command) {
	f.Add(cmd)
	cli.AddGone(cmd, "spare", "--policy names who gets spare workers, as in deadline/kept")
	cli.AddGone(cmd, "reserve", "--policy names the part R that is kept, as in priority:R")
	cli.AddGone(cmd, "horizon", "--policy names the seconds H, as in workload:H")
	cli.AddRenamed(cmd, "jobs", "records")
	cli.AddText(cmd, &f.records, "records", "", "the name of a file", "also write what became of each job to `FILE`, as CSV")
	command.AddPercentiles(cmd, &f.percentiles, "give these percentiles of delays and slowdowns (default 50,95,99)")
	cli.Flag[int]{Name: "samples", Usage: "run `K` samples of --sample jobs, with --seed and the seeds after it, and tell means and how they vary",
		Want: samplesWanted, Parse: cli.ParseIntFrom(2, mostSamples)}.Add(cmd, &f.samples)
	cli.AddSwitch(cmd, &f.timeline, "timeline", "also draw how the run went, in text")
	command.AddFormat(cmd, &f.format)
	command.AddOutput(cmd, &f.file)
}

// check accepts flags that go together.
func (f *dispatchFlags) check(given func(string) bool) error {
	if err := f.Check(given); err != nil {
		return err
	}
	if f.samples > 0 {
		if !given("sample") {
			return errors.New("--samples needs --sample N, the jobs of each")
		}
		for _, other := range []string{"records", "timeline", "outages"} {
			if given(other) {
				return fmt.Errorf("--%s and --samples exclude each other: --%[1]s is about one run", other)
			}
		}
	}
	switch {
	case given("timeline") && f.timeline && f.format != render.Formats[0]:
		return fmt.Errorf("--timeline needs --format text, not %s", f.format)
	case given("records") && len(f.Policies) > 1:
		return errors.New("--records wants one --policy: what becomes of a job depends on it")
	case f.records == "-":
		return input.Errorf("--records", f.records, "the name of a file")
	}
	if f.percentiles == nil {
		for _, percent := range []int64{50, 95, 99} {
			usual := command.Percentile{Name: fmt.Sprint("p", percent), Level: big.NewRat(percent, 100)}
			f.percentiles = append(f.percentiles, usual)
		}
	}
	return command.CheckPercentiles(f.percentiles)
}

// checkFiles refuses to write two files over one another, or over the log.
func (f *dispatchFlags) checkFiles(trace string, stdin io.Reader, stdout io.Writer) error {
	toStdout := f.file == "" || f.file == "-"
	if toStdout && output.IsStream(f.records, stdout) || !toStdout && f.records != "" && output.IsSame(f.records, f.file) {
		return input.Errorf("--records", f.records, "a file other than that of --output")
	}
	return cmp.Or(output.Check("--records", f.records, trace, stdin), output.Check("--output", f.file, trace, stdin))
}
