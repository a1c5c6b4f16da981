package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

var (
	engines  = []string{string(num.Auto), string(num.Float), string(num.Enclose), string(num.Exact)}
	lattices = []string{"auto", string(bf.ClassLattice), string(bf.ServerLattice), string(bf.ConnectedLattice), string(bf.SymmetricLattice)}
)

// A solveFlags holds what the flags of solve ask for.
type solveFlags struct {
	engine, lattice string
	tol             float64
	distribution    int        // most jobs; 0 for no distribution
	memory          int        // MiB
	factors         []*big.Rat // of the arrival rates; nil for the model as it is
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
  relative_error_bound  proved: every number is within it of the exact value, relatively; a probability of
                        --distribution below 2.3e-308, where double precision thins out, within 4.95e-324 more

Engines: float is fast, with a proved bound on its errors; enclose gives bounds from below and above as close as
--tol asks; exact gives fractions; auto takes float, or enclose where the bound of float exceeds --tol. float itself,
asked for by name, answers whatever its bound is, and a warning on the standard error tells if it exceeds --tol.

JSON has a field for each of these, fractions in fields that end in _exact, bounds in _low and _high. CSV has one line
for the cluster, for each class, each server and each number of jobs, told apart by the column kind:
cluster, class, server, distribution. An unstable cluster exits with status 1 and says which classes are why.

With --scale the answer is one for each factor: in JSON a list of objects, in CSV more lines, both with the factor
first, as scale; as text a table of jobs and delays. Where the cluster is unstable the object, or the line of the
kind unstable, says so, with the critical scale of the rates as multiplied; the exit status is then 1, and the other
answers are there all the same.`,
		Example: `  $ pfq example three-servers | pfq solve - --engine exact
  stable; exact engine, computed exactly, shown as short fractions and to six digits
  class lattice, 4 states: 2^2 sets of classes, 2^3 of servers

  normalization  empty probability  mean jobs    mean delay
  10             1/10 = 0.1         21/4 = 5.25  35/16 = 2.1875

  class    arrival rate  load       mean jobs     mean delay      service rate
  class-1  6/5 = 1.2     3/5 = 0.6  21/8 = 2.625  35/16 = 2.1875  16/35 = 0.457143
  class-2  6/5 = 1.2     3/5 = 0.6  21/8 = 2.625  35/16 = 2.1875  16/35 = 0.457143

  server  utilization
  own-1   3/4 = 0.75
  own-2   3/4 = 0.75
  shared  9/10 = 0.9

  $ pfq example three-servers | pfq solve - --scale 0.5,1,5/4
  scale  class    mean jobs  mean delay
  0.5    (all)    0.984127   0.820106
         class-1  0.492063   0.820106
         class-2  0.492063   0.820106
  1      (all)    5.25       2.1875
         class-1  2.625      2.1875
         class-2  2.625      2.1875
  1.25   unstable: class-1, class-2`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInput("--output", f.file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			m, err := readModel(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			// The tables are counted; this keeps what is made besides from piling up to as much again.
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(f.memory) << 20))
			answer, stable, err := f.answer(ctx, m, cmd.ErrOrStderr())
			if ctx.Err() != nil {
				return errInterrupted
			}
			if err != nil {
				return fmt.Errorf("%s: %w", source(args[0]), err)
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
	cli.AddChoice(cmd, &f.engine, "engine", engines, "arithmetic")
	cli.AddChoice(cmd, &f.lattice, "lattice", lattices, "states to sum over")
	f.tol = 1e-9
	cli.Flag[float64]{Name: "tol", Kind: "float", Usage: "relative error asked of the engines auto and enclose", Default: "1e-09",
		Want: "a number >= 1e-300 and < 1", Parse: parseTolerance}.Add(cmd, &f.tol)
	cli.Flag[int]{Name: "distribution", Usage: fmt.Sprintf("also give the probabilities of 0, ..., `N` jobs in all, N at most %d", bf.MostJobs),
		Want: fmt.Sprintf("an integer in 1..%d", bf.MostJobs), Parse: parseInt(bf.MostJobs)}.Add(cmd, &f.distribution)
	f.memory = defaultMemory
	cli.Flag[int]{Name: "memory", Usage: "memory the tables may take, in `MIB` (2^20 bytes); a model that needs more is refused",
		Default: strconv.Itoa(defaultMemory), Want: fmt.Sprintf("an integer in 1..%d", mostMemory), Parse: parseInt(mostMemory)}.Add(cmd, &f.memory)
	cli.Flag[[]*big.Rat]{Name: "scale", Usage: "solve once for each of the `FACTORS`, such as 0.5,9/10, with all arrival rates multiplied by it",
		Want: "numbers >= 0, separated by commas", Parse: parseFactors}.Add(cmd, &f.factors)
	addFormat(cmd, &f.format)
	addOutput(cmd, &f.file)
	return cmd
}

const (
	defaultMemory = 16 << 10 // MiB
	mostMemory    = 1 << 20  // MiB
)

func parseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}

func parseInt(most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= 1 && v <= most
	}
}

func parseFactors(text string) (factors []*big.Rat, ok bool) {
	for word := range strings.SplitSeq(text, ",") {
		v, err := num.ParseRat(word)
		if err != nil || v.Sign() < 0 {
			return nil, false
		}
		factors = append(factors, v)
	}
	return factors, true
}

// answer solves the model and says whether it is stable, at every factor if there are some.
func (f *solveFlags) answer(ctx context.Context, m *cluster.Model, stderr io.Writer) (answer []byte, stable bool, err error) {
	if f.factors != nil {
		return f.sweep(ctx, m, stderr)
	}
	var r *bf.Result
	if longWays(m) {
		r, err = bf.Solve(ctx, m, f.settings())
	}
	if r == nil {
		if err != nil && !errors.Is(err, bf.ErrUnstable) {
			return nil, false, f.translate(err)
		}
		verdict, err := stability.Cluster(m)
		if err != nil {
			return nil, false, err
		}
		if !verdict.Stable {
			answer, err = formatUnstable(m, verdict, f.format, f.engine == string(num.Exact))
			return answer, false, err
		}
		if r, err = bf.Solve(ctx, m, f.settings()); err != nil {
			return nil, false, f.translate(err)
		}
	}
	f.warn([]*bf.Result{r}, stderr)
	answer, err = formatSolution(m, r, f.format, digits(f.tol))
	return answer, true, err
}

// longWays reports whether jobs choose their servers in so many ways that the fractions of [stability.Cluster] take long.
// [bf.Solve] finds out by itself whether such a model is stable, but not by how much.
func longWays(m *cluster.Model) bool {
	const many = 5000
	for _, k := range m.Classes {
		for _, c := range k.Servers {
			if min(c.Choose, m.Servers[c.Server].Size()-c.Choose) > many {
				return true
			}
		}
	}
	return false
}

// warn says that the engine float, taken by name, missed the tolerance.
func (f *solveFlags) warn(results []*bf.Result, stderr io.Writer) {
	worst := 0.0
	for _, r := range results {
		if r.Engine == num.Float {
			worst = max(worst, r.RelativeErrorBound)
		}
	}
	if worst > f.tol {
		fmt.Fprintf(stderr, "pfq: warning: the error bound %s of the engine float is above --tol %g, which auto and enclose keep\n",
			oneDigitUp(worst), f.tol)
	}
}

// settings returns what the flags mean to [bf.Solve].
func (f *solveFlags) settings() bf.Settings {
	s := bf.Settings{Engine: num.Engine(f.engine), RelTol: f.tol, MaxJobs: f.distribution, MaxBytes: int64(f.memory) << 20}
	if f.lattice != lattices[0] {
		s.Lattice = bf.Lattice(f.lattice)
	}
	return s
}

// translate says what an error of the solver means on the command line: it names the flag instead of the setting and
// if more memory would do, it names the flag that grants it.
func (f *solveFlags) translate(err error) error {
	flags := map[string]string{"Engine": "--engine", "engine": "--engine", "Lattice": "--lattice", "RelTol": "--tol", "MaxJobs": "--distribution", "MaxBytes": "--memory"}
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	want := bad.Want
	var large *bf.TooLargeError
	if errors.As(err, &large) {
		if need := math.RoundToEven(large.Bytes / (1 << 20)); need > float64(f.memory) && need < mostMemory {
			want += fmt.Sprintf("; or --memory %.0f, if the machine has as much", need+1)
		}
	}
	path := bad.Path
	if flags[path] != "" {
		path = flags[path]
	}
	return &input.Error{Path: path, Value: bad.Value, Want: want}
}

// digits returns the decimal digits that a tolerance asks for.
func digits(tol float64) int { return 1 + int(math.Ceil(-math.Log10(tol))) }
