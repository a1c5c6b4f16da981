package network

import (
	"context"
	"math"
	"math/big"

	"productform/num"
)

// A span holds bounds on a quantile: the tail is proved to be too large at below and too small at
// above.
type span struct{ below, above float64 }

// side returns -1 for a time below the quantile, 1 for one above it, and 0 if the tail does not
// decide it. Since tails decrease, a time outside the span needs no tail.
func (s *span) side(ctx context.Context, q *waitingQueue, want num.Interval, t float64) (int, error) {
	switch {
	case t <= s.below:
		return -1, nil
	case t >= s.above:
		return 1, nil
	}
	x, err := q.Tail(ctx, new(big.Rat).SetFloat64(t))
	switch {
	case err != nil:
		return 0, err
	case x.Low.Cmp(want.High) > 0:
		s.below = t
		return -1, nil
	case x.High.Cmp(want.Low) < 0:
		s.above = t
		return 1, nil
	}
	return 0, nil
}

// mostProbes is the maximum number of tails that approach computes. In its tests about ten suffice.
const mostProbes = 30

// probeTol is the distance of a probe from the ends of the span, as a fraction of the tolerance.
// The bisection ends with times about a quarter of the tolerance apart, so only a few of them are inside
// the final span.
const probeTol = 1. / 32

// approach returns a narrow span. It applies false position (Illinois) to the logarithm of the
// tail, starting at the mean delay, and needs far fewer tails than a bisection. If it does not
// converge, the span is wide but still proved. With the span, a bisection visits the same times as
// without it.
func (q *waitingQueue) approach(ctx context.Context, want num.Interval, relTol float64) *span {
	s := &span{above: math.Inf(1)}
	mean, deviation := q.moments()
	if !(mean > 0 && deviation > 0) || math.IsInf(mean+deviation, 0) {
		return s
	}
	below, above := -floatLog(want.Middle()), math.Inf(-1) // logarithms of the ratio of the tail to its target
	last := 0
	t := mean
	for range mostProbes {
		x, err := q.Tail(ctx, new(big.Rat).SetFloat64(t))
		if err != nil {
			return s
		}
		height := floatLog(x.Middle()) - floatLog(want.Middle())
		switch {
		case x.Low.Cmp(want.High) > 0:
			s.below, below = t, height
			if last < 0 {
				above /= 2
			}
			last = -1
		case x.High.Cmp(want.Low) < 0:
			s.above, above = t, height
			if last > 0 {
				below /= 2
			}
			last = 1
		default:
			return s
		}
		step := probeTol * relTol * t
		switch {
		case s.above-s.below <= 2*step:
			return s
		case math.IsInf(s.above, 1):
			t += 2 * deviation
			deviation *= 2
			continue
		case s.below == 0 && t > 2*deviation:
			t -= 2 * deviation
			deviation *= 2
			continue
		case math.IsInf(above, -1):
			t = s.below + (s.above-s.below)/2
			continue
		}
		t = s.below + (s.above-s.below)*(below/(below-above))
		t = min(max(t, s.below+step), s.above-step)
	}
	return s
}

// moments returns approximations of the mean of the time that Tail describes and of its standard
// deviation.
func (q *waitingQueue) moments() (mean, deviation float64) {
	rate, _ := q.Rate.Float64()
	busy := rate * float64(q.Servers)
	var square float64
	for n, p := range q.Seen {
		if k := float64(n - q.Servers + 1); k > 0 {
			mean += p.Approx() * k / busy
			square += p.Approx() * (k/busy + 1/busy) * k / busy
		}
	}
	if q.Wait != nil {
		free, _ := q.Free.Float64()
		mean += q.Wait.Approx() / free
		square += 2 * q.Wait.Approx() / free / free
	}
	variance := max(0, square-mean*mean)
	if q.BeforeService {
		return mean, math.Sqrt(variance)
	}
	return mean + 1/rate, math.Sqrt(variance + 1/rate/rate)
}

// floatLog returns the logarithm of x >= 0, approximately.
func floatLog(x *big.Float) float64 {
	mantissa := new(big.Float)
	exponent := x.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}
