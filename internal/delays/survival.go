package delays

import (
	"math"

	"productform/internal/arithmetic"
)

// A Survival is the distribution of a delay as a mixture over the points of a Poisson process,
//
//	P(T > t) = Σ_n p_n a_n,  p_n = e^-m m^n/n!,  m = q t,
//
// of which a_0..a_R are known. For all n >= k, a_n <= Jump a_k: on the lattices of servers a_n =
// B_n/(qZ) does not increase, so Jump is 1; on the class lattice λ_i/q B_n <= a_n Z <= (1 + λ_i/q)
// B_n, since B_n >= s_n, and B_n does not increase.
type Survival struct {
	A     []float64
	Jump  float64
	Bound float64 // bound on the relative error of each A, in addition to slop

	omitted    float64 // fraction of a sum that may be omitted at either end: truncation or roughTruncation
	deviations float64 // approximate distance, in standard deviations, of a negligible Poisson tail
}

// NewSurvival returns a distribution whose a_n, within a bound on their relative errors, never
// increase.
func NewSurvival(a []float64, bound float64) Survival {
	return Survival{A: a, Jump: 1, Bound: bound, omitted: truncation, deviations: 10} // beyond 10, less than truncation
}

const (
	truncation      = 0x1p-60
	roughTruncation = 0x1p-13
)

// Tail returns p, which differs from P(T > m/q) by at most a relative bound and slop. ok is false
// if there are too few steps.
//
// Weights w_n = p_n/p_mode are computed from the mode in both directions and divided by their sum.
// Beyond n their sum is at most w_n r/(1-r), r = m/(n+1), and below n the same with r = n/m,
// because ratios of weights only decrease. These bound the omitted terms, since a_k <= Jump a_n
// above and a_k <= Jump a_0 = Jump below. A weight has two roundings per step.
func (s *Survival) Tail(m float64) (p, bound float64, ok bool) {
	last := len(s.A) - 1
	over := s.Jump*s.A[last] < slop/4 // the unknown terms are negligible
	switch {
	case m >= float64(last) && !over:
		return 0, 0, false
	case m >= float64(last) && s.Jump*s.tailBound(m) < slop/4:
		return 0, 0, true
	}
	at := func(n int) float64 {
		if n > last {
			return 0
		}
		return s.A[n]
	}
	mode := int(m)
	total, sum := 1.0, at(mode)
	high := mode
	for w := 1.0; ; {
		r := m / float64(high+1)
		rest := w * r / (1 - r)
		if r < 1 && rest <= s.omitted*total && (over && high >= last || s.Jump*at(high)*rest <= s.omitted*sum) {
			break
		}
		if high == last && !over {
			return 0, 0, false
		}
		high++
		w *= r
		total += w
		sum += w * at(high)
	}
	low := mode
	for w := 1.0; low > 0; {
		r := float64(low) / m
		rest := s.Jump * w * r / (1 - r)
		if r < 1 && rest <= s.omitted*total && (rest <= s.omitted*sum || rest < slop/4) {
			break
		}
		w *= r
		low--
		total += w
		sum += w * at(low)
	}
	// A sum of positive terms has a rounding for each, a weight two, in the numerator and in the
	// denominator.
	e := arithmetic.Roundings(6*float64(high-low)+8) + 4*s.omitted // 2 in the numerator, 2 in the denominator
	return sum / total, arithmetic.Compound(s.Bound, e, 0), true
}

// Bounds returns bounds on P(T > m/q), if there are enough steps.
func (s *Survival) Bounds(m float64) (low, high float64, ok bool) {
	const outward = 0x1p-50 // the roundings here
	p, e, ok := s.Tail(m)
	if !(e < 1e-3) {
		return 0, 1, ok
	}
	return max(0, p*(1-e)*(1-outward)-slop), min(1, p/(1-e)*(1+outward)+slop), ok
}

// tailBound bounds the probability of at most as many points as there are known steps, for m at
// least that.
func (s *Survival) tailBound(m float64) float64 { return chernoff(float64(len(s.A)-1), m) }

// chernoff bounds the probability of at most n points if m >= n are expected: it is at most (e
// m/n)^n e^-m.
//
// With L = log(m/n), n L <= m - n and n (1 + L) <= m. So the exponent is off by at most n u for the
// quotient, 2 u (m - n) for the logarithm, u m for the sum, u m for the product, and u m for each
// of the last two operations: less than 8 u (n + m). The last factor covers the roundings of exp
// and the product, and squares of u.
func chernoff(n, m float64) float64 {
	if n == 0 {
		return 1
	}
	return math.Exp(n*(1+math.Log(m/n))-m+8*arithmetic.Roundoff*(n+m)) * (1 + 1e-6)
}

// reach returns, approximately, the largest m for which Tail has enough steps.
func (s *Survival) reach() float64 {
	d := s.deviations
	root := max(0, (math.Sqrt(d*d+4*max(0, float64(len(s.A)-1)-4*d))-d)/2)
	return root * root
}

// Quantile returns low and high, in units of 1/q, with P(T > low/q) > tail > P(T > high/q): the
// quantile is between them. More steps are needed if high is infinite; low is 0 if float64 cannot
// distinguish the quantile from 0. tail is between below and above, adjacent float64 numbers.
func (s *Survival) Quantile(below, above float64) (low, high float64) {
	over := func(m float64) bool {
		p, _, ok := s.Bounds(m)
		return ok && p > above
	}
	under := func(m float64) bool {
		_, p, ok := s.Bounds(m)
		return ok && p < below
	}
	most := s.reach()
	if !under(most) {
		return 0, math.Inf(1)
	}
	m, fall := s.solveTail(below)
	p, e, _ := s.Tail(m)
	width := (e+0x1p-50)*p/fall + m*0x1p-50
	if !(width > 0 && width <= most) {
		width = most
	}
	for d := width; ; d *= 2 {
		if low = m - d; low <= 0 || over(low) {
			low = max(low, 0)
			break
		}
	}
	for d := width; ; d *= 2 {
		if high = m + d; high >= most || under(high) {
			high = min(high, most)
			break
		}
	}
	return low, high
}

// solveTail returns a time m at which P(T > m/q) is about target, and its rate of decrease there.
// The logarithm of the tail is almost linear, so the rule of false position takes few steps (in the
// Illinois variant, which halves a retained end).
func (s *Survival) solveTail(target float64) (m, fall float64) {
	excess := func(m float64) float64 {
		p, _, _ := s.Tail(m)
		return math.Log(max(p, slop) / target)
	}
	low, high := 0., s.reach()
	above, below := excess(low), excess(high)
	side := 0
	for range 100 {
		if !(above > 0 && below < 0) || high-low <= high*0x1p-51 {
			break
		}
		m = low + (high-low)*(above/(above-below))
		if !(m > low && m < high) {
			break
		}
		switch x := excess(m); {
		case x > 0:
			low, above = m, x
			if side > 0 {
				below /= 2
			}
			side = 1
		case x < 0:
			high, below = m, x
			if side < 0 {
				above /= 2
			}
			side = -1
		default:
			low, high = m, m
		}
	}
	later := *s
	later.A = s.A[1:] // d/dm Σ p_n a_n = Σ p_n (a_{n+1} - a_n)
	now, _, _ := s.Tail(m)
	next, _, _ := later.Tail(m)
	return m, now - next
}
