package exact

import (
	"context"
	"fmt"
	"math/big"

	"productform/num"
	"productform/sizes"
)

// A Pareto is the distribution with P(X > x) = (k/x)^α for x >= k.
type Pareto struct {
	Alpha *big.Rat // α > 2, since E[X²] must be finite
	Low   *big.Rat // k > 0
}

// Check checks the parameters; the error for α <= 2 wraps [sizes.ErrInfinite].
func (d Pareto) Check() error {
	if err := checkPositive("Alpha", d.Alpha); err != nil {
		return err
	}
	if d.Alpha.Cmp(ratio(2, 1)) <= 0 {
		return fmt.Errorf("E[X²] for alpha %s: %w", Text(d.Alpha), sizes.ErrInfinite)
	}
	return checkPositive("Low", d.Low)
}

// Enclose uses E[X^j; X > x] = α/(α-j) x^j (k/x)^α.
func (d Pareto) Enclose(_ context.Context, prec uint) (*Enclosure, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	alpha, low := num.FromRat(d.Alpha, prec), num.FromRat(d.Low, prec)
	var factors [4]num.Interval
	for i := range factors {
		less := new(big.Rat).Sub(d.Alpha, ratio(int64(i-1), 1))
		factors[i] = num.FromRat(less.Quo(d.Alpha, less), prec)
	}
	point := func(x, tail num.Interval) Point {
		p := Point{X: x, Density: alpha.Mul(tail).Quo(x)}
		p.Slope = alpha.Add(num.FromInt(1, prec)).Mul(p.Density).Quo(x).Neg()
		power := tail.Quo(x)
		for j := range p.Above {
			p.Above[j] = factors[j].Mul(power)
			power = power.Mul(x)
		}
		return p
	}
	e := &Enclosure{
		Prec:   prec,
		Smooth: true,
		low:    d.Low,
		Low:    point(low, num.FromInt(1, prec)),
		High:   nothingAbove(num.Interval{}, prec),
	}
	e.at = func(x num.Interval) (Point, error) {
		log, err := low.Quo(x).Log()
		if err != nil {
			return Point{}, err
		}
		tail, err := alpha.Mul(log).Exp()
		return point(x, tail), err
	}
	return e, nil
}

// Fractions returns fractions for an integer α.
func (d Pareto) Fractions(x *big.Rat) (work, tail *big.Rat) {
	alpha, ok := integer(d.Alpha, mostPower)
	if !ok {
		return nil, nil
	}
	if x.Cmp(d.Low) < 0 {
		x = d.Low
	}
	tail = inversePower(new(big.Rat).Quo(x, d.Low), alpha)
	work = new(big.Rat).Mul(x, tail)
	return work.Mul(work, ratio(alpha, alpha-1)), tail
}
