package sizes

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"productform/internal/input"
)

// lognormal is the distribution of median·e^(σZ), Z standard normal.
type lognormal struct{ mean, c, sigma float64 }

// NewLognormal returns the lognormal distribution with the given mean and squared coefficient of
// variation c in [1e-12, 1e6]: ln X is normal with variance σ² = ln(1 + c) and mean ln(mean) -
// σ²/2, and E[X^r] = mean^r (1 + c)^(r(r-1)/2). The error names the argument that is out of range.
func NewLognormal(mean, scv float64) (Distribution, error) {
	if err := checkPositive("mean", mean); err != nil {
		return nil, err
	}
	if !(scv >= 1e-12 && scv <= 1e6) {
		return nil, input.Errorf("scv", scv, "a number in [1e-12, 1e6]")
	}
	return lognormal{mean, scv, math.Sqrt(math.Log1p(scv))}, nil
}

func (d lognormal) String() string {
	return "lognormal of mean " + text(d.mean) + " and squared coefficient of variation " + text(d.c)
}

func (d lognormal) Moment(order float64) (float64, error) {
	return d.PartialMoment(order, 0, math.Inf(1))
}

// PartialMoment returns E[X^r] P(z(a) - rσ < Z <= z(b) - rσ).
func (d lognormal) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	if low == high {
		return 0, nil
	}
	z, width := math.Inf(-1), math.Inf(1)
	switch {
	case low > 0:
		z = d.z(low) - order*d.sigma
		if !math.IsInf(high, 1) {
			width = logRatio(low, high) / d.sigma
		}
	case !math.IsInf(high, 1):
		width = d.z(high) - order*d.sigma
	}
	whole := math.Pow(d.mean, order) * math.Exp(math.Log1p(d.c)*order*(order-1)/2)
	return finite(whole * normalInterval(z, width))
}

// z returns (ln x - E[ln X])/σ.
func (d lognormal) z(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	l := 0.0
	if x >= d.mean {
		l = logRatio(d.mean, x)
	} else {
		l = -logRatio(x, d.mean)
	}
	return l/d.sigma + d.sigma/2
}

func (d lognormal) scv() (float64, error) { return d.c, nil }

func (d lognormal) CDF(x float64) float64 {
	mustNotBeNaN(x)
	return math.Erfc(-d.z(x)/math.Sqrt2) / 2
}

func (d lognormal) Survival(x float64) float64 {
	mustNotBeNaN(x)
	return math.Erfc(d.z(x)/math.Sqrt2) / 2
}

func (d lognormal) at(z float64) float64 { return d.mean * math.Exp(d.sigma*(z-d.sigma/2)) }

func (d lognormal) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, false); err != nil || p == 0 {
		return 0, err
	}
	if p > 0.5 {
		return d.at(-mathext.NormalQuantile(1 - p)), nil // 1-p is exact
	}
	return d.at(mathext.NormalQuantile(p)), nil
}

func (d lognormal) Sample(r *rand.Rand) float64 { return d.at(r.NormFloat64()) }

func (d lognormal) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (d lognormal) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return NewLognormal(d.mean*factor, d.c)
}
