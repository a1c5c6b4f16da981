package forest

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

const precision = 700

func long(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func plus(x, y *big.Float) *big.Float  { return new(big.Float).SetPrec(precision).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(x, y) }

// powers returns the coefficients of p as a polynomial in powers of x, by T_{k+1} = 2x T_k -
// T_{k-1}.
func (p *poly) powers() []*big.Float {
	sum := make([]*big.Float, terms)
	before, now := make([]*big.Float, terms), make([]*big.Float, terms)
	for k := range sum {
		sum[k], before[k], now[k] = long(0), long(0), long(0)
	}
	before[1], now[0] = long(1), long(1) // T_-1 = x, T_0 = 1
	for _, c := range p {
		after := make([]*big.Float, terms)
		for k := range sum {
			sum[k] = plus(sum[k], times(long(c), now[k]))
			after[k] = minus(long(0), before[k])
			if k > 0 {
				after[k] = plus(after[k], times(long(2), now[k-1]))
			}
		}
		before, now = now, after
	}
	return sum
}

// at evaluates a polynomial in powers of x.
func at(powers []*big.Float, x *big.Float) *big.Float {
	v := long(0)
	for k := len(powers) - 1; k >= 0; k-- {
		v = plus(times(v, x), powers[k])
	}
	return v
}

func drawPoly(t *rapid.T) *poly {
	fall := rapid.SampledFrom([]float64{0.01, 0.1, 0.3, 0.9}).Draw(t, "fall")
	size := rapid.SampledFrom([]float64{1e-9, 1, 1, 1e6}).Draw(t, "size")
	p, length := &poly{}, rapid.IntRange(1, terms).Draw(t, "length")
	for k := range length {
		p[k] = size * rapid.Float64Range(-1, 1).Draw(t, "coefficient")
		size *= fall
	}
	return p
}

func absoluteError(x *big.Float, y float64) float64 {
	d, _ := minus(x, long(y)).Float64()
	return math.Abs(d)
}

// Bounds on values, products and extremes hold, and are tight if coefficients decrease.
func TestPolynomials(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPoly(t), drawPoly(t)
		var p poly
		bound := p.times(a, b)
		pa, pb, pp := a.powers(), b.powers(), p.powers()
		for range 5 {
			x := long(rapid.Float64Range(-1, 1).Draw(t, "x"))
			va, vb := at(pa, x), at(pb, x)
			if d, _ := minus(at(pp, x), times(va, vb)).Float64(); !(math.Abs(d) <= bound+lost) {
				t.Fatalf("the product has error %v, bound %v", d, bound)
			}
			v, _ := va.Float64()
			if !(a.low() <= v+lost && math.Abs(v) <= a.high()+lost) {
				t.Fatalf("%v is not between %v and %v", v, a.low(), a.high())
			}
		}
		if v, e := a.right(); !(absoluteError(at(pa, long(1)), v) <= e+lost) {
			t.Fatalf("right end %v, bound %v", v, e)
		}
		if v, e := a.left(); !(absoluteError(at(pa, long(-1)), v) <= e+lost) {
			t.Fatalf("left end %v, bound %v", v, e)
		}
	})
	a := &poly{1, 0.1, 0.01, 0.001}
	var p poly
	if bound := p.times(a, a); !(bound < 4e-16) {
		t.Errorf("bound %v", bound)
	}
}

// exactDecay returns p = P + (v - P(1)) e^{-θ(1-x)}, P = Σ_j h q^(j)/θ^(j+1), in 700 bits.
func exactDecay(t *rapid.T, theta, h float64, q *poly, v *big.Float) func(x float64) *big.Float {
	smooth := make([]*big.Float, terms)
	slope := q.powers()
	factor := new(big.Float).SetPrec(precision).Quo(long(h), long(theta))
	for k := range smooth {
		smooth[k] = long(0)
	}
	for range terms {
		for k := range slope {
			smooth[k] = plus(smooth[k], times(factor, slope[k]))
		}
		for k := range slope[1:] {
			slope[k] = times(slope[k+1], long(float64(k+1)))
		}
		slope[terms-1] = long(0)
		factor.Quo(factor, long(theta))
	}
	rest := minus(v, at(smooth, long(1)))
	return func(x float64) *big.Float {
		e, err := num.ExpInterval(times(long(-theta), minus(long(1), long(x))), precision)
		if err != nil {
			t.Fatal(err)
		}
		return plus(at(smooth, long(x)), times(rest, e.Low))
	}
}

// The error of poly.decay is within the bound that it returns.
func TestDecay(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		q := drawPoly(t)
		theta := rapid.SampledFrom([]float64{0x1p-10, 0.1, 1, 5, 30, 63, 65, 100, 1e4, 1e6}).Draw(t, "theta")
		h := rapid.SampledFrom([]float64{1e-3, 1, 40}).Draw(t, "h")
		v := rapid.Float64Range(-10, 10).Draw(t, "v")
		if rapid.Bool().Draw(t, "smooth") {
			v = h * q[0] / theta
		}
		var p poly
		bound := p.decay(theta, h, q, v)
		exact := exactDecay(t, theta, h, q, long(v))
		powers := p.powers()
		for _, x := range []float64{-1, 1, rapid.Float64Range(-1, 1).Draw(t, "x")} {
			want := exact(x)
			if d, _ := minus(want, at(powers, long(x))).Float64(); !(math.Abs(d) <= bound+lost) {
				t.Fatalf("θ = %v: at %v error %v, bound %v", theta, x, d, bound)
			}
		}
	})
	q := &poly{1, 0.1, 0.01, 0.001}
	for _, theta := range []float64{0, 0.01, 1, 30, 63, 65, 1e3, 1e9} {
		var p poly
		v := 1.0
		if theta > 1 {
			v = 1.111 / theta
		}
		worst = max(worst, p.decay(theta, 1, q, v)/p.low())
	}
	if !(worst < 1e-2) {
		t.Errorf("relative bound %v", worst)
	}
}
