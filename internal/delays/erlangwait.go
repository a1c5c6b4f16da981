package delays

import (
	"errors"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// The offered waiting V is the time after which a job would start if it did not give up. With
// y = λ/θ, and k >= 0 jobs that wait,
//
//	P(V > t)         = P(N = n) exp(y(1-e^{-θt}) - nμt) Σ_k Π_{i=1..k} λe^{-θt}/(nμ+iθ)
//	P(served, V > t) = the same with nμ+θ in place of nμ, times nμ/(nμ+θ),
//	P(W > t)         = e^{-θt} P(V > t).
//
// If these are most of the total, their complements are sums of positive terms: with D the
// departures within t from a queue that is never empty, in which jobs give up,
//
//	P(V <= t) = P(N < n) + Σ_k P(N = n+k) P(D > k),  P(D = 0) = e^{-nμt},
//	P(D = j+1) / P(D = j) = (nμ+jθ) (1-e^{-θt})/θ / (j+1),
//
// and likewise for the served jobs.

// Jobs selects the jobs of a percentile.
type Jobs int

// The jobs of a percentile.
const (
	AllJobs    Jobs = 0
	ServedJobs Jobs = 1 // the jobs that do not give up
)

// A Within holds the distribution of waiting at one time t.
type Within struct {
	All      arithmetic.Number // P(W <= t)
	Served   arithmetic.Number // P(served and W <= t)
	IfServed arithmetic.Number // P(W <= t | served)
}

// Within returns the distribution of waiting at t. The sums of l must include all states: see
// [Line.Whole].
func (l *Line) Within(t *big.Rat) (w Within, err error) {
	if w.All, _, err = l.waitProbabilities(AllJobs, t); err != nil {
		return w, err
	}
	w.IfServed, _, err = l.waitProbabilities(ServedJobs, t)
	w.Served = w.IfServed.Mul(l.probServed())
	return w, err
}

// waitProbabilities returns P(W <= t) and P(W > t) for some of the jobs.
func (l *Line) waitProbabilities(of Jobs, t *big.Rat) (short, long arithmetic.Number, err error) {
	if l.theta == nil {
		return l.one, l.one.Zero(), nil
	}
	f, err := l.newFactors(t)
	if err != nil {
		return short, long, err
	}
	if of == ServedJobs {
		if long, err = l.longer(f, 1, l.servedTotal); err != nil {
			return short, long, err
		}
		return l.split(f, 1, long, l.waitServed, l.servedTotal)
	}
	if f.stays.IsZero() { // W ends with the patience
		return l.nearlyOne(), l.one.Zero(), nil
	}
	if long, err = l.longer(f, 0, l.total); err != nil {
		return short, long, err
	}
	if stay := f.stays.Mul(long); upper(long) >= 0.5 && upper(stay) < 0.5 {
		return stay.OneMinus(), stay, nil
	}
	if short, long, err = l.split(f, 0, long, l.wait, l.total); err != nil {
		return short, long, err
	}
	return probability(short.Add(f.gone.Mul(long))), f.stays.Mul(long), nil
}

// longer returns the probability that V is longer than t, for e and total as in split.
func (l *Line) longer(f *factors, e int, total arithmetic.Number) (arithmetic.Number, error) {
	if f.wait[e] == nil {
		return l.one.Zero(), nil
	}
	series, err := l.series(f.stays, e)
	if err != nil {
		return series, err
	}
	return l.one.Rational(new(big.Rat).Quo(l.rate, l.outWith(e))).Mul(*f.wait[e]).Mul(series).Quo(total), nil
}

// split returns the probabilities that V is at most t and that it is longer, which is given, for
// e = 0 over all jobs and for e = 1 over served ones, of which waited of total wait. The sum over D
// takes about 50 e^{θt} terms. V is mostly longer than a t with e^{θt} > λ/nμ only if jobs give up
// in much less time than it takes to serve one, and then V has about the exponential distribution
// with mean 1/nμ.
func (l *Line) split(
	f *factors, e int, longer, waited, total arithmetic.Number,
) (short, long arithmetic.Number, err error) {
	if f.wait[e] == nil {
		return l.nearlyOne(), l.one.Zero(), nil
	}
	tooWide := f.stays.IsZero() || share(l.one, f.stays) > max(1<<12, 4*share(l.lambda, l.out))
	if upper(longer) < 0.5 || tooWide {
		return longer.OneMinus(), longer, nil
	}
	short, err = l.startWithin(f, e, waited)
	return probability(short.Quo(total)), probability(longer), err
}

// nearlyOne returns a probability from 1 - 2^-bits to 1, such as one above 1 - e^-2e8.
func (l *Line) nearlyOne() arithmetic.Number {
	one := new(big.Float).SetPrec(l.bits + 1).SetInt64(1)
	low := new(big.Float).Sub(one, new(big.Float).SetMantExp(one, -int(l.bits)))
	return l.number(num.Interval{Low: low, High: one})
}

// series returns Σ_k Π_{i=1..k} λs/(nμ+(i+e)θ), s = e^{-θt}.
func (l *Line) series(stays arithmetic.Number, e int) (arithmetic.Number, error) {
	if l.theta.Sign() == 0 {
		return l.wait, nil
	}
	lambda := l.lambda.Mul(stays)
	term, sum := l.one, l.one
	for k := 1; ; k++ {
		if err := l.checkTerm(k); err != nil {
			return sum, err
		}
		r := lambda.Quo(l.out.Add(l.leave.Mul(l.one.Integer(k + e))))
		term = term.Mul(r)
		sum = sum.Add(term)
		if k%8 != 0 {
			continue
		}
		if next := upper(r); next < 1 { // ratios fall
			if rest := next / (1 - next) * (1 + 1e-10); share(term, sum)*rest < l.tiny {
				return widen(sum, term, rest), nil
			}
		}
	}
}

// startWithin returns P(V <= t), in units of P(N = n), for e as in split:
//
//	Σ_j P(D = j) (P(N < n) + Σ_{k<j} p_k),  p_k = t_k, or t_k nμ/(nμ+(k+1)θ) for e = 1,
//
// where D has nμ+eθ in place of nμ. The ratios of successive P(D = j) approach 1-e^{-θt} from one
// side, and the factors are at most the sum over all k.
func (l *Line) startWithin(f *factors, e int, waited arithmetic.Number) (arithmetic.Number, error) {
	if f.t.Sign() == 0 {
		return l.idleServer, nil
	}
	none, err := l.exp(new(big.Rat).Neg(new(big.Rat).Mul(l.outWith(e), f.t)))
	if err != nil {
		return none, err
	}
	most := l.idleServer.Add(waited)
	departs, start, t := none, l.idleServer, l.one // P(D = j), its factor, t_j
	sum := departs.Mul(start)
	out := l.one.Rational(l.outWith(e))
	limit := upper(f.gone)
	for j := 0; ; j++ {
		if err := l.checkTerm(j); err != nil {
			return sum, err
		}
		rate := l.out.Add(l.leave.Mul(l.one.Integer(j + 1)))
		next := t.Mul(l.lambda).Quo(rate)
		if e == 0 {
			start = start.Add(t)
		} else {
			start = start.Add(t.Mul(l.out).Quo(rate))
		}
		t = next
		r := out.Add(l.leave.Mul(l.one.Integer(j))).Mul(f.each).Quo(l.one.Integer(j + 1))
		departs = departs.Mul(r)
		sum = sum.Add(departs.Mul(start))
		if j%8 != 7 {
			continue
		}
		if worst := max(upper(r), limit); worst < 1 {
			omitted := departs.Mul(most)
			if rest := worst / (1 - worst) * (1 + 1e-10); share(omitted, sum)*rest < l.tiny {
				return widen(sum, omitted, rest), nil
			}
		}
	}
}

// factors are numbers that depend on a time t and are not rational.
type factors struct {
	t     *big.Rat
	stays arithmetic.Number     // e^{-θt}; 0 below e^-2e8
	gone  arithmetic.Number     // 1 - e^{-θt}
	each  arithmetic.Number     // (1 - e^{-θt})/θ; t for θ = 0
	wait  [2]*arithmetic.Number // exp(λ each - (nμ+eθ)t) for e = 0, 1; nil below e^-2e8
}

// newFactors returns the factors at t, computed with more bits than the numbers of the line have.
func (l *Line) newFactors(t *big.Rat) (*factors, error) {
	spread := new(big.Rat).Mul(l.theta, t)
	prec := l.bits + 64 + wholeBits(new(big.Rat).Mul(l.rate, t)) + wholeBits(new(big.Rat).Mul(l.q.ArrivalRate, t)) +
		wholeBits(spread)
	each := num.FromRat(t, prec)
	f := &factors{t: t, stays: l.one, gone: l.one.Zero()}
	if spread.Sign() > 0 {
		prec += wholeBits(new(big.Rat).Inv(spread))
		stays, err := expInterval(num.FromRat(new(big.Rat).Neg(spread), prec))
		if err != nil {
			return nil, err
		}
		if stays == nil {
			stays = &num.Interval{
				Low:  num.Down(prec),
				High: new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), -int(prec)),
			}
			f.stays = l.one.Zero()
		} else {
			f.stays = l.number(*stays)
		}
		gone := num.FromInt(1, prec).Sub(*stays)
		f.gone = l.number(gone)
		each = gone.Quo(num.FromRat(l.theta, prec))
	}
	f.each = l.number(each)
	flow := each.Mul(num.FromRat(l.q.ArrivalRate, prec))
	for e := range f.wait {
		wait, err := expInterval(flow.Sub(num.FromRat(new(big.Rat).Mul(l.outWith(e), t), prec)))
		if err != nil {
			return nil, l.explain(err)
		}
		if wait != nil {
			x := l.number(*wait)
			f.wait[e] = &x
		}
	}
	return f, nil
}

