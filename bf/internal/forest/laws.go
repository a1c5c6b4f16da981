package forest

import (
	"math"
	"sort"

	"productform/internal/arithmetic"
)

// A Law is the distribution of the time min_{S_i} T of a class. In the FCFS queue it is the
// distribution of the delay: jobs of one class leave in order of arrival, so a departing job leaves
// behind those that arrived during its delay, and their number is Poisson with mean λ_i times the
// delay.
type Law interface {
	// Tail returns P(min_{S_i} T > t) for 0 <= t <= Until, without a bound if its relative error
	// may exceed 1/1000.
	Tail(t float64) arithmetic.Number
	Until() float64
}

// A law is the distribution of the time τ that a class is served: P(τ > t) = e^{-κt} γ(t)/γ(0) on
// [0, T].
type law struct {
	*panels
	gamma curve
	decay float64 // κ
	bound float64 // bound on |log(kept/true)| of γ e^{-κt}
	lack  float64 // logarithm of the absolute error of P(τ > t) due to times beyond T
}

// law returns the law of γ, which has its own bound.
func (w *sweep) law(gamma *pair, kappa float64) *law {
	return &law{panels: w.panels, gamma: gamma.x, decay: kappa, bound: gamma.bound + w.drift, lack: w.lack}
}

// Until returns T.
func (l *law) Until() float64 { return l.last() }

// Tail returns P(τ > t) for 0 <= t <= T. The exponent κt has two roundings, and its parts of 512
// log 2 two more.
func (l *law) Tail(t float64) arithmetic.Number {
	k := min(l.count()-1, max(0, sort.SearchFloat64s(l.at, t)-1))
	c := &l.gamma[k]
	v, off := c.value((t - l.middle(k)) / l.half(k))
	x := l.decay * t
	steps := math.Floor(x / (512 * math.Ln2))
	exp := c.exp / 512
	power := arithmetic.NewWide(math.Exp(-(x - steps*512*math.Ln2)), -int(steps))
	here := arithmetic.NewWide(math.Ldexp(v, c.exp-512*exp), exp).Times(power)
	p := arithmetic.FromWide(here, math.Expm1(l.bound+relative(off, v)+(6*x+8)*u)*(1+8*u)).Quo(l.gamma.number(l.bound))
	if p.F > 0 {
		p.Bound = arithmetic.Compound(p.Bound, math.Exp(l.lack-logarithm(p))*(1+0x1p-10), 0)
	}
	if !(p.Bound < 1e-3) {
		p.Bound = math.Inf(1)
	}
	return p
}

// value returns p(x) and a bound on its error, for x within 4u of the true number: T_k is computed
// with an error of at most 4k²u, and changes by at most 4k²u.
func (p *poly) value(x float64) (v, bound float64) {
	before, now := 1.0, x
	v = p[0]
	for k := 1; k < terms; k++ {
		v += p[k] * now
		bound += math.Abs(p[k]) * float64(8*k*k+terms)
		before, now = now, 2*x*now-before
	}
	return v, u * (bound + 4*math.Abs(p[0])) * (1 + 0x1p-20)
}
