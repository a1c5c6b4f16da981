package delays

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// maxTerms limits the terms of a series, to a few seconds in float64.
const maxTerms = 1 << 24

// A Line holds the sums of a [Queue] in the arithmetic of an engine, in units of P(N = n+first).
type Line struct {
	ctx    context.Context
	q      Queue
	engine num.Engine
	one    arithmetic.Number
	prec   uint
	bits   uint    // precision of numbers that are not rational
	tiny   float64 // relative size of omitted terms

	first int // jobs that wait in the first state of the sums; fewer ones are omitted

	rate   *big.Rat          // nμ
	theta  *big.Rat          // θ; 0 if no jobs give up, nil if jobs do not wait
	out    arithmetic.Number // nμ in the arithmetic of the engine
	leave  arithmetic.Number // θ
	lambda arithmetic.Number // λ

	idleServer  arithmetic.Number // P(N < n); 0 if states are omitted
	wait        arithmetic.Number // P(W > 0), the sum of t_k
	waitServed  arithmetic.Number // P(W > 0; served)
	lost        arithmetic.Number // P(gave up)
	servedWait  arithmetic.Number // E[W; served]
	lostWait    arithmetic.Number // E[W; gave up]
	servedTotal arithmetic.Number // P(served)
	total       arithmetic.Number // 1
}

// NewLine sums the series of a queue. prec is the precision of enclosures. The error is a
// *[num.TooLargeError] beyond 2^24 terms, or that of the context.
func NewLine(ctx context.Context, q Queue, engine num.Engine, prec uint) (*Line, error) {
	return newLine(ctx, q, engine, prec, false)
}

// Whole returns a line whose sums include all states, as distributions of waiting require.
func (l *Line) Whole() (*Line, error) {
	if l.first == 0 {
		return l, nil
	}
	return newLine(l.ctx, l.q, l.engine, l.prec, true)
}

// newLine sums the series of a queue; with whole, it omits no state.
func newLine(ctx context.Context, q Queue, engine num.Engine, prec uint, whole bool) (*Line, error) {
	one := arithmetic.One(engine, prec)
	l := &Line{ctx: ctx, q: q, engine: engine, one: one, prec: prec, bits: 96, tiny: 0x1p-64}
	if engine == num.Enclose {
		l.bits, l.tiny = prec+16, math.Ldexp(1, -int(min(prec, 1000)))
	}
	l.rate = new(big.Rat).Quo(integer(q.Servers), q.MeanDuration)
	l.out, l.lambda, l.leave = one.Rational(l.rate), one.Rational(q.ArrivalRate), one.Zero()
	switch {
	case q.MeanPatience == nil:
		l.theta = new(big.Rat)
	case q.MeanPatience.Sign() > 0:
		l.theta = new(big.Rat).Inv(q.MeanPatience)
		l.leave = one.Rational(l.theta)
		mean, first := l.choose()
		if err := l.checkTerm(mean); err != nil {
			return nil, err
		}
		if !whole {
			l.first = first
		}
	}
	l.idleServer = one.Zero()
	if l.first == 0 { // 1/B(n) - 1 = n/a 1/B(n-1)
		before, err := InverseB(ctx, q.Servers-1, l.load(), one)
		if err != nil {
			return nil, err
		}
		l.idleServer = one.Rational(new(big.Rat).Quo(integer(q.Servers), l.load())).Mul(before)
	}
	zero := one.Zero()
	switch {
	case l.theta == nil: // Erlang B
		l.wait, l.waitServed, l.servedWait, l.lostWait, l.lost = zero, zero, zero, zero, one
		l.total = l.idleServer.Add(one)
	case l.theta.Sign() == 0: // Erlang C
		rest := one.Rational(new(big.Rat).Sub(l.rate, q.ArrivalRate))
		l.wait = l.out.Quo(rest)
		l.waitServed, l.servedWait, l.lost, l.lostWait = l.wait, l.wait.Quo(rest), zero, zero
		l.total = l.idleServer.Add(l.wait)
	default:
		enough, err := l.sum()
		if err != nil {
			return nil, err
		}
		if !enough {
			return newLine(ctx, q, engine, prec, true)
		}
	}
	l.servedTotal = l.idleServer.Add(l.waitServed)
	return l, nil
}

// choose returns an approximate mean of the number of waiting jobs, and a number below which states
// can be omitted because they are so rare, or 0 if there is none. If its mean is large, the number
// of waiting jobs is about normal with mean (λ-nμ)/θ and variance λ/θ.
func (l *Line) choose() (mid, first int) {
	excess := new(big.Rat).Sub(l.q.ArrivalRate, l.rate)
	mean := num.Nearest(excess.Quo(excess, l.theta))
	variance := num.Nearest(new(big.Rat).Quo(l.q.ArrivalRate, l.theta))
	bounded := func(x float64) int { return int(max(0, min(x, maxTerms+1))) }
	return bounded(mean), bounded(mean - math.Sqrt(2*variance*(20-math.Log(l.tiny))))
}

// load returns a = λσ.
func (l *Line) load() *big.Rat { return new(big.Rat).Mul(l.q.ArrivalRate, l.q.MeanDuration) }

// probServed returns the probability that a job is served.
func (l *Line) probServed() arithmetic.Number { return probability(l.servedTotal.Quo(l.total)) }

