package oiqueue

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/num"
)

// Settings selects the arithmetic. The zero value means float64.
type Settings struct {
	Engine num.Engine // Float or Exact; "" and Auto mean Float
}

// A Result holds the stationary measures of a [Queue]. Lists of classes are in the order of
// ArrivalRates.
type Result struct {
	Engine num.Engine // Float or Exact; Enclose for [Truncated]
	States int        // size of the table

	Normalization    num.Value   // Z = Σ_x Φ(x) Π_i λ_i^x_i
	EmptyProbability num.Value   // π(∅) = 1/Z
	MeanJobs         []num.Value // E[X_i], jobs of class i

	// Active is P(min(X_i, m_i) = y_i for all i) at the index Σ_i y_i Π_{j<i} (m_j+1) of y, m_i
	// being the Saturation of class i: with Rank, the probability that the classes of A are
	// present, at the bit mask of A. It is nil for Truncated.
	Active []num.Value

	// Slack is min_A 1 - Σ_{i∈A} λ_i/μ(A), in (0, 1], with μ(A) the largest rate with only classes
	// of A present. It is nil for Truncated.
	Slack *big.Rat

	// Ratio is the r < 1 of Truncated: beyond its states, the measure of all states of k+1 jobs is
	// at most r times that of k jobs. It is nil for Stationary.
	Ratio *big.Rat

	// RelativeErrorBound is proved for each number of Float; a probability of Active below 2^-1022
	// is within another 2^-1074. It is 0 if the numbers are fractions or have bounds.
	RelativeErrorBound float64
}

// The largest tables of states. The digits of fractions grow with every state.
const (
	maxStates      = 1 << 20
	maxExactStates = 1 << 12
)

// Stationary returns the stationary measures of q. With m_i the Saturation of class i (1 for a Rank
// table), let G(y) be the measure of all x with min(x_i, m_i) = y_i for every i. Summing μ(x) Φ(x)
// = Σ_i Φ(x-e_i) over these x gives
//
//	G(0) = 1,  (μ(y) - Σ_{i: y_i=m_i} λ_i) G(y) = Σ_{i: y_i>0} λ_i G(y-e_i),  Z = Σ_y G(y),
//
// the recursion over active sets when every m_i is 1 (Bonald, Comte and Mathieu, POMACS 1(2), 2017,
// https://doi.org/10.1145/3154500), with nothing cut off beyond m; and for all classes at once,
// with its adjoint,
//
//	V(y) (μ(y) - Σ_{i: y_i=m_i} λ_i) = 1 + Σ_{i: y_i<m_i} λ_i V(y+e_i),
//	E[X_i] = λ_i/Z Σ_{y: y_i>0} V(y) (G(y-e_i) + G(y) [y_i=m_i]).
//
// It takes O(N Π_i (m_i+1)) operations. Float accepts at most 2^20 states (20 classes with Rank).
// It subtracts the factors μ(y) - Σ λ_i exactly and rounds them once; all other operations add,
// multiply and divide positive numbers, so the proved bound on the relative error does not depend
// on how close the queue is to instability. Exact accepts at most 2^12 states: its fractions get
// longer as they go.
//
// The queue is stable if and only if Σ_{i∈A} λ_i < μ(A) for every non-empty A, where μ(A) is the
// rate with m_i jobs of each class of A. The error is
//
//   - an [*cluster.UnstableError] that names the first overloaded A in the order of the bit masks;
//   - a *[num.InputError] for a malformed queue, a Rank that is not positive or falls, or another
//     engine;
//   - a [*RateError] if a rate function is not positive, falls, or still changes one job beyond
//     Saturation;
//   - a [*num.TooLargeError] for too many states;
//   - one that wraps [ErrUnbounded] if the rate is a function without Saturation; see [Truncated];
//   - with Float, one that wraps [num.ErrFloatRange] if a measure leaves the range of float64;
//   - ctx.Err() promptly after ctx is done.
func Stationary(ctx context.Context, q *Queue, s Settings) (*Result, error) {
	engine, err := arithmetic.FloatOrExact(s.Engine)
	if err != nil {
		return nil, err
	}
	limit := maxStates
	if engine == num.Exact {
		limit = maxExactStates
	}
	t, err := newTable(ctx, q, limit)
	if err != nil {
		return nil, err
	}
	r := &Result{Engine: engine, States: t.States, Slack: t.slack}
	if engine == num.Float {
		if g, jobs, z, bound, ok := lattice.Floats(ctx, t.Lattice, q.ArrivalRates, t.drain); ok {
			for at := range g {
				g[at] /= z
			}
			r.Normalization, r.EmptyProbability = num.Value{Float: z}, num.Value{Float: 1 / z}
			r.MeanJobs, r.Active, r.RelativeErrorBound = floats(jobs), floats(g), bound
			return r, nil
		}
	}
	if err := t.solve(ctx, q, r); err != nil {
		return nil, err
	}
	return r, nil
}

// solve fills r in the arithmetic of its engine, Float with exponents beyond those of float64 and a
// bound for each number.
func (t *table) solve(ctx context.Context, q *Queue, r *Result) error {
	one := arithmetic.One(r.Engine, 0)
	recursion, err := t.recursion(ctx, q, one)
	if err != nil {
		return err
	}
	g, jobs, z, err := recursion.Measures(ctx)
	if err != nil {
		return err
	}
	inRange := true
	value := func(x arithmetic.Number) num.Value {
		if x.Exact != nil {
			return num.ExactValue(x.Exact)
		}
		v, fits := x.Value()
		inRange = inRange && fits
		r.RelativeErrorBound = max(r.RelativeErrorBound, x.RelativeError())
		return v
	}
	r.Normalization, r.EmptyProbability = value(z), value(one.Quo(z))
	for _, x := range jobs {
		r.MeanJobs = append(r.MeanJobs, value(x))
	}
	for _, x := range g {
		if err := ctx.Err(); err != nil { // fractions are long
			return err
		}
		p := x.Quo(z)
		v, _ := p.Value() // the nearest double, even where none is near in relative terms
		r.Active = append(r.Active, v)
		r.RelativeErrorBound = max(r.RelativeErrorBound, p.RelativeError())
	}
	if !inRange || math.IsInf(r.RelativeErrorBound, 1) {
		return rangeErrorf("measures leave the range of normal numbers; the engine exact has no such limit")
	}
	return nil
}

// floats returns numbers of the engine Float as values.
func floats(list []float64) []num.Value {
	values := make([]num.Value, len(list))
	for k, x := range list {
		values[k].Float = x
	}
	return values
}
