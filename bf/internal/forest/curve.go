package forest

import (
	"math"
	"slices"

	"productform/internal/arithmetic"
)

// A curve is a function on [0, T], positive or identically 0: one piece per panel.
type curve []piece

// A piece is a polynomial times 2^exp. Its p[0] is in [1/2, 1), or it is 0.
type piece struct {
	poly
	exp int
}

func newPiece(p *poly, exp int) piece {
	c := piece{*p, exp}
	c.exp += c.scale()
	return c
}

// relative returns a bound on |log(kept/meant)| if kept is at least low and has an error of at most
// off; +Inf if that is not small.
func relative(off, low float64) float64 {
	if x := off / low; x >= 0 && x < 0x1p-10 && low > 0 {
		return x * (1 + 2*x) * (1 + 8*u)
	}
	return math.Inf(1)
}

// lost bounds the loss by underflow, for numbers of at most about 1.
const lost = 0x1p-900

// A solver works on one partition and records where it is too coarse.
type solver struct {
	*panels
	coarse []float64 // for each panel, the largest relative defect of a polynomial on it
}

// note records the relative defect of a polynomial on panel k and returns it.
func (s *solver) note(k int, defect float64) float64 {
	s.coarse[k] = max(s.coarse[k], defect)
	return defect
}

// isCoarse reports whether a recorded defect exceeds the target.
func (s *solver) isCoarse(target float64) bool {
	return slices.ContainsFunc(s.coarse, func(defect float64) bool { return !(defect <= target) })
}

// refined splits the panels whose defects exceed the target.
func (s *solver) refined(target float64) *panels {
	marked := make([]bool, s.count())
	for k, defect := range s.coarse {
		marked[k] = !(defect <= target)
	}
	return s.split(marked)
}

// product returns a b on panel k, and a bound on its relative defect.
func (s *solver) product(k int, a, b *piece) (piece, float64) {
	if a.poly[0] == 0 || b.poly[0] == 0 {
		return piece{}, 0
	}
	var p poly
	off := p.times(&a.poly, &b.poly) + lost
	defect := s.note(k, relative(off, p.low()))
	return newPiece(&p, a.exp+b.exp), defect
}

// sum returns a + b on panel k, and a bound on its relative defect.
func (s *solver) sum(k int, a, b *piece) (piece, float64) {
	switch {
	case a.poly[0] == 0:
		return *b, 0
	case b.poly[0] == 0:
		return *a, 0
	case a.exp < b.exp:
		a, b = b, a
	}
	p, q := a.poly, b.poly
	q.shift(b.exp - a.exp)
	off := 0.0
	for j := range p {
		p[j] += q[j]
		off += u * math.Abs(p[j])
	}
	defect := s.note(k, relative(off*(1+2*terms*u)+lost, p.low()))
	return newPiece(&p, a.exp), defect
}

// linear returns a + b t on panel k, and a bound on its relative defect; a and b are each within u
// of the true numbers.
func (s *solver) linear(k int, a, b float64) (piece, float64) {
	p := poly{a + b*s.middle(k), b * s.half(k)}
	defect := s.note(k, relative(4*u*p.high(), p.low()))
	return newPiece(&p, 0), defect
}

// smoothest is the largest r(T) in backward, relative to q(T)/κ.
const smoothest = 1.9

