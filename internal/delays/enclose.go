package delays

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Enclose answers in big floats of prec bits, given lower and upper bounds on the values of the
// states except the root of the class lattice. Every computation runs twice, rounded down and
// rounded up: all numbers are >= 0, and nothing is subtracted. The error is a *[StepsError] or that
// of the context.
func Enclose(ctx context.Context, c *Chain, low, high []big.Float, prec uint, q Question) ([]Answer, error) {
	top, err := c.topRate(ctx, prec)
	if err != nil {
		return nil, err
	}
	e := &enclosure{c: c, prec: prec, unit: new(big.Rat).Quo(new(big.Rat).SetInt(c.problem.Scale), ratOf(top)),
		low:  newBounds(ctx, c, low, top, prec, big.ToNegativeInf, q),
		high: newBounds(ctx, c, high, top, prec, big.ToPositiveInf, q)}
	if err := e.forBothBounds(func(b *bounds) error { return b.enter() }); err != nil {
		return nil, err
	}
	if e.normal.Low, err = e.low.normalization(); err != nil {
		return nil, err
	}
	if e.normal.High, err = e.high.normalization(); err != nil {
		return nil, err
	}
	if err := e.runSteps(q); err != nil {
		return nil, err
	}
	answers := make([]Answer, len(c.marks))
	for i := range answers {
		for _, p := range q.Tails {
			x, err := e.quantile(i, p)
			if err != nil {
				return nil, err
			}
			answers[i].Quantiles = append(answers[i].Quantiles, x)
		}
		for _, t := range q.Times[i] {
			m := num.FromRat(new(big.Rat).Quo(t, e.unit), prec)
			low, err := e.low.tail(i, m.High, e.normal.High)
			if err != nil {
				return nil, err
			}
			high, err := e.high.tail(i, m.Low, e.normal.Low)
			if err != nil {
				return nil, err
			}
			answers[i].Tails = append(answers[i].Tails, num.Interval{Low: low, High: high})
		}
	}
	return answers, nil
}

func ratOf(x *big.Float) *big.Rat { r, _ := x.Rat(nil); return r }

// topRate returns q, at least every d, and an eighth above them if they are computed from shares.
// The error is the context's.
func (c *Chain) topRate(ctx context.Context, prec uint) (*big.Float, error) {
	stop := recursion.Cancellation{Ctx: ctx}
	q := num.Up(prec)
	var buf big.Int
	for k := 1; k <= c.top; k++ {
		if err := stop.After(recursion.BigSteps); err != nil {
			return nil, err
		}
		d := num.Up(prec)
		if c.Shares != nil {
			d.Set(&c.Big[k])
		} else {
			d.SetInt(c.Den.At(k, &buf))
		}
		if d.Cmp(q) > 0 {
			q = d
		}
	}
	if c.Shares != nil {
		q.Mul(q, big.NewFloat(1.125))
	}
	return q, nil
}

// An enclosure is a chain between bounds.
type enclosure struct {
	c         *Chain
	prec      uint
	unit      *big.Rat // 1/q, in units of time of the model
	low, high *bounds
	normal    num.Interval // Z
	near      []Survival   // approximate distribution for each class
}

// forBothBounds calls do for both bounds, in parallel.
func (e *enclosure) forBothBounds(do func(b *bounds) error) error {
	return recursion.Both(func() error { return do(e.low) }, func() error { return do(e.high) })
}

// deviations returns the approximate distance, in standard deviations, of a Poisson tail below
// 2^-prec.
func (e *enclosure) deviations() float64 { return 1.2*math.Sqrt(float64(e.prec)) + 4 }

// check rejects n steps of either bound if they are too many.
func (e *enclosure) check(n float64) error {
	return e.c.check(n, 2*recursion.BigSteps*e.low.perStep, 2*(80+float64(e.prec)/4))
}

