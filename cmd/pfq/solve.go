package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/internal/input"
	"productform/stability"
)

var (
	engines  = []string{string(bf.Auto), string(bf.Float), string(bf.Enclose), string(bf.Exact)}
	lattices = []string{"auto", string(bf.ClassLattice), string(bf.ServerLattice), string(bf.ConnectedLattice), string(bf.SymmetricLattice)}
)

// A solveFlags holds what the flags of solve ask for.
type solveFlags struct {
	engine, lattice string
	tol             float64
	distribution    int
	format, file    string
}

func newSolve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve MODEL",
		Short: "Compute mean jobs, delays, service rates and utilizations under balanced fairness",
		Long: `solve computes the stationary measures of the cluster in the file MODEL (JSON or YAML, - for the
standard input) under balanced fairness, whatever the distribution of job sizes.

  normalization         Z, the sum over all states of their weights; the cluster is empty with probability 1/Z;
                        left out where it is beyond the range of double precision
  load                  work that a class brings over the capacity of all servers its jobs may be assigned
  mean_jobs             mean number of jobs present
  mean_delay            mean time a job is present; does not exist for a class without arrivals
  service_rate          work a job gets per unit of time, λ_i σ / mean jobs
  utilization           probability that a job which the server can serve is present
  relative_error_bound  proved: every number is within it of the exact value, relatively

Engines: float is fast, with a proved bound on its errors; enclose gives bounds from below and above as close as
--tol asks; exact gives fractions; auto takes float, or enclose where the bound of float exceeds --tol.

JSON has a field for each of these, fractions in fields that end in _exact, bounds in _low and _high. CSV has one line
for the cluster, for each class, each server and each number of jobs, told apart by the column kind:
cluster, class, server, distribution. An unstable cluster exits with status 1 and says which classes are why.`,
		Example: `  $ pfq example three-servers | pfq solve - --engine exact
  stable; exact engine, every number exact
  class lattice, 4 states: 2^2 sets of classes, 2^3 of servers

  normalization  empty probability  mean jobs    mean delay
  10             1/10 = 0.1         21/4 = 5.25  35/16 = 2.1875

  class    arrival rate  load       mean jobs     mean delay      service rate
  class-1  6/5 = 1.2     3/5 = 0.6  21/8 = 2.625  35/16 = 2.1875  16/35 = 0.457143
  class-2  6/5 = 1.2     3/5 = 0.6  21/8 = 2.625  35/16 = 2.1875  16/35 = 0.457143

  server  utilization
  own-1   3/4 = 0.75
  own-2   3/4 = 0.75
  shared  9/10 = 0.9`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := f.settings(cmd.Flags().Changed("distribution"))
			if err != nil {
				return err
			}
			m, err := readModel(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			verdict, err := stability.Cluster(m)
			if err != nil {
				return fmt.Errorf("%s: %w", source(args[0]), err)
			}
			if !verdict.Stable {
				answer, err := formatUnstable(m, verdict, f.format, settings.Engine == bf.Exact)
				if err == nil {
					err = write(answer, f.file, cmd.OutOrStdout())
				}
				if err != nil {
					return err
				}
				return errNoAnswer
			}
			r, err := bf.Solve(m, settings)
			if err != nil {
				return fmt.Errorf("%s: %w", source(args[0]), nameFlag(err))
			}
			answer, err := formatSolution(m, r, f.format, f.digits())
			if err != nil {
				return err
			}
			return write(answer, f.file, cmd.OutOrStdout())
		},
	}
	addChoice(cmd, &f.engine, "engine", engines, "arithmetic")
	addChoice(cmd, &f.lattice, "lattice", lattices, "states to sum over")
	cmd.Flags().Float64Var(&f.tol, "tol", 1e-9, "relative error asked of the engines auto and enclose, in (0, 1)")
	cmd.Flags().IntVar(&f.distribution, "distribution", 0, "also give the probabilities of 0, ..., `N` jobs in all")
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
	return cmd
}

// settings checks the flags and returns what they mean to [bf.Solve].
func (f *solveFlags) settings(distribution bool) (bf.Settings, error) {
	for _, c := range []struct {
		name, value string
		words       []string
	}{{"engine", f.engine, engines}, {"lattice", f.lattice, lattices}, {"format", f.format, formats}} {
		if err := checkChoice(c.name, c.value, c.words); err != nil {
			return bf.Settings{}, err
		}
	}
	if !(f.tol > 0 && f.tol < 1) {
		return bf.Settings{}, input.Errorf("--tol", f.tol, "a number > 0 and < 1")
	}
	if distribution && (f.distribution < 1 || f.distribution > 1e6) {
		return bf.Settings{}, input.Errorf("--distribution", f.distribution, "an integer in 1..1000000")
	}
	s := bf.Settings{Engine: bf.Engine(f.engine), RelTol: f.tol, MaxJobs: f.distribution}
	if f.lattice != lattices[0] {
		s.Lattice = bf.Lattice(f.lattice)
	}
	return s, nil
}

// nameFlag puts the name of the flag in an error about a setting.
func nameFlag(err error) error {
	flags := map[string]string{"Engine": "--engine", "Lattice": "--lattice", "RelTol": "--tol", "MaxJobs": "--distribution"}
	var bad *input.Error
	if errors.As(err, &bad) && flags[bad.Path] != "" {
		return &input.Error{Path: flags[bad.Path], Value: bad.Value, Want: bad.Want}
	}
	return err
}

// digits returns the decimal digits that the tolerance asks for.
func (f *solveFlags) digits() int { return 1 + int(math.Ceil(-math.Log10(f.tol))) }
