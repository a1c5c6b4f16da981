package sizes

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
)

const prec = 400

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func bigLog(x *big.Float) *big.Float { return ok(num.LogInterval(x, prec+64)).Low }

func bigExp(x *big.Float) *big.Float { return ok(num.ExpInterval(x, prec)).Low }

// power returns x^y = exp(y log x). The digits of y log x before the decimal point reduce those
// after it.
func power(x, y *big.Float) *big.Float {
	return bigExp(new(big.Float).SetPrec(prec+64).Mul(y, bigLog(x)))
}

func op() *big.Float { return new(big.Float).SetPrec(prec) }

// bigIntegral returns (b^m - a^m)/m, or ln(b/a) for m = 0.
func bigIntegral(m *big.Float, a, b float64) *big.Float {
	if m.Sign() == 0 {
		return bigLog(op().Quo(bigFloat(b), bigFloat(a)))
	}
	d := op().Sub(power(bigFloat(b), m), power(bigFloat(a), m))
	return d.Quo(d, m)
}

// bigPartial returns α k^α/(1 - (k/p)^α) (b^m - a^m)/m, m = r-α, or ln(b/a) in place of the last
// fraction. More than 200 of 400 bits remain after the cancellations of short intervals (2^-53 of
// 1) and of small m and α (1e-16).
func bigPartial(k, p, alpha, r, a, b float64) float64 {
	one := bigFloat(1)
	integral := bigIntegral(op().Sub(bigFloat(r), bigFloat(alpha)), a, b)
	c := op().Mul(bigFloat(alpha), power(bigFloat(k), bigFloat(alpha)))
	c.Quo(c, op().Sub(one, power(op().Quo(bigFloat(k), bigFloat(p)), bigFloat(alpha))))
	v, _ := c.Mul(c, integral).Float64()
	return v
}

// Partial moments are accurate to the last digits for any order, including orders near alpha, for
// alpha near 0, and for intervals of any length. In units of 2^-53, the power alpha multiplies the
// error of min/a by alpha, at most 5. math.Pow computes the fractional part of an exponent (0.2, or
// 1/2 by a root here) through a logarithm of up to 31 for a^r and 23 for min/a. Each is rounded
// twice, which gives 22 in total. The other operations add about 20. The sum is 5e-15.
func TestBoundedParetoAgainstBigFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "ln k"))
		p := k * math.Exp(rapid.SampledFrom([]float64{1e-6, 0.1, 1, 5, 23}).Draw(t, "ln p/k"))
		alpha := rapid.SampledFrom([]float64{1e-15, 1e-7, 0.2, 0.5, 1, 1 + 1e-10, 1.1, 1.9, 2, 5}).Draw(t, "alpha")
		r := rapid.SampledFrom([]float64{
			-1, 0, 1, 2, 0.5, alpha, alpha * (1 + 1e-15), alpha + 1e-9, -2.2,
		}).Draw(t, "order")
		d := ok(NewBoundedPareto(k, p, alpha))
		a, b := k, p
		switch rapid.IntRange(0, 3).Draw(t, "interval") {
		case 1:
			a = ok(d.Quantile(rapid.Float64Range(0, 0.9).Draw(t, "p")))
			b = min(p, math.Nextafter(a*(1+rapid.SampledFrom([]float64{0, 1e-15, 1e-9, 1e-3}).Draw(t, "length")), p))
		case 2:
			a = ok(d.Quantile(0.3))
		case 3:
			b = ok(d.Quantile(0.6))
		}
		if a == b {
			return
		}
		got, want := ok(d.PartialMoment(r, a, b)), bigPartial(k, p, alpha, r, a, b)
		if !oracle.Near(got, want, 1e-14) {
			t.Fatalf("E[X^%v; %v, %v] = %v, want %v: relative error %v", r, a, b, got, want, got/want-1)
		}
		if s, want := d.Survival(a), bigPartial(k, p, alpha, 0, a, p); !oracle.Near(s, want, 1e-14) {
			t.Fatalf("Survival(%v) = %v, want %v", a, s, want)
		}
	})
}

