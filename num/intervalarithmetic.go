package num

import (
	"math"
	"math/big"
)

// The operations on intervals round Low down and High up to the precision of the first operand. The
// result contains the results of the same operation on all numbers in the operands, so everything
// computed only from intervals is proved. This holds within the exponents of big.Float: beyond
// 2^±(2^31) it returns 0 or infinity, whatever the direction.

// Down returns a big.Float of prec bits that rounds down.
func Down(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }

// Up returns a big.Float of prec bits that rounds up.
func Up(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

// FromInt encloses n.
func FromInt(n int64, prec uint) Interval {
	return Interval{Down(prec).SetInt64(n), Up(prec).SetInt64(n)}
}

// FromFloat64 encloses x, which is finite.
func FromFloat64(x float64, prec uint) Interval {
	return Interval{Down(prec).SetFloat64(x), Up(prec).SetFloat64(x)}
}

// FromBig encloses x.
func FromBig(x *big.Float, prec uint) Interval { return Interval{Down(prec).Set(x), Up(prec).Set(x)} }

// Prec returns the number of bits of Low, to which operations round.
func (a Interval) Prec() uint { return a.Low.Prec() }

// Sign returns the sign of all numbers in a, and 0 if a contains 0.
func (a Interval) Sign() int {
	switch {
	case a.Low.Sign() > 0:
		return 1
	case a.High.Sign() < 0:
		return -1
	}
	return 0
}

// Middle returns a number of a near its middle.
func (a Interval) Middle() *big.Float {
	m := new(big.Float).SetPrec(a.Prec()).Add(a.Low, a.High)
	return m.SetMantExp(m, -1)
}

// Approx returns a double near the middle of a, or 0 or an infinity if none is near.
func (a Interval) Approx() float64 { f, _ := a.Middle().Float64(); return f }

// Point returns the interval of one number, that of Middle.
func (a Interval) Point() Interval { return FromBig(a.Middle(), a.Prec()) }

// Abs returns the largest absolute value in a, rounded up.
func (a Interval) Abs() *big.Float {
	return Up(a.Prec()).Set(larger(new(big.Float).Abs(a.Low), new(big.Float).Abs(a.High)))
}

// Inside reports whether a lies in b without touching its ends.
func (a Interval) Inside(b Interval) bool { return a.Low.Cmp(b.Low) > 0 && a.High.Cmp(b.High) < 0 }

// Neg encloses -a. The sign changes first, which is exact: big.Float.Neg would round first, in the
// wrong direction.
func (a Interval) Neg() Interval {
	return Interval{Down(a.Prec()).Set(new(big.Float).Neg(a.High)), Up(a.Prec()).Set(new(big.Float).Neg(a.Low))}
}

// Add encloses a + b.
func (a Interval) Add(b Interval) Interval {
	return Interval{add(Down(a.Prec()), a.Low, b.Low), add(Up(a.Prec()), a.High, b.High)}
}

// Sub encloses a - b. It adds -b because big.Float.Sub treats 0 - y as a Neg.
func (a Interval) Sub(b Interval) Interval {
	return Interval{
		add(Down(a.Prec()), a.Low, new(big.Float).Neg(b.High)), add(Up(a.Prec()), a.High, new(big.Float).Neg(b.Low)),
	}
}

// add sets z to x + y, rounded down or up as z is. big.Float.Add would store all bits between the
// two, which may be millions. But a number far below the last bit of the other, and below the last
// place of z, only determines the direction of rounding, and any other number as small has the same
// effect. To see this, let x have exponent e and p be the greater of the precisions of x and z.
// Then all x + d for 0 < |d| <= 2^(e-p-3) of one sign lie strictly between two neighbours of p + 1
// bits, of which x is one.
func add(z, x, y *big.Float) *big.Float {
	if x.Sign() != 0 && y.Sign() != 0 {
		if x.MantExp(nil) < y.MantExp(nil) {
			x, y = y, x
		}
		if last := x.MantExp(nil) - int(max(x.Prec(), z.Prec())) - 2; y.MantExp(nil) < last {
			y = new(big.Float).SetMantExp(big.NewFloat(float64(y.Sign())/2), last)
		}
	}
	return z.Add(x, y)
}

// Mul encloses a b.
func (a Interval) Mul(b Interval) Interval {
	prec := a.Prec()
	switch {
	case a.Low.Sign() >= 0:
		low, high := a.Low, a.High
		if b.Low.Sign() < 0 {
			low = a.High
		}
		if b.High.Sign() < 0 {
			high = a.Low
		}
		return Interval{Down(prec).Mul(low, b.Low), Up(prec).Mul(high, b.High)}
	case a.High.Sign() <= 0:
		return a.Neg().Mul(b).Neg()
	case b.Low.Sign() >= 0:
		return Interval{Down(prec).Mul(a.Low, b.High), Up(prec).Mul(a.High, b.High)}
	case b.High.Sign() <= 0:
		return a.Mul(b.Neg()).Neg()
	}
	// both contain 0 in their interior
	low, low2 := Down(prec).Mul(a.Low, b.High), Down(prec).Mul(a.High, b.Low)
	if low2.Cmp(low) < 0 {
		low = low2
	}
	high, high2 := Up(prec).Mul(a.Low, b.Low), Up(prec).Mul(a.High, b.High)
	if high2.Cmp(high) > 0 {
		high = high2
	}
	return Interval{low, high}
}

// Square encloses a².
func (a Interval) Square() Interval {
	if a.Sign() == 0 { // a times a, as if they were independent, would extend below 0
		s := a.Abs()
		return Interval{Down(a.Prec()), s.Mul(s, s)}
	}
	return a.Mul(a)
}

// Quo encloses a/b. It panics if b contains 0.
func (a Interval) Quo(b Interval) Interval {
	switch b.Sign() {
	case 0:
		panic("num: division by an interval that contains 0")
	case -1:
		return a.Neg().Quo(b.Neg())
	}
	low, high := b.High, b.Low // divisors that round the quotient of a positive number down and up
	if a.Low.Sign() < 0 {
		low = b.Low
	}
	if a.High.Sign() < 0 {
		high = b.High
	}
	return Interval{Down(a.Prec()).Quo(a.Low, low), Up(a.Prec()).Quo(a.High, high)}
}

// Sqrt encloses the square root of a, whose Low must be at least 0.
func (a Interval) Sqrt() Interval {
	low, high := Down(a.Prec()).Set(sqrt(a.Low, a.Prec(), big.ToNegativeInf)), sqrt(a.High, a.Prec(), big.ToPositiveInf)
	if low.Sign() < 0 {
		low.SetInt64(0)
	}
	return Interval{low, high}
}

// sqrt returns the square root of x >= 0, which big.Float rounds to nearest whatever the mode,
// moved in the direction of mode by more than its error.
func sqrt(x *big.Float, prec uint, mode big.RoundingMode) *big.Float {
	z := new(big.Float).SetPrec(prec).SetMode(mode)
	if x.Sign() == 0 {
		return z
	}
	root := new(big.Float).SetPrec(prec).Sqrt(x)
	more := new(big.Float).SetMantExp(big.NewFloat(1), root.MantExp(nil)-int(prec)+2)
	if mode == big.ToNegativeInf {
		more.Neg(more)
	}
	return z.Add(root, more)
}

// Scale2 encloses 2^n a.
func (a Interval) Scale2(n int) Interval {
	return Interval{Down(a.Prec()).SetMantExp(a.Low, n), Up(a.Prec()).SetMantExp(a.High, n)}
}

// MaxLog bounds |ln x| of the operands of [Interval.Log] and [Interval.Exp]. The exponents of
// big.Float go to 2^31 ln 2 = 1.5e9, so products and quotients of seven such powers stay in range.
const MaxLog = 2e8

// Log encloses ln a from one logarithm, as ln High <= ln Low + (High - Low)/Low. The error is that
// of [LogInterval], an *[InputError] unless Low is positive, or [ErrRange] if ln Low is beyond
// ±2e8.
func (a Interval) Log() (Interval, error) {
	prec := a.Prec()
	if math.Abs(float64(a.Low.MantExp(nil)))*math.Ln2 > MaxLog {
		return Interval{}, ErrRange
	}
	e, err := LogInterval(a.Low, prec)
	if err != nil {
		return Interval{}, err
	}
	gap := Up(prec).Sub(a.High, a.Low)
	gap.Quo(gap, a.Low)
	return Interval{Down(prec).Set(e.Low), Up(prec).Add(e.High, gap)}, nil
}

// Exp encloses e^a: from one exponential if High - Low = d <= 1, since e^d <= 1 + 2d, and otherwise
// from two. The error is [ErrRange] beyond e^±2e8.
func (a Interval) Exp() (Interval, error) {
	prec := a.Prec()
	if a.Abs().Cmp(big.NewFloat(MaxLog)) > 0 {
		return Interval{}, ErrRange
	}
	low, err := ExpInterval(a.Low, prec)
	if err != nil {
		return Interval{}, err
	}
	gap := Up(prec).Sub(a.High, a.Low)
	if gap.Cmp(big.NewFloat(1)) > 0 {
		high, err := ExpInterval(a.High, prec)
		return Interval{Down(prec).Set(low.Low), Up(prec).Set(high.High)}, err
	}
	gap.SetMantExp(gap, 1)
	gap.Add(gap, big.NewFloat(1))
	return Interval{Down(prec).Set(low.Low), gap.Mul(gap, low.High)}, nil
}

// Max encloses the larger of a and b.
func (a Interval) Max(b Interval) Interval {
	return Interval{larger(a.Low, b.Low), larger(a.High, b.High)}
}

// Both returns the intersection of a and b, which encloses a number that lies in each of them.
func (a Interval) Both(b Interval) Interval {
	high := a.High
	if b.High.Cmp(high) < 0 {
		high = b.High
	}
	return Interval{larger(a.Low, b.Low), high}
}

func larger(x, y *big.Float) *big.Float {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}
