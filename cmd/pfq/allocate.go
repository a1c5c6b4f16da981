package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
	"productform/cmd/internal/output"
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
	cmd := helpOf(&cobra.Command{
		Use: "allocate POOL",
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
			if err := output.NotInput("--output", f.file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			answer, stable, err := f.answer(cmd, args[0])
			if err != nil {
				return err
			}
			if err := output.Write(answer, f.file, cmd.OutOrStdout()); err != nil {
				return err
			}
			if !stable {
				return errNoAnswer
			}
			return nil
		},
	})
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *allocateFlags) add(cmd *cobra.Command) {
	var names []string
	for _, p := range fluid.Policies() {
		names = append(names, string(p))
	}
	cli.AddChoice(cmd, &f.policy, "policy", append(names, allPolicies), "how resources are shared; all compares them")
	cli.AddChoice(cmd, &f.engine, "engine", engines, "arithmetic")
	cli.Flag[float64]{Name: "tol", Kind: "float", Usage: "relative error asked of the engine enclose (default 1e-09), or of the truncation with --dynamic (default 1e-10)",
		Want: "a number >= 1e-300, or >= 1e-14 with --dynamic, and < 1", Parse: parseTolerance}.Add(cmd, &f.tol)
	cli.AddSwitch(cmd, &f.audit, "audit", "also say what can be held against the allocation, and how efficient and fair it is")
	cli.AddSwitch(cmd, &f.dynamic, "dynamic", "jobs come and go")
	cli.Flag[int]{Name: "states", Usage: "most `STATES` of the Markov chain (default 4000000)", Want: "an integer in 1..1000000000",
		Parse: parseInt(1e9)}.Add(cmd, &f.states)
	cli.Flag[int]{Name: "runs", Usage: "also simulate the jobs that come and go, in so many `RUNS`", Want: "an integer in 2..1000000",
		Parse: parseIntFrom(2, 1e6)}.Add(cmd, &f.settings.Runs)
	addRuns(cmd, &f.settings)
	cli.AddRenamed(cmd, "simulate", "runs")
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
}

// check settles what depends on several flags.
func (f *allocateFlags) check(given func(string) bool) error {
	for _, name := range []string{"runs", "states"} {
		if given(name) && !f.dynamic {
			return fmt.Errorf("--%s is of no use without --dynamic", name)
		}
	}
	for _, name := range runFlags {
		if given(name) && !given("runs") {
			return fmt.Errorf("--%s is of no use without --runs", name)
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
	if f.policy == allPolicies && given("runs") {
		return errors.New("--policy all and --runs exclude each other: simulate one policy at a time")
	}
	if f.policy == allPolicies && f.engine != string(num.Auto) && f.engine != string(num.Float) {
		return input.Errorf("--engine", f.engine, "auto or float with --policy all: no other engine has all policies")
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
	answer, err = attended(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context) ([]byte, error) { return f.share(ctx, p) })
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
	var flag flagError
	switch {
	case err == nil || errors.Is(err, errInterrupted) || errors.As(err, &flag):
		return err
	case errors.As(err, &bad) && flags[bad.Path] != "":
		e := &input.Error{Path: flags[bad.Path], Value: bad.Value, Want: bad.Want}
		if errors.Is(err, traffic.ErrTooLarge) && f.settings.Runs == 0 {
			e.Want += "; or --runs"
		}
		return flagError{e}
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
func (f *allocateFlags) share(ctx context.Context, p *fluid.Pool) ([]byte, error) {
	if f.policy == allPolicies {
		return f.compare(ctx, p)
	}
	a, err := f.allocate(ctx, p)
	if err != nil {
		return nil, err
	}
	return a.format(f.format)
}

func (f *allocateFlags) allocate(ctx context.Context, p *fluid.Pool) (*allocation, error) {
	r, err := fluid.Allocate(ctx, p, fluid.Policy(f.policy), fluid.Settings{Engine: num.Engine(f.engine), RelTol: f.tol})
	if err != nil {
		return nil, err
	}
	a := &allocation{pool: p, result: r, digits: digits(cmp.Or(f.tol, 1e-9)), shown: 6}
	if f.tol != 0 {
		a.shown = a.digits
	}
	if f.audit {
		if a.audit, err = newAudit(ctx, p, r); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// policyName returns a policy in words.
func policyName(p fluid.Policy) string {
	return map[fluid.Policy]string{fluid.PF: "proportional fairness", fluid.DRF: "dominant resource fairness", fluid.MaxMin: "max-min fairness",
		fluid.BMF: "bottleneck max fairness", fluid.BF: "balanced fairness"}[p]
}
