package sim

import (
	"cmp"
	"fmt"

	"productform/internal/input"
)

// Settings configures a run. The zero value means the effort of [BC17], 100 replications of 10^6
// jumps after a warm-up of 10^6, with seed 0. A jump is an arrival, the end of a phase of a size or
// of a task, an interruption, or a kill. Numbers of jumps are expected numbers, since all
// replications observe the same time; in a standing population of tasks they are approximate.
type Settings struct {
	Runs   int     // replications, 2..1,000,000; 0 means 100. With Precision, their maximum number
	Jumps  float64 // expected jumps observed in each replication, 1000..1e15; 0 means 1e6
	WarmUp float64 // expected jumps before that, 0 < WarmUp <= 1e15; 0 means Jumps, NoWarmUp means none
	// > 0: observe each replication from the empty start for this time, in the unit of the rates
	// (seconds in files of pfq), stable or not; Jumps and WarmUp must be 0
	Horizon float64
	Seed    uint64 // seed of the random numbers; the default of the command pfq is 1
	// in (0, 1): stop once the mean jobs of every class have this relative half-width; 0 means that
	// all runs are done
	Precision    float64
	Confidence   float64 // confidence level of the intervals, in (0, 0.999999]; 0 means 0.95
	Distribution int     // > 0: also estimate P(n jobs) for n = 0..Distribution, at most 100,000
	// also estimate these quantiles of the delays, each in (0, 1), at most 100; clusters and queues
	// then draw the times between jumps
	Levels []float64
}

// NoWarmUp as Settings.WarmUp means observing from the empty start.
const NoWarmUp = -1

const maxLevels = 100

// resolved returns the settings with defaults filled in, or an error for the first value out of
// range.
func (s Settings) resolved() (Settings, error) {
	if s.Horizon != 0 && (s.Jumps != 0 || s.WarmUp != 0) {
		return s, input.Errorf("Horizon", s.Horizon, "0 with Jumps or WarmUp")
	}
	s.Runs = cmp.Or(s.Runs, 100)
	s.Jumps = cmp.Or(s.Jumps, 1e6)
	s.WarmUp = cmp.Or(s.WarmUp, s.Jumps)
	s.Confidence = cmp.Or(s.Confidence, 0.95)
	switch {
	case s.Runs < 2 || s.Runs > 1e6:
		return s, input.Errorf("Runs", s.Runs, "an integer in 2..1000000")
	case !(s.Jumps >= 1000 && s.Jumps <= 1e15):
		return s, input.Errorf("Jumps", s.Jumps, "a number in [1000, 1e15]")
	case s.WarmUp != NoWarmUp && !(s.WarmUp > 0 && s.WarmUp <= 1e15):
		return s, input.Errorf("WarmUp", s.WarmUp, "a number in (0, 1e15], or NoWarmUp")
	case s.Horizon != 0 && !(s.Horizon >= 1e-300 && s.Horizon <= 1e300):
		return s, input.Errorf("Horizon", s.Horizon, "a number in [1e-300, 1e300], or 0 for none")
	case s.Precision != 0 && !(s.Precision > 0 && s.Precision < 1):
		return s, input.Errorf("Precision", s.Precision, "a number in (0, 1), or 0 for none")
	case !(s.Confidence > 0 && s.Confidence <= 0.999999):
		return s, input.Errorf("Confidence", s.Confidence, "a number in (0, 0.999999]")
	case s.Distribution < 0 || s.Distribution > 1e5:
		return s, input.Errorf("Distribution", s.Distribution, "an integer in 0..100000")
	case len(s.Levels) > maxLevels:
		return s, input.Errorf("Levels", fmt.Sprintf("%d levels", len(s.Levels)), "at most %d", maxLevels)
	}
	for i, level := range s.Levels {
		if !(level > 0 && level < 1) {
			return s, input.Errorf(input.Index("Levels", i), level, "a number > 0 and < 1")
		}
	}
	if s.WarmUp == NoWarmUp || s.Horizon > 0 {
		s.WarmUp = 0
	}
	return s, nil
}