// The squared coefficient of variation matches that from moments with 400 bits, of which 200 remain
// for ln(max/min) and α of 1e-15. Relative errors are a few units in the last place of ln(max/min)
// and, if SCV + 1 is large, that of its logarithm, which is below 40 here: 5e-15.
func TestBoundedParetoSCV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "ln k"))
		p := math.Nextafter(k, 1e9) * math.Exp(math.Pow(10, rapid.Float64Range(-15, 1.6).Draw(t, "log10 ln p/k")))
		alpha := rapid.OneOf(rapid.Float64Range(1e-15, 5),
			rapid.SampledFrom([]float64{1e-15, 1, 1 + 1e-10, 2 - 1e-9, 2, 2 + 1e-15, 3, 100})).Draw(t, "alpha")
		var moments [3]*big.Float
		for r := range moments {
			moments[r] = bigIntegral(op().Sub(bigFloat(float64(r)), bigFloat(alpha)), k, p)
		}
		ratio := op().Quo(op().Mul(moments[2], moments[0]), op().Mul(moments[1], moments[1]))
		want, _ := ratio.Sub(ratio, bigFloat(1)).Float64()
		if got := ok(SCV(ok(NewBoundedPareto(k, p, alpha)))); !oracle.Near(got, want, 1e-14) {
			t.Fatalf("SCV %v, want %v: relative error %v", got, want, got/want-1)
		}
	})
	for _, c := range []struct{ high, alpha, want float64 }{
		{1 + 1e-7, 1.5, 1e-14 / 12},        // l²/12, l = 1e-7 to 5e-8
		{1e300, 1e9, 1e-18},                // 1/(α(α-2)) to 2e-9
		{1e300, 3, 1.0 / 3},                // the same
		{1e300, 1e-100, 150*math.Ln10 - 1}, // l/2 coth(l/2) - 1
	} {
		if got := ok(SCV(ok(NewBoundedPareto(1, c.high, c.alpha)))); !oracle.Near(got, c.want, 2e-7) {
			t.Errorf("high %v, alpha %v: SCV %v, want %v", c.high, c.alpha, got, c.want)
		}
	}
}

// If (min/max)^alpha underflows, its product with a power of max need not. As an exponential of
// 700, the product has an error of 700 units of 2^-53.
func TestBoundedParetoBelowFloat64(t *testing.T) {
	const k, p = 1e-300, 1e300
	for _, c := range [][2]float64{{0.999, 1}, {1.5, 2}, {1.5, 1}, {0.6, 1}} {
		d := ok(NewBoundedPareto(k, p, c[0]))
		if got, want := ok(d.Moment(c[1])), bigPartial(k, p, c[0], c[1], k, p); !oracle.Near(got, want, 5e-13) ||
			want == 0 {
			t.Errorf("alpha %v: E[X^%v] = %v, want %v", c[0], c[1], got, want)
		}
	}
}

func TestParetoNamesSmallestAlpha(t *testing.T) {
	for _, c := range []struct{ low, least float64 }{{1e-100, 0.1}, {1, 0.1}, {1e40, 0.2}, {1e100, 0.35}} {
		if _, err := NewPareto(c.low, c.least+1e-12); err != nil {
			t.Errorf("low %v: %v", c.low, err)
		}
		_, err := NewPareto(c.low, c.least-1e-12)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in [%v, 1e9] for low = %v", c.least, c.low)) {
			t.Errorf("low %v: error %v does not state %v", c.low, err, c.least)
		}
	}
}

// For alpha = 1/2 and alpha = 2, min has the closed forms mean²/max and mean/(2 - mean/max).
func TestBoundedParetoOfMean(t *testing.T) {
	for _, c := range []struct{ alpha, max, mean, min float64 }{
		{0.5, 1e10, 3000, 9e-4},
		{0.5, 1e7, 3000, 0.9},
		{2, 1e10, 3000, 3000 / (2 - 3e-7)},
		{2, 10, 9.99, 9.99 / (2 - 0.999)},
	} {
		d := ok(NewBoundedParetoOfMean(c.alpha, c.max, c.mean))
		// ln min is accurate to an ulp or two of itself and of max/min.
		if low, high, _ := d.Support(); !oracle.Near(low, c.min, 1e-14) || high != c.max {
			t.Errorf("%+v: support from %v to %v", c, low, high)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.Float64Range(0.05, 3).Draw(t, "alpha")
		high := math.Exp(rapid.Float64Range(0, 23).Draw(t, "ln max"))
		mean := high * math.Exp(-rapid.Float64Range(0.01, 12).Draw(t, "ln max/mean"))
		d := ok(NewBoundedParetoOfMean(alpha, high, mean))
		if m := ok(Mean(d)); !oracle.Near(m, mean, 1e-13) {
			t.Fatalf("%v: mean %v, want %v", d, m, mean)
		}
	})
	if d, err := NewBoundedParetoOfMean(0.001, 1, 1e-4); err == nil {
		t.Errorf("%v: min is below float64, want an error", d)
	}
}

// The Pareto distribution matches the bounded one far from the bound.
func TestParetoMatchesBoundedParetoOfFarMax(t *testing.T) {
	p, b := ok(NewPareto(2, 3)), ok(NewBoundedPareto(2, 2e12, 3)) // (min/max)³ = 1e-36
	for _, r := range []float64{-2, -1, 0, 1, 2} {
		for _, high := range []float64{3, 100, math.Inf(1)} {
			got, want := ok(p.PartialMoment(r, 2.5, high)), ok(b.PartialMoment(r, 2.5, high))
			if !oracle.Near(got, want, 1e-11) { // E[X²; X > max] = 1e-12 E[X²]
				t.Errorf("E[X^%v; 2.5, %v] = %v, bounded %v", r, high, got, want)
			}
		}
	}
	if got := ok(SCV(p)); !oracle.Near(got, 1.0/3, 1e-15) {
		t.Errorf("SCV %v, want 1/(3·1)", got)
	}
}
