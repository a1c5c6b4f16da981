package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// A tagsFlags holds what the flags of tags ask for.
type tagsFlags struct {
	hosts          int
	load           decimal
	sizes          sizeFlags
	speeds         []decimal // nil if all are 1
	objectiveText  string
	objective      objective
	objectiveGiven bool
	cutoffs        []decimal // nil for the best
	printed        bool
	engine         string
	tol            float64      // of the bounds of enclose
	target         float64      // of the server expansion, 0 for none
	settings       sim.Settings // Runs is 0 for no simulation

	format, file string
}

var hostsWanted = fmt.Sprintf("an integer in 1..%d", tags.MaxHosts)

func newTags() *cobra.Command {
	var f tagsFlags
	cmd := &cobra.Command{
		Use:   "tags",
		Short: "Find the best cutoffs for hosts that guess job sizes, and compare with other policies",
		Long: `tags computes the stationary means of task assignment by guessing size, TAGS (Harchol-Balter, "Task assignment with
unknown duration", 2002), with the best cutoffs, and those of its rivals. Jobs arrive as a Poisson process at --hosts
hosts with a queue each, and keep them busy for the part --load of the time, if no job is killed. Every job starts at
host 1. One that is not done after s_i of work at host i is killed, and starts again from scratch in the queue of host
i+1; s_1 < s_2 < ... are the cutoffs.

Sizes of jobs come from one of
  --alpha A --max P and --min K or --mean M  the bounded Pareto law on [K, P], or the one on [.., P] of the mean M
  --sizes FILE                               a file (- for the standard input) with one size a line, or swf:PATH, a log in
                                             Standard Workload Format, packed by gzip or not; every size is as likely as it is
                                             frequent there. --fit takes the bounded Pareto law most like them instead;
                                             --processor-seconds counts run times by the processors that they took
  --law LAW --mean M                         a law that simulate knows: exponential, lognormal:SCV, weibull:SHAPE, ...

The cutoffs minimise the mean slowdown, or the mean waiting time, or a weighted sum such as slowdown=1,waiting=0.01, and
are proved to: no others are better by more than optimality_gap, relatively. For fairness they give the jobs that end at
each host the same mean slowdown, objective_value; unfairness is 1 less the ratio of the least to the largest. Where the
sizes are a list, as in a file, equality is out of reach: the largest mean slowdown of a host, objective_value, is then
the least that cutoffs can give, over the hosts at which jobs end. Cutoffs that give all hosts the same need not exist: the
answer then says so, with how hard it looked or that it is proved. With --cutoffs they are those given, and nothing is
optimised but the policy sita. A cutoff of 0 leaves its host idle, as jobs go on at once, and so does a last one above all
sizes; at a host with the cutoff of the host before, no job ends.

Whether a load is below 1 is decided from the numbers as they are written, in fractions, for sizes in a list and for --alpha
2, 3, ... with --min. For others, a warning tells of a host whose slack, 1 - load, double precision does not separate from 0.

  mean_waiting   mean time that a job waits in queues, all visits together
  mean_slowdown  mean of the waiting time over the size; it does not exist if the mean of 1/size is infinite
  mean_response  mean time from arrival to end, with the work that kills lose
  mean_stretch   mean of this time over the size
  excess         load that lost work adds to hosts 1 to h-1 together: with the arrival rate l, speeds v_i and size X, the
                 sum over them of l s_i P(X > s_i)/v_i; lost_work is the work that a job loses on average
  max_load       the largest load: cutoffs keep every host below load 1 for those below

Of each host: visit_fraction, the part of the jobs that come to it; final_fraction, the part that ends there;
visit_waiting, the mean time a visit waits; and of the jobs that end there their mean waiting, slowdown and response.

Policies beside tags: random (a host gets jobs in proportion to its speed), round-robin (proved bounds),
least-work-remaining (one queue for all, an approximation, which overstates times in queues, up to several times, where
sizes vary much and a host is often free: --simulate shows by how much; --printed adds it as the paper prints it, twice
as large), sita (sizes are known, each host has its own interval of them; its cutoffs are the best for the same
objective, for the mean slowdown if that is fairness) and sita-e (loads equal, or as equal as a list of sizes allows).
The accuracy of numbers is exact, approximation or bounds, which JSON and CSV give as _low and _high. TAGS is exact at
host 1; at the others the theory takes arrivals as Poisson, and in all cases known the true waiting times are shorter.
--simulate simulates all policies, and shortest-queue as well, in so many runs, as the command simulate does; means of
times and slowdowns are those of the jobs that left. --expand adds the server expansion: the fewest hosts to be added, at
the same arrival rate, for the mean slowdown to be at most the target.

Engines: float works in double precision; enclose proves bounds of all numbers of TAGS, for sizes given by --alpha and
the decimals as they are written, as narrow as --tol asks, and finds cutoffs to 49 digits: cutoffs_exact, for which the
bounds hold, with the best ones within the part cutoff_radius of them; auto takes float, or enclose where a host has a
slack, 1 - load, below 1e-6, which cutoffs in double precision cannot hold well.

If no cutoffs keep every host below load 1, or those given do not, the answer says so ("feasible": false) and has the
other policies all the same; the exit status is 1. CSV has a line for the farm, each host, each policy and each
expansion, told apart by the columns kind and name.`,
		Example: `  $ pfq tags --hosts 2 --load 0.5 --alpha 1 --max 1e10 --mean 3000 --objective slowdown
  feasible: cutoffs keep every host below load 1 at system loads below 0.947107
  2 hosts at system load 0.5, 0.000333333 jobs a second
  sizes are bounded Pareto of alpha 1 from 167.555 to 1e10: mean 3000, squared coefficient of variation 186172
  cutoffs of the least mean slowdown; no others are better by more than 1e-10 of it

  mean slowdown  mean waiting  mean response  mean stretch  excess     lost work
  32.8111        1.74011e+06   1.74328e+06    33.8122       0.0558513  167.554

  host  cutoff   load      visit fraction  final fraction  visit waiting  waiting      slowdown  response
  1     78602.3  0.399387  1               0.997868        7301.51        7301.51      21.8348   8334.32
  2     -        0.656465  0.00213167      0.00213167      8.1289e+08     8.12898e+08  5170.99   8.139e+08

  policy                accuracy       mean slowdown     mean waiting                mean response              cutoffs
  tags                  approximation  32.8111           1.74011e+06                 1.74328e+06                78602.3
  random                exact          833333            2.79259e+08                 2.79262e+08                -
  round-robin           bounds         833329 to 833333  2.79257e+08 to 2.79259e+08  2.7926e+08 to 2.79262e+08  -
  least-work-remaining  approximation  277778            9.30863e+07                 9.30893e+07                -
  sita-e                exact          215.739           144555                      147555                     1.29443e+06
  sita                  exact          19.4916           1.31343e+06                 1.31643e+06                100107

  $ pfq tags --hosts 3 --load 0.5 --law lognormal:20 --mean 1 --objective fairness --expand 1
  feasible: cutoffs keep every host below load 1 at system loads below 0.725139
  3 hosts at system load 0.5, 1.5 jobs a second
  sizes are of the law lognormal:20: mean 1, squared coefficient of variation 20
  cutoffs of equal mean slowdowns at all hosts

  mean slowdown  mean waiting  mean response  mean stretch  excess   lost work
  6.95823        4.3697        5.72687        8.0948        0.53575  0.357167

  host  cutoff    load      visit fraction  final fraction  visit waiting  waiting   slowdown  response
  1     0.702175  0.47665   1               0.748504        0.249981       0.249981  6.95823   0.438588
  2     5.12177   0.847224  0.251496        0.21624         9.07317        9.32315   6.95823   11.8023
  3     -         0.711876  0.035256        0.035256        52.1291        61.4522   6.95823   80.7373

  policy                accuracy       mean slowdown     mean waiting        mean response       cutoffs
  tags                  approximation  6.95823           4.3697              5.72687             0.702175, 5.12177
  random                exact          220.5             10.5                11.5                -
  round-robin           bounds         206.5 to 215.833  9.83333 to 10.2778  10.8333 to 11.2778  -
  least-work-remaining  approximation  34.8158           1.65789             2.65789             -
  sita-e                exact          9.85747           1.04362             2.04362             2.16129, 9.71643
  sita                  exact          1.21211           2.85744             3.85744             0.470583, 4.63479

  hosts to add for a mean slowdown of at most 1:
  policy                accuracy       extra hosts  mean slowdown
  tags                  approximation  2            0.943599
  random                exact          330          0.997738
  round-robin           bounds         27 to 323    0 to 0.997689
  least-work-remaining  approximation  3            0.230568
  sita-e                exact          5            0.798774
  sita                  exact          1            0.38761

  $ pfq tags --hosts 4 --load 0.7 --alpha 0.2 --max 1e10 --mean 3000
  infeasible: no cutoffs keep every host below load 1; there are such cutoffs at system loads below 0.524387
  hint: fewer hosts in a chain bear more load; split the farm into pairs: with 2 hosts cutoffs exist below load 0.756791
  4 hosts at system load 0.7, 0.000933333 jobs a second
  sizes are bounded Pareto of alpha 0.2 from 2.48831e-20 to 1e10: mean 3000, squared coefficient of variation 1.48148e+06

  policy                accuracy       mean slowdown               mean waiting                mean response               cutoffs
  random                exact          3.47304e+28                 5.18519e+09                 5.18519e+09                 -
  round-robin           bounds         3.47304e+28 to 3.47304e+28  5.18518e+09 to 5.18518e+09  5.18518e+09 to 5.18519e+09  -
  least-work-remaining  approximation  5.31691e+27                 7.93804e+08                 7.93807e+08                 -
  sita-e                exact          6.13953e+27                 9.16622e+08                 9.16625e+08                 1.76777e+09, 4.20448e+09, 6.97954e+09
  sita                  exact          1.91477e+07                 3.22312e+10                 3.22312e+10                 0.00840627, 2.08889e+09, 5.7563e+09`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected argument %q: tags takes flags only", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInput("--output", f.file, f.sizes.file, cmd.InOrStdin()); err != nil {
				return err
			}
			answer, feasible, err := f.answer(cmd)
			if err != nil {
				return err
			}
			if err := write(answer, f.file, cmd.OutOrStdout()); err != nil {
				return err
			}
			if !feasible {
				return errNoAnswer
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *tagsFlags) add(cmd *cobra.Command) {
	cli.Flag[int]{Name: "hosts", Usage: "number `H` of hosts", Want: hostsWanted,
		Parse: parseInt(tags.MaxHosts)}.Add(cmd, &f.hosts)
	cli.Flag[decimal]{Name: "load", Usage: "system load `R`, the work that arrives over what all hosts can do",
		Want:  "a number > 0 and < 1, in double precision too",
		Parse: parseDecimal(func(v float64) bool { return v > 0 && v < 1 })}.Add(cmd, &f.load)
	f.sizes.add(cmd)
	cli.Flag[[]decimal]{Name: "speeds", Usage: "work that each host does in a second, such as 2,1,1 (default 1 each)", Kind: "floats",
		Want: "numbers in [1e-100, 1e100], separated by commas", Parse: parseDecimals(1e-100, 1e100)}.Add(cmd, &f.speeds)
	f.objectiveText = objectives[0]
	cli.AddText(cmd, &f.objectiveText, "objective", "", cli.OneOf(objectives), "what the cutoffs are for: "+cli.OneOf(objectives))
	if err := cmd.RegisterFlagCompletionFunc("objective", cobra.FixedCompletions(objectives[:3], cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is there
	}
	cli.Flag[[]decimal]{Name: "cutoffs", Usage: "use these cutoffs, such as 100,1e4, one fewer than hosts", Kind: "floats",
		Want: "0, or numbers in [1e-300, 1e300], separated by commas", Parse: parseCutoffs}.Add(cmd, &f.cutoffs)
	cli.AddChoice(cmd, &f.engine, "engine", tagsEngines, "arithmetic")
	f.tol = 1e-15
	cli.Flag[float64]{Name: "tol", Kind: "float", Usage: "relative width of the bounds of the engine enclose", Default: "1e-15",
		Want: "a number >= 1e-290 and < 1", Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && v >= 1e-290 && v < 1
		}}.Add(cmd, &f.tol)
	cli.AddSwitch(cmd, &f.printed, "printed", "also give least-work-remaining as the paper prints it")
	addNumber(cmd, &f.target, "expand", "", "a number in [1e-100, 1e100]", "also give the hosts to add for a mean slowdown of at most `TARGET`",
		func(v float64) bool { return v >= 1e-100 && v <= 1e100 })
	cli.Flag[int]{Name: "simulate", Usage: "also simulate all policies, in so many `RUNS`", Want: "an integer in 2..1000000",
		Parse: parseIntFrom(2, 1e6)}.Add(cmd, &f.settings.Runs)
	addRuns(cmd, &f.settings)
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
}

// check settles what depends on several flags.
func (f *tagsFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if !given("hosts") {
		return &input.Error{Path: "--hosts", Want: hostsWanted}
	}
	if !given("load") {
		return &input.Error{Path: "--load", Want: "a number > 0 and < 1"}
	}
	var err error
	if f.objective, err = parseObjective(f.objectiveText); err != nil {
		return err
	}
	f.objectiveGiven = given("objective")
	for _, name := range runFlags {
		if given(name) && !given("simulate") {
			return fmt.Errorf("--%s is of no use without --simulate", name)
		}
	}
	for i, v := range f.speeds {
		if given("expand") && v.float != f.speeds[0].float {
			return input.Errorf(fmt.Sprintf("--speeds[%d]", i), v.text, "one speed for all hosts, %s, with --expand", f.speeds[0].text)
		}
	}
	if err := f.sizes.check(given); err != nil {
		return err
	}
	if _, ok := f.exactModel(); f.engine == encloseEngine && !ok {
		return input.Errorf("--engine", f.engine, "auto or float, unless sizes are given by --alpha")
	}
	return nil
}

// answer analyses the farm and says whether it has cutoffs that keep every host below load 1.
func (f *tagsFlags) answer(cmd *cobra.Command) (answer []byte, feasible bool, err error) {
	if err := f.check(cmd); err != nil {
		return nil, false, err
	}
	law, err := f.sizes.law(cmd.InOrStdin(), cmd.ErrOrStderr())
	switch {
	case err != nil && f.sizes.file != "":
		return nil, false, err
	case err != nil:
		return nil, false, f.translate(cmd, err)
	}
	m := tags.Model{Sizes: law, Hosts: f.hosts, Load: f.load.float, Speeds: floats(f.speeds),
		Fractions: &tags.Fractions{Load: f.load.exact, Speeds: exacts(f.speeds), Sizes: f.sizes.exact, Cutoffs: exacts(f.cutoffs)}}
	a, err := f.analyze(cmd.Context(), m)
	if err != nil {
		return nil, false, f.translate(cmd, err)
	}
	if f.settings.Runs > 0 {
		if err := a.simulate(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return nil, false, f.translate(cmd, err)
		}
	}
	for _, w := range a.warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "pfq: warning:", w)
	}
	answer, err = a.format(f.format)
	return answer, a.feasible(), err
}

