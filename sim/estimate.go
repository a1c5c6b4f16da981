package sim

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a mean over replications with a Student confidence interval.
type Estimate struct {
	Mean       float64 // of the means of the replications
	HalfWidth  float64 // of the interval Mean ± HalfWidth
	Confidence float64 // probability with which such intervals hold the true value, if replications are long
	StdError   float64 // standard error of Mean
	Runs       int     // replications it is from
}

// Z returns the number of standard errors that the estimate is above the exact value, brought to the standard normal
// distribution: if the mean of a replication is normal, (Mean - exact)/StdError has Student's distribution with Runs-1 degrees of
// freedom, and Z is the normal quantile of its probability, within ±38. It says nothing if StdError is 0, since then
// all replications gave the same, as they do for what none has seen.
func (e Estimate) Z(exact float64) float64 {
	d := e.Mean - exact
	if d == 0 {
		return 0
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(e.Runs - 1)}
	tail := t.CDF(-math.Abs(d) / e.StdError) // the smaller tail: no digits are lost
	z := 38.0
	if tail > 0 {
		z = min(z, -distuv.UnitNormal.Quantile(tail))
	}
	return math.Copysign(z, d)
}

// Scaled returns the estimate of c times the quantity, c > 0.
func (e Estimate) Scaled(c float64) *Estimate {
	e.Mean *= c
	e.HalfWidth *= c
	e.StdError *= c
	return &e
}

// inverse returns the estimate of c over the quantity, c > 0, whose error is that of the quantity to first order
// (delta method); nil if the quantity was never seen above 0.
func (e Estimate) inverse(c float64) *Estimate {
	if !(e.Mean > 0) {
		return nil
	}
	e.HalfWidth *= c / e.Mean / e.Mean
	e.StdError *= c / e.Mean / e.Mean
	e.Mean = c / e.Mean
	return &e
}

// estimate returns the mean of values, two at least.
func estimate(values []float64, confidence float64) Estimate {
	mean, se := meanStdError(values)
	n := float64(len(values))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return Estimate{Mean: mean, HalfWidth: t * se, Confidence: confidence, StdError: se, Runs: len(values)}
}

// meanStdError returns the mean of values and its standard error, as if they were independent.
func meanStdError(values []float64) (mean, se float64) {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	_, unit := math.Frexp(largest) // squares of values in units of 2^unit stay in the range of float64
	var square float64
	for k, v := range values { // Welford
		v = math.Ldexp(v, -unit)
		d := v - mean
		mean += d / float64(k+1)
		square += d * (v - mean)
	}
	n := float64(len(values))
	return math.Ldexp(mean, unit), math.Ldexp(math.Sqrt(square/(n-1)/n), unit)
}
