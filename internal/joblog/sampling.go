package joblog

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/dispatch/workload"
	"productform/internal/cli"
	"productform/internal/input"
)

// addSampling gives the flags of what is taken from the log.
func (f *Flags) addSampling(cmd *cobra.Command) {
	s, lin := &f.Sampling, workload.LinSampling(1)
	otherwise, one, none := "all, unscaled", "1, with --sample ", "0, with --sample "
	if f.IsSampled {
		otherwise, one, none = "one in a hundred", "", ""
	}
	cli.Flag[int]{Name: "sample", Usage: "take `N` consecutive jobs, scaled (default " + otherwise + ")", Want: "an integer in 1..1000000000", Parse: cli.ParseInt(1e9)}.Add(cmd, &s.Count)
	f.Seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "of the random numbers, for --sample and uniform speeds", Default: "1", Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(cmd, &f.Seed)
	scale := func(target *float64, name, what string, sampled float64) {
		cli.AddNumber(cmd, target, name, "", "a number in [1e-50, 1e50]", fmt.Sprintf("multiply %s by this (default %s%g)", what, one, sampled),
			func(v float64) bool { return v >= 1e-50 && v <= 1e50 })
	}
	scale(&s.TimeScale, "time-scale", "run times", lin.TimeScale)
	scale(&s.GapScale, "gap-scale", "times between submissions", lin.GapScale)
	cli.AddNumber(cmd, &s.Batch, "batch", "", "a number of seconds in [0, 1e50]",
		fmt.Sprintf("seconds within which jobs are submitted together; 0 for none (default %s%g)", none, lin.Batch),
		func(v float64) bool { return v >= 0 && v <= 1e50 })
	s.DeadlineFactor, s.Parallelism = lin.DeadlineFactor, lin.Parallelism
	cli.AddNumber(cmd, &s.DeadlineFactor, "deadline-factor", fmt.Sprint(lin.DeadlineFactor), "a number in [1e-50, 1e50], or 0 for no deadlines",
		"run times until a job is due; 0 for no deadlines", func(v float64) bool { return v == 0 || v >= 1e-50 && v <= 1e50 })
	cli.Flag[int]{Name: "parallelism", Kind: "int", Usage: "tasks of a job that its deadline takes to run at a time", Default: strconv.Itoa(lin.Parallelism),
		Want: "an integer in 1..1000000000", Parse: cli.ParseInt(1e9)}.Add(cmd, &s.Parallelism)
	f.priorities = interval{lin.LowestPriority, lin.HighestPriority}
	cli.Flag[interval]{Name: "priorities", Kind: "LOW:HIGH", Usage: "range of the priorities of users", Default: fmt.Sprintf("%g:%g", f.priorities.low, f.priorities.high),
		Want: "LOW:HIGH with 0 <= LOW <= HIGH <= 1e50", Parse: parseInterval(0, 1e50)}.Add(cmd, &f.priorities)
}

// settleSampling takes what no flag says from one of the two samplings.
func (f *Flags) settleSampling(given func(string) bool) {
	s, standard := &f.Sampling, workload.WholeLog()
	if given("sample") || f.IsSampled {
		standard = workload.LinSampling(1)
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

// jobsOf makes jobs of the log, and returns the place of each there.
func (f *Flags) jobsOf(log []swf.Job, name string, seed uint64) (jobs []dispatch.Job, places []int, skipped int, err error) {
	jobs, places, skipped, err = f.Sampling.Take(log, seed)
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
