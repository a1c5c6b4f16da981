package gibbs

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z returns the number of standard errors by which the estimate exceeds the exact value, converted
// from Student's to the standard normal distribution, within ±38. It is meaningless if StdError is
// 0.
func (e Estimate) Z(exact float64) float64 {
	d := e.Mean - exact
	if d == 0 {
		return 0
	}
	tail := distuv.StudentsT{Sigma: 1, Nu: float64(e.Freedom)}.CDF(-math.Abs(d) / e.StdError)
	z := 38.0
	if tail > 0 {
		z = min(z, -distuv.UnitNormal.Quantile(tail))
	}
	return math.Copysign(z, d)
}
