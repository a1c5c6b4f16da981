// Package dispatch is the command dispatch of pfq.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/output"
	"productform/internal/render"
	"productform/traces"
)

// A dispatchFlags holds what the flags of dispatch ask for.
type dispatchFlags struct {
	policyList    string
	policies      []policy
	workers       int
	heterogeneous string // empty if all speeds are 1
	speeds        []float64
	uniform       bool // the speeds are drawn
	outageList    string
	outages       []dispatch.Outage
	learning      float64 // 0 if the policy knows run times
	emergency     float64
	requests      requests // of the baselines
	kill          bool

	sampling   dispatch.Sampling
	priorities interval
	seed       uint64

	percentiles           []command.Percentile // nil for those that stand there without
	timeline              bool
	records, format, file string
}

// An interval is LOW:HIGH.
type interval struct{ low, high float64 }

// everyPolicy is the list of --policy that stands for all rules, deadline with spare workers by priority and by deadline.
const everyPolicy = "all"

// New returns the command.
func New() *cobra.Command {
	var f dispatchFlags
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
	f.policyList = everyPolicy
	cli.AddText(cmd, &f.policyList, "policy", "", policiesWanted, "`POLICIES` that share the workers, separated by commas, such as deadline/priority,edf,easy")
	if err := cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policyNames(append(allRules(), baselines()...)), cobra.ShellCompDirectiveNoSpace)); err != nil {
		panic(err) // the flag is there
	}
	cli.AddGone(cmd, "spare", "--policy names who gets spare workers, as in deadline/kept")
	cli.AddGone(cmd, "reserve", "--policy names the part R that is kept, as in priority:R")
	cli.AddGone(cmd, "horizon", "--policy names the seconds H, as in workload:H")
	cli.Flag[int]{Name: "workers", Usage: "number `W` of workers (default MaxProcs of the log)", Want: workersWanted, Parse: command.ParseInt(mostDispatchWorkers)}.Add(cmd, &f.workers)
	cli.AddText(cmd, &f.heterogeneous, "heterogeneous", "", speedsWanted, "`SPEEDS` of the workers, such as 10x1,10x0.5 or uniform:0.5:1.5 (default 1 each)")
	cli.AddText(cmd, &f.outageList, "outages", "", outagesWanted, "`OUTAGES` of workers, such as 1-6@55-115,8@200-")
	command.AddNumber(cmd, &f.learning, "learn", "", "a number of seconds in [1e-50, 1e50]", "hide run times from the policy: `DEFAULT` seconds for a task, until one of the job is done",
		func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	command.AddNumber(cmd, &f.emergency, "emergency", "", "a priority in [1e-50, 1e50]", "jobs of priority `P` or more take workers from tasks in hand",
		func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	f.addRequests(cmd)
	f.addSampling(cmd)
	cli.AddRenamed(cmd, "jobs", "records")
	cli.AddText(cmd, &f.records, "records", "", "the name of a file", "also write what became of each job to `FILE`, as CSV")
	command.AddPercentiles(cmd, &f.percentiles, "give these percentiles of delays and slowdowns (default 50,95,99)")
	cli.AddSwitch(cmd, &f.timeline, "timeline", "also draw how the run went, in text")
	command.AddFormat(cmd, &f.format)
	command.AddOutput(cmd, &f.file)
}

// addSampling gives the flags of what is taken from the log.
func (f *dispatchFlags) addSampling(cmd *cobra.Command) {
	s, lin := &f.sampling, dispatch.LinSampling(1)
	cli.Flag[int]{Name: "sample", Usage: "take `N` consecutive jobs, scaled (default all, unscaled)", Want: "an integer in 1..1000000000", Parse: command.ParseInt(1e9)}.Add(cmd, &s.Count)
	f.seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "of the random numbers, for --sample and uniform speeds", Default: "1", Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(cmd, &f.seed)
	scale := func(target *float64, name, what string, sampled float64) {
		command.AddNumber(cmd, target, name, "", "a number in [1e-50, 1e50]", fmt.Sprintf("multiply %s by this (default 1, with --sample %g)", what, sampled),
			func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	}
	scale(&s.TimeScale, "time-scale", "run times", lin.TimeScale)
	scale(&s.GapScale, "gap-scale", "times between submissions", lin.GapScale)
	command.AddNumber(cmd, &s.Batch, "batch", "", "a number of seconds in [0, 1e50]",
		fmt.Sprintf("seconds within which jobs are submitted together; 0 for none (default 0, with --sample %g)", lin.Batch),
		func(v float64) bool { return v >= 0 && v <= 1e50 })
	s.DeadlineFactor, s.Parallelism = lin.DeadlineFactor, lin.Parallelism
	command.AddNumber(cmd, &s.DeadlineFactor, "deadline-factor", fmt.Sprint(lin.DeadlineFactor), "a number in [1e-50, 1e50], or 0 for no deadlines",
		"run times until a job is due; 0 for no deadlines", func(v float64) bool { return v == 0 || v >= 1e-50 && v <= 1e50 })
	cli.Flag[int]{Name: "parallelism", Kind: "int", Usage: "tasks of a job that its deadline takes to run at a time", Default: strconv.Itoa(lin.Parallelism),
		Want: "an integer in 1..1000000000", Parse: command.ParseInt(1e9)}.Add(cmd, &s.Parallelism)
	f.priorities = interval{lin.LowestPriority, lin.HighestPriority}
	cli.Flag[interval]{Name: "priorities", Kind: "LOW:HIGH", Usage: "range of the priorities of users", Default: fmt.Sprintf("%g:%g", f.priorities.low, f.priorities.high),
		Want: "LOW:HIGH with 0 <= LOW <= HIGH <= 1e50", Parse: parseInterval(0, 1e50)}.Add(cmd, &f.priorities)
}

// check accepts flags that go together.
func (f *dispatchFlags) check(given func(string) bool) error {
	if err := f.parsePolicies(); err != nil {
		return err
	}
	if err := f.checkBaselines(given); err != nil {
		return err
	}
	looksAtRunTimes := func(p policy) bool {
		return p.baseline == nil && p.Rule != dispatch.Priority && p.Rule != dispatch.EDF
	}
	switch {
	case given("learn") && !slices.ContainsFunc(f.policies, looksAtRunTimes):
		return fmt.Errorf("--learn is of no use with --policy %s, which does not look at run times", f.policyList)
	case given("parallelism") && f.sampling.DeadlineFactor == 0:
		return errors.New("--parallelism is of no use with --deadline-factor 0: no job has a deadline")
	case given("timeline") && f.timeline && f.format != render.Formats[0]:
		return fmt.Errorf("--timeline is of no use with --format %s: it is text", f.format)
	case given("records") && len(f.policies) > 1:
		return errors.New("--records wants one --policy: what becomes of a job depends on it")
	case f.records == "-":
		return input.Errorf("--records", f.records, "the name of a file")
	}
	f.uniform = strings.HasPrefix(f.heterogeneous, uniformPrefix)
	if given("seed") && !given("sample") && !f.uniform && !f.requests.Uniform {
		return errors.New("--seed is of no use without --sample, --heterogeneous uniform:LOW:HIGH or --requests uniform:F")
	}
	if err := command.CheckPercentiles(f.percentiles); err != nil {
		return err
	}
	f.settleSampling(given)
	if given("workers") {
		return f.parseWorkers()
	}
	return nil
}

// settleWorkers takes the number of workers from the comments of a log unless a flag says it.
func (f *dispatchFlags) settleWorkers(header []string, name string) error {
	if f.workers > 0 {
		return nil
	}
	processors, ok := swf.MaxProcs(header)
	switch {
	case !ok:
		return &input.Error{Path: "--workers", Want: workersWanted}
	case processors > mostDispatchWorkers:
		return input.InFile(name, input.Errorf("MaxProcs", processors, "%s", workersWanted))
	}
	f.workers = int(processors)
	return f.parseWorkers()
}

// parseWorkers reads the speeds and outages of the workers, whose number is known.
func (f *dispatchFlags) parseWorkers() error {
	return cmp.Or(f.parseSpeeds(), f.parseOutages())
}

// checkFiles refuses to write two files over one another, or over the log.
func (f *dispatchFlags) checkFiles(trace string, stdin io.Reader, stdout io.Writer) error {
	toStdout := f.file == "" || f.file == "-"
	if toStdout && output.IsStream(f.records, stdout) || !toStdout && f.records != "" && output.IsSame(f.records, f.file) {
		return input.Errorf("--records", f.records, "a file other than that of --output")
	}
	return cmp.Or(output.NotInput("--records", f.records, trace, stdin), output.NotInput("--output", f.file, trace, stdin))
}

// settleSampling takes what no flag says from one of the two samplings.
func (f *dispatchFlags) settleSampling(given func(string) bool) {
	s, standard := &f.sampling, dispatch.WholeLog()
	if given("sample") {
		standard = dispatch.LinSampling(1)
	}
	if !given("time-scale") {
		s.TimeScale = standard.TimeScale
	}
	if !given("gap-scale") {
		s.GapScale = standard.GapScale
	}
	if !given("batch") {
		s.Batch = standard.Batch
	}
	s.LowestPriority, s.HighestPriority = f.priorities.low, f.priorities.high
}

const (
	mostDispatchWorkers = 1_000_000
	mostLogJobs         = 10_000_000 // of 144 bytes each
	policiesWanted      = "all, or policies such as deadline/priority,workload:60,edf,easy"
	workersWanted       = "an integer in 1..1000000"
	speedsWanted        = "speeds such as 1,1,0.5 or 10x1,10x0.5, one a worker, or uniform:LOW:HIGH"
	uniformPrefix       = "uniform:"
	uniformWanted       = "uniform:LOW:HIGH with 1e-50 <= LOW <= HIGH <= 1e50"
	outagesWanted       = "outages WORKERS@FROM-TO such as 1-6@55-115,8@200-"
)

// parseInterval reads LOW:HIGH with least <= LOW <= HIGH <= most.
func parseInterval(least, most float64) func(string) (interval, bool) {
	return func(text string) (interval, bool) {
		low, high, _ := strings.Cut(text, ":")
		a, errLow := strconv.ParseFloat(low, 64)
		b, errHigh := strconv.ParseFloat(high, 64)
		return interval{a, b}, errLow == nil && errHigh == nil && a >= least && a <= b && b <= most
	}
}

// parseSpeeds reads --heterogeneous; uniform speeds are drawn here as well.
func (f *dispatchFlags) parseSpeeds() error {
	const flag = "--heterogeneous"
	if bounds, uniform := strings.CutPrefix(f.heterogeneous, uniformPrefix); uniform {
		v, ok := parseInterval(1e-50, 1e50)(bounds)
		if !ok {
			return input.Errorf(flag, f.heterogeneous, "%s", uniformWanted)
		}
		var err error
		f.speeds, err = dispatch.UniformSpeeds(f.workers, v.low, v.high, f.seed)
		return err
	}
	if f.heterogeneous == "" {
		f.speeds = slices.Repeat([]float64{1}, f.workers)
		return nil
	}
	for i, word := range strings.Split(f.heterogeneous, ",") {
		word = strings.TrimSpace(word)
		count, speed, counted := strings.Cut(word, "x")
		n, ok := 1, true
		if counted {
			n, ok = command.ParseInt(mostDispatchWorkers)(count)
		} else {
			speed = word
		}
		v, err := strconv.ParseFloat(speed, 64)
		switch {
		case err != nil && !strings.Contains(f.heterogeneous, ","):
			return input.Errorf(flag, f.heterogeneous, "%s", speedsWanted)
		case !ok || err != nil || !(v >= 1e-50 && v <= 1e50):
			return input.Errorf(input.Index(flag, i), cmp.Or(word, "nothing"), "a speed in [1e-50, 1e50], or NxSPEED for N workers")
		case n > f.workers-len(f.speeds): // before so many are made
			return input.Errorf(input.Index(flag, i), word, "%d speeds in all, one a worker", f.workers)
		}
		f.speeds = append(f.speeds, slices.Repeat([]float64{v}, n)...)
	}
	if len(f.speeds) != f.workers {
		return input.Errorf(flag, command.Counted(len(f.speeds), "speed"), "%d speeds, one a worker", f.workers)
	}
	return nil
}

// An outageGroup is an item of --outages: the workers first to last, counted from 1, are away.
type outageGroup struct {
	text        string
	first, last int
	from, to    float64
}

// outageForm has the parts of an outage; a minus after e belongs to a number.
var outageForm = regexp.MustCompile(`^(\d+)(?:-(\d+))?@((?:[^-eE]|[eE]-?)+)-(.*)$`)

func parseOutage(text string) (g outageGroup, ok bool) {
	parts := outageForm.FindStringSubmatch(text)
	if parts == nil {
		return g, false
	}
	first, errFirst := strconv.Atoi(parts[1])
	last, errLast := strconv.Atoi(cmp.Or(parts[2], parts[1]))
	from, errFrom := strconv.ParseFloat(parts[3], 64)
	to, errTo := strconv.ParseFloat(cmp.Or(parts[4], "+Inf"), 64)
	g = outageGroup{text, first, last, from, to}
	return g, errFirst == nil && errLast == nil && errFrom == nil && errTo == nil
}

// parseOutages reads --outages.
func (f *dispatchFlags) parseOutages() error {
	const flag = "--outages"
	if f.outageList == "" {
		return nil
	}
	var groups []outageGroup
	for i, text := range strings.Split(f.outageList, ",") {
		g, ok := parseOutage(text)
		path, value := input.Index(flag, i), cmp.Or(text, "nothing")
		switch {
		case !ok:
			return input.Errorf(path, value, "WORKERS@FROM-TO such as 1-6@55-115, or 8@200- for good")
		case g.first < 1 || g.last > f.workers:
			return input.Errorf(path, value, "workers in 1..%d", f.workers)
		case g.first > g.last:
			return input.Errorf(path, value, "workers FIRST-LAST with FIRST <= LAST")
		case !(g.from >= 0 && g.from <= 1e50 && g.to > g.from):
			return input.Errorf(path, value, "times FROM-TO with 0 <= FROM < TO, FROM at most 1e50")
		}
		for k, h := range groups {
			if max(g.first, h.first) <= min(g.last, h.last) && g.from < h.to && h.from < g.to {
				return input.Errorf(path, value, "an outage that does not overlap %s, %s[%d], which takes worker %d as well", h.text, flag, k, max(g.first, h.first))
			}
		}
		groups = append(groups, g)
		for w := g.first; w <= g.last; w++ {
			f.outages = append(f.outages, dispatch.Outage{Worker: w - 1, From: g.from, To: g.to})
		}
	}
	return nil
}

// readTrace reads the log until the context is done.
func readTrace(ctx context.Context, name string, stdin io.Reader) (log swf.Log, err error) {
	from, err := command.OpenLog(name, stdin)
	if err != nil {
		return swf.Log{}, err
	}
	defer from.Close()
	reader := swf.NewReader(from, command.Source(name))
	for {
		job, err := reader.Read()
		switch {
		case err == io.EOF:
			log.Header = reader.Header()
			return log, nil
		case err != nil:
			return swf.Log{}, err
		}
		if len(log.Jobs) == mostLogJobs {
			return swf.Log{}, input.InFile(command.Source(name), input.Errorf("", "a longer one", "a log of at most %d jobs", mostLogJobs))
		}
		log.Jobs = append(log.Jobs, job)
		if len(log.Jobs)%1000 == 0 && ctx.Err() != nil {
			return swf.Log{}, context.Cause(ctx)
		}
	}
}

// jobsOf makes jobs of the log, and returns the place of each there.
func (f *dispatchFlags) jobsOf(log []swf.Job, name string) (jobs []dispatch.Job, places []int, skipped int, err error) {
	jobs, places, skipped, err = f.sampling.Take(log, f.seed)
	var bad *input.Error
	if !errors.As(err, &bad) {
		return jobs, places, skipped, err
	}
	flags := map[string]string{"Count": "--sample", "TimeScale": "--time-scale", "GapScale": "--gap-scale", "Batch": "--batch", "DeadlineFactor": "--deadline-factor"}
	if flag := flags[bad.Path]; flag != "" {
		return nil, nil, 0, &input.Error{Path: flag, Value: bad.Value, Want: bad.Want}
	}
	return nil, nil, 0, input.InFile(name, bad)
}
