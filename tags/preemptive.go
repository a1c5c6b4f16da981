package tags

import (
	"context"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// preemptive implements [Evaluate] for one host with the speed v of all hosts that may interrupt
// jobs at no cost. Times are in units of v, with g = λ/v, so the load is g E[X].
func (m Model) preemptive(ctx context.Context, p Policy) (Result, error) {
	l, err := m.unknown(ctx)
	if err != nil {
		return Result{}, err
	}
	l.keep()
	q := preemptive{l: l, g: m.Load / l.mean, idle: 1 - m.Load, srpt: p == PolicySRPT}
	wait, slowdown := q.overSizes()
	v := m.capacity()
	if l.err != nil {
		return Result{}, l.err
	}
	return Result{
		Policy: p, Kind: Exact, ArrivalRate: value(m.rate(l)),
		MeanWaiting: value(wait / v), MeanDelay: value((wait + l.mean) / v),
		MeanSlowdown: value(slowdown / v), MeanStretch: value((slowdown + 1) / v),
	}, checkFinite(m.rate(l), wait/v, slowdown/v)
}

// A preemptive is a host of speed 1 that serves the job with the smallest attained service (FB),
// or the smallest remaining work (SRPT).
type preemptive struct {
	l    *moments
	g    float64 // arrival rate
	idle float64 // 1 - ρ
	srpt bool
}

// capped returns E[min(X, x)^r] for r = 1 and 2.
func (q preemptive) capped(x float64) (m1, m2 float64) {
	return q.l.capped(1, 0, x), q.l.capped(2, 0, x)
}

// load returns ρ(x) = g E[X; X <= x], the load of the jobs up to x.
func (q preemptive) load(x float64) float64 { return q.g * q.l.partial(1, 0, x) }

// free returns 1 - ρ(x) as a sum of positive terms.
func (q preemptive) free(x float64) float64 { return q.idle + q.g*q.l.partial(1, x, math.Inf(1)) }

// slack returns 1 - g E[min(X, x)] as a sum of positive terms.
func (q preemptive) slack(x float64) float64 { return q.idle + q.g*q.l.partialExcess(x) }

// overSizes returns E[W] and E[W/X], where W is the delay of a job minus its size.
func (q preemptive) overSizes() (wait, slowdown float64) {
	if atoms := atomsFromZero(q.l); atoms != nil {
		return q.overAtoms(atoms)
	}
	if q.srpt {
		return q.remaining()
	}
	return q.attained()
}

// overAtoms sums over a list of sizes x. For FB W = T(x) - x. For SRPT, in which jobs of one size
// are served first come, first served,
//
//	W = g E[min(X, x)²]/(2 (1 - ρ(x-)) (1 - ρ(x))) + ∫_0^x ρ(t)/(1 - ρ(t)) dt.
func (q preemptive) overAtoms(atoms []float64) (wait, slowdown float64) {
	interrupted := 0.0 // ∫_0^x ρ(t)/(1 - ρ(t)) dt
	for i, x := range atoms[1:] {
		if q.l.stopped() {
			return 0, 0
		}
		before := atoms[i]
		w := q.attainedWait(x)
		if q.srpt {
			free := q.free(before)
			interrupted += (x - before) * q.load(before) / free
			_, m2 := q.capped(x)
			w = q.g*m2/(2*free*q.free(x)) + interrupted
		}
		part := q.l.partial(0, before, x)
		wait += part * w
		slowdown += part * w / x
	}
	return wait, slowdown
}

// attainedWait returns W of a job of size x under FB, with σ = 1 - g E[min(X, x)]:
//
//	W = g E[min(X, x)²]/(2σ²) + x/σ - x.
func (q preemptive) attainedWait(x float64) float64 {
	m1, m2 := q.capped(x)
	slack := q.slack(x)
	return q.g*m2/(2*slack*slack) + x*q.g*m1/slack
}

// attained integrates by parts, so no density is needed: E[W] = ∫ W'(x) P(X > x) dx, and likewise
// for W/x.
func (q preemptive) attained() (wait, slowdown float64) {
	low, high := q.ends()
	grow := func(x float64) float64 { // W'(x)
		m1, m2 := q.capped(x)
		tail, slack := q.l.tail(x), q.slack(x)
		return q.g*m1/slack + q.g*tail/(slack*slack)*(2*x+q.g*m2/slack)
	}
	first := q.attainedWait(low)
	wait = first + q.integral(low, high, func(x float64) float64 { return grow(x) * q.l.tail(x) })
	return wait, first/low + q.integral(low, high, func(x float64) float64 {
		return (grow(x) - q.attainedWait(x)/x) / x * q.l.tail(x)
	})
}

// remaining integrates for SRPT. With G(x) = 1/(1 - ρ(x)), the wait before the first service, of
// mean g E[min(X, x)²] G(x)²/2, has the mean ∫ E[min(X, x)²]/(2x) dG(x), and by parts
//
//	∫ (P(X > x) - E[X²; X <= x]/x²)/2 (G(∞) - G(x)) dx;
//
// divided by the size, it is (G(∞) - 1)/2 - ∫ E[X²; X <= x]/x³ (G(∞) - G(x)) dx. The interruptions
// take ∫ P(X > t) (G(t) - 1) dt and, divided by the size, ∫ E[1/X; X > t] (G(t) - 1) dt.
func (q preemptive) remaining() (wait, slowdown float64) {
	low, high := q.ends()
	inf := math.Inf(1)
	above := func(x float64) float64 { // G(∞) - G(x)
		return q.g * q.l.partial(1, x, inf) / (q.idle * q.free(x))
	}
	extra := func(x float64) float64 { return q.load(x) / q.free(x) } // G(x) - 1
	square := func(x float64) float64 { return q.l.partial(2, 0, x) / x / x }
	wait = low/2*above(low) + q.integral(low, high, func(x float64) float64 {
		tail := q.l.tail(x)
		return (tail-square(x))/2*above(x) + tail*extra(x)
	})
	return wait, above(low)/2 - q.integral(low, high, func(x float64) float64 {
		return square(x)/x*above(x) - q.l.partial(-1, x, inf)*extra(x)
	})
}

// ends returns the range of the integrals: from the smallest size, or a size that hardly waits, to
// the largest, or one beyond which the rest of the integrals is below 1e-17 of them, since a job
// waits no longer than a multiple of 1/(1-ρ)².
func (q preemptive) ends() (low, high float64) {
	low, high = q.l.low, q.l.high
	if low == 0 {
		low = q.l.mean * 1e-18
	}
	if math.IsInf(high, 1) {
		for high = q.l.mean; high < 1e150 && q.l.partialExcess(high) > 1e-17*q.idle*q.idle*q.l.mean; high *= 2 {
		}
	}
	return low, high
}

// integral returns ∫_low^high f(x) dx in panels of ln x, by Gauss's rule of 20 points. A panel is
// halved until both halves agree with the whole to 1e-13 of the sum over the panels.
func (q preemptive) integral(low, high float64, f func(x float64) float64) float64 {
	const depth = 12
	byLog := func(u float64) float64 { x := math.Exp(u); return x * f(x) }
	rule := func(a, b float64) float64 { return quad.Fixed(byLog, a, b, 20, quad.Legendre{}, 0) }
	from, to := math.Log(low), math.Log(high)
	panels := make([]float64, max(1, int(math.Ceil((to-from)/2))))
	end := func(k int) float64 { return from + (to-from)*float64(k)/float64(len(panels)) }
	scale := 0.0
	for k := range panels {
		panels[k] = rule(end(k), end(k+1))
		scale += math.Abs(panels[k])
	}
	var refined func(a, b, whole float64, depth int) float64
	refined = func(a, b, whole float64, depth int) float64 {
		mid := (a + b) / 2
		left, right := rule(a, mid), rule(mid, b)
		if both := left + right; depth == 0 || math.Abs(both-whole) <= 1e-13*scale || q.l.stopped() {
			return both
		}
		return refined(a, mid, left, depth-1) + refined(mid, b, right, depth-1)
	}
	sum := 0.0
	for k, whole := range panels {
		sum += refined(end(k), end(k+1), whole, depth)
	}
	return sum
}
