package sizes

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
)

// A checked distribution comes with its density according to gonum or a formula.
type checked struct {
	Distribution
	density  func(x float64) float64
	infinite float64 // moments of orders up to this one are infinite at 0
}

func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gammaDensity(k, mean float64) func(float64) float64 {
	return distuv.Gamma{Alpha: k, Beta: 1 / mean}.Prob
}

func mixture(w []float64, f ...func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		var sum float64
		for i := range w {
			sum += w[i] * f[i](x)
		}
		return sum
	}
}

// continuous returns distributions with densities.
func continuous() []checked {
	bp := func(k, p, alpha float64) func(float64) float64 {
		c := alpha * math.Pow(k, alpha) / -math.Expm1(alpha*math.Log(k/p))
		return func(x float64) float64 { return c * math.Pow(x, -alpha-1) }
	}
	lognormal := func(mean, scv float64) func(float64) float64 {
		s2 := math.Log1p(scv)
		return distuv.LogNormal{Mu: math.Log(mean) - s2/2, Sigma: math.Sqrt(s2)}.Prob
	}
	zipf := BonaldComteZipf()
	var w []float64
	var f []func(float64) float64
	var sum float64
	for k := 1.0; k <= 200; k++ {
		w, f = append(w, 1/(k*k)), append(f, gammaDensity(k, 1))
		sum += 1 / (k * k)
	}
	for i := range w {
		w[i] /= sum
	}
	exps := func(p, m []float64) func(float64) float64 {
		return mixture(p, gammaDensity(1, m[0]), gammaDensity(1, m[1]))
	}
	weibull := func(k, mean float64) func(float64) float64 {
		return distuv.Weibull{K: k, Lambda: mean / math.Gamma(1+1/k)}.Prob
	}
	return []checked{
		{ok(NewExponential(2)), gammaDensity(1, 2), -1},
		{ok(NewErlang(3, 1)), gammaDensity(3, 1.0/3), -3},
		{ok(NewErlang(60, 7)), gammaDensity(60, 7.0/60), -60},
		{BonaldComteBimodal(), mixture([]float64{5.0 / 6, 1.0 / 6}, gammaDensity(1, 0.2), gammaDensity(25, 0.2)), -1},
		{BonaldComteHyperexponential(), exps([]float64{5.0 / 6, 1.0 / 6}, []float64{0.2, 5}), -1},
		{zipf, mixture(w, f...), -1},
		{ok(NewPareto(2, 3.5)), distuv.Pareto{Xm: 2, Alpha: 3.5}.Prob, math.Inf(-1)},
		{ok(NewBoundedPareto(1, 1e4, 1.1)), bp(1, 1e4, 1.1), math.Inf(-1)},
		{ok(NewBoundedPareto(0.3, 7, 2)), bp(0.3, 7, 2), math.Inf(-1)},
		{ok(NewBoundedPareto(1, 1e5, 1e-9)), bp(1, 1e5, 1e-9), math.Inf(-1)},
		{ok(NewLognormal(1, 3)), lognormal(1, 3), math.Inf(-1)},
		{ok(NewLognormal(50, 0.01)), lognormal(50, 0.01), math.Inf(-1)},
		{ok(NewWeibull(0.5, 1)), weibull(0.5, 1), -0.5},
		{ok(NewWeibull(3, 10)), weibull(3, 10), -3},
	}
}

// allDistributions returns distributions of all kinds.
func allDistributions() []Distribution {
	var list []Distribution
	for _, c := range continuous() {
		list = append(list, c.Distribution)
	}
	return append(list, ok(NewDeterministic(3)), ok(NewEmpirical([]float64{3, 1, 2, 2, 1e6, 1e-3})),
		ok(NewBalancedHyperexponential(2, 7)))
}

