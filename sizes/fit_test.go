package sizes

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
)

// fisher returns the standard deviation of alpha, 1/√(n I). I is the variance of ln(X/low), whose
// second moment and mean come from quadrature of the density.
func fisher(n int, low, high, alpha float64) float64 {
	d := ok(NewBoundedPareto(low, high, alpha)).(Unimodal)
	moment := func(r float64) float64 {
		f := func(x float64) float64 { return math.Pow(math.Log(x/low), r) * d.Density(x) }
		return integrals(f, []float64{0}, low, high)[0]
	}
	m := moment(1)
	return 1 / math.Sqrt(float64(n)*(moment(2)-m*m))
}

// From samples, the fit recovers alpha within 6 standard deviations, which the normal limit exceeds
// with probability 2e-9. The ends are off by 1/n of the range of probabilities, which changes alpha
// by far less.
func TestFitRecoversAlpha(t *testing.T) {
	const n = 20000
	for i, alpha := range []float64{0.05, 0.2, 1 - 1e-9, 1, 1.1, 2, 2.5, 7} {
		d := ok(NewBoundedPareto(3, 3e4, alpha))
		r := rand.New(rand.NewPCG(11, uint64(i)))
		sizes := make([]float64, n)
		for j := range sizes {
			sizes[j] = d.Sample(r)
		}
		distribution, got, err := FitBoundedPareto(sizes)
		sd := fisher(n, 3, 3e4, alpha)
		if err != nil || math.Abs(got-alpha) > 6*sd {
			t.Errorf("alpha = %v, want %v ± %v, error %v", got, alpha, sd, err)
			continue
		}
		low, high, _ := distribution.Support()
		if low != slices.Min(sizes) || high != slices.Max(sizes) ||
			distribution != ok(NewBoundedPareto(low, high, got)) {
			t.Errorf("distribution %v of alpha %v, sizes from %v to %v",
				distribution, got, slices.Min(sizes), slices.Max(sizes))
		}
		// The standard deviation matches the formula in the comment.
		l := math.Log(1e4)
		s := l / 2 / math.Sinh(alpha*l/2)
		if want := 1 / math.Sqrt(n*(1/(alpha*alpha)-s*s)); !oracle.Near(sd, want, 1e-9) {
			t.Errorf("alpha %v: standard deviation %v, formula %v", alpha, sd, want)
		}
	}
}

// logLikelihood sums the logarithms of the density.
func logLikelihood(sizes []float64, low, high, alpha float64) float64 {
	d := ok(NewBoundedPareto(low, high, alpha)).(Unimodal)
	var sum float64
	for _, x := range sizes {
		sum += math.Log(d.Density(x))
	}
	return sum
}

// At the solution, the likelihood equation holds in 400 bits, and the likelihood is larger than on
// either side. Without a solution, it grows as alpha falls.
func TestFitSolvesLikelihoodEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spread := math.Exp(rapid.Float64Range(-10, 3).Draw(t, "ln spread"))
		skew := rapid.Float64Range(0.8, 6).Draw(t, "skew")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		sizes := make([]float64, n)
		for i := range sizes {
			sizes[i] = 5 * math.Exp(spread*math.Pow(rapid.Float64Range(0, 1).Draw(t, "u"), skew))
		}
		low, high := slices.Min(sizes), slices.Max(sizes)
		_, alpha, err := FitBoundedPareto(sizes)
		l := op().Quo(bigFloat(high), bigFloat(low))
		if l.Cmp(bigFloat(1)) == 0 {
			if err == nil || !strings.Contains(err.Error(), "different") {
				t.Fatalf("equal sizes: error %v", err)
			}
			return
		}
		l = bigIntegral(op(), low, high)
		mean := op()
		for _, x := range sizes {
			mean.Add(mean, bigIntegral(op(), low, x))
		}
		mean.Quo(mean, bigFloat(float64(n)))
		if f, _ := mean.Float64(); f < 2e-9 { // alpha, up to 1/mean, may be out of range
			return
		}
		if err != nil {
			if excess, _ := op().Sub(mean, op().Quo(l, bigFloat(2))).Float64(); excess < -1e-14*logRatio(low, high) {
				t.Fatalf("%v: error %v, but the mean is %v above half the range", sizes, err, excess)
			}
			if a, b := logLikelihood(sizes, low, high, 1e-9), logLikelihood(sizes, low, high, 1); a < b-1e-9 {
				t.Fatalf("%v: error %v, but the likelihood at alpha = 1 is larger, %v and %v", sizes, err, b, a)
			}
			return
		}
		a := bigFloat(alpha)
		gap := op().Quo(bigFloat(1), a)
		gap.Sub(gap, op().Quo(l, op().Sub(bigExp(op().Mul(a, l)), bigFloat(1)))).Sub(gap, mean)
		// in units of 2^-53 of the mean of y or of l - y; sums are exact, up to the rounding of
		// each term
		if g, _ := gap.Float64(); !(math.Abs(g) <= 2e-15*logRatio(low, high)) {
			t.Fatalf("%v: gradient %v at alpha = %v, ln(max/min) = %v", sizes, g, alpha, logRatio(low, high))
		}
		top := logLikelihood(sizes, low, high, alpha)
		for _, other := range []float64{alpha * 0.9, alpha * 1.1} {
			// Its sums are rounded to about 1e-15 of terms that are ln(density), large for short
			// ranges.
			if v := logLikelihood(sizes, low, high, other); v > top+1e-13*float64(n)*(1+math.Abs(math.Log(spread))) {
				t.Fatalf("%v: log-likelihood %v at %v, %v at %v", sizes, v, other, top, alpha)
			}
		}
	})
}

