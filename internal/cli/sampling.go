package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// addSampling adds the flags that select jobs of the log.
func (f *LogFlags) addSampling(b *Binding) {
	f.binding = b
	cmd, s, lin := b.Cmd, &f.Sampling, dispatch.LinSampling(1)
	otherwise, one, none := "all, unscaled", "1, with --sample ", "0, with --sample "
	if f.IsSampled {
		otherwise, one, none = "one in a hundred", "", ""
	}
	b.Int(&s.Count, "Count", "sample", 1e9, "take `N` consecutive jobs, scaled (default "+otherwise+")")
	f.Seed = 1
	Flag[uint64]{
		Name:    "seed",
		Kind:    "int",
		Usage:   "seed of the random numbers, for --sample and uniform speeds",
		Default: "1",
		Want:    "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		},
	}.Add(cmd, &f.Seed)
	scale := func(target *float64, setting, name, what string, sampled float64) {
		b.Number(target, setting, name, "", input.Speed.Want(),
			fmt.Sprintf("multiply %s by this (default %s%g)", what, one, sampled), input.Speed.Has)
	}
	scale(&s.TimeScale, "TimeScale", "time-scale", "run times", lin.TimeScale)
	scale(&s.GapScale, "GapScale", "gap-scale", "times between submissions", lin.GapScale)
	b.Number(&s.Batch, "Batch", "batch", "", input.Span.Want(),
		fmt.Sprintf("merge submissions within this many seconds; 0 for none (default %s%g)", none, lin.Batch),
		input.Time.Has)
	s.DeadlineFactor, s.Parallelism = lin.DeadlineFactor, lin.Parallelism
	b.Number(&s.DeadlineFactor, "DeadlineFactor", "deadline-factor", fmt.Sprint(lin.DeadlineFactor),
		input.Speed.ZeroFor("no deadlines").Want(),
		"time from submission to deadline, in run times; 0 for no deadlines",
		input.Work.Has)
	b.Int(
		&s.Parallelism, "Parallelism", "parallelism", 1e9, "number of parallel tasks of a job assumed by its deadline",
	)
	f.priorities = interval{lin.LowestPriority, lin.HighestPriority}
	Flag[interval]{
		Name:    "priorities",
		Kind:    "LOW:HIGH",
		Usage:   "range of the priorities of users",
		Default: fmt.Sprintf("%g:%g", f.priorities.low, f.priorities.high),
		Want:    "LOW:HIGH with 0 <= LOW <= HIGH <= 1e50",
		Parse:   parseInterval(0, 1e50),
	}.Add(cmd, &f.priorities)
}

// drawnJobs is the default number of drawn jobs.
const drawnJobs = 10_000

// settleSampling sets missing flags from one of the two samplings.
func (f *LogFlags) settleSampling(given func(string) bool) {
	s, standard := &f.Sampling, dispatch.WholeLog()
	switch {
	case f.Drawn != nil:
		s.Count = cmp.Or(s.Count, drawnJobs)
	case given("sample") || f.IsSampled:
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

// jobsOf converts jobs of the log, and returns the position of each in the log.
func (f *LogFlags) jobsOf(log []swf.Job, name string, seed uint64) (
	jobs []dispatch.Job, places []int, skipped int, err error,
) {
	s := f.Sampling
	if f.Drawn != nil {
		s.Count = 0 // all that were drawn
	}
	jobs, places, skipped, err = s.Take(log, seed)
	var bad *input.Error
	var flag FlagError
	if err = f.binding.Translate(err, ""); errors.As(err, &bad) && !errors.As(err, &flag) {
		err = input.InFile(name, bad)
	}
	return jobs, places, skipped, err
}
