// This file encloses the distribution of a job's delay at an FCFS station with equal servers and
// exponential sizes: how long does a job take, given the jobs that it finds?
//
// With m servers that each complete jobs at rate ν, a job that finds n jobs has a delay S,
// exponential with rate ν, if n < m. Otherwise it has to wait for k = n - m + 1 departures, a time
// E_k of k stages of rate mν, and then takes S,
//
//	P(E_k + S > t) = P(Poisson(mνt) < k) + e^(-νt) (m/(m-1))^k P(Poisson((m-1)νt) >= k),
//	P(E_k + S > t) = P(Poisson(νt) <= k) for m = 1,
//
// where the second term of the first line is the density of E_k times e^(-ν(t-s)), integrated over
// s. All sums have positive terms and are computed in interval arithmetic.

package network

import (
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// waitingPrecision is the precision of the intervals, in bits.
const waitingPrecision = 128

// A waitingQueue describes the state that a job finds.
type waitingQueue struct {
	Servers int            // m
	Rate    *big.Rat       // ν
	Seen    []num.Interval // P(it finds n jobs)
	Rest    *big.Float     // upper bound on P(it finds more)
	// P(it waits for an exponential time with rate Free before service), in which case Seen covers
	// only n < m; nil if Seen covers all n
	Wait *num.Interval
	Free *big.Rat // θ

	// BeforeService selects the waiting time E_k, or 0, in place of the delay.
	BeforeService bool
}

// waitingTail encloses P(W > t), W the time until service begins: P(E_k > t) = P(Poisson(mνt) < k).
func (q *waitingQueue) waitingTail(ctx context.Context, t *big.Rat) (num.Interval, error) {
	x := new(big.Rat).Mul(q.Rate, t)
	tail := num.FromInt(0, waitingPrecision)
	if steps := len(q.Seen) - q.Servers; steps > 0 {
		few, err := q.poisson(ctx, x.Mul(x, big.NewRat(int64(q.Servers), 1)), steps)
		if err != nil {
			return num.Interval{}, err
		}
		for k, p := range few {
			tail = tail.Add(q.Seen[q.Servers+k].Mul(p))
		}
	}
	if q.Wait != nil {
		e, err := decay(new(big.Rat).Mul(q.Free, t))
		if err != nil {
			return num.Interval{}, err
		}
		tail = q.Wait.Mul(e)
	}
	return q.withRest(tail), nil
}

// withRest adds the probability of the states that are omitted to the upper bound on a tail.
func (q *waitingQueue) withRest(tail num.Interval) num.Interval {
	tail.High.Add(tail.High, q.Rest)
	if one := big.NewFloat(1); tail.High.Cmp(one) > 0 {
		tail.High.Set(one)
	}
	return tail
}

// meanWaiting encloses E[W] if no states are omitted.
func (q *waitingQueue) meanWaiting() num.Interval {
	if q.Wait != nil {
		return q.Wait.Quo(num.FromRat(q.Free, waitingPrecision))
	}
	sum := num.FromInt(0, waitingPrecision)
	for n := q.Servers; n < len(q.Seen); n++ {
		sum = sum.Add(q.Seen[n].Mul(num.FromInt(int64(n-q.Servers+1), waitingPrecision)))
	}
	ends := new(big.Rat).Mul(q.Rate, big.NewRat(int64(q.Servers), 1))
	return sum.Quo(num.FromRat(ends, waitingPrecision))
}

// Tail encloses P(T > t), or P(W > t) with BeforeService.
func (q *waitingQueue) Tail(ctx context.Context, t *big.Rat) (num.Interval, error) {
	if q.BeforeService {
		return q.waitingTail(ctx, t)
	}
	x := new(big.Rat).Mul(q.Rate, t)
	alone, err := decay(x) // e^(-νt): the job is served immediately
	if err != nil {
		return num.Interval{}, err
	}
	steps := len(q.Seen) - q.Servers // number of departures before the last n is served
	busy := num.FromInt(0, waitingPrecision)
	if steps > 0 {
		var waits []num.Interval // P(E_k + S > t), k = 1, ...
		if q.Servers == 1 {
			waits, err = q.poisson(ctx, x, steps+1)
			waits = waits[1:]
		} else {
			waits, err = q.waitTails(ctx, x, alone, steps)
		}
		if err != nil {
			return num.Interval{}, err
		}
		for k, w := range waits[:steps] {
			busy = busy.Add(q.Seen[q.Servers+k].Mul(w))
		}
	}
	free := num.FromInt(0, waitingPrecision)
	for _, p := range q.Seen[:min(q.Servers, len(q.Seen))] {
		free = free.Add(p)
	}
	if q.Wait != nil {
		w, err := q.waited(x, alone)
		if err != nil {
			return num.Interval{}, err
		}
		busy = q.Wait.Mul(w)
	}
	return q.withRest(busy.Add(free.Mul(alone))), nil
}

// decay encloses e^-x for x >= 0. Beyond the range of [num.Interval.Exp] it lies between 0 and the
// smallest number of that range.
func decay(x *big.Rat) (num.Interval, error) {
	least := new(big.Rat).SetInt64(num.MaxLog)
	if x.Cmp(least) <= 0 {
		return num.FromRat(new(big.Rat).Neg(x), waitingPrecision).Exp()
	}
	e, err := num.FromRat(least.Neg(least), waitingPrecision).Exp()
	return num.Interval{Low: num.Down(waitingPrecision), High: e.High}, err
}

// poisson encloses P(Poisson(x) < k) for k = 1, ..., n.
func (q *waitingQueue) poisson(ctx context.Context, x *big.Rat, n int) ([]num.Interval, error) {
	terms, err := q.poissonTerms(ctx, x, n-1)
	if err != nil {
		return nil, err
	}
	list := terms[:n]
	for k := 1; k < n; k++ {
		list[k] = list[k].Add(list[k-1])
	}
	return list, nil
}

// waitTails encloses P(E_k + S > t) for k = 1, ..., n and several servers, given x = νt and e^-x.
func (q *waitingQueue) waitTails(ctx context.Context, x *big.Rat, alone num.Interval, n int) ([]num.Interval, error) {
	few, err := q.poisson(ctx, new(big.Rat).Mul(x, big.NewRat(int64(q.Servers), 1)), n)
	if err != nil {
		return nil, err
	}
	many, err := q.poissonTails(ctx, new(big.Rat).Mul(x, big.NewRat(int64(q.Servers-1), 1)), n)
	if err != nil {
		return nil, err
	}
	factor := num.FromRat(big.NewRat(int64(q.Servers), int64(q.Servers-1)), waitingPrecision)
	powers := []num.Interval{alone.Mul(factor)}
	for k := 1; k < n; k++ {
		powers = append(powers, powers[k-1].Mul(factor))
	}
	for k, p := range powers {
		few[k] = few[k].Add(p.Mul(many[k]))
	}
	return few, nil
}

// poissonTails encloses P(Poisson(y) >= k) for k = 1, ..., n. If y > 2n, the tail exceeds 1/2 and
// is computed from the terms below k. Otherwise terms are added downward from a distant one. Beyond
// 2y each term is at most half of the previous one, so the sum of all later terms is at most the
// last term.
func (q *waitingQueue) poissonTails(ctx context.Context, y *big.Rat, n int) ([]num.Interval, error) {
	if y.Cmp(big.NewRat(2*int64(n), 1)) > 0 {
		list, err := q.poisson(ctx, y, n)
		one := num.FromInt(1, waitingPrecision)
		for k, x := range list {
			list[k] = one.Sub(x)
		}
		return list, err
	}
	double, _ := new(big.Rat).Add(y, y).Float64()
	terms, err := q.poissonTerms(ctx, y, max(n, int(double)+1)+waitingPrecision)
	if err != nil {
		return nil, err
	}
	last := len(terms) - 1
	sum := num.Interval{Low: num.Down(waitingPrecision), High: num.Up(waitingPrecision).Set(terms[last].High)}
	for k := last; k >= 1; k-- {
		sum = sum.Add(terms[k])
		terms[k] = sum
	}
	return terms[1 : n+1], nil
}

// poissonTerms encloses P(Poisson(y) = k) for k = 0, ..., n.
func (q *waitingQueue) poissonTerms(ctx context.Context, y *big.Rat, n int) ([]num.Interval, error) {
	mean := num.FromRat(y, waitingPrecision)
	term, err := num.FromRat(new(big.Rat).Neg(y), waitingPrecision).Exp()
	if err != nil {
		return nil, input.Errorf("times", y.RatString(), "times t with e^(-mνt) in range")
	}
	terms := []num.Interval{term}
	for k := 1; k <= n; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		term = term.Mul(mean).Quo(num.FromInt(int64(k), waitingPrecision))
		terms = append(terms, term)
	}
	return terms, nil
}

