package gibbs

import (
	"cmp"
	"math"

	"productform/internal/input"
)

// Settings tunes [Run]. The zero value asks for the mean number of jobs to 0.5 %, by seed 0.
type Settings struct {
	// in (0, 1): stop once the half-width of the mean number of jobs in all is at most this part of
	// it; 0 means 0.005, or none with Sweeps
	Precision float64
	// 1..MostSweeps: sweeps measured in each chain, of which an eighth more may be done; 0 means as
	// many as Precision takes. One of the two must be 0
	Sweeps     int
	Seed       uint64  // of the random numbers; the command pfq takes 1 unless told otherwise
	Confidence float64 // of the intervals, in (0, 0.999999]; 0 means 0.95
	MaxJobs    int     // if > 0, at most MostJobs: also estimate P(n jobs), n = 0..MaxJobs
	ByClass    bool    // and the same of each class; MaxJobs must be > 0
	Gradient   bool    // also estimate the derivatives of the mean number of jobs
	Workers    int     // chains at a time, 1..10,000; 0 means one a core. The result does not depend on it
}

// MostJobs is the largest number of jobs in distributions of the number of jobs.
const MostJobs = 10000

// MostSweeps is the largest number of sweeps of a chain that can be asked for, and the number from
// which on a chain ends whose precision is not reached: 1e12, or 2^25 - 1 where an int has 32 bits.
// An int counts the sweeps of all eight chains, each of which ends with less than twice as many for
// the burn-in and 4.5 times as many measured: it grows fourfold at most, rounded up by an eighth.
const MostSweeps int = min(1e12, math.MaxInt>>6)

const defaultPrecision = 0.005

// checked returns the settings with the values that zeros stand for, or an error for the first that
// is out of range.
func (s Settings) checked() (Settings, error) {
	switch {
	case s.Precision != 0 && !(s.Precision > 0 && s.Precision < 1):
		return s, input.Errorf("Precision", s.Precision, "a number in (0, 1), or 0 for 0.005")
	case s.Sweeps < 0 || s.Sweeps > MostSweeps:
		return s, input.Errorf("Sweeps", s.Sweeps, "an integer in 1..%d, or 0 for as many as it takes", MostSweeps)
	case s.Sweeps > 0 && s.Precision > 0:
		return s, input.Errorf("Precision", s.Precision, "0 with Sweeps, which says when to stop")
	case !(s.Confidence >= 0 && s.Confidence <= 0.999999):
		return s, input.Errorf("Confidence", s.Confidence, "a number in (0, 0.999999], or 0 for 0.95")
	case s.MaxJobs < 0 || s.MaxJobs > MostJobs:
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 0..%d", MostJobs)
	case s.ByClass && s.MaxJobs == 0:
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 1..%d with ByClass", MostJobs)
	case s.Workers < 0 || s.Workers > 10000:
		return s, input.Errorf("Workers", s.Workers, "an integer in 1..10000, or 0 for one a core")
	}
	s.Confidence = cmp.Or(s.Confidence, 0.95)
	if s.Sweeps == 0 {
		s.Precision = cmp.Or(s.Precision, defaultPrecision)
	}
	return s, nil
}
