package sizes

import (
	"math"
	"testing"

	"productform/internal/oracle"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// The rule of 20 points integrates polynomials of degree 39 exactly, and agrees with that of gonum.
func TestLegendre(t *testing.T) {
	for n := range 40 {
		f := func(x float64) float64 { return math.Pow(x, float64(n)) }
		got := legendre20(f, -1, 2)
		if want := (math.Pow(2, float64(n+1)) - math.Pow(-1, float64(n+1))) / float64(n+1); !oracle.Near(
			got, want, 1e-14,
		) {
			t.Errorf("∫ x^%d = %v, want %v", n, got, want)
		}
		if want := quad.Fixed(f, -1, 2, 20, quad.Legendre{}, 0); !oracle.Near(got, want, 1e-14) {
			t.Errorf("∫ x^%d = %v, gonum %v", n, got, want)
		}
	}
}

// With shape k and order r, the result is the regularized incomplete gamma function of k+r, if that
// is positive.
func TestGammaPartialAgainstIncompleteGamma(t *testing.T) {
	for _, k := range []int{1, 2, 15, 16, 17, 40, 170, 171, 5000} {
		for _, r := range []float64{-0.5, 0, 0.25, 1, 2, 7, 30} {
			s := float64(k) + r
			lk, _ := math.Lgamma(float64(k))
			ls, _ := math.Lgamma(s)
			for _, q := range []float64{0.01, 0.4, 1, 1.5} {
				b := s * q
				got := gammaPartial(k, r, 0, b, math.Inf(1)) / gammaMoment(k, r)
				// The function of gonum loses digits as k ln k grows: 5000 ln 5000 2^-53 = 5e-12.
				tol := 1e-13 + 1e-15*s*math.Log(s+1)
				if want := mathext.GammaIncReg(s, b); want > 1e-300 && !oracle.Near(got, want, tol) {
					t.Errorf("shape %d, order %v: P(T <= %v) = %v, gonum %v", k, r, b, got, want)
				}
				got = gammaPartial(k, r, b, math.Inf(1), math.Inf(1)) / gammaMoment(k, r)
				if want := mathext.GammaIncRegComp(s, b); want > 1e-300 && !oracle.Near(got, want, tol) {
					t.Errorf("shape %d, order %v: P(T > %v) = %v, gonum %v", k, r, b, got, want)
				}
			}
			if got, want := gammaMoment(k, r), math.Exp(ls-lk); !oracle.Near(got, want, 1e-14*(1+math.Abs(ls)+lk)) {
				t.Errorf("Γ(%d+%v)/Γ(%d) = %v, want %v", k, r, k, got, want)
			}
		}
	}
}

// Moments far out in either tail keep their digits, even if their probabilities underflow. The
// incomplete gamma function of integer order s is x^s/s (1 - s x/(s+1) + ...) from below and x^(s-1)
// e^-x Σ_j (s-1)...(s-j)/x^j from above.
func TestGammaPartialFarOut(t *testing.T) {
	for _, k := range []int{1, 3, 40} {
		gamma := math.Gamma(float64(k))
		for s := 1.0; s <= 41; s++ {
			r := s - float64(k)
			for _, x := range []float64{1e-18, 1e-8, 1e-4} {
				want := math.Pow(x, s) * (1/s - x/(s+1) + x*x/(2*(s+2)) - x*x*x/(6*(s+3))) / gamma
				if got := gammaPartial(k, r, 0, x, math.Inf(1)); want > 1e-300 && !oracle.Near(got, want, 1e-14) {
					t.Errorf("shape %d, order %v: E[T^r; T <= %v] = %v, want %v", k, r, x, got, want)
				}
			}
			for _, x := range []float64{500, 599, 601, 700, 740, 900} {
				sum, term := 0.0, 1.0
				for j := 1.0; j <= s; j++ {
					sum += term
					term *= (s - j) / x
				}
				want := math.Exp(-x+(s-1)*math.Log(x)) * sum / gamma
				got := gammaPartial(k, r, x, math.Inf(1), math.Inf(1))
				if want > 1e-300 && !oracle.Near(got, want, 1e-12) {
					t.Errorf("shape %d, order %v: E[T^r; T > %v] = %v, want %v", k, r, x, got, want)
				}
			}
		}
	}
}

// E1(x) = ∫_x^∞ e^-t/t dt matches the series 5.1.11 of Abramowitz and Stegun, whose largest term is
// below 10.
func TestExponentialIntegral(t *testing.T) {
	for _, x := range []float64{1e-8, 0.1, 0.4, 1, 3} {
		series := -0.57721566490153286061 - math.Log(x)
		term := 1.0
		for n := 1.0; n < 60; n++ {
			term *= -x / n
			series -= term / n
		}
		if got := gammaPartial(1, -1, x, math.Inf(1), math.Inf(1)); !oracle.Near(got, series, 1e-13) {
			t.Errorf("E1(%v) = %v, want %v", x, got, series)
		}
	}
	// At 10, it matches the continued fraction 5.1.22.
	frac := 0.0
	for n := 200.0; n >= 1; n-- {
		frac = n / (1 + n/(10+frac))
	}
	if got, want := gammaPartial(1, -1, 10, math.Inf(1), math.Inf(1)),
		math.Exp(-10)/(10+frac); !oracle.Near(got, want, 1e-14) {
		t.Errorf("E1(10) = %v, want %v", got, want)
	}
}
