package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/sim"
	"productform/sweep"
)

// runFlags are the flags of AddRuns.
var runFlags = append([]string{"jumps", "warmup", "seed", "confidence", "results", "parallel"}, cli.RunFlags...)

// A Simulation holds the flags of AddRuns and what else a command sets.
type Simulation struct {
	sim.Settings
	Sweep sweep.Settings // --results and --parallel
	None  bool           // whether --runs 0 is valid: no simulation
	Of    string         // name of the simulation in its warnings, if there are several; otherwise ""
}

// AddSimulation adds --runs to a command that simulates only if it is given, --percentiles, and the
// flags of AddRuns.
func AddSimulation(
	b *cli.Binding, s *Simulation, percentiles *[]Percentile, usage string, plans func(Query) ([]*sim.Plan, error),
) {
	cli.AddRenamed(b.Cmd, "simulate", "runs")
	AddPercentiles(b.Cmd, percentiles, "with --runs, also estimate these percentiles of delays")
	AddRuns(b, s, usage, plans)
}

// CheckSimulation rejects the flags of AddSimulation without --runs, and passes the percentiles to
// the settings.
func CheckSimulation(given func(string) bool, s *Simulation, percentiles []Percentile) error {
	if err := needRuns(given, append([]string{"percentiles"}, runFlags...)); err != nil {
		return err
	}
	return SetLevels(&s.Settings, percentiles)
}

// CheckRuns rejects the flags of AddRuns without --runs.
func CheckRuns(given func(string) bool) error { return needRuns(given, runFlags) }

func needRuns(given func(string) bool, flags []string) error {
	for _, name := range flags {
		if given(name) && !given("runs") {
			return fmt.Errorf("--%s needs --runs", name)
		}
	}
	return nil
}

// AddRuns adds --runs, whose default is the value of the target, and the flags common to all
// simulations. plans returns the plans whose runs make up the answer: with --part or --tasks the
// command performs or lists these runs instead of answering.
func AddRuns(b *cli.Binding, s *Simulation, usage string, plans func(Query) ([]*sim.Plan, error)) {
	cmd := b.Cmd
	addRunCount(b, s, usage)
	b.Number(&s.Jumps, "Jumps", "jumps", "1e6", "a number in [1000, 1e15]", "jumps observed in a run",
		func(v float64) bool { return v >= 1000 && v <= 1e15 })
	cli.Flag[float64]{Name: "warmup", Kind: "float",
		Usage: "jumps of a run before it is observed; 0 for none (default as many as --jumps)",
		Want:  "a number in [0, 1e15]", Parse: parseWarmUp}.Add(cmd, &s.WarmUp)
	b.Name("WarmUp", "warmup")
	AddSeed(b, &s.Seed)
	AddConfidence(b, &s.Confidence)
	cli.AddText(cmd, &s.Sweep.Folder, "results", "", "a folder",
		"keep finished runs in the folder `DIR`, created if missing, and reuse those in it")
	AddParallel(b, &s.Sweep.Workers, "`N` runs at a time")
	cli.AddRenamed(cmd, "jobs", "parallel")
	var choice cli.RunChoice
	choice.Add(cmd)
	answer := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !choice.Given() {
			return answer(cmd, args)
		}
		var q Query
		q.ask(cmd, args)
		return share(q, b, choice, *s, plans, cmd.OutOrStdout())
	}
}

// addRunCount adds --runs, whose default is the value of the target.
func addRunCount(b *cli.Binding, s *Simulation, usage string) {
	const least, most = 2, 1_000_000
	if !s.None {
		b.IntFrom(least, &s.Runs, "Runs", "runs", most, usage)
		return
	}
	read := cli.ParseIntFrom(least, most)
	cli.Flag[int]{Name: "runs", Kind: "int", Usage: usage, Want: fmt.Sprintf("0 or an integer in %d..%d", least, most),
		Parse: func(text string) (int, bool) {
			if text == "0" {
				return 0, true
			}
			return read(text)
		}}.Add(b.Cmd, &s.Runs)
	b.Name("Runs", "runs")
}

// share performs or lists the runs of the plans that the flags select.
func share(
	q Query, b *cli.Binding, choice cli.RunChoice, s Simulation, plans func(Query) ([]*sim.Plan, error),
	stdout io.Writer,
) error {
	if err := choice.Check(s.Sweep.Folder); err != nil {
		return err
	}
	keys := q.Stdin
	if choice.Tasks == cli.Serve {
		q.Stdin = keysReader{}
	}
	all, err := plans(q)
	if err != nil {
		return err
	}
	if choice.Part.N == 0 {
		ctx, stop := untilSignal(q.Ctx)
		defer stop()
		_, err := choice.Do(ctx, all, s.Sweep, keys, stdout)
		if err != nil && ctx.Err() != nil {
			return ErrInterrupted
		}
		return err
	}
	s.Precision = 0 // do all runs of the part
	do := func(ctx context.Context, s sweep.Settings) (sweep.Progress, error) {
		return choice.Do(ctx, all, s, nil, nil)
	}
	last, _, err := Simulate(q.Ctx, s, max(1, len(all)*s.Runs/choice.Part.N), q.Stderr, do)
	if err != nil {
		return SimulationError(b, err, s.Sweep.Folder)
	}
	fmt.Fprintf(q.Stderr, "pfq: part %v: %d runs, %d of them found\n", choice.Part, last.Total, last.Reused)
	return nil
}

