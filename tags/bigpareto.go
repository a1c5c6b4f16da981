package tags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
)

// An ExactModel is a farm of hosts whose job sizes have a Bounded Pareto law, all numbers exact: what is proved about
// it is proved for the decimals that were written, not for the doubles next to them. The density of the sizes is
//
//	f(x) = α x^(-α-1)/(k^-α - p^-α),  k <= x <= p.
//
// One of Low and Mean is given and the other nil.
type ExactModel struct {
	Hosts  int        // h, 1 to [MaxHosts]
	Load   *big.Rat   // system load ρ = λ E[X] / Σ_i v_i, in (0, 1)
	Alpha  *big.Rat   // α > 0
	High   *big.Rat   // p > 0
	Low    *big.Rat   // k in (0, p)
	Mean   *big.Rat   // E[X] in (0, p)
	Speeds []*big.Rat // v_i > 0, in the order in which jobs visit the hosts; nil if all are 1
}

// ErrPrecision is wrapped by the error for a question that 16384 bits do not settle, such as whether a load that is 1
// is below 1, or 4096 bits where cutoffs are sought.
var ErrPrecision = errors.New("tags: more bits do not settle it")

// A PrecisionError names the host of which more bits do not settle whether its load is below 1. It wraps [ErrPrecision].
type PrecisionError struct{ Host int } // 0-based

func (e *PrecisionError) Error() string {
	return fmt.Sprintf("%v: whether the load of host %d is below 1", ErrPrecision, e.Host+1)
}

func (e *PrecisionError) Unwrap() error { return ErrPrecision }

// ErrIdleStart is wrapped by the error for cutoffs to start from that leave a host idle or lie outside the sizes.
var ErrIdleStart = errors.New("tags: the cutoffs to start from leave a host idle")

// errUndecided says that more bits are needed. It never leaves the package.
var errUndecided = errors.New("tags: more bits are needed")

// maxPrec is the greatest precision of a computation, in bits.
const maxPrec = 1 << 14

// Validate checks that every number of m is in its range. The error names the field, its value and the range.
func (m ExactModel) Validate() error {
	if !(m.Hosts >= 1 && m.Hosts <= MaxHosts) {
		return input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxHosts)
	}
	if m.Load == nil || m.Load.Sign() <= 0 || m.Load.Cmp(big.NewRat(1, 1)) >= 0 {
		return input.Errorf("Load", ratText(m.Load), "a number in (0, 1)")
	}
	if err := m.checkLaw(); err != nil {
		return err
	}
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed a host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if v == nil || v.Sign() <= 0 {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), ratText(v), "a number > 0")
		}
	}
	return nil
}

// checkLaw checks the law of the sizes.
func (m ExactModel) checkLaw() error {
	switch {
	case m.Alpha == nil || m.Alpha.Sign() <= 0:
		return input.Errorf("Alpha", ratText(m.Alpha), "a number > 0")
	case m.High == nil || m.High.Sign() <= 0:
		return input.Errorf("High", ratText(m.High), "a number > 0")
	case m.Low == nil && m.Mean == nil:
		return input.Errorf("Low", "nil", "a number in (0, High), or Mean in its place")
	case m.Low != nil && m.Mean != nil:
		return input.Errorf("Mean", ratText(m.Mean), "nil, since Low is given")
	case m.Low != nil && (m.Low.Sign() <= 0 || m.Low.Cmp(m.High) >= 0):
		return input.Errorf("Low", ratText(m.Low), "a number in (0, High = %s)", ratText(m.High))
	case m.Mean != nil && (m.Mean.Sign() <= 0 || m.Mean.Cmp(m.High) >= 0):
		return input.Errorf("Mean", ratText(m.Mean), "a number in (0, High = %s)", ratText(m.High))
	}
	return nil
}

// ratText writes integers as such, other numbers to 17 digits.
func ratText(x *big.Rat) string {
	switch {
	case x == nil:
		return "nil"
	case x.IsInt():
		return x.Num().String()
	}
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 17)
}

// Rounded returns the model of doubles next to m. The error is that of [sizes.NewBoundedPareto], or says that a number
// is beyond double precision.
func (m ExactModel) Rounded() (Model, error) {
	if err := m.Validate(); err != nil {
		return Model{}, err
	}
	low, err := m.LowEnd(64)
	if err != nil {
		return Model{}, err
	}
	k, ok := low.Float64()
	if !ok {
		return Model{}, input.Errorf("Low", low.Low.Text('g', 17), "a low end within double precision")
	}
	f := Model{Hosts: m.Hosts}
	var alpha, high float64
	double := func(path string, x *big.Rat) float64 {
		v, ok := num.Float64(x)
		if !ok && err == nil {
			err = input.Errorf(path, ratText(x), "a number within double precision")
		}
		return v
	}
	f.Load, alpha, high = double("Load", m.Load), double("Alpha", m.Alpha), double("High", m.High)
	for i, v := range m.Speeds {
		f.Speeds = append(f.Speeds, double(fmt.Sprintf("Speeds[%d]", i), v))
	}
	if err != nil {
		return Model{}, err
	}
	if f.Sizes, err = sizes.NewBoundedPareto(k, high, alpha); err != nil {
		return Model{}, err
	}
	return f, f.Validate()
}

