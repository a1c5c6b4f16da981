package sizes

import "math"

// Unimodal is implemented by distributions whose density does not fall up to the mode and does not
// rise beyond it. So over an interval inside the support the density is smallest at an end. They
// are those of [NewExponential], [NewErlang], [NewHyperexponential], [NewBalancedHyperexponential],
// [NewPareto], [NewBoundedPareto], [NewBoundedParetoOfMean], [NewLognormal] and [NewWeibull], and
// the results of [Parse] for these. Mixtures of sums of phases may have several modes.
type Unimodal interface {
	Distribution
	// Density returns f(x), P(a < X <= b) = ∫_a^b f(x) dx, including the ends of the support if
	// they are > 0. It is 0 outside the support and for x <= 0. A density beyond float64, which is
	// possible near 0 for a Weibull distribution of shape below 1, is returned as math.MaxFloat64.
	// Density panics if x is NaN.
	Density(x float64) float64
	// Mode returns the point where the density is largest, or 0 if it falls over all x > 0.
	Mode() float64
}

// density limits a density to the range of float64.
func density(v float64) float64 { return min(v, math.MaxFloat64) }

// Density returns e^-t t^(k-1)/(k-1)!/phase for t = x/phase.
func (e erlang) Density(x float64) float64 {
	mustNotBeNaN(x)
	t := x / e.phase
	n := float64(e.phases - 1)
	switch {
	case x <= 0 || math.IsInf(t, 1):
		return 0
	case n >= 16:
		return density(math.Exp(logPoisson(e.phases-1, t)) / e.phase)
	case t > 1000: // the power might be infinite; here it is e^-1000 10^45
		return 0
	}
	return density(math.Exp(-t) * math.Pow(t, n) / math.Gamma(n+1) / e.phase)
}

// Mode returns k-1 phases.
func (e erlang) Mode() float64 { return float64(e.phases-1) * e.phase }

// Density returns Σ_i p_i e^(-x/m_i)/m_i.
func (h hyperexponential) Density(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 0
	}
	var sum float64
	for i, m := range h.means {
		sum += h.probs[i] * math.Exp(-x/m) / m
	}
	return density(sum)
}

// Mode returns 0, since all branches have falling densities.
func (h hyperexponential) Mode() float64 { return 0 }

// Density returns α (min/x)^α/x.
func (p pareto) Density(x float64) float64 {
	mustNotBeNaN(x)
	if x < p.min {
		return 0
	}
	return density(p.alpha * paretoTail(p.min, x, p.alpha) / x)
}

// Mode returns the low end.
func (p pareto) Mode() float64 { return p.min }

// Density returns (min/x)^α/x / ∫_1^(max/min) t^(-α-1) dt.
func (p boundedPareto) Density(x float64) float64 {
	mustNotBeNaN(x)
	if x < p.min || x > p.max {
		return 0
	}
	return density(paretoTail(p.min, x, p.alpha) / p.all / x)
}

// Mode returns the low end.
func (p boundedPareto) Mode() float64 { return p.min }

// Density returns e^(-z²/2)/(√(2π) σ x).
func (d lognormal) Density(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 0
	}
	return density(normalDensity(d.z(x)) / d.sigma / x)
}

// normalDensity returns e^(-z²/2)/√(2π).
func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// Mode returns mean e^(-3σ²/2), e^(σ²) = 1 + c.
func (d lognormal) Mode() float64 { return d.mean / (1 + d.c) / math.Sqrt(1+d.c) }

// Density returns shape (x/s)^(shape-1) exp(-(x/s)^shape)/s.
func (w weibull) Density(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 0
	}
	tail := math.Exp(-w.power(x))
	if tail == 0 { // the power may be infinite
		return 0
	}
	return density(w.shape * math.Pow(x/w.scale, w.shape-1) * tail / w.scale)
}

// Mode returns s (1 - 1/shape)^(1/shape), or 0 for shapes up to 1.
func (w weibull) Mode() float64 {
	if w.shape <= 1 {
		return 0
	}
	return w.scale * math.Pow((w.shape-1)/w.shape, 1/w.shape)
}
