package dist

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

const bits = 400

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func power(x, y *big.Float) *big.Float { return ok(num.Pow(x, y, bits)) }

func op() *big.Float { return new(big.Float).SetPrec(bits) }

// bigPartial is α k^α/(1 - (k/p)^α) (b^m - a^m)/m, m = r-α, or ln(b/a) in place of the last fraction, with 400 bits:
// the cancellations of short intervals and small m and α, 2^-53 and 1e-16 of 1 here, leave more than 200.
func bigPartial(k, p, alpha, r, a, b float64) float64 {
	one := bigFloat(1)
	m := op().Sub(bigFloat(r), bigFloat(alpha))
	var integral *big.Float
	if m.Sign() == 0 {
		integral = ok(num.Log(op().Quo(bigFloat(b), bigFloat(a)), bits))
	} else {
		integral = op().Sub(power(bigFloat(b), m), power(bigFloat(a), m))
		integral.Quo(integral, m)
	}
	c := op().Mul(bigFloat(alpha), power(bigFloat(k), bigFloat(alpha)))
	c.Quo(c, op().Sub(one, power(op().Quo(bigFloat(k), bigFloat(p)), bigFloat(alpha))))
	v, _ := c.Mul(c, integral).Float64()
	return v
}

// Partial moments to the last digits: any order, next to alpha too, alpha next to 0, intervals of any length. Powers
// cost some units in the last place: |r| + alpha times ln of ratios up to e^23.
func TestBoundedParetoAgainstBigFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "ln k"))
		p := k * math.Exp(rapid.SampledFrom([]float64{1e-6, 0.1, 1, 5, 23}).Draw(t, "ln p/k"))
		alpha := rapid.SampledFrom([]float64{1e-15, 1e-7, 0.2, 0.5, 1, 1 + 1e-10, 1.1, 1.9, 2, 5}).Draw(t, "alpha")
		r := rapid.SampledFrom([]float64{-1, 0, 1, 2, 0.5, alpha, alpha * (1 + 1e-15), alpha + 1e-9, -2.2}).Draw(t, "order")
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
		if !near(got, want, 1e-14) {
			t.Fatalf("E[X^%v; %v, %v] = %v, want %v: relative error %v", r, a, b, got, want, got/want-1)
		}
		if s, want := d.Survival(a), bigPartial(k, p, alpha, 0, a, p); !near(s, want, 1e-14) {
			t.Fatalf("Survival(%v) = %v, want %v", a, s, want)
		}
	})
}

// Closed forms of min: mean²/max for alpha = 1/2, mean/(2 - mean/max) for alpha = 2.
func TestBoundedParetoOfMean(t *testing.T) {
	for _, c := range []struct{ alpha, max, mean, min float64 }{
		{0.5, 1e10, 3000, 9e-4},
		{0.5, 1e7, 3000, 0.9},
		{2, 1e10, 3000, 3000 / (2 - 3e-7)},
		{2, 10, 9.99, 9.99 / (2 - 0.999)},
	} {
		d := ok(NewBoundedParetoOfMean(c.alpha, c.max, c.mean))
		// ln min is found to an ulp or two of itself and of max/min.
		if low, high, _ := d.Support(); !near(low, c.min, 1e-14) || high != c.max {
			t.Errorf("%+v: support from %v to %v", c, low, high)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.Float64Range(0.05, 3).Draw(t, "alpha")
		high := math.Exp(rapid.Float64Range(0, 23).Draw(t, "ln max"))
		mean := high * math.Exp(-rapid.Float64Range(0.01, 12).Draw(t, "ln max/mean"))
		d := ok(NewBoundedParetoOfMean(alpha, high, mean))
		if m := ok(Mean(d)); !near(m, mean, 1e-13) {
			t.Fatalf("%v: mean %v, want %v", d, m, mean)
		}
	})
	if d, err := NewBoundedParetoOfMean(0.001, 1, 1e-4); err == nil {
		t.Errorf("%v: min is below float64, want an error", d)
	}
}

// The Pareto law is the bounded one far from the bound.
func TestParetoIsBoundedParetoOfFarMax(t *testing.T) {
	p, b := ok(NewPareto(2, 3)), ok(NewBoundedPareto(2, 2e12, 3)) // (min/max)³ = 1e-36
	for _, r := range []float64{-2, -1, 0, 1, 2} {
		for _, high := range []float64{3, 100, math.Inf(1)} {
			got, want := ok(p.PartialMoment(r, 2.5, high)), ok(b.PartialMoment(r, 2.5, high))
			if !near(got, want, 1e-11) { // E[X²; X > max] = 1e-12 E[X²]
				t.Errorf("E[X^%v; 2.5, %v] = %v, bounded %v", r, high, got, want)
			}
		}
	}
	if got := ok(SCV(p)); !near(got, 1.0/3, 1e-15) {
		t.Errorf("SCV %v, want 1/(3·1)", got)
	}
}
