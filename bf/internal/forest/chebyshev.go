package forest

import "math"

// terms is the number of coefficients of a polynomial on a panel.
const terms = 16

const u = 0x1p-53 // relative error of one rounding

// A poly is the polynomial Σ_k p[k] T_k(x) on a panel, where x runs from -1 to 1; T_k are the
// Chebyshev polynomials. Bounds ignore underflow, which loses less than lost for numbers of about
// 1.
type poly [terms]float64

// rest returns Σ_{k>=1} |p[k]|, the most by which p differs from p[0].
func (p *poly) rest() float64 {
	sum := 0.0
	for _, c := range p[1:] {
		sum += math.Abs(c)
	}
	return sum
}

// low returns a lower bound on p on the panel, possibly negative; 1 exceeds the rounding error of
// these few sums.
func (p *poly) low() float64 { return p[0] - p.rest()*(1+terms*u) - 2*u*math.Abs(p[0]) }

// high returns an upper bound on |p|.
func (p *poly) high() float64 { return (math.Abs(p[0]) + p.rest()) * (1 + 2*terms*u) }

// right returns p(1) and a bound on its error: small terms are added first, and each partial sum is
// at most rest.
func (p *poly) right() (v, bound float64) {
	sum, rest := 0.0, 0.0
	for k := terms - 1; k > 0; k-- {
		sum += p[k]
		rest += math.Abs(p[k])
	}
	v = p[0] + sum
	return v, u * (math.Abs(v) + terms*rest) * (1 + 4*terms*u)
}

// flip returns p(-x).
func (p *poly) flip() poly {
	q := *p
	for k := 1; k < terms; k += 2 {
		q[k] = -q[k]
	}
	return q
}

// left returns p(-1) and a bound on its error.
func (p *poly) left() (v, bound float64) {
	q := p.flip()
	return q.right()
}

// degree returns the last k with p[k] != 0, or 0.
func (p *poly) degree() int {
	k := terms - 1
	for k > 0 && p[k] == 0 {
		k--
	}
	return k
}

// scale multiplies p by a power of two so that |p[0]| is in [1/2, 1), and returns the exponent that
// reverts this. Underflow is ignored: it is less than 2^-1000.
func (p *poly) scale() int {
	_, e := math.Frexp(p[0])
	if e == 0 {
		return 0
	}
	p.shift(-e)
	return e
}

// shift multiplies p by 2^e.
func (p *poly) shift(e int) {
	if e >= -1000 && e <= 1000 {
		f := math.Ldexp(1, e)
		for k := range p {
			p[k] *= f
		}
		return
	}
	for k := range p {
		p[k] = math.Ldexp(p[k], e)
	}
}

// times sets p to a b truncated to [terms] terms, and returns a bound on |p - a b|. By T_k T_l =
// (T_{k+l} + T_|k-l|)/2 the truncated terms are at most Σ_{k+l>=terms} |a_k b_l|/2. A coefficient
// is a sum of fewer than 2 terms products, to which a_0 b_j and a_j b_0 are added last.
func (p *poly) times(a, b *poly) (bound float64) {
	da, db := a.degree(), b.degree()
	var c poly
	if da > 0 && db > 0 {
		var mirror [2*terms - 1]float64 // b_|i|/2 of T_i and T_-i at terms-1+i, but not b_0
		for k := 1; k < terms; k++ {
			mirror[terms-1+k], mirror[terms-1-k] = b[k]/2, b[k]/2
		}
		for k := da; k > 0; k-- {
			x := a[k]
			lower, upper := mirror[terms-1-k:][:terms], mirror[terms-1+k:]
			for j := range c {
				c[j] += x * lower[j]
			}
			for j, y := range upper {
				c[j&(terms-1)] += x * y
			}
		}
		c[0] /= 2
	}
	for k := 1; k < terms; k++ {
		c[k] += a[0] * b[k]
		c[k] += a[k] * b[0]
	}
	c[0] += a[0] * b[0]
	beyond, tail, l := 0.0, 0.0, terms // tail is Σ_{m>=l} |b_m|
	for k := 1; k <= da; k++ {
		l--
		tail += math.Abs(b[l])
		beyond += math.Abs(a[k]) * tail
	}
	ra, rb := a.rest(), b.rest()
	a0, b0 := math.Abs(a[0]), math.Abs(b[0])
	*p = c
	return (beyond/2 + u*((2*terms+4)*ra*rb+3*(a0*rb+ra*b0)+2*a0*b0)) * (1 + 8*terms*u)
}

