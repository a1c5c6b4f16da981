package elimination

import "math"

// An estimate is the number value 2^exponent with an absolute error of at most error 2^exponent.
type estimate struct {
	value, error float64
	exponent     int
}

// A weight is the function e^{log - λt} t^power of a time.
type weight struct {
	power     int
	rate, log float64
	size      float64 // sum of the absolute terms of log
}

// poisson returns the weight equal to the probability of k jobs under a Poisson distribution with
// mean λt.
func poisson(k int, rate float64) weight {
	factorial, _ := math.Lgamma(float64(k) + 1)
	log := float64(k) * math.Log(rate)
	return weight{k, rate, log - factorial, math.Abs(log) + math.Abs(factorial)}
}

// at returns the weight at the float64 next to a time > 0, and a bound on its error relative to
// sup.
func (w weight) at(t float64) (v, bound float64) {
	n := float64(w.power)
	if w.rate == 0 && n <= 1 {
		return math.Pow(t, n), 4 * u
	}
	own := n * math.Log(t)
	if log := own + (w.log - w.rate*t); log > -700 {
		return math.Exp(log), (8*(w.size+math.Abs(own)+w.rate*t+n) + 16) * u
	}
	return 0, 1
}

// sup returns an upper bound on |w e^{a(t-c)}|_ρ on the panel around c, and on its rounding error:
// the norm of a product is at most that of its factors.
func (w weight) sup(a, c, h, ellipseFactor float64) float64 {
	log := w.log - w.rate*c + math.Abs(a-w.rate)*h*ellipseFactor
	if w.power > 0 {
		log += float64(w.power) * math.Log(c+h*ellipseFactor)
	}
	return math.Exp(log)*(1+16*u*(w.size+math.Abs(log)+1)) + 0x1p-1000
}

// integral integrates a part of a density with a weight over all panels starting with first. The
// quadrature is exact for the interpolated product, whose error is at most 4ρ^-n times its norm.
func (g *mesh) integral(f *function, first int, by weight) estimate {
	sum := estimate{exponent: f.exponent}
	relative := math.Expm1(f.err) * (1 + 8*u)
	for k := first; k < g.panels(); k++ {
		h, own, worst := g.half(k), 0.0, 0.0
		for i, w := range g.weight {
			v, bound := by.at(g.points[k*g.n+i])
			own += h * w * f.values[k*g.n+i] * v
			worst = max(worst, bound)
		}
		if g.rough {
			sum.add(own, 0)
			continue
		}
		var norms [radii]float64
		for e := range radii {
			norms[e] = f.norm(k, 1, e) * by.sup(f.slopes[k], g.centre(k), h, ellipseFactor(e))
		}
		off := 2*h*g.tail(&norms) + 2*h*(f.defect[k]+f.fuzz[k])*norms[0]/f.norm(k, 0, 0) +
			h*g.absolute*norms[0]*(float64(g.n+80)*u+worst)
		sum.add(own, off+relative*(math.Abs(own)+off))
	}
	return sum
}

func (e *estimate) add(value, error float64) {
	e.value += value
	e.error += error*(1+8*u) + u*math.Abs(e.value)
}

// plus adds two estimates.
func (e estimate) plus(f estimate) estimate {
	if e.exponent < f.exponent {
		e, f = f, e
	}
	e.add(math.Ldexp(f.value, f.exponent-e.exponent), math.Ldexp(f.error, f.exponent-e.exponent))
	return e
}

// relative returns a bound on |log(true/value)|.
func (e estimate) relative() float64 {
	if x := e.error / e.value; x >= 0 && x < 0.25 && e.value > 0 {
		return -math.Log1p(-x) * (1 + 8*u)
	}
	return math.Inf(1)
}

// over returns e/f with a bound on |log(true/value)|.
func (e estimate) over(f estimate) ratio {
	return ratio{math.Ldexp(e.value/f.value, e.exponent-f.exponent), e.relative() + f.relative() + 4*u}
}

// A ratio is a number with a bound on |log(true/value)|.
type ratio struct{ value, bound float64 }

// integral integrates the density and each of its parts with a weight.
func (d *density) integral(g *mesh, by weight) (all estimate, parts []estimate) {
	for v, f := range d.parts {
		parts = append(parts, g.integral(f, 0, by))
		if v == 0 {
			all = parts[0]
		} else {
			all = all.plus(parts[v])
		}
	}
	return all, parts
}
