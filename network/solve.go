package network

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// Solve returns the stationary measures of a network: closed chains by convolution on the lattice
// of their populations, with open chains folded in, and open networks in closed form, station by
// station. All sums have only positive terms, so no digits are lost, for any populations, numbers
// of servers, rates and demands.
//
// With M different stations, at most m different rates per station, K closed chains and L = Π_k
// (N_k + 1) populations, it takes about (log2(M) + 3) M m K L products and sums, and 2
// (log2(M) + 3) tables of L numbers: 8 bytes each in float64. Each station with Order or Balanced
// after the first takes another L²/2^K, since tables are convolved. More than 1e13 products, which
// would take hours, are rejected, as are models that exceed the memory limit. In float64 the
// relative error of a number is below about 2 (Σ_k N_k (K + 1) + M (K + 2)) 2^-53, since a job is
// at one station at a time.
//
// It returns the errors of [Model.Check], an [*UnstableError], which wraps [num.ErrUnstable], a
// [*num.TooLargeError] (immediately), an *[num.InputError] for settings out of range or results
// beyond the range of float64, and [num.ErrDigits]. Solve also returns the error of the context
// promptly after cancellation. m is not modified.
func Solve(ctx context.Context, m *Model, s Settings) (*Result, error) {
	return Answer(ctx, m, Question{}, s)
}

// Answer solves a network like [Solve] and adds the answer to a question. It returns the errors of
// Solve, and an *[num.InputError] for a question out of range.
func Answer(ctx context.Context, m *Model, q Question, s Settings) (*Result, error) {
	ask, _, p, err := prepare(ctx, m, q, s)
	if err != nil {
		return nil, err
	}
	list, err := p.solve(ctx, ask, [][]int{p.Most})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// A problem is a model with the plan of its lattice.
type problem struct {
	*convolution.Plan
	model *Model
}

// prepare checks a question and its settings, analyses the model and makes the plan.
func prepare(ctx context.Context, m *Model, q Question, s Settings) (
	ask request, sys *system, p problem, err error,
) {
	if ask, err = newRequest(q, s); err != nil {
		return ask, nil, p, err
	}
	if sys, err = newSystem(ctx, m); err != nil {
		return ask, nil, p, err
	}
	p, err = newProblem(sys, ask.Settings)
	return ask, sys, p, err
}

// newProblem makes the plan, unless the network is far too large.
func newProblem(sys *system, s Settings) (problem, error) {
	if err := convolution.Refuse(&sys.System, s.MaxBytes); err != nil {
		return problem{}, err
	}
	return problem{convolution.New(&sys.System), sys.model}, nil
}

// maxPrecision is the maximum number of bits of an enclosure.
const maxPrecision = 1 << 16

// mostJobs is the largest Question.MaxJobs.
const mostJobs = 10000

// A request is a question with settings, both valid.
type request struct {
	Question
	Settings
}

// newRequest returns a request with defaults in place of zeros, or an error for a field out of
// range.
func newRequest(q Question, s Settings) (request, error) {
	r := request{q, s}
	var err error
	if r.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return r, err
	}
	if q.MaxJobs < 0 || q.MaxJobs > mostJobs {
		return r, input.Errorf("MaxJobs", q.MaxJobs, "an integer in 0..%d", mostJobs)
	}
	if q.States < 0 || q.States > mostStates {
		return r, input.Errorf("States", q.States, "an integer in 0..%d", mostStates)
	}
	r.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes)
	return r, err
}

