// This file defines the flags of commands that run the jobs of a log: the log, the selected jobs,
// the policy and the workers. The flags have the same names, forms and errors in all these
// commands.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/dispatch/joblog"
	"productform/internal/input"
	"productform/internal/render"
)

// LogFlags selects the jobs of a log, their policies, and the workers. A command sets fields that
// differ from the zero value before Add.
type LogFlags struct {
	PolicyList     string // default of --policy; all means AllRules, sites means Baselines
	IsOnePolicy    bool   // --policy takes a single policy
	MostWorkers    int    // maximum number of workers
	StandardNumber int    // default number of workers; 0 for MaxProcs of the log
	IsSampled      bool   // by default, take one job in a hundred, scaled, not all
	DropLarge      bool   // omit jobs of more processors than workers
	NeedsNames     bool   // find out the names in Jobs.Names
	By             string // the log must have this field, one of NameFields; "" for none
	Drawn          *Drawn // the jobs are drawn, not those of a log; nil for a log

	Policies  []Policy
	Excluding string // the flag because of which the default has no baselines; "" for none
	Workers   int
	Speeds    []float64
	Uniform   bool // the speeds are drawn
	Outages   []dispatch.Outage
	Learning  float64 // 0 if the policy knows run times
	Emergency float64
	Requests  Requests // requested times for the baselines
	Kill      bool
	Sampling  dispatch.Sampling
	Seed      uint64
	Dialect   joblog.Dialect // how the log is written
	Report    joblog.Report  // how the log was read
	Dropped   int            // jobs omitted by DropLarge

	binding       *Binding
	heterogeneous string // "" if all speeds are 1
	outageList    string
	priorities    interval
}

const (
	policiesWanted = "all, sites, or policies such as deadline/priority,workload:60,edf,easy"
	policyWanted   = "a policy such as deadline/priority, workload:60, edf or easy"
	speedsWanted   = "speeds such as 1,1,0.5 or 10x1,10x0.5, one per worker, or uniform:LOW:HIGH"
	uniformPrefix  = "uniform:"
	uniformWanted  = "uniform:LOW:HIGH with 1e-50 <= LOW <= HIGH <= 1e50"
	outagesWanted  = "outages WORKERS@FROM-TO such as 1-6@55-115,8@200-, in seconds from the first submission"
)

func (f *LogFlags) workersWanted() string { return fmt.Sprintf("an integer in 1..%d", f.MostWorkers) }

// Add adds the flags to a command.
func (f *LogFlags) Add(cmd *cobra.Command) {
	want, usage := policiesWanted, "`POLICIES` that share the workers, separated by commas, such as "+
		"deadline/priority,edf,easy; all and sites are short for several"
	if f.IsOnePolicy {
		want, usage = policyWanted, "`POLICY` that shares the workers, such as workload:60, edf or easy"
	}
	AddText(cmd, &f.PolicyList, "policy", "", want, usage)
	AddGone(cmd, "policies", "did you mean --policy?")
	Complete(cmd, "policy", PolicyNames(append(AllRules(), Baselines()...)), cobra.ShellCompDirectiveNoSpace)
	number := "MaxProcs of the log"
	if f.StandardNumber > 0 {
		number = fmt.Sprint(f.StandardNumber)
	}
	Flag[int]{
		Name:  "workers",
		Usage: "number `W` of workers (default " + number + ")",
		Want:  f.workersWanted(),
		Parse: ParseInt(f.MostWorkers),
	}.Add(cmd, &f.Workers)
	AddText(
		cmd, &f.heterogeneous, "heterogeneous", "", speedsWanted,
		"`SPEEDS` of the workers, such as 10x1,10x0.5 or uniform:0.5:1.5 (default 1 each)",
	)
	AddText(
		cmd, &f.outageList, "outages", "", outagesWanted,
		"`OUTAGES` of workers, such as 1-6@55-115,8@200-, in seconds from the first submission",
	)
	AddNumber(cmd, &f.Learning, "learn", "", fmt.Sprintf("a number of seconds in %v", input.Speed),
		"hide run times from the policy: assume `DEFAULT` seconds for a task, until one of the job is done",
		input.Speed.Has)
	AddNumber(
		cmd, &f.Emergency, "emergency", "", "a priority in [1e-50, 1e50]",
		"jobs of priority `P` or more take workers from running tasks", input.Speed.Has,
	)
	f.addRequests(cmd)
	f.addSampling(Bind(cmd))
	AddColumns(cmd, &f.Dialect)
}

// Check reads the flags that name policies and workers, and rejects incompatible ones; given
// reports whether a flag is given.
func (f *LogFlags) Check(given func(string) bool) error {
	if first := slices.IndexFunc(notOfBaselines(), func(n refusal) bool { return given(n.flag) }); first >= 0 &&
		!given("policy") && !f.IsOnePolicy {
		f.PolicyList, f.Excluding = everyRule, notOfBaselines()[first].flag
	}
	if err := f.parsePolicies(); err != nil {
		return err
	}
	if err := f.checkBaselines(given); err != nil {
		return err
	}
	usesRunTimes := func(p Policy) bool {
		return p.Baseline == nil && p.Rule != dispatch.Priority && p.Rule != dispatch.EDF
	}
	f.Uniform = strings.HasPrefix(f.heterogeneous, uniformPrefix)
	switch {
	case given("learn") && !slices.ContainsFunc(f.Policies, usesRunTimes):
		return fmt.Errorf("--learn needs a --policy that uses run times: %s %s", f.PolicyList, f.policyInputs())
	case given("parallelism") && f.Sampling.DeadlineFactor == 0:
		return errors.New("--parallelism needs deadlines: with --deadline-factor 0 no job has one")
	case given("seed") && !given("sample") && !f.IsSampled && !f.Uniform && !f.Requests.Uniform && f.Drawn == nil:
		return errors.New("--seed needs --sample, --heterogeneous uniform:LOW:HIGH or --requests uniform:F")
	}
	f.settleSampling(given)
	if f.Workers = cmp.Or(f.Workers, f.StandardNumber); f.Workers > 0 {
		return f.parseWorkers()
	}
	return nil
}

