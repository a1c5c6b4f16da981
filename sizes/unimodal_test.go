package sizes

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// randomUnimodal draws a distribution of any unimodal family.
func randomUnimodal(t *rapid.T) Unimodal {
	mean := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "ln mean"))
	var d Distribution
	switch rapid.IntRange(0, 7).Draw(t, "family") {
	case 0:
		d = ok(NewExponential(mean))
	case 1:
		d = ok(NewErlang(rapid.IntRange(1, 300).Draw(t, "phases"), mean))
	case 2:
		d = ok(NewBalancedHyperexponential(mean, 1+math.Exp(rapid.Float64Range(-5, 5).Draw(t, "ln(scv-1)"))))
	case 3:
		d = ok(NewHyperexponential([]float64{0.2, 0.3, 0.5}, []float64{mean, 7, 0.01}))
	case 4:
		d = ok(NewPareto(mean, rapid.Float64Range(0.2, 5).Draw(t, "alpha")))
	case 5:
		ratio := math.Exp(rapid.Float64Range(1e-6, 20).Draw(t, "ln ratio"))
		d = ok(NewBoundedPareto(mean, mean*ratio, rapid.Float64Range(1e-9, 5).Draw(t, "alpha")))
	case 6:
		d = ok(NewLognormal(mean, math.Exp(rapid.Float64Range(-8, 5).Draw(t, "ln scv"))))
	case 7:
		d = ok(NewWeibull(rapid.Float64Range(0.2, 10).Draw(t, "shape"), mean))
	}
	return d.(Unimodal)
}

// Integrals of the density are probabilities, and inside an interval the density is at least the
// smaller of its values at the ends.
func TestDensityIsUnimodal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := randomUnimodal(t)
		p := rapid.Float64Range(1e-6, 1-1e-6)
		a, b := ok(d.Quantile(p.Draw(t, "p"))), ok(d.Quantile(p.Draw(t, "q")))
		a, b = min(a, b), max(a, b)
		if a == b {
			return
		}
		// The errors of both sides are about 1e-14, and slightly larger for Weibull and lognormal
		// tails; the ends of the integral are rounded as logarithms, up to 30 here.
		got := integrals(d.Density, []float64{0}, a, b)[0]
		if want := ok(d.PartialMoment(0, a, b)); !oracle.Near(got, want, 1e-12+30*0x1p-52/logRatio(a, b)) {
			t.Fatalf("%v: ∫ f over [%v, %v] = %v, want %v", d, a, b, got, want)
		}
		mode := d.Mode()
		least := min(d.Density(a), d.Density(b))
		for i := range 9 {
			x := a + (b-a)*float64(i)/8
			if d.Density(x) < least*(1-1e-12) {
				t.Fatalf("%v: density %v at %v, %v and %v at %v and %v",
					d, d.Density(x), x, d.Density(a), d.Density(b), a, b)
			}
			if mode > 0 && d.Density(x) > d.Density(mode)*(1+1e-13) {
				t.Fatalf("%v: density %v at %v, %v at the mode %v", d, d.Density(x), x, d.Density(mode), mode)
			}
		}
		if rises := a < mode; mode > 0 && b <= mode && d.Density(a) > d.Density(b)*(1+1e-12) ||
			!rises && d.Density(a) < d.Density(b)*(1-1e-12) {
			t.Fatalf("%v: mode %v, density %v and %v at %v and %v", d, mode, d.Density(a), d.Density(b), a, b)
		}
	})
}

// Densities match those of gonum and elementary ones; the distributions without a density here may
// have several modes.
func TestDensityAgainstGonum(t *testing.T) {
	for _, c := range continuous() {
		d, has := c.Distribution.(Unimodal)
		_, sum := c.Distribution.(phaseSum)
		if has == sum {
			t.Errorf("%v: unimodal is %v", c, has)
		}
		if !has {
			continue
		}
		for _, p := range []float64{1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-12} {
			x := ok(c.Quantile(p))
			if got, want := d.Density(x), c.density(x); !oracle.Near(got, want, 2e-12) { // as for their integrals
				t.Errorf("%v: density %v at %v, want %v", c, got, x, want)
			}
		}
	}
}

