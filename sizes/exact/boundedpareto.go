package exact

import (
	"context"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A BoundedPareto has the density
//
//	f(x) = α x^(-α-1)/(k^-α - p^-α),  k <= x <= p.
//
// One of Low and Mean is given and the other nil.
type BoundedPareto struct {
	Alpha *big.Rat // α > 0
	High  *big.Rat // p > 0
	Low   *big.Rat // k in (0, p)
	Mean  *big.Rat // E[X] in (0, p)
}

// Check checks the parameters.
func (d BoundedPareto) Check() error {
	if err := checkPositive("Alpha", d.Alpha); err != nil {
		return err
	}
	if err := checkPositive("High", d.High); err != nil {
		return err
	}
	switch {
	case d.Low == nil && d.Mean == nil:
		return input.Errorf("Low", "nil", "a number in (0, High), or Mean in its place")
	case d.Low != nil && d.Mean != nil:
		return input.Errorf("Mean", Text(d.Mean), "nil, since Low is given")
	case d.Low != nil && (d.Low.Sign() <= 0 || d.Low.Cmp(d.High) >= 0):
		return input.Errorf("Low", Text(d.Low), "a number in (0, High = %s)", Text(d.High))
	case d.Mean != nil && (d.Mean.Sign() <= 0 || d.Mean.Cmp(d.High) >= 0):
		return input.Errorf("Mean", Text(d.Mean), "a number in (0, High = %s)", Text(d.High))
	}
	return nil
}

// Enclose takes one logarithm and one exponential per point.
func (d BoundedPareto) Enclose(_ context.Context, prec uint) (*Enclosure, error) {
	l, err := d.toBits(prec)
	if err != nil {
		return nil, err
	}
	e := &Enclosure{Prec: prec, Smooth: true, low: d.Low, high: d.High, High: nothingAbove(l.high.x, prec)}
	point := func(b powers) Point {
		p := Point{X: b.x}
		for j := range p.Above {
			p.Above[j] = l.part(j-1, b, l.high)
		}
		return p
	}
	e.Low = Point{X: l.low.x, Above: [4]num.Interval{1: num.FromInt(1, prec)}}
	if d.Mean != nil {
		e.Low.Above[2] = num.FromRat(d.Mean, prec)
	}
	for j := range e.Low.Above {
		if e.Low.Above[j].Low == nil {
			e.Low.Above[j] = l.part(j-1, l.low, l.high)
		}
	}
	e.at = func(x num.Interval) (Point, error) {
		b, err := l.powersOf(x)
		if err != nil {
			return Point{}, err
		}
		return point(b), nil
	}
	inside := func(b powers) Point {
		p := point(b)
		p.Log, p.Density = b.log, l.density(b)
		p.Slope = l.aPlus1.Mul(p.Density).Quo(b.x).Neg()
		return p
	}
	e.inside = func(x num.Interval) (Point, error) {
		b, err := l.powersOf(x)
		if err != nil {
			return Point{}, err
		}
		return inside(b), nil
	}
	e.atLog = func(x, log num.Interval) (Point, error) {
		q, err := l.a.Mul(log).Neg().Exp()
		if err != nil {
			return Point{}, err
		}
		return inside(l.raise(x, log, q.Point())), nil
	}
	e.withWork = func(work num.Interval) (Point, bool, error) {
		b, ok, err := l.powersWithWork(work)
		if !ok || err != nil {
			return Point{}, false, err
		}
		return inside(b), true, nil
	}
	return e, nil
}

// powersWithWork returns the point x with E[X; X > x] = work, up to rounding: by the formula of
// part,
//
//	x^(1-α) = p^(1-α) - (1-α)/α (k^-α - p^-α) work,  and ln x = ln p - (1/k - 1/p) work if α = 1.
func (l *boundedPareto) powersWithWork(work num.Interval) (b powers, ok bool, err error) {
	power, log := num.FromInt(1, l.prec), l.high.log.Sub(work.Mul(l.mass)).Point()
	if !l.isAlpha(1) {
		power = l.high.power[2].Sub(work.Mul(l.mass).Quo(l.coefficient[2])).Point()
		if power.Sign() <= 0 {
			return b, false, nil
		}
		if log, err = power.Log(); err != nil {
			return b, false, err
		}
		log = log.Quo(l.aLess1).Neg().Point()
	}
	x, err := log.Exp()
	if err != nil {
		return b, false, err
	}
	x = x.Point()
	return l.raise(x, log, power.Quo(x).Point()), true, nil
}

// mostPower is the largest α for which loads are computed as fractions.
const mostPower = 64

// Fractions returns fractions for an integer α > 1 and a rational k: with c the constant of the
// density,
//
//	E[X; X > x] = c (x^(1-α) - p^(1-α))/(α-1),  P(X > x) = c (x^-α - p^-α)/α.
func (d BoundedPareto) Fractions(x *big.Rat) (work, tail *big.Rat) {
	alpha, ok := integer(d.Alpha, mostPower)
	low := d.Low
	if ok && low == nil && alpha == 2 { // E[X] = 2k/(1 + k/p)
		low = new(big.Rat).Sub(ratio(2, 1), new(big.Rat).Quo(d.Mean, d.High))
		low.Quo(d.Mean, low)
	}
	if !ok || alpha <= 1 || low == nil {
		return nil, nil
	}
	switch {
	case x.Cmp(low) < 0:
		x = low
	case x.Cmp(d.High) > 0:
		x = d.High
	}
	above := func(x *big.Rat, n int64) *big.Rat { // (x^-n - p^-n)/n
		v := new(big.Rat).Sub(inversePower(x, n), inversePower(d.High, n))
		return v.Quo(v, ratio(n, 1))
	}
	all := above(low, alpha) // 1/c
	work, tail = above(x, alpha-1), above(x, alpha)
	return work.Quo(work, all), tail.Quo(tail, all)
}

// inversePower returns x^-n.
func inversePower(x *big.Rat, n int64) *big.Rat {
	e := big.NewInt(n)
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Denom(), e, nil), new(big.Int).Exp(x.Num(), e, nil))
}

