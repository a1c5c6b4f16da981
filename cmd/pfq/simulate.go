package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/sim"
	"productform/sizes"
	"productform/stability"
	"productform/traces"
)

var policies = []string{string(sim.FCFS), string(sim.Interrupt), string(sim.ProcessorSharing)}

// A simulateFlags holds what the flags of simulate ask for.
type simulateFlags struct {
	sizes, policy string
	interruptions float64 // 0 for none
	settings      sim.Settings
	format, file  string
}

func newSimulate() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate MODEL",
		Short: "Estimate mean jobs, delays, service rates and utilizations by simulation",
		Long: `simulate estimates the stationary measures of the cluster in the file MODEL (JSON or YAML, - for the standard
input) by simulation, under a policy and for a law of job sizes:

  fcfs       each server works on the oldest job it can serve
  interrupt  the same, but jobs are interrupted, --interruptions times on average, and then go to the end of the queue
  ps         balanced fairness, which many interruptions come close to

--sizes takes exponential, deterministic, the laws bimodal, hyperexponential and zipf of Bonald and Comte (2017),
erlang:K, hyperexponential:SCV, pareto:ALPHA, bounded-pareto:ALPHA:RATIO, lognormal:SCV and weibull:SHAPE, where SCV is
the variance over the square of the mean, file:PATH for sizes drawn from those in a file, one a line, and swf:PATH for
the run times of a log in Standard Workload Format or of one that pfq holds, ` + strings.Join(traces.Names(), ", ") + `. All are scaled to the mean
size of the model.

A simulation is a number of independent runs, each of which starts empty, warms up and is then observed for the same
time. Lengths are given in jumps, which are arrivals, ends of phases of sizes, and interruptions; the number is the
one expected in that time. With --precision the simulation ends once the mean jobs of all classes are known well
enough, after --runs runs at most. With --horizon each run is observed from its empty start for a time, and the model
may be unstable. The numbers depend on the model, the flags and the seed, not on --jobs. With --results every run
that is done is kept, and found again by a simulation that repeats it or has more runs; Ctrl-C loses only the runs
at work.

  mean_jobs       mean number of jobs present
  mean_delay      mean time a job is present, from mean_jobs by Little's law
  measured_delay  mean time that the jobs which left were present
  service_rate    work a job gets per unit of time, λ_i σ / mean jobs
  utilization     part of the time that a job which the server can serve is present

Every estimate has the half-width of its interval of confidence. Where theory knows the answer (exponential sizes with
fcfs and interrupt, any sizes with ps, but not with --horizon), it also has the exact value and z, the standard errors
that the estimate is above it, which is within ±3 nearly always. Warnings on the standard error and in JSON say why
not to trust the estimates; z may then be far off. JSON alone also tells the speed, since it is never twice the same.

CSV has one line for each estimate and for each number of the simulation as a whole, told apart by the columns kind
(cluster, class, server, distribution, simulation), name and quantity. An unstable cluster without --horizon exits with
status 1 and says which classes are why.`,
		Example: `  $ pfq example three-servers | pfq simulate - --runs 20 --jumps 1e5
  stable; policy fcfs; sizes exponential; jump chain with a queue for each class
  20 runs of 100046 jumps, observed for a time of 20833.3 after a warm-up of 20833.3; seed 1; ± at confidence 0.95

  class    arrival rate  mean jobs      exact  z      service rate     exact     z
  (all)    -             5.292 ± 0.096  5.25   +0.90  -                -         -
  class-1  1.2           2.654 ± 0.051  2.625  +1.15  0.4522 ± 0.0087  0.457143  -1.16
  class-2  1.2           2.638 ± 0.049  2.625  +0.55  0.4548 ± 0.0085  0.457143  -0.56

  class    mean delay     exact   z      measured delay  exact   z
  (all)    2.205 ± 0.040  2.1875  +0.90  -               -       -
  class-1  2.212 ± 0.043  2.1875  +1.15  2.211 ± 0.040   2.1875  +1.17
  class-2  2.199 ± 0.041  2.1875  +0.55  2.197 ± 0.039   2.1875  +0.52

  server  utilization      exact  z
  own-1   0.7514 ± 0.0030  0.75   +0.98
  own-2   0.7504 ± 0.0030  0.75   +0.27
  shared  0.9003 ± 0.0016  0.9    +0.35

  $ pfq example three-servers | pfq simulate - --runs 20 --jumps 1e5 --sizes bimodal --interruptions 4
  stable; policy interrupt, 4 a job on average; sizes bimodal; jump chain with a queue for each class
  20 runs of 99903 jumps, observed for a time of 4166.67 after a warm-up of 4166.67; seed 1; ± at confidence 0.95

  class    arrival rate  mean jobs    service rate
  (all)    -             5.73 ± 0.32  -
  class-1  1.2           2.83 ± 0.14  0.424 ± 0.021
  class-2  1.2           2.90 ± 0.19  0.414 ± 0.027

  class    mean delay   measured delay
  (all)    2.39 ± 0.13  -
  class-1  2.36 ± 0.12  2.35 ± 0.12
  class-2  2.41 ± 0.16  2.41 ± 0.14

  server  utilization
  own-1   0.7464 ± 0.0086
  own-2   0.7520 ± 0.0094
  shared  0.8982 ± 0.0049`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := notInput("--output", f.file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			if path, _ := sizePath(f.sizes); path != "" {
				if err := notInput("--output", f.file, path, nil); err != nil {
					return err
				}
			}
			m, err := readModel(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			mean, err := meanSize(m)
			if err != nil {
				return fmt.Errorf("%s: %w", source(args[0]), err)
			}
			jobSizes, err := readSizes(f.sizes, mean, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			answer, found, err := f.answer(cmd.Context(), m, jobSizes, cmd.ErrOrStderr())
			switch {
			case err != nil && (errors.Is(err, errInterrupted) || strings.HasPrefix(err.Error(), "--")): // of a flag, not of the model
				return err
			case err != nil:
				return fmt.Errorf("%s: %w", source(args[0]), err)
			}
			if err := write(answer, f.file, cmd.OutOrStdout()); err != nil {
				return err
			}
			if !found {
				return errNoAnswer
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *simulateFlags) add(cmd *cobra.Command) {
	s := &f.settings
	f.sizes = "exponential"
	cli.AddText(cmd, &f.sizes, "sizes", "", "the name of a law of job sizes", "`LAW` of job sizes, of the mean size of the model")
	if err := cmd.RegisterFlagCompletionFunc("sizes", cobra.FixedCompletions(sizeNames(), cobra.ShellCompDirectiveNoSpace)); err != nil {
		panic(err) // the flag is there
	}
	addNumber(cmd, &f.interruptions, "interruptions", "", "a number in [1e-6, 1e6]", "mean number `M` of interruptions of a job, for the policy interrupt",
		func(v float64) bool { return v >= 1e-6 && v <= 1e6 })
	cli.AddChoice(cmd, &f.policy, "policy", policies, "how servers share jobs, interrupt if --interruptions is given")
	s.Runs = 100
	cli.Flag[int]{Name: "runs", Kind: "int", Usage: "independent runs; with --precision, the most there may be", Default: "100",
		Want: "an integer in 2..1000000", Parse: parseIntFrom(2, 1e6)}.Add(cmd, &s.Runs)
	addNumber(cmd, &s.Precision, "precision", "", "a number > 0 and < 1", "end once the half-widths of the mean jobs of all classes are below this part of them",
		func(v float64) bool { return v > 0 && v < 1 })
	addNumber(cmd, &s.Horizon, "horizon", "", "a number in [1e-300, 1e300]", "observe each run from its empty start for the time `T`, stable or not",
		func(v float64) bool { return v >= 1e-300 && v <= 1e300 })
	cli.Flag[int]{Name: "distribution", Usage: "also estimate the probabilities of 0, ..., `N` jobs in all",
		Want: "an integer in 1..100000", Parse: parseInt(1e5)}.Add(cmd, &s.Distribution)
	addRuns(cmd, s)
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
}

// runFlags are the flags of addRuns.
var runFlags = []string{"jumps", "warmup", "seed", "confidence", "results", "jobs"}

// addRuns adds the flags for what all simulations have in common.
func addRuns(cmd *cobra.Command, s *sim.Settings) {
	addNumber(cmd, &s.Jumps, "jumps", "1e6", "a number in [1000, 1e15]", "jumps observed in a run",
		func(v float64) bool { return v >= 1000 && v <= 1e15 })
	cli.Flag[float64]{Name: "warmup", Kind: "float", Usage: "jumps of a run before it is observed; 0 for none (default as many as --jumps)",
		Want: "a number in [0, 1e15]", Parse: parseWarmUp}.Add(cmd, &s.WarmUp)
	s.Seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "of the random numbers", Default: "1", Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(cmd, &s.Seed)
	s.Confidence = 0.95
	addNumber(cmd, &s.Confidence, "confidence", "0.95", "a number > 0 and <= 0.999999", "probability that an interval holds the true value",
		func(v float64) bool { return v > 0 && v <= 0.999999 })
	cli.AddText(cmd, &s.Folder, "results", "", "a folder", "keep the runs that are done in the folder `DIR`, made if missing, and use those it has")
	s.Workers = runtime.GOMAXPROCS(0)
	cli.Flag[int]{Name: "jobs", Kind: "int", Usage: "runs worked on at a time", Default: strconv.Itoa(s.Workers),
		Want: "an integer in 1..10000", Parse: parseInt(1e4)}.Add(cmd, &s.Workers)
}

// addNumber adds a flag that takes the numbers that are good.
func addNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

func parseIntFrom(least, most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, ok := parseInt(most)(text)
		return v, ok && v >= least
	}
}

func parseWarmUp(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if v == 0 {
		return sim.NoWarmUp, err == nil
	}
	return v, err == nil && v > 0 && v <= 1e15
}

// check settles what depends on several flags.
func (f *simulateFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if given("interruptions") && !given("policy") {
		f.policy = string(sim.Interrupt)
	}
	switch interrupt := f.policy == string(sim.Interrupt); {
	case interrupt && !given("interruptions"):
		return input.Errorf("--interruptions", "", "a number in [1e-6, 1e6], with --policy interrupt")
	case !interrupt && given("interruptions"):
		return input.Errorf("--policy", f.policy, "interrupt, with --interruptions")
	}
	for _, name := range []string{"jumps", "warmup"} {
		if given("horizon") && given(name) {
			return fmt.Errorf("--horizon and --%s exclude each other", name)
		}
	}
	if given("horizon") {
		f.settings.Jumps, f.settings.WarmUp = 0, 0
	}
	return nil
}

// answer simulates the model, or says why there is nothing to find.
func (f *simulateFlags) answer(ctx context.Context, m *cluster.Model, jobSizes sizes.Distribution, stderr io.Writer) (answer []byte, found bool, err error) {
	verdict, err := stability.Cluster(m)
	if err != nil {
		return nil, false, err
	}
	if !verdict.Stable && f.settings.Horizon == 0 {
		answer, err = formatUnstable(m, verdict, f.format, false)
		return answer, false, err
	}
	system := sim.Cluster{Model: m, Sizes: jobSizes, Policy: sim.Policy(f.policy), Interruptions: f.interruptions}
	plan, err := sim.NewPlan(system, f.settings)
	if err != nil {
		return nil, false, f.translate(err)
	}
	s := simulation{flags: f, model: m, stable: verdict.Stable, warnings: []string{}}
	if exact, err := f.isExact(system); err != nil {
		return nil, false, err
	} else if exact { // before the simulation, while nothing is lost if memory or patience do not suffice
		s.theory, err = bf.Solve(ctx, m, bf.Settings{MaxJobs: min(f.settings.Distribution, 10000)})
		if err != nil {
			fmt.Fprintln(stderr, "pfq: note: no exact values beside the estimates:", cli.OneLine(err))
		}
	}
	if s.result, s.speed, err = replicate(ctx, plan, f.settings, stderr); err != nil {
		return nil, false, f.translate(err)
	}
	s.warnings = append(s.warnings, s.result.Warnings...)
	for _, w := range s.warnings {
		fmt.Fprintln(stderr, "pfq: warning:", w)
	}
	answer, err = s.format()
	return answer, true, err
}

// meanSize returns the mean size of a model, if laws of sizes can have it.
func meanSize(m *cluster.Model) (float64, error) {
	if m.MeanSize == nil {
		return 1, nil
	}
	mean, _ := m.MeanSize.Float64()
	if !(mean >= 1e-90 && mean <= 1e90) {
		return 0, input.Errorf("mean_size", m.MeanSize.RatString(), "a number in [1e-90, 1e90] to simulate")
	}
	return mean, nil
}

// isExact reports whether balanced fairness is exact for a system.
func (f *simulateFlags) isExact(c sim.Cluster) (bool, error) {
	mean, err := sizes.Mean(c.Sizes)
	if err != nil {
		return false, err
	}
	e, err := sizes.NewExponential(mean)
	if err != nil {
		return false, err
	}
	return f.settings.Horizon == 0 && (c.Policy == sim.ProcessorSharing || c.Sizes.String() == e.String()), nil
}

// taskName is what errors of many runs begin with.
var taskName = regexp.MustCompile(`^(tasks\[\d+\]: )?(replication \d+: )?(sim: )?`)

// translate says what an error of the simulator means on the command line: it names the flag instead of the setting.
func (f *simulateFlags) translate(err error) error {
	flags := map[string]string{"Runs": "--runs", "Jumps": "--jumps", "WarmUp": "--warmup", "Horizon": "--horizon",
		"Precision": "--precision", "Confidence": "--confidence", "Distribution": "--distribution", "Workers": "--jobs",
		"Policy": "--policy", "Interruptions": "--interruptions", "Sizes": "--sizes",
		"Model": "model", "Model.MeanSize": "mean_size", "mean": "mean_size"}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return fmt.Errorf("--results = %s: %w", f.settings.Folder, pathErr.Err)
	}
	if errors.Is(err, sim.ErrTooManyStates) || errors.Is(err, sim.ErrTooManyJobs) {
		return errors.New(taskName.ReplaceAllString(err.Error(), ""))
	}
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	path := strings.TrimPrefix(bad.Path, "Model.")
	if flags[bad.Path] != "" {
		path = flags[bad.Path]
	}
	return &input.Error{Path: path, Value: bad.Value, Want: bad.Want}
}