// Densities match formulas with 400 bits in the stored parameters, to the last digits. Quotients
// such as x/mean, at most 20 here, are rounded before they are exponentiated or raised to powers up
// to the eleventh: about 50 units of 2^-53 in total, 6e-15.
func TestDensityAgainstBigFloats(t *testing.T) {
	div := func(a, b *big.Float) *big.Float { return op().Quo(a, b) }
	mul := func(a, b *big.Float) *big.Float { return op().Mul(a, b) }
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "ln scale"))
		u := math.Exp(rapid.Float64Range(-5, 3).Draw(t, "ln u"))
		x := scale * u
		bx, bs := bigFloat(x), bigFloat(scale)
		check := func(d Distribution, want *big.Float) {
			f, _ := want.Float64()
			if got := d.(Unimodal).Density(x); !oracle.Near(got, f, 1e-14) {
				t.Fatalf("%v: density %v at %v, want %v: relative error %v", d, got, x, f, got/f-1)
			}
		}
		fall := bigExp(op().Neg(div(bx, bs))) // e^(-x/scale)
		check(ok(NewExponential(scale)), div(fall, bs))
		k := rapid.IntRange(2, 12).Draw(t, "phases")
		factorial := new(big.Int).MulRange(1, int64(k-1))
		gamma := mul(fall, power(div(bx, bs), bigFloat(float64(k-1))))
		check(ok(newErlang(k, scale)), div(div(gamma, op().SetInt(factorial)), bs))
		second := bigExp(op().Neg(div(bx, bigFloat(3)))) // e^(-x/3)
		mix := op().Add(div(fall, bs), second)           // equal mixture: e^(-x/3)/3 has weight 1/2
		mix.Sub(mix, div(mul(second, bigFloat(2)), bigFloat(3)))
		check(ok(NewHyperexponential([]float64{0.5, 0.5}, []float64{scale, 3})), div(mix, bigFloat(2)))
		alpha := rapid.Float64Range(0.2, 5).Draw(t, "alpha")
		shape := rapid.Float64Range(0.3, 2).Draw(t, "shape")
		if u > 1 {
			ba := bigFloat(alpha)
			check(ok(NewPareto(scale, alpha)), div(mul(ba, power(div(bs, bx), ba)), bx))
			high := scale * math.Exp(rapid.Float64Range(3.1, 9).Draw(t, "ln ratio"))
			whole := bigIntegral(op().Neg(ba), scale, high) // ∫ x^(-alpha-1)
			check(ok(NewBoundedPareto(scale, high, alpha)), div(power(bx, op().Neg(op().Add(ba, bigFloat(1)))), whole))
		}
		if u < 3 { // the exponent, up to 9, has the error of a power
			p := power(div(bx, bs), bigFloat(shape))
			check(weibull{shape, scale}, div(mul(mul(bigFloat(shape), p), bigExp(op().Neg(p))), bx))
		}
		if u > 0.1 && u < 10 { // z, up to 4, is rounded, and squared
			c := rapid.Float64Range(0.5, 20).Draw(t, "scv")
			s2 := bigLog(op().Add(bigFloat(1), bigFloat(c)))
			z := op().Add(bigLog(div(bx, bs)), div(s2, bigFloat(2)))
			e := bigExp(op().Neg(div(mul(z, z), mul(s2, bigFloat(2)))))
			pi, _ := op().SetString(
				"3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803",
			)
			root := op().Sqrt(mul(mul(bigFloat(2), pi), s2))
			check(ok(NewLognormal(scale, c)), div(div(e, root), bx))
		}
	})
}

