package sizes

import (
	"math"
	"math/rand/v2"

	"productform/internal/input"
)

// weibull is the distribution with P(X > x) = exp(-(x/scale)^shape): X = scale T^(1/shape), T
// exponential of mean 1.
type weibull struct{ shape, scale float64 }

// NewWeibull returns the Weibull distribution P(X > x) = exp(-(x/s)^shape) of the given mean s Γ(1
// + 1/shape), shape in [0.05, 1000]. Shape 1 is the exponential distribution; smaller shapes have
// heavier tails. Samples below the smallest positive float64 are drawn again. The error names the
// argument that is out of range.
func NewWeibull(shape, mean float64) (Distribution, error) {
	if !(shape >= 0.05 && shape <= 1000) {
		return nil, input.Errorf("shape", shape, "a number in [0.05, 1000]")
	}
	if !(mean >= 1e-200 && mean <= 1e200) {
		return nil, input.Errorf("mean", mean, "a number in [1e-200, 1e200]")
	}
	return weibull{shape, mean / math.Gamma(1+1/shape)}, nil
}

func (w weibull) String() string {
	return "Weibull of shape " + text(w.shape) + " and scale " + text(w.scale)
}

func (w weibull) Moment(order float64) (float64, error) {
	return w.PartialMoment(order, 0, math.Inf(1))
}

// PartialMoment returns s^r E[T^(r/shape); (a/s)^shape < T <= (b/s)^shape].
func (w weibull) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	if low == high {
		return 0, nil
	}
	t := scaledRange{w.power(low), w.power(high), math.Inf(1)}
	if low > 0 && !math.IsInf(high, 1) {
		t.l = w.shape * logRatio(low, high)
	}
	if low == 0 && w.shape+order <= 0 {
		return 0, ErrInfinite
	}
	return finite(math.Pow(w.scale, order) * gammaPartial(1, order/w.shape, t.a, t.b, t.l))
}

func (w weibull) power(x float64) float64 { return math.Pow(x/w.scale, w.shape) }

// scv returns Γ(1+2/shape)/Γ(1+1/shape)² - 1, For a large shape, for which it is about π²/(6
// shape²), it is computed as expm1(∫∫ ψ'), from the second difference of ln Γ at 1.
func (w weibull) scv() (float64, error) {
	h := 1 / w.shape
	if h > 0.5 {
		g := math.Gamma(1 + h)
		return finite(math.Gamma(1+2*h)/g/g - 1)
	}
	// ln Γ(1+2h) - 2 ln Γ(1+h) = ∫_0^h ∫_0^h ψ'(1+x+y) dx dy = ∫_0^{2h} (h - |h-t|) ψ'(1+t) dt.
	f := func(t float64) float64 { return (h - math.Abs(h-t)) * trigamma(1+t) }
	return math.Expm1(legendre20(f, 0, h) + legendre20(f, h, 2*h)), nil
}

// trigamma returns ψ'(x) = Σ_n 1/(x+n)² for x >= 1: ten terms, then Euler and Maclaurin's formula
// at y = x+10.
func trigamma(x float64) float64 {
	var sum float64
	for range 10 {
		sum += 1 / (x * x)
		x++
	}
	y := 1 / (x * x)
	return sum + 1/x + y/2 + y/x*(1.0/6-y*(1.0/30-y*(1.0/42-y*(1.0/30-y*5/66))))
}

func (w weibull) CDF(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-w.power(x))
}

func (w weibull) Survival(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 1
	}
	return math.Exp(-w.power(x))
}

func (w weibull) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, false); err != nil {
		return 0, err
	}
	return w.scale * math.Pow(-math.Log1p(-p), 1/w.shape), nil
}

func (w weibull) Sample(r *rand.Rand) float64 {
	for {
		if x := w.scale * math.Pow(exponentialDraw(r), 1/w.shape); x > 0 {
			return x
		}
	}
}

func (w weibull) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (w weibull) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	s := weibull{w.shape, w.scale * factor}
	if m := s.scale * math.Gamma(1+1/s.shape); !(m >= 1e-200 && m <= 1e200) {
		return nil, input.Errorf("factor", factor, "a factor that keeps the mean in [1e-200, 1e200]")
	}
	return s, nil
}
