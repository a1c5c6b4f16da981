package plan

import (
	"cmp"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Settings tunes the solutions of models. The zero value means a tolerance of [num.DefaultRelTol]
// and tables of at most [num.DefaultMaxBytes].
type Settings struct {
	// RelTol is the relative tolerance of numbers in the answer, in [1e-12, 1). A mean delay counts
	// as smaller only if it is smaller by RelTol. 0 means [num.DefaultRelTol].
	RelTol float64

	MaxBytes int64 // memory for tables; 0 means [num.DefaultMaxBytes]; at most 2 GiB if an int has 32 bits
}

// SearchSettings tunes a search for plans: [LeastCost], [LeastDelay], [Frontier], [Growth] and
// [GreatestLoadOfAll]. The zero value means at most 100,000 solves.
type SearchSettings struct {
	Settings // settings of each solution

	// Limit is the maximum number of models to solve, for [Growth] at each load. A search that
	// reaches it reports how far its plan may be from the best one. 0 means 100,000.
	Limit int

	Progress func(Progress) // called after each solve unless nil
}

// Progress is the progress of a search.
type Progress struct {
	Solves  int      // models solved so far
	AtLeast *big.Rat // lower bound on the cost of the remaining plans
	Cost    *big.Rat // cost of the best plan so far, or of the last point of a frontier; nil if there is none
}

// MinRelTol is the smallest Settings.RelTol. Answers are checked by enclosures of this relative
// width, so more precise ones could be rejected although they are correct.
const MinRelTol = 1e-12

// defaultLimit replaces a SearchSettings.Limit of 0.
const defaultLimit = 100_000

// validate returns s with defaults in place of zeros, or an error for a setting out of range.
func (s Settings) validate() (Settings, error) {
	if s.RelTol != 0 && !(s.RelTol >= MinRelTol && s.RelTol < 1) {
		return s, input.Errorf("RelTol", s.RelTol, "a number in [1e-12, 1), or 0 for 1e-9")
	}
	s.RelTol = cmp.Or(s.RelTol, num.DefaultRelTol)
	var err error
	s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes)
	return s, err
}

// validate is [Settings.validate] for the settings of a search.
func (s SearchSettings) validate() (SearchSettings, error) {
	if s.Limit < 0 {
		return s, input.Errorf("Limit", s.Limit, "a number of solves, or 0 for %d", defaultLimit)
	}
	s.Limit = cmp.Or(s.Limit, defaultLimit)
	var err error
	s.Settings, err = s.Settings.validate()
	return s, err
}