// runSteps takes as many steps as the question needs.
func (e *enclosure) runSteps(q Question) error {
	least, latest := q.Extremes(e.unit)
	forTimes := latest + e.deviations()*math.Sqrt(latest) + 4*e.deviations()
	if err := e.check(max(firstSteps, forTimes)); err != nil {
		return err
	}
	for steps := firstSteps; ; {
		if err := e.forBothBounds(func(b *bounds) error { return b.extendTo(steps) }); err != nil {
			return err
		}
		want := 0.0
		e.near = make([]Survival, len(e.c.marks))
		for i := range e.c.marks {
			if !q.asks(i) {
				continue
			}
			s, err := e.low.approximate(i, e.normal.Low)
			if err != nil {
				return err
			}
			s.deviations = e.deviations()
			e.near[i] = s
			want = max(want, s.Wanted(least, 0), forTimes)
		}
		if want <= float64(steps) {
			return nil
		}
		if err := e.check(want); err != nil {
			return err
		}
		steps = NextSteps(steps, want)
	}
}

// quantile encloses the time at which P(T_i > t) is p. Newton's method, with the slope in float64,
// finds a time near it, which is then moved in both directions until the bounds on the tail are
// past p.
func (e *enclosure) quantile(i int, p *big.Rat) (num.Interval, error) {
	target := num.FromRat(p, e.prec)
	about, _ := p.Float64()
	m, slope := e.near[i].solveTail(about)
	x := new(big.Float).SetPrec(e.prec).SetFloat64(m)
	perSlope := new(big.Float).SetFloat64(1 / slope)
	move, last := new(big.Float).SetPrec(e.prec), math.MaxInt
	for { // each step gains digits, until all are correct
		high, err := e.high.tail(i, x, e.normal.Low)
		if err != nil {
			return num.Interval{}, err
		}
		move.Sub(high, target.High)
		move.Mul(move, perSlope)
		if x.Add(x, move); x.Sign() < 0 {
			x.SetInt64(0)
		}
		if move.Sign() == 0 || arithmetic.Exponent(move) >= last {
			break
		}
		last = arithmetic.Exponent(move)
	}
	// The tail is known within its width, so the time is known within width/slope.
	low, err := e.low.tail(i, x, e.normal.High)
	if err != nil {
		return num.Interval{}, err
	}
	high, err := e.high.tail(i, x, e.normal.Low)
	if err != nil {
		return num.Interval{}, err
	}
	width := new(big.Float).SetPrec(e.prec).Sub(high, low)
	width.Mul(width, perSlope)
	width.Abs(width).Add(width, new(big.Float).SetMantExp(x, 4-int(e.prec)))
	a, err := e.findBracket(x, width, true, func(m *big.Float) (bool, error) {
		low, err := e.low.tail(i, m, e.normal.High)
		return err == nil && low.Cmp(target.High) > 0, err
	})
	if err != nil {
		return num.Interval{}, err
	}
	b, err := e.findBracket(x, width, false, func(m *big.Float) (bool, error) {
		high, err := e.high.tail(i, m, e.normal.Low)
		return err == nil && high.Cmp(target.Low) < 0, err
	})
	if err != nil {
		return num.Interval{}, err
	}
	if a == nil || b == nil { // too few bits
		return num.Interval{Low: new(big.Float), High: new(big.Float).SetInf(false)}, nil
	}
	return num.Interval{
		Low:  num.Down(e.prec).SetRat(new(big.Rat).Mul(ratOf(a), e.unit)),
		High: num.Up(e.prec).SetRat(new(big.Rat).Mul(ratOf(b), e.unit))}, nil
}

// findBracket returns a time before or after x for which good holds, at a distance of at least
// width from x, or nil.
func (e *enclosure) findBracket(
	x, width *big.Float, before bool, good func(m *big.Float) (bool, error),
) (*big.Float, error) {
	d := new(big.Float).SetPrec(e.prec).Set(width)
	for range e.prec {
		m := new(big.Float).SetPrec(e.prec)
		if before {
			m.Sub(x, d)
		} else {
			m.Add(x, d)
		}
		if m.Sign() <= 0 {
			return m.SetInt64(0), nil // there is no time before 0
		}
		switch ok, err := good(m); {
		case err != nil:
			return nil, err
		case ok:
			return m, nil
		case m.Cmp(big.NewFloat(float64(len(e.near[0].A)))) > 0:
			return nil, nil
		}
		d.Mul(d, big.NewFloat(2))
	}
	return nil, nil
}