// stiff is the smallest θ for which decay uses the particular solution.
const stiff = 64

// decay sets p to the solution of p' = θ p - h q with p(1) = v, for θ >= 0 and h each within 2u of
// the true number, and returns a bound on its error on the panel.
//
// With P_0 = 2 p_0, Q_0 = 2 h q_0, and P_k = p_k, Q_k = h q_k for k >= 1, the equation reads 2k p_k
// = θ (P_{k-1} - P_{k+1}) - (Q_{k-1} - Q_{k+1}) for k >= 1; the tau method solves it for k < terms.
// Backwards from the last k, p_k = α_k P_{k-1} + β_k with α_k = θ/(2k + θ α_{k+1}) > 0. If θ is
// large the polynomial Σ_j q^(j) h/θ^(j+1) is the solution up to its difference from v at 1, which
// decays immediately.
//
// Proof of the bound. Let E_k = 2k p_k - θ (P_{k-1} - P_{k+1}) + (Q_{k-1} - Q_{k+1}) for k =
// 1..terms, with p as computed. Then p' = θ p - h q + E' with E = Σ_k E_k/(2k) T_k, so the error of
// p is (p(1) - v) e^{-θ(1-x)} - ∫_x^1 e^{-θ(s-x)} E'(s) ds. The integral is at most 2 sup |E| <=
// Σ_k |E_k|/k, by integration by parts, and at most sup |E'| min(2, 1/θ) <= Σ_k k |E_k|/2 min(2,
// 1/θ).
func (p *poly) decay(theta, h float64, q *poly, v float64) (bound float64) {
	var source [terms + 2]float64
	for k, c := range q {
		source[k] = h * c
	}
	source[0] *= 2
	if theta > stiff {
		p.particular(theta, &source)
	} else {
		p.collocate(theta, &source, v)
	}
	return p.defect(theta, &source, v)
}

func (p *poly) collocate(theta float64, source *[terms + 2]float64, v float64) {
	var alpha, beta [terms + 1]float64
	for k := terms - 1; k > 0; k-- {
		over := 1 / (2*float64(k) + theta*alpha[k+1])
		alpha[k] = theta * over
		beta[k] = -(theta*beta[k+1] + (source[k-1] - source[k+1])) * over
	}
	ones, rest, a, b := 0.0, 0.0, 1.0, 0.0 // Σ_{k>=1} p_k = ones P_0 + rest
	for k := 1; k < terms; k++ {
		a *= alpha[k]
		b = alpha[k]*b + beta[k]
		ones += a
		rest += b
	}
	last := (v - rest) / (0.5 + ones)
	p[0] = last / 2
	for k := 1; k < terms; k++ {
		last = alpha[k]*last + beta[k]
		p[k] = last
	}
}

func (p *poly) particular(theta float64, source *[terms + 2]float64) {
	over := 1 / theta
	var slope [terms + 2]float64 // coefficients of p', with that of T_0 doubled
	for k := terms - 1; k >= 0; k-- {
		if k+1 < terms {
			slope[k] = slope[k+2] + 2*float64(k+1)*p[k+1]
		}
		p[k] = (source[k] + slope[k]) * over
	}
	p[0] /= 2
}

// defect returns the bound of decay. Each E_k takes four roundings per term; the two given numbers
// add two, and h q_k one.
func (p *poly) defect(theta float64, source *[terms + 2]float64, v float64) float64 {
	var twice [terms + 2]float64
	copy(twice[:], p[:])
	twice[0] *= 2
	weak, strong := 0.0, 0.0
	for k := 1; k <= terms; k++ {
		n := float64(k)
		flow := theta * (twice[k-1] - twice[k+1])
		e := math.Abs(2*n*twice[k] - flow + (source[k-1] - source[k+1]))
		e += 8 * u * (2*n*math.Abs(twice[k]) + theta*(math.Abs(twice[k-1])+math.Abs(twice[k+1])) +
			math.Abs(source[k-1]) + math.Abs(source[k+1]))
		weak += e / n
		strong += e * n / 2
	}
	end, error := p.right()
	return (math.Abs(end-v) + error + min(weak, strong*min(2, 1/theta))) * (1 + 8*terms*u)
}