// A boundedPareto is a [BoundedPareto] with a given number of bits.
type boundedPareto struct {
	prec        uint
	alpha       *big.Rat
	exactLow    *big.Rat // nil if k is computed from the mean
	exactHigh   *big.Rat
	a           num.Interval    // α
	aLess1      num.Interval    // α - 1
	aPlus1      num.Interval    // α + 1
	coefficient [4]num.Interval // α/(j-α) for j = -1, 0, 1, 2; α where j = α
	low, high   powers          // k, p
	mass        num.Interval    // k^-α - p^-α
}

// powers holds a size x with the powers that all partial moments need.
type powers struct {
	x, log num.Interval
	power  [4]num.Interval // x^(j-α) for j = -1, 0, 1, 2
}

func (d BoundedPareto) toBits(prec uint) (boundedPareto, error) {
	l := boundedPareto{prec: prec, alpha: d.Alpha, exactLow: d.Low, exactHigh: d.High, a: num.FromRat(d.Alpha, prec)}
	for i := range l.coefficient {
		c := new(big.Rat).Sub(big.NewRat(int64(i-1), 1), d.Alpha)
		if c.Sign() == 0 {
			c.SetInt64(1)
		}
		l.coefficient[i] = num.FromRat(c.Quo(d.Alpha, c), prec)
	}
	one := big.NewRat(1, 1)
	l.aLess1 = num.FromRat(new(big.Rat).Sub(d.Alpha, one), prec)
	l.aPlus1 = num.FromRat(one.Add(one, d.Alpha), prec)
	var err error
	if l.high, err = l.powersOf(num.FromRat(d.High, prec)); err != nil {
		return boundedPareto{}, err
	}
	if d.Low != nil {
		err = l.setLow(num.FromRat(d.Low, prec))
	} else {
		err = l.solveLow(d.Mean)
	}
	return l, err
}

// setLow completes l for a given k.
func (l *boundedPareto) setLow(k num.Interval) error {
	var err error
	if l.low, err = l.powersOf(k); err != nil {
		return err
	}
	if l.mass = l.low.power[1].Sub(l.high.power[1]); l.mass.Sign() <= 0 {
		return ErrMoreBits
	}
	return nil
}

// powersOf returns the point x without its tail, from one logarithm and one exponential.
func (l *boundedPareto) powersOf(x num.Interval) (powers, error) {
	log, err := x.Log()
	if err != nil {
		return powers{}, err
	}
	q, err := l.a.Mul(log).Neg().Exp()
	if err != nil {
		return powers{}, err
	}
	return l.raise(x, log, q), nil
}

// raise returns the point x with its powers, given q = x^-α.
func (l *boundedPareto) raise(x, log, q num.Interval) powers {
	xq := x.Mul(q)
	return powers{x: x, log: log, power: [4]num.Interval{q.Quo(x), q, xq, x.Mul(xq)}}
}

// part returns E[X^j; a < X <= b] for j = -1, 0, 1, 2, which is
//
//	α/(j-α) (b^(j-α) - a^(j-α))/(k^-α - p^-α),  and α ln(b/a)/(k^-α - p^-α) if j = α.
//
// If a is near b, or j near α, cancellation costs bits.
func (l *boundedPareto) part(j int, a, b powers) num.Interval {
	if l.isAlpha(j) {
		return l.a.Mul(b.log.Sub(a.log)).Quo(l.mass)
	}
	return l.coefficient[j+1].Mul(b.power[j+1].Sub(a.power[j+1])).Quo(l.mass)
}

func (l *boundedPareto) isAlpha(j int) bool {
	return l.alpha.IsInt() && l.alpha.Num().Cmp(big.NewInt(int64(j))) == 0
}

// anyPart returns E[X^order; a < X <= b] for any real order.
func (l *boundedPareto) anyPart(order *big.Rat, a, b powers) (num.Interval, error) {
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
func (l *boundedPareto) density(b powers) num.Interval { return l.a.Mul(b.power[0]).Quo(l.mass) }

// clip returns the points a = max(low, k) and b = min(high, p), and false if a >= b. If only bounds
// on k are known, the ends of max(k, x) are the larger of the lower ends and the larger of the
// upper ends.
func (l *boundedPareto) clip(low, high *big.Rat) (a, b powers, ok bool, err error) {
	if low.Cmp(high) >= 0 || low.Cmp(l.exactHigh) >= 0 {
		return a, b, false, nil
	}
	a, b = l.low, l.high
	if x := num.FromRat(low, l.prec); l.exactLow != nil && low.Cmp(l.exactLow) > 0 {
		a, err = l.powersOf(x)
	} else if l.exactLow == nil && x.High.Cmp(l.low.x.Low) > 0 {
		a, err = l.powersOf(x.Max(l.low.x))
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
	b, err = l.powersOf(x)
	return a, b, true, err
}