// Quantile brackets the t with P(T > t) = share, for a share above Rest. With BeforeService it is 0
// if at most that share waits. If the share that waits is that share to within the bounds, Float is
// 0, and High bounds the quantile.
func (q *waitingQueue) Quantile(ctx context.Context, share *big.Rat, relTol float64) (num.Value, error) {
	want := num.FromRat(share, waitingPrecision)
	if q.Rest.Cmp(want.Low) >= 0 {
		return num.Value{}, input.Errorf("levels", share.RatString(),
			"a level below 1 - %.2g: the sum omits states with more jobs of this probability",
			q.Rest)
	}
	relTol = max(relTol, 0x1p-48) // float64 has a precision of 2^-52
	rate, _ := q.Rate.Float64()
	if q.BeforeService {
		waits, err := q.waitingTail(ctx, new(big.Rat))
		switch {
		case err != nil:
			return num.Value{}, err
		case waits.High.Cmp(want.Low) <= 0:
			return num.ExactValue(new(big.Rat)), nil
		case waits.Low.Cmp(want.High) <= 0:
			return q.nearZero(ctx, want, 1/rate)
		}
	}
	known := q.approach(ctx, want, relTol)
	side := func(t float64) (int, error) { return known.side(ctx, q, want, t) }
	low, high := 0.0, 1/rate
	for {
		at, err := side(high)
		if err != nil {
			return num.Value{}, err
		}
		if at > 0 {
			break
		}
		if at < 0 {
			low = high
		}
		if high *= 2; high > math.MaxFloat64/4 {
			return num.Value{}, input.Errorf("levels", share.RatString(), "a quantile within the range of float64")
		}
	}
	for high-low > relTol/4*high {
		middle := low + (high-low)/2
		at, err := side(middle)
		if err != nil {
			return num.Value{}, err
		}
		switch {
		case at < 0:
			low = middle
		case at > 0:
			high = middle
		default:
			return narrow(low, middle, high, relTol, side)
		}
	}
	return num.BetweenFloats(low, high), nil
}