// backward returns the function r(t) = λ ∫_t^∞ e^-κ(s-t) q(s) ds, with a mass beyond T that keeps
// it smooth: r(T) is λ q(T)/κ or at most that times most. It is 0 if q is 0. It solves r' = κ r - λ
// q. The bound is on |log(kept/r)|.
//
// r(t) is positive in q and in r at the right end of the panel, so the error of the latter counts
// in proportion to its share of r.
func (s *solver) backward(kappa, lambda float64, q curve, most float64) (r curve, bound float64) {
	r = make(curve, len(q))
	last := len(q) - 1
	if q[last].poly[0] == 0 {
		return r, 0
	}
	v, exp := lambda*s.smoothEnd(kappa, &q[last].poly, most), q[last].exp
	carried, own := 0.0, 0.0 // relative bounds of v and of the part that the panel adds
	for k := last; k >= 0; k-- {
		e := max(exp, q[k].exp)
		theta, h := kappa*s.half(k), math.Ldexp(lambda*s.half(k), q[k].exp-e)
		v = math.Ldexp(v, exp-e)
		var p poly
		own = s.note(k, relative(p.decay(theta, h, &q[k].poly, v)+lost*max(1, lambda*s.half(k), v), p.low()))
		bound = max(bound, carried+own)
		carried = carried*(1+4*carried)*share(v, theta, &p) + own
		r[k] = newPiece(&p, e)
		v, own = r[k].left()
		exp = r[k].exp
		carried += relative(own, v)
	}
	return r, bound * (1 + 0x1p-8)
}

// share returns an upper bound on the share of v e^-2θ in p(-1).
func share(v, theta float64, p *poly) float64 {
	return max(lost, min(1, v*math.Exp(-2*theta)/p.low()*(1+0x1p-20)))
}

// smoothEnd returns the smooth r(T) of backward for λ = 1, or q(T)/κ if the former is not between
// 1/2 and most times the latter.
func (s *solver) smoothEnd(kappa float64, q *poly, most float64) float64 {
	half := s.half(s.count() - 1)
	var source [terms + 2]float64
	copy(source[:], q[:])
	source[0] *= 2
	var p poly
	p.particular(kappa*half, &source)
	smooth, _ := p.right()
	end, off := q.right()
	least := (end - off) / kappa
	if smooth *= half; smooth > least/2 && smooth < most*least {
		return smooth
	}
	return least
}

// forward returns the function with m' = λ e^{-μt} q - g m and m(0) = r(0), where one of g and μ is
// 0; it is 0 if q and r are. The bound is as in backward.
func (s *solver) forward(lambda, growth, mu float64, q, r curve) (m curve, bound float64) {
	m = make(curve, len(q))
	if q[0].poly[0] == 0 {
		return m, 0
	}
	v, own := r[0].left()
	exp := r[0].exp
	carried := relative(own, v)
	for k := range q {
		e := max(exp, q[k].exp)
		theta, h := growth*s.half(k), math.Ldexp(lambda*s.half(k), q[k].exp-e)
		v = math.Ldexp(v, exp-e)
		source, off := q[k].flip(), 0.0
		if mu > 0 {
			h *= math.Exp(-mu * s.at[k])
			off = 2 * h * s.multiplyDecay(&source, mu, k)
		}
		var p poly
		off += p.decay(theta, h, &source, v) + lost*max(1, s.half(k)*lambda, v)
		own = s.note(k, relative(off, p.low()))
		bound = max(bound, carried+own)
		carried = carried*(1+4*carried)*share(v, theta, &p) + own
		v, own = p.left()
		carried += relative(own, v)
		exp = e
		p = p.flip()
		m[k] = newPiece(&p, e)
	}
	return m, bound * (1 + 0x1p-8)
}

// multiplyDecay multiplies p, which is flipped, by e^{-μ(t-a)} on panel k, which starts at a, and
// returns a bound on the error of e^{-μt} p relative to e^{-μa}. The exponential solves y' = θ y,
// y(1) = 1 in the flipped x. The exponent -μa has one rounding, and the error of math.Exp is less
// than 4u.
func (s *solver) multiplyDecay(p *poly, mu float64, k int) float64 {
	var y, none poly
	off := y.decay(mu*s.half(k), 0, &none, 1)
	high := p.high()
	off = off*high + p.times(p, &y)
	return (off + (mu*s.at[k]*2+8)*u*p.high()) * (1 + 8*u)
}

// number returns c(0) as a number with a relative bound.
func (c curve) number(bound float64) arithmetic.Number {
	v, off := c[0].left()
	n := c[0].exp
	exp := n / 512
	return arithmetic.FromWide(
		arithmetic.NewWide(math.Ldexp(v, n-512*exp), exp), math.Expm1(bound+relative(off, v))*(1+8*u),
	)
}
