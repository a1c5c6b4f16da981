package tags

import (
	"math/big"

	"productform/num"
)

// A bigLaw is the law of an [ExactModel] to a number of bits.
type bigLaw struct {
	prec        uint
	alpha       *big.Rat
	exactLow    *big.Rat // nil if k follows from the mean
	exactHigh   *big.Rat
	a           num.Interval    // α
	aLess1      num.Interval    // α - 1
	aPlus1      num.Interval    // α + 1
	coefficient [4]num.Interval // α/(j-α) for j = -1, 0, 1, 2; α where j = α
	low, high   bigPoint        // k, p
	mass        num.Interval    // k^-α - p^-α
}

// A bigPoint is a size x with the powers that all partial moments need.
type bigPoint struct {
	x, log num.Interval
	power  [4]num.Interval // x^(j-α) for j = -1, 0, 1, 2
	tail   num.Interval    // P(X > x)
}

func (m ExactModel) law(prec uint) (bigLaw, error) {
	l := bigLaw{prec: prec, alpha: m.Alpha, exactLow: m.Low, exactHigh: m.High, a: num.FromRat(m.Alpha, prec)}
	for i := range l.coefficient {
		c := new(big.Rat).Sub(big.NewRat(int64(i-1), 1), m.Alpha)
		if c.Sign() == 0 {
			c.SetInt64(1)
		}
		l.coefficient[i] = num.FromRat(c.Quo(m.Alpha, c), prec)
	}
	one := big.NewRat(1, 1)
	l.aLess1 = num.FromRat(new(big.Rat).Sub(m.Alpha, one), prec)
	l.aPlus1 = num.FromRat(one.Add(one, m.Alpha), prec)
	var err error
	if l.high, err = l.powers(num.FromRat(m.High, prec)); err != nil {
		return bigLaw{}, err
	}
	if m.Low != nil {
		err = l.setLow(num.FromRat(m.Low, prec))
	} else {
		err = l.solveLow(m.Mean)
	}
	return l, err
}

// setLow completes l for the given k.
func (l *bigLaw) setLow(k num.Interval) error {
	var err error
	if l.low, err = l.powers(k); err != nil {
		return err
	}
	if l.mass = l.low.power[1].Sub(l.high.power[1]); l.mass.Sign() <= 0 {
		return errUndecided
	}
	l.low.tail, l.high.tail = num.FromInt(1, l.prec), num.FromInt(0, l.prec)
	return nil
}

// powers returns the point x without its tail, from a logarithm and an exponential.
func (l *bigLaw) powers(x num.Interval) (bigPoint, error) {
	log, err := x.Log()
	if err != nil {
		return bigPoint{}, err
	}
	q, err := l.a.Mul(log).Neg().Exp()
	if err != nil {
		return bigPoint{}, err
	}
	return l.raise(x, log, q), nil
}

// raise returns the point x with its powers, given q = x^-α.
func (l *bigLaw) raise(x, log, q num.Interval) bigPoint {
	xq := x.Mul(q)
	return bigPoint{x: x, log: log, power: [4]num.Interval{q.Quo(x), q, xq, x.Mul(xq)}}
}

// at returns the point x in (k, p).
func (l *bigLaw) at(x num.Interval) (bigPoint, error) {
	b, err := l.powers(x)
	if err != nil {
		return bigPoint{}, err
	}
	b.tail = l.part(0, b, l.high)
	return b, nil
}

// part returns E[X^j; a < X <= b] for j = -1, 0, 1, 2, which is
//
//	α/(j-α) (b^(j-α) - a^(j-α))/(k^-α - p^-α),  and α ln(b/a)/(k^-α - p^-α) if j = α.
//
// What cancels when a is near b, or j near α, is paid with bits.
func (l *bigLaw) part(j int, a, b bigPoint) num.Interval {
	if l.isAlpha(j) {
		return l.a.Mul(b.log.Sub(a.log)).Quo(l.mass)
	}
	return l.coefficient[j+1].Mul(b.power[j+1].Sub(a.power[j+1])).Quo(l.mass)
}

func (l *bigLaw) isAlpha(j int) bool {
	return l.alpha.IsInt() && l.alpha.Num().Cmp(big.NewInt(int64(j))) == 0
}

// anyPart returns E[X^order; a < X <= b] for any real order.
func (l *bigLaw) anyPart(order *big.Rat, a, b bigPoint) (num.Interval, error) {
	if order.IsInt() && order.Num().IsInt64() {
		if j := order.Num().Int64(); j >= -1 && j <= 2 {
			return l.part(int(j), a, b), nil
		}
	}
	excess := new(big.Rat).Sub(order, l.alpha)
	if excess.Sign() == 0 {
		return l.a.Mul(b.log.Sub(a.log)).Quo(l.mass), nil
	}
	e := num.FromRat(excess, l.prec)
	upper, err := e.Mul(b.log).Exp()
	if err != nil {
		return num.Interval{}, err
	}
	lower, err := e.Mul(a.log).Exp()
	if err != nil {
		return num.Interval{}, err
	}
	return l.a.Mul(upper.Sub(lower)).Quo(e.Mul(l.mass)), nil
}

// density returns f(x).
func (l *bigLaw) density(b bigPoint) num.Interval { return l.a.Mul(b.power[0]).Quo(l.mass) }

// clip returns the points a = max(low, k) and b = min(high, p), and false if a >= b. Where k is known by its ends only,
// the greater of it and x has for ends the greater of their lower and that of their upper ends.
func (l *bigLaw) clip(low, high *big.Rat) (a, b bigPoint, ok bool, err error) {
	if low.Cmp(high) >= 0 || low.Cmp(l.exactHigh) >= 0 {
		return a, b, false, nil
	}
	a, b = l.low, l.high
	if x := num.FromRat(low, l.prec); l.exactLow != nil && low.Cmp(l.exactLow) > 0 {
		a, err = l.powers(x)
	} else if l.exactLow == nil && x.High.Cmp(l.low.x.Low) > 0 {
		a, err = l.powers(x.Max(l.low.x))
	}
	if err != nil || high.Cmp(l.exactHigh) >= 0 {
		return a, b, true, err
	}
	x := num.FromRat(high, l.prec)
	if l.exactLow != nil && high.Cmp(l.exactLow) <= 0 || l.exactLow == nil && x.High.Cmp(l.low.x.Low) <= 0 {
		return a, b, false, nil
	}
	if l.exactLow == nil {
		x = x.Max(l.low.x)
	}
	b, err = l.powers(x)
	return a, b, true, err
}
