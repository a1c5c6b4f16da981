package elimination

import (
	"math"
	"sort"

	"productform/internal/arithmetic"
)

// A law is the distribution of the minimum time of servers, given by its density on a mesh.
type law struct {
	*mesh
	parts []*function
	rest  [][]estimate // for each part, its integrals over all panels starting with each
	all   estimate
	any   float64 // probability that a time is beyond the mesh
}

func (d *density) law(g *mesh) *law {
	l := &law{mesh: g, parts: d.parts}
	l.all, _ = d.integral(g, weight{})
	for _, f := range d.parts {
		rest := make([]estimate, g.panels()+1)
		for k := range rest {
			rest[k] = g.integral(f, k, weight{})
		}
		l.rest = append(l.rest, rest)
	}
	return l
}

// Until returns the end of the mesh.
func (l *law) Until() float64 { return l.end() }

// Tail returns P(min > t). It computes the probability conditioned on no time being beyond the
// mesh; the two differ by at most P(any time is beyond).
func (l *law) Tail(t float64) arithmetic.Number {
	k := min(l.panels()-1, max(0, sort.SearchFloat64s(l.breaks, t)-1))
	var sum estimate
	for v, f := range l.parts {
		own := l.integrateAfter(f, k, t).plus(l.rest[v][k+1])
		if v == 0 {
			sum = own
		} else {
			sum = sum.plus(own)
		}
	}
	p := sum.over(l.all).number(l.any)
	if !(p.Bound < 1e-3) {
		p.Bound = math.Inf(1)
	}
	return p
}

// integrateAfter integrates a function of one time over panel k to the right of t, with n nodes on
// that part of the panel. With x = x_0 + r y the ellipse ρ of y lies in that of x, because this
// ellipse is convex and x_0/(1-r) is in [-1, 1]. There e^{-a(t-c)} times the function is at most
// its norm, and a function of at most M there differs from its interpolation by at most 4Mρ^-n
// ρ/(ρ-1).
func (l *law) integrateAfter(f *function, k int, t float64) estimate {
	n, c, h, slope := l.n, l.centre(k), l.half(k), f.slopes[k]
	coefficients, own := make([]float64, n), 0.0
	for j := range n {
		v := f.values[k*n+j] * math.Exp(-slope*h*l.node[j])
		for i := range n {
			coefficients[i] += l.analysis.rows[i*n+j] * v
		}
	}
	r := (l.breaks[k+1] - t) / 2
	for j, w := range l.weight {
		x := min(1, max(-1, (l.breaks[k+1]-r*(1-l.node[j])-c)/h))
		before, now, sum := 1.0, x, coefficients[0]
		for i := 1; i < n; i++ {
			sum += coefficients[i] * now
			before, now = now, 2*x*now-before
		}
		own += r * w * sum * math.Exp(slope*h*x)
	}
	var norms [radii]float64
	for e := range radii {
		norms[e] = f.norm(k, 1, e) * math.Exp(math.Abs(slope)*h*ellipseFactor(e))
	}
	top := norms[0] / f.norm(k, 0, 0)
	off := 2*r*(2*l.tail(&norms)+top*(f.defect[k]+l.lebesgue*f.fuzz[k])) +
		r*l.absolute*l.lebesgue*norms[0]*(float64(n*n)*(8+l.breaks[k+1]/h)+80)*u
	sum := estimate{exponent: f.exponent}
	sum.add(own, off+math.Expm1(f.err)*(1+8*u)*(math.Abs(own)+off))
	return sum
}

// worst returns the largest bound among the tail probabilities >= rarest at the ends of panels.
func (l *law) worst(rarest float64) float64 {
	worst := 0.0
	for _, t := range l.breaks {
		if p := l.Tail(t); p.F > 0 && p.Double() >= rarest {
			worst = max(worst, p.Bound)
		}
	}
	return worst
}
