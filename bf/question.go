package bf

import (
	"context"
	"math/big"
	"slices"

	"productform/cluster"
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

// A request is a question with settings, both valid.
type request struct {
	Question
	Settings
	sweepMemory *cube.Memory // buffers passed from one answer of a sweep to the next
}

// Answer answers a question. [Solve] defines the means and [ClassDelays] the delays. The means, the
// delays and the derivatives each use the engine that Settings.RelTol requires.
//
// Answer returns the errors of [Solve]. It also returns a *[num.InputError] for a question out of
// range, for delays of a model whose classes differ in mean size, or if quantiles or tails are
// requested as fractions, since they are transcendental numbers. Delays that take too many steps
// give a *[num.TooLargeError].
func (p *Prepared) Answer(ctx context.Context, q Question, s Settings) (*Result, error) {
	s, err := s.validate()
	if err == nil {
		err = q.check(p.model, s)
	}
	if err != nil {
		return nil, err
	}
	return p.answer(ctx, request{Question: q, Settings: s})
}

// Answer prepares a model and answers one question about it.
func Answer(ctx context.Context, m *cluster.Model, q Question, s Settings) (*Result, error) {
	p, err := Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.Answer(ctx, q, s)
}

// answer answers a request. It computes the means last. The other measures need more memory and
// work, so a model that is too large for them is rejected early.
func (p *Prepared) answer(ctx context.Context, s request) (*Result, error) {
	var d *delayResult
	var quantiles []num.Value
	var gradient *Gradient
	var gradients *Gradients
	var err error
	if s.asksDelays() {
		if d, err = p.delaysByEngines(ctx, delayQuestion{}, s); err != nil {
			return nil, err
		}
	}
	if s.OfAll && d != nil {
		if quantiles, err = p.quantilesOfAll(ctx, s, d.classes); err != nil {
			return nil, err
		}
	}
	if s.Gradient {
		if gradient, err = p.gradient(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.Gradients {
		if gradients, err = p.gradients(ctx, s); err != nil {
			return nil, err
		}
	}
	r, err := p.solve(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Quantiles, r.Gradient, r.Gradients = quantiles, gradient, gradients
	if d != nil {
		r.Delays = &d.Precision
		for i := range r.Classes {
			r.Classes[i].ClassDelays = d.classes[i]
		}
	}
	return r, nil
}