// policyInputs describes the inputs of policies that ignore run times.
func (f *LogFlags) policyInputs() string {
	only := func(r dispatch.Rule) bool {
		return !slices.ContainsFunc(f.Policies, func(p Policy) bool { return p.Baseline != nil || p.Rule != r })
	}
	switch {
	case only(dispatch.EDF):
		return "uses only deadlines"
	case only(dispatch.Priority):
		return "uses only priorities"
	}
	return "ignores run times"
}

// A refusal is a flag that baselines do not support, and why.
type refusal struct{ flag, why string }

func notOfBaselines() []refusal {
	return []refusal{
		{"heterogeneous", "the workers of this policy are equal"},
		{"timeline", "this policy does not assign jobs to single workers, which the timeline shows"},
	}
}

// checkBaselines rejects flags that baselines do not support.
func (f *LogFlags) checkBaselines(given func(string) bool) error {
	isBaseline := func(p Policy) bool { return p.Baseline != nil }
	first := slices.IndexFunc(f.Policies, isBaseline)
	if first < 0 {
		for _, flag := range []string{"requests", "kill"} {
			if given(flag) {
				return fmt.Errorf("--%s needs fcfs, sjf, easy or conservative in --policy", flag)
			}
		}
		return nil
	}
	for _, c := range notOfBaselines() {
		if given(c.flag) {
			return fmt.Errorf("--%s and --policy %s cannot be combined: %s", c.flag, f.Policies[first], c.why)
		}
	}
	if given("emergency") && !slices.ContainsFunc(f.Policies, func(p Policy) bool { return !isBaseline(p) }) {
		return fmt.Errorf("--emergency needs a --policy that takes workers away: %s does not", f.PolicyList)
	}
	return nil
}

// Jobs holds the jobs taken from a log.
type Jobs struct {
	Name    string // name of the log
	List    []dispatch.Job
	Skipped int               // jobs with too little data
	Asking  []dispatch.Job    // the same jobs with requested times, for baselines; nil without a baseline
	Asked   int               // number of jobs whose requested time comes from the log
	Names   []dispatch.Column // user, group and so on of each job, one column per NameFields; nil unless needed
}

// Read reads the log, takes the jobs, and determines the workers if their number comes from the
// log.
func (f *LogFlags) Read(ctx context.Context, name string, stdin io.Reader) (*Jobs, error) {
	all, err := f.ReadSamples(ctx, name, stdin, 1)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ReadSamples reads the log once, and takes the given number of samples, with consecutive seeds.
func (f *LogFlags) ReadSamples(
	ctx context.Context, name string, stdin io.Reader, samples int,
) (all []*Jobs, err error) {
	var log *siteLog
	for k := range samples {
		seed := f.Seed + uint64(k)
		switch {
		case f.Drawn != nil:
			log, err = f.Drawn.log(f.Sampling.Count, seed)
		case log == nil:
			log, f.Report, err = read(ctx, name, stdin, f.Dialect)
		}
		if err != nil {
			return nil, err
		}
		if f.Drawn != nil || k == 0 {
			if err := f.settle(log, name); err != nil {
				return nil, err
			}
		}
		j, err := f.selectJobs(log, Source(name), seed)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return all, nil
}

// settle takes what the log determines: the workers, the jobs that are too large for them, and the
// number of jobs by default. It checks the field of By.
func (f *LogFlags) settle(log *siteLog, name string) error {
	if err := f.settleWorkers(log.Header, Source(name)); err != nil {
		return err
	}
	if f.DropLarge {
		if err := f.dropLarge(log, Source(name)); err != nil {
			return err
		}
	}
	if f.IsSampled && f.Sampling.Count == 0 {
		f.Sampling.Count = dispatch.LinSampling(len(log.Jobs)).Count
	}
	if f.By != "" {
		return log.checkField(f.By, Source(name))
	}
	return nil
}

// dropLarge removes the jobs that need more processors than the number of workers.
func (f *LogFlags) dropLarge(log *siteLog, name string) error {
	kept := 0
	for i, j := range log.Jobs {
		if j.Processors <= int64(f.Workers) {
			log.Jobs[kept], log.accounts[kept] = j, log.accounts[i]
			kept++
		}
	}
	dropped := len(log.Jobs) - kept
	f.Dropped += dropped
	log.Jobs, log.accounts = log.Jobs[:kept], log.accounts[:kept]
	if kept == 0 && dropped > 0 {
		return input.InFile(name, input.Errorf("", "larger jobs only", "a job of at most %s, the number of workers",
			render.Counted(f.Workers, "processor")))
	}
	return nil
}

// selectJobs returns the jobs of a sample of the log, or all jobs.
func (f *LogFlags) selectJobs(log *siteLog, name string, seed uint64) (j *Jobs, err error) {
	j = &Jobs{Name: name}
	var places []int
	if j.List, places, j.Skipped, err = f.jobsOf(log.Jobs, j.Name, seed); err != nil {
		return nil, err
	}
	if f.NeedsNames {
		j.Names = log.columns(places)
	}
	err = f.ask(j, log.Jobs, places, seed)
	if bad := (*input.Error)(nil); errors.As(err, &bad) {
		return nil, input.InFile(j.Name, bad)
	}
	return j, err
}
