package dispatch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/internal/cli"
	"productform/plots/timeline"
)

// A dispatchAnswer is what dispatch has to tell.
type dispatchAnswer struct {
	flags   *dispatchFlags
	name    string // of the log
	jobs    []dispatch.Job
	tasks   int // of all jobs
	skipped int
	runs    []policyRun

	text, records []byte
}

// A policyRun is what became of the jobs under a policy.
type policyRun struct {
	policy   dispatch.Policy
	result   *dispatch.Result        // nil if some never finish
	stranded *dispatch.StrandedError // nil if all finish
	timeline *timeline.Timeline      // nil unless asked for
}

// isFinished reports whether all jobs finish under all policies.
func (a *dispatchAnswer) isFinished() bool {
	return !slices.ContainsFunc(a.runs, func(r policyRun) bool { return r.stranded != nil })
}

// progressEvery is how often the progress is looked at; it is shown less often unless on a terminal.
const progressEvery = 100 * time.Millisecond

// answer reads the log and runs it under all policies asked for, until a signal comes.
func (f *dispatchFlags) answer(cmd *cobra.Command, name string) (*dispatchAnswer, error) {
	stdin, stderr := cmd.InOrStdin(), cmd.ErrOrStderr()
	var done, total atomic.Int64
	bar, what := cli.NewProgress(stderr, "pfq"), "jobs"
	if f.timeline || len(f.policies) > 1 {
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
	if err != nil {
		return nil, err
	}
	command.WarnSkipped(stderr, a.name, a.skipped, "submission, run time or processors")
	return a, nil
}

// dispatch reads the log and runs it; done of total jobs, over all runs, have ended.
func (f *dispatchFlags) dispatch(ctx context.Context, name string, stdin io.Reader, done, total *atomic.Int64) (*dispatchAnswer, error) {
	a := &dispatchAnswer{flags: f, name: command.Source(name)}
	log, err := readTrace(ctx, name, stdin)
	if err != nil {
		return nil, err
	}
	if a.jobs, a.skipped, err = f.jobsOf(log, a.name); err != nil {
		return nil, err
	}
	for _, j := range a.jobs {
		a.tasks += j.Tasks
	}
	times := 1
	if f.timeline {
		times = 2
	}
	total.Store(int64(times * len(f.policies) * len(a.jobs)))
	for k, p := range f.policies {
		s := dispatch.Scenario{Jobs: a.jobs, Speeds: f.speeds, Policy: p, Outages: f.outages, Learning: dispatch.Learning{Default: f.learning}, Emergency: f.emergency}
		before := int64(times * k * len(a.jobs))
		s.Watch = func(d *dispatch.Decision) { done.Store(before + int64(d.Done)) }
		r := policyRun{policy: p}
		r.result, err = dispatch.Run(ctx, s)
		if err != nil && !errors.As(err, &r.stranded) {
			return nil, err
		}
		if f.timeline {
			before += int64(len(a.jobs))
			if r.timeline, err = timeline.New(ctx, s, r.result, r.stranded, func(d *dispatch.Decision) { done.Store(before + int64(d.Done)) }); err != nil {
				return nil, err
			}
		}
		a.runs = append(a.runs, r)
	}
	if f.records != "" && a.isFinished() {
		var b bytes.Buffer
		if err := dispatch.WriteRecords(&b, a.jobs, a.runs[0].result); err != nil {
			return nil, err
		}
		a.records = b.Bytes()
	}
	a.text, err = a.answer().Format(f.format)
	return a, err
}
