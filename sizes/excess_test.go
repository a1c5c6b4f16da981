package sizes

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"productform/internal/oracle"

	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"
)

// Mean excesses match E[X; X > x] - x P(X > x), up to the digits that cancel.
func TestMeanExcessMatchesDifference(t *testing.T) {
	for _, d := range allDistributions() {
		for _, p := range []float64{1e-9, 0.01, 0.2, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9} {
			for _, x := range []float64{ok(d.Quantile(p)), ok(d.Quantile(p)) * 1.1, ok(d.Quantile(p)) * 0.9} {
				work, rest := ok(d.PartialMoment(1, x, math.Inf(1))), x*d.Survival(x)
				if got := d.MeanExcess(x); math.Abs(got-(work-rest)) > 1e-13*work {
					t.Errorf("%v: E[(X-x)^+] = %v at %v, want %v - %v", d, got, x, work, rest)
				}
			}
		}
	}
}

// E[(X - a)^+] is the sum of ∫_a^b P(X > t) dt and E[(X - b)^+], even near the top of the support.
// For these distributions, Gauss's rule of 24 points on an eighth of a factor of 1.3 has an error
// of less than 1e-14, and Survival has errors of about 1e-14.
func TestMeanExcessIntegratesSurvival(t *testing.T) {
	for _, c := range continuous() {
		x := []float64{
			ok(c.Quantile(1e-9)), ok(c.Quantile(0.3)), ok(c.Quantile(0.9)), ok(c.Quantile(0.999)),
			ok(c.Quantile(1 - 1e-13)),
		}
		if _, high, bounded := c.Support(); bounded {
			x = append(x, high*0.9, high*0.99, high) // nearer to the top, the rounding of points would matter
			slices.Sort(x)
		}
		for i, a := range x[:len(x)-1] {
			b := x[i+1]
			n := 8 * (1 + math.Ceil(math.Log(b/a)/math.Log(1.3)))
			var sum float64
			for j := range int(n) {
				from, to := a+(b-a)*float64(j)/n, a+(b-a)*float64(j+1)/n
				if a > 0 && b > 2*a {
					from, to = a*math.Pow(b/a, float64(j)/n), a*math.Pow(b/a, float64(j+1)/n)
				}
				sum += quad.Fixed(c.Survival, from, to, 24, quad.Legendre{}, 0)
			}
			if got, want := c.Distribution.MeanExcess(a),
				sum+c.Distribution.MeanExcess(b); !oracle.Near(got, want, 2e-13) {
				t.Errorf("%v: E[(X-x)^+] = %v at %v, want %v: relative error %v", c, got, a, want, got/want-1)
			}
		}
		if b := x[len(x)-1]; b == 0 || c.Distribution.MeanExcess(b) < 0 {
			t.Errorf("%v: E[(X-x)^+] = %v at %v", c, c.Distribution.MeanExcess(b), b)
		}
	}
}

// bigExcess returns E[X; X > x] - x P(X > x) of the bounded Pareto distribution with 400 bits, of
// which 200 remain for x near the top.
func bigExcess(k, p, alpha, x float64) float64 {
	one := bigFloat(1)
	a := bigFloat(alpha)
	d := op().Mul(bigFloat(x), bigIntegral(op().Neg(a), x, p))
	d.Sub(bigIntegral(op().Sub(one, a), x, p), d)
	v, _ := d.Quo(d, bigIntegral(op().Neg(a), k, p)).Float64()
	return v
}

