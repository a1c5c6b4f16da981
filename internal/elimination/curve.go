package elimination

import (
	"math"
	"slices"

	"productform/internal/arithmetic"
)

// A curve is a positive function on [0, T], p[k] 2^exp[k] on panel k.
type curve struct {
	p   []poly
	exp []int
}

func newCurve(panels int) curve { return curve{make([]poly, panels), make([]int, panels)} }

func (c *curve) clone() curve { return curve{slices.Clone(c.p), slices.Clone(c.exp)} }

// set puts p 2^exp on panel k.
func (c *curve) set(k int, p *poly, exp int) {
	c.p[k] = *p
	c.exp[k] = exp + c.p[k].scale()
}

// relative returns a bound of |log(kept/meant)| where kept is off by at most so much and at least low; +Inf if that is not small.
func relative(off, low float64) float64 {
	if x := off / low; x >= 0 && x < 0x1p-10 && low > 0 {
		return x * (1 + 2*x) * (1 + 8*u)
	}
	return math.Inf(1)
}

// Defects of polynomials are not asked to be below leastDefect, some roundings, and partitions have at most maxPanels panels.
const (
	leastDefect = 0x1p-46
	maxPanels   = 5000
)

// lost is more than what numbers lose that fall below the range of float64, where the largest are about 1.
const lost = 0x1p-900

// A solver works on one partition and remembers where that is too coarse.
type solver struct {
	*panels
	coarse []float64 // of each panel, the largest relative defect of a polynomial on it
}

// note takes the relative defect of a polynomial on panel k and returns it.
func (s *solver) note(k int, defect float64) float64 {
	s.coarse[k] = max(s.coarse[k], defect)
	return defect
}

// isCoarse reports whether a defect so far is larger than that.
func (s *solver) isCoarse(target float64) bool {
	return slices.ContainsFunc(s.coarse, func(defect float64) bool { return !(defect <= target) })
}

// refined splits the panels with such defects.
func (s *solver) refined(target float64) *panels {
	marked := make([]bool, s.count())
	for k, defect := range s.coarse {
		marked[k] = !(defect <= target)
	}
	return s.split(marked)
}

// product sets panel k of c to a b and returns the bound of its relative defect.
func (s *solver) product(c *curve, k int, a, b *curve) float64 {
	var p poly
	off := p.times(&a.p[k], &b.p[k]) + lost
	c.set(k, &p, a.exp[k]+b.exp[k])
	return s.note(k, relative(off, p.low()))
}

// sum sets panel k of c to a + b.
func (s *solver) sum(c *curve, k int, a, b *curve) float64 {
	if a.exp[k] < b.exp[k] {
		a, b = b, a
	}
	p, q := a.p[k], b.p[k]
	q.shift(b.exp[k] - a.exp[k])
	off := lost
	for j := range p {
		p[j] += q[j]
		off += u * math.Abs(p[j])
	}
	c.set(k, &p, a.exp[k])
	return s.note(k, relative(off*(1+2*terms*u), p.low()))
}

// backward sets r to the function r(t) = ∫_t^∞ e^-κ(s-t) q(s) ds, with a mass beyond T that keeps it smooth: it solves r' = κ r - q, and
// r(T) <= 2 q(T)/κ. The bound is that of |log| of what is kept over r.
//
// r(t) is positive in q and in r at the right end of the panel, so that the error of the latter counts by its share of r.
func (s *solver) backward(r *curve, kappa float64, q *curve) (bound float64) {
	last := s.count() - 1
	v, exp := s.beyond(kappa, &q.p[last]), q.exp[last]
	carried, own := 0.0, 0.0 // relative bounds, of v and of what the panel adds
	for k := last; k >= 0; k-- {
		e := max(exp, q.exp[k])
		theta, h := kappa*s.half(k), math.Ldexp(s.half(k), q.exp[k]-e)
		v = math.Ldexp(v, exp-e)
		var p poly
		own = s.note(k, relative(p.decay(theta, h, &q.p[k], v)+lost*max(1, s.half(k), v), p.low()))
		bound = max(bound, carried+own)
		carried = carried*(1+4*carried)*share(v, theta, &p) + own
		r.set(k, &p, e)
		if k > 0 {
			v, own = r.p[k].left()
			exp = r.exp[k]
			carried += relative(own, v)
		}
	}
	return bound * (1 + 0x1p-8)
}

// share returns which part of p(-1) is v e^-2θ at most.
func share(v, theta float64, p *poly) float64 {
	return min(1, v*math.Exp(-2*theta)/p.low()*(1+0x1p-20))
}

// beyond returns the smooth r(T) of backward, or q(T)/κ if there is none between half and twice that.
func (s *solver) beyond(kappa float64, q *poly) float64 {
	half := s.half(s.count() - 1)
	var source [terms + 2]float64
	copy(source[:], q[:])
	source[0] *= 2
	var p poly
	p.particular(kappa*half, &source)
	smooth, _ := p.right()
	end, off := q.right()
	least := (end - off) / kappa
	smooth *= half
	if smooth > 0.6*least && smooth < 1.9*least {
		return smooth
	}
	return least
}

// forward sets m to the function with m' = λ e^{-μt} r - g m, m(0) = r(0): M(t) = e^gt m(t) grows by λ e^{(g-μ)t} r(t). One of g and μ is 0.
func (s *solver) forward(m *curve, lambda, growth, mu float64, r *curve) (bound float64) {
	v, own := r.p[0].left()
	exp := r.exp[0]
	carried := relative(own, v)
	for k := range s.count() {
		e := max(exp, r.exp[k])
		theta, h := growth*s.half(k), math.Ldexp(lambda*s.half(k), r.exp[k]-e)
		v = math.Ldexp(v, exp-e)
		source, off := r.p[k].flip(), 0.0
		if mu > 0 {
			h *= math.Exp(-mu * s.at[k])
			off = 2 * h * s.fade(&source, mu, k)
		}
		var p poly
		off += p.decay(theta, h, &source, v) + lost*max(1, s.half(k)*lambda, v)
		own = s.note(k, relative(off, p.low()))
		bound = max(bound, carried+own)
		carried = carried*(1+4*carried)*share(v, theta, &p) + own
		end, error := p.left()
		p = p.flip()
		m.set(k, &p, e)
		v, exp = end, e
		carried += relative(error, v)
	}
	return bound * (1 + 0x1p-8)
}

// fade multiplies p, which is flipped, by e^{-μ(t-a)} on panel k that begins at a, and returns a bound of the error of e^{-μt} p over e^{-μa}. The exponential
// solves y' = θ y, y(1) = 1 where x is flipped. The exponent -μa has one rounding, and math.Exp errs by less than 4u.
func (s *solver) fade(p *poly, mu float64, k int) float64 {
	var y, none poly
	off := y.decay(mu*s.half(k), 0, &none, 1)
	high := p.high()
	off = off*high + p.times(p, &y)
	return (off + (mu*s.at[k]*2+8)*u*p.high()) * (1 + 8*u)
}

// number returns c(0) as a number with a relative bound.
func (c *curve) number(bound float64) arithmetic.Number {
	v, off := c.p[0].left()
	n := c.exp[0]
	exp := n / 512
	return arithmetic.FromWide(arithmetic.NewWide(math.Ldexp(v, n-512*exp), exp), math.Expm1(bound+relative(off, v))*(1+8*u))
}
