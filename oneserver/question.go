package oneserver

import (
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Settings controls how a question is answered. The zero value means a tolerance of
// [num.DefaultRelTol] and tables of at most [num.DefaultMaxBytes].
type Settings struct {
	Engine num.Engine // "" means Auto

	// RelTol is the relative tolerance of the means for Auto and Enclose, in (0, 1). It has no
	// effect with Float and Exact. 0 means [num.DefaultRelTol].
	RelTol float64

	// MaxBytes limits the memory for tables. 0 means [num.DefaultMaxBytes].
	MaxBytes int64
}

// A Question selects the measures of a cluster in addition to the means. The zero value adds none.
type Question struct {
	// Levels requests quantiles of the waiting time and of the delay of each class, each in (0, 1):
	// 99/100 for the 99th percentile.
	Levels []*big.Rat

	// Times requests the probabilities that the waiting time and the delay of each class are at
	// most t >= 0, in units of time of the model.
	Times []*big.Rat

	// MaxJobs > 0, at most MostJobs, requests P(n = 0), ..., P(n = MaxJobs) for the number of waiting
	// jobs and for the number of all jobs.
	MaxJobs int

	// Gradients requests the derivatives of the mean waiting time of each class with respect to all
	// rates and capacities: four sweeps for each class and two for each group.
	Gradients bool
}

// MostJobs is the largest [Question.MaxJobs].
const MostJobs = 10000

// check rejects settings and questions out of range. It replaces zero settings by their defaults.
func (q *Question) check(s Settings) (Settings, error) {
	var err error
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return s, err
	}
	if s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes); err != nil {
		return s, err
	}
	if q.MaxJobs < 0 || q.MaxJobs > MostJobs {
		return s, input.Errorf("MaxJobs", q.MaxJobs, "an integer in 0..%d", MostJobs)
	}
	most, _ := new(big.Rat).SetString("1")
	most.Sub(most, new(big.Rat).SetFloat64(leastTail))
	for i, x := range q.Levels {
		if x == nil || x.Sign() <= 0 || x.Cmp(most) > 0 {
			return s, badRat(input.Index("Levels", i), x, "a number > 0 and < 1, at most 1 - 2^-150")
		}
	}
	for i, x := range q.Times {
		if x == nil || x.Sign() < 0 {
			return s, badRat(input.Index("Times", i), x, "a number >= 0")
		}
	}
	if s.Engine == num.Exact && q.asksTimes() {
		return s, input.Errorf("Engine", s.Engine,
			"auto, float or enclose, as quantiles and probabilities of times are not fractions")
	}
	return s, nil
}

// asksMeans reports whether the question is about means only.
func (q *Question) asksMeans() bool { return !q.asksTimes() && q.MaxJobs == 0 && !q.Gradients }

// asksTimes reports whether the question includes distributions of times.
func (q *Question) asksTimes() bool { return len(q.Levels)+len(q.Times) > 0 }

func badRat(path string, x *big.Rat, want string) error {
	value := "nil"
	if x != nil {
		value = x.RatString()
	}
	return input.Errorf(path, value, "%s", want)
}