// The power alpha multiplies the error of min/x by alpha, 5 units of 2^-53, and a logarithm of up
// to 23 is multiplied by the fractional part of alpha. Two terms, of which 2/3 cancels, add about
// 10 units each. The total of 40 units is 5e-15.
func TestBoundedParetoMeanExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "ln k"))
		ratio := rapid.OneOf(rapid.Float64Range(0.01, 23), rapid.SampledFrom([]float64{1e-6, 0.1, 1, 5, 23}))
		p := k * math.Exp(ratio.Draw(t, "ln p/k"))
		alpha := rapid.OneOf(rapid.Float64Range(1e-3, 5),
			rapid.SampledFrom([]float64{1e-15, 0.2, 1 - 1e-10, 1, 1 + 1e-10, 2})).Draw(t, "alpha")
		d := ok(NewBoundedPareto(k, p, alpha))
		x := ok(d.Quantile(rapid.Float64Range(0, 1).Draw(t, "p")))
		if rapid.Bool().Draw(t, "top") {
			x = max(k, p*(1-math.Exp(-rapid.Float64Range(0, 36).Draw(t, "-ln(1-x/p)"))))
		}
		if x >= p {
			return
		}
		if got, want := d.MeanExcess(x), bigExcess(k, p, alpha, x); !oracle.Near(got, want, 1e-14) {
			t.Fatalf("%v: E[(X-x)^+] = %v at %v, want %v: relative error %v", d, got, x, want, got/want-1)
		}
		if got, want := d.MeanExcess(k/2), k/2+bigExcess(k, p, alpha, k); !oracle.Near(got, want, 1e-14) {
			t.Fatalf("%v: E[(X-x)^+] = %v at min/2, want %v", d, got, want)
		}
	})
	// for large alpha, far from the top: min/(α(α-1))
	for _, alpha := range []float64{100, 1e6, 1e9} {
		d := ok(NewBoundedPareto(2, 1e300, alpha))
		if got, want := d.MeanExcess(2), 2/(alpha-1); !oracle.Near(got, want, 1e-15) {
			t.Errorf("%v: E[(X-min)^+] = %v, want %v", d, got, want)
		}
	}
}

// The mean excesses of the Pareto distribution, min^α x^(1-α)/(α-1), and of exponential
// distributions, m e^(-x/m), match formulas with 400 bits, as above.
func TestParetoAndExponentialMeanExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "ln k"))
		x := k * math.Exp(rapid.Float64Range(1e-9, 20).Draw(t, "ln x/k"))
		alpha := 1 + math.Exp(rapid.Float64Range(-20, 1.4).Draw(t, "ln(alpha-1)"))
		a, one := bigFloat(alpha), bigFloat(1)
		v := power(op().Quo(bigFloat(k), bigFloat(x)), a)
		v.Mul(v, bigFloat(x))
		want, _ := v.Quo(v, op().Sub(a, one)).Float64()
		d := ok(NewPareto(k, alpha))
		if got := d.MeanExcess(x); !oracle.Near(got, want, 1e-14) {
			t.Fatalf("%v: E[(X-x)^+] = %v at %v, want %v", d, got, x, want)
		}
		if got, want := d.MeanExcess(k/3), ok(Mean(d))-k/3; !oracle.Near(got, want, 1e-15) {
			t.Fatalf("%v: E[(X-x)^+] = %v at min/3, want %v", d, got, want)
		}
		y := min(x, 30*k)
		e := bigExp(op().Neg(op().Quo(bigFloat(y), bigFloat(k))))
		f := bigExp(op().Neg(op().Quo(bigFloat(y), bigFloat(2*k))))
		want, _ = op().Mul(bigFloat(k), e).Float64()
		if got := ok(NewExponential(k)).MeanExcess(y); !oracle.Near(got, want, 1e-14) {
			t.Fatalf("exponential of mean %v: E[(X-x)^+] = %v at %v, want %v", k, got, y, want)
		}
		e.Mul(e, bigFloat(k)).Add(e, f.Mul(f, bigFloat(2*k)))
		want, _ = e.Quo(e, bigFloat(2)).Float64()
		if got := ok(NewHyperexponential([]float64{0.5, 0.5}, []float64{k, 2 * k})).MeanExcess(y); !oracle.Near(
			got, want, 1e-14,
		) {
			t.Fatalf("hyperexponential of means %v: E[(X-x)^+] = %v at %v, want %v", k, got, y, want)
		}
	})
}

