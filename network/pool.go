package network

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// poolLoad returns a, the mean number of busy servers.
func poolLoad(st *convolution.Station) *big.Rat {
	return new(big.Rat).Quo(st.Load, st.Totals.Pool.Rate)
}

// poolOdds returns 1/B + ρ/(1 - ρ), with Erlang's B for n servers and ρ = a/n: Erlang's C, the
// probability that all are busy, is 1/(1 - ρ) over it. It also returns 1/B.
func poolOdds(ctx context.Context, st *convolution.Station, one arithmetic.Number) (
	odds, inverse arithmetic.Number, err error,
) {
	if inverse, err = delays.InverseBOfMany(ctx, st.Totals.Pool.Servers, poolLoad(st), one); err != nil {
		return one, one, err
	}
	free := new(big.Rat).Sub(st.Totals.Most, st.Load)
	return inverse.Add(one.Rational(free.Quo(st.Load, free))), inverse, nil
}

// poolWaits returns Erlang's C.
func poolWaits(st *convolution.Station, odds arithmetic.Number) arithmetic.Number {
	free := new(big.Rat).Sub(st.Totals.Most, st.Load)
	return odds.Rational(free.Quo(st.Totals.Most, free)).Quo(odds)
}

// poolMeasure returns the measures of a pool. The mean number of jobs is a + C ρ/(1 - ρ).
func (a *answer) poolMeasure(ctx context.Context, i int) (s stationMeasure, err error) {
	st := &a.System.Stations[i]
	if a.one.Exact != nil || a.request.States > 0 {
		return s, a.refusePool(i)
	}
	odds, inverse, err := poolOdds(ctx, st, a.one)
	if err != nil {
		return s, err
	}
	free := new(big.Rat).Sub(st.Totals.Most, st.Load)
	queue := poolWaits(st, odds).Mul(a.one.Rational(free.Quo(st.Load, free)))
	jobs := queue.Add(a.one.Rational(poolLoad(st)))
	for r := range st.Visits {
		s.jobs = append(s.jobs, jobs.Mul(a.one.Rational(new(big.Rat).Quo(st.Visits[r].Work, st.Load))))
	}
	beyond, err := a.poissonBeyond(ctx, st)
	if err != nil {
		return s, err
	}
	s.empty = a.exponential(poolLoad(st)).Mul(inverse.Add(beyond)).Quo(odds)
	if a.request.MaxJobs == 0 {
		return s, nil
	}
	p, load := s.empty, a.one.Rational(poolLoad(st))
	for k := range min(a.request.MaxJobs, st.Totals.Pool.Servers) + 1 {
		if k > 0 {
			p = p.Mul(load).Quo(a.one.Integer(k))
		}
		s.law = append(s.law, p)
	}
	return s, nil
}

// poissonBeyond returns Σ_{k > n} a^k/k! / (a^n/n!). Since Σ_{k <= n} is 1/B in these units, and
// the weights of states, a^k/k! up to n, add up to 1/B + ρ/(1 - ρ), the pool is empty with the
// probability e^-a (1/B + the sum)/(1/B + ρ/(1 - ρ)). After a term, the others are at most the term
// times r/(1 - r), with r the ratio of the next one.
func (a *answer) poissonBeyond(ctx context.Context, st *convolution.Station) (arithmetic.Number, error) {
	exact, n := poolLoad(st), st.Totals.Pool.Servers
	load := a.one.Rational(exact)
	bits := uint(64)
	if a.one.Interval.Low != nil {
		bits = a.one.Interval.Prec()
	}
	const often = 32 // terms from one check of the rest to the next
	sum, term := a.one.Zero(), a.one
	for k := n + 1; ; k++ {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		term = term.Mul(load).Quo(a.one.Integer(k))
		sum = sum.Add(term)
		if k%often != 0 {
			continue
		}
		left := new(big.Rat).Sub(big.NewRat(int64(k+1), 1), exact)
		if rest := term.Mul(load).Quo(a.one.Rational(left)); rest.Log2() < -float64(bits) {
			return a.withRest(sum, rest), nil
		}
	}
}

// withRest returns a sum with bounds that allow for terms it lacks, of at most rest.
func (a *answer) withRest(sum, rest arithmetic.Number) arithmetic.Number {
	if a.one.Interval.Low != nil {
		sum.Interval.High = num.Up(a.one.Interval.Prec()).Add(sum.Interval.High, rest.Interval.High)
		return sum
	}
	return arithmetic.FromWide(sum.Wide, sum.Bound+2*rest.Quo(sum).Double())
}

// refusePool returns the error about a pool at station i that needs fractions.
func (a *answer) refusePool(i int) error {
	n := a.System.Stations[i].Totals.Pool.Servers
	bad := input.Errorf(input.Index("stations", i)+".servers", n,
		"fewer than %d servers for fractions and likely states", convolution.ManyServers)
	return &num.TooLargeError{Input: bad, States: float64(n), Instead: []num.Remedy{num.Simulation}}
}

// findPool sets the probability that a job waits at a pool.
func (d *delaySolver) findPool(st *convolution.Station) error {
	engine := num.Float
	if d.request.RelTol < 1e-9 || d.request.Engine == num.Exact || d.request.Engine == num.Enclose {
		engine = num.Enclose
	}
	odds, _, err := poolOdds(d.ctx, st, arithmetic.One(engine, waitingPrecision))
	if err != nil {
		return err
	}
	waits := poolWaits(st, odds)
	v, _ := waits.Value()
	wait := enclosure(v, waits.Bound)
	if v.Float < 0x1p-1000 { // v has no digits
		wait = num.Interval{Low: new(big.Float), High: big.NewFloat(0x1p-1000)}
	}
	free := num.FromInt(1, waitingPrecision).Sub(wait)
	d.queue.Wait, d.queue.Seen, d.queue.Rest = &wait, []num.Interval{free}, new(big.Float)
	return nil
}
