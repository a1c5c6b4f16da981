package sim

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// studentQuantile returns the quantile of level p of Student's t distribution with nu degrees of
// freedom. With x = nu/(t²+nu), P(T > t) is half the regularized incomplete beta function
// I_x(nu/2, 1/2).
//
// It has the digits of gonum's package distuv, which would bring linear algebra into every program
// that simulates.
func studentQuantile(p, nu float64) float64 {
	if p == 0.5 {
		return 0
	}
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(nu*(1-x)/x), p-0.5)
}

// studentLowerTail returns P(T < -t), t > 0, of Student's t distribution.
func studentLowerTail(t, nu float64) float64 {
	return 0.5 * mathext.RegIncBeta(nu/2, 0.5, nu/(t*t+nu))
}

// normalQuantile returns the quantile of level p of the standard normal distribution.
func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// normalUpperTail returns the probability that a standard normal variable exceeds z.
func normalUpperTail(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }
