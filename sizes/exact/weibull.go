package exact

import (
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Weibull has P(X > x) = exp(-(x/s)^c) with s = E[X]/Γ(1 + 1/c).
type Weibull struct {
	Shape *big.Rat // c in [1/20, 1000]
	Mean  *big.Rat // E[X] > 0
}

// Check checks the parameters.
func (d Weibull) Check() error {
	if d.Shape == nil || d.Shape.Cmp(ratio(1, 20)) < 0 || d.Shape.Cmp(ratio(1000, 1)) > 0 {
		return input.Errorf("Shape", Text(d.Shape), "a number in [0.05, 1000]")
	}
	return checkPositive("Mean", d.Mean)
}

// Enclose has E[X^j; X > x] = s^j Γ(1 + j/c, t) for t = (x/s)^c: sums of as many terms as bits, and what cancels where t is
// large. A tail of e^-10000 is out of reach, as the bits are.
func (d Weibull) Enclose(prec uint) (*Enclosure, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	shape := num.FromRat(d.Shape, prec)
	order := func(j int64) *big.Rat { // 1 + j/c
		v := new(big.Rat).Quo(ratio(j, 1), d.Shape)
		return v.Add(v, ratio(1, 1))
	}
	zero := num.FromInt(0, prec)
	g, err := upperGamma(order(1), zero, prec)
	if err != nil {
		return nil, err
	}
	scale := num.FromRat(d.Mean, prec).Quo(g)
	return positiveEnclosure(prec, order(-1).Sign() <= 0, func(x num.Interval, inverse bool) (Point, error) {
		p := nothingAbove(x, prec)
		t := zero
		if x.Low.Sign() > 0 {
			log, err := x.Quo(scale).Log()
			if err == nil {
				t, err = shape.Mul(log).Exp()
			}
			if err != nil {
				return p, err
			}
		}
		power := num.FromInt(1, prec).Quo(scale)
		for j := range p.Above {
			if j > 0 || inverse {
				g, err := upperGamma(order(int64(j-1)), t, prec)
				if err != nil {
					return p, err
				}
				p.Above[j] = power.Mul(g)
			}
			power = power.Mul(scale)
		}
		if t.Sign() > 0 { // f = c t e^-t/x, f' = f (c - 1 - c t)/x
			ct := shape.Mul(t)
			p.Density = ct.Mul(p.Above[1]).Quo(x)
			p.Slope = p.Density.Mul(shape.Sub(num.FromInt(1, prec)).Sub(ct)).Quo(x)
		}
		return p, nil
	})
}

// Fractions returns nil: there are exponentials.
func (d Weibull) Fractions(*big.Rat) (work, tail *big.Rat) { return nil, nil }

// upperGamma encloses Γ(z, t) = ∫_t^∞ u^(z-1) e^-u du for t >= 0, and z > 0 if t = 0. An integer z >= 1 has a finite sum.
// For other z > 0 it is γ(z, N) - γ(z, t) + Γ(z, N) with
//
//	γ(z, t) = t^z e^-t Σ_{k>=0} t^k/(z(z+1)...(z+k)),
//
// all terms positive, and for z <= 0, Γ(z, t) = (Γ(z+1, t) - t^z e^-t)/z, from E_1 if z is an integer.
func upperGamma(z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	n, whole := integer(z, mostPhases)
	switch {
	case whole && n >= 1:
		sum := gammaTerms(t, int(n), prec)[n].Mul(minus)
		for k := int64(2); k < n; k++ {
			sum = sum.Mul(num.FromInt(k, prec))
		}
		return sum, nil
	case whole && n == 0:
		return exponentialIntegral(t, prec)
	case z.Sign() < 0:
		next, err := upperGamma(new(big.Rat).Add(z, ratio(1, 1)), t, prec)
		if err != nil {
			return t, err
		}
		power, err := powerOf(t, z, prec)
		return next.Sub(power.Mul(minus)).Quo(num.FromRat(z, prec)), err
	}
	far := farEnd(z, t, prec)
	whole0, err := lowerGamma(z, far, prec)
	if err != nil {
		return t, err
	}
	rest, err := beyond(z, far, prec)
	if err != nil {
		return t, err
	}
	sum := whole0.Add(rest)
	if t.Low.Sign() == 0 {
		return sum, nil
	}
	below, err := lowerGamma(z, t, prec)
	return sum.Sub(below), err
}

// beyond encloses Γ(z, N) for N > 0 and N > z - 1, as 0 <= Γ(z, N) <= N^(z-1) e^-N max(1, N/(N-z+1)): it is
// N^(z-1) e^-N ∫_0^∞ (1+u/N)^(z-1) e^-u du, in which the power is at most 1 for z <= 1, and else at most e^((z-1)u/N).
func beyond(z *big.Rat, far num.Interval, prec uint) (num.Interval, error) {
	less := new(big.Rat).Sub(z, ratio(1, 1))
	high, err := powerOf(far, less, prec)
	if err != nil {
		return far, err
	}
	minus, err := far.Neg().Exp()
	if err != nil {
		return far, err
	}
	high = high.Mul(minus)
	if less.Sign() > 0 {
		high = high.Mul(far).Quo(far.Sub(num.FromRat(less, prec)))
	}
	return num.Interval{Low: num.FromInt(0, prec).Low, High: high.High}, nil
}

// farEnd returns a number N above t and 2z, beyond which e^-u is of no account.
func farEnd(z *big.Rat, t num.Interval, prec uint) num.Interval {
	n, _ := z.Float64()
	return num.FromFloat64(math.Ceil(max(float64(prec)+20, 2*n+10, 2*t.Approx()+10)), prec)
}

// lowerGamma encloses γ(z, t) for z, t > 0 by its series: from k on where t/(z+k) is below 1/2, what is left is less than
// the last term.
func lowerGamma(z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
	power, err := powerOf(t, z, prec)
	if err != nil {
		return t, err
	}
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	d := num.FromRat(z, prec)
	term := num.FromInt(1, prec).Quo(d)
	sum, one := term, num.FromInt(1, prec)
	for {
		d = d.Add(one)
		term = term.Mul(t).Quo(d)
		sum = sum.Add(term)
		if t.High.Cmp(d.Scale2(-1).Low) < 0 && term.High.MantExp(nil) < sum.Low.MantExp(nil)-int(prec) {
			sum.High = num.Up(prec).Add(sum.High, term.High)
			return power.Mul(minus).Mul(sum), nil
		}
	}
}

// powerOf encloses t^z for t > 0.
func powerOf(t num.Interval, z *big.Rat, prec uint) (num.Interval, error) {
	log, err := t.Log()
	if err != nil {
		return t, err
	}
	return num.FromRat(z, prec).Mul(log).Exp()
}

// exponentialIntegral encloses E_1(t) = ∫_t^∞ e^-u/u du for t > 0, as
//
//	ln(N/t) - Ein(N) + Ein(t) + E_1(N),  Ein(t) = e^-t Σ_{k>=1} H_k t^k/k!,  0 <= E_1(N) <= e^-N/N,
//
// H_k = 1 + 1/2 + ... + 1/k. All terms are positive.
func exponentialIntegral(t num.Interval, prec uint) (num.Interval, error) {
	far := farEnd(ratio(1, 1), t, prec)
	log, err := far.Quo(t).Log()
	if err != nil {
		return t, err
	}
	upper, err := entire(far, prec)
	if err != nil {
		return t, err
	}
	lower, err := entire(t, prec)
	if err != nil {
		return t, err
	}
	rest, err := far.Neg().Exp()
	if err != nil {
		return t, err
	}
	rest = num.Interval{Low: num.FromInt(0, prec).Low, High: rest.Quo(far).High}
	return log.Sub(upper).Add(lower).Add(rest), nil
}

// entire encloses Ein(t) for t > 0: from k on where t/k is below 1/4, terms more than halve, as H_{k+1}/H_k <= 3/2, and what
// is left is less than the last term.
func entire(t num.Interval, prec uint) (num.Interval, error) {
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	one := num.FromInt(1, prec)
	sum, harmonic, power := num.FromInt(0, prec), num.FromInt(0, prec), one
	for k := int64(1); ; k++ {
		n := num.FromInt(k, prec)
		harmonic = harmonic.Add(one.Quo(n))
		power = power.Mul(t).Quo(n)
		term := harmonic.Mul(power)
		sum = sum.Add(term)
		if t.High.Cmp(n.Scale2(-2).Low) < 0 && term.High.MantExp(nil) < sum.Low.MantExp(nil)-int(prec) {
			sum.High = num.Up(prec).Add(sum.High, term.High)
			return minus.Mul(sum), nil
		}
	}
}