// solve returns the measures for several populations, up to those of the plan, with the engine of
// the settings.
func (p problem) solve(ctx context.Context, s request, at [][]int) ([]*Result, error) {
	var results []*Result
	if s.Engine == num.Exact {
		return p.solveAt(ctx, s, num.Exact, 0, at)
	}
	left := make([]int, len(at)) // results that still need a narrower enclosure
	for n := range left {
		left[n] = n
	}
	if s.Engine != num.Enclose {
		var err error
		if results, err = p.solveAt(ctx, s, num.Float, 0, at); err != nil {
			return nil, err
		}
		if s.Engine == num.Float {
			if slices.ContainsFunc(results, func(r *Result) bool { return math.IsInf(r.RelativeErrorBound, 1) }) {
				return nil, num.ErrDigits
			}
			return results, nil
		}
		left = slices.DeleteFunc(left, func(n int) bool { return results[n].RelativeErrorBound <= s.RelTol })
	} else {
		results = make([]*Result, len(at))
	}
	for prec := uint(arithmetic.FirstPrecision); len(left) > 0 && prec <= maxPrecision; prec *= 2 {
		var wanted [][]int
		for _, n := range left {
			wanted = append(wanted, at[n])
		}
		list, err := p.solveAt(ctx, s, num.Enclose, prec, wanted)
		if err != nil {
			return nil, s.withFloatTolerance(err, results)
		}
		for i, n := range left {
			results[n] = list[i]
		}
		left = slices.DeleteFunc(left, func(n int) bool { return results[n].width <= s.RelTol })
	}
	if len(left) > 0 {
		return nil, input.Errorf("RelTol", s.RelTol, "a tolerance within reach of %d bits", maxPrecision)
	}
	return results, nil
}

// withFloatTolerance adds the tolerance that float64 meets to the error about an enclosure that is
// too large.
func (s request) withFloatTolerance(err error, results []*Result) error {
	var large *num.TooLargeError
	if s.Engine == num.Enclose || !errors.As(err, &large) {
		return err
	}
	bound := 0.0
	for _, r := range results {
		bound = max(bound, r.RelativeErrorBound)
	}
	if math.IsInf(bound, 1) {
		return err
	}
	more := *large
	more.Input = input.Errorf("RelTol", s.RelTol,
		"at least %.2g, which float64 proves, since the engine enclose is refused: %v",
		bound, large.Input)
	return &more
}

// solveAt returns the measures for several populations, up to those of the plan, with one engine.
func (p problem) solveAt(ctx context.Context, s request, engine num.Engine, prec uint, at [][]int) ([]*Result, error) {
	results := make([]*Result, len(at))
	measures, err := p.measures(ctx, s, engine, prec, at, results)
	if err != nil {
		return nil, err
	}
	for n, r := range results {
		a := &answer{
			problem:  problem{p.With(at[n]), p.model},
			one:      arithmetic.One(engine, prec),
			request:  s,
			measures: measures[n],
			result:   r,
		}
		if err := a.fill(ctx); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// measures computes the measures of stations that closed chains visit, and records the method in
// results.
func (p problem) measures(ctx context.Context, s request, engine num.Engine, prec uint, at [][]int, results []*Result) (
	[]*convolution.Result, error,
) {
	one := arithmetic.One(engine, prec)
	list := make([]*convolution.Result, len(at))
	if len(p.Order) > 0 && !p.AreEqual() {
		if err := p.Check(engine, prec, s.MaxBytes); err != nil {
			return nil, err
		}
		why := fmt.Sprintf("%.0f populations of the closed chains, %d different stations",
			p.Points, len(p.Groups)+len(p.Delays))
		for n := range results {
			results[n] = &Result{
				Engine: engine,
				Method: Convolution,
				Why:    why,
				States: p.Points,
				Bytes:  p.Bytes(engine, prec),
			}
		}
		return p.Convolve(ctx, engine, prec, s.MaxJobs, at)
	}
	for n := range at {
		results[n] = &Result{Engine: engine}
		if len(p.Order) == 0 {
			results[n].Method, results[n].Why = ClosedForm, "no chain is closed, so stations are independent"
			list[n] = &convolution.Result{}
			continue
		}
		results[n].Method, results[n].Why = EqualStations,
			"all stations that closed chains visit are equal, with one server each"
		list[n] = p.With(at[n]).EqualStations(one, s.MaxJobs)
	}
	return list, nil
}
