package oiqueue

import (
	"context"
	"math"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/num"
)

// A Result holds the stationary measures of a [Queue] in float64.
type Result struct {
	Normalization    float64   // Z = Σ_x Φ(x) Π_i λ_i^x_i
	EmptyProbability float64   // π(∅) = 1/Z
	MeanJobs         []float64 // E[X_i], jobs of class i
	Active           []float64 // P(min(X_i, m_i) = y_i for all i), as in [ExactResult]
	Slack            float64   // min_A 1 - Σ_{i∈A} λ_i/μ(A)
	States           int       // size of the table
	// proved, for each number above; a probability of Active below 2^-1022 is within 2^-1074 more
	RelativeErrorBound float64
}

// Stationary returns the measures of [StationaryExact], with its conditions and errors, by the same
// recursions in float64. The factors μ(y) - Σ λ_i are subtracted exactly and rounded once. All
// other operations add, multiply and divide positive numbers, with a proved bound on the relative
// error however close the queue is to instability. It takes O(N Π_i (m_i+1)) operations; at most
// 2^20 states (20 classes with Rank) are accepted. If a measure leaves the range of float64, the
// error wraps [num.ErrFloatRange].
func Stationary(ctx context.Context, q *Queue) (*Result, error) {
	t, err := newTable(ctx, q, maxStates)
	if err != nil {
		return nil, err
	}
	g, jobs, z, bound, ok := lattice.Floats(t.Lattice, q.ArrivalRates, t.drain)
	if !ok {
		return t.stationaryFar(ctx, q)
	}
	for at := range g {
		g[at] /= z
	}
	slack, _ := t.slack.Float64()
	return &Result{
		Normalization:      z,
		EmptyProbability:   1 / z,
		MeanJobs:           jobs,
		Active:             g,
		Slack:              slack,
		States:             t.States,
		RelativeErrorBound: bound,
	}, nil
}

// stationaryFar works like [Stationary] with exponents beyond those of float64 and a bound for each
// number.
func (t *table) stationaryFar(ctx context.Context, q *Queue) (*Result, error) {
	one := arithmetic.One(num.Float, 0)
	g, jobs, z, err := t.recursion(q, one).Measures(ctx)
	if err != nil {
		return nil, err
	}
	r, ok := &Result{States: t.States}, true
	set := func(x arithmetic.Number) float64 {
		v, fits := x.Value()
		ok = ok && fits
		r.RelativeErrorBound = max(r.RelativeErrorBound, x.RelativeError())
		return v.Float
	}
	r.Normalization, r.EmptyProbability, r.Slack = set(z), set(one.Quo(z)), set(one.Rational(t.slack))
	for _, x := range jobs {
		r.MeanJobs = append(r.MeanJobs, set(x))
	}
	for _, x := range g {
		p, _ := x.Quo(z).Value() // the nearest double, even where none is near in relative terms
		r.Active = append(r.Active, p.Float)
		r.RelativeErrorBound = max(r.RelativeErrorBound, x.Quo(z).RelativeError())
	}
	if !ok || math.IsInf(r.RelativeErrorBound, 1) {
		return nil, rangeErrorf("measures leave that of normal numbers; StationaryExact has no such limit")
	}
	return r, nil
}