// integrals are ∫_a^b x^r f(x) dx for each order r, 0 < a < b, by 100 panels of 24 points in ln x.
func integrals(f func(float64) float64, orders []float64, a, b float64) []float64 {
	const panels = 100
	la, lb := math.Log(a), math.Log(b)
	sums := make([]float64, len(orders))
	u, w := make([]float64, 24), make([]float64, 24)
	for i := range panels {
		quad.Legendre{}.FixedLocations(u, w, la+(lb-la)*float64(i)/panels, la+(lb-la)*float64(i+1)/panels)
		for j := range u {
			x := math.Exp(u[j])
			v := w[j] * f(x) * x
			for n, r := range orders {
				sums[n] += math.Pow(x, r) * v
			}
		}
	}
	return sums
}

// Partial moments match integrals of the density, wherever the interval lies.
func TestPartialMomentsMatchIntegrals(t *testing.T) {
	orders := []float64{-2.5, -1, -0.5, 0, 0.3, 1, 2, 3.5}
	for _, c := range continuous() {
		q := func(p float64) float64 { return ok(c.Quantile(p)) }
		x := []float64{q(1e-9), q(0.01), q(0.3), q(0.3) * 1.001, q(0.5), q(0.9), q(0.999), q(1 - 1e-12)}
		var pieces [][]float64
		for i := range x[1:] {
			pieces = append(pieces, integrals(c.density, orders, x[i], x[i+1]))
		}
		for i, low := range x {
			want := make([]float64, len(orders)) // from low to high
			for j, high := range x[i+1:] {
				for n, v := range pieces[i+j] {
					want[n] += v
				}
				for n, r := range orders {
					got, err := c.PartialMoment(r, low, high)
					// The densities of gonum have errors of about 1e-13, since k ln x and the
					// log-gamma function cancel.
					if err != nil || !oracle.Near(got, want[n], 2e-12) {
						t.Errorf("%v: E[X^%v; %v, %v] = %v, want %v, error %v", c, r, low, high, got, want[n], err)
					}
				}
			}
		}
	}
}

// On intervals of a relative length of 1e-9, and between neighbouring numbers, moments are x^r f(x)
// (b - a).
func TestShortIntervals(t *testing.T) {
	for _, c := range continuous() {
		for _, p := range []float64{1e-6, 0.2, 0.7, 1 - 1e-9} {
			low := ok(c.Quantile(p))
			for _, high := range []float64{low * (1 + 1e-9), math.Nextafter(low, math.Inf(1))} {
				mid := low + (high-low)/2
				for _, r := range []float64{-1, 0, 1.5} {
					got, err := c.PartialMoment(r, low, high)
					// Over the interval the density changes by a relative 1e-9 n at most, and only
					// the second order remains.
					if want := math.Pow(mid, r) * c.density(mid) * (high - low); err != nil ||
						!oracle.Near(got, want, 1e-12) {
						t.Errorf("%v: E[X^%v; %v, +%g] = %v, want %v, error %v", c, r, low, high-low, got, want, err)
					}
				}
			}
		}
	}
}

func TestMomentsMatchWholePartialMoments(t *testing.T) {
	for _, d := range allDistributions() {
		for _, r := range []float64{-3, -1, -0.7, 0, 0.5, 1, 2, 3, 3.4} {
			m, err := d.Moment(r)
			if err != nil {
				continue
			}
			// The parts of any partition add up to the whole.
			for _, q := range []float64{1e-5, 0.2, 0.5, 0.99} {
				x := ok(d.Quantile(q))
				a, b := ok(d.PartialMoment(r, 0, x)), ok(d.PartialMoment(r, x, math.Inf(1)))
				if !oracle.Near(a+b, m, 1e-13) {
					t.Errorf("%v: E[X^%v] = %v, cut at %v: %v + %v", d, r, m, x, a, b)
				}
			}
		}
	}
}

