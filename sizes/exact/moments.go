package exact

import (
	"cmp"
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// LowEnd encloses k, the smallest size, to a relative width of at most 2^(1-prec); prec 0 means 64.
// If the mean is given, k solves
//
//	E[X] = α/(1-α) (p^(1-α) - k^(1-α))/(k^-α - p^-α)
//
// and is found by Newton's method. The proof is separate: E[X] rises with k, since the sizes do,
// and the mean is proved to be below the given one at the lower end of the enclosure, and above it
// at the upper end.
//
// The error of LowEnd and the methods below names the field of m or the argument that is out of
// range, wraps [ErrMoreBits], or is [num.ErrRange] for powers beyond e^±2e8. Once ctx is done, they
// promptly return ctx.Err().
func (d BoundedPareto) LowEnd(ctx context.Context, prec uint) (num.Interval, error) {
	return d.measure(ctx, prec, func(l boundedPareto) (num.Interval, error) { return l.low.x, nil })
}

// Moment encloses E[X^order] for any real order, to a relative width of at most 2^(1-prec); prec 0
// means 64.
func (d BoundedPareto) Moment(ctx context.Context, order *big.Rat, prec uint) (num.Interval, error) {
	return d.PartialMoment(ctx, order, new(big.Rat), d.High, prec)
}

// PartialMoment encloses E[X^order; low < X <= high] for 0 <= low <= high, to a relative width of
// at most 2^(1-prec); prec 0 means 64. The error wraps [ErrMoreBits] if k is computed from the mean
// and equals high.
func (d BoundedPareto) PartialMoment(ctx context.Context, order, low, high *big.Rat, prec uint) (num.Interval, error) {
	if err := d.Check(); err != nil {
		return num.Interval{}, err
	}
	if order == nil {
		return num.Interval{}, input.Errorf("order", "nil", "a number")
	}
	if low == nil || low.Sign() < 0 {
		return num.Interval{}, input.Errorf("low", Text(low), "a number >= 0")
	}
	if high == nil || high.Cmp(low) < 0 {
		return num.Interval{}, input.Errorf("high", Text(high), "a number >= low = %s", Text(low))
	}
	return d.measure(ctx, prec, func(l boundedPareto) (num.Interval, error) {
		a, b, ok, err := l.clip(low, high)
		if err != nil || !ok {
			return num.FromInt(0, l.prec), err
		}
		return l.anyPart(order, a, b)
	})
}

// Tail encloses P(X > x), to a relative width of at most 2^(1-prec); prec 0 means 64.
func (d BoundedPareto) Tail(ctx context.Context, x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", Text(x), "a number >= 0")
	}
	high := d.High
	if high == nil || x.Cmp(high) > 0 {
		high = x
	}
	return d.PartialMoment(ctx, new(big.Rat), x, high, prec)
}

// CDF encloses P(X <= x), to a relative width of at most 2^(1-prec); prec 0 means 64. The error
// wraps [ErrMoreBits] if k is computed from the mean and equals x.
func (d BoundedPareto) CDF(ctx context.Context, x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", Text(x), "a number >= 0")
	}
	return d.PartialMoment(ctx, new(big.Rat), new(big.Rat), x, prec)
}

// Density encloses f(x) to a relative width of at most 2^(1-prec); prec 0 means 64. At an end of
// the support it is the limit from inside. The error wraps [ErrMoreBits] if k is computed from the
// mean and equals x.
func (d BoundedPareto) Density(ctx context.Context, x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", Text(x), "a number >= 0")
	}
	return d.measure(ctx, prec, func(l boundedPareto) (num.Interval, error) {
		at := num.FromRat(x, l.prec)
		switch {
		case x.Cmp(d.High) > 0, d.Low != nil && x.Cmp(d.Low) < 0, d.Low == nil && at.High.Cmp(l.low.x.Low) < 0:
			return num.FromInt(0, l.prec), nil
		case d.Low == nil && at.Low.Cmp(l.low.x.High) < 0:
			return num.Interval{}, ErrMoreBits
		}
		point, err := l.powersOf(at)
		if err != nil {
			return num.Interval{}, err
		}
		return l.density(point), nil
	})
}

// measure doubles the precision until the result of f is narrow enough.
func (d BoundedPareto) measure(
	ctx context.Context, prec uint, f func(boundedPareto) (num.Interval, error),
) (num.Interval, error) {
	prec = cmp.Or(prec, 64)
	if err := d.Check(); err != nil {
		return num.Interval{}, err
	}
	if prec > 1000 {
		return num.Interval{}, input.Errorf("prec", prec, "at most 1000 bits")
	}
	var e num.Interval
	err := WithPrecision(ctx, prec+64, maxPrec, func(w uint) error {
		l, err := d.toBits(w)
		if err != nil {
			return err
		}
		v, err := f(l)
		if err != nil {
			return err
		}
		e = v
		if e.Low.IsInf() || e.High.IsInf() {
			return num.ErrRange
		}
		if e.RelWidth() > math.Ldexp(1, 1-int(prec)) {
			return ErrMoreBits
		}
		return nil
	})
	if err != nil {
		return num.Interval{}, err
	}
	return e, nil
}

// maxPrec is the maximum precision of a computation, in bits.
const maxPrec = 1 << 14