// outWith returns nμ + eθ.
func (l *Line) outWith(e int) *big.Rat {
	if e == 0 {
		return l.rate
	}
	return new(big.Rat).Add(l.rate, l.theta)
}

// exp returns e^x for a rational x.
func (l *Line) exp(x *big.Rat) (arithmetic.Number, error) {
	v, err := num.FromRat(x, l.bits+64+wholeBits(new(big.Rat).Abs(x))).Exp()
	if err != nil {
		return l.one, l.explain(err)
	}
	return l.number(v), nil
}

// expInterval returns e^x, nil if it is below e^-2e8.
func expInterval(x num.Interval) (*num.Interval, error) {
	if x.High.Cmp(big.NewFloat(-num.MaxLog)) < 0 {
		return nil, nil
	}
	v, err := x.Exp()
	return &v, err
}

// explain returns the error for a queue whose servers are too rarely idle.
func (l *Line) explain(err error) error {
	if !errors.Is(err, num.ErrRange) {
		return err
	}
	return &num.TooLargeError{Input: input.Errorf("MeanPatience", l.q.MeanPatience.RatString(),
		"a mean patience with which a server is idle with a probability above e^-%.0e", num.MaxLog)}
}

// number returns a number >= 0 within an interval much shorter than a rounding.
func (l *Line) number(x num.Interval) arithmetic.Number {
	if l.engine == num.Enclose {
		prec := l.one.Interval.Prec()
		return arithmetic.Number{Interval: num.Interval{Low: num.Down(prec).Set(x.Low), High: num.Up(prec).Set(x.High)}}
	}
	return arithmetic.FromWide(arithmetic.WideOf(x.Middle()), 2*arithmetic.Roundoff)
}