// The mean excess of a list matches an exact sum in 400 bits. The distribution rounds each gap, its
// part and the sum, and adds with twice the bits.
func TestEmpiricalMeanExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(
			rapid.Float64Range(1e-3, 10), rapid.SampledFrom([]float64{1, 10, math.Nextafter(10, 0), 1e9}),
		)
		sizes := rapid.SliceOfN(size, 1, 30).Draw(t, "sizes")
		d := ok(NewEmpirical(sizes))
		for _, x := range append([]float64{-2, 0, 1e-9, 1, 5, math.Nextafter(10, 0), 10, 1e9, 1e10}, sizes...) {
			sum := op()
			for _, s := range sizes {
				if s > x {
					sum.Add(sum, op().Sub(bigFloat(s), bigFloat(x)))
				}
			}
			want, _ := sum.Quo(sum, bigFloat(float64(len(sizes)))).Float64()
			if got := d.MeanExcess(x); !oracle.Near(got, want, 1e-15) {
				t.Fatalf("%v: E[(X-x)^+] = %v at %v, want %v", sizes, got, x, want)
			}
			if len(sizes) == 1 {
				if got := ok(NewDeterministic(sizes[0])).MeanExcess(x); got != max(0, sizes[0]-x) {
					t.Fatalf("deterministic of %v: E[(X-x)^+] = %v at %v", sizes[0], got, x)
				}
			}
		}
	})
}

// Erlang distributions match sums with 400 bits: e^-t Σ_{j<k} (k-j) t^j/j!. The probabilities have
// errors of about 1e-14, from logarithms of up to 30.
func TestErlangMeanExcess(t *testing.T) {
	for _, k := range []int{1, 2, 5, 15, 40} {
		for _, x := range []float64{1e-9, 0.3, 1, 4, 17, 60, 200} {
			sum, term := op(), bigFloat(1)
			for j := range k {
				sum.Add(sum, op().Mul(term, bigFloat(float64(k-j))))
				term.Mul(term, op().Quo(bigFloat(x), bigFloat(float64(j+1))))
			}
			want, _ := sum.Mul(sum, bigExp(bigFloat(-x))).Float64()
			probs := make([]float64, k)
			probs[k-1] = 1
			for _, d := range []Distribution{ok(newErlang(k, 1)), ok(NewPhaseSum(probs, 1))} {
				if got := d.MeanExcess(x); !oracle.Near(got, want, 3e-14) {
					t.Errorf("%v: E[(X-x)^+] = %v at %v, want %v: relative error %v", d, got, x, want, got/want-1)
				}
			}
		}
	}
}

// The lognormal distribution matches its closed form E[X] Q(z-σ) - x Q(z) with 400 bits, with Q
// from a separate series.
func TestLognormalMeanExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := math.Exp(rapid.Float64Range(-14, 13).Draw(t, "ln scv"))
		d := lognormal{3, c, math.Sqrt(math.Log1p(c))}
		x := 3 * math.Exp(d.sigma*rapid.Float64Range(-6, 6).Draw(t, "z"))
		l := math.Log(x / 3)
		if x < 6 && x > 1.5 {
			l = math.Log1p((x - 3) / 3)
		}
		s := bigFloat(d.sigma)
		half := op().Quo(s, bigFloat(2))
		z := op().Quo(bigFloat(l), s)
		above, below := op().Sub(z, half), op().Add(z, half)
		v := op().Mul(bigFloat(3), bigNormalTail(above))
		v.Sub(v, op().Mul(bigFloat(x), bigNormalTail(below)))
		want, _ := v.Float64()
		zf, _ := below.Float64()
		// z has a relative error of a few units of 2^-53, which is multiplied by z². The error of
		// ln x, divided by σ, changes the excess by P(X > x) x in total.
		tol := 1e-14*(1+zf*zf) + 4e-16*math.Abs(l)*x*d.Survival(x)/want
		if got := d.MeanExcess(x); !oracle.Near(got, want, tol) {
			t.Fatalf("%v: E[(X-x)^+] = %v at %v, want %v: relative error %v", d, got, x, want, got/want-1)
		}
	})
}

// bigNormalTail returns 1/2 - f(z) Σ_n z^(2n+1)/(1·3·…·(2n+1)) (Abramowitz and Stegun 26.2.11). For
// |z| < 12, 100 digits remain.
func bigNormalTail(z *big.Float) *big.Float {
	pi, _ := op().SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
	z2 := op().Mul(z, z)
	sum, term := op(), op().Set(z)
	for n := 1.0; n < 1200; n += 2 {
		sum.Add(sum, term)
		term.Mul(term, op().Quo(z2, bigFloat(n+2)))
	}
	f := bigExp(op().Neg(op().Quo(z2, bigFloat(2))))
	f.Quo(f, op().Sqrt(op().Mul(bigFloat(2), pi)))
	return op().Sub(bigFloat(0.5), f.Mul(f, sum))
}

