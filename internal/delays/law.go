package delays

import (
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// A Law returns P(T > t) as a number, with a bound if known, for 0 <= t <= Until.
type Law interface {
	Tail(t float64) arithmetic.Number
	Until() float64
}

// A Lookup answers questions about the delay of a class from its distribution.
type Lookup struct {
	Law
	Unit   *big.Rat // unit of its time, in units of time of the model
	Mean   float64  // approximate mean
	Rarest float64  // smallest probability that is known, or required for the answer if that is smaller
}

// Answer returns the requested bounds, without those for probabilities below Rarest, which it
// lowers accordingly. ok is false if there are too few digits.
func (d *Lookup) Answer(tails, times []*big.Rat) (a Answer, ok bool) {
	const prec = 64
	for _, p := range tails {
		low, high, ok := d.quantile(arithmetic.Around(p))
		if !ok {
			return a, false
		}
		a.Quantiles = append(a.Quantiles, intervalOf(low, high, d.Unit))
	}
	for _, t := range times {
		earlier, later := arithmetic.Around(new(big.Rat).Quo(t, d.Unit))
		if p := d.guess(later); p < d.Rarest {
			d.Rarest = p
			a.Tails = append(a.Tails, num.Interval{})
			continue
		}
		high, low := interval(d.Tail(earlier)), interval(d.Tail(later))
		if high.Low == nil || low.Low == nil {
			return a, false
		}
		if high.High.Cmp(big.NewFloat(1)) > 0 {
			high.High = num.Up(prec).SetInt64(1)
		}
		a.Tails = append(a.Tails, num.Interval{Low: low.Low, High: high.High})
	}
	return a, true
}

// intervalOf returns the interval from low to high, in a unit.
func intervalOf(low, high float64, unit *big.Rat) num.Interval {
	first, last := new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high)
	return num.Interval{Low: num.Down(64).SetRat(first.Mul(first, unit)), High: num.Up(64).SetRat(last.Mul(last, unit))}
}

// guess returns an approximation of P(T > t), extrapolated where it is not known.
func (d *Lookup) guess(t float64) float64 {
	if end := d.Until(); t > end {
		return math.Pow(d.Tail(end).Double(), t/end)
	}
	return d.Tail(t).Double()
}

// interval returns the bounds on a number, or an empty interval if it has none.
func interval(x arithmetic.Number) num.Interval {
	if !(x.Bound < 0.5) {
		return num.Interval{}
	}
	off := arithmetic.Inflate(x.Bound) * (1 + 0x1p-40)
	f := num.FromFloat64(x.F, 64).Scale2(512 * x.Exp)
	return f.Mul(num.Interval{Low: num.Down(64).SetFloat64(1 - off), High: num.Up(64).SetFloat64(1 + off)})
}

// quantile returns low and high with P(T > low) >= above and P(T > high) <= below, if they are
// known.
func (d *Lookup) quantile(below, above float64) (low, high float64, ok bool) {
	at := func(t float64) float64 { return d.Tail(t).Double() }
	end := d.Until()
	for high = d.Mean; high < end && at(high) > below; high *= 2 {
	}
	if high = min(high, end); at(high) > below {
		return 0, 0, false
	}
	for high-low > 1e-15*high {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if at(middle) > below {
			low = middle
		} else {
			high = middle
		}
	}
	t := low
	for delta := 0x1p-52; ; delta *= 2 {
		if low = t * (1 - delta); delta >= 1 {
			low = 0
			break
		}
		if x := interval(d.Tail(low)); x.Low != nil && x.Low.Cmp(big.NewFloat(above)) >= 0 {
			break
		}
	}
	for delta := 0x1p-52; ; delta *= 2 {
		high = t * (1 + delta)
		if x := interval(d.Tail(high)); x.Low == nil || delta > 1 {
			return 0, 0, false
		} else if x.High.Cmp(big.NewFloat(below)) <= 0 {
			return low, high, true
		}
	}
}
