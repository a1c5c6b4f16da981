package exact

import (
	"context"
	"errors"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Distribution is a distribution of job sizes: [BoundedPareto], [Pareto], [Gammas],
// [Hyperexponential], [Weibull] or [List].
type Distribution interface {
	// Check checks the parameters. The error names the field, its value and the range.
	Check() error
	// Enclose returns the distribution with a given number of bits. The error is [ErrMoreBits] if
	// these are too few, or [num.ErrRange]. Once ctx is done, Enclose and the methods of the
	// enclosure promptly return ctx.Err().
	Enclose(ctx context.Context, prec uint) (*Enclosure, error)
	// Fractions returns E[X; X > x] and P(X > x) for x >= 0 if they are known to be fractions,
	// otherwise nil.
	Fractions(x *big.Rat) (work, tail *big.Rat)
}

// ErrMoreBits reports that a question needs more bits.
var ErrMoreBits = errors.New("exact: more bits are needed")

// WithPrecision calls try with prec bits, then with twice as many, and so on up to most, as long as
// it returns [ErrMoreBits]. If most bits are too few, that is the error. If ctx is done before a
// try, the error is ctx.Err().
func WithPrecision(ctx context.Context, prec, most uint, try func(prec uint) error) error {
	for ; prec <= most; prec *= 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := try(prec); !errors.Is(err, ErrMoreBits) {
			return err
		}
	}
	return ErrMoreBits
}

// An Enclosure is a [Distribution] enclosed with a given number of bits.
type Enclosure struct {
	Prec      uint  // bits of the ends of all intervals
	Low, High Point // ends of the support; High.X is unset if there is none
	NoInverse bool  // E[1/X] is infinite, and Low.Above[0] is unset
	Smooth    bool  // there is a density

	low, high *big.Rat // the ends; low is nil if Low is computed from the mean, high if there is no high end
	at        func(x num.Interval) (Point, error)
	listed    func(x *big.Rat) Point // for lists, in place of at

	// Inside, AtLog and WithWork if there is a shorter way, otherwise nil.
	inside   func(x num.Interval) (Point, error)
	atLog    func(x, log num.Interval) (Point, error)
	withWork func(work num.Interval) (Point, bool, error)
}

// A Point is a size with its moments. Points with no size between them share these.
type Point struct {
	X              num.Interval    // the size
	Above          [4]num.Interval // E[X^j; X > x] for j = -1, 0, 1, 2
	Density, Slope num.Interval    // f(x) and f'(x), for a point from [Enclosure.Inside]
	Log            num.Interval    // ln x, for a point from [Enclosure.Inside]
}

// Part encloses E[X^j; a < X <= b] for j = -1, 0, 1, 2 and a <= b.
func (a Point) Part(j int, b Point) num.Interval {
	if a.Same(b) {
		return num.FromInt(0, a.Above[1].Prec())
	}
	return a.Above[j+1].Sub(b.Above[j+1])
}

// Tail encloses P(X > x).
func (a Point) Tail() num.Interval { return a.Above[1] }

// Same reports whether no size lies between two points. It compares their positions, since two
// intervals of the same value are not known to be equal.
func (a Point) Same(b Point) bool { return a.Above[1].Low == b.Above[1].Low }

// Mean encloses E[X].
func (e *Enclosure) Mean() num.Interval { return e.Low.Above[2] }

// At returns the point of a size x >= 0. A size at or below the support has the moments of the low
// end, and one at or above it those of the high end. The error is [ErrMoreBits] if the low end is
// computed from the mean and may be x, or [num.ErrRange].
func (e *Enclosure) At(x *big.Rat) (Point, error) {
	wide := num.FromRat(x, e.Prec)
	p := Point{}
	switch {
	case e.listed != nil:
		p = e.listed(x)
	case e.high != nil && x.Cmp(e.high) >= 0:
		p = e.High
	case e.low != nil && x.Cmp(e.low) <= 0, e.low == nil && wide.High.Cmp(e.Low.X.Low) <= 0:
		p = e.Low
	case e.low == nil && wide.Low.Cmp(e.Low.X.High) <= 0:
		return p, ErrMoreBits
	default:
		return e.at(wide)
	}
	p.X = wide
	return p, nil
}

// Inside returns the point of an interval inside the support of a distribution with a density,
// including the density and ln x.
func (e *Enclosure) Inside(x num.Interval) (Point, error) {
	if x.Sign() <= 0 {
		return Point{}, ErrMoreBits
	}
	if e.inside != nil {
		return e.inside(x)
	}
	p, err := e.at(x)
	if err == nil {
		p.Log, err = x.Log()
	}
	return p, err
}

// AtLog returns the point e^log up to rounding, without enclosures, for searches.
func (e *Enclosure) AtLog(log num.Interval) (Point, error) {
	x, err := log.Exp()
	if err != nil {
		return Point{}, err
	}
	if e.atLog != nil {
		return e.atLog(x.Point(), log)
	}
	return e.Inside(x.Point())
}

// WithWork returns the point x with E[X; X > x] = work up to rounding, without enclosures. It
// returns false if there is no such point, or no closed form.
func (e *Enclosure) WithWork(work num.Interval) (p Point, ok bool, err error) {
	if e.withWork == nil {
		return p, false, nil
	}
	return e.withWork(work)
}

// nothingAbove returns a point whose moments are all 0.
func nothingAbove(x num.Interval, prec uint) Point {
	p := Point{X: x}
	for j := range p.Above {
		p.Above[j] = num.FromInt(0, prec)
	}
	return p
}

// checkPositive rejects a fraction that is not above 0.
func checkPositive(path string, x *big.Rat) error {
	if x == nil || x.Sign() <= 0 {
		return input.Errorf(path, Text(x), "a number > 0")
	}
	return nil
}

// Text writes integers as such, other numbers to 17 digits.
func Text(x *big.Rat) string {
	switch {
	case x == nil:
		return "nil"
	case x.IsInt():
		return x.Num().String()
	}
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 17)
}

// ratio returns a/b.
func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// integer returns x as an integer. It returns false if x is not an integer or exceeds most.
func integer(x *big.Rat, most int64) (int64, bool) {
	if !x.IsInt() || new(big.Int).Abs(x.Num()).Cmp(big.NewInt(most)) > 0 {
		return 0, false
	}
	return x.Num().Int64(), true
}