// Weibull distributions of shape 1/2: with t = √(x/s), E[(X-x)^+] = 2s (1 + t) e^-t.
func TestWeibullMeanExcess(t *testing.T) {
	w := weibull{0.5, 3}
	for _, x := range []float64{1e-40, 1e-20, 1e-3, 0.5, 3, 40, 900} {
		r := math.Sqrt(x / 3)
		// The integrals have errors of about 1e-14.
		if got, want := w.MeanExcess(x), 6*(1+r)*math.Exp(-r); !oracle.Near(got, want, 3e-14) {
			t.Errorf("E[(X-x)^+] = %v at %v, want %v", got, x, want)
		}
	}
	for _, shape := range []float64{0.05, 0.5, 1, 3, 50, 1000} {
		d := weibull{shape, 1}
		mean := math.Gamma(1 + 1/shape)
		seam := math.Pow(0x1p-60, 1/shape)
		for _, x := range []float64{seam * (1 - 1e-9), seam * (1 + 1e-9), seam / 2} {
			// The difference x t is 1e-18, 1/shape is rounded twice, and mean - x may be 1/25 of
			// the mean.
			if got, want := d.MeanExcess(x), mean-x; !oracle.Near(got, want, 1e-12) {
				t.Errorf("shape %v: E[(X-x)^+] = %v at %v, want %v", shape, got, x, want)
			}
		}
	}
}

// Arguments at both ends of the line, and at the limits of float64.
func TestMeanExcessAtTheLimits(t *testing.T) {
	distributions := append(
		allDistributions(), ok(NewExponential(1e-300)), ok(NewExponential(1e300)),
		ok(NewErlang(1e6, 1)), ok(NewWeibull(0.05, 1e200)), ok(NewWeibull(1000, 1e-200)),
		ok(NewLognormal(1e-300, 1e6)), ok(NewLognormal(1, 1e-12)), ok(NewPareto(1e100, 1.1)),
		ok(NewBoundedPareto(1e-300, 1e300, 1e9)), ok(NewBoundedPareto(1, 1+1e-15, 1e-100)),
		ok(NewBoundedPareto(1e-300, 1e300, 1e-100)), ok(NewBoundedPareto(1e-300, 1e300, 0.999)),
		ok(NewHyperexponential([]float64{1 - 1e-13, 1e-13}, []float64{1 / float64(maxSpread), 1})),
		ok(NewEmpirical([]float64{1e-300, 1e300})),
	)
	for _, d := range distributions {
		mean := ok(Mean(d))
		if got := d.MeanExcess(0); !oracle.Near(got, mean, 1e-13) {
			t.Errorf("%v: E[X^+] = %v, want %v", d, got, mean)
		}
		if got := d.MeanExcess(-mean); !oracle.Near(got, 2*mean, 1e-13) {
			t.Errorf("%v: E[(X+E[X])^+] = %v, want %v", d, got, 2*mean)
		}
		last := math.Inf(1)
		for _, x := range []float64{
			0, 5e-324, 1e-310, 1e-100, 1e-9, 0.5, 1, 1 + 1e-15, 2, 1e3, 1e9, 1e100, 1e300, 1e308, math.Inf(1),
		} {
			got := d.MeanExcess(x)
			if !(got >= 0 && got <= math.MaxFloat64 && got <= last*(1+1e-13)) {
				t.Errorf("%v: E[(X-x)^+] = %v at %v, %v before", d, got, x, last)
			}
			if want := mean - x; got < want*(1-1e-13) {
				t.Errorf("%v: E[(X-x)^+] = %v at %v, less than E[X] - x = %v", d, got, x, want)
			}
			last = got
		}
		if last != 0 {
			t.Errorf("%v: E[(X-∞)^+] = %v", d, last)
		}
		if _, high, bounded := d.Support(); bounded && d.MeanExcess(high) != 0 {
			t.Errorf("%v: E[(X-max)^+] = %v", d, d.MeanExcess(high))
		}
		if !panics(func() { d.MeanExcess(math.NaN()) }) {
			t.Errorf("%v: no panic at NaN", d)
		}
	}
	if got := ok(NewPareto(1, 1)).MeanExcess(5); !math.IsInf(got, 1) {
		t.Errorf("Pareto of infinite mean: %v", got)
	}
}
