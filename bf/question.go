package bf

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/cube"
	"productform/internal/input"
	"productform/num"
)

// A Question selects the measures of a cluster in addition to the means. The zero value adds none.
type Question struct {
	// MaxJobs > 0, at most MostJobs, requests P(n = 0), ..., P(n = MaxJobs) in
	// Result.JobsDistribution.
	MaxJobs int

	// ByClass requests the same probabilities for each class in ClassResult.JobsDistribution;
	// MaxJobs must be > 0. The work is multiplied by about the number of classes.
	ByClass bool

	// Measures of the delay T_i of a job of a class, from arrival to departure, in the first-come
	// first-served multi-server queue with exponential sizes: see [ClassDelays].
	Levels  []*big.Rat // quantiles, each in (0, 1): 99/100 for the 99th percentile
	Times   []*big.Rat // times t >= 0 for the tails P(T_i > t)
	Moments int        // E[T_i^k], k = 1..Moments, at most MostMoments

	// OfAll requests the quantiles of a job of any class in Result.Quantiles; Levels must not be
	// empty. It takes about five times as long.
	OfAll bool

	Gradient  bool // derivatives of the mean number of all jobs: see [Gradient]
	Gradients bool // derivatives of the means of each class: see [Gradients]
}

const (
	MostJobs    = 10000 // largest [Question.MaxJobs]
	MostMoments = 64    // largest [Question.Moments]
)

// Settings controls how a question is answered. The zero value means a tolerance of
// [num.DefaultRelTol], the cheapest lattice, and tables of at most [num.DefaultMaxBytes].
type Settings struct {
	Engine  num.Engine // "" means Auto
	Lattice Lattice    // "" means AutoLattice

	// RelTol is the relative tolerance for Auto and Enclose, in (0, 1). It has no effect with
	// Exact. With Float it only determines how precisely servers are eliminated (see
	// [EliminationLattice]), how far Result.Quantiles are narrowed, and the effort of [Tails]. 0
	// means [num.DefaultRelTol].
	RelTol float64

	// MaxBytes limits the memory for tables. 0 means [num.DefaultMaxBytes]. It is at most 2 GiB if
	// an int has 32 bits.
	MaxBytes int64

	// MaxWork limits the float64 operations, estimated in advance, of the means, the distribution
	// of the number of all jobs, and all results of elimination. 1e9 operations take about a
	// second. 0 means no limit.
	MaxWork float64
}

// asksDelays reports whether the question includes delays.
func (q *Question) asksDelays() bool { return len(q.Levels)+len(q.Times)+q.Moments > 0 }

// check rejects invalid questions about a model, given valid settings.
func (q *Question) check(m *cluster.Model, s Settings) error {
	if q.MaxJobs < 0 || q.MaxJobs > MostJobs {
		return input.Errorf("MaxJobs", q.MaxJobs, "an integer in 0..%d", MostJobs)
	}
	if q.ByClass && q.MaxJobs == 0 {
		return input.Errorf("MaxJobs", q.MaxJobs, "an integer in 1..%d with ByClass", MostJobs)
	}
	if q.OfAll && len(q.Levels) == 0 {
		return input.Errorf("Levels", "none", "at least one with OfAll")
	}
	if q.Moments < 0 || q.Moments > MostMoments {
		return input.Errorf("Moments", q.Moments, "an integer in 0..%d", MostMoments)
	}
	for i, x := range q.Levels {
		if x == nil || x.Sign() <= 0 || x.Cmp(big.NewRat(1, 1)) >= 0 {
			return badRat(input.Index("Levels", i), x, "a number > 0 and < 1")
		}
		if new(big.Rat).Sub(big.NewRat(1, 1), x).Cmp(minTail) < 0 {
			return badRat(input.Index("Levels", i), x, "at most 1 - 2^-900")
		}
	}
	for i, t := range q.Times {
		if err := checkNonnegative(input.Index("Times", i), t); err != nil {
			return err
		}
	}
	if !q.asksDelays() {
		return nil
	}
	return s.checkDelays(m, len(q.Levels)+len(q.Times) > 0)
}

// checkDelays rejects invalid questions about the delays of a model; distributions are quantiles
// and tails.
func (s Settings) checkDelays(m *cluster.Model, distributions bool) error {
	linear := namesOf(setLattices)
	switch {
	case s.Lattice != "" && s.Lattice != EliminationLattice && !slices.Contains(linear, s.Lattice):
		return input.Errorf("Lattice", s.Lattice, "%s for delays: on the %s lattice the recursion is not linear",
			wantOneOf(linear), s.Lattice)
	case s.Engine == num.Exact && distributions:
		return errNoFraction(s)
	}
	_, err := m.OneMeanSize()
	return err
}

// validate returns s with defaults in place of zeros, or an error for a setting out of range.
func (s Settings) validate() (Settings, error) {
	var err error
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return s, err
	}
	if s.Lattice == AutoLattice {
		s.Lattice = ""
	}
	if s.Lattice != "" && !slices.Contains(Lattices(), s.Lattice) {
		return s, input.Errorf("Lattice", s.Lattice, "%s", wantOneOf(Lattices()))
	}
	if s.Lattice == EliminationLattice && (s.Engine == num.Enclose || s.Engine == num.Exact) {
		return s, input.Errorf("Engine", s.Engine,
			"auto or float: the elimination lattice has bounds in float64 only")
	}
	if !(s.MaxWork >= 0) {
		return s, input.Errorf("MaxWork", s.MaxWork, "a number of operations, or 0 for no limit")
	}
	s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes)
	return s, err
}

// A request is a question with settings, both valid.
type request struct {
	Question
	Settings
	sweepMemory *cube.Memory // buffers passed from one answer of a sweep to the next

	// Tails has times for each class instead of Times, and may request rough bounds, which may
	// differ by [roughTol].
	classTimes [][]*big.Rat
	rough      bool
}

// request returns a question about a model with settings, or an error for one out of range.
func (p *Prepared) request(q Question, s Settings) (request, error) {
	s, err := s.validate()
	if err == nil {
		err = q.check(p.model, s)
	}
	return request{Question: q, Settings: s}, err
}
