package exact

import (
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Weibull is the distribution with P(X > x) = exp(-(x/s)^c), s = E[X]/Γ(1 + 1/c).
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

// Enclose uses E[X^j; X > x] = s^j Γ(1 + j/c, t) for t = (x/s)^c. It sums about as many terms as
// there are bits.
func (d Weibull) Enclose(ctx context.Context, prec uint) (*Enclosure, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	shape := num.FromRat(d.Shape, prec)
	order := func(j int64) *big.Rat { // 1 + j/c
		v := new(big.Rat).Quo(ratio(j, 1), d.Shape)
		return v.Add(v, ratio(1, 1))
	}
	zero := num.FromInt(0, prec)
	g, err := upperGamma(ctx, order(1), zero, prec)
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
				g, err := upperGamma(ctx, order(int64(j-1)), t, prec)
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

// Fractions returns nil, since moments contain exponentials.
func (d Weibull) Fractions(*big.Rat) (work, tail *big.Rat) { return nil, nil }

// upperGamma encloses Γ(z, t) = ∫_t^∞ u^(z-1) e^-u du for t >= 0, and z > 0 if t = 0. An integer
// z >= 1 has a finite sum. For other z > 0 it is γ(z, N) - γ(z, t) + Γ(z, N) with
//
//	γ(z, t) = t^z e^-t Σ_{k>=0} t^k/(z(z+1)...(z+k)),
//
// all terms positive, and for z <= 0, Γ(z, t) = (Γ(z+1, t) - t^z e^-t)/z, from E_1 if z is an
// integer. This cancels 1.44 t bits, so [distantGamma], whose terms fall to about e^-t, handles t
// >= 0.7 prec + 150.
func upperGamma(ctx context.Context, z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
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
	case t.Low.Cmp(big.NewFloat(0.7*float64(prec)+150)) >= 0:
		return distantGamma(z, t, prec)
	case whole && n == 0:
		return exponentialIntegral(ctx, t, prec)
	case z.Sign() < 0:
		next, err := upperGamma(ctx, new(big.Rat).Add(z, ratio(1, 1)), t, prec)
		if err != nil {
			return t, err
		}
		power, err := powerOf(t, z, prec)
		return next.Sub(power.Mul(minus)).Quo(num.FromRat(z, prec)), err
	}
	far, err := farEnd(z, t, prec)
	if err != nil {
		return t, err
	}
	whole0, err := lowerGamma(ctx, z, far, prec)
	if err != nil {
		return t, err
	}
	rest, err := enclosePastEnd(z, far, prec)
	if err != nil {
		return t, err
	}
	sum := whole0.Add(rest)
	if t.Low.Sign() == 0 {
		return sum, nil
	}
	below, err := lowerGamma(ctx, z, t, prec)
	return sum.Sub(below), err
}

// enclosePastEnd encloses Γ(z, N) for N > 0 and N > z - 1, as 0 <= Γ(z, N) <= N^(z-1) e^-N max(1,
// N/(N-z+1)). It is N^(z-1) e^-N ∫_0^∞ (1+u/N)^(z-1) e^-u du, in which the power is at most 1 for z
// <= 1, and otherwise at most e^((z-1)u/N).
func enclosePastEnd(z *big.Rat, far num.Interval, prec uint) (num.Interval, error) {
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

// distantGamma encloses Γ(z, t) for large t > 0. It is t^(z-1) e^-t ∫_0^∞ (1+u/t)^(z-1) e^-u du,
// and Taylor's theorem for the power gives the asymptotic series
//
//	Γ(z, t) = t^(z-1) e^-t (Σ_{k<n} (z-1)(z-2)...(z-k)/t^k + R),
//
// where R lies between 0 and the term of k = n if n >= z - 1. It takes as many terms as there are
// bits, or fewer if terms start to grow.
func distantGamma(z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
	power, err := powerOf(t, new(big.Rat).Sub(z, ratio(1, 1)), prec)
	if err != nil {
		return t, err
	}
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	sum, term := num.FromInt(0, prec), num.FromInt(1, prec)
	for k := int64(1); ; k++ {
		sum = sum.Add(term)
		factor := new(big.Rat).Sub(z, ratio(k, 1)) // z - k
		next := term.Mul(num.FromRat(factor, prec)).Quo(t)
		if factor.Cmp(ratio(-1, 1)) <= 0 && (next.Abs().MantExp(nil) < -int(prec) || next.Abs().Cmp(term.Abs()) >= 0) {
			zero := num.FromInt(0, prec)
			rest := num.Interval{Low: next.Neg().Max(zero).Neg().Low, High: next.Max(zero).High}
			return power.Mul(minus).Mul(sum.Add(rest)), nil
		}
		term = next
	}
}

// mostTerms is the largest number of terms of the series for an incomplete gamma function.
const mostTerms = 1 << 20

// farEnd returns a number N above t and 2z, beyond which e^-u is negligible. The error is
// [ErrMoreBits] if a series at N, of up to 4N terms, has more than mostTerms. This happens only if
// t is very wide or there are very many bits.
func farEnd(z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
	n, _ := z.Float64()
	far := math.Ceil(max(float64(prec)+20, 2*n+10, 2*t.Approx()+10))
	if 4*far > mostTerms {
		return t, ErrMoreBits
	}
	return num.FromFloat64(far, prec), nil
}

// stopped returns the error of ctx at every 256th term.
func stopped(ctx context.Context, term int) error {
	if term%256 != 0 {
		return nil
	}
	return ctx.Err()
}

// lowerGamma encloses γ(z, t) for z, t > 0 by its series: once t/(z+k) is below 1/2, the remainder
// is less than the last term.
func lowerGamma(ctx context.Context, z *big.Rat, t num.Interval, prec uint) (num.Interval, error) {
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
	for k := 1; ; k++ {
		if err := stopped(ctx, k); err != nil {
			return t, err
		}
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
func exponentialIntegral(ctx context.Context, t num.Interval, prec uint) (num.Interval, error) {
	far, err := farEnd(ratio(1, 1), t, prec)
	if err != nil {
		return t, err
	}
	log, err := far.Quo(t).Log()
	if err != nil {
		return t, err
	}
	upper, err := entire(ctx, far, prec)
	if err != nil {
		return t, err
	}
	lower, err := entire(ctx, t, prec)
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

// entire encloses Ein(t) for t > 0: once t/k is below 1/4, terms more than halve, as H_{k+1}/H_k <=
// 3/2, and the remainder is less than the last term.
func entire(ctx context.Context, t num.Interval, prec uint) (num.Interval, error) {
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	one := num.FromInt(1, prec)
	sum, harmonic, power := num.FromInt(0, prec), num.FromInt(0, prec), one
	for k := 1; ; k++ {
		if err := stopped(ctx, k); err != nil {
			return t, err
		}
		n := num.FromInt(int64(k), prec)
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
