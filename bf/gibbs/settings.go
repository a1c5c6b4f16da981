package gibbs

import (
	"cmp"
	"math"

	"productform/internal/input"
)

// Settings tunes [Run]. The zero value estimates the mean number of jobs to 0.5 %, with seed 0.
type Settings struct {
	// in (0, 1): stop once the half-width of the total mean number of jobs is at most this fraction
	// of the mean; 0 means 0.005, or none with Sweeps
	Precision float64
	// 1..MostSweeps: sweeps measured in each chain, rounded up by at most an eighth; 0 means as
	// many as Precision needs. Either Precision or Sweeps must be 0
	Sweeps     int
	Seed       uint64  // seed of the random numbers; pfq uses 1 by default
	Confidence float64 // confidence of the intervals, in (0, 0.999999]; 0 means 0.95
	MaxJobs    int     // if > 0, at most MostJobs: also estimate P(n jobs), n = 0..MaxJobs
	ByClass    bool    // distributions for each class as well; MaxJobs must be > 0
	Gradient   bool    // also estimate the derivatives of the mean number of jobs
	Workers    int     // parallel chains, 1..10,000; 0 means one per core. The result does not depend on it
}

// MostJobs is the largest number of jobs in distributions of the number of jobs.
const MostJobs = 10000

// MostSweeps is the maximum of Settings.Sweeps, and the number of sweeps at which a chain stops
// even if the precision is not reached: 1e12, or 2^25 - 1 where an int has 32 bits. An int counts
// the sweeps of all eight chains. Each chain runs less than twice MostSweeps for the burn-in and
// measures at most 4.5 times as many: it grows at most fourfold, rounded up by an eighth.
const MostSweeps int = min(1e12, math.MaxInt>>6)

const defaultPrecision = 0.005

// checked returns the settings with defaults in place of zeros, or an error for the first value out
// of range.
func (s Settings) checked() (Settings, error) {
	switch {
	case s.Precision != 0 && !(s.Precision > 0 && s.Precision < 1):
		return s, input.Errorf("Precision", s.Precision, "a number in (0, 1), or 0 for 0.005")
	case s.Sweeps < 0 || s.Sweeps > MostSweeps:
		return s, input.Errorf("Sweeps", s.Sweeps, "an integer in 1..%d, or 0 for as many as needed", MostSweeps)
	case s.Sweeps > 0 && s.Precision > 0:
		return s, input.Errorf("Precision", s.Precision, "0 if Sweeps is set")
	case !(s.Confidence >= 0 && s.Confidence <= 0.999999):
		return s, input.Errorf("Confidence", s.Confidence, "a number in (0, 0.999999], or 0 for 0.95")
	case s.MaxJobs < 0 || s.MaxJobs > MostJobs:
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 0..%d", MostJobs)
	case s.ByClass && s.MaxJobs == 0:
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 1..%d with ByClass", MostJobs)
	case s.Workers < 0 || s.Workers > 10000:
		return s, input.Errorf("Workers", s.Workers, "an integer in 1..10000, or 0 for one per core")
	}
	s.Confidence = cmp.Or(s.Confidence, 0.95)
	if s.Sweeps == 0 {
		s.Precision = cmp.Or(s.Precision, defaultPrecision)
	}
	return s, nil
}