func TestInfiniteMoments(t *testing.T) {
	for _, c := range continuous() {
		if math.IsInf(c.infinite, -1) {
			continue
		}
		for _, r := range []float64{c.infinite, c.infinite - 0.5} {
			for _, high := range []float64{1e-3, 1, math.Inf(1)} {
				if v, err := c.PartialMoment(r, 0, high); !errors.Is(err, ErrInfinite) {
					t.Errorf("%v: E[X^%v; 0, %v] = %v, error %v, want infinite", c, r, high, v, err)
				}
			}
			if v, err := c.PartialMoment(r, 1e-3, 1); err != nil || !(v >= 0) {
				t.Errorf("%v: E[X^%v; 1e-3, 1] = %v, error %v", c, r, v, err)
			}
		}
		if v, err := c.Moment(c.infinite + 0.1); err != nil || !(v > 0) {
			t.Errorf("%v: E[X^%v] = %v, error %v", c, c.infinite+0.1, v, err)
		}
	}
	p := ok(NewPareto(1, 1.5))
	for _, r := range []float64{1.5, 2} {
		if _, err := p.Moment(r); !errors.Is(err, ErrInfinite) {
			t.Errorf("Pareto 1.5: moment %v has error %v", r, err)
		}
	}
	if _, err := SCV(p); !errors.Is(err, ErrInfinite) {
		t.Errorf("SCV of Pareto 1.5 has error %v", err)
	}
	if _, err := ok(NewExponential(1e200)).Moment(2); !errors.Is(err, ErrOverflow) {
		t.Errorf("overflow has error %v", err)
	}
}

// CDF and Survival are partial moments of order 0, each with a small relative error.
func TestDistributionFunctions(t *testing.T) {
	for _, d := range allDistributions() {
		for _, p := range []float64{1e-13, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 1e-13} {
			x := ok(d.Quantile(p))
			cdf, survival := d.CDF(x), d.Survival(x)
			// NormalQuantile and the powers of Weibull have errors of about 1e-14.
			if want := ok(d.PartialMoment(0, 0, x)); !oracle.Near(cdf, want, 1e-13) {
				t.Errorf("%v: CDF(%v) = %v, want %v", d, x, cdf, want)
			}
			if want := ok(d.PartialMoment(0, x, math.Inf(1))); !oracle.Near(survival, want, 1e-13) {
				t.Errorf("%v: Survival(%v) = %v, want %v", d, x, survival, want)
			}
			if cdf+survival < 1-1e-14 || cdf+survival > 1+1e-14 {
				t.Errorf("%v: CDF + Survival = %v at %v", d, cdf+survival, x)
			}
		}
		if d.CDF(-1) != 0 || d.Survival(-1) != 1 || d.CDF(0) != 0 || d.Survival(0) != 1 {
			t.Errorf("%v: P(X <= 0) = %v", d, d.CDF(0))
		}
		if d.CDF(math.Inf(1)) != 1 || d.Survival(math.Inf(1)) != 0 || d.Survival(1e300) > 1e-200 {
			t.Errorf("%v: P(X > ∞) = %v", d, d.Survival(math.Inf(1)))
		}
	}
}

// The far tails match gonum, which has the regularized incomplete gamma function, and elementary
// forms.
func TestTails(t *testing.T) {
	e := ok(NewErlang(10, 10))
	for _, x := range []float64{1e-3, 0.5, 5, 40, 100, 300} {
		g := distuv.Gamma{Alpha: 10, Beta: 1}
		if got, want := e.Survival(x), g.Survival(x); !oracle.Near(got, want, 1e-12) {
			t.Errorf("Erlang: P(X > %v) = %v, gonum %v", x, got, want)
		}
		if got, want := e.CDF(x), g.CDF(x); !oracle.Near(got, want, 1e-12) {
			t.Errorf("Erlang: P(X <= %v) = %v, gonum %v", x, got, want)
		}
	}
}

