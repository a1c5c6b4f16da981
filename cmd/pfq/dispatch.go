// This file implements pfq dispatch: a log of jobs replayed under policies that share workers.

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots/draw"
	"productform/traces"
)

// dispatchFlags holds the values of the flags of dispatch.
type dispatchFlags struct {
	cli.LogFlags

	percentiles           []command.Percentile
	waits                 []string // names of the percentiles of waiting in the first table
	measures              string   // one of shownMeasures
	timeline              bool
	samples               int // 0 for one run
	records, format, file string
	sizes                 string // distribution of the sizes of drawn jobs
}

// shownMeasures lists the values of --measures.
var shownMeasures = []string{"main", "all"}

// showsAll reports whether text shows all measures.
func (f *dispatchFlags) showsAll() bool { return f.measures == shownMeasures[1] }

// newDispatchCommand returns the command dispatch.
func newDispatchCommand() *cobra.Command {
	f := dispatchFlags{LogFlags: cli.LogFlags{PolicyList: "sites,all", MostWorkers: 1_000_000}, sizes: "exponential"}
	cmd := command.Help(&cobra.Command{
		Use: "dispatch TRACE",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes one TRACE, a file, - for the standard input or the name of a log, "+
					"not %d arguments", cmd.Name(), len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(traces.Names(), cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.readClasses(cmd, args[0]); err != nil {
				return err
			}
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
			var others []cli.File
			if f.records != "" && a.isFinished() {
				others = append(others, cli.File{Text: a.records, Name: f.records})
			}
			err = cli.WriteAll(cmd.OutOrStdout(), cli.File{Text: a.text, Name: f.file}, others...)
			if err != nil {
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

// add adds the flags to the command.
func (f *dispatchFlags) add(cmd *cobra.Command) {
	f.Add(cmd)
	cli.AddGone(cmd, "spare", "--policy names who gets spare workers, as in deadline/kept")
	cli.AddGone(cmd, "reserve", "--policy names the fraction R that is kept, as in priority:R")
	cli.AddGone(cmd, "horizon", "--policy names the seconds H, as in workload:H")
	cli.AddRenamed(cmd, "jobs", "records")
	cli.AddText(cmd, &f.records, "records", "", "the name of a file",
		"also write what happened to each job to `FILE`, as CSV")
	command.AddPercentiles(cmd, &f.percentiles, "give these percentiles of waiting, delays and slowdowns "+
		"(default 50,95,99)")
	cli.Flag[string]{Name: "by", Want: cli.OneOf(cli.NameFields()),
		Usage: "also report the jobs of each `FIELD`: " + cli.OneOf(cli.NameFields()),
		Parse: func(text string) (string, bool) { return text, slices.Contains(cli.NameFields(), text) },
	}.Add(cmd, &f.By)
	cli.AddChoice(cmd, &f.measures, "measures", shownMeasures, "measures that text shows")
	cli.Flag[int]{Name: "samples", Want: samplesWanted,
		Usage: "run `K` samples of --sample jobs, with --seed and the seeds after it, and report means and their " +
			"variation",
		Parse: cli.ParseIntFrom(2, mostSamples)}.Add(cmd, &f.samples)
	cli.AddText(cmd, &f.sizes, "sizes", "", "the name of a distribution of job sizes",
		"`DISTRIBUTION` of the sizes of jobs drawn from classes")
	cli.AddSwitch(cmd, &f.DropLarge, "drop-large", "omit jobs that need more processors than the number of workers")
	cli.AddSwitch(cmd, &f.timeline, "timeline", "also draw the course of the run, in text")
	command.AddFormat(cmd, &f.format)
	command.AddOutput(cmd, &f.file)
}

// check rejects flags that contradict each other.
func (f *dispatchFlags) check(given func(string) bool) error {
	if err := f.Check(given); err != nil {
		return err
	}
	if f.samples > 0 {
		if !given("sample") && f.Drawn == nil {
			return errors.New("--samples needs --sample N, the jobs of each")
		}
		for _, other := range []string{"records", "by", "timeline", "outages"} {
			if given(other) {
				return fmt.Errorf("--%s and --samples cannot be combined: --%[1]s is about one run", other)
			}
		}
	}
	switch {
	case given("timeline") && f.timeline && f.format != render.Formats[0]:
		return fmt.Errorf("--timeline needs --format text, not %s", f.format)
	case given("measures") && f.format != render.Formats[0]:
		return fmt.Errorf("--measures needs --format text: %s has all measures", f.format)
	case given("records") && len(f.Policies) > 1:
		return errors.New("--records needs a single --policy: the fate of a job depends on it")
	case f.records == "-":
		return input.Errorf("--records", f.records, "the name of a file")
	}
	for _, p := range f.percentiles {
		f.waits = append(f.waits, p.Name)
	}
	if f.percentiles == nil {
		f.waits = []string{"p95"}
		for _, percent := range []int64{50, 95, 99} {
			usual := command.Percentile{Name: fmt.Sprint("p", percent), Level: big.NewRat(percent, 100)}
			f.percentiles = append(f.percentiles, usual)
		}
	}
	f.NeedsNames = f.By != "" || f.records != ""
	return command.CheckPercentiles(f.percentiles)
}

// checkFiles rejects output files that would overwrite each other or the log, and the name of a
// picture for the answer.
func (f *dispatchFlags) checkFiles(trace string, stdin io.Reader, stdout io.Writer) error {
	if err := command.CheckText(f.file); err != nil {
		return err
	}
	toStdout := f.file == "" || f.file == "-"
	isSame := toStdout && cli.IsStream(f.records, stdout)
	if isSame || !toStdout && f.records != "" && cli.IsSame(f.records, f.file) {
		return input.Errorf("--records", f.records, "a file other than that of --output")
	}
	return cmp.Or(cli.Check("--records", f.records, trace, stdin), cli.Check("--output", f.file, trace, stdin))
}

// A dispatchAnswer holds the runs of a log and the texts made from them.
type dispatchAnswer struct {
	flags *dispatchFlags
	*cli.Jobs
	tasks  int // tasks of all jobs
	runs   []policyRun
	groups []jobGroup // by the field of --by, most jobs first

	text, records []byte
}

// A policyRun holds the outcome of a log under a policy.
type policyRun struct {
	policy   cli.Policy
	result   *dispatch.Result        // nil if some jobs never finish, and for a baseline
	rigid    *rigid.Result           // result of a baseline
	stranded *dispatch.StrandedError // nil if all jobs finish
	timeline *draw.Timeline          // nil without --timeline
}

// isFinished reports whether all jobs finish.
func (r *policyRun) isFinished() bool { return r.stranded == nil }

// isFinished reports whether all jobs finish under all policies.
func (a *dispatchAnswer) isFinished() bool {
	return !slices.ContainsFunc(a.runs, func(r policyRun) bool { return !r.isFinished() })
}

// finishesBaseline reports whether all jobs finish under some baseline.
func (a *dispatchAnswer) finishesBaseline() bool {
	return slices.ContainsFunc(a.runs, func(r policyRun) bool { return r.rigid != nil })
}

// progressEvery is the time between updates of the progress. Only a terminal shows all of them.
const progressEvery = 100 * time.Millisecond

// answer reads the log and runs it under all policies; a signal interrupts it.
func (f *dispatchFlags) answer(cmd *cobra.Command, name string) (*dispatchAnswer, error) {
	stdin, stderr := cmd.InOrStdin(), cmd.ErrOrStderr()
	var done, total atomic.Int64
	bar, what := cli.NewProgress(stderr, "pfq"), "jobs"
	if f.timeline || f.samples > 0 || len(f.Policies) > 1 {
		what = "jobs of all runs together"
	}
	tell := func() {
		if n := int(total.Load()); n > 0 {
			bar.Show(int(done.Load()), n, what)
		}
	}
	a, err := command.Watched(cmd.Context(), progressEvery, tell, func(ctx context.Context) (*dispatchAnswer, error) {
		return f.dispatch(ctx, name, stdin, &done, &total)
	})
	bar.Clear()
	if !errors.Is(err, command.ErrInterrupted) { // an interrupted reader may still be running
		cli.WriteReport(stderr, "pfq", name, f.Report)
	}
	if err != nil {
		return nil, err
	}
	command.WarnSkipped(stderr, a.Name, a.Skipped, "without submission, run time or processors")
	command.WarnSkipped(stderr, a.Name, f.Dropped, "of more than "+render.Counted(f.Workers, "processor"))
	return a, nil
}

// dispatch reads the log and runs it. Progress is done of total jobs over all runs.
func (f *dispatchFlags) dispatch(ctx context.Context, name string, stdin io.Reader, done, total *atomic.Int64,
) (*dispatchAnswer, error) {
	samples, err := f.ReadSamples(ctx, name, stdin, max(1, f.samples))
	if err != nil {
		return nil, err
	}
	each := len(f.Policies) * len(samples[0].List)
	if f.timeline {
		each *= 2
	}
	total.Store(int64(len(samples) * each))
	var all []*dispatchAnswer
	for k, jobs := range samples {
		a := &dispatchAnswer{flags: f, Jobs: jobs}
		if err := a.runAll(ctx, k*each, done); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	a := all[0]
	if f.samples > 0 {
		a.text, err = sampled(all).Format(f.format)
		return a, err
	}
	if f.records != "" && a.isFinished() {
		var b bytes.Buffer
		if err := a.writeRecords(&b, a.runs[0]); err != nil {
			return nil, err
		}
		a.records = b.Bytes()
	}
	a.groups = a.jobGroups()
	a.text, err = a.answer().Format(f.format)
	return a, err
}

// runAll runs the jobs under all policies. Before these runs, before jobs have ended.
func (a *dispatchAnswer) runAll(ctx context.Context, before int, done *atomic.Int64) error {
	for _, j := range a.List {
		a.tasks += j.Tasks
	}
	times := 1
	if a.flags.timeline {
		times = 2
	}
	for k, p := range a.flags.Policies {
		r, err := a.run(ctx, p, before+times*k*len(a.List), done)
		if err != nil {
			return err
		}
		a.runs = append(a.runs, r)
	}
	return nil
}

// run runs the jobs under one policy. Before this run, before jobs have ended.
func (a *dispatchAnswer) run(ctx context.Context, p cli.Policy, before int, done *atomic.Int64) (policyRun, error) {
	f, r := a.flags, policyRun{policy: p}
	watch := func(d *dispatch.Decision) { done.Store(int64(before + d.Done)) }
	if p.Baseline != nil {
		var err error
		r.rigid, err = rigid.Run(ctx, rigid.Scenario{Jobs: a.Asking, Workers: f.Workers, Policy: *p.Baseline,
			Kill: f.Kill, Outages: f.Outages, Watch: func(ended int) { done.Store(int64(before + ended)) }})
		if errors.As(err, &r.stranded) {
			err = nil
		}
		return r, err
	}
	s := dispatch.Scenario{Jobs: a.List, Speeds: f.Speeds, Policy: p.Policy, Outages: f.Outages,
		Learning: dispatch.Learning{Default: f.Learning}, Emergency: f.Emergency, Watch: watch}
	var err error
	r.result, err = dispatch.Run(ctx, s)
	if err != nil && !errors.As(err, &r.stranded) {
		return r, err
	}
	if f.timeline {
		before += len(a.List)
		r.timeline, err = draw.New(ctx, s, r.result, r.stranded, watch)
		return r, err
	}
	return r, nil
}

// writeRecords writes the outcome of each job.
func (a *dispatchAnswer) writeRecords(w io.Writer, r policyRun) error {
	if r.rigid != nil {
		return rigid.WriteRecords(w, a.Asking, r.rigid, a.Names...)
	}
	return dispatch.WriteRecords(w, a.List, r.result, a.Names...)
}
