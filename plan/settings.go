package plan

import (
	"cmp"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Settings tunes the searches. The zero value means at most 100,000 solves, a tolerance of
// [num.DefaultRelTol] and tables in [num.DefaultMaxBytes].
type Settings struct {
	Limit    int            // most models to solve in a search, after which it says how far from the best its plan can be; 0 means 100,000
	RelTol   float64        // relative error of numbers in the answer, and by which another plan has to have a smaller mean delay, in [1e-12, 1); 0 means [num.DefaultRelTol]
	MaxBytes int64          // memory for tables; 0 means [num.DefaultMaxBytes]; at most 2 GiB if an int has 32 bits
	Progress func(Progress) // called after each solve unless nil
}

// Progress says how far a search is.
type Progress struct {
	Solves  int      // models solved so far
	AtLeast *big.Rat // what the plans that are left cost at least
	Cost    *big.Rat // of the best plan so far, nil if there is none
}

// MinRelTol is the least Settings.RelTol: answers are checked by enclosures of this relative width, so that finer ones could be
// refused though they are right.
const MinRelTol = 1e-12

const (
	defaultLimit = 100_000
)

// checked returns s with the values that zeros stand for, or the error for one out of range.
func (s Settings) checked() (Settings, error) {
	if s.Limit < 0 {
		return s, input.Errorf("Limit", s.Limit, "a number of solves, or 0 for %d", defaultLimit)
	}
	if s.RelTol != 0 && !(s.RelTol >= MinRelTol && s.RelTol < 1) {
		return s, input.Errorf("RelTol", s.RelTol, "a number in [1e-12, 1), or 0 for 1e-9")
	}
	s.Limit, s.RelTol = cmp.Or(s.Limit, defaultLimit), cmp.Or(s.RelTol, num.DefaultRelTol)
	var err error
	s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes)
	return s, err
}
