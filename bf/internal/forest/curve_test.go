package forest

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactValue evaluates a piece at x by T_{k+1} = 2x T_k - T_{k-1}.
func (c *piece) exactValue(x float64) *big.Float {
	v, before, now := long(0), long(x), long(1) // T_-1 = x, T_0 = 1
	for _, a := range c.poly {
		v = plus(v, times(long(a), now))
		before, now = now, minus(times(long(2*x), now), before)
	}
	return v.SetMantExp(v, c.exp)
}

// logDistance returns |log(a/b)|, only roughly if it is large.
func logDistance(a, b *big.Float) float64 {
	r, _ := new(big.Float).SetPrec(precision).Quo(minus(a, b), b).Float64()
	return math.Abs(math.Log1p(r))
}

// r(t) = ∫_t^∞ e^-κ(s-t) q(s) ds for random pieces q is within its bound everywhere, given its
// value at T as chosen by the solver.
func TestBackward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newPanels(1, rapid.SampledFrom([]float64{1, 2, 4}).Draw(t, "end"))
		s := solver{g, make([]float64, g.count())}
		kappa := rapid.SampledFrom([]float64{0.1, 1, 5, 20, 1000}).Draw(t, "kappa")
		q := make(curve, g.count())
		for k := range q {
			p := &poly{1}
			size := rapid.SampledFrom([]float64{1e-12, 1e-6, 0.01, 0.1}).Draw(t, "size")
			for j := 1; j < terms; j++ {
				p[j] = size * rapid.Float64Range(-0.5, 0.5).Draw(t, "coefficient")
			}
			q[k] = newPiece(p, rapid.IntRange(-3, 3).Draw(t, "exponent"))
		}
		r, bound := s.backward(kappa, 1, q, smoothest)
		last := g.count() - 1
		v := r[last].exactValue(1)
		for k := last; k >= 0; k-- {
			one := newPiece(&q[k].poly, 0)
			exact := exactDecay(t, kappa*g.half(k), math.Ldexp(g.half(k), one.exp+q[k].exp), &one.poly, v)
			for _, x := range []float64{-1, rapid.Float64Range(-1, 1).Draw(t, "x")} {
				if d := logDistance(r[k].exactValue(x), exact(x)); bound < 1 && !(d <= bound) {
					t.Fatalf("error %v on panel %d, bound %v", d, k, bound)
				}
			}
			v = exact(-1)
		}
	})
}

// forward matches the closed form of the message of a leaf, m = e^-gt + λ (1 - e^{-|λ-κ| t})/|λ-κ|
// times κ/C, on panels that are too wide.
func TestForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kappa, lambda := rapid.Float64Range(0.1, 30).Draw(t, "kappa"), rapid.Float64Range(0.1, 30).Draw(t, "lambda")
		if math.Abs(kappa-lambda) < 1e-3 {
			lambda = 2 * kappa
		}
		g := newPanels(rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "first"), 20)
		s := solver{g, make([]float64, g.count())}
		r := make(curve, g.count())
		for k := range r {
			r[k] = newPiece(&poly{1}, 0)
		}
		growth, mu := max(0, lambda-kappa), max(0, kappa-lambda)
		m, bound := s.forward(lambda, growth, mu, r, r)
		for k := range m {
			for _, x := range []float64{-1, 1, rapid.Float64Range(-1, 1).Draw(t, "x")} {
				at := g.middle(k) + g.half(k)*x
				want := math.Exp(-growth*at) - lambda*math.Expm1(-math.Abs(lambda-kappa)*at)/math.Abs(lambda-kappa)
				got, _ := m[k].exactValue(x).Float64()
				// rounding of exponents in the closed form
				if d := math.Abs(math.Log(got / want)); !(d <= bound+1e-14*(1+30*at)) {
					t.Fatalf("error %v at %v, bound %v", d, at, bound)
				}
			}
		}
	})
}
