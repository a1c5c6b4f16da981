package hb02

import (
	"math"
	"slices"
)

// LikeliestAlpha solves the likelihood equation of the exponent of a Bounded Pareto distribution,
// n/α - n l/(e^{αl} - 1) = Σ ln(x/low), by bisection.
func LikeliestAlpha(jobSizes []float64) float64 {
	low, high := slices.Min(jobSizes), slices.Max(jobSizes)
	l, sum := math.Log(high/low), 0.0
	for _, x := range jobSizes {
		sum += math.Log(x / low)
	}
	mean := sum / float64(len(jobSizes))
	a, b := 1e-6, 100.0
	for range 200 {
		mid := (a + b) / 2
		if 1/mid-l/math.Expm1(mid*l) > mean {
			a = mid
		} else {
			b = mid
		}
	}
	return (a + b) / 2
}

// SquaredVariation returns C² = E[X²]/E[X]² - 1 of a list of sizes.
func SquaredVariation(jobSizes []float64) float64 {
	var sum, square float64
	for _, x := range jobSizes {
		sum += x
		square += x * x
	}
	return float64(len(jobSizes))*square/sum/sum - 1
}