// nearZero bounds a quantile that may be 0, by halving a time that is too late.
func (q *waitingQueue) nearZero(ctx context.Context, want num.Interval, late float64) (num.Value, error) {
	const halvings = 64
	for range halvings {
		x, err := q.Tail(ctx, new(big.Rat).SetFloat64(late/2))
		if err != nil {
			return num.Value{}, err
		}
		if x.High.Cmp(want.Low) >= 0 {
			break
		}
		late /= 2
	}
	return num.Value{Low: new(big.Float), High: big.NewFloat(late)}, nil
}

// narrow evaluates the tails at times on either side of middle, until their sides are known.
func narrow(low, middle, high, relTol float64, side func(float64) (int, error)) (num.Value, error) {
	inLow, inHigh := middle, middle
	for inLow-low > relTol/8*high || high-inHigh > relTol/8*high {
		for _, end := range []struct {
			known, open *float64
			want        int
		}{{&low, &inLow, -1}, {&high, &inHigh, 1}} {
			t := *end.known + (*end.open-*end.known)/2
			if t == *end.known || t == *end.open {
				continue
			}
			at, err := side(t)
			if err != nil {
				return num.Value{}, err
			}
			if at == end.want {
				*end.known = t
			} else {
				*end.open = t
			}
		}
	}
	return num.BetweenFloats(low, high), nil
}

// waited encloses P(W + S > t), W exponential with rate θ and S with rate ν: e^(-νt) + ν (e^(-θt) -
// e^(-νt))/(ν - θ), given x = νt and e^-x.
func (q *waitingQueue) waited(x *big.Rat, alone num.Interval) (num.Interval, error) {
	ratio := new(big.Rat).Quo(q.Free, q.Rate)
	e, err := decay(new(big.Rat).Mul(x, ratio))
	if err != nil {
		return num.Interval{}, err
	}
	if q.isNearService() {
		both, err := equalStages(x, ratio)
		return alone.Add(alone.Mul(both)), err
	}
	gap := num.FromRat(new(big.Rat).Sub(big.NewRat(1, 1), ratio), waitingPrecision)
	return alone.Add(e.Sub(alone).Quo(gap)), nil
}

// isNearService reports whether θ is so close to ν that their difference loses its digits.
func (q *waitingQueue) isNearService() bool {
	gap := new(big.Rat).Quo(q.Free, q.Rate)
	gap.Sub(gap, big.NewRat(1, 1))
	return gap.Abs(gap).Cmp(big.NewRat(1, 1<<40)) <= 0
}

// equalStages encloses ν (e^(-θt) - e^(-νt))/(ν - θ)/e^(-νt) = x (1 - e^-y)/y with y = x (θ/ν - 1),
// for θ close to ν, given x = νt and θ/ν. For |y| <= 1 the quotient is within y² of 1 - y/2.
// Otherwise it is at most e^|y|; x is then above 2^40, and e^-x negligible.
func equalStages(x, ratio *big.Rat) (num.Interval, error) {
	y := new(big.Rat).Sub(ratio, big.NewRat(1, 1))
	y.Mul(y, x)
	of := num.FromRat(x, waitingPrecision)
	if size := new(big.Rat).Abs(y); size.Cmp(big.NewRat(1, 1)) > 0 {
		e, err := num.FromRat(size, waitingPrecision).Exp()
		return of.Mul(num.Interval{Low: num.Down(waitingPrecision), High: e.High}), err
	}
	square, middle := new(big.Rat).Mul(y, y), new(big.Rat).Sub(big.NewRat(1, 1), y.Mul(y, big.NewRat(1, 2)))
	return of.Mul(num.Interval{
		Low:  num.Down(waitingPrecision).SetRat(new(big.Rat).Sub(middle, square)),
		High: num.Up(waitingPrecision).SetRat(middle.Add(middle, square)),
	}), nil
}
