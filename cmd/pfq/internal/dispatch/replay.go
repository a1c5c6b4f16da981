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
	"productform/dispatch/rigid"
	"productform/internal/cli"
	"productform/internal/joblog"
	"productform/plots/timeline"
)

// A dispatchAnswer is what dispatch has to tell.
type dispatchAnswer struct {
	flags *dispatchFlags
	*joblog.Jobs
	tasks int // of all jobs
	runs  []policyRun

	text, records []byte
}

// A policyRun is what became of the jobs under a policy.
type policyRun struct {
	policy   joblog.Policy
	result   *dispatch.Result        // nil if some never finish, and of a baseline
	rigid    *rigid.Result           // of a baseline
	stranded *dispatch.StrandedError // nil if all finish, and of a baseline
	tooFew   *rigid.StrandedError    // likewise, of a baseline
	timeline *timeline.Timeline      // nil unless asked for
}

// isFinished reports whether all jobs finish.
func (r *policyRun) isFinished() bool { return r.stranded == nil && r.tooFew == nil }

// isFinished reports whether all jobs finish under all policies.
func (a *dispatchAnswer) isFinished() bool {
	return !slices.ContainsFunc(a.runs, func(r policyRun) bool { return !r.isFinished() })
}

// progressEvery is how often the progress is looked at; it is shown less often unless on a terminal.
const progressEvery = 100 * time.Millisecond

// answer reads the log and runs it under all policies asked for, until a signal comes.
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
	if err != nil {
		return nil, err
	}
	command.WarnSkipped(stderr, a.Name, a.Skipped, "submission, run time or processors")
	return a, nil
}

// dispatch reads the log and runs it; done of total jobs, over all runs, have ended.
func (f *dispatchFlags) dispatch(ctx context.Context, name string, stdin io.Reader, done, total *atomic.Int64) (*dispatchAnswer, error) {
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
	a.text, err = a.answer().Format(f.format)
	return a, err
}

// runAll runs the jobs under all policies; so many jobs of all runs have ended before.
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

// run runs the jobs under a policy; so many jobs of all runs have ended before.
func (a *dispatchAnswer) run(ctx context.Context, p joblog.Policy, before int, done *atomic.Int64) (policyRun, error) {
	f, r := a.flags, policyRun{policy: p}
	watch := func(d *dispatch.Decision) { done.Store(int64(before + d.Done)) }
	if p.Baseline != nil {
		var err error
		r.rigid, err = rigid.Run(ctx, rigid.Scenario{Jobs: a.Asking, Workers: f.Workers, Policy: *p.Baseline, Kill: f.Kill,
			Outages: f.Outages, Watch: func(ended int) { done.Store(int64(before + ended)) }})
		if errors.As(err, &r.tooFew) {
			err = nil
		}
		return r, err
	}
	s := dispatch.Scenario{Jobs: a.List, Speeds: f.Speeds, Policy: p.Policy, Outages: f.Outages, Learning: dispatch.Learning{Default: f.Learning}, Emergency: f.Emergency, Watch: watch}
	var err error
	r.result, err = dispatch.Run(ctx, s)
	if err != nil && !errors.As(err, &r.stranded) {
		return r, err
	}
	if f.timeline {
		before += len(a.List)
		r.timeline, err = timeline.New(ctx, s, r.result, r.stranded, watch)
		return r, err
	}
	return r, nil
}

// writeRecords writes what became of each job.
func (a *dispatchAnswer) writeRecords(w io.Writer, r policyRun) error {
	if r.rigid != nil {
		return rigid.WriteRecords(w, a.Asking, r.rigid)
	}
	return dispatch.WriteRecords(w, a.List, r.result)
}