func TestQuantileInvertsCDF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(allDistributions()).Draw(t, "distribution")
		p := rapid.Float64Range(1e-15, 1-1e-12).Draw(t, "p")
		x := ok(d.Quantile(p))
		low, high, bounded := d.Support()
		if x < low || bounded && x > high {
			t.Fatalf("%v: quantile %v of %v outside the support", d, x, p)
		}
		if zero := ok(d.Quantile(0)); zero != low {
			t.Fatalf("%v: quantile of 0 is %v", d, zero)
		}
		// A step of 1e-12 to the left of a quantile falls below p, and one to the right reaches it;
		// quantiles and CDF are rounded.
		if left, right := d.CDF(x*(1-1e-12)), d.CDF(x*(1+1e-12)); left > p*(1+1e-14) || right < p*(1-1e-14) {
			t.Fatalf("%v: CDF runs from %v to %v at quantile %v of %v", d, left, right, x, p)
		}
	})
}

func TestScaled(t *testing.T) {
	for _, d := range allDistributions() {
		s := ok(d.Scaled(3.7))
		if _, phased := d.(Phased); phased {
			p, q := d.(Phased).Phases(), s.(Phased).Phases()
			if !oracle.Near(p.Mean*3.7, q.Mean, 1e-15) || !oracle.Near(p.MeanCount, q.MeanCount, 1e-14) {
				t.Errorf("%v: phases %v scaled are %v", d, p, q)
			}
		}
		for _, r := range []float64{-0.4, 1, 2} {
			got, want := ok(s.PartialMoment(r, 3.7, 37)), math.Pow(3.7, r)*ok(d.PartialMoment(r, 1, 10))
			if !oracle.Near(got, want, 1e-12) {
				t.Errorf("%v: scaled moment %v, want %v", d, got, want)
			}
		}
		if !oracle.Near(ok(SCV(s)), ok(SCV(d)), 1e-13) {
			t.Errorf("%v: SCV %v changed to %v", d, ok(SCV(d)), ok(SCV(s)))
		}
		if s.String() == d.String() || ok(d.Scaled(1)).String() != d.String() {
			t.Errorf("%v: texts %q, %q", d, s, ok(d.Scaled(1)))
		}
		if m := ok(Mean(ok(WithMean(d, 0.7)))); !oracle.Near(m, 0.7, 1e-14) {
			t.Errorf("%v: scaled to mean %v", d, m)
		}
	}
}

// stdDev returns the standard deviation.
func stdDev(d Distribution) float64 { return math.Sqrt(ok(SCV(d))) * ok(Mean(d)) }

// SCV matches the variance from raw moments, which cancels, whereas SCV does not.
func TestSCV(t *testing.T) {
	for _, d := range allDistributions() {
		m, m2 := ok(d.Moment(1)), ok(d.Moment(2))
		if got, want := ok(SCV(d)), m2/m/m-1; math.Abs(got-want) > 1e-14*m2/m/m*20 {
			t.Errorf("%v: SCV %v, want %v", d, got, want)
		}
	}
	for _, c := range []struct {
		d        Distribution
		variance float64
	}{
		{ok(NewExponential(2)), 4}, {ok(NewErlang(3, 6)), 12}, {ok(NewDeterministic(3)), 0},
		{ok(NewEmpirical([]float64{1, 2, 3, 6})), 3.5}, {ok(NewPareto(2, 3)), 3}, {ok(NewLognormal(5, 3)), 75},
		{ok(NewBoundedPareto(1, 2, 1)), 2 - 4*math.Ln2*math.Ln2}, // E[X] = 2 ln 2, E[X²] = 2
		{ok(NewWeibull(0.5, 2)), 20},                             // X = T²: E[X] = 2, E[X²] = 24
	} {
		if got := stdDev(c.d); !oracle.Near(got, math.Sqrt(c.variance), 1e-14) {
			t.Errorf("%v: standard deviation %v, want √%v", c.d, got, c.variance)
		}
	}
	if got := ok(SCV(ok(NewErlang(1e6, 3)))); got != 1e-6 {
		t.Errorf("SCV of Erlang-1e6 is %v", got)
	}
	// ln Γ(1+2h) - 2 ln Γ(1+h) = ζ(2) h² - 2ζ(3) h³ + 7ζ(4)/2 h⁴ - ..., where h⁵ is 4e-9 of the sum
	// here.
	h := 1e-3
	want := math.Expm1(h * h * (math.Pi*math.Pi/6 - 2*1.2020569031595942*h + 7*math.Pow(math.Pi, 4)/180*h*h))
	if got := ok(SCV(ok(NewWeibull(1/h, 1)))); !oracle.Near(got, want, 1e-8) {
		t.Errorf("SCV of Weibull of shape 1000 is %v, want %v", got, want)
	}
}

