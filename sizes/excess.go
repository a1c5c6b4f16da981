package sizes

import "math"

// MeanExcess returns the size minus x, or 0 if that is negative.
func (d deterministic) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	return max(0, d.size-x)
}

// MeanExcess returns Σ_{s > x} (s - x)/n: with s_m the smallest size above x, it is the mean excess
// over s_m plus (n-m)/n (s_m - x).
func (e empirical) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	m := e.countUpTo(x)
	if m == len(e.sizes) {
		return 0
	}
	return e.excess[m] + e.fractionAbove(m)*(e.sizes[m]-x)
}

// fractionAbove returns the fraction of the sizes after the first m.
func (e empirical) fractionAbove(m int) float64 {
	return float64(len(e.sizes)-m) / float64(len(e.sizes))
}

// meanExcesses returns Σ_j (s_j - s_m)^+/n for each m, from the top down: a fraction (n-m)/n of the
// sizes is above s_m.
func (e empirical) meanExcesses() []float64 {
	excess := make([]float64, len(e.sizes))
	var sum twoFloat
	for m := len(excess) - 1; m > 0; m-- {
		sum = sum.plus(e.fractionAbove(m) * (e.sizes[m] - e.sizes[m-1]))
		excess[m-1] = sum.hi
	}
	return excess
}

// MeanExcess returns Σ_{j<k} P(N = j) (k - j) phases, with N Poisson of mean x/phase. It counts the
// phases not yet started at x, and the current one in full, because exponential phases have no
// memory.
func (e erlang) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	k, t := float64(e.phases), x/e.phase
	switch {
	case x <= 0:
		return k*e.phase - x
	case math.IsInf(t, 1):
		return 0
	case e.phases == 1:
		return e.phase * math.Exp(-t)
	}
	return e.phase * k * poissonSum(t, 0, e.phases-1, func(j int) float64 { return (k - float64(j)) / k })
}

// MeanExcess returns Σ_i p_i m_i e^(-x/m_i).
func (h hyperexponential) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	var sum float64
	for i, m := range h.means {
		sum += h.probs[i] * m * math.Exp(-max(x, 0)/m)
	}
	return sum - min(x, 0)
}

// MeanExcess returns Σ_j P(N = j) E[(K - j)^+] phases, with N Poisson of mean x/phase.
func (s phaseSum) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	mean, t := s.left[0], x/s.phase
	switch {
	case x <= 0:
		return s.phase*mean - x
	case math.IsInf(t, 1):
		return 0
	}
	return s.phase * mean * poissonSum(t, 0, len(s.left)-1, func(j int) float64 { return s.left[j] / mean })
}

// phasesLeft returns E[(K - j)^+] = Σ_{i>=j} P(K > i) at index j < n, given P(K > i) at index i <=
// n.
func phasesLeft(tail []float64) []float64 {
	left := make([]float64, len(tail)-1)
	var sum float64
	for j := len(left) - 1; j >= 0; j-- {
		sum += tail[j]
		left[j] = sum
	}
	return left
}

// MeanExcess returns min^α x^(1-α)/(α-1).
func (p pareto) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	switch {
	case p.alpha <= 1:
		return math.Inf(1)
	case x <= p.min:
		return p.min - x + p.min/(p.alpha-1)
	case math.IsInf(x, 1):
		return 0
	}
	return paretoPower(1, p.min, x, p.alpha) / (p.alpha - 1)
}

// MeanExcess returns min^α x^(1-α) ∫_0^l e^(-αv) (e^v - 1) dv / ∫_1^(max/min) t^(-α-1) dt, l =
// ln(max/x). If the integral is too large for that, it returns ∫_x^max t f(t) dt - x P(X > x), of
// which less than 2/3 then cancels.
func (p boundedPareto) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	if x >= p.max {
		return 0
	}
	below := 0.0
	if x < p.min {
		below, x = p.min-x, p.min
	}
	l := logRatio(x, p.max)
	power := paretoPower(1, p.min, x, p.alpha)
	if p.alpha < 1 && l >= 1 {
		return below + (paretoIntegral(1, p.min, p.alpha, x, p.max)-power*l*phi(p.alpha*l))/p.all
	}
	return below + power*excessIntegral(p.alpha, l)/p.all
}

// excessIntegral returns ∫_0^l e^(-αv) (e^v - 1) dv for α >= 1 or l < 1. With φ(m) = (e^(ml) - 1)/m
// it is φ(1-α) - φ(-α), and by parts
//
//	(φ(1-α) - e^((1-α)l) (1 - e^-l))/α,
//
// of which less than 2/3 cancels if l >= 1 or (α-1)l >= 1. Otherwise, as l² times a divided
// difference of the exponential function, it is a series of positive terms, h_n(p, q) = Σ_i p^i
// q^(n-i):
//
//	l² e^-p Σ_n h_n(p, q)/(n+2)!,  p = αl < 2,  q = l < 1.
func excessIntegral(alpha, l float64) float64 {
	if y := (alpha - 1) * l; l >= 1 || y >= 1 {
		return (l*phi(y) + math.Exp(-y)*math.Expm1(-l)) / alpha
	}
	p, q := alpha*l, l
	term, power := 0.5, 1.0 // h_n/(n+2)! and q^n/(n+1)!
	sum := term
	for n := 0.0; ; n++ {
		power *= q / (n + 2)
		term = (p*term + power) / (n + 3) // h_(n+1) = p h_n + q^(n+1)
		next := sum + term
		if next == sum {
			return l * l * math.Exp(-p) * sum
		}
		sum = next
	}
}

// MeanExcess returns (mean - x)^+ + x f(z) (R(a) - R(a+σ)) with the normal density f, z = (ln x -
// E[ln X])/σ, a = |ln(x/mean)|/σ - σ/2 and Mills's ratio R(a) = P(Z > a)/f(a). Above the mean this
// is E[X] P(Z > z-σ) - x P(Z > z), in which E[X] f(z-σ) = x f(z), and below the mean likewise for
// (x - X)^+.
func (d lognormal) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	switch {
	case x <= 0:
		return d.mean - x
	case math.IsInf(x, 1):
		return 0
	}
	z := d.z(x)
	a := math.Abs(z-d.sigma/2) - d.sigma/2
	return max(0, d.mean-x) + x*normalDensity(z)*millsDrop(a, d.sigma)
}

// millsDrop returns R(a) - R(a+σ) = ∫_0^∞ (1 - e^(-σv)) e^(-av - v²/2) dv for a >= -σ/2 and σ < 4,
// up to the point where av + v²/2 = 48. The rest is less than 1e-17 of the integral. More panels
// change it by less than 1e-15.
func millsDrop(a, sigma float64) float64 {
	end := 96 / (a + math.Sqrt(a*a+96))
	f := func(v float64) float64 { return -math.Expm1(-sigma*v) * math.Exp(-v*(a+v/2)) }
	const panels = 3
	var sum float64
	for i := panels; i > 0; i-- {
		sum += legendre20(f, end*float64(i-1)/panels, end*float64(i)/panels)
	}
	return sum
}

// MeanExcess returns s/shape ∫_t^∞ u^(1/shape-1) e^-u du, t = (x/s)^shape. For small t it is E[X] -
// x: the difference E[(x - X)^+] is at most x t.
func (w weibull) MeanExcess(x float64) float64 {
	mustNotBeNaN(x)
	t := w.power(max(x, 0))
	if t < 0x1p-60 {
		return w.scale*math.Gamma(1+1/w.shape) - x
	}
	return w.scale / w.shape * gammaPartial(1, 1/w.shape-1, t, math.Inf(1), math.Inf(1))
}
