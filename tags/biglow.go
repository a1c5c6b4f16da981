package tags

import (
	"errors"
	"math"
	"math/big"

	"productform/num"
)

// solveLow completes l for the k that gives the mean; see [ExactModel.LowEnd]. With l = ln(p/k),
//
//	E[X]/p = N/D,  N = (1 - e^(-(1-α)l))/(1-α), l if α = 1,  D = (e^(αl) - 1)/α,
//	d ln E[X]/dl = e^(-(1-α)l)/N - e^(αl)/D.
//
// The proof tries wider and wider brackets around what Newton's method gives.
func (l *bigLaw) solveLow(mean *big.Rat) error {
	ratio := endsOfRat(new(big.Rat).Quo(mean, l.exactHigh), l.prec)
	start, err := roughLog(l.alpha, ratio)
	if err != nil {
		return err
	}
	one := endsOfInt(1, l.prec)
	x := endsOfFloat(start, l.prec)
	for range 60 {
		d, err := l.a.mul(x).exp()
		if err != nil {
			return err
		}
		n, err := l.aLess1.mul(x).exp()
		if err != nil {
			return err
		}
		slopeN, slopeD := n, d
		if n = x; !l.isAlpha(1) {
			n = one.sub(slopeN).mul(l.coefficient[2]).quo(l.a)
		}
		d = d.sub(one).quo(l.a)
		if n.sign() <= 0 || d.sign() <= 0 {
			return errUndecided
		}
		f := n.quo(d)
		slope := f.mul(slopeN.quo(n).sub(slopeD.quo(d)))
		if slope.sign() == 0 {
			return errUndecided
		}
		step := f.sub(ratio).quo(slope).point()
		if x = x.sub(step).point(); x.sign() <= 0 {
			return errUndecided
		}
		if step.sign() == 0 || x.lo.MantExp(nil)-step.lo.MantExp(nil) > int(l.prec)*9/16 {
			break
		}
	}
	k, err := x.neg().exp()
	if err != nil {
		return err
	}
	k = k.mul(l.high.x).point()
	want := endsOfRat(mean, l.prec)
	for bits := int(l.prec) - 16; bits > 16; bits -= 16 {
		around := ends{roundDown(l.prec).Sub(k.lo, new(big.Float).SetMantExp(k.lo, -bits)),
			roundUp(l.prec).Add(k.hi, new(big.Float).SetMantExp(k.hi, -bits))}
		switch proved, err := l.brackets(around, want); {
		case err != nil && !errors.Is(err, errUndecided):
			return err
		case proved:
			return l.setLow(around)
		}
	}
	return errUndecided
}

// brackets reports whether E[X] is proved to be below want for the lower end of k and above it for the upper one.
func (l *bigLaw) brackets(k, want ends) (bool, error) {
	for _, end := range []*big.Float{k.lo, k.hi} {
		if err := l.setLow(endsOfBig(end, l.prec)); err != nil {
			return false, err
		}
		mean := l.part(1, l.low, l.high)
		if end == k.lo && mean.hi.Cmp(want.lo) >= 0 || end == k.hi && mean.lo.Cmp(want.hi) <= 0 {
			return false, nil
		}
	}
	return true, nil
}

// roughLog returns ln(p/k) in doubles, given α and E[X]/p, by bisection of ln(p/E[X]), which rises with it:
//
//	ln(p/E[X]) = l/2 + ln S(αl/2) - ln S(|1-α|l/2),  S(y) = sinh(y)/y.
func roughLog(alpha *big.Rat, ratio ends) (float64, error) {
	log, err := ratio.log()
	if err != nil {
		return 0, err
	}
	want := -log.float()
	a, _ := alpha.Float64()
	rest, _ := new(big.Rat).Sub(alpha, big.NewRat(1, 1)).Float64()
	low, high := math.Log(1e-300), math.Log(greatestLog)
	for range 100 {
		mid := (low + high) / 2
		if l := math.Exp(mid); l/2+logSinhRatio(a*l/2)-logSinhRatio(math.Abs(rest)*l/2) < want {
			low = mid
		} else {
			high = mid
		}
	}
	if high == math.Log(greatestLog) {
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