// translate says what an error of the solver or the simulator means on the command line: it names the flag, and repeats
// what was written there.
func (f *tagsFlags) translate(cmd *cobra.Command, err error) error {
	var pathErr *fs.PathError
	source := f.sizes.source()
	flags := map[string]string{"Hosts": "--hosts", "Load": "--load", "Speeds": "--speeds", "Cutoffs": "--cutoffs", "Target": "--expand",
		"Sizes": source, "Model.Sizes": source, "alpha": "--alpha", "low": "--min", "high": "--max", "mean": "--mean",
		"Objective.Slowdown": "--objective", "Runs": "--simulate", "Jumps": "--jumps", "WarmUp": "--warmup",
		"Confidence": "--confidence", "Workers": "--jobs"}
	written := func(flag string) string { return cmd.Flags().Lookup(strings.TrimPrefix(flag, "--")).Value.String() }
	var bad *input.Error
	switch {
	case errors.As(err, &pathErr) && f.settings.Folder != "":
		return fmt.Errorf("--results = %s: %w", f.settings.Folder, pathErr.Err)
	case errors.Is(err, sizes.ErrInfinite):
		return input.Errorf(source, written(source), "sizes with a finite mean square, without which no waiting time is finite")
	case errors.Is(err, sizes.ErrOverflow):
		return input.Errorf(source, written(source), "sizes whose means double precision can hold")
	case !errors.As(err, &bad):
		return err
	}
	path, value := bad.Path, bad.Value
	if flag := flags[path]; flag != "" {
		path = flag
		if flag != "--cutoffs" && flag != "--speeds" { // which tell their number
			value = written(flag)
		}
	}
	if i, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(path, "Cutoffs["), "]")); err == nil {
		path, value = fmt.Sprintf("--cutoffs[%d]", i), strings.Split(written("--cutoffs"), ",")[i]
	}
	if path == bad.Path {
		return err
	}
	return &input.Error{Path: path, Value: value, Want: bad.Want}
}
