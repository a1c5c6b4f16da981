package exact

import (
	"errors"
	"math"
	"math/big"

	"productform/num"
)

// solveLow completes l for the k that gives the mean; see [BoundedPareto.LowEnd]. With l = ln(p/k),
//
//	E[X]/p = N/D,  N = (1 - e^(-(1-α)l))/(1-α), l if α = 1,  D = (e^(αl) - 1)/α,
//	d ln E[X]/dl = e^(-(1-α)l)/N - e^(αl)/D.
//
// The proof tries wider and wider brackets around the result of Newton's method.
func (l *boundedPareto) solveLow(mean *big.Rat) error {
	ratio := num.FromRat(new(big.Rat).Quo(mean, l.exactHigh), l.prec)
	start, err := roughLog(l.alpha, ratio)
	if err != nil {
		return err
	}
	one := num.FromInt(1, l.prec)
	x := num.FromFloat64(start, l.prec)
	for range 60 {
		d, err := l.a.Mul(x).Exp()
		if err != nil {
			return err
		}
		n, err := l.aLess1.Mul(x).Exp()
		if err != nil {
			return err
		}
		slopeN, slopeD := n, d
		if n = x; !l.isAlpha(1) {
			n = one.Sub(slopeN).Mul(l.coefficient[2]).Quo(l.a)
		}
		d = d.Sub(one).Quo(l.a)
		if n.Sign() <= 0 || d.Sign() <= 0 {
			return ErrMoreBits
		}
		f := n.Quo(d)
		slope := f.Mul(slopeN.Quo(n).Sub(slopeD.Quo(d)))
		if slope.Sign() == 0 {
			return ErrMoreBits
		}
		step := f.Sub(ratio).Quo(slope).Point()
		if x = x.Sub(step).Point(); x.Sign() <= 0 {
			return ErrMoreBits
		}
		if step.Sign() == 0 || x.Low.MantExp(nil)-step.Low.MantExp(nil) > int(l.prec)*9/16 {
			break
		}
	}
	k, err := x.Neg().Exp()
	if err != nil {
		return err
	}
	k = k.Mul(l.high.x).Point()
	want := num.FromRat(mean, l.prec)
	for bits := int(l.prec) - 16; bits > 16; bits -= 16 {
		around := num.Interval{
			Low:  num.Down(l.prec).Sub(k.Low, new(big.Float).SetMantExp(k.Low, -bits)),
			High: num.Up(l.prec).Add(k.High, new(big.Float).SetMantExp(k.High, -bits)),
		}
		switch proved, err := l.brackets(around, want); {
		case err != nil && !errors.Is(err, ErrMoreBits):
			return err
		case proved:
			return l.setLow(around)
		}
	}
	return ErrMoreBits
}

// brackets reports whether E[X] is proved to be below want at the lower end of k and above it at
// the upper end.
func (l *boundedPareto) brackets(k, want num.Interval) (bool, error) {
	for _, end := range []*big.Float{k.Low, k.High} {
		if err := l.setLow(num.FromBig(end, l.prec)); err != nil {
			return false, err
		}
		mean := l.part(1, l.low, l.high)
		if end == k.Low && mean.High.Cmp(want.Low) >= 0 || end == k.High && mean.Low.Cmp(want.High) <= 0 {
			return false, nil
		}
	}
	return true, nil
}

// roughLog returns ln(p/k) in doubles, given α and E[X]/p, by bisection of ln(p/E[X]), which rises
// with it:
//
//	ln(p/E[X]) = l/2 + ln S(αl/2) - ln S(|1-α|l/2),  S(y) = sinh(y)/y.
func roughLog(alpha *big.Rat, ratio num.Interval) (float64, error) {
	log, err := ratio.Log()
	if err != nil {
		return 0, err
	}
	want := -log.Approx()
	a, _ := alpha.Float64()
	rest, _ := new(big.Rat).Sub(alpha, big.NewRat(1, 1)).Float64()
	low, high := math.Log(1e-300), math.Log(num.MaxLog)
	for range 100 {
		mid := (low + high) / 2
		if l := math.Exp(mid); l/2+logSinhRatio(a*l/2)-logSinhRatio(math.Abs(rest)*l/2) < want {
			low = mid
		} else {
			high = mid
		}
	}
	if high == math.Log(num.MaxLog) {
		return 0, num.ErrRange
	}
	return math.Exp(high), nil
}

// logSinhRatio returns ln(sinh(y)/y) for y >= 0.
func logSinhRatio(y float64) float64 {
	if y < 1e-2 {
		return y * y / 6
	}
	return y - math.Log(2*y) + math.Log1p(-math.Exp(-2*y))
}
