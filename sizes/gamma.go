package sizes

import "math"

// gammaMoment returns E[T^r] = Γ(k+r)/Γ(k) for T of the gamma distribution of shape k >= 1, mean k;
// +Inf if k+r <= 0.
func gammaMoment(k int, r float64) float64 {
	x := float64(k)
	s := x + r
	switch {
	case s <= 0:
		return math.Inf(1)
	case r == 0:
		return 1
	case r == 1:
		return x
	case r == 2:
		return x * (x + 1)
	case x >= 16 && s >= 16:
		// Stirling's formula for both gamma functions, with (s-1/2) ln s - (x-1/2) ln x = (s-1/2)
		// ln(s/x) + r ln x.
		return math.Exp((s-0.5)*math.Log1p(r/x) + r*(math.Log(x)-1) + stirlingSeries(s) - stirlingSeries(x))
	case x <= 170 && s <= 170:
		return math.Gamma(s) / math.Gamma(x)
	}
	ls, _ := math.Lgamma(s)
	lx, _ := math.Lgamma(x)
	return math.Exp(ls - lx)
}

// stirlingSeries returns ln Γ(x) - (x-1/2) ln x + x - ln √(2π) for x >= 16, to 1e-17 (Abramowitz
// and Stegun 6.1.41).
func stirlingSeries(x float64) float64 {
	y := 1 / (x * x)
	return (1.0/12 - y*(1.0/360-y*(1.0/1260-y*(1.0/1680-y*(1.0/1188-y*691.0/360360))))) / x
}

// logPoisson returns the logarithm of e^-x x^j/j! for x > 0 by Loader's saddle-point form ("Fast
// and accurate computation of binomial probabilities", 2000): -x + j ln x - ln j! = -δ(j) - x
// h((j-x)/x) - ln √(2πj).
func logPoisson(j int, x float64) float64 {
	if j == 0 {
		return -x
	}
	n := float64(j)
	if j < 16 {
		return n*math.Log(x) - x - math.Log(math.Gamma(n+1)) // no term is large if the sum is small
	}
	return -stirlingSeries(n) - deviance(n, x) - math.Log(2*math.Pi*n)/2
}

// deviance returns n ln(n/x) + x - n >= 0 without cancellation for n near x.
func deviance(n, x float64) float64 {
	d := n - x
	if math.Abs(d) >= 0.1*(n+x) {
		return n*math.Log(n/x) - d
	}
	// With v = d/(n+x): n ln(n/x) = 2n atanh(v), and n ln(n/x) - d = d v + 2n Σ_{i>=1}
	// v^(2i+1)/(2i+1).
	v := d / (n + x)
	sum, power := d*v, 2*n*v
	for i := 3.0; ; i += 2 {
		power *= v * v
		next := sum + power/i
		if next == sum {
			return sum
		}
		sum = next
	}
}

// gammaPartial returns E[T^r; a < T <= b] for T of the gamma distribution of shape k >= 1, mean k,
// and 0 <= a <= b. l is ln(b/a), which is +Inf if a = 0 or b is infinite. The result is +Inf if the
// integral diverges, that is, if a = 0 and k+r <= 0. The caller computes l from the unscaled ends:
// for a short interval it is more accurate than a and b.
func gammaPartial(k int, r, a, b, l float64) float64 {
	const seam = 0.5
	switch {
	case !(l > 0) || b == 0 || math.IsInf(a, 1): // ends equal after scaling may still have l > 0
		return 0
	case k == 1 && r == 0 && l < 1:
		return math.Exp(-a) * -math.Expm1(-a*math.Expm1(l))
	case k == 1 && r == 0:
		return math.Exp(-a) * -math.Expm1(-(b - a))
	case a == 0 && math.IsInf(b, 1):
		return gammaMoment(k, r)
	case a == 0 && b > seam && isPoisson(float64(k)+r):
		cdf, _ := erlangTails(int(float64(k)+r), b)
		return gammaMoment(k, r) * cdf
	case math.IsInf(b, 1) && a < 600 && isPoisson(float64(k)+r):
		_, survival := erlangTails(int(float64(k)+r), a)
		return gammaMoment(k, r) * survival
	case b <= seam:
		return gammaSeries(k, r, a, b, l)
	case a >= seam || l < 1:
		return gammaPeak(k, r, a, b, l)
	}
	below := gammaSeries(k, r, a, seam, logRatioFromZero(a, seam))
	return below + gammaPeak(k, r, seam, b, logRatio(seam, b))
}

// isPoisson reports whether a short sum of Poisson probabilities, which is faster than an integral,
// is the distribution function of the gamma distribution of shape s. Outside of 1/2 < x < 600 such a
// probability may underflow although the moment does not, and below 1/2 the series is more accurate.
func isPoisson(s float64) bool { return s >= 1 && s <= 40 && s == math.Trunc(s) }

