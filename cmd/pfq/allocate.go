package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/internal/tree"
	"productform/num"
	"productform/sim"
)

// An allocateFlags holds what the flags of allocate ask for.
type allocateFlags struct {
	policy, engine string
	tol            float64 // 0 for the default
	dynamic, audit bool
	states         int          // 0 for the default
	settings       sim.Settings // Runs is 0 unless there is a simulation
	format, file   string
}

func newAllocate() *cobra.Command {
	var f allocateFlags
	cmd := &cobra.Command{
		Use:   "allocate POOL",
		Short: "Share divisible resources among jobs, at rest or in random traffic",
		Long: `allocate shares the resources in the file POOL (JSON or YAML, - for the standard input) among its jobs. Tasks are
infinitely small: a job runs any real number of them, and each takes its demand of every resource.

  pf      proportional fairness: the largest product of the numbers of tasks
  drf     dominant resource fairness: dominant shares grow together until a resource of the job is full
  maxmin  max-min fairness: numbers of tasks grow together
  bmf     bottleneck max fairness: every job has a full resource of which no other has more
  bf      balanced fairness, the one for which the law of sizes does not matter in random traffic

  tasks                 number of tasks that one job of the row runs
  dominant_share        part of the resource of which its tasks take most, dominant_resource
  utilization, price    of a resource; the price is what one more unit of the whole would add to the sum of weight
                        times log tasks, under pf only
  residual              the largest violation of the conditions that define the policy
  relative_error_bound  proved: every number but the prices is within it of the exact value; does not exist with float

Engines: exact gives fractions, for all policies but pf, which is irrational; enclose gives bounds of pf as close as
--tol asks; float is fast, without proof; auto takes exact or enclose, or float if there are very many rows. With
--audit the answer also says whether the allocation is feasible, Pareto efficient (no job could run more unless another runs
less), gives a sharing incentive (no job would run more with its part by weight of every resource) and is envy-free (nor with
what another job holds, by weight), with witnesses if not, and how efficient and fair it is:

  total_dominant_share  of all jobs; max_dominant_share is the largest there can be, dominant_efficiency the part reached
  jain_index, share_ratio  equality of the dominant shares by weight, 1 if all are equal; the ratio is the least over the largest
  nash_mean             geometric mean of the dominant shares by weight, which pf makes largest

With --dynamic each entry of jobs is a class with an arrival_rate and a mean_size (1 unless given, in tasks times seconds)
in place of a count: jobs come and go, with exponential sizes. A class may lie, and then has its profile declared, at least
the demand. A task holds all that is declared and does the work of one task: with everything declared twice as large, a
share of the resources does half the work.

  mean_jobs         mean number of jobs present
  mean_delay        mean time a job is present, mean_jobs over arrival_rate; does not exist for a class without arrivals
  service_rate      tasks that a job runs, in the mean over its stay: arrival rate times mean size over mean jobs
  load              part of a resource that all jobs need, by what they declare; from 1 on they pile up, and the exit status is 1
  true_load         the same by what they really need; given only if some class lies
  stable            false if some load is 1 or more; true if none is and the numbers of jobs therefore stay finite;
                    null under bmf if none is, for that is not proved then
  truncation_bound  relative error of the means from states left out; said to be proved or measured
  rounding_bound    the same from rounding, given the rates of the states; proved
  iteration_error   the same from an iteration, in place of rounding_bound where there is one; twice what is measured
  rate_residual     the largest residual of the allocations that the rates of the states come from
  parts             sets of classes that share no resource with others, which are solved apart; method is that of the
                    part with the most states, the others are of all

Mean numbers come from the balance equations of a truncated Markov chain, for up to three classes in a part, where those
that differ in their rates only are one; under bf from its product form. With --simulate they are estimated too, for
any number of classes, and JSON has the estimates of a class in the field simulated. There mean_delay comes from the mean
number of jobs, measured_delay from the times that the jobs which left were present. z tells how far an estimate is from
the exact value, in standard errors: beyond 4 it is hardly chance.

JSON has a field for each of these, fractions in fields that end in _exact, bounds in _low and _high. CSV has one line
for each job, each resource and the pool, told apart by the column kind: job, resource, pool. count is there if some row has
several jobs; tasks and dominant_share are of one.`,
		Example: `  $ pfq example two-jobs | pfq allocate -
  proportional fairness; enclose engine, within 2e-16 of exact (relative), shown to six digits

  job  tasks    dominant share  dominant resource
  a    4.09091  0.909091        ram
  b    1.63636  0.545455        cpu

  resource  utilization  saturated  price
  cpu       1            yes        1.8
  ram       1            yes        0.2

  $ pfq example two-jobs | pfq allocate - --policy drf --audit
  dominant resource fairness; exact engine, computed exactly, shown as short fractions and to six digits

  job  tasks  dominant share  dominant resource
  a    3      2/3 = 0.666667  ram
  b    2      2/3 = 0.666667  cpu

  resource  utilization     saturated
  cpu       1               yes
  ram       7/9 = 0.777778  no

  feasible           yes
  Pareto efficient   yes
  sharing incentive  yes
  envy-free          yes

  mean utilization      8/9 = 0.888889
  least utilization     7/9 = 0.777778
  largest utilization   1
  total dominant share  4/3 = 1.33333
  max dominant share    16/11 = 1.45455
  dominant efficiency   11/12 = 0.916667
  jain index            1
  share ratio           1
  nash mean             0.666667

  $ pfq example two-classes | pfq allocate - --dynamic --policy drf --simulate 20 --jumps 1e5
  stable; dominant resource fairness; Markov chain of 24380 states, up to 211, 114 jobs
  relative error: 3e-11 from the states left out (measured), 9e-10 from rounding (proved)
  20 runs of 99925 jumps, observed for a time of 10101 after a warm-up of 10101; seed 1; ± at confidence 0.95

  class  arrival rate  mean jobs    exact    z      service rate     exact     z
  a      3.6           9.68 ± 0.32  9.94591  -1.70  0.372 ± 0.012    0.361958  +1.65
  b      1.35          5.30 ± 0.18  5.40468  -1.20  0.2549 ± 0.0088  0.249784  +1.18

  class  mean delay     exact    z      measured delay  exact    z
  a      2.688 ± 0.088  2.76275  -1.70  2.691 ± 0.084   2.76275  -1.71
  b      3.92 ± 0.14    4.00346  -1.20  3.92 ± 0.13     4.00346  -1.33

  resource  load
  cpu       0.85
  ram       0.875`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s wants one POOL, a file or - for the standard input, not %d arguments", cmd.Name(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if err := notInput("--output", f.file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			answer, stable, err := f.answer(cmd, args[0])
			if err != nil {
				return err
			}
			if err := write(answer, f.file, cmd.OutOrStdout()); err != nil {
				return err
			}
			if !stable {
				return errNoAnswer
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *allocateFlags) add(cmd *cobra.Command) {
	var names []string
	for _, p := range fluid.Policies() {
		names = append(names, string(p))
	}
	cli.AddChoice(cmd, &f.policy, "policy", names, "how resources are shared")
	cli.AddChoice(cmd, &f.engine, "engine", engines, "arithmetic")
	cli.Flag[float64]{Name: "tol", Kind: "float", Usage: "relative error asked of the engine enclose (default 1e-09), or of the truncation with --dynamic (default 1e-10)",
		Want: "a number >= 1e-300, or >= 1e-14 with --dynamic, and < 1", Parse: parseTolerance}.Add(cmd, &f.tol)
	cli.AddSwitch(cmd, &f.audit, "audit", "also say what can be held against the allocation, and how efficient and fair it is")
	cli.AddSwitch(cmd, &f.dynamic, "dynamic", "jobs come and go")
	cli.Flag[int]{Name: "states", Usage: "most `STATES` of the Markov chain (default 4000000)", Want: "an integer in 1..1000000000",
		Parse: parseInt(1e9)}.Add(cmd, &f.states)
	cli.Flag[int]{Name: "simulate", Usage: "also simulate the jobs that come and go, in so many `RUNS`", Want: "an integer in 2..1000000",
		Parse: parseIntFrom(2, 1e6)}.Add(cmd, &f.settings.Runs)
	addRuns(cmd, &f.settings)
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
}

// check settles what depends on several flags.
func (f *allocateFlags) check(given func(string) bool) error {
	for _, name := range []string{"simulate", "states"} {
		if given(name) && !f.dynamic {
			return fmt.Errorf("--%s is of no use without --dynamic", name)
		}
	}
	for _, name := range runFlags {
		if given(name) && !given("simulate") {
			return fmt.Errorf("--%s is of no use without --simulate", name)
		}
	}
	for _, c := range []struct{ name, why string }{
		{"engine", "means in random traffic are computed in double precision only, with bounds"},
		{"audit", "it is of one allocation, and in random traffic every state has another"},
	} {
		if given(c.name) && f.dynamic {
			return fmt.Errorf("--%s and --dynamic exclude each other: %s", c.name, c.why)
		}
	}
	if f.dynamic && f.tol != 0 && f.tol < 1e-14 {
		return input.Errorf("--tol", f.tol, "a number >= 1e-14 and < 1 with --dynamic")
	}
	if f.audit && f.tol > 0.1 {
		return input.Errorf("--tol", f.tol, "a number <= 0.1 with --audit")
	}
	return nil
}

// answer reads the file and answers, and says whether the jobs do not pile up.
func (f *allocateFlags) answer(cmd *cobra.Command, name string) (answer []byte, stable bool, err error) {
	if f.dynamic {
		t, err := readFrom(name, cmd.InOrStdin(), traffic.Read, traffic.ReadFile)
		if err != nil {
			if errors.Is(err, fluid.ErrJobsStay) {
				err = fmt.Errorf("%w, without --dynamic", err)
			}
			return nil, false, err
		}
		answer, stable, err = f.traffic(cmd.Context(), t, name, cmd.ErrOrStderr())
		return answer, stable, f.translate(namingDemand(err, t.Pool()), name)
	}
	p, err := readFrom(name, cmd.InOrStdin(), fluid.ReadPool, fluid.ReadPoolFile)
	if err != nil {
		if errors.Is(err, fluid.ErrJobsComeAndGo) {
			err = fmt.Errorf("%w, with --dynamic", err)
		}
		return nil, false, err
	}
	answer, err = attended(cmd.Context(), cmd.ErrOrStderr(), func() ([]byte, error) { return f.share(p) })
	return answer, true, f.translate(namingDemand(err, p), name)
}

// readFrom reads the file, or the standard input if the name is "-".
func readFrom[T any](name string, stdin io.Reader, read func(io.Reader) (*T, error), readFile func(string) (*T, error)) (*T, error) {
	var v *T
	var err error
	if name != "-" {
		v, err = readFile(name)
	} else if v, err = read(stdin); err != nil {
		err = tree.InFile(source(name), err)
	}
	return v, meantFor(err, "solve", "servers", "classes", "mean_size")
}

// meantFor adds to an error about a field that models of another command have that they are for this one.
func meantFor(err error, command string, fields ...string) error {
	var bad *input.Error
	if errors.As(err, &bad) && slices.Contains(fields, bad.Path) {
		return fmt.Errorf("%w; this looks like a model for pfq %s", err, command)
	}
	return err
}

// namingDemand names the resource in an error about the demands of a job, which are very large or small for one: the one
// whose part of the capacity is farthest from 1.
func namingDemand(err error, p *fluid.Pool) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	for i, job := range p.Jobs {
		path := input.Index("jobs", i)
		if bad.Path != path+".demand" && bad.Path != path+".tasks" {
			continue
		}
		most, at := -1, 0
		for j, d := range job.Demand {
			if d == nil || d.Sign() == 0 {
				continue
			}
			part := new(big.Rat).Quo(d, p.Resources[j].Capacity)
			if off := part.Num().BitLen() - part.Denom().BitLen(); max(off, -off) > most {
				most, at = max(off, -off), j
			}
		}
		want := bad.Want
		if bad.Path == path+".tasks" {
			want = "a demand with which numbers of tasks are within the range of double precision"
		}
		return input.Errorf(input.Field(path+".demand", p.Resources[at].Name), sixRat(job.Demand[at]), "%s", want)
	}
	return err
}

// translate says what an error of the solver means on the command line: it names the flag instead of the setting, or
// the file.
func (f *allocateFlags) translate(err error, name string) error {
	flags := map[string]string{"Engine": "--engine", "RelTol": orDefault("--tol", f.tol != 0), "policy": "--policy",
		"MaxStates": orDefault("--states", f.states != 0)}
	var bad *input.Error
	switch {
	case err == nil || errors.Is(err, errInterrupted) || strings.HasPrefix(err.Error(), "--"):
		return err
	case errors.As(err, &bad) && flags[bad.Path] != "":
		e := &input.Error{Path: flags[bad.Path], Value: bad.Value, Want: bad.Want}
		if errors.Is(err, traffic.ErrTooLarge) && f.settings.Runs == 0 {
			e.Want += "; or --simulate"
		}
		return e
	}
	return fmt.Errorf("%s: %w", source(name), err)
}

// orDefault names a flag, or its default if it is not given.
func orDefault(flag string, given bool) string {
	if given {
		return flag
	}
	return "the default of " + flag
}

// share allocates the resources among jobs that stay.
func (f *allocateFlags) share(p *fluid.Pool) ([]byte, error) {
	r, err := fluid.Allocate(p, fluid.Policy(f.policy), fluid.Settings{Engine: num.Engine(f.engine), RelTol: f.tol})
	if err != nil {
		return nil, err
	}
	a := allocation{pool: p, result: r, digits: digits(cmp.Or(f.tol, 1e-9)), shown: 6}
	if f.tol != 0 {
		a.shown = a.digits
	}
	if f.audit {
		if a.audit, err = newAudit(p, r); err != nil {
			return nil, err
		}
	}
	return a.format(f.format)
}

// policyName returns a policy in words.
func policyName(p fluid.Policy) string {
	return map[fluid.Policy]string{fluid.PF: "proportional fairness", fluid.DRF: "dominant resource fairness", fluid.MaxMin: "max-min fairness",
		fluid.BMF: "bottleneck max fairness", fluid.BF: "balanced fairness"}[p]
}