// ks returns the Kolmogorov-Smirnov distance between a sample and a distribution without atoms.
func ks(sample []float64, cdf func(float64) float64) float64 {
	slices.Sort(sample)
	n := float64(len(sample))
	var d float64
	for i, x := range sample {
		p := cdf(x)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return d
}

// ksLimit is exceeded with probability at most 2 exp(-2 n d²) < 2e-8 (Massart's bound), so all
// tests together stay below 1e-6.
func ksLimit(n int) float64 { return math.Sqrt(math.Log(2/2e-8) / 2 / float64(n)) }

// meanNear reports whether the mean of n samples is within 6 standard errors; for n = 40000 and the
// moderate distributions of the tests, the tail is close to the normal one, 2e-9.
func meanNear(sample []float64, mean, sd float64) bool {
	var sum float64
	for _, x := range sample {
		sum += x
	}
	n := float64(len(sample))
	return math.Abs(sum/n-mean) <= 6*sd/math.Sqrt(n)
}

func TestSamples(t *testing.T) {
	const n = 40000
	for i, c := range continuous() {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		sample := make([]float64, n)
		for j := range sample {
			sample[j] = c.Sample(r)
			if !(sample[j] > 0) || math.IsInf(sample[j], 1) {
				t.Fatalf("%v: sample %v", c, sample[j])
			}
		}
		if d := ks(sample, c.CDF); d > ksLimit(n) {
			t.Errorf("%v: distance %v, limit %v", c, d, ksLimit(n))
		}
		// X^(1/4) has the right mean; all of its relevant moments exist.
		root, half := ok(c.Moment(0.25)), ok(c.Moment(0.5))
		for j, x := range sample {
			sample[j] = math.Sqrt(math.Sqrt(x))
		}
		if !meanNear(sample, root, math.Sqrt(half-root*root)) {
			t.Errorf("%v: mean of X^(1/4) is off %v", c, root)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	e := ok(NewEmpirical([]float64{5, 1, 1, 1}))
	count := 0
	for range n {
		if e.Sample(r) == 5 {
			count++
		}
	}
	if math.Abs(float64(count)-n/4) > 6*math.Sqrt(n*3.0/16) {
		t.Errorf("empirical: %d of %d", count, n)
	}
}

// Sums of K phases have the distribution: K is drawn, and a gamma variable of gonum replaces the
// sum.
func TestPhases(t *testing.T) {
	const n = 40000
	for i, d := range allDistributions() {
		p, phased := d.(Phased)
		if !phased {
			continue
		}
		ph := p.Phases()
		if mean := ok(Mean(d)); !oracle.Near(ph.Mean*ph.MeanCount, mean, 1e-13) {
			t.Errorf("%v: %v phases of mean %v, mean %v", d, ph.MeanCount, ph.Mean, mean)
		}
		if (ph.Draw == nil) != (ph.Fixed > 0) || ph.Fixed > 0 && float64(ph.Fixed) != ph.MeanCount {
			t.Errorf("%v: %+v", d, ph)
		}
		r := rand.New(rand.NewPCG(3, uint64(i)))
		sample := make([]float64, n)
		for j := range sample {
			k := ph.Fixed
			if k == 0 {
				k = ph.Draw(r)
			}
			if k < 1 {
				t.Fatalf("%v: %d phases", d, k)
			}
			sample[j] = distuv.Gamma{Alpha: float64(k), Beta: 1 / ph.Mean, Src: r}.Rand()
		}
		if d := ks(sample, p.CDF); d > ksLimit(n) {
			t.Errorf("%v: distance %v, limit %v", p, d, ksLimit(n))
		}
		if !meanNear(sample, ok(Mean(d)), stdDev(d)) {
			t.Errorf("%v: mean of the sums of phases is off", d)
		}
	}
}

// The largest ratio, 1e9 if an int has 64 bits, gives slow jobs that many phases on average.
func TestGeometricIsNotTruncated(t *testing.T) {
	h := ok(NewHyperexponential([]float64{0.5, 0.5}, []float64{1, float64(maxSpread)})).Phases()
	r := rand.New(rand.NewPCG(5, 5))
	const n = 40000
	var sum float64
	for range n {
		sum += float64(h.Draw(r)) / float64(maxSpread)
	}
	if mean, sd := 0.5, math.Sqrt(0.75); math.Abs(sum/n-mean) > 6*sd/math.Sqrt(n) {
		t.Errorf("mean count %v times the largest ratio", sum/n)
	}
}

func TestBonaldComte(t *testing.T) {
	for _, c := range []struct {
		d        Phased
		mean, sd float64 // rounded to two decimals
	}{
		{BonaldComteBimodal(), 1, 1.84},
		{BonaldComteHyperexponential(), 1, 2.72}, // √7.4; the paper prints 2.05 = √4.2
		{BonaldComteZipf(), 3.58, 10.62},         // the paper truncates 10.6157 to 10.61
	} {
		mean, sd := ok(Mean(c.d)), stdDev(c.d)
		if math.Abs(mean-c.mean) > 0.005 || math.Abs(sd-c.sd) > 0.005 {
			t.Errorf("%v: mean %v, standard deviation %v", c.d, mean, sd)
		}
	}
	half := ok(BonaldComteHyperexponential().Moment(2)) / 2
	if math.Abs(math.Sqrt(half)-2.05) > 0.005 {
		t.Errorf("√(E[X²]/2) = %v is not the 2.05 of the paper", math.Sqrt(half))
	}
	if sd := stdDev(BonaldComteZipf()); math.Floor(sd*100) != 1061 {
		t.Errorf("Zipf: standard deviation %v is not cut to 10.61", sd)
	}
}

func TestBadArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	var bad []error
	add := func(err error) { bad = append(bad, err) }
	check := func(_ any, err error) { add(err) }
	for _, v := range []float64{nan, inf, 0, -1, 1e301} {
		check(NewExponential(v))
		check(NewErlang(2, v))
		check(NewDeterministic(v))
		check(NewHyperexponential([]float64{0.5, 0.5}, []float64{1, v}))
		check(NewHyperexponential([]float64{0.5, v}, []float64{1, 2}))
		check(NewBalancedHyperexponential(v, 2))
		check(NewBalancedHyperexponential(1, v))
		check(NewPhaseSum([]float64{0.5, 0.5}, v))
		check(NewPhaseSum([]float64{1, v + 2}, 1))
		check(NewPareto(v, 2))
		check(NewPareto(1, v))
		check(NewBoundedPareto(v, 2, 1))
		check(NewBoundedPareto(1, v, 1))
		check(NewBoundedPareto(1, 2, v))
		check(NewBoundedParetoOfMean(v, 2, 1))
		check(NewBoundedParetoOfMean(1, v, 1))
		check(NewBoundedParetoOfMean(1, 2, v))
		check(NewLognormal(v, 1))
		check(NewLognormal(1, v))
		check(NewWeibull(v, 1))
		check(NewWeibull(1, v))
		check(NewEmpirical([]float64{1, v}))
		check(Parse("exponential", v))
		check(WithMean(BonaldComteZipf(), v))
		for _, d := range allDistributions() {
			check(d.Scaled(v))
		}
	}
	for _, d := range allDistributions() {
		for _, v := range []float64{nan, inf, -inf, 1001} {
			check(d.Moment(v))
			check(d.PartialMoment(v, 1, 2))
		}
		for _, v := range []float64{nan, -1} {
			check(d.PartialMoment(1, v, 2))
			check(d.PartialMoment(1, 3, v))
			check(d.Quantile(v))
		}
		check(d.PartialMoment(1, 3, 2))
		check(d.Quantile(1.5))
		_, high, bounded := d.Support()
		if v, err := d.Quantile(1); bounded != (err == nil) || v != high {
			t.Errorf("%v: quantile of 1 is %v, error %v", d, v, err)
		}
	}
	check(NewPhaseSum(nil, 1))
	check(NewHyperexponential(nil, nil))
	check(NewHyperexponential([]float64{1}, nil))
	check(NewHyperexponential([]float64{0.5, 0.5}, []float64{1, 1.1e9}))
	check(NewErlang(0, 1))
	check(NewErlang(1_000_001, 1))
	check(NewEmpirical(nil))
	check(NewBoundedPareto(2, 1, 1))
	for i, err := range bad {
		var e *input.Error
		if !errors.As(err, &e) || e.Path == "" {
			t.Errorf("case %d: error %v", i, err)
		}
	}
}

func TestEqualTextsEqualDistributions(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range allDistributions() {
		if seen[fmt.Sprint(d)] {
			t.Errorf("%v occurs twice", d)
		}
		seen[fmt.Sprint(d)] = true
	}
}

// For all arguments, even at the limits of float64, an answer is a number >= 0 or an error.
func TestExtremeArguments(t *testing.T) {
	distributions := append(
		allDistributions(), ok(NewExponential(1e-300)), ok(NewExponential(1e300)), ok(NewErlang(1e6, 1)),
		ok(NewWeibull(0.05, 1e200)), ok(NewWeibull(1000, 1e-200)), ok(NewLognormal(1e-300, 1e6)),
		ok(NewLognormal(1, 1e-12)), ok(NewPareto(1e100, 0.35)), ok(NewBoundedPareto(1e-300, 1e300, 1e9)),
		ok(NewBoundedPareto(1, 1+1e-15, 1e-100)), ok(NewBoundedPareto(1e-300, 1e300, 1e-100)),
		ok(NewHyperexponential([]float64{1 - 1e-13, 1e-13}, []float64{1 / float64(maxSpread), 1})),
		ok(NewEmpirical([]float64{1e-300, 1e300})),
	)
	points := []float64{0, 5e-324, 1e-100, 1e-3, 1, 1 + 1e-15, 1e3, 1e308, math.Inf(1)}
	r := rand.New(rand.NewPCG(7, 7))
	for _, d := range distributions {
		for i, low := range points {
			cdf, survival := d.CDF(low), d.Survival(low)
			if !(cdf >= 0 && cdf <= 1 && survival >= 0 && survival <= 1 && math.Abs(cdf+survival-1) < 1e-9) {
				t.Errorf("%v: CDF %v, Survival %v at %v", d, cdf, survival, low)
			}
			for _, high := range points[i:] {
				for _, order := range []float64{-1000, -400, -1, 0, 1e-300, 1, 2, 171.5, 1000} {
					v, err := d.PartialMoment(order, low, high)
					if !(v >= 0 && v <= math.MaxFloat64) || err != nil && v != 0 {
						t.Errorf("%v: E[X^%v; %v, %v] = %v, error %v", d, order, low, high, v, err)
					}
				}
			}
		}
		for _, p := range []float64{0, 5e-324, 1e-17, 0.5, 1 - 1.2e-16} {
			if x, err := d.Quantile(p); err != nil || !(x >= 0 && x <= math.MaxFloat64) {
				t.Errorf("%v: quantile of %v is %v, error %v", d, p, x, err)
			}
		}
		for range 1000 {
			if x := d.Sample(r); !(x > 0 && x <= math.MaxFloat64) {
				t.Errorf("%v: sample %v", d, x)
			}
		}
		if c, err := SCV(d); !(c >= 0 && c <= math.MaxFloat64) || err != nil && c != 0 {
			t.Errorf("%v: SCV %v, error %v", d, c, err)
		}
	}
}