// LowEnd encloses k, the least size, to a relative width of at most 2^(1-prec); prec 0 means 64. If the mean is given,
// k solves
//
//	E[X] = α/(1-α) (p^(1-α) - k^(1-α))/(k^-α - p^-α)
//
// and is found by Newton's method. The proof is separate: E[X] rises with k, since the sizes do, and the mean is proved
// to be below the one given at the lower end of the enclosure and above at the upper end.
//
// The error of this and the methods below names the field of m or the argument that is out of range, wraps
// [ErrPrecision], or is [num.ErrRange] for powers beyond e^±2e8.
func (m ExactModel) LowEnd(prec uint) (num.Interval, error) {
	return m.measure(prec, func(l bigLaw) (num.Interval, error) { return l.low.x, nil })
}

// Moment encloses E[X^order] for any real order, to a relative width of at most 2^(1-prec); prec 0 means 64.
func (m ExactModel) Moment(order *big.Rat, prec uint) (num.Interval, error) {
	return m.PartialMoment(order, new(big.Rat), m.High, prec)
}

// PartialMoment encloses E[X^order; low < X <= high] for 0 <= low <= high, to a relative width of at most 2^(1-prec);
// prec 0 means 64. The error wraps [ErrPrecision] if k follows from the mean and is high itself.
func (m ExactModel) PartialMoment(order, low, high *big.Rat, prec uint) (num.Interval, error) {
	if err := m.checkLaw(); err != nil {
		return num.Interval{}, err
	}
	if order == nil {
		return num.Interval{}, input.Errorf("order", "nil", "a number")
	}
	if low == nil || low.Sign() < 0 {
		return num.Interval{}, input.Errorf("low", ratText(low), "a number >= 0")
	}
	if high == nil || high.Cmp(low) < 0 {
		return num.Interval{}, input.Errorf("high", ratText(high), "a number >= low = %s", ratText(low))
	}
	return m.measure(prec, func(l bigLaw) (num.Interval, error) {
		a, b, ok, err := l.clip(low, high)
		if err != nil || !ok {
			return num.FromInt(0, l.prec), err
		}
		return l.anyPart(order, a, b)
	})
}

// Tail encloses P(X > x), to a relative width of at most 2^(1-prec); prec 0 means 64.
func (m ExactModel) Tail(x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	high := m.High
	if high == nil || x.Cmp(high) > 0 {
		high = x
	}
	return m.PartialMoment(new(big.Rat), x, high, prec)
}

// CDF encloses P(X <= x), to a relative width of at most 2^(1-prec); prec 0 means 64. The error wraps [ErrPrecision] if
// k follows from the mean and is x itself.
func (m ExactModel) CDF(x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	return m.PartialMoment(new(big.Rat), new(big.Rat), x, prec)
}

// Density encloses f(x), that inside at the ends, to a relative width of at most 2^(1-prec); prec 0 means 64. The error
// wraps [ErrPrecision] if k follows from the mean and is x itself.
func (m ExactModel) Density(x *big.Rat, prec uint) (num.Interval, error) {
	if x == nil || x.Sign() < 0 {
		return num.Interval{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	return m.measure(prec, func(l bigLaw) (num.Interval, error) {
		at := num.FromRat(x, l.prec)
		switch {
		case x.Cmp(m.High) > 0, m.Low != nil && x.Cmp(m.Low) < 0, m.Low == nil && at.High.Cmp(l.low.x.Low) < 0:
			return num.FromInt(0, l.prec), nil
		case m.Low == nil && at.Low.Cmp(l.low.x.High) < 0:
			return num.Interval{}, errUndecided
		}
		point, err := l.powers(at)
		if err != nil {
			return num.Interval{}, err
		}
		return l.density(point), nil
	})
}

// measure doubles the precision until what f returns is narrow enough.
func (m ExactModel) measure(prec uint, f func(bigLaw) (num.Interval, error)) (num.Interval, error) {
	prec = cmp.Or(prec, 64)
	if err := m.checkLaw(); err != nil {
		return num.Interval{}, err
	}
	if prec > 1000 {
		return num.Interval{}, input.Errorf("prec", prec, "at most 1000 bits")
	}
	var e num.Interval
	err := settle(prec+64, maxPrec, func(w uint) error {
		l, err := m.law(w)
		if err != nil {
			return err
		}
		v, err := f(l)
		if err != nil {
			return err
		}
		e = v
		return narrowEnough(e, math.Ldexp(1, 1-int(prec)))
	})
	if err != nil {
		return num.Interval{}, err
	}
	return e, nil
}

// settle calls try with more and more bits, up to most, while it returns errUndecided.
func settle(prec, most uint, try func(prec uint) error) error {
	for ; prec <= most; prec *= 2 {
		if err := try(prec); !errors.Is(err, errUndecided) {
			return err
		}
	}
	return ErrPrecision
}

// narrowEnough returns errUndecided if e is relatively wider than tolerance, [num.ErrRange] if it is infinite.
func narrowEnough(e num.Interval, tolerance float64) error {
	if e.Low.IsInf() || e.High.IsInf() {
		return num.ErrRange
	}
	if e.RelWidth() > tolerance {
		return errUndecided
	}
	return nil
}