// sum sums the series for θ > 0. With a_k = t_k/(nμ+(k+1)θ), h_k = Σ_{i=1..k+1} 1/(nμ+iθ) and
// g_k = Σ_{i=1..k+1} iθ/(nμ+iθ), they are Σ t_k = 1 + λ Σ a_k, Σ a_k h_k and Σ a_k g_k.
//
// Ratios of the t_k fall. With r the next one after t_K, and since the ratio of h_{K+j} to h_K is
// at most 1+j, and that of g_{K+j} to g_K at most (1+j)², the terms omitted at the end are at most
//
//	a_K r/(1-r),  a_K h_K 2r/(1-r)²,  a_K g_K 6r/(1-r)³
//
// (terms of h fall; those of g are concave in i, so (K+2) times the last is at most 2 g_K). With r
// the ratio after the first term, of k = L, the terms omitted before it are at most 1/(r-1) times
// it, as are Σ_{k<L} t_k and P(N < n) together: there, ratios are larger. For P(served) this bound
// on Σ a_k also covers P(N < n): λ P(N = j) = (j+1)μ P(N = j+1) for j < n, and λ a_k = t_{k+1}.
// Therefore P(N < n) + nμ Σ_{k<L} a_k is at most nμ/λ times the sum of P(N = j) over 0 < j <= n+L.
// This is at most nμ/λ t_L (1 + 1/(r-1)) = nμ a_L/(r-1). The result enough is false if the omitted
// terms are not negligible.
//
// Subtractions from r have a relative rounding of at most 2^-53/|1-r|. With 2^24 terms, |1-r| is
// above 2e-6 where the series ends or begins, so the factor 1 + 1e-10 covers the roundings.
func (l *Line) sum() (enough bool, err error) {
	one := l.one
	t, a, ah, ag := one, one.Zero(), one.Zero(), one.Zero()
	h, g := one.Zero(), one.Zero()
	var start [3]arithmetic.Number // the first terms
	before := 0.0                  // bound on the terms before them, in units of the first ones
	for k := 0; ; k++ {
		if err := l.checkTerm(k); err != nil {
			return false, err
		}
		leaving := l.leave.Mul(one.Integer(k + 1))
		rate := l.out.Add(leaving)
		h, g = h.Add(one.Quo(rate)), g.Add(leaving.Quo(rate))
		if k < l.first {
			continue
		}
		term := t.Quo(rate)
		termH, termG := term.Mul(h), term.Mul(g)
		a, ah, ag = a.Add(term), ah.Add(termH), ag.Add(termG)
		t = term.Mul(l.lambda)
		if k == l.first && k > 0 {
			start = [3]arithmetic.Number{term, termH, termG}
			before = 1 / (1/upper(rate.Quo(l.lambda)) - 1) * (1 + 1e-10)
		}
		if k%8 != 7 {
			continue
		}
		r := upper(l.lambda.Quo(rate))
		if !(r < 1) {
			continue
		}
		rest := r / (1 - r) * (1 + 1e-10)
		restH, restG := 2*rest/(1-r), 6*rest/(1-r)/(1-r)
		if share(term, a)*rest < l.tiny && share(termH, ah)*restH < l.tiny && share(termG, ag)*restG < l.tiny {
			a, ah, ag = widen(a, term, rest), widen(ah, termH, restH), widen(ag, termG, restG)
			break
		}
	}
	l.wait = one.Add(a.Mul(l.lambda))
	if l.first == 0 {
		l.total = l.idleServer.Add(l.wait)
	} else {
		if !(before > 0 && share(start[0], a)*before < l.tiny) {
			return false, nil
		}
		a, ah, ag = widen(a, start[0], before), widen(ah, start[1], before), widen(ag, start[2], before)
		l.wait = widen(l.wait, one, before)
		l.total = widen(l.wait, one, before)
	}
	l.waitServed, l.servedWait, l.lostWait = a.Mul(l.out), ah.Mul(l.out), ag
	l.lost = l.servedWait.Add(l.lostWait).Mul(l.leave)
	return true, nil
}

// checkTerm checks the number of terms and the context.
func (l *Line) checkTerm(k int) error {
	if k > maxTerms {
		return &num.TooLargeError{States: float64(k), Input: input.Errorf("MeanPatience", l.q.MeanPatience.RatString(),
			"a mean patience with at most %d terms of the series", maxTerms)}
	}
	if k%1024 == 0 {
		return l.ctx.Err()
	}
	return nil
}

// upper returns a float64 that x does not exceed, close to it unless x is beyond float64.
func upper(x arithmetic.Number) float64 {
	if x.Interval.Low == nil {
		return math.Nextafter(x.Double()/(1-x.Bound), math.Inf(1))
	}
	f, _ := x.Interval.High.Float64()
	return math.Nextafter(f, math.Inf(1))
}

// share returns x/y, rounded.
func share(x, y arithmetic.Number) float64 { return upper(x.Quo(y)) }

// widen returns the number that exceeds sum by at most rest times the term, a small fraction of the
// sum.
func widen(sum, term arithmetic.Number, rest float64) arithmetic.Number {
	if sum.Interval.Low == nil {
		return arithmetic.FromWide(sum.Wide, arithmetic.Compound(sum.Bound, share(term, sum)*rest*(1+1e-10), 0x1p-100))
	}
	prec := sum.Interval.Prec()
	more := num.Up(prec).SetFloat64(rest)
	more.Mul(more, term.Interval.High)
	return arithmetic.Number{Interval: num.Interval{
		Low: sum.Interval.Low, High: num.Up(prec).Add(sum.Interval.High, more),
	}}
}
