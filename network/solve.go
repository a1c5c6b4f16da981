package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/populations"
	"productform/num"
)

// Solve returns the stationary measures of a network: of closed chains by convolution on the lattice of their populations, with open
// chains folded in, and of open networks in closed form, station by station. All sums are of positive terms, so that no digits are lost, whatever the
// population, the number of servers, the rates and the demands.
//
// With M different stations, m the rates of one until they stay the same, K closed chains and L = Π_k (N_k + 1) populations, it takes about
// (log2(M) + 3) M m K L products and sums, and 2 (log2(M) + 3) tables of L numbers: 8 bytes each in float64. A station with Order or Balanced takes another L²/2^K for each
// of these, since its table is convolved. In float64 the relative error of a number is below 2 (Σ_k N_k (max(K, 2) + 1) + M (m + 1)(K + 2)) 2^-53, about.
//
// The error is that of [Model.Check]; an [*UnstableError], which wraps [num.ErrUnstable]; a [*num.TooLargeError], at once; an
// *[num.InputError] for settings out of range or answers beyond that of float64; [ErrDigits]; or that of the context, soon after it has ended. m is not modified.
func Solve(ctx context.Context, m *Model, s Settings) (*Result, error) {
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	sys, err := newSystem(ctx, m)
	if err != nil {
		return nil, err
	}
	p := newPlan(sys)
	list, err := p.solve(ctx, s, [][]int{p.most})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// ErrDigits is the error of the engine Float, asked for by name, where it cannot give a bound.
var ErrDigits = errors.New("float64 has too few digits for a bound; the engine enclose has as many as asked")

// Enclosures start with firstPrecision bits and give up beyond maxPrecision.
const firstPrecision, maxPrecision = 128, 1 << 16

// What zeros of [Settings] stand for, and the most jobs of a distribution.
const defaultRelTol, defaultMaxBytes, mostJobs = 1e-9, 16 << 30, 10000

// checked returns s with the values that zeros stand for, or the error for one out of range.
func (s Settings) checked() (Settings, error) {
	switch s.Engine {
	case "", num.Auto, num.Float, num.Enclose, num.Exact:
	default:
		return s, input.Errorf("Engine", s.Engine, "auto, float, enclose or exact")
	}
	if !(s.RelTol >= 0 && s.RelTol < 1) {
		return s, input.Errorf("RelTol", s.RelTol, "a number in (0, 1), or 0 for 1e-9")
	}
	if s.MaxJobs < 0 || s.MaxJobs > mostJobs {
		return s, input.Errorf("MaxJobs", s.MaxJobs, "an integer in 0..%d", mostJobs)
	}
	if s.MaxBytes < 0 {
		return s, input.Errorf("MaxBytes", s.MaxBytes, "a number of bytes, or 0 for 16 GiB")
	}
	s.RelTol, s.MaxBytes = cmp.Or(s.RelTol, defaultRelTol), cmp.Or(s.MaxBytes, defaultMaxBytes)
	return s, nil
}

// solve returns the measures with several populations, up to those of the plan, by the engine that the settings ask for.
func (p *latticePlan) solve(ctx context.Context, s Settings, at [][]int) ([]*Result, error) {
	var results []*Result
	if s.Engine == num.Exact {
		return p.solveAt(ctx, s, num.Exact, 0, at)
	}
	left := make([]int, len(at)) // those that a closer enclosure is to be found for
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
				return nil, ErrDigits
			}
			return results, nil
		}
		left = slices.DeleteFunc(left, func(n int) bool { return results[n].RelativeErrorBound <= s.RelTol })
	} else {
		results = make([]*Result, len(at))
	}
	for prec := uint(firstPrecision); len(left) > 0 && prec <= maxPrecision; prec *= 2 {
		var wanted [][]int
		for _, n := range left {
			wanted = append(wanted, at[n])
		}
		list, err := p.solveAt(ctx, s, num.Enclose, prec, wanted)
		if err != nil {
			return nil, err
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

// solveAt returns the measures with several populations, up to those of the plan, by one engine.
func (p *latticePlan) solveAt(ctx context.Context, s Settings, engine num.Engine, prec uint, at [][]int) ([]*Result, error) {
	results := make([]*Result, len(at))
	measures, err := p.measures(ctx, s, engine, prec, at, results)
	if err != nil {
		return nil, err
	}
	for n, r := range results {
		a := &answer{latticePlan: p.with(at[n]), one: arithmetic.One(engine, prec), settings: s, measures: measures[n], result: r}
		if err := a.fill(ctx); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// with returns the plan with other populations, for answers only.
func (p *latticePlan) with(most []int) *latticePlan {
	if slices.Equal(most, p.most) {
		return p
	}
	q, sys := *p, *p.sys
	sys.Chains = slices.Clone(sys.Chains)
	q.most, q.jobs, q.sys = most, 0, &sys
	for axis, k := range p.order {
		sys.Chains[sys.Closed[k]].Population = most[axis]
		q.jobs += most[axis]
	}
	return &q
}

// measures returns what is known of stations that closed chains visit, and fills results with by which method.
func (p *latticePlan) measures(ctx context.Context, s Settings, engine num.Engine, prec uint, at [][]int, results []*Result) ([]*latticeResult, error) {
	one := arithmetic.One(engine, prec)
	list := make([]*latticeResult, len(at))
	if len(p.order) > 0 && !p.areEqual() {
		if err := p.check(engine, prec, s); err != nil {
			return nil, err
		}
		why := fmt.Sprintf("%.0f populations of the closed chains, %d different stations", p.points, len(p.groups)+len(p.delays))
		for n := range results {
			results[n] = &Result{Engine: engine, Method: Convolution, Why: why, States: p.points, Bytes: p.bytes(engine, prec)}
		}
		return p.convolve(ctx, s, engine, prec, at)
	}
	for n := range at {
		results[n] = &Result{Engine: engine}
		if len(p.order) == 0 {
			results[n].Method, results[n].Why = ClosedForm, "no chain is closed, so that stations are independent"
			list[n] = &latticeResult{}
			continue
		}
		results[n].Method, results[n].Why = EqualStations, "all stations that closed chains visit are alike, with one server each"
		list[n] = p.with(at[n]).equalStations(one, s.MaxJobs)
	}
	return list, nil
}

// convolve computes with tables of an engine. In float64 it begins anew with shorter segments where numbers turn out to lie too far apart.
func (p *latticePlan) convolve(ctx context.Context, s Settings, engine num.Engine, prec uint, at [][]int) ([]*latticeResult, error) {
	lattice := populations.NewLattice(p.most)
	one := arithmetic.One(engine, prec)
	indices := make([]int, len(at))
	for n, most := range at {
		for k, jobs := range most {
			indices[n] += jobs * lattice.Step(k)
		}
	}
	switch engine {
	case num.Exact:
		return convolve(ctx, p, populations.NewExact(lattice, p.scales()), one, s.MaxJobs, indices)
	case num.Enclose:
		return convolve(ctx, p, populations.NewEnclosed(lattice, prec), one, s.MaxJobs, indices)
	}
	for segment := p.segment(); ; segment = max(1, segment/8) {
		list, err := convolve(ctx, p, populations.NewFloat(lattice, segment, p.tilt()), one, s.MaxJobs, indices)
		if err != nil || segment == 1 || !slices.ContainsFunc(list, (*latticeResult).isLost) {
			return list, err
		}
	}
}

// isLost reports whether a number has no bound.
func (m *latticeResult) isLost() bool {
	for _, x := range m.throughput {
		if math.IsInf(x.Bound, 1) {
			return true
		}
	}
	for _, list := range [][]tableMeasure{m.groups, m.delays} {
		for _, t := range list {
			if math.IsInf(t.empty.Bound, 1) || math.IsInf(t.open.Bound, 1) || len(t.powers) > 0 && math.IsInf(t.powers[len(t.powers)-1].Bound, 1) {
				return true
			}
		}
	}
	return false
}

// areEqual reports whether all stations that closed chains visit are of one kind, with one server.
func (p *latticePlan) areEqual() bool {
	return len(p.delays) == 0 && len(p.groups) == 1 && len(p.groups[0].over) == 1
}

// equalStations returns the measures of M equal stations with f = 1/(1 - u) and nothing else. As [u^j (1-u)^-a](N) is C(|N|-j+a-1, a-1) for all j <= |N| times one
// factor for all a and j,
//
//	H(N)/G(N) = (M-1)/(|N|+M-1),  X_k D_k = N_k/(|N|+M-1),  [Y_1 H](N - e_k)/G(N) D_k = N_k/M,  [Y_1 H](N)/G(N) = (|N|+M)/M,
//
// and the j-th power over the one before is (|N|-j+1)/(|N|-j+M-1).
func (p *latticePlan) equalStations(one arithmetic.Number, jobs int) *latticeResult {
	g := p.groups[0]
	stations, total := int64(len(g.stations)), int64(p.jobs)
	ratio := func(a, b int64) *big.Rat { return big.NewRat(a, b) }
	some := one.Rational(ratio(total, total+stations-1))
	m := tableMeasure{
		empty: one.Rational(ratio(stations-1, total+stations-1)),
		some:  &some,
		open:  one.Rational(ratio(total+stations, stations)),
	}
	r := &latticeResult{}
	for k, n := range p.most {
		d := g.over[0][k]
		if d.Sign() == 0 { // a chain that visits none of them would be visiting stations of another kind
			panic("network: a closed chain visits no station")
		}
		r.throughput = append(r.throughput, one.Rational(new(big.Rat).Quo(ratio(int64(n), total+stations-1), d)))
		m.closed = append(m.closed, one.Rational(new(big.Rat).Quo(ratio(int64(n), stations), d)))
	}
	if jobs > 0 {
		x := m.empty
		if stations == 1 {
			x = one.Zero()
		}
		for j := int64(0); j <= min(int64(jobs), total); j++ {
			switch {
			case j > 0 && total-j+stations-1 > 0:
				x = x.Mul(one.Rational(ratio(total-j+1, total-j+stations-1)))
			case stations == 1 && j == total:
				x = one.One()
			}
			m.powers = append(m.powers, x)
		}
	}
	r.groups = []tableMeasure{m}
	return r
}

func fmtPopulations(most []int) string { return fmt.Sprint("populations ", most) }