// At the mode the derivative of the density, by difference quotients, is 0. Distributions without
// an interior peak have their mode at the low end.
func TestMode(t *testing.T) {
	for _, c := range []struct {
		d    Distribution
		want float64
	}{
		{ok(NewExponential(3)), 0}, {ok(NewErlang(4, 8)), 6}, {BonaldComteHyperexponential(), 0},
		{ok(NewBalancedHyperexponential(1, 3)), 0}, {ok(NewPareto(2, 3)), 2}, {ok(NewBoundedPareto(2, 9, 3)), 2},
		{ok(NewLognormal(8, 3)), 1}, {ok(NewWeibull(0.5, 1)), 0}, {ok(NewWeibull(1, 1)), 0},
		{ok(NewWeibull(2, 1)), math.Sqrt(2 / math.Pi)}, // s = 2/√π
	} {
		d := c.d.(Unimodal)
		if got := d.Mode(); !oracle.Near(got, c.want, 1e-15) {
			t.Errorf("%v: mode %v, want %v", d, got, c.want)
		}
	}
	for _, d := range []Unimodal{
		ok(NewErlang(200, 8)).(Unimodal), ok(NewLognormal(8, 0.3)).(Unimodal), ok(NewWeibull(1.3, 5)).(Unimodal),
	} {
		m := d.Mode()
		// The peak is flat to first order, so at a relative step of 1e-3 only the third order
		// remains.
		left, right, top := d.Density(m*(1-1e-3)), d.Density(m*(1+1e-3)), d.Density(m)
		if !(left < top && right < top && math.Abs(left-right) < 0.1*(top-left)) {
			t.Errorf("%v: densities %v, %v, %v around the mode %v", d, left, top, right, m)
		}
	}
}

// Outside the support the density is 0, and at the limits of float64 it is a number.
func TestDensityAtTheLimits(t *testing.T) {
	distributions := []Distribution{
		ok(NewExponential(1e-300)), ok(NewExponential(1e300)), ok(NewErlang(1e6, 1)),
		ok(NewErlang(20, 1)), ok(NewErlang(3, 1)), ok(NewWeibull(0.05, 1e-200)),
		ok(NewWeibull(0.05, 1e200)), ok(NewWeibull(1000, 1e-200)), ok(NewLognormal(1e-300, 1e6)),
		ok(NewLognormal(1, 1e-12)), ok(NewPareto(1e100, 0.35)), ok(NewPareto(1e-100, 1e9)),
		ok(NewBoundedPareto(1e-300, 1e300, 1e9)), ok(NewBoundedPareto(1e-300, 1e-300*(1+1e-15), 1e-100)),
		ok(NewHyperexponential([]float64{1 - 1e-13, 1e-13}, []float64{1 / float64(maxSpread), 1})),
	}
	for _, distribution := range distributions {
		d := distribution.(Unimodal)
		low, high, bounded := d.Support()
		points := []float64{
			math.Inf(-1), -1, 0, 5e-324, 1e-310, 1e-200, low, math.Nextafter(low, 0), 1, 1e200,
			math.MaxFloat64, math.Inf(1),
		}
		if bounded {
			points = append(points, high, math.Nextafter(high, math.Inf(1)))
		}
		for _, x := range append(points, d.Mode()) {
			f := d.Density(x)
			if !(f >= 0 && f <= math.MaxFloat64) || (x <= 0 || x < low || bounded && x > high) && f != 0 {
				t.Errorf("%v: density %v at %v", d, f, x)
			}
		}
		if low > 0 && d.Density(low) == 0 || bounded && high < 2*low && d.Density(high) == 0 {
			t.Errorf("%v: density 0 at an end of the support", d)
		}
		if !panics(func() { d.Density(math.NaN()) }) {
			t.Errorf("%v: density of NaN", d)
		}
	}
	if f := ok(NewWeibull(0.05, 1e-200)).(Unimodal).Density(5e-324); f != math.MaxFloat64 {
		t.Errorf("a density beyond float64 is %v", f)
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return
}
