package sizes

import (
	"fmt"
	"math"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// FitBoundedPareto returns the distribution of [NewBoundedPareto] with the maximum likelihood for
// the sizes, and its alpha. Its ends are the smallest and the largest size. With y = ln(x/low) and
// l = ln(high/low), alpha solves the likelihood equation
//
//	1/alpha - l/(e^(alpha l) - 1) = mean of y,
//
// whose left side falls from l/2 to 0. So there is one solution if the mean of y is below l/2.
// Otherwise the likelihood grows as alpha falls to 0 and below, and no bounded Pareto distribution
// fits the sizes best. For n sizes of such a distribution the standard deviation of alpha is about
// 1/√(n I), I = 1/alpha² - (l/(2 sinh(alpha l/2)))².
//
// The error names a size outside [1e-300, 1e300]. It also reports if all sizes are equal, if there
// is no solution, or if alpha is out of the range of [NewBoundedPareto].
func FitBoundedPareto(sizes []float64) (d Distribution, alpha float64, err error) {
	if err := checkSizes(sizes); err != nil {
		return nil, 0, err
	}
	low, high := slices.Min(sizes), slices.Max(sizes)
	if low == high {
		return nil, 0, input.Errorf("sizes", fmt.Sprintf("%d of %v", len(sizes), low), "at least two different sizes")
	}
	var below, above num.Sum // Σ ln(x/low) and Σ ln(high/x)
	var lead num.Sum         // the second minus the first
	for _, x := range sizes {
		y, rest := logRatio(low, x), logRatio(x, high)
		below.Add(y)
		above.Add(rest)
		lead.Add(rest)
		lead.Add(-y)
	}
	whole := below.Value() + above.Value() // n l
	if !(lead.Value() > 0) {
		at := low * math.Exp(below.Value()/float64(len(sizes)))
		return nil, 0, input.Errorf("sizes", fmt.Sprintf("(geometric mean %.4g)", at),
			"a geometric mean below √(min·max) = %.4g; otherwise the likelihood grows as alpha falls to 0 and below",
			math.Sqrt(low)*math.Sqrt(high))
	}
	alpha = 2 * inverseLangevin(lead.Value()/whole, 2*below.Value()/whole) / logRatio(low, high)
	d, err = NewBoundedPareto(low, high, alpha)
	if err != nil {
		return nil, 0, err
	}
	return d, alpha, nil
}

// inverseLangevin returns the h > 0 with coth h - 1/h = d, given d in (0, 1) and rest = 1 - d. The
// left side is concave and below h/3, so Newton's steps from 3d increase to the root. Close to 1 it
// is 1 - 1/h, and each step doubles h.
func inverseLangevin(d, rest float64) float64 {
	h := 3 * d
	for range 200 {
		var gap, slope float64
		if h <= 2 {
			l := langevin(h)
			gap, slope = d-l, 1-l*(l+2/h) // 1/h² - 1/sinh²(h)
		} else {
			tail := 2 / math.Expm1(2*h) // coth h - 1
			gap, slope = 1/h-tail-rest, 1/(h*h)-tail*(tail+2)
		}
		next := h + gap/slope
		if !(next > h) {
			break
		}
		h = next
	}
	return h
}
