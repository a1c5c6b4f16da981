package sizes

import "math"

// logRatio returns ln(b/a) for 0 < a <= b, with a small relative error even if b is near a.
func logRatio(a, b float64) float64 {
	switch {
	case b < 2*a:
		return math.Log1p((b - a) / a) // b - a is exact
	case b/a > math.MaxFloat64 || math.IsInf(b, 1):
		return math.Log(b) - math.Log(a)
	}
	return math.Log(b / a)
}

// phi returns (1 - e^-x)/x, the mean of e^-t over 0 < t < x, for x >= 0.
func phi(x float64) float64 {
	switch {
	case x < 1e-300:
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return -math.Expm1(-x) / x
}

// powerIntegral returns ∫_a^b t^(m-1) dt for 0 <= a < b, with l = ln(b/a) (+Inf if a = 0 or b is
// infinite), anchored at the end where t^m is largest. It is +Inf if the integral diverges.
func powerIntegral(m, a, b, l float64) float64 {
	switch {
	case m > 0 && math.IsInf(l, 1):
		return math.Pow(b, m) / m
	case m < 0 && math.IsInf(l, 1):
		return math.Pow(a, m) / -m
	case m >= 0:
		return math.Pow(b, m) * l * phi(m*l)
	}
	return math.Pow(a, m) * l * phi(-m*l)
}

// legendre20 returns ∫_x^y f by Gauss's rule of 20 points (nodes and weights: Davis and Rabinowitz,
// Methods of Numerical Integration, 1984; the same as in gonum's quad.Legendre).
func legendre20(f func(float64) float64, x, y float64) float64 {
	rule := [10][2]float64{
		{0.076526521133497338, 0.15275338713072584},
		{0.22778585114164507, 0.14917298647260374},
		{0.37370608871541955, 0.14209610931838204},
		{0.51086700195082713, 0.13168863844917664},
		{0.63605368072651502, 0.11819453196151841},
		{0.74633190646015080, 0.10193011981724044},
		{0.83911697182221878, 0.083276741576704755},
		{0.91223442825132595, 0.062672048334109068},
		{0.96397192727791381, 0.040601429800386939},
		{0.99312859918509488, 0.017614007139152118},
	}
	middle, half := (x+y)/2, (y-x)/2
	var sum float64
	for _, r := range rule {
		sum += r[1] * (f(middle-half*r[0]) + f(middle+half*r[0]))
	}
	return half * sum
}

// expDecay returns ∫_0^end e^-drop(v) dv for a convex function with drop(0) = 0 that does not
// decrease; end may be infinite. Less than e^-40 = 4e-18 of the integral lies beyond the point e
// with drop(e) = 40: since drop is convex, ∫_0^e is at least e (1 - e^-40)/40, and the rest is at
// most e^-40 e/40. The range is divided into panels no longer than 2, over which drop rises by at
// most 20. There the rule of 20 points is exact to double precision for the functions used here,
// drop(v) = z v + v²/2 and m(e^v - 1) - s v with m e^v >= 1/2, of either sign of v. Panels of a
// quarter of the length change no integral by more than 1e-15, and for drop(v) = z v the error is
// 4e-19.
func expDecay(drop func(float64) float64, end float64) float64 {
	const depth = 40
	e := min(end, 1)
	for e < end && drop(e) < depth {
		e = min(2*e, end)
	}
	if drop(e) > depth {
		for low, i := 0.0, 0; i < 1100 && e-low > e/16; i++ {
			if mid := (low + e) / 2; drop(mid) > depth {
				e = mid
			} else {
				low = mid
			}
		}
	}
	f := func(v float64) float64 { return math.Exp(-drop(v)) }
	var panels func(x, y, dx, dy float64) float64
	panels = func(x, y, dx, dy float64) float64 {
		if mid := (x + y) / 2; (y-x > 2 || dy-dx > 20) && x < mid && mid < y {
			d := drop(mid)
			return panels(mid, y, d, dy) + panels(x, mid, dx, d)
		}
		return legendre20(f, x, y)
	}
	return panels(0, e, 0, drop(e))
}

// normalInterval returns P(z < Z <= z + width) for a standard normal Z; z may be -Inf, in which
// case width is the upper end. width may be +Inf.
func normalInterval(z, width float64) float64 {
	if width <= 0 && !math.IsInf(z, -1) {
		return 0
	}
	upper := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	switch {
	case math.IsInf(z, -1):
		return upper(-width)
	case math.IsInf(width, 1):
		return upper(z)
	case z < 0 && z+width > 0: // the peak lies inside
		return (math.Erf(-z/math.Sqrt2) + math.Erf((z+width)/math.Sqrt2)) / 2
	case z < 0:
		z = max(0, -(z + width))
	}
	drop := func(v float64) float64 { return v * (z + v/2) }
	peak := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	if peak == 0 {
		return 0
	}
	return peak * expDecay(drop, width)
}