// wholeBits returns the bits of x before the point, rounded up; 0 if x < 1.
func wholeBits(x *big.Rat) uint { return uint(max(0, x.Num().BitLen()-x.Denom().BitLen()+1)) }

// Percentile returns the shortest t with P(W <= t) >= level for some of the jobs, and the relative
// width of its bounds. The sums of l must include all states: see [Line.Whole].
//
// The hazard of W rises, so Newton's method on the logarithm of P(W > t) falls to the percentile
// from any time beyond it. The bounds are times at which the probability is certainly below and
// above the level.
func (l *Line) Percentile(of Jobs, level *big.Rat, tol float64) (num.Value, float64, error) {
	side, err := l.side(of, new(big.Rat), level)
	if err != nil || side >= 0 {
		return num.ExactValue(new(big.Rat)), 0, err
	}
	t, err := l.upperTime(of, level)
	if err != nil {
		return num.Value{}, 0, err
	}
	target := l.one.Rational(new(big.Rat).Sub(integer(1), level))
	for range 200 {
		long, hazard, err := l.tail(of, t)
		if err != nil {
			return num.Value{}, 0, err
		}
		step := logRatio(long, target, l.bits)
		step.Quo(step, middle(hazard))
		next := new(big.Float).SetPrec(l.bits).Add(new(big.Float).SetRat(t), step)
		if next.Sign() <= 0 {
			next.Quo(new(big.Float).SetRat(t), big.NewFloat(2))
		}
		done := step.Sign() >= 0 || step.MantExp(nil) < next.MantExp(nil)-int(l.bits)+12
		t, _ = next.Rat(nil)
		if done {
			break
		}
	}
	return l.aroundPercentile(of, t, level, tol)
}

