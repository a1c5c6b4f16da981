package loss

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
)

// A double is a float64 >= 0 that is 0 only if it is 0 exactly, and NaN once any number has left
// the range in which each operation has a relative error of u.
type double float64

func (a double) Add(b double) double { return checked(a+b, a == 0 && b == 0) }
func (a double) Mul(b double) double { return checked(a*b, a == 0 || b == 0) }
func (a double) Quo(b double) double { return checked(a/b, a == 0) }
func (a double) IsZero() bool        { return a == 0 }

func checked(x double, zero bool) double {
	if x >= arithmetic.Least && x <= math.MaxFloat64 || zero {
		return x
	}
	return double(math.NaN())
}

func nearestDouble(r *big.Rat) double {
	f, _ := r.Float64()
	return checked(double(f), r.Sign() == 0)
}

// A scan holds the results of the sweeps of a table.
type scan struct {
	sums[arithmetic.Number]
	jobs, queue []arithmetic.Number
	empty       arithmetic.Number // weight of the requested entry
}

// scan sweeps the table in the arithmetic of one, with the jobs unless there are tokens; empty is
// the entry of the empty system.
func (t *table) scan(ctx context.Context, one arithmetic.Number, tokens bool, empty int) (*scan, error) {
	e := newSweep(ctx, t, one.Rational, one.Integer, func(x arithmetic.Number) arithmetic.Number { return x })
	if err := e.up(one); err != nil {
		return nil, err
	}
	s, err := e.addViews(tokens)
	if err != nil {
		return nil, err
	}
	x := &scan{sums: *s, empty: e.weight[empty]}
	if !tokens {
		x.jobs, x.queue, err = e.down()
	}
	return x, err
}

// doubles computes a scan in float64. ok is false if a number left its range; float64 with separate
// exponents is then needed.
//
// An entry is reached in at most L steps, each of which increases a digit, so L is the sum of the
// largest digits. In a step W takes at most N + 8 roundings: work, units and idle sources (a
// rounding for the work, two products), the sum of two entries, the product, N additions, the
// rounded difference and the quotient. In V a step takes 2N + 8, as an entry gets at most two terms
// from each of N members. A term of a mean takes the roundings of L steps of W and V together and
// of three products. A sum of m terms by halves takes log2(m) + 1 more. The integers and the
// quotient by G, which has the roundings of W, take four more. So all numbers, divided by G or not,
// have at most
//
//	n = L (2N + 8) + (2N + 8) + L (N + 8) + 2 (log2(2 N states) + 2) + 16.
func (t *table) doubles(ctx context.Context, tokens bool, empty int) (x *scan, ok bool, err error) {
	for _, first := range []double{1, 0x1p-900} {
		if x, ok, err = t.doublesFrom(ctx, first, tokens, empty); ok || err != nil {
			return x, ok, err
		}
	}
	return nil, false, nil
}

func (t *table) doublesFrom(ctx context.Context, first double, tokens bool, empty int) (*scan, bool, error) {
	worst := 0.0 // error of the growths
	of := func(x arithmetic.Number) double {
		worst = max(worst, x.Bound)
		return checked(double(x.Double()), false)
	}
	e := newSweep(ctx, t, nearestDouble, func(n int) double { return double(n) }, of)
	if err := e.up(first); err != nil {
		return nil, false, err
	}
	s, err := e.addViews(tokens)
	if err != nil {
		return nil, false, err
	}
	var jobs, queue []double
	if !tokens && !math.IsNaN(float64(s.total)) {
		if jobs, queue, err = e.down(); err != nil {
			return nil, false, err
		}
	}
	steps, members, states := 0.0, float64(len(t.members)), float64(t.States)
	for _, top := range t.Limits {
		steps += float64(top)
	}
	bound := arithmetic.Compound(
		2*(steps+1)*worst,
		arithmetic.Roundings((steps+1)*(2*members+8)+steps*(members+8)+2*(math.Log2(2*members*states+2)+2)+16), 0,
	)
	ok := steps*worst < 1e-3
	number := func(x double) arithmetic.Number {
		ok = ok && !math.IsNaN(float64(x))
		if x == 0 {
			return arithmetic.FromFloat(0, 0)
		}
		return arithmetic.FromFloat(float64(x), bound)
	}
	list := func(a []double) (b []arithmetic.Number) {
		for _, x := range a {
			b = append(b, number(x))
		}
		return b
	}
	lists := func(a [][]double) (b [][]arithmetic.Number) {
		for _, x := range a {
			b = append(b, list(x))
		}
		return b
	}
	return &scan{
		sums: sums[arithmetic.Number]{
			total:    number(s.total),
			pass:     list(s.pass),
			lost:     list(s.lost),
			wait:     list(s.wait),
			serves:   list(s.serves),
			rests:    list(s.rests),
			marginal: lists(s.marginal),
		},
		jobs: list(jobs), queue: list(queue), empty: number(e.weight[empty]),
	}, ok, nil
}