// logRatioFromZero is logRatio for a >= 0.
func logRatioFromZero(a, b float64) float64 {
	if a == 0 {
		return math.Inf(1)
	}
	return logRatio(a, b)
}

// gammaSeries is gammaPartial for b <= 1/2: Σ_n (-1)^n/n! ∫_a^b t^(k+r+n-1) dt / Γ(k). The terms
// alternate, and their absolute values sum to at most e^(2b) <= e times the sum.
func gammaSeries(k int, r, a, b, l float64) float64 {
	s := float64(k) + r
	if s <= 0 && a == 0 {
		return math.Inf(1)
	}
	var sum float64
	factor := 1.0
	for n := 0; n <= 16; n++ { // 0.5^17/17! < 1e-19
		sum += factor * powerIntegral(s+float64(n), a, b, l)
		factor /= -float64(n + 1)
	}
	if k <= 170 {
		return sum / math.Gamma(float64(k))
	}
	g, _ := math.Lgamma(float64(k))
	return sum * math.Exp(-g)
}

// gammaPeak is gammaPartial for a >= 1/2 or l < 1. With s = k+r and t = m e^v, where m is the point
// of [a, b] nearest to s, at which the integrand in v is largest,
//
//	∫_a^b t^(s-1) e^-t dt = m^s e^-m ∫ exp(s v - m(e^v - 1)) dv,  and m^s e^-m/Γ(k) = m^(r+1) e^-m m^(k-1)/(k-1)!.
func gammaPeak(k int, r, a, b, l float64) float64 {
	s := float64(k) + r
	m := min(max(a, s), b)
	peak := math.Exp(logPoisson(k-1, m) + (r+1)*math.Log(m))
	if peak == 0 || math.IsInf(m, 1) {
		return 0
	}
	var left, right float64
	switch {
	case m == a:
		right = l
	case m == b:
		left = l
	default:
		left = logRatio(a, m)
		right = logRatio(m, b)
		if l < 1 { // if a and b are too rounded, use the length l
			left = min(left, l)
			right = l - left
		}
	}
	// Near v = 0 both terms of the drop are large compared with their sum, so it is written with
	// m-s, which is small or 0, and e^v-1-v.
	drop := func(v float64) float64 { return m*expm1Minus(v) + (m-s)*v }
	var sum float64
	if right > 0 {
		sum += expDecay(drop, right)
	}
	if left > 0 {
		sum += expDecay(func(v float64) float64 { return drop(-v) }, left)
	}
	return peak * sum
}

// expm1Minus returns e^v - 1 - v.
func expm1Minus(v float64) float64 {
	if math.Abs(v) > 0.3 {
		return math.Expm1(v) - v
	}
	// Taylor's series in Horner's form; 0.3^15/15! is below 1e-19 times the first term v²/2.
	sum := 1.0
	for n := 14.0; n >= 3; n-- {
		sum = 1 + v/n*sum
	}
	return v * v / 2 * sum
}

// poissonSum returns Σ_{j=low}^{high} e^-x x^j/j! weight(j) for x > 0 and weights in [0, 1]. It
// sums outward from the largest probability, and stops when the remainder is below 1e-20 of the sum
// per term. Close to the smallest floats, where rounded terms would stop falling, terms are
// computed as multiples of the largest.
func poissonSum(x float64, low, high int, weight func(int) float64) float64 {
	start := low
	if x >= float64(high) {
		start = high
	} else if x > float64(low) {
		start = int(x)
	}
	first := math.Exp(logPoisson(start, x))
	if first == 0 {
		return 0
	}
	unit := 1.0
	if first < 0x1p-900 {
		unit, first = first, 1
	}
	sum := first * weight(start)
	for j, p := start-1, first; j >= low; j-- {
		p *= float64(j+1) / x
		sum += p * weight(j)
		if p <= 1e-20*sum || p == 0 {
			break
		}
	}
	for j, p := start, first; j < high; {
		j++
		p *= x / float64(j)
		sum += p * weight(j)
		if p <= 1e-20*sum || p == 0 {
			break
		}
	}
	return unit * sum
}

// erlangTails returns P(T <= x) and P(T > x) for T of the gamma distribution of integer shape k:
// the probabilities that a Poisson process of rate 1 has at least, or fewer than, k events up to x.
// The smaller one is computed as a sum, the other as its complement.
func erlangTails(k int, x float64) (cdf, survival float64) {
	one := func(int) float64 { return 1 }
	switch {
	case x <= 0:
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	case k == 1:
		return -math.Expm1(-x), math.Exp(-x)
	case x < float64(k):
		cdf = min(1, poissonSum(x, k, math.MaxInt, one))
		return cdf, 1 - cdf
	}
	survival = min(1, poissonSum(x, 0, k-1, one))
	return 1 - survival, survival
}