// aroundPercentile returns t, which is close to a percentile, with bounds on the percentile.
func (l *Line) aroundPercentile(of Jobs, t, level *big.Rat, tol float64) (num.Value, float64, error) {
	low, err := l.end(of, t, level, -1, tol)
	if err != nil {
		return num.Value{}, 0, err
	}
	high, err := l.end(of, t, level, 1, tol)
	if err != nil {
		return num.Value{}, 0, err
	}
	v := num.Value{Low: num.Down(l.bits).SetRat(low), High: num.Up(l.bits).SetRat(high)}
	v.Float, _ = t.Float64()
	width, _ := new(big.Rat).Quo(high.Sub(high, low), t).Float64()
	return v, width, nil
}

// end returns a time near t whose probability is certainly below the level, or above for side 1.
func (l *Line) end(of Jobs, t, level *big.Rat, side int, tol float64) (*big.Rat, error) {
	gap := big.NewRat(int64(side), 1<<52)
	if l.engine == num.Enclose {
		gap.SetFloat64(float64(side) * tol / 4)
	}
	for range 1100 {
		end := new(big.Rat).Mul(t, gap)
		end.Add(end, t)
		if end.Sign() <= 0 {
			return new(big.Rat), nil
		}
		got, err := l.side(of, end, level)
		if err != nil || got == side {
			return end, err
		}
		gap.Mul(gap, integer(2))
	}
	return nil, num.ErrDigits
}

// side compares P(W <= t) with a level. It returns 0 if the bounds do not decide it.
func (l *Line) side(of Jobs, t, level *big.Rat) (int, error) {
	short, long, err := l.waitProbabilities(of, t)
	if err != nil {
		return 0, err
	}
	if upper(long) < 0.5 {
		return -compare(long, new(big.Rat).Sub(integer(1), level)), nil
	}
	return compare(short, level), nil
}

// compare returns the sign of a - x, or 0 if the bounds on a do not decide it.
func compare(a arithmetic.Number, x *big.Rat) int {
	low, high := a.Interval.Low, a.Interval.High
	if low == nil {
		if !(a.Bound < 1) {
			return 0
		}
		low, high = QuotientBounds(a)
	}
	want := num.FromRat(x, low.Prec()+64)
	switch {
	case low.Cmp(want.High) > 0:
		return 1
	case high.Cmp(want.Low) < 0:
		return -1
	}
	return 0
}

// upperTime returns a time within which the waits of more than the level of the jobs end. The
// first time is 1/(nμ+θ), since the hazard of W is at most nμ+θ.
func (l *Line) upperTime(of Jobs, level *big.Rat) (*big.Rat, error) {
	t := new(big.Rat).Inv(l.outWith(1))
	if log := l.lambda.Quo(l.out).Log2() * math.Ln2; l.theta.Sign() > 0 && log > 0 {
		drained := new(big.Rat).SetFloat64(log) // P(V = t) is largest at ln(λ/nμ)/θ
		if drained.Quo(drained, l.theta); drained.Cmp(t) > 0 {
			t = drained
		}
	}
	target := new(big.Rat).Sub(integer(1), level)
	for {
		long, _, err := l.tail(of, t)
		if err != nil || compare(long, target) < 0 {
			return t, err
		}
		t.Mul(t, integer(2))
	}
}

// tail returns P(W > t), and the hazard of W at t.
func (l *Line) tail(of Jobs, t *big.Rat) (long, hazard arithmetic.Number, err error) {
	e := int(of)
	f, err := l.newFactors(t)
	if err != nil || f.wait[e] == nil {
		return l.one.Zero(), l.one, err
	}
	series, err := l.series(f.stays, e)
	out := l.one.Rational(l.outWith(e))
	long, hazard = l.out.Mul(*f.wait[e]).Mul(series).Quo(out), out.Quo(series)
	if of == ServedJobs {
		return long.Quo(l.servedTotal), hazard, err
	}
	return long.Mul(f.stays).Quo(l.total), hazard.Add(l.leave), err
}

// logRatio returns ln(x/y), precise if it is small.
func logRatio(x, y arithmetic.Number, bits uint) *big.Float {
	r := middle(x)
	r.Quo(r, middle(y))
	near := new(big.Float).SetPrec(bits).Sub(r, big.NewFloat(1))
	if f, _ := near.Float64(); !(math.Abs(f) < 0x1p-30) {
		return big.NewFloat(x.Quo(y).Log2() * math.Ln2)
	}
	return near
}

// middle returns about the middle of the numbers that x may be.
func middle(x arithmetic.Number) *big.Float {
	if x.Interval.Low != nil {
		return x.Interval.Middle()
	}
	return new(big.Float).SetPrec(64).SetMantExp(big.NewFloat(x.F), 512*x.Exp)
}
