package exact

import (
	"context"
	"math"
	"math/big"
	"sync"

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
	zero, gamma := num.FromInt(0, prec), newIncompleteGamma(ctx, prec)
	g, err := gamma.upper(order(1), zero)
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
				g, err := gamma.upper(order(int64(j-1)), t)
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

// An incompleteGamma computes Γ(z, t) = ∫_t^∞ u^(z-1) e^-u du with prec bits. It stores the
// constants, Γ(z) and Euler's: their series are the longest.
type incompleteGamma struct {
	ctx       context.Context
	prec      uint
	lock      sync.Mutex
	constants map[string]num.Interval
}

func newIncompleteGamma(ctx context.Context, prec uint) *incompleteGamma {
	return &incompleteGamma{ctx: ctx, prec: prec, constants: make(map[string]num.Interval)}
}

// constant returns the stored constant of the given name, or computes it.
func (g *incompleteGamma) constant(name string, compute func() (num.Interval, error)) (num.Interval, error) {
	g.lock.Lock()
	defer g.lock.Unlock()
	if v, isKnown := g.constants[name]; isKnown {
		return v, nil
	}
	v, err := compute()
	if err == nil {
		g.constants[name] = v
	}
	return v, err
}

// upper encloses Γ(z, t) for t >= 0, and z > 0 if t = 0. An integer z >= 1 has a finite sum. For
// other z > 0 it is Γ(z) - γ(z, t), Γ(z) = γ(z, N) + Γ(z, N), with
//
//	γ(z, t) = t^z e^-t Σ_{k>=0} t^k/(z(z+1)...(z+k)),
//
// all terms positive, and for z <= 0, Γ(z, t) = (Γ(z+1, t) - t^z e^-t)/z, from E_1 if z is an
// integer. This cancels 1.44 t bits, so [distantGamma], whose terms fall to about e^-t, handles t
// >= 0.7 prec + 150.
func (g *incompleteGamma) upper(z *big.Rat, t num.Interval) (num.Interval, error) {
	prec := g.prec
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
		return g.exponentialIntegral(t)
	case z.Sign() < 0:
		next, err := g.upper(new(big.Rat).Add(z, ratio(1, 1)), t)
		if err != nil {
			return t, err
		}
		power, err := powerOf(t, z, prec)
		return next.Sub(power.Mul(minus)).Quo(num.FromRat(z, prec)), err
	}
	sum, err := g.constant(z.RatString(), func() (num.Interval, error) {
		far := farEnd(z, prec)
		below, err := lowerGamma(g.ctx, z, far, prec)
		if err != nil {
			return far, err
		}
		rest, err := enclosePastEnd(z, far, prec)
		return below.Add(rest), err
	})
	if err != nil || t.Low.Sign() == 0 {
		return sum, err
	}
	below, err := lowerGamma(g.ctx, z, t, prec)
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

// farEnd returns a number N > 2z for which Γ(z, N) < 2^-prec Γ(z). By Stirling's formula and ln(N/z)
// <= ln 4 + N/(4z) - 1, the logarithm of Γ(z, N)/Γ(z) is at most 1.39 z - 3N/4 for z >= 1.
// For smaller z, Γ(z, N) < e^-N, as N > 1, and Γ(z) > 0.88.
func farEnd(z *big.Rat, prec uint) num.Interval {
	n, _ := z.Float64()
	return num.FromFloat64(math.Ceil(float64(prec)+20+2*n), prec)
}

// checkTerms returns [ErrMoreBits] if a series at t, of up to 4t terms, has more than mostTerms.
// This happens only if t is very wide or there are very many bits.
func checkTerms(t num.Interval) error {
	if 4*t.Approx() > mostTerms {
		return ErrMoreBits
	}
	return nil
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
	if err := checkTerms(t); err != nil {
		return t, err
	}
	power, err := powerOf(t, z, prec)
	if err != nil {
		return t, err
	}
	minus, err := t.Neg().Exp()
	if err != nil {
		return t, err
	}
	// With z = p/q, a term is the last one times tq/(p + kq): division by a short number is fast.
	step := num.FromRat(new(big.Rat).SetInt(z.Denom()), prec)
	d := num.FromRat(new(big.Rat).SetInt(z.Num()), prec)
	term := step.Quo(d)
	sum, scaled := term, t.Mul(step)
	for k := 1; ; k++ {
		if err := stopped(ctx, k); err != nil {
			return t, err
		}
		d = d.Add(step)
		term = term.Mul(scaled).Quo(d)
		sum = sum.Add(term)
		if scaled.High.Cmp(d.Scale2(-1).Low) < 0 && term.High.MantExp(nil) < sum.Low.MantExp(nil)-int(prec) {
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

// exponentialIntegral encloses E_1(t) = ∫_t^∞ e^-u/u du for t > 0, as Ein(t) - ln t - γ with
//
//	γ = Ein(N) - ln N - E_1(N),  Ein(t) = e^-t Σ_{k>=1} H_k t^k/k!,  0 <= E_1(N) <= e^-N/N,
//
// H_k = 1 + 1/2 + ... + 1/k. All terms of the series are positive.
func (g *incompleteGamma) exponentialIntegral(t num.Interval) (num.Interval, error) {
	euler, err := g.constant("Euler", func() (num.Interval, error) {
		far := farEnd(ratio(1, 1), g.prec)
		sum, err := entire(g.ctx, far, g.prec)
		if err != nil {
			return far, err
		}
		log, err := far.Log()
		if err != nil {
			return far, err
		}
		rest, err := far.Neg().Exp()
		if err != nil {
			return far, err
		}
		rest = num.Interval{Low: num.FromInt(0, g.prec).Low, High: rest.Quo(far).High}
		return sum.Sub(log).Sub(rest), nil
	})
	if err != nil {
		return t, err
	}
	log, err := t.Log()
	if err != nil {
		return t, err
	}
	sum, err := entire(g.ctx, t, g.prec)
	return sum.Sub(log).Sub(euler), err
}

// entire encloses Ein(t) for t > 0: once t/k is below 1/4, terms more than halve, as H_{k+1}/H_k <=
// 3/2, and the remainder is less than the last term.
func entire(ctx context.Context, t num.Interval, prec uint) (num.Interval, error) {
	if err := checkTerms(t); err != nil {
		return t, err
	}
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