// Alpha does not depend on the unit; (1, 1, 2) has mean y = l/3; nearly uniform logarithms give an
// alpha near 0.
func TestFitOfFewSizes(t *testing.T) {
	_, a, err := FitBoundedPareto([]float64{1, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := 1/a - math.Ln2/math.Expm1(a*math.Ln2); !oracle.Near(got, math.Ln2/3, 1e-15) {
		t.Errorf("alpha = %v has a mean of y of %v", a, got)
	}
	for _, unit := range []float64{0x1p-900, 0x1p900} {
		if _, b, err := FitBoundedPareto([]float64{unit, 2 * unit, unit}); a != b || err != nil {
			t.Errorf("unit %v: alpha = %v, want %v, error %v", unit, b, a, err)
		}
	}
	// l/2 - mean of y = α l²/12 for small α; here 2^-40/4 of l.
	e := 0x1p-40
	_, small, err := FitBoundedPareto([]float64{1, math.E * math.E, math.E * (1 - 2*e), math.E})
	if want := 12 * (e / 2) / 4; err != nil || !oracle.Near(small, want, 1e-3) { // e and l are both rounded to 2^-52
		t.Errorf("alpha = %v, want %v, error %v", small, want, err)
	}
	// With a million sizes at the low end and one at e, 1/alpha = 1e-6, up to e^-1e6.
	many := slices.Repeat([]float64{1}, 1_000_000)
	many[777] = math.E
	if _, b, err := FitBoundedPareto(many); err != nil || !oracle.Near(b, 1e6, 1e-15) {
		t.Errorf("alpha = %v, want 1e6, error %v", b, err)
	}
}

func TestFitErrors(t *testing.T) {
	for _, c := range []struct {
		sizes []float64
		path  string
		says  string
	}{
		{nil, "sizes", "at least one"},
		{[]float64{1, 2, 0}, "sizes[2]", "1e-300"},
		{[]float64{1, math.NaN(), 2}, "sizes[1]", "1e-300"},
		{[]float64{1, 2, math.Inf(1)}, "sizes[2]", "1e300"},
		{[]float64{-1, 2}, "sizes[0]", "1e-300"},
		{[]float64{3, 3, 3}, "sizes", "two different sizes"},
		{[]float64{3}, "sizes", "two different sizes"},
		{[]float64{1, 9}, "sizes", "√(min·max) = 3"},
		{[]float64{1, 9, 9}, "sizes", "the likelihood grows as alpha falls"},
		{slices.Concat(slices.Repeat([]float64{1}, 20), []float64{1 + 0x1p-52}), "alpha", "1e9"},
	} {
		distribution, alpha, err := FitBoundedPareto(c.sizes)
		var e *input.Error
		if !errors.As(err, &e) || e.Path != c.path || !strings.Contains(err.Error(), c.says) ||
			distribution != nil || alpha != 0 {
			t.Errorf("%v: %v, alpha %v, error %v, want one for %s: %s",
				c.sizes, distribution, alpha, err, c.path, c.says)
		}
	}
}