// A keysReader reads keys from the standard input.
type keysReader struct{}

func (keysReader) Read([]byte) (int, error) {
	return 0, cli.FlagError{
		Err: errors.New("--tasks serve reads keys from the standard input: want the name of a file " +
			"for what else is read, not -"),
	}
}

func parseWarmUp(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if v == 0 {
		return sim.NoWarmUp, err == nil
	}
	return v, err == nil && v > 0 && v <= 1e15
}

// Replicate simulates a plan made with these settings, unless a signal arrives, and writes the
// warnings of the simulator. speed is the number of jumps per second, nil if all runs were found.
func Replicate(
	ctx context.Context, plan *sim.Plan, settings Simulation, stderr io.Writer,
) (r *sim.Result, speed *float64, err error) {
	start := time.Now()
	r, last, err := Simulate(ctx, settings, settings.Runs, stderr, plan.Run)
	if err != nil {
		return nil, nil, runError(err, settings.Sweep.Folder)
	}
	if computed := float64(last.Done - last.Reused); computed > 0 {
		// warm-ups simulate as many jumps per unit of time
		all := r.Jumps * (1 + r.WarmUp/r.Time) / float64(r.Runs) * computed
		rate := all / time.Since(start).Seconds()
		speed = &rate
	}
	of := settings.Of
	if of != "" {
		of += ": "
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(stderr, "pfq: warning: %s%s\n", of, w)
	}
	return r, speed, nil
}

// Simulate calls a function that simulates the runs of these settings, and shows its progress. If a
// signal arrives, the error reports which runs are kept. last is the last progress.
func Simulate[T any](ctx context.Context, settings Simulation, runs int, stderr io.Writer,
	simulate func(context.Context, sweep.Settings) (T, error)) (result T, last sweep.Progress, err error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	bar := cli.NewProgress(stderr, "pfq")
	defer bar.Clear()
	if settings.Precision == 0 {
		bar.Show(0, runs, "runs")
	}
	settings.Sweep.Progress = func(p sweep.Progress) {
		last = p
		bar.Show(p.Done, p.Total, remainingTime(p, settings.Precision > 0))
	}
	result, err = simulate(ctx, settings.Sweep)
	if err != nil {
		err = stopped(ctx, err, settings.Sweep.Folder, last.Done)
	}
	return result, last, err
}

// stopped returns the error of a simulation, or, if a signal stopped it, an error that reports
// which runs are kept.
func stopped(ctx context.Context, err error, folder string, done int) error {
	switch {
	case ctx.Err() == nil:
		return err
	case folder == "":
		return fmt.Errorf("%w; with --results the finished runs would have been kept", ErrInterrupted)
	}
	return fmt.Errorf("%w; %s keeps %d runs for the next time", ErrInterrupted, folder, done)
}

// remainingTime describes how long a simulation will still take.
func remainingTime(p sweep.Progress, precision bool) string {
	switch {
	case !p.LeftKnown:
		return "runs"
	case precision:
		return fmt.Sprintf("runs, %v to the next check", p.Left.Round(time.Second))
	}
	return fmt.Sprintf("runs, %v left", p.Left.Round(time.Second))
}

// SimulationError translates an error of the simulator to the command line.
func SimulationError(b *cli.Binding, err error, folder string) error {
	err = runError(err, folder)
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	path := strings.TrimPrefix(bad.Path, "Model.")
	fields := map[string]string{"Model": "model", "MeanSize": "mean_size", "mean": "mean_size"}
	return b.Translate(&input.Error{Path: cmp.Or(fields[path], path), Value: bad.Value, Want: bad.Want}, "")
}

// NewPlan returns the plan of a simulation, or an error about the flags that set it.
func NewPlan(ctx context.Context, b *cli.Binding, system sim.System, s *Simulation) (*sim.Plan, error) {
	plan, err := sim.NewPlan(ctx, system, s.Settings)
	return plan, SimulationError(b, err, s.Sweep.Folder)
}

// runError translates an error of runs. The folder is that of --results.
func runError(err error, folder string) error {
	var pathErr *fs.PathError
	var replication *sim.ReplicationError
	switch {
	case errors.As(err, &pathErr):
		return cli.FlagError{Err: fmt.Errorf("--results = %s: %w", folder, pathErr.Err)}
	case errors.As(err, &replication) && (errors.Is(err, sim.ErrTooManyStates) || errors.Is(err, sim.ErrTooManyJobs)):
		return replication.Err // it does not matter which replication found the error
	}
	return err
}
