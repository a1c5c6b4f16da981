package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/dispatch"
	"productform/internal/input"
	"productform/traces"
)

// A dispatchFlags holds what the flags of dispatch ask for.
type dispatchFlags struct {
	policy, spare string
	reserve       float64
	horizon       float64 // 0 for the default
	workers       int
	heterogeneous string // empty if all speeds are 1
	speeds        []float64
	uniform       bool // the speeds are drawn
	outageList    string
	outages       []dispatch.Outage
	learning      float64 // 0 if the policy knows run times
	emergency     float64

	sampling   dispatch.Sampling
	priorities interval
	seed       uint64

	timeline           bool
	jobs, format, file string
}

// An interval is LOW:HIGH.
type interval struct{ low, high float64 }

const allPolicies = "all"

func newDispatch() *cobra.Command {
	var f dispatchFlags
	cmd := &cobra.Command{
		Use:   "dispatch TRACE",
		Short: "Replay a log of jobs under policies that share workers among them",
		Long: `dispatch runs the jobs of a log on workers on a simulated clock, under the policies of Lin ("Job dispatching and
scheduling under heterogeneous clusters", 2014). TRACE is a file in Standard Workload Format, packed by gzip or not, or -
for the standard input; where there is no file of that name, also a log that pfq holds: ` + strings.Join(traces.Names(), ", ") + `.
It has at most 10^7 jobs.

A job that ran for T seconds on N processors is N tasks of T seconds each on a worker of speed 1, which need not run
together; a worker works on one task at a time, and does not cut it. A job has at most 10^9 tasks, all jobs that are run
at most 10^10, which take an hour or more. Jobs of unknown submission, run time or processors are left out, and counted.
At each submission, end of a task, outage and return the policy plans anew which workers are for which job, jobs taken in
order of priority but for edf, never more workers than tasks:

  priority    the first job has all workers but the part --reserve, the others one each
  proportion  each job has its part of the workers in proportion to the work left
  workload    the fastest workers until the work left is done within --horizon seconds
  deadline    the fastest workers until the job could end by its deadline
  edf         earliest deadline first: all that the job can use
  all         a table of these, deadline with spare workers by priority and by deadline, but not with these kept

With --deadline-factor 0 nothing is due, and edf takes jobs in order of submission. priority, proportion and edf do not
know that workers differ and take idle ones in the order of --heterogeneous: list the fast ones first to favour them.

--spare says who gets the workers that are left: jobs in order of priority or of deadline, or nobody until new jobs come
(kept). Under edf none are left. Workers that become idle begin tasks of the jobs planned for them; tasks in hand are
finished first, except that jobs of priority --emergency or more take workers from jobs that have more than planned, whose
tasks run again from their beginning. --learn DEFAULT hides run times from the policies that look at them, proportion,
workload and deadline: they take DEFAULT seconds for a task until one of the job has finished, then what that took, since
tasks of a job in a log are alike.

--sample N takes N consecutive jobs from a random start, with run times times 0.001, times between submissions times 0.1,
and what is submitted within one second submitted together, as Lin does; the whole log is taken as it is. Either way jobs
are due after --deadline-factor times their run time, times tasks/--parallelism if they have more tasks than that; and
users are ranked by their number of jobs, fewest first, and get --priorities evenly from the highest to the lowest. Flags
change each of these. Times are in seconds, after scaling, from the first submission on.

--heterogeneous takes speeds, one a worker, such as 1,1,0.5 or 10x1,10x0.5, or uniform:LOW:HIGH, drawn at random.
--outages takes workers away, as in 1-6@55-115,8@200-: workers 1 to 6 from second 55 to 115, worker 8 from 200 on for
good. Tasks in hand then are lost, and run again.

  average_priority_violation_rate  part of the jobs present for which no worker is planned though one is for a job of
                                   lower priority, averaged over the time during which jobs are present
  decision_violation_rate          the same, averaged over decisions
  running_violation_rate           the same over time, with tasks in hand in place of workers planned
  deadline_miss_penalty            sum over jobs of priority times the seconds by which they miss their deadline
  missed                           number of jobs that miss it
  makespan                         from the first submission to the end of the last job
  response                         from the submission of a job to its end: mean, quantiles and largest
  slowdown                         response over max(W/S, w/s), for W the work of the job, w that of its largest task, S the
                                   sum of the speeds of all workers, s the largest: a bound from below on the time of the
                                   job alone, which whole tasks need not attain, so that it can be above 1 without waiting
  utilization, wasted              part of the time of workers that goes into tasks that finish, and into tasks lost
  tasks, lost                      number of tasks, and how often one was lost
  decisions                        number of plans made with jobs present

--timeline adds to the text how the run went, over at most 76 columns of equal time: means over each column as bars, and
for up to 40 workers a row each, with the letter of the job that it is longest at in that column, x if it is longer
down, and . if it does nothing there. Jobs have letters in order of submission; X is left out, and after z comes A again.

--jobs FILE writes a line of CSV for each job: id, submit, deadline, priority, tasks, work (of all tasks), start, finish,
response, slowdown, missed (seconds late), lost (tasks).

JSON has a field for each of the measures, null where a quantity does not exist, and for what was run: skipped is the
number of jobs left out, first_job the number in the log of the first one taken; with the policy all they are in a list,
policies. If all workers go for good before the jobs are done, finished is false, there are no measures but a reason, and
the exit status is 1. CSV has one line a policy, and always the same columns, empty where a quantity does not exist.`,
		Example: `  $ pfq example five-jobs | pfq dispatch - --workers 4 --priorities 1:5
  6 policies
  5 jobs of standard input; 15 tasks
  4 workers of speed 1

  measure                          unit        priority  proportion  workload  deadline  deadline  edf
  spare workers by                             priority  priority    priority  priority  deadline  -
  average priority violation rate  of jobs     0         0           0         0         0         0.222222
  decision violation rate          of jobs     0         0           0         0         0         0.222222
  running violation rate           of jobs     0         0.0555556   0         0         0         0.222222
  deadline miss penalty            priority s  25        25          10        10        10        10
  missed                           jobs        2         2           1         1         1         1
  makespan                         s           30        30          30        30        30        30
  response mean                    s           15        16          14        14        14        14
  response p50                     s           10        10          10        10        10        15
  response p95                     s           30        30          30        30        30        20
  response p99                     s           30        30          30        30        30        20
  response max                     s           30        30          30        30        30        20
  slowdown mean                    -           1.93333   2.13333     1.8       1.8       1.8       1.9
  slowdown p50                     -           2         2           2         2         2         2
  slowdown p95                     -           3         3           3         3         3         3
  slowdown p99                     -           3         3           3         3         3         3
  slowdown max                     -           3         3           3         3         3         3
  utilization                      of time     0.833333  0.833333    0.833333  0.833333  0.833333  0.833333
  wasted                           of time     0         0           0         0         0         0
  lost                             tasks       0         0           0         0         0         0
  decisions                        plans       6         6           5         5         5         6

  $ pfq example five-jobs | pfq dispatch - --workers 4 --priorities 1:5 --policy edf --outages 3-4@2-12 --timeline
  earliest deadline first
  5 jobs of standard input; 15 tasks
  4 workers of speed 1; 2 outages

  measure                          unit        value
  average priority violation rate  of jobs     0.308559
  decision violation rate          of jobs     0.333333
  running violation rate           of jobs     0.308559
  deadline miss penalty            priority s  78
  missed                           jobs        4
  makespan                         s           37
  response mean                    s           19.2
  response p50                     s           22
  response p95                     s           27
  response p99                     s           27
  response max                     s           27
  slowdown mean                    -           2.56667
  slowdown p50                     -           2.7
  slowdown p95                     -           4
  slowdown p99                     -           4
  slowdown max                     -           4
  utilization                      of time     0.78125
  wasted                           of time     0.03125
  lost                             tasks       2
  decisions                        plans       11

  timeline: a column is 0.5 s; bars are means over it, up to █ at the number before them, . for 0
  a worker's letter is the job it is longest at in a column, x if it is longer down, . for nothing

  time in s         █ is  0         5         10        15        20        25        30        35
                          |---------|---------|---------|---------|---------|---------|---------|---
  workers busy         4  ████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄██████████████████████████████▆▆▆▆▆▆▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  workers down         4  ....▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄..................................................
  jobs present         4  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄████████████████████████▆▆▆▆▆▆▆▆▆▆▄▄▄▄▄▄▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  tasks waiting       11  ▂▂▂▂▃▃▃▃▃▃▆▆▆▆▆▆▆▆▆▆████▇▇▇▇▇▇▆▆▆▆▆▆▆▆▆▆▄▄▄▄▃▃▃▃▃▃▁▁▁▁....................

  worker 1                BBBBBBBBBBAAAAAAAAAAAAAAAAAAAACCCCCCCCCCCCCCCCCCCCEEEEEEEEEE..............
  worker 2                BBBBBBBBBBAAAAAAAAAAAAAAAAAAAACCCCCCCCCCCCCCCCCCCCEEEEEEEEEE..............
  worker 3                AAAAxxxxxxxxxxxxxxxxxxxxAAAAAAAAAAAAAAAAAAAACCCCCCCCCCDDDDDDDDDDDDDDDDDDDD
  worker 4                AAAAxxxxxxxxxxxxxxxxxxxxAAAAAAAAAAAAAAAAAAAACCCCCCCCCC....................

  letter  job  priority  tasks  work of each  submitted  due  started  finished  missed by
  A       1    1         4      10            0          20   0        22        2
  B       2    4         2      5             0          10   0        5         -
  C       3    3         6      5             5          20   15       27        7
  D       4    5         1      10            10         30   27       37        7
  E       5    2         2      5             10         20   25       30        10

  $ pfq dispatch SDSC-Par-1996 --workers 20 --sample 321 --seed 7 --heterogeneous uniform:0.5:1.5 -o policies.txt`,
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
			var others []output
			if f.jobs != "" && a.finished() {
				others = append(others, output{a.records, f.jobs})
			}
			if err := writeAll(cmd.OutOrStdout(), output{a.text, f.file}, others...); err != nil {
				return err
			}
			if !a.finished() {
				return errNoAnswer
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *dispatchFlags) add(cmd *cobra.Command) {
	var names []string
	for _, r := range dispatch.Rules() {
		names = append(names, string(r))
	}
	f.policy = allPolicies
	cli.AddChoice(cmd, &f.policy, "policy", append(names, allPolicies), "who gets workers")
	cli.AddChoice(cmd, &f.spare, "spare", []string{string(dispatch.SpareByPriority), string(dispatch.SpareByDeadline), string(dispatch.SpareKept)},
		"who gets the workers that are left")
	addNumber(cmd, &f.reserve, "reserve", "0", "a number in [0, 1]", "part `R` of the workers that priority keeps from the first job",
		func(v float64) bool { return v >= 0 && v <= 1 })
	addNumber(cmd, &f.horizon, "horizon", "1", "a number of seconds in [1e-50, 1e50]", "seconds `H` within which workload wants jobs done",
		func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	cli.Flag[int]{Name: "workers", Usage: "number `W` of workers", Want: workersWanted, Parse: parseInt(mostDispatchWorkers)}.Add(cmd, &f.workers)
	cli.AddText(cmd, &f.heterogeneous, "heterogeneous", "", speedsWanted, "`SPEEDS` of the workers, such as 10x1,10x0.5 or uniform:0.5:1.5 (default 1 each)")
	cli.AddText(cmd, &f.outageList, "outages", "", outagesWanted, "`OUTAGES` of workers, such as 1-6@55-115,8@200-")
	addNumber(cmd, &f.learning, "learn", "", "a number of seconds in [1e-50, 1e50]", "hide run times from the policy: `DEFAULT` seconds for a task, until one of the job is done",
		func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	addNumber(cmd, &f.emergency, "emergency", "", "a priority in [1e-50, 1e50]", "jobs of priority `P` or more take workers from tasks in hand",
		func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	f.addSampling(cmd)
	cli.AddText(cmd, &f.jobs, "jobs", "", "the name of a file", "also write what became of each job to `FILE`, as CSV")
	cli.AddSwitch(cmd, &f.timeline, "timeline", "also draw how the run went, in text")
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
}

// addSampling gives the flags of what is taken from the log.
func (f *dispatchFlags) addSampling(cmd *cobra.Command) {
	s, lin := &f.sampling, dispatch.LinSampling(1)
	cli.Flag[int]{Name: "sample", Usage: "take `N` consecutive jobs, scaled (default all, unscaled)", Want: "an integer in 1..1000000000", Parse: parseInt(1e9)}.Add(cmd, &s.Count)
	f.seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "of the random numbers, for --sample and uniform speeds", Default: "1", Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(cmd, &f.seed)
	scale := func(target *float64, name, what string, sampled float64) {
		addNumber(cmd, target, name, "", "a number in [1e-50, 1e50]", fmt.Sprintf("multiply %s by this (default 1, with --sample %g)", what, sampled),
			func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	}
	scale(&s.TimeScale, "time-scale", "run times", lin.TimeScale)
	scale(&s.GapScale, "gap-scale", "times between submissions", lin.GapScale)
	addNumber(cmd, &s.Batch, "batch", "", "a number of seconds in [0, 1e50]",
		fmt.Sprintf("seconds within which jobs are submitted together; 0 for none (default 0, with --sample %g)", lin.Batch),
		func(v float64) bool { return v >= 0 && v <= 1e50 })
	s.DeadlineFactor, s.Parallelism = lin.DeadlineFactor, lin.Parallelism
	addNumber(cmd, &s.DeadlineFactor, "deadline-factor", fmt.Sprint(lin.DeadlineFactor), "a number in [1e-50, 1e50], or 0 for no deadlines",
		"run times until a job is due; 0 for no deadlines", func(v float64) bool { return v == 0 || v >= 1e-50 && v <= 1e50 })
	cli.Flag[int]{Name: "parallelism", Kind: "int", Usage: "tasks of a job that its deadline takes to run at a time", Default: strconv.Itoa(lin.Parallelism),
		Want: "an integer in 1..1000000000", Parse: parseInt(1e9)}.Add(cmd, &s.Parallelism)
	f.priorities = interval{lin.LowestPriority, lin.HighestPriority}
	cli.Flag[interval]{Name: "priorities", Kind: "LOW:HIGH", Usage: "range of the priorities of users", Default: fmt.Sprintf("%g:%g", f.priorities.low, f.priorities.high),
		Want: "LOW:HIGH with 0 <= LOW <= HIGH <= 1e50", Parse: parseInterval(0, 1e50)}.Add(cmd, &f.priorities)
}

// check settles what depends on several flags.
func (f *dispatchFlags) check(given func(string) bool) error {
	if !given("workers") {
		return &input.Error{Path: "--workers", Want: workersWanted}
	}
	all := f.policy == allPolicies
	switch {
	case given("spare") && all:
		return errors.New("--spare wants one --policy: all has deadline with spare workers by priority and by deadline")
	case given("spare") && f.policy == string(dispatch.EDF):
		return errors.New("--spare is of no use with --policy edf, which leaves no workers that a job can use")
	case given("reserve") && !all && f.policy != string(dispatch.Priority):
		return errors.New("--reserve is of no use without --policy priority or all")
	case given("horizon") && !all && f.policy != string(dispatch.Workload):
		return errors.New("--horizon is of no use without --policy workload or all")
	case given("learn") && slices.Contains([]string{string(dispatch.Priority), string(dispatch.EDF)}, f.policy):
		return fmt.Errorf("--learn is of no use with --policy %s, which does not look at run times", f.policy)
	case given("parallelism") && f.sampling.DeadlineFactor == 0:
		return errors.New("--parallelism is of no use with --deadline-factor 0: no job has a deadline")
	case given("timeline") && f.timeline && f.format != formats[0]:
		return fmt.Errorf("--timeline is of no use with --format %s: it is text", f.format)
	case given("jobs") && all:
		return errors.New("--jobs wants one --policy: what becomes of a job depends on it")
	case f.jobs == "-":
		return input.Errorf("--jobs", f.jobs, "the name of a file")
	}
	if err := f.parseSpeeds(); err != nil {
		return err
	}
	if given("seed") && !given("sample") && !f.uniform {
		return errors.New("--seed is of no use without --sample or --heterogeneous uniform:LOW:HIGH")
	}
	if err := f.parseOutages(); err != nil {
		return err
	}
	f.settleSampling(given)
	return nil
}

// checkFiles refuses to write two files over one another, or over the log.
func (f *dispatchFlags) checkFiles(trace string, stdin io.Reader, stdout io.Writer) error {
	toStdout := f.file == "" || f.file == "-"
	if toStdout && isStream(f.jobs, stdout) || !toStdout && f.jobs != "" && sameFile(f.jobs, f.file) {
		return input.Errorf("--jobs", f.jobs, "a file other than that of --output")
	}
	return cmp.Or(notInput("--jobs", f.jobs, trace, stdin), notInput("--output", f.file, trace, stdin))
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

// policies returns those that are asked for.
func (f *dispatchFlags) policies() (list []dispatch.Policy) {
	if f.policy != allPolicies {
		list = []dispatch.Policy{{Rule: dispatch.Rule(f.policy), Spare: dispatch.Spare(f.spare)}}
	} else {
		for _, r := range dispatch.Rules() {
			list = append(list, dispatch.Policy{Rule: r, Spare: dispatch.SpareByPriority})
			if r == dispatch.Deadline {
				list = append(list, dispatch.Policy{Rule: r, Spare: dispatch.SpareByDeadline})
			}
		}
	}
	for i := range list {
		list[i].Reserve, list[i].Horizon = f.reserve, f.horizon
	}
	return list
}
